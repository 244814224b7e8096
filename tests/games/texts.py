"""Every game's texts beside the shell's, as a companion reads them."""

from __future__ import annotations

from pathlib import Path

import companion.web
from companion.games import registry
from companion.web.rendering.texts import Library
from tests.games.playouts import GAMES

LIBRARY = Library(
    Path(companion.web.__file__).parent / "texts",
    {name: registry.folder(game) / "texts" for name, game in GAMES.items()},
)

"""Tools for use at a real table, each a small game with one seat. Real dice may be typed everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from companion.games.kit import Game
from companion.games.siege.tools.dice import Dice
from companion.games.siege.tools.editor import Editor
from companion.games.siege.tools.events import Events
from companion.games.siege.tools.fires import Fires
from companion.games.siege.tools.phases import Phases
from companion.games.siege.tools.roster import Strengths

TOOLS: Mapping[str, Game[Any]] = MappingProxyType(
    {
        "phases": Phases().game(),
        "dice": Dice().game(),
        "events": Events().game(),
        "roster": Strengths().game(),
        "fires": Fires().game(),
        "editor": Editor().game(),
    }
)
"""The tools by their names, in the order in which a table wants them."""

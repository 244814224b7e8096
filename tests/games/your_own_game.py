"""The game of `docs/your-own-game.md`, written out of the page as its reader would write it down."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from companion.games import registry
from companion.games.kit import Game

PAGE = Path(__file__).parent.parent.parent / "docs" / "your-own-game.md"
EXAMPLES = PAGE.parent / "examples"
"""The words and pages of the game on the page, beside which its reader puts the rules."""

_FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


def files() -> dict[str, str]:
    """Return each file that the page shows, by its path."""
    return dict(_FILE.findall(PAGE.read_text(encoding="utf-8")))


def written(folder: Path, changes: tuple[tuple[str, str], ...] = ()) -> Path:
    """Write the game's folder into another one and return it; `changes` replace words of its rules."""
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    for path, text in files().items():
        for was, is_ in changes if path.endswith(".py") else ():
            assert was in text, f"the page no longer says {was!r}"
            text = text.replace(was, is_)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder / next(iter(files())).partition("/")[0]


@contextmanager
def loaded(folder: Path, changes: tuple[tuple[str, str], ...] = ()) -> Iterator[Game[Any]]:
    """Write the game into a folder and load it as a setting would; afterwards nothing of it stays imported."""
    try:
        yield registry.load([written(folder, changes)])["beans"]
    finally:
        for name in [name for name in sys.modules if name.startswith(f"{registry.PACKAGE}.beans")]:
            del sys.modules[name]

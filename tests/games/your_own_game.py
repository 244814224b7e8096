"""The game of `docs/your-own-game.md`, written out of the page as its reader would write it down."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "your-own-game.md"

_FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


def files() -> dict[str, str]:
    """Return each file that the page shows, by its path."""
    return dict(_FILE.findall(PAGE.read_text(encoding="utf-8")))


def written(folder: Path, changes: tuple[tuple[str, str], ...] = ()) -> Path:
    """Write the game's folder into another one and return it; `changes` replace words of its rules."""
    for path, text in files().items():
        for was, is_ in changes if path.endswith(".py") else ():
            assert was in text, f"the page no longer says {was!r}"
            text = text.replace(was, is_)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder / next(iter(files())).partition("/")[0]

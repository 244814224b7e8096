"""The shortest game of `docs/examples`, as a folder of somebody's own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from companion.games import registry
from companion.games.kit import Game

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
BEANS = EXAMPLES / "beans"


def written(folder: Path, changes: tuple[tuple[str, str], ...] = ()) -> Path:
    """Write the game into another folder and return it; `changes` replace words of its rules."""
    copy = folder / BEANS.name
    shutil.copytree(BEANS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    rules = copy / "__init__.py"
    text = rules.read_text(encoding="utf-8")
    for was, is_ in changes:
        assert was in text, f"the game no longer says {was!r}"
        text = text.replace(was, is_)
    rules.write_text(text, encoding="utf-8")
    return copy


@contextmanager
def opened(folder: Path) -> Iterator[Game[Any]]:
    """Load the game of a folder as a setting would; afterwards nothing of it stays imported."""
    try:
        yield registry.load([folder])[folder.name]
    finally:
        for name in [name for name in sys.modules if name.startswith(f"{registry.PACKAGE}.{folder.name}")]:
            del sys.modules[name]


@contextmanager
def loaded(folder: Path, changes: tuple[tuple[str, str], ...] = ()) -> Iterator[Game[Any]]:
    """Write the game into a folder and load it."""
    with opened(written(folder, changes)) as game:
        yield game

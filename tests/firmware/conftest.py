"""The Pico's files and their stand-ins, imported under CPython as the board imports them: by their bare names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = [str(ROOT / "firmware" / "micropython"), str(ROOT / "firmware" / "tests" / "standins")]


@pytest.fixture(autouse=True)
def pico_modules() -> Iterator[None]:
    """Put the board's folders on the path, and afterwards remove the modules that were imported from them."""
    sys.path[:0] = FOLDERS
    before = dict(sys.modules)
    yield
    for folder in FOLDERS:
        sys.path.remove(folder)
    for name in set(sys.modules) - set(before):
        if str(getattr(sys.modules[name], "__file__", "")).startswith(tuple(FOLDERS)):
            del sys.modules[name]

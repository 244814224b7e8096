"""Every example in a docstring of the programs and of what they share prints what it shows."""

from __future__ import annotations

import doctest
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("templo", "controller", "companion")


def module_names() -> Iterator[str]:
    """Yield the name of each module of the programs and of what they share."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def source(name: str) -> str:
    path = ROOT.joinpath(*name.split("."))
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")


WITH_EXAMPLES = [name for name in module_names() if re.search(r"^\s*>>> ", source(name), re.MULTILINE)]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_every_example_prints_what_it_shows(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted
    assert not result.failed, f"{result.failed} examples of {name} print something else: see the captured output"

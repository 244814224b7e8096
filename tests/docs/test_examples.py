"""Every example in a docstring prints what it shows, and what others build on has an example for each function."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from companion.games import kit, registry
from companion.model import table
from companion.model.entries import Begin
from companion.model.lobby import complete_options
from companion.model.table import Charter, Table
from controller.core import counting
from templo import contract

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


def given(name: str) -> dict[str, Any]:
    """Return what the examples of a module may use, as its docstring says."""
    if name != "companion.model.table":
        return {}
    at, game = datetime(2026, 11, 21, 18, 0, tzinfo=UTC), registry.load(())["mexica"]
    options = complete_options(game, "temple_only", {})
    charter = Charter("id", "CODE23", "Sunday", "mexica", 1, "temple_only", options, game.seatings[2], at)
    lobby = Table.opened(charter, game)
    return {"lobby": lobby, "begun": lobby.extended(lobby.entry(at, "east", Begin())), "at": at}


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_every_example_prints_what_it_shows(name: str) -> None:
    module, flags = importlib.import_module(name), doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(module, optionflags=flags, extraglobs=given(name))
    assert result.attempted
    assert not result.failed, f"{result.failed} examples of {name} print something else: see the captured output"


@pytest.mark.parametrize("module", [kit, contract, counting, table], ids=lambda module: module.__name__)
def test_every_public_function_has_an_example(module: ModuleType) -> None:
    lacking = [
        f"{function.__module__}.{function.__name__}"
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__.startswith(module.__name__)
        and not name.startswith("_")
        and ">>> " not in (function.__doc__ or "")
    ]
    assert not lacking, f"these public functions have no example: {', '.join(lacking)}"

"""What a game may import: the kit, its own folder and the calculating part of the standard library."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from companion.games import registry
from tests.cases import every_case
from tests.games.playouts import GAMES

IMPURE = {
    "asyncio", "ctypes", "datetime", "http", "importlib", "io", "logging", "multiprocessing", "os", "pathlib",
    "random", "secrets", "shutil", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time",
    "urllib", "uuid",
}  # fmt: skip
"""Clocks, randomness, files and the world outside: they come to the platform, never to the rules."""


def _files() -> list[Path]:
    return [path for game in GAMES.values() for path in sorted(registry.folder(game).rglob("*.py"))]


@every_case("path", _files())
def test_a_game_imports_the_kit_and_nothing_else_of_ours(path: Path) -> None:
    own = f"companion.games.{path.relative_to(Path(registry.__file__).parent).parts[0]}"
    kit = "companion.games.kit"
    for name in _imported(path):
        top = name.partition(".")[0]
        if top == "companion":
            allowed = name in (kit, own) or name.startswith((f"{kit}.", f"{own}."))
            assert allowed, f"{path.name} imports {name}"
        else:
            assert top in sys.stdlib_module_names, f"{path.name} imports {name}, which a game cannot count on"


@every_case("path", _files())
def test_rules_have_no_clock_no_randomness_and_no_world_outside(path: Path) -> None:
    assert not {name.partition(".")[0] for name in _imported(path)} & IMPURE
    calls = [
        node.func.id
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    assert not {"open", "print", "input", "eval", "exec"} & {*calls}


def test_nothing_outside_a_games_folder_and_the_demo_imports_it() -> None:
    companion = Path(registry.__file__).parents[1]
    for path in companion.rglob("*.py"):
        for game in GAMES.values():
            if registry.folder(game) not in path.parents:
                assert not [name for name in _imported(path) if name.startswith(f"companion.games.{game.name}")], path


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _imported(path: Path) -> tuple[str, ...]:
    return tuple(_names(path))


def _names(path: Path) -> Iterator[str]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            assert node.module is not None
            if node.module == "companion.games":
                yield from (f"companion.games.{alias.name}" for alias in node.names)
            else:
                yield node.module

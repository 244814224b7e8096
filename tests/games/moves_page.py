"""Writes `docs/moves.md`, all moves of all games, from the games' tables: ``python -m tests.games.moves_page``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from companion.games import registry
from companion.games.kit import PLAYERS, Game
from tools import cells

PAGE = Path(__file__).parents[2] / "docs" / "moves.md"

HEAD = """# Every move of every game

A move is posted, logged and exported as a JSON list: its name, then its arguments, `["sacrifice", "tlaloc", 2]`.
The tables are generated from the games by `python -m tests.games.moves_page`. An argument in square brackets may be
left out.
"""


def written() -> str:
    """Return the page."""
    games = registry.with_tools(registry.load())
    return "\n".join([HEAD, *(line for game in games.values() for line in _section(game))])


def _section(game: Game[Any]) -> Iterator[str]:
    assert game.rules.table is not None, f"{game.name} has no table of moves"
    yield f"## `{game.name}`\n"
    yield "| move | arguments | made by | during |"
    yield "|---|---|---|---|"
    for move in game.rules.table:
        kinds = [f"{name}: {kind.expected}" for name, kind in move.args.items()]
        least = len(kinds) - move.optional
        arguments = ", ".join(cells.code(kind if n < least else f"[{kind}]") for n, kind in enumerate(kinds))
        by = "any player" if move.by == PLAYERS else move.by or "whoever must act"
        yield f"| `{move.name}` | {arguments} | {by} | {', '.join(move.during)} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")

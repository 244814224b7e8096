"""A game of tossing a coin, as a stranger might bring one: with a tool, a page for the printer and a guide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from companion.games.kit import Game, Json, Move, Option, Page, Printer, Refusal, Rules, Seat, Value

MOST = 3


def _coin(seat: Seat) -> tuple[Rules[int], Page[int]]:
    """Return rules and page of a count of heads up to three; the state is how many there were."""

    def setup(options: Mapping[str, Value], seats: tuple[Seat, ...]) -> int:
        return 0

    def to_act(state: int) -> tuple[Seat, ...]:
        return () if state == MOST else (seat,)

    def on_turn(state: int) -> Seat | None:
        return None if state == MOST else seat

    def moves(state: int, by: Seat) -> list[Move]:
        return [Move("heads")] if by in to_act(state) else []

    def play(state: int, by: Seat, move: Move) -> int | Refusal:
        return state + 1 if move in moves(state, by) else Refusal("unknown_move", {"move": move.name})

    def view(state: int, by: Seat | None) -> Mapping[str, Json]:
        return {"heads": state}

    def regions(view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        return {"heads": view}

    turn: Callable[[int], int] = lambda state: 1  # noqa: E731
    rules = Rules(setup=setup, to_act=to_act, on_turn=on_turn, turn=turn, moves=moves, play=play)
    return rules, Page(view=view, regions=regions)


def _sheet(name: str, language: str) -> Mapping[str, Json]:
    return {"boxes": 10}


_rules, _page = _coin("keeper")
COIN: Game[Any] = Game("toss.coin", seatings={1: ("keeper",)}, rules=_rules, page=_page)
"""The tool: one phone that counts the heads of a real coin."""

_rules, _page = _coin("left")
GAME: Game[int] = Game(
    "toss",
    options=(
        Option("edge", "again", "T1", ("again", "heads")),
        Option("purse", 10, "T2", (5, 10), low=1, high=99),
        Option("second", "no", "T2", ("no", "yes"), only=("edge", "heads")),
    ),
    seatings={2: ("left", "right")},
    rules=_rules,
    page=_page,
    printer=Printer(sheets=("track",), sheet=_sheet),
    tools={"coin": COIN},
)

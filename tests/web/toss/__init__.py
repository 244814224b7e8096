"""A game of tossing a coin, as a stranger might bring one: with an aid, a page for the printer and a guide."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from companion.games.kit import Arg, Choice, Game, Json, Move, Option, Refusal, Seat, Value

MOST = 3


class Toss(Game[int]):
    """Counts heads up to three; the state is how many there were."""

    name: str = "toss"
    rules_version: int = 1
    options: tuple[Option, ...] = (
        Option("edge", "again", "T1", ("again", "heads")),
        Option("purse", 10, "T2", (5, 10), low=1, high=99),
        Option("second", "no", "T2", ("no", "yes"), only=("edge", "heads")),
    )
    presets: Mapping[str, Mapping[str, Value]] = MappingProxyType({"classic": {}})
    seatings: Mapping[int, tuple[Seat, ...]] = MappingProxyType({2: ("left", "right")})
    sheets: tuple[str, ...] = ("track",)

    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> int:
        return 0

    def to_act(self, state: int) -> tuple[Seat, ...]:
        return () if state == MOST else (self._seat,)

    def on_turn(self, state: int) -> Seat | None:
        return None if state == MOST else self._seat

    def turn(self, state: int) -> int:
        return 1

    def moves(self, state: int, seat: Seat) -> list[Move]:
        return [Move("heads")] if seat in self.to_act(state) else []

    def choices(self, state: int, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        return [Choice("heads", move=move) for move in self.moves(state, seat)]

    def play(self, state: int, seat: Seat, move: Move) -> int | Refusal:
        return state + 1 if move in self.moves(state, seat) else Refusal("unknown_move", {"move": move.name})

    def view(self, state: int, seat: Seat | None) -> Mapping[str, Json]:
        return {"heads": state}

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        return {"heads": view}

    def sheet(self, name: str, language: str) -> Mapping[str, Json]:
        return {"boxes": 10}

    def notation(self, state: int) -> str:
        return str(state)

    @property
    def _seat(self) -> Seat:
        return next(iter(self.seatings.values()))[0]


class Coin(Toss):
    """The aid: one phone that counts the heads of a real coin."""

    name: str = "toss.coin"
    options: tuple[Option, ...] = ()
    seatings: Mapping[int, tuple[Seat, ...]] = MappingProxyType({1: ("keeper",)})
    sheets: tuple[str, ...] = ()


class WithAid(Toss):
    """The game with its aid."""

    tools: Mapping[str, Game[Any]] = MappingProxyType({"coin": Coin()})


GAME: Game[int] = WithAid()

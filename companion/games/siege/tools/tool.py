"""What the tools of the siege share: one seat that nobody's turn ends, and states of whole numbers in one line."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias, TypeVar

from companion.games.kit import (
    CHANCE,
    Arg,
    Choice,
    Game,
    Json,
    Move,
    Option,
    Refusal,
    Seat,
    Struct,
    Value,
    fields,
)

USER: Seat = "table"

S = TypeVar("S", bound=Struct)


def die(name: str, faces: int = 6) -> Mapping[Move, Fraction]:
    """Return what a die brings, as moves of a name."""
    return MappingProxyType({Move(name, (n,)): Fraction(1, faces) for n in range(1, faces + 1)})


class Tool(Game[S]):
    """A game with one seat over a frozen `Struct` of whole numbers, of tuples of them, and of pairs of words."""

    rules_version: int = 1
    options: tuple[Option, ...] = ()
    presets: Mapping[str, Mapping[str, Value]] = MappingProxyType({"classic": {}})
    seatings: Mapping[int, tuple[Seat, ...]] = MappingProxyType({1: (USER,)})
    start: ClassVar[Any]
    """The first state."""
    sure: ClassVar[tuple[str, ...]] = ()
    """The moves that ask for a second tap."""

    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> S:
        """Return the first state."""
        first: S = self.start
        return first

    def to_act(self, state: S) -> tuple[Seat, ...]:
        """Return the one seat, or `CHANCE` while a die is due."""
        return (CHANCE,) if self.chance(state) else (USER,)

    def on_turn(self, state: S) -> Seat | None:
        """Return the one seat: a tool is never over."""
        return USER

    def turn(self, state: S) -> int:
        """Return 1: a tool has no turns of its own."""
        return 1

    @abstractmethod
    def listed(self, state: S) -> list[Move]:
        """Return what may be tapped while no die is due."""

    @abstractmethod
    def done(self, state: S, move: Move) -> S:
        """Return the state after a move that was listed, or after what a die showed."""

    def sound(self, state: S) -> bool:
        """Return whether taps can lead to a state."""
        return True

    def laws(self, state: S) -> Mapping[str, bool]:
        """Return that taps can lead to a state."""
        return {"a state that taps can lead to": self.sound(state)}

    def moves(self, state: S, seat: Seat) -> list[Move]:
        """Return the legal moves of the seat, or of chance the outcomes that may come, sorted."""
        due = self.chance(state)
        if due:
            return sorted(due.outcomes) if seat == CHANCE else []
        return sorted(self.listed(state)) if seat == USER else []

    def choices(self, state: S, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the moves, all on one level."""
        if picked:
            return []
        return [
            Choice(move.name, self.facts(move), "", move, move.name, confirm=move.name in self.sure)
            for move in self.moves(state, seat)
        ]

    def facts(self, move: Move) -> Mapping[str, Arg]:
        """Return what the words of a move need."""
        return {"n": move.args[0]} if move.args else {}

    def play(self, state: S, seat: Seat, move: Move) -> S | Refusal:
        """Return the state after a move, or why it cannot be made."""
        known = isinstance(move.args, tuple) and all(type(arg) in (int, str) for arg in move.args)
        if not isinstance(seat, str) or not known or move not in self.moves(state, seat):
            return Refusal("not_now", {"move": ascii(move.name)[:40]})
        return self.done(state, move)

    def undoable(self, before: S, seat: Seat, move: Move) -> bool:
        """Return whether a tap may be taken back: every tap of the seat, never a die."""
        return seat == USER

    def notation(self, state: S) -> str:
        """Return the state in one line."""
        parts = ((field.name, getattr(state, field.name)) for field in fields(state))
        return " ".join(f"{key}={_written(value)}" for key, value in parts)

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the one region of a tool, with what may be tapped in it."""
        due = view.get("chance")
        return {"aid": {**view, "choices": view.get("choices", []), "chance": due or None}}


Part: TypeAlias = int | tuple[int, ...] | tuple[tuple[str, str], ...]


def _written(value: Part) -> str:
    if isinstance(value, int):
        return str(value)
    return ",".join(":".join(map(_quoted, each)) if isinstance(each, tuple) else str(each) for each in value) or "-"


def _quoted(words: str) -> str:
    return "".join(sign if sign.isascii() and sign.isalnum() else f"~{ord(sign):x}~" for sign in words)

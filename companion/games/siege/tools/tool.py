"""What the tools of the siege share: one seat that nobody's turn ends, and states of whole numbers in one line."""

from __future__ import annotations

import re
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
    replace,
)

USER: Seat = "table"

S = TypeVar("S", bound=Struct)

_SIGN = re.compile(r"~([0-9a-f]{1,6})~")
_NUMBER = re.compile(r"\d{1,6}", re.ASCII)


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
        """Return whether taps can lead to a state that could be read."""
        return True

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

    def parse(self, text: str) -> S:
        """Read a state that `notation` wrote; raises `ValueError`."""
        words = dict(each.split("=", 1) for each in text.split(" ") if "=" in each)
        known = fields(self.start)
        if set(words) != {field.name for field in known}:
            raise ValueError(f"notation of {self.name} is {ascii(text)[:60]}; expected its fields, each once")
        found: S = replace(
            self.start, **{each.name: _read(words[each.name], getattr(self.start, each.name)) for each in known}
        )
        if self.notation(found) != text or not self.sound(found):
            raise ValueError(f"notation of {self.name} is {ascii(text)[:60]}; expected what it writes itself")
        return found

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


def _unquoted(text: str) -> str:
    return _SIGN.sub(lambda found: chr(int(found[1], 16)), text)


def _read(text: str, like: Part) -> Part:
    if isinstance(like, int):
        return _number(text)
    parts = [] if text == "-" else text.split(",")
    if like and isinstance(like[0], tuple):
        pairs = [tuple(map(_unquoted, part.split(":"))) for part in parts]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"notation has {ascii(text)[:40]}; expected pairs of words")
        return tuple((what, words) for what, words in pairs)
    return tuple(_number(part) for part in parts)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"notation has {ascii(text)[:40]}; expected a whole number")
    return int(text)

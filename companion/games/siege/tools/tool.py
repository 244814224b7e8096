"""What the siege's tools share: one seat whose turn never ends, and a notation of whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias, TypeVar

from companion.games.kit import Json, Move, Refusal, Seat, Struct, Tool, Value, fields

S = TypeVar("S", bound=Struct)


class SiegeTool(Tool[S]):
    """A tool over a frozen `Struct` of whole numbers, of tuples of them, and of pairs of words."""

    user: Seat = "table"
    start: ClassVar[Any]
    """The first state."""

    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> S:
        """Return the first state."""
        first: S = self.start
        return first

    def sound(self, state: S) -> bool:
        """Return whether taps can lead to a state."""
        return True

    def laws(self, state: S) -> Mapping[str, bool]:
        """Return that taps can lead to a state."""
        return {"a state that taps can lead to": self.sound(state)}

    def refused(self, state: S, seat: Seat, move: Move) -> Refusal:
        """Return that a move cannot be made now."""
        return Refusal("not_now", {"move": ascii(move.name)[:40]})

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


def _quoted(text: str) -> str:
    return "".join(sign if sign.isascii() and sign.isalnum() else f"~{ord(sign):x}~" for sign in text)

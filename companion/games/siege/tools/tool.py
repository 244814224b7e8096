"""What the siege's tools share: one seat whose turn never ends, and a first state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from companion.games.kit import Json, Move, Refusal, Seat, Struct, Tool

S = TypeVar("S", bound=Struct)


class SiegeTool(Tool[S]):
    """A tool over a frozen `Struct`, with one way to begin."""

    def sound(self, state: S) -> bool:
        """Return whether taps can lead to a state."""
        return True

    def laws(self, state: S) -> Mapping[str, bool]:
        """Return that taps can lead to a state."""
        return {"a state that taps can lead to": self.sound(state)}

    def refused(self, state: S, seat: Seat, move: Move) -> Refusal:
        """Return that a move cannot be made now."""
        return Refusal("not_now", {"move": ascii(move.name)[:40]})

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the one region of a tool, with what may be tapped in it."""
        due = view.get("chance")
        return {"aid": {**view, "choices": view.get("choices", []), "chance": due or None}}

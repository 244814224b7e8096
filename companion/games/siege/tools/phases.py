"""The tool that keeps track of the eight phases of a turn, and what each allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.games.kit import Json, Line, Move, MoveType, Seat, Struct
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import PHASES
from companion.games.siege.tools.tool import SiegeTool


class Place(Struct, frozen=True):
    """Which turn runs, and which of its phases, counted from 0."""

    turn: int = 1
    phase: int = 0


class Phases(SiegeTool[Place]):
    """The phase track."""

    name: str = "siege.phases"
    start = Place()

    def listed(self, state: Place) -> list[Move]:
        """Return a phase on, and a phase back but from the first."""
        back = [Move("back")] if (state.turn, state.phase) != (1, 0) else []
        return [*back, *([Move("next")] if state.turn < 10**5 else [])]

    def declared(self) -> Sequence[MoveType[Place]]:
        """Return a phase on and a phase back."""
        return (
            MoveType("next", lambda state: _stepped(state, 1)),
            MoveType("back", lambda state: _stepped(state, -1)),
        )

    def sound(self, state: Place) -> bool:
        """Return whether there is such a place."""
        return state.turn >= 1 and state.phase < len(PHASES)

    def view(self, state: Place, seat: Seat | None) -> Mapping[str, Json]:
        """Return the track with the place on it."""
        track: list[Json] = [
            {"stage": stage, "side": "" if stage in ("event", "fire") else SIDES[side], "now": n == state.phase}
            for n, (stage, side) in enumerate(PHASES)
        ]
        return {"turn": state.turn, "stage": PHASES[state.phase][0], "track": track}

    def story(self, before: Place, seat: Seat, move: Move, after: Place) -> list[Line]:
        """Return a new turn where one began."""
        return [Line("turn", {"number": after.turn})] if after.turn > before.turn else []


def _stepped(state: Place, by: int) -> Place:
    n = (state.turn - 1) * len(PHASES) + state.phase + by
    return Place(n // len(PHASES) + 1, n % len(PHASES))

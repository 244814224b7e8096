"""The action-point counter: five points a turn, spent with a tap for each action."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from companion.games.kit import Json, Move, MoveType, Value, one_of, replace
from companion.games.moctezuma.rules.state import COSTS, POINTS
from companion.games.moctezuma.tools.tool import Sheet, SheetTool

SPENT = {"walk": 1, **{f"{what}_{n}": cost for what in ("study", "explore") for n, cost in COSTS.items()}}
"""What may be done for how many points (rulings Z8, Z20: what is possible where, the table sees for itself)."""


class Points(Sheet, frozen=True):
    """What is left of the turn now running, and what was done in it."""

    left: int = POINTS
    done: tuple[str, ...] = ()
    turn: int = 1


class PointCounter(SheetTool[Points]):
    """Counts five points a turn."""

    name: str = "moctezuma.points"

    def empty(self, chosen: tuple[Value, ...]) -> Points:
        """Return the first turn with all its points."""
        return Points(chosen)

    def taps(self, state: Points) -> Iterable[Move]:
        """Return what can be paid, and the next turn."""
        return [Move("next"), *(Move("spend", (what,)) for what, cost in SPENT.items() if cost <= state.left)]

    def tapped(self) -> Sequence[MoveType[Points]]:
        """Return every tap: points spent, and the next turn; points that are left are lost (ruling Z19)."""
        return (
            MoveType("next", lambda state: Points(state.chosen, turn=state.turn + 1)),
            MoveType("spend", _spend, {"what": one_of(*SPENT)}),
        )

    def sheet_of(self, state: Points) -> dict[str, Json]:
        """Return the points and what they were spent on."""
        return {
            "left": state.left,
            "of": POINTS,
            "turn": state.turn,
            "done": list(state.done),
            "costs": dict(SPENT),
        }


def _spend(state: Points, what: str) -> Points:
    return replace(state, left=state.left - SPENT[what], done=(*state.done, what))

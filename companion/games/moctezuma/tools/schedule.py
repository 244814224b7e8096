"""The chit schedule: whose turn it is, when a chit is turned, and which one comes next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from companion.games.kit import Json, Move, MoveType, Option, Value, one_of, replace
from companion.games.moctezuma.rules.options import HouseRules
from companion.games.moctezuma.rules.pieces import CURSED, FACES, KINGS, SPACES, chits, king_of
from companion.games.moctezuma.tools.tool import PLAYERS, Sheet, SheetTool


class Schedule(Sheet, frozen=True):
    """The turns that were taken, and the faces of the chits that were turned, in order."""

    turns: int = 0
    faces: tuple[int, ...] = ()


class ChitSchedule(SheetTool[Schedule]):
    """Keeps the order of rulings Z5 to Z7."""

    name: str = "moctezuma.schedule"
    options: tuple[Option, ...] = (PLAYERS, *HouseRules.options("flip", "third_chit", "curse_rule"))

    def empty(self, chosen: tuple[Value, ...]) -> Schedule:
        """Return the schedule before the first turn."""
        return Schedule(chosen)

    def free(self, state: Schedule, key: str, value: Value) -> bool:
        """Return whether no turn was taken yet."""
        return not state.turns

    def _every(self, state: Schedule) -> int:
        return 1 if self.chose(state, "flip") == "turn" else int(self.chose(state, "players"))

    def _due(self, state: Schedule) -> bool:
        return state.turns // self._every(state) > len(state.faces)

    def _box(self, state: Schedule) -> tuple[int, int]:
        """Return how many safe and how many cursed chits the box holds (ruling Z27)."""
        box = chits(str(self.chose(state, "curse_rule")))
        return box.safe, box.cursed

    def taps(self, state: Schedule) -> Iterable[Move]:
        """Return the end of a turn, or, if a chit is due, what it shows; nothing when all are face up."""
        if self._due(state):
            return [
                Move("turned", (face,)) for n, face in enumerate(FACES) if state.faces.count(n) < self._box(state)[n]
            ]
        return [] if len(state.faces) == SPACES else [Move("done")]

    def tapped(self) -> Sequence[MoveType[Schedule]]:
        """Return every tap: a turn that has ended, and what a chit shows."""
        return (
            MoveType("done", lambda state: replace(state, turns=state.turns + 1)),
            MoveType("turned", _turned, {"face": one_of(*FACES)}),
        )

    def sheet_of(self, state: Schedule) -> dict[str, Json]:
        """Return whose turn it is, what is due, and every chit in the order in which they are turned."""
        third, players, n = str(self.chose(state, "third_chit")), int(self.chose(state, "players")), len(state.faces)
        kings = [KINGS[king_of(space, third)] for space in range(SPACES)]
        return {
            "players": players,
            "player": state.turns % players + 1,
            "round": state.turns // players + 1,
            "due": self._due(state),
            "over": n == SPACES,
            "next": {"king": kings[n], "column": n // len(KINGS) + 1} if n < SPACES else None,
            "until": self._every(state) - state.turns % self._every(state),
            "chits": [
                {
                    "king": king,
                    "column": space // len(KINGS) + 1,
                    "face": FACES[state.faces[space]] if space < n else "",
                    "next": space == n,
                }
                for space, king in enumerate(kings)
            ],
            "cursed": state.faces.count(CURSED),
            "used_up": [
                {"face": face, "n": most}
                for n, (face, most) in enumerate(zip(FACES, self._box(state), strict=True))
                if state.faces.count(n) == most
            ],
        }


def _turned(state: Schedule, face: str) -> Schedule:
    return replace(state, faces=(*state.faces, FACES.index(face)))

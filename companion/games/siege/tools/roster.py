"""The tool that counts every people's units: fit, routed and dead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from companion.games.kit import Json, Line, Move, MoveType, Seat, Struct, added, one_of, replace
from companion.games.siege.rules.roster import FULL, ROSTERS, THIRD, People
from companion.games.siege.tools.tool import SiegeTool

PEOPLES: tuple[People, ...] = tuple(dict.fromkeys(ROSTERS[FULL].people))
_FORCES = (FULL, THIRD)


class Count(Struct, frozen=True):
    """How many units of each people, in the order of `PEOPLES`, are fit, routed and dead; which forces began."""

    forces: int
    fit: tuple[int, ...]
    routed: tuple[int, ...]
    dead: tuple[int, ...]


def _begun(forces: int) -> Count:
    nobody = (0,) * len(PEOPLES)
    return Count(forces, tuple(ROSTERS[_FORCES[forces]].count(people) for people in PEOPLES), nobody, nobody)


_TAPS: Mapping[str, tuple[str, str]] = {
    "rout": ("fit", "routed"),
    "rally": ("routed", "fit"),
    "kill": ("fit", "dead"),
    "lose": ("routed", "dead"),
    "return": ("dead", "fit"),
}
"""Where a tap takes a unit from, and where it puts it."""


class Strengths(SiegeTool[Count]):
    """The roster of both sides."""

    name: str = "siege.roster"
    start = _begun(0)
    sure: ClassVar[tuple[str, ...]] = ("begin",)

    def listed(self, state: Count) -> list[Move]:
        """Return every tap for which there is a unit."""
        taps = [
            Move(name, (people,))
            for name, (source, _) in _TAPS.items()
            for people, n in zip(PEOPLES, getattr(state, source), strict=True)
            if n
        ]
        return [*taps, *(Move("begin", (forces,)) for forces in _FORCES)]

    def declared(self) -> Sequence[MoveType[Count]]:
        """Return every tap: a unit of a people counted elsewhere, and the forces that begin."""
        people = {"people": one_of(*PEOPLES)}
        taps = [MoveType(name, partial(_tapped, *way), people) for name, way in _TAPS.items()]
        begin = MoveType("begin", lambda _, forces: _begun(_FORCES.index(forces)), {"forces": one_of(*_FORCES)})
        return (*taps, begin)

    def sound(self, state: Count) -> bool:
        """Return whether every people has as many units as it began with."""
        if state.forces >= len(_FORCES):
            return False
        begun = _begun(state.forces).fit
        same = len(state.fit) == len(state.routed) == len(state.dead) == len(begun)
        return same and tuple(map(sum, zip(state.fit, state.routed, state.dead, strict=True))) == begun

    def view(self, state: Count, seat: Seat | None) -> Mapping[str, Json]:
        """Return what each people has left."""
        peoples: dict[str, Json] = {
            people: {"fit": state.fit[n], "routed": state.routed[n], "dead": state.dead[n]}
            for n, people in enumerate(PEOPLES)
        }
        return {"forces": _FORCES[state.forces], "peoples": peoples}

    def story(self, before: Count, seat: Seat, move: Move, after: Count) -> list[Line]:
        """Return what was counted."""
        if move.name == "begin":
            return [Line("forces_begun", {"forces": move.args[0]})]
        return [Line(f"counted_{move.name}", {"people": move.args[0]})]


def _tapped(source: str, to: str, state: Count, people: str) -> Count:
    place = [str(each) for each in PEOPLES].index(people)
    return replace(
        state, **{source: added(getattr(state, source), place, -1), to: added(getattr(state, to), place, 1)}
    )

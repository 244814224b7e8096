"""Who fights: the peoples of both sides, how many units each has, and every unit's number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Side: TypeAlias = Literal["aztecs", "spaniards"]
People: TypeAlias = Literal[
    "cuauhtemoc", "warrior", "cortez", "conquistador", "totonac", "tlascalan", "texcocoan", "cholula", "rogue", "boat"
]

AZTECS: Side = "aztecs"
SPANIARDS: Side = "spaniards"
SIDES: tuple[Side, Side] = (AZTECS, SPANIARDS)

FULL, THIRD = "full", "third"

_FULL: Mapping[People, int] = {
    "cuauhtemoc": 1,
    "warrior": 45,
    "cortez": 1,
    "conquistador": 5,
    "totonac": 5,
    "tlascalan": 10,
    "texcocoan": 5,
    "cholula": 5,
    "rogue": 15,
    "boat": 13,
}

AZTEC_PEOPLES: tuple[People, ...] = ("cuauhtemoc", "warrior")
LEADERS: tuple[People, ...] = ("cuauhtemoc", "cortez")
ALLIES: tuple[People, ...] = ("totonac", "tlascalan", "texcocoan", "cholula")
"""Whom the text calls allies (ruling S5); Rogue Aztecs by option."""


@dataclass(frozen=True)
class Roster:
    """The units of one game, numbered: the Aztecs from 0, then the Spanish side, its boats last.

    Sets of units are bits, as sets of hexes are.
    """

    people: tuple[People, ...]

    def __post_init__(self) -> None:
        """Lay the tables."""
        put = object.__setattr__
        sides = tuple(0 if people in AZTEC_PEOPLES else 1 for people in self.people)
        put(self, "side", sides)
        put(self, "boats", tuple(u for u, people in enumerate(self.people) if people == "boat"))
        put(self, "land", tuple(tuple(u for u in self._units(n) if self.people[u] != "boat") for n in (0, 1)))
        put(self, "leader", tuple(next(u for u in self._units(n) if self.people[u] in LEADERS) for n in (0, 1)))
        put(self, "number", tuple(self.people[:u].count(people) + 1 for u, people in enumerate(self.people)))

    side: tuple[int, ...] = ()
    """For each unit 0 for the Aztecs, 1 for the Spanish side."""
    boats: tuple[int, ...] = ()
    land: tuple[tuple[int, ...], ...] = ()
    """For each side its units that walk."""
    leader: tuple[int, ...] = ()
    number: tuple[int, ...] = ()
    """For each unit its number among its people, from 1."""

    def _units(self, side: int) -> list[int]:
        return [u for u, people in enumerate(self.people) if (people in AZTEC_PEOPLES) == (side == 0)]

    def of(self, side: Side) -> tuple[int, ...]:
        """Return the units of a side that walk."""
        return self.land[SIDES.index(side)]

    def count(self, people: People) -> int:
        """Return how many units a people begins with."""
        return self.people.count(people)


def _counted(counts: Mapping[People, int]) -> Roster:
    return Roster(tuple(people for people, n in counts.items() for _ in range(n)))


ROSTERS: Mapping[str, Roster] = {
    FULL: _counted(_FULL),
    # A third of each people, to the nearest whole unit; every leader comes.
    THIRD: _counted({people: max(1, (n + 1) // 3) for people, n in _FULL.items()}),
}

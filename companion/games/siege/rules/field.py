"""A map prepared for the rules: the cost of each step, where walls are, and who may begin where.

It never changes, so it is computed once for each map; whatever depends on where units are is looked up in the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from companion.games.siege.rules.geometry import Grid, bits

CLEAR, ROAD, HOUSING, PLOTS, JUNGLE, TEMPLE, WATER = ".", "r", "h", "p", "j", "t", "w"

TERRAINS: Mapping[str, str] = {
    CLEAR: "clear",
    ROAD: "road",
    HOUSING: "housing",
    PLOTS: "plots",
    JUNGLE: "jungle",
    TEMPLE: "temple",
    WATER: "water",
}
"""The letters of a map's ground (ruling S2)."""

COSTS: Mapping[str, int] = {CLEAR: 1, ROAD: 1, HOUSING: 2, PLOTS: 2, JUNGLE: 3, TEMPLE: 3}
"""Points to enter a hex on land; a wall is added to it (ruling S8)."""

WALL_COST = 2
BOAT_COST = 1
"""Points to enter a hex on water, and to go aboard (ruling S11)."""

OUTSIDE, BESIEGERS, NO_QUARTER = ".", "s", "+"
"""Letters of a map's zones beside those of its quarters."""


@dataclass(frozen=True, eq=False)
class Field:
    """One map. Sets of hexes are bits, as `geometry` has them; two maps are the same only where they are one object.

    `quarters` are the quarters' letters with their names; `walls` and `gates` pairs of neighbours, the lower first.
    """

    name: str
    grid: Grid
    ground: str
    zones: str
    quarters: Mapping[str, str]
    places: Mapping[int, str]
    walls: frozenset[tuple[int, int]]
    gates: frozenset[tuple[int, int]]

    water: int = field(init=False)
    city: int = field(init=False)
    housing: int = field(init=False)
    camp: int = field(init=False)
    """Where the besiegers may begin on land."""
    harbour: int = field(init=False)
    """Where their boats may begin."""
    quarter_of: tuple[str, ...] = field(init=False)
    """For each hex the letter of its quarter, or an empty text."""
    quarter_hexes: Mapping[str, int] = field(init=False)
    walled: tuple[int, ...] = field(init=False)
    """For each hex its neighbours behind a wall."""
    outer_walled: tuple[int, ...] = field(init=False)
    """For each hex its neighbours behind a wall that has the city on one side only."""
    by_land: tuple[tuple[tuple[int, int], ...], ...] = field(init=False)
    """For each hex the hexes of land beside it, with what it costs to enter them from here, the cheapest first."""
    by_water: tuple[tuple[int, ...], ...] = field(init=False)
    """For each hex of water those beside it."""
    aboard: tuple[tuple[tuple[int, int], ...], ...] = field(init=False)
    """For each hex the hexes of water beside it, with what it costs to go aboard there."""

    def __post_init__(self) -> None:
        """Lay the tables."""
        put, n = object.__setattr__, len(self.grid)
        put(self, "water", self._where(WATER))
        put(self, "housing", self._where(HOUSING))
        city = sum(1 << h for h in range(n) if self.zones[h] not in (OUTSIDE, BESIEGERS))
        put(self, "city", city)
        camps = sum(1 << h for h in range(n) if self.zones[h] == BESIEGERS)
        put(self, "camp", camps & ~self.water)
        put(self, "harbour", camps & self.water)
        put(self, "quarter_of", tuple(z if z in self.quarters else "" for z in self.zones))
        put(self, "quarter_hexes", {
            letter: sum(1 << h for h in range(n) if self.zones[h] == letter) for letter in self.quarters
        })  # fmt: skip
        walled, outer = [0] * n, [0] * n
        for a, b in self.walls:
            walled[a] |= 1 << b
            walled[b] |= 1 << a
            if (city >> a & 1) != (city >> b & 1):
                outer[a] |= 1 << b
                outer[b] |= 1 << a
        put(self, "walled", tuple(walled))
        put(self, "outer_walled", tuple(outer))
        near = [sorted(each for each in beside if each >= 0) for beside in self.grid.beside]
        put(self, "by_land", tuple(
            tuple(sorted(
                ((to, COSTS[self.ground[to]] + WALL_COST * (walled[h] >> to & 1)) for to in near[h] if self.dry(to)),
                key=itemgetter(1),
            ))
            for h in range(n)
        ))  # fmt: skip
        put(self, "by_water", tuple(
            tuple(to for to in near[h] if not self.dry(to) and not self.dry(h)) for h in range(n)
        ))  # fmt: skip
        put(self, "aboard", tuple(
            tuple((to, BOAT_COST + WALL_COST * (walled[h] >> to & 1)) for to in near[h] if not self.dry(to))
            for h in range(n)
        ))  # fmt: skip

    def _where(self, letter: str) -> int:
        return sum(1 << h for h, each in enumerate(self.ground) if each == letter)

    def dry(self, hexagon: int) -> bool:
        """Return whether a hex is land."""
        return self.ground[hexagon] != WATER

    def room(self) -> tuple[int, int, int]:
        """Return how many units may begin in the city, outside it on land, and on the water."""
        return (self.city & ~self.water).bit_count(), self.camp.bit_count(), self.harbour.bit_count()

    def cost(self, here: int, to: int) -> int:
        """Return the points of a step on land between two neighbours."""
        return dict(self.by_land[here])[to]

    def spread(self, start: int, within: int) -> int:
        """Return the hexes of a set that hang together with one of its members."""
        found = front = start & within
        while front:
            front = self.grid.grown(front) & within & ~found
            found |= front
        return found

    def first(self, hexes: int) -> int:
        """Return the lowest hex of a set that is not empty."""
        return next(bits(hexes))

"""The geometry of Mexica's page: where each bead of the lake and the ring is drawn, and Aztec numerals.

In the units of one drawing, 360 wide and 344 high, as SVG path data.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import asin, atan2, cos, degrees, pi, sin
from typing import NamedTuple

from companion.games.kit import LEFT_TO_RIGHT, Struct
from companion.games.mexica.rules.tallies import HUITZILOPOCHTLI, TLALOC

WIDTH, HEIGHT = 360, 344
CENTRE_X, CENTRE_Y = 180.0, 172.0
SHORE = 148.0
"""Radius of the lake."""
TEMPLE = 50.0
"""Half the side of the temple seen from above, its contour included."""
CHANNEL = 3.0
"""Half the width of the wall between the two waters."""
RING = 162.5
"""Radius of the ring of beads, which also has the thirteen stones of the countdown."""
STONES = 13

_PITCHES = (24.0, 19.0, 16.0, 14.0, 12.4, 11.2, 10.2, 9.4, 8.7, 8.0, 7.4)
"""Distances between neighbours in the lake, the widest first. The last holds 360 beads in one half."""

_FEATHER, _FLAG = 400, 20


class Spot(Struct, frozen=True):
    """The middle of a bead, with the direction in which its row runs as a vector of length one."""

    x: float
    y: float
    along_x: float
    along_y: float

    @property
    def angle(self) -> float:
        """The same direction in degrees."""
        return degrees(atan2(self.along_y, self.along_x))


class Beads(Struct, frozen=True):
    """The beads of both gods as path data; `size` is their outer width.

    `newest` is the place of the bead that fell last, and `newest_god` its god; it is in neither path.
    """

    size: float
    war: str
    rain: str
    newest: Spot | None
    newest_god: str


class Ring(NamedTuple):
    """The age running out: war's beads as radial strokes, rain's as points, and a point for each still to come."""

    size: float
    war: str
    rain: str
    to_come: str


class Numeral(NamedTuple):
    """A number in Aztec figures: how many feathers (400), flags (20) and dots (1), and the x of each."""

    feathers: tuple[float, ...]
    flags: tuple[float, ...]
    dots: tuple[float, ...]


def places(war: int, rain: int) -> tuple[float, tuple[Spot, ...], tuple[Spot, ...]]:
    """Return the outer width of a bead in a lake of so many tokens, and the place of each of war's and of rain's."""
    pitch = _pitch(max(war, rain, 1))
    sides = dict(zip(LEFT_TO_RIGHT, (-1, 1), strict=True))
    wars, rains = (_half(pitch, sides[god])[:n] for god, n in ((HUITZILOPOCHTLI, war), (TLALOC, rain)))
    return round(pitch * 0.88, 1), wars, rains


@lru_cache(maxsize=64)
def lake(order: str, expected: int) -> Beads:
    """Lay the tokens of a lake (``"hth..."``, in the order they fell) from its shore inward, each god in its half.

    `expected` is how many tokens the lake should have room for before its beads shrink.
    """
    war, rain = order.count("h"), order.count("t")
    pitch = _pitch(max(war, rain, expected))
    sides = dict(zip(LEFT_TO_RIGHT, (-1, 1), strict=True))
    wars, rains = list(_half(pitch, sides[HUITZILOPOCHTLI])[:war]), list(_half(pitch, sides[TLALOC])[:rain])
    newest = (wars if order.endswith("h") else rains).pop() if order else None
    return Beads(
        size=round(pitch * 0.88, 1),
        war="".join(
            f"M{_n(s.x - s.along_x / 2)} {_n(s.y - s.along_y / 2)}l{_n(s.along_x)} {_n(s.along_y)}" for s in wars
        ),
        rain="".join(f"M{_n(s.x)} {_n(s.y)}h0" for s in rains),
        newest=newest,
        newest_god={"h": HUITZILOPOCHTLI, "t": TLALOC}.get(order[-1:], ""),
    )


def ring(order: str, threshold: int) -> Ring:
    """Lay a ring of `threshold` beads clockwise from the top, the first of them in the order the tokens fell."""
    step = 2 * pi * RING / threshold
    half = min(step * 0.9, 6.0) * 0.75
    war: list[str] = []
    rain: list[str] = []
    to_come: list[str] = []
    for i in range(threshold):
        angle = 2 * pi * (i + 0.5) / threshold
        if order[i : i + 1] == "h":
            war.append(f"M{_at(RING - half, angle)}L{_at(RING + half, angle)}")
        else:
            (rain if order[i : i + 1] else to_come).append(f"M{_at(RING, angle)}h0")
    return Ring(round(min(step * 0.78, 7.0), 1), "".join(war), "".join(rain), "".join(to_come))


@cache
def stones() -> tuple[str, ...]:
    """Return the outlines of the countdown's thirteen stones, clockwise from the top."""
    inner, outer, gap = RING - 8.5, RING + 7.5, 0.022
    outlines = []
    for i in range(STONES):
        begin, end = 2 * pi * i / STONES + gap, 2 * pi * (i + 1) / STONES - gap
        over = f"M{_at(outer, begin)}A{_n(outer)} {_n(outer)} 0 0 1 {_at(outer, end)}"
        back = f"L{_at(inner, end)}A{_n(inner)} {_n(inner)} 0 0 0 {_at(inner, begin)}z"
        outlines.append(over + back)
    return tuple(outlines)


@cache
def thirteenths() -> str:
    """Return the short strokes outside the shore that part the ring into thirteen."""
    return "".join(
        f"M{_at(SHORE + 3, 2 * pi * i / STONES)}L{_at(SHORE + 8, 2 * pi * i / STONES)}" for i in range(STONES)
    )


def numeral(number: int, width: float = 160.0) -> Numeral:
    """Write a number from 0 to 7,999 in Aztec figures, centred in rows of `width`: feathers and flags, then dots."""
    feathers, rest = divmod(number, _FEATHER)
    flags, dots = divmod(rest, _FLAG)
    signs = feathers + flags
    pitch = min(16.0, width / max(signs, 1))
    start = (width - pitch * signs) / 2
    xs = [round(start + pitch * i, 1) for i in range(signs)]
    # Dots are read in fives: a gap after each.
    fives = [i * 7.2 + i // 5 * 4.0 for i in range(dots)]
    shift = (width - (fives[-1] + 7.2 if fives else 0)) / 2
    return Numeral(tuple(xs[:feathers]), tuple(xs[feathers:]), tuple(round(shift + x, 1) for x in fives))


def _pitch(beads: int) -> float:
    for pitch in _PITCHES:
        if len(_half(pitch, 1)) >= beads:
            return pitch
    return _PITCHES[-1]


@cache
def _half(pitch: float, side: int) -> tuple[Spot, ...]:
    """Return the places of one half of the lake, by rows from the shore inward, each from the bottom up."""
    spots = []
    wall = CHANNEL + 2 + pitch / 2
    radius = SHORE - 3 - pitch / 2
    while radius > TEMPLE:
        first = pi - asin(min(1.0, wall / radius))
        sweep = 2 * first - pi
        count = int(sweep * radius / pitch) + 1
        for i in range(count):
            angle = first - sweep * i / max(count - 1, 1)
            x, y = radius * sin(angle), -radius * cos(angle)
            if max(abs(x), abs(y)) >= TEMPLE + pitch / 2:
                spots.append(Spot(CENTRE_X + side * x, CENTRE_Y + y, side * cos(angle), sin(angle)))
        radius -= pitch * 0.95
    return tuple(spots)


def _at(radius: float, angle: float) -> str:
    return f"{_n(CENTRE_X + radius * sin(angle))} {_n(CENTRE_Y - radius * cos(angle))}"


def _n(value: float) -> str:
    """Write a coordinate to a tenth, as short as SVG allows."""
    return f"{value:.1f}".removesuffix(".0")

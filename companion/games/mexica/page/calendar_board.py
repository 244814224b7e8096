"""The geometry of the calendar board: where each of its twenty spaces is, with all that is drawn on it.

Pure arithmetic in the units of one square drawing, for screen and print alike. It knows no rules beyond the order of
the calendar, no words and no colours.

The calendar runs counter-clockwise from 3 o'clock: the Crocodile is just above it, each quadrant ends with the
space on which its tribe starts (ruling M31).
"""

from __future__ import annotations

from functools import cache
from math import atan2, cos, degrees, hypot, radians, sin

from companion.games.kit import Struct
from companion.games.mexica.rules.calendar import AROUND, SIGNS, STARTS, WEEK

SIZE = 1000
"""The side of the drawing. The board is a circle that leaves `MARGIN` free, so four quarters print as four sheets."""

CENTRE = SIZE / 2
MARGIN = 6.0
OUTER = CENTRE - MARGIN
INNER = 244.0
"""Radius of the shore, around the ring of the age and the lake."""
BAND = 9.0
"""Width of the stripe along the shore that shows which quadrant a space belongs to."""

SIGN_AT, SIGN_SIZE = 432.0, 74.0
NAME_FROM_SIGN = 48.0
"""How far a space's name stands below or above its sign, towards the middle of the board."""
COUNT_AT = 328.0
TRIBE_AT = 270.0
HOLDER_AT, HOLDER_TURN, HOLDER_SIZE = 462.0, 6.5, 38.0
PIPS_AT = 482.0
WATER_AT, FIRE_AT = 296.0, 290.0

STEP = 360 / AROUND


class Spot(Struct, frozen=True):
    """A point of the drawing."""

    x: float
    y: float

    @property
    def left(self) -> float:
        """How far it is from the left edge, in hundredths of the drawing."""
        return round(self.x / SIZE * 100, 2)

    @property
    def top(self) -> float:
        """How far it is from the upper edge, in hundredths of the drawing."""
        return round(self.y / SIZE * 100, 2)


class Space(Struct, frozen=True):
    """One space: its outline as path data, and the middle of each thing that is drawn on it."""

    place: int
    sign: str
    outline: str
    glyph: Spot
    name: Spot
    room: float
    """How wide its name may be: from edge to edge of the space, outside of the number and inside of the pips."""
    count: Spot
    tribe: Spot
    holder: Spot
    turned: float
    """Degrees clockwise by which its drawing turns to point its top away from the middle."""


class Quadrant(Struct, frozen=True):
    """A quarter of the board: the tribe whose it is, its stripe along the shore, and the edge where it begins."""

    seat: str
    stripe: str
    edge: str


@cache
def spaces() -> tuple[Space, ...]:
    """Return the twenty spaces in the order of the calendar."""
    found = []
    for place, sign in enumerate(SIGNS, start=1):
        middle = _middle(place)
        glyph = _spot(SIGN_AT, middle)
        inward = NAME_FROM_SIGN if glyph.y < CENTRE else -NAME_FROM_SIGN
        name, room = _level(middle, glyph.x, round(glyph.y + inward, 1))
        found.append(
            Space(
                place=place,
                sign=sign,
                outline=_ring(INNER, OUTER, middle - STEP / 2, middle + STEP / 2),
                glyph=glyph,
                name=name,
                room=room,
                count=_spot(COUNT_AT, middle),
                tribe=_spot(TRIBE_AT, middle),
                holder=_spot(HOLDER_AT, middle + HOLDER_TURN),
                turned=(90 - middle) % 360,
            )
        )
    return tuple(found)


def _level(middle: float, near: float, y: float) -> tuple[Spot, float]:
    """Return the middle and the length of what a level line near a sign has within its space."""

    def inside(x: float) -> bool:
        across = (degrees(atan2(CENTRE - y, x - CENTRE)) - middle + 180) % 360 - 180
        return abs(across) < STEP / 2 and COUNT_AT + 26 < hypot(x - CENTRE, y - CENTRE) < PIPS_AT

    free = [near + n for n in range(-150, 151) if inside(near + n)]
    return Spot(round((free[0] + free[-1]) / 2, 1), y), free[-1] - free[0]


@cache
def quadrants() -> tuple[Quadrant, ...]:
    """Return the four quarters, beginning with the first five days; each ends where its tribe starts."""
    found = []
    for n in range(4):
        begin = n * 90.0
        seat = next(seat for seat, place in STARTS.items() if place == n * 5 + 5)
        edge = f"M{_at(INNER, begin)}L{_at(OUTER, begin)}"
        found.append(Quadrant(seat, _ring(INNER, INNER + BAND, begin, begin + 90), edge))
    return tuple(found)


@cache
def pips(place: int, tokens: int) -> tuple[str, str]:
    """Return the tokens left on a space and those taken from it, each as points of a path along its outer edge."""
    middle, step = _middle(place), STEP * 0.86 / WEEK
    angles = [middle + STEP * 0.43 - step * (n + 0.5) for n in range(WEEK)]
    points = [f"M{_at(PIPS_AT, angle)}h0" for angle in angles]
    return "".join(points[:tokens]), "".join(points[tokens:])


@cache
def flood() -> str:
    """Return the water over the inner half of every space during the flood, as one path."""
    crests = []
    for n in range(AROUND * 2):
        begin = n * STEP / 2
        crests.append(f"Q{_at(WATER_AT + 26, begin + STEP / 4)} {_at(WATER_AT, begin + STEP / 2)}")
    return f"M{_at(WATER_AT, 0)}{''.join(crests)}z{_circle(INNER)}"


@cache
def war() -> str:
    """Return the flames over the inner half of every space while the war bites, as one path."""
    points = []
    for n in range(AROUND * 3):
        begin = n * STEP / 3
        points.append(f"L{_at(FIRE_AT + 22, begin + STEP / 6)}L{_at(FIRE_AT - 14, begin + STEP / 3)}")
    return f"M{_at(FIRE_AT - 14, 0)}{''.join(points)}z{_circle(INNER)}"


def _middle(place: int) -> float:
    """Return the direction of a space's middle, in degrees counter-clockwise from 3 o'clock."""
    return (place - 0.5) * STEP


def _ring(inner: float, outer: float, begin: float, end: float) -> str:
    """Return a piece of a ring, its edges running counter-clockwise from `begin` to `end`."""
    over = f"M{_at(outer, begin)}A{_n(outer)} {_n(outer)} 0 0 0 {_at(outer, end)}"
    return f"{over}L{_at(inner, end)}A{_n(inner)} {_n(inner)} 0 0 1 {_at(inner, begin)}z"


def _circle(radius: float) -> str:
    arc = f"a{_n(radius)} {_n(radius)} 0 1 0"
    return f"M{_n(CENTRE - radius)} {_n(CENTRE)}{arc} {_n(radius * 2)} 0{arc} -{_n(radius * 2)} 0z"


def _spot(radius: float, angle: float) -> Spot:
    return Spot(
        round(CENTRE + radius * cos(radians(angle)), 1),
        round(CENTRE - radius * sin(radians(angle)), 1),
    )


def _at(radius: float, angle: float) -> str:
    spot = _spot(radius, angle)
    return f"{_n(spot.x)} {_n(spot.y)}"


def _n(value: float) -> str:
    """Write a coordinate to a tenth, as short as SVG allows."""
    return f"{value:.1f}".removesuffix(".0")

"""The tall roof behind a shrine's slot: it guides the hand, and is what is seen first from a seat.

It prints lying on its back, so that its relief, on top, takes another colour by one change of filament. It stands in
a slot of the plaza, before the parapet, and leans over the shrine's rear wall. A bowl takes its place.
"""

from __future__ import annotations

from math import cos, pi, sin

from build123d import Location, Pos, Rectangle, Sketch

from hardware import ornament
from hardware.parameters import Temple
from hardware.parts import plaza
from hardware.shapes import Part, Plane, Point, block, cut, join, prism

TONGUE, FOOT, _ = plaza.ROOF_FOOT
"""Half the width of what stands in the plaza; its thickness is the roof's behind the shrine."""
THICK = 6.6
"""How thick it is over the shrine's wall."""
HALF, TOP_HALF = 13.5, 10.4
"""Half its width over the shrine's wall, and under its crest."""
HIGH = 44.0
"""From the shrine's wall to the crest."""
DEEP = 2.4
"""How deep its foot stands in the plaza."""
BAND = 3.0
CREST = 5.4
AIR = plaza.ROOF_AIR


def build(temple: Temple, god: str) -> Part:
    """Draw one as it prints: x across, y upwards from the plaza, the back on the bed."""
    wall = temple.shrine_wall + AIR
    top = wall + HIGH
    body = block((-HALF, HALF), (0, wall + 1), (0, FOOT))
    roof = prism([(-HALF, wall), (HALF, wall), (TOP_HALF, top), (-TOP_HALF, top)], (0, THICK))
    bands = [block((-half, half), (y, y + BAND), (0, THICK)) for half, y in ((HALF, wall), (TOP_HALF + 1.4, top - 1))]
    tongue = block((-TONGUE, TONGUE), (-DEEP, 1), (0, FOOT))
    war = god == "huitzilopochtli"
    crest = [
        Pos(x, top + BAND - 1.2, 0) * prism(_flame() if war else _shell(), (0, THICK)) for x in (-9.0, -3.0, 3.0, 9.0)
    ]
    body = join(body, [roof, *bands, tongue, *crest])
    raised = ornament.on(Plane.XY.offset(THICK), _skulls(wall) if war else _bars(wall), temple.relief)
    # A foot that begins narrower goes into its slot all the same where the first layer spreads.
    edges = [block((-HALF - 1, HALF + 1), (-DEEP - 1, -DEEP + 0.5), (-1, 0.5))]
    return cut(join(body, raised), edges)


def place(temple: Temple, side: int) -> Location:
    """Return where it stands behind the shrine on the `side` of one god (`SIDES`)."""
    return (
        Location((side * temple.shaft_at[0], back(temple), temple.top))
        * Location((0, 0, 0), (0, 0, 180))
        * Location((0, 0, 0), (90, 0, 0))
    )


def back(temple: Temple) -> float:
    """Return where its back is in the temple: just before the rear parapet."""
    return plaza.inside(temple)[1] + AIR


def _flame() -> list[Point]:
    return [(-2.7, 0), (2.7, 0), (2.7, 2.4), (1.4, 2.4), (1.4, CREST), (-1.4, CREST), (-1.4, 2.4), (-2.7, 2.4)]


def _shell() -> list[Point]:
    return [
        (-1.8, 0),
        (1.8, 0),
        *((2.6 * cos(a), CREST - 2.6 + 2.6 * sin(a)) for a in (pi * n / 10 for n in range(-1, 12))),
    ]


def _width(up: float) -> float:
    """Return how wide the roof is so far over the shrine's wall."""
    return 2 * (HALF + (TOP_HALF - HALF) * up / HIGH)


def _skulls(wall: float) -> list[tuple[Sketch, Point]]:
    """Return rows of skulls, like the studs of stone that covered Huitzilopochtli's roof."""
    found: list[tuple[Sketch, Point]] = []
    for n, up in enumerate((9.0, 17.6, 26.2, 34.8)):
        count = 3 + (n % 2 == 0)
        pitch = (_width(up) - 1.5) / count
        found += [(ornament.skull(5.8), (pitch * (k - (count - 1) / 2), wall + up)) for k in range(count)]
    return found


def _bars(wall: float) -> list[tuple[Sketch, Point]]:
    """Return level bars of white, like rain on Tlaloc's water, and his ringed eyes over them."""
    found: list[tuple[Sketch, Point]] = [
        (Sketch() + Rectangle(_width(up) - 1.6, 3.4), (0.0, wall + up)) for up in (7.0, 14.4, 21.8, 29.2)
    ]
    return [*found, (ornament.goggles(9.6), (0.0, wall + 36.6))]

"""A causeway: the road from the shore to the temple. It clasps the two halves of the lake and covers the cable.

Its parapets are as high as the shore: what hops on a full heap stays in its half.
"""

from __future__ import annotations

from hardware.parameters import Temple
from hardware.parts import lake
from hardware.shapes import Part, block, cut, join

THICK = 2.4
SKIRT = 1.6
DEEP = 6.0
PARAPET = 1.6
STONE = 7.0
"""From one joint of its paving to the next."""


def length(temple: Temple, front: bool) -> tuple[float, float]:
    """Return from where to where it reaches, from the middle of the temple outwards."""
    gap = temple.clearance + temple.lake_wall
    begin = (temple.stair_foot if front else -temple.tiers[0].back) + gap + 0.4
    return begin, temple.shore - temple.lake_wall - 3.5 - 0.4


def build(temple: Temple, front: bool) -> Part:
    """Draw it as it stands and prints, on its skirts and keys: the road is a bridge between them."""
    begin, end = length(temple, front)
    long = end - begin
    gap = temple.clearance
    inner = temple.causeway / 2 + temple.lake_wall + gap
    outer = inner + SKIRT
    top = DEEP + THICK
    between = temple.causeway / 2 - gap
    plate = block((-outer, outer), (0, long), (DEEP, top))
    walls = [
        block((min(side * near, side * far), max(side * near, side * far)), along, tall)
        for side in (1, -1)
        for near, far, along, tall in (
            (inner, outer, (0, long), (0, DEEP + 0.5)),
            (between - SKIRT, between, (4, long - 4), (0, DEEP + 0.5)),
            (outer - PARAPET, outer, (0, long), (top - 0.5, top + parapet(temple))),
        )
    ]
    joints = [
        block((PARAPET - outer, outer - PARAPET), (y - 0.5, y + 0.5), (top - 0.6, top + 1)) for y in _rows(long)
    ]
    return cut(join(plate, walls), joints)


def parapet(temple: Temple) -> float:
    """Return how high the parapets are over the road."""
    return max(STONE / 2, temple.rim - high(temple))


def high(temple: Temple) -> float:
    """Return how high the road lies."""
    return lake.road_high(temple) + temple.clearance + THICK


def _rows(long: float) -> list[float]:
    count = int(long // STONE)
    return [long * (n + 1) / (count + 1) for n in range(count)]

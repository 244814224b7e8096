"""A causeway: the road from the shore to the temple. It clasps the two halves of the lake and covers the cable."""

from __future__ import annotations

from hardware.parameters import Temple
from hardware.parts import lake
from hardware.shapes import Part, block, cut, join

THICK = 2.4
SKIRT = 1.6
DEEP = 6.0
STONE = 7.0
"""From one joint of its paving to the next."""


def length(temple: Temple, front: bool) -> tuple[float, float]:
    """Return from where to where it reaches, from the middle of the temple outwards."""
    gap = temple.clearance + temple.lake_wall
    begin = (temple.stair_foot if front else -temple.tiers[0].back) + gap + 0.4
    return begin, temple.shore - temple.lake_wall - 3.5 - 0.4


def build(temple: Temple, front: bool) -> Part:
    """Draw it as it prints, on its back: the skirts stand up."""
    begin, end = length(temple, front)
    long = end - begin
    gap = temple.clearance
    inner = temple.causeway / 2 + temple.lake_wall + gap
    outer = inner + SKIRT
    plate = block((-outer, outer), (0, long), (0, THICK))
    skirts = [
        block(
            (side * inner if side > 0 else -outer, outer if side > 0 else -inner),
            (0, long),
            (THICK - 0.5, THICK + DEEP),
        )
        for side in (1, -1)
    ]
    between = temple.causeway / 2 - gap
    keys = [
        block(
            (min(side * between, side * (between - 1.6)), max(side * between, side * (between - 1.6))),
            (4, long - 4),
            (THICK - 0.5, THICK + DEEP - 1.5),
        )
        for side in (1, -1)
    ]
    joints = [block((-outer + 1.6, outer - 1.6), (y - 0.5, y + 0.5), (-1, 0.6)) for y in _rows(long)]
    return cut(join(plate, [*skirts, *keys]), joints)


def high(temple: Temple) -> float:
    """Return how high the road lies."""
    return lake.road_high(temple) + temple.clearance + THICK


def _rows(long: float) -> list[float]:
    count = int(long // STONE)
    return [long * (n + 1) / (count + 1) for n in range(count)]

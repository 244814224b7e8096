"""The offering bowl over a shrine, optional: a finger sweeps a handful of tokens into its hole, one by one.

One drawing serves both gods. The bowl lies on its shrine's wall, the crest in a groove of its underside, and on a
stand beside the shrine, to which it is glued.
"""

from __future__ import annotations

from dataclasses import replace
from math import cos, radians, sin

from build123d import Cone

from hardware import ornament
from hardware.parameters import Bowl, Temple
from hardware.parts import plaza, shell, shrines
from hardware.shapes import (
    BIG,
    STAND,
    Part,
    Plane,
    Point,
    block,
    cut,
    frustum,
    join,
    loft,
    middle,
    polygon,
    prism,
    rod,
)

BETWEEN = 0.4
"""Between the two bowls, side by side."""
EAR = 2.5
"""How far the stand reaches round the shrine's corners."""
FRET, FRETS = 11.0, range(-99, 100, 33)
"""The size of the frets around the basin, and where they are, in degrees from its far side."""


def build(temple: Temple) -> Part:
    """Draw the bowl around the middle of its hole, x pointing away from the temple; its underside lies on z = 0."""
    bowl = temple.bowl
    floor, top = bowl.floor, bowl.floor + bowl.rim
    body = prism(_outline(bowl, wall(temple)), (0, top))
    low, high = (
        polygon(_outline(bowl, by), Plane.XY.offset(z)) for by, z in ((-bowl.bank, floor), (0, floor + bowl.bank))
    )
    room = [loft([low, high]), prism(bowl.outline(), (floor + bowl.bank, top + 1))]
    lip = rod(temple.throat / 2 + bowl.lip_wide, (floor - 0.5, floor + bowl.lip))
    body = join(cut(body, room), [lip, *_frets(temple)])
    pegs = [rod(plaza.PEG + 0.2, (-1, plaza.PEG_HIGH + 0.4), at) for at in _pegs(bowl)]
    return cut(body, [_hole(temple), *_groove(temple), *pegs])


def stand(temple: Temple) -> Part:
    """Draw the stand in the same place, from the platform to the bowl's underside; it clasps the shrine's side."""
    gap, high = temple.clearance, temple.shrine_wall
    x, y = temple.shaft_at
    near, beside = temple.shrine_x / 2 + gap, temple.shrine_y / 2 + gap
    sides, rear = plaza.inside(temple)
    far, back = sides - x - gap, y - rear - gap
    # Its foot passes the screw behind the shrine on either side, because it is turned for the other god.
    head = plaza.HEAD + gap
    inner = min(abs(sx) for sx, _ in shell.tops(temple)) - x - head
    half = min(abs(sy - y) for _, sy in shell.tops(temple)) - head
    solids = [_spread(temple, (near, far), half), _spread(temple, (near, inner), back)]
    solids += [block((near - EAR - gap, inner), depth, (0, high)) for depth in ((-back, -beside), (beside, back))]
    body = join(solids[0], solids[1:]) & prism(_outline(temple.bowl, wall(temple)), (0, high))
    return join(body, [rod(plaza.PEG, (high - 0.5, high + plaza.PEG_HIGH), at) for at in _pegs(temple.bowl)])


def _spread(temple: Temple, x: Point, half: float) -> Part:
    """Return a block between the shrine and the parapets that widens above them, by as much as it rises."""
    low, high = plaza.PARAPET_HIGH + temple.clearance, temple.shrine_wall
    (near, far), out = x, high - low
    foot = block(x, (-half, half), (0, low))
    return join(foot, [frustum((x, (-half, half)), ((near, far + out), (-half - out, half + out)), (low, high))])


def wall(temple: Temple) -> float:
    """Return how thick the wall is: at the neck it ends before the other bowl's."""
    return temple.shaft_at[0] - BETWEEN / 2 - temple.bowl.neck


def crest(temple: Temple) -> tuple[Point, Point]:
    """Return half the width and depth of what the crest encloses, and of the crest itself."""
    outer = temple.shrine_x / 2 - 0.2, temple.shrine_y / 2 - 0.2
    return (outer[0] - shrines.WALL, outer[1] - shrines.WALL), outer


def _outline(bowl: Bowl, by: float) -> tuple[Point, ...]:
    """Return the bowl's outline, moved outwards."""
    return replace(bowl, neck=bowl.neck + by, basin=bowl.basin + by).outline()


def _pegs(bowl: Bowl) -> tuple[Point, ...]:
    return (bowl.reach, bowl.basin / 2), (bowl.reach, -bowl.basin / 2)


def _hole(temple: Temple) -> Part:
    """Return the hole: as wide as the throat, and downwards as wide as the slot, so that no edge is met."""
    throat, slot, taper = temple.throat / 2, min(temple.slot) / 2, temple.bowl.floor / 2
    hole = rod(throat, (-1, BIG))
    return join(hole, [Cone(slot, throat, taper, align=STAND)])


def _groove(temple: Temple) -> list[Part]:
    """Return the room for the crest: a groove beside the basin; at the neck it is open, under a slope."""
    gap, high = temple.clearance, temple.merlon + temple.clearance
    (x, y), (wide, deep) = crest(temple)
    x, y, wide, deep = x - gap, y - gap, wide + gap, deep + gap
    ring = middle(2 * x, 2 * y, (-2, high + 1))
    out = 2 * temple.bowl.basin
    slope = frustum(((-x, x), (-y, y)), ((-x - out, x + out), (-y - out, y + out)), (high, high + out))
    closed = block((0, wide), (-deep, deep), (-1, high)) - ring
    opened = block((-out, 0), (-out, out), (-1, high + out)) - join(ring, [slope])
    return [closed, opened]


def _frets(temple: Temple) -> list[Part]:
    """Raise a border of stepped frets around the basin; it follows the wall."""
    bowl, relief = temple.bowl, temple.relief
    radius = bowl.basin + wall(temple)
    within = prism(_outline(bowl, wall(temple) + relief), (0, bowl.floor + bowl.rim))
    inside = prism(_outline(bowl, wall(temple) / 2), (-1, BIG))
    raised = []
    for turned in FRETS:
        angle = radians(turned)
        at = (bowl.reach + radius * cos(angle), -radius * sin(angle), (bowl.floor + bowl.rim) / 2)
        plane = ornament.wall(*at, 90 + turned).offset(-2)
        raised += ornament.on(plane, [(ornament.fret(FRET), (0.0, 0.0))], 4)
    return [cut(each & within, [inside]) for each in raised]

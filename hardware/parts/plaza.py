"""The plaza: the lid of the pyramid, under the shrines; it holds the chutes, and a lamp before each shrine."""

from __future__ import annotations

from math import cos, radians, sin

from build123d import Cone, Cylinder, Plane, Pos, Rot, Sphere, mirror

from hardware.parameters import SIDES, Temple
from hardware.parts import chute, shell
from hardware.shapes import STAND, Part, Point, block, cut, frustum, join, middle, rod

PEG = 1.9
PEG_HIGH = 2.4
PEGS = ((-9.5, 8.5), (9.5, 8.5), (-9.5, -8.5), (9.5, -8.5))
"""Where a shrine's pegs stand, from the middle of its shaft."""
SCREW = shell.SCREW
HEAD = 3.1
PARAPET, PARAPET_HIGH = 2.4, 2.6
LAMP, LAMP_Y = 2.6, 8.0
"""The radius of the hole for an LED of 5 mm, pushed in from below, and how far before the middle it is."""
ROOF_FOOT, ROOF_AIR = (9.0, 3.4, 0.2), 0.4
"""Half the width of a roof's foot, how thick it is and the play around it; how far it stands before the parapet."""
BRAZIER, BRAZIER_HIGH = 4.8, 2.2


def build(temple: Temple) -> Part:
    """Draw it."""
    last, thick, relief = temple.tiers[-1], temple.lid, temple.relief
    x, y = (-last.half - relief, last.half + relief), (last.back - relief, last.front + relief)
    plate = block(x, y, (0, thick))
    half = temple.stair_half
    rail = [
        middle(
            PARAPET,
            last.front - last.back,
            (thick - 0.5, thick + PARAPET_HIGH),
            (side * (inside(temple)[0] + PARAPET / 2), (last.front + last.back) / 2),
        )
        for side in (1, -1)
    ]
    rail.append(
        block((-last.half, last.half), (last.back - 0.2, inside(temple)[1]), (thick - 0.5, thick + PARAPET_HIGH))
    )
    rail += [
        block(
            (min(side * half, side * last.half), max(side * half, side * last.half)),
            (last.front - PARAPET, last.front),
            (thick - 0.5, thick + PARAPET_HIGH),
        )
        for side in (1, -1)
    ]
    # The balustrades end in blocks that carry the parapet on.
    wide = shell.RAMP + shell.BROAD
    outer = half + shell.BROAD - wide / 2
    posts = [
        middle(across, 6, (0, thick + 4), (at, last.front + 1.2))
        for at, across in ((0, shell.RAMP * 1.5), (outer, wide), (-outer, wide))
    ]
    # Beside the head of each stair the middle stays open, two blocks close it off.
    solids = [*rail, *posts, *_stone(temple), *_chac_mool(temple)]
    for side in (1, -1):
        sx, sy = side * temple.shaft_at[0], temple.shaft_at[1]
        solids += [rod(PEG, (thick - 0.5, thick + PEG_HIGH), (sx + px, sy + py)) for px, py in PEGS]
    solids += [rod(BRAZIER, (thick - 0.5, thick + BRAZIER_HIGH), at) for at in lamps(temple).values()]
    return cut(join(plate, solids), _holes(temple))


def inside(temple: Temple) -> Point:
    """Return how far the platform is free to either side, and at the back: there the parapets begin."""
    last = temple.tiers[-1]
    return last.half - 1.0 - PARAPET / 2, last.back + PARAPET - 0.2


def screws(temple: Temple) -> tuple[Point, ...]:
    """Return where the chutes' screws go through."""
    found = []
    for side in (1, -1):
        x, y = side * temple.shaft_at[0], temple.shaft_at[1]
        turn = radians(90 - side * temple.turn)
        for s, across in chute.screws(temple):
            found.append((x + s * cos(turn) - across * sin(turn), y + s * sin(turn) + across * cos(turn)))
    return tuple(found)


def lamps(temple: Temple) -> dict[str, Point]:
    """Return where each god's lamp is: in a brazier before the shrine."""
    return {god: (side * temple.shaft_at[0], LAMP_Y) for god, side in SIDES.items()}


def roof_foot(temple: Temple, side: int) -> tuple[Point, Point]:
    """Return from where to where the slot for a roof's foot reaches: behind its shrine, before the parapet."""
    x, y = side * temple.shaft_at[0], inside(temple)[1] + ROOF_AIR
    half, thick, gap = ROOF_FOOT
    return (x - half - gap, x + half + gap), (y - gap, y + thick + gap)


def _holes(temple: Temple) -> list[Part]:
    thick = temple.lid
    wide = temple.shaft + 0.6
    holes = []
    for side in (1, -1):
        x, y = side * temple.shaft_at[0], temple.shaft_at[1]
        turn = Pos(x, y, 0) * Rot(0, 0, -side * temple.turn)
        holes.append(turn * middle(wide, wide, (-1, thick + 1)))
    holes += [rod(LAMP, (-1, thick + BRAZIER_HIGH + 1), at) for at in lamps(temple).values()]
    holes += [block(*roof_foot(temple, side), (-1, thick + 1)) for side in (1, -1)]
    for at in (*screws(temple), *shell.tops(temple)):
        holes.append(rod(SCREW, (-1, thick + 20), at))
        # Heads sink in by a millimetre, and stay above the plate's middle.
        holes.append(rod(HEAD, (thick - 1, thick + 20), at))
    return holes


def _stone(temple: Temple) -> list[Part]:
    """Return the stone of sacrifice, before Huitzilopochtli's door: narrow, upright, rounded at its head."""
    x, y, z = SIDES["huitzilopochtli"] * (temple.shaft_at[0] + 8), 19.0, temple.lid
    stone = frustum(
        ((x - 2.4, x + 2.4), (y - 1.8, y + 1.8)), ((x - 1.5, x + 1.5), (y - 1.1, y + 1.1)), (z - 0.5, z + 7)
    )
    return [middle(8, 7, (z - 0.5, z + 1.2), (x, y)), stone]


def _chac_mool(temple: Temple) -> list[Part]:
    """Before Tlaloc's door: a figure that lies on its elbows, knees drawn up, a bowl on its belly, looking aside."""
    x, y, z = -temple.shaft_at[0] - 8, 19.0, temple.lid - 0.5
    plinth = middle(17, 7.5, (z, z + 1.7), (x, y))
    belly = block((x - 4, x + 4), (y - 2.2, y + 2.2), (z + 1, z + 4.4))
    chest = frustum(((x + 3, x + 7), (y - 2.5, y + 2.5)), ((x + 4.4, x + 6.4), (y - 2.3, y + 2.3)), (z + 1, z + 7.4))
    legs = frustum(((x - 7.6, x - 3), (y - 2.5, y + 2.5)), ((x - 5, x - 3.4), (y - 2.2, y + 2.2)), (z + 1, z + 6.6))
    head = Pos(x + 5.4, y, z + 9) * Sphere(2.5)
    cap = middle(5.4, 4.4, (z + 9.6, z + 11.8), (x + 5.4, y))
    bowl = Pos(x, y, z + 4) * Cone(1.4, 2.5, 2, align=STAND) - Pos(x, y, z + 5.2) * Cylinder(1.5, 4, align=STAND)
    figure = [plinth, belly, chest, legs, head, cap, bowl]
    return figure if SIDES["tlaloc"] < 0 else [mirror(each, about=Plane.YZ) for each in figure]

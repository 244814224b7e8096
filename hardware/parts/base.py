"""The base: it closes the temple from below, carries the tray, and reaches under both causeways to the ring."""

from __future__ import annotations

from build123d import Cone, Pos, Rot

from hardware.parameters import Temple
from hardware.parts import chute, plaza, plinth, shell, trays
from hardware.shapes import STAND, Part, block, cut, join, middle, prism, rod

LIP, LIP_HIGH = 2.0, 3.0
SINK = 1.4


def build(temple: Temple) -> Part:
    """Draw it."""
    first, floor, gap = temple.tiers[0], temple.floor, temple.clearance
    plate = block((-first.half, first.half), (first.back, first.front), (0, floor))
    foot = block((-temple.stair_half, temple.stair_half), (first.front - 1, temple.stair_foot), (0, floor))
    strip = (temple.causeway - 2 * gap) / 2
    reach = temple.spigot
    road = block((-strip, strip), (-reach - 5, reach + 5), (0, floor)) & rod(reach, (0, floor))
    inset = temple.plinth_wall + gap
    x, y = first.half - inset, (first.back + inset, first.front - inset)
    rim = block((-x, x), y, (floor - 0.5, floor + LIP_HIGH)) - block(
        (-x + LIP, x - LIP), (y[0] + LIP, y[1] - LIP), (0, 20)
    )
    body = join(plate, [foot, road, rim, *trays.bosses(temple)])
    return cut(body, [*_openings(temple), *_holes(temple), *_arrows(temple)])


def _openings(temple: Temple) -> list[Part]:
    """Around the posts of the plinth nothing stands; in the back is room for the cable."""
    width = temple.cable[0] + 0.8
    first = temple.tiers[0]
    low = temple.floor
    corners = [
        middle(shell.BOSS + 2 * temple.clearance, shell.BOSS + 2 * temple.clearance, (low, low + 20), at)
        for at in plinth.bottoms(temple)
    ]
    cable = middle(width, 12, (low, low + 20), (0, first.back + 4))
    air = [middle(3, 26, (-1, low + 1), (x, -14)) for x in (-30, -24, -18, -12, -6, 0, 6, 12, 18, 24, 30)]
    return [*corners, cable, *air]


def _holes(temple: Temple) -> list[Part]:
    """Screws come up from below, their heads sunk."""
    holes = []
    for at in plinth.bottoms(temple):
        holes += [
            rod(plaza.SCREW, (-1, temple.floor + 1), at),
            Pos(at[0], at[1], -0.01) * Cone(plaza.HEAD, plaza.SCREW - 0.01, SINK + 0.01, align=STAND),
        ]
    for at in trays.corners(temple):
        holes.append(rod(chute.PILOT, (1.2, temple.floor + trays.BOSS_HIGH + 1), at))
    return holes


def _arrows(temple: Temple) -> list[Part]:
    """Cut an arrow into each end of the road: it points at the line between two quarters of the board."""
    reach, deep = temple.spigot, temple.floor
    head = [(-3.0, -7.0), (3.0, -7.0), (0.0, -1.0)]
    arrow = prism(head, (deep - 0.8, deep + 1))
    return [Pos(0, reach, 0) * arrow, Pos(0, -reach, 0) * Rot(0, 0, 180) * arrow]

"""The base: it closes the temple from below, carries the tray, and reaches under both causeways to the ring."""

from __future__ import annotations

from build123d import Cone, Pos, Rot

from hardware.parameters import Temple
from hardware.parts import chute, plaza, shell, trays
from hardware.shapes import STAND, Part, block, cut, join, middle, prism, rod, sideways

LIP, LIP_HIGH = 1.6, 3.0
FOOT_PLAY = 0.5
SINK = 1.4


def build(temple: Temple) -> Part:
    """Draw it."""
    first, floor, gap = temple.tiers[0], temple.floor, temple.clearance
    plate = block((-first.half, first.half), (first.back, first.front), (0, floor))
    foot = block((-temple.stair_half, temple.stair_half), (first.front - 1, temple.stair_foot), (0, floor))
    strip = (temple.causeway - 2 * gap) / 2
    reach = temple.spigot
    road = block((-strip, strip), (-reach - 5, reach + 5), (0, floor)) & rod(reach, (0, floor))
    inset = temple.wall + gap
    x, y = first.half - inset, (first.back + inset, first.front - inset)
    rim = block((-x, x), y, (floor - 0.5, floor + LIP_HIGH)) - block(
        (-x + LIP, x - LIP), (y[0] + LIP, y[1] - LIP), (0, 20)
    )
    body = join(plate, [foot, road, rim, *_posts(temple), *trays.bosses(temple)])
    return cut(body, [*_openings(temple), *_holes(temple), *_arrows(temple)])


def _posts(temple: Temple) -> list[Part]:
    """Return what fills the lower part of each door and carries the tongue."""
    half = temple.shaft / 2 + temple.chute_wall + shell.AROUND - FOOT_PLAY
    under = chute.UNDER / 0.87 + 0.3
    low, high = temple.run - 13, temple.run - 6.5
    profile = [
        (low, temple.floor - 0.5),
        (high, temple.floor - 0.5),
        (high, temple.gutter(high) - under),
        (low, temple.gutter(low) - under),
    ]
    posts = []
    for side in (1, -1):
        x, y = temple.shaft_at
        posts.append(Pos(side * x, y, 0) * Rot(0, 0, 90 - side * temple.turn) * sideways(profile, half))
    return posts


def _openings(temple: Temple) -> list[Part]:
    """Around the posts of the shell nothing stands; in the back is room for the cable."""
    width = temple.cable[0] + 0.8
    first = temple.tiers[0]
    low = temple.floor
    corners = [
        middle(shell.BOSS + 2 * temple.clearance, shell.BOSS + 2 * temple.clearance, (low, low + 20), at)
        for at in shell.bottoms(temple)
    ]
    cable = middle(width, 12, (low, low + 20), (0, first.back + 4))
    # Where a door is, the lip gives way to the post.
    doors = []
    for side in (1, -1):
        x, y = temple.shaft_at
        half = temple.shaft / 2 + temple.chute_wall + shell.AROUND
        clear = sideways(
            [(temple.run - 6, low), (temple.run + 20, low), (temple.run + 20, low + 40), (temple.run - 6, low + 40)],
            half + 4,
        )
        doors.append(Pos(side * x, y, 0) * Rot(0, 0, 90 - side * temple.turn) * clear)
    air = [middle(3, 26, (-1, low + 1), (x, -14)) for x in (-30, -24, -18, -12, -6, 0, 6, 12, 18, 24, 30)]
    return [*corners, cable, *doors, *air]


def _holes(temple: Temple) -> list[Part]:
    """Screws come up from below, their heads sunk."""
    holes = []
    for at in shell.bottoms(temple):
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

"""The plinth: what the lake hides of the temple. The shell stands on it, the base closes it from below.

Its lip keeps the shell in place and the seam dark; four screws go up from its ledges, four come up from the base.
"""

from __future__ import annotations

from build123d import Cone, Pos, Rot

from hardware.parameters import Temple
from hardware.parts import chute, shell
from hardware.shapes import STAND, Part, Point, block, cut, frustum, join, middle, prism, rod, sideways

LIP, LIP_HIGH = 1.6, 3.0
"""How thick the lip is that stands in the shell, and how high."""
LEDGE = 3.2
"""How thick the ledges are from which screws go up into the shell."""
HEAD, SINK = 3.2, 1.6
"""The radius of the room for a screw's head, and how far it sinks into the ledge."""
POST = 11.0
"""How high the posts are that take the screws from the base."""


def build(temple: Temple) -> Part:
    """Draw it."""
    low, high = temple.floor, temple.plinth
    walls = _outline(temple, 0, (low, high)) - _outline(temple, temple.plinth_wall, (low - 1, high + 1))
    posts = [middle(shell.BOSS, shell.BOSS, (low, low + POST), at) for at in bottoms(temple)]
    body = join(walls, [*posts, *_ledges(temple), *_lip(temple)])
    cuts = [*shell.nuts(bottoms(temple), low), *_screws(temple), *_cable(temple), *_doors(temple)]
    return Pos(0, 0, -low) * cut(body, cuts)


def bottoms(temple: Temple) -> tuple[Point, ...]:
    """Return where screws come up from the base."""
    first, inset = temple.tiers[0], temple.plinth_wall + shell.BOSS / 2
    x = first.half - inset
    return tuple((side * x, y) for side in (1, -1) for y in (first.front - inset, first.back + inset))


def _outline(temple: Temple, by: float, z: Point) -> Part:
    """Return the first tier's outline and the stairs', smaller by so much."""
    first, half = temple.tiers[0], temple.stair_half
    whole = block((by - first.half, first.half - by), (first.back + by, first.front - by), z)
    return whole + block((by - half, half - by), (0, temple.stair_foot - by), z)


def _ledges(temple: Temple) -> list[Part]:
    """Return the ledges under the shell's posts: they grow out of the wall at 45 degrees."""
    high, out, half = temple.plinth, shell.BOSS + 1.0, shell.BOSS / 2 + 1.0
    begin, end = temple.tiers[0].half - 0.5, temple.tiers[0].half - temple.wall - out
    profile = [(begin, high), (end, high), (end, high - LEDGE), (begin, high - LEDGE - (begin - end))]
    ledges = []
    for at_x, at_y in shell.bottoms(temple):
        turned = Pos(0, at_y, 0) * Rot(0, 0, 0 if at_x > 0 else 180)
        ledges.append(turned * sideways(profile, half))
    return ledges


def _lip(temple: Temple) -> list[Part]:
    """Return the lip along the sides and the back: it grows out of the wall, and stands in the shell."""
    first, high, gap = temple.tiers[0], temple.plinth, temple.clearance
    x, back, front = first.half - temple.plinth_wall, first.back + temple.plinth_wall, shell.bottoms(temple)[0][1] + 9
    near, rear = first.half - temple.wall - gap, first.back + temple.wall + gap
    low = high - 2 - (x - near + LIP)
    begin, end = ((-x - 0.5, x + 0.5), (back - 0.5, front)), ((-near, near), (rear, front))
    ring = block(*begin, (low, high)) + block(*end, (high - 0.01, high + LIP_HIGH))
    inner = (LIP - near, near - LIP), (rear + LIP, front + 1)
    wide = (0.01 - x, x - 0.01), (back + 0.01, front + 1)
    room = frustum(wide, inner, (low - 0.01, high - 2)) + block(*inner, (high - 2.01, high + LIP_HIGH + 1))
    # Around the shell's posts nothing stands up.
    wide_post = shell.BOSS + 2 * gap + 1
    posts = [middle(wide_post, wide_post, (high, high + LIP_HIGH + 1), at) for at in shell.bottoms(temple)]
    return [cut(ring, [room, *posts])]


def _screws(temple: Temple) -> list[Part]:
    """Return the ways of the screws into the shell, and of their heads and the screwdriver from below."""
    low, under = temple.floor, temple.plinth - LEDGE
    holes = []
    for at in shell.bottoms(temple):
        cone = Pos(at[0], at[1], under - 0.01) * Cone(HEAD, shell.SCREW, SINK, align=STAND)
        holes += [rod(shell.SCREW, (under - 1, temple.plinth + 1), at), cone, rod(HEAD, (low - 1, under), at)]
    return holes


def _cable(temple: Temple) -> list[Part]:
    """Cut the cable's way out, at the foot of the back."""
    width, high = temple.cable[0] + 0.8, temple.cable[1] + 0.8
    back, low = temple.tiers[0].back, temple.floor
    gable = prism(
        [(-width / 2, 0), (width / 2, 0), (width / 2, high), (0, high + width / 2), (-width / 2, high)], (-8, 4)
    )
    return [Pos(0, back, low) * Rot(90, 0, 0) * gable, middle(width, 8, (low - 1, low + 0.01), (0, back + 2))]


def _doors(temple: Temple) -> list[Part]:
    """Cut the notches in which the chutes' tongues lie."""
    half = temple.shaft / 2 + temple.chute_wall + shell.AROUND
    under = chute.UNDER / 0.87 + 0.3
    near, far = temple.run - 13, temple.run + 4
    profile = [
        (near, temple.gutter(near) - under),
        (far, temple.straight(far) - under),
        (far, temple.plinth + 20),
        (near, temple.plinth + 20),
    ]
    x, y = temple.shaft_at
    return [Pos(side * x, y, 0) * Rot(0, 0, 90 - side * temple.turn) * sideways(profile, half) for side in (1, -1)]

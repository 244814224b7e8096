"""A quarter of the lake, with its god's relief on the shore: small enough for a bed of 180 mm.

The quarters of one half hook into each other beside the temple; the causeways clasp the two halves.
"""

from __future__ import annotations

from math import atan2, cos, degrees, radians, sin

from build123d import Axis, Plane, mirror, revolve

from hardware import ornament
from hardware.parameters import SIDES, Temple
from hardware.parts import chute, shell
from hardware.shapes import BIG, Part, block, cut, join, polygon, prism

OVER_FILL = 1.0
"""How far the wall along the temple stands above a full lake; the causeways lie as high as the stairs' foot."""
GROOVE, GROOVE_DEEP, LEDGE = 0.8, 6.0, 1.8
"""The groove for a clear strip of 0.3 to 0.6 mm: how wide and how deep; how far the shore is thicker there."""
LEAST = 9.0
"""The size of a sign under which its lines would be too thin: then the shore is plain."""
SEAM = 0.15
"""From a quarter to the line at which it meets the other: half of what lies between them."""
HOOK = (15.0, 19.0, 8.0)
"""The tongue by which the rear quarter hooks into the front one: as wide at its root, at its end, and as long."""
AIR = 0.25
"""Between the tongue and the walls under it: what mates without touching has 0.2 mm at least."""


def build(temple: Temple, god: str, front: bool) -> Part:
    """Draw the quarter of one god before or behind the middle of the temple."""
    gap, wall = temple.clearance, temple.lake_wall
    road = temple.causeway / 2
    hull = _turned(temple, 0) & block((road, BIG), (-BIG, BIG), (0, BIG))
    water = _turned(temple, wall) & block((road + wall, BIG), (-BIG, BIG), (temple.lake_floor, BIG))
    outline = cut(hull, _temple(temple, gap))
    room = cut(water, _temple(temple, gap + wall))
    body = outline - room
    if temple.clear:
        body = cut(body, [_groove(temple)])
    trims = [_above(temple, gap + wall + 0.02, temple.fill + OVER_FILL), *_above_road(temple)]
    x = temple.exit_at[0]
    half = temple.shaft / 2 + temple.chute_wall + shell.AROUND + 0.8
    first = temple.tiers[0]
    notch = temple.gutter(temple.run - 3) - chute.UNDER / 0.87 - 1.2
    trims.append(block((x - half - 1, x + half + 1), (first.front - 1, first.front + gap + wall + 0.5), (notch, BIG)))
    # The wall beside the stairs stays under the corner of the tongue's end.
    under = temple.gutter(temple.run) - chute.UNDER / cos(radians(temple.slope))
    trims.append(
        block(
            (temple.stair_half, temple.stair_half + gap + wall + 0.02),
            (first.front - 1, temple.exit_at[1] + 4),
            (under - AIR, BIG),
        )
    )
    body = _quarter(temple, join(cut(body, trims), _shore(temple, god)), front)
    return body if SIDES[god] > 0 else mirror(body, about=Plane.YZ)


def _quarter(temple: Temple, half: Part, front: bool) -> Part:
    """Return one of the two that a half is cut into, with the tongue or the room for it."""
    side = 1 if front else -1
    near, far = sorted((side * SEAM, side * BIG))
    piece = half & block((-BIG, BIG), (near, far), (-BIG, BIG))
    tongue = _tongue(temple, -SEAM if not front else SEAM)
    return piece - tongue if front else piece + (tongue & block((-BIG, BIG), (-1, BIG), (0, temple.lake_floor)))


def _tongue(temple: Temple, by: float) -> Part:
    """Return the hook's outline through the floor, made larger on all sides."""
    root, end, long = HOOK
    beside = temple.tiers[0].half + temple.clearance + temple.lake_wall
    x = (beside + temple.spigot - temple.lake_wall) / 2
    lean = (end - root) / 2 / long
    low, high = -2.0, long + by
    points = [(x + side * (root / 2 + lean * y + by), y) for side, y in ((-1, low), (1, low), (1, high), (-1, high))]
    return prism(points, (-1, temple.lake_floor + 1))


def road_high(temple: Temple) -> float:
    """Return how high the wall along the causeways is; the causeways' parapets stand on it, as high as the shore."""
    return temple.plinth


def _turned(temple: Temple, inwards: float) -> Part:
    """Return the shore's outline: it stands in the board's hole, and leans out over the board at 45 degrees."""
    low, high = temple.spigot, temple.shore
    step = temple.board.top + 0.2
    out = high - low
    bottom = temple.lake_floor if inwards else 0
    top = temple.clear or temple.rim
    # For a clear strip the wall grows thicker outwards, at 45 degrees.
    ledge = [(high, top - GROOVE_DEEP - 2 - LEDGE), (high + LEDGE, top - GROOVE_DEEP - 2), (high + LEDGE, top)]
    rim = [(high - inwards, top + 5)] if inwards else (ledge if temple.clear else [(high, top)])
    points = [
        (0, bottom),
        (low - inwards, bottom),
        (low - inwards, step + inwards * 0.42),
        (high - inwards, step + out + inwards * 0.42),
        *rim,
        (0, rim[-1][1]),
    ]
    return revolve(polygon(points, Plane.XZ), Axis.Z)


def _groove(temple: Temple) -> Part:
    """Return the groove in the top of a low shore."""
    middle, top = temple.shore + (LEDGE - temple.lake_wall) / 2, temple.clear
    near, far = middle - GROOVE / 2, middle + GROOVE / 2
    points = [(near, top - GROOVE_DEEP), (far, top - GROOVE_DEEP), (far, top + 1), (near, top + 1)]
    return revolve(polygon(points, Plane.XZ), Axis.Z)


def _temple(temple: Temple, by: float) -> list[Part]:
    first = temple.tiers[0]
    half = temple.stair_half + by
    return [
        block((-BIG, first.half + by), (first.back - by, first.front + by), (-1, BIG)),
        block((-BIG, half), (0, temple.stair_foot + by), (-1, BIG)),
    ]


def _above(temple: Temple, by: float, high: float) -> Part:
    first = temple.tiers[0]
    return block((-BIG, first.half + by), (first.back - by, first.front + by), (high, BIG)) + block(
        (-BIG, temple.stair_half + by), (0, temple.stair_foot + by), (high, BIG)
    )


def _above_road(temple: Temple) -> list[Part]:
    inner = temple.shore - temple.lake_wall - 3.5
    edge = temple.causeway / 2 + temple.lake_wall + 0.02
    return [block((-BIG, edge), (-inner, inner), (road_high(temple), BIG))]


def _shore(temple: Temple, god: str) -> list[Part]:
    """Waves all round, and at every second border of the board's spaces a sign of the god."""
    low = temple.board.top + 0.2 + temple.shore - temple.spigot
    top = temple.clear - GROOVE_DEEP - 2 - LEDGE if temple.clear else temple.rim
    mid, size = (low + top) / 2 - 0.2, min(13.0, top - low - 1.5)
    if size < LEAST:
        return []
    bodies: list[Part] = []
    for n in range(10):
        turned = -81 + 18 * n
        angle = radians(turned)
        x, y = temple.shore * cos(angle), temple.shore * sin(angle)
        if temple.shore * cos(angle) < 17:
            continue
        wall = ornament.wall(x, y, mid, degrees(atan2(cos(angle), sin(angle))))
        if n % 2:
            draw = (ornament.skull if god == "huitzilopochtli" else ornament.goggles)(size)
        else:
            draw = ornament.wave(size)
        # The wall is round and the drawing flat: it begins deeper, where the wall's middle is.
        deep = wall.offset(-0.75)
        bodies += ornament.on(deep, [(draw, (0.0, 0.0))], 0.6 + 0.75)
    return bodies

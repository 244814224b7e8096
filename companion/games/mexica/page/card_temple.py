"""The card temple around two printed chutes: the nets to cut and fold, and where everything stands. Pure geometry.

Millimetres. On the table x goes to the right of whoever looks from behind the temple, y towards who faces its stairs,
z up; the middle of the calendar board is x = y = 0. Each chute lies on a cradle with a slope as steep as its gutter's
floor, so that its shaft stands upright. Four boxes without a bottom are put over both, and the last one's top has the
two slots, which let one token through at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import atan2, cos, degrees, hypot, pi, radians, sin, tan

from companion.games.kit import Struct

Point = tuple[float, float]
Line = tuple[Point, ...]

SIDES = {"tlaloc": 1, "huitzilopochtli": -1}
"""On which side of x = 0 each god's chute lies."""
SHAFT, EXIT = (15.0, -20.0), (30.0, 53.0)
"""The middle of a chute's shaft, and of the end of its tongue."""
SLOPE = 26.0
HALF, UNDER = 10.5, 2.4
"""Half of a gutter's width outside, and its floor's thickness."""
REAR, STOP = -10.5, 63.8
"""Along the floor from under the middle of the shaft: where the underside begins, and the sensors' seats end."""
HIGH = 67.0
"""From the end of the tongue up to the top of the shaft."""
SILL = 22.0
"""How high the end of the tongue lies: its heap may grow so high."""
SLOT = 15.8
"""The width of a slot: two beads of 8 mm do not pass side by side."""

TOP = SILL + HIGH + 1.0
EAR = (8.0, 7.0)
"""How long the ears of a cradle are along its slope, and how high."""
STOCK = 0.3
"""The thickness of the card."""
GLUE, TAB, GAP = 8.0, 8.0, 2.0
"""How wide a glued flap is, how high the tabs around a box's hole, and what is cut away between two flaps."""


class Tier(Struct, frozen=True):
    """A box without a bottom: half of its width, its front and back, its foot and its top."""

    half: float
    front: float
    back: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """From side to side."""
        return 2 * self.half

    @property
    def depth(self) -> float:
        """From front to back."""
        return self.front - self.back

    @property
    def rise(self) -> float:
        """How high its walls are."""
        return self.high - self.low


_HEIGHTS = (0.0, 51.0, 63.7, 76.4, TOP)
TIERS = tuple(
    Tier(half, front, back, low, high)
    for (half, front, back), low, high in zip(
        ((56.0, 50.0, -45.0), (52.0, 44.0, -41.5), (48.0, 38.5, -38.5), (43.0, 33.0, -35.5)),
        _HEIGHTS,
        _HEIGHTS[1:],
        strict=False,
    )
)
DOOR = (18.6, 42.0, 47.5)
"""From where to where along the front, and how high: each tongue looks out of one, and the box goes over it."""
WIRES = (22.0, 14.0)
"""Half the width and the height of the opening in the back."""
STAIR_HALF, STAIR_FOOT = 18.0, 74.0
RING, RING_HIGH, STRIPS = 95.0, 34.0, 3
"""The lake's shore: its radius, which is the hole's of the calendar board, its height, and of how many strips."""
NOTCH = (24.0, 7.0)
"""The opening for the wires at the foot of the shore's first strip: too low for a bead of 8 mm."""
ROAD_HIGH, ROAD_FOOT = 24.0, 12.0
SHRINE, SHRINE_HIGH = 19.0, 28.0
"""The width of the tower around a slot, and its height."""
FACADE, ROOF = (29.0, 42.0), 19.0
"""The width and the height of a shrine's front, and how much of that is its roof."""


class Net(Struct, frozen=True):
    """What is cut out of one piece of card: all lines from the left upper corner of what it takes on the paper."""

    name: str
    god: str
    width: float
    height: float
    outline: str
    cuts: str
    """What is cut inside the outline, as path data, or scored where it is dashed (`folds`)."""
    folds: str
    glued: str
    """What stays white."""
    bands: str
    """What is painted as a cornice or a step."""
    face: tuple[float, float, float]
    """Where a drawing of the god lies: left, top and size; of no size where there is none."""
    title: Point
    """Where its name stands, on what is not seen of it."""


def turn() -> float:
    """Return how far a chute turns outwards, in degrees."""
    return degrees(atan2(EXIT[0] - SHAFT[0], EXIT[1] - SHAFT[1]))


def nets() -> tuple[Net, ...]:
    """Return every piece of card but the plan: tiers from below, cradles, stairs, shrines, shore and roads."""
    return (
        *(_tier(n) for n in range(len(TIERS))),
        *(_facade(god) for god in SIDES),
        _stairs(),
        *(_tower(god) for god in SIDES),
        *(_cradle(god) for god in SIDES),
        *(_shore(notched=n == 0) for n in range(STRIPS)),
        _road("front", RING - STAIR_FOOT),
        _road("back", RING + TIERS[0].back),
    )


def leaves(
    pieces: Iterable[Net], width: float, height: float, gap: float = 6.0
) -> Iterator[tuple[tuple[float, float, Net], ...]]:
    """Deal nets onto leaves of a size, in rows; yields for each leaf where its nets lie, from its upper left."""
    page: list[tuple[float, float, Net]] = []
    left = top = row = 0.0
    for net in pieces:
        if left and left + net.width > width:
            left, top, row = 0.0, top + row + gap, 0.0
        if page and top + net.height > height:
            yield tuple(page)
            page, left, top, row = [], 0.0, 0.0, 0.0
        page.append((left, top, net))
        left, row = left + net.width + gap, max(row, net.height)
    yield tuple(page)


def footprint(god: str) -> Line:
    """Return the outline of a cradle on the table."""
    begin, end = (_ground(along)[0] for along in (REAR, _front()))
    corners = (
        (begin, -cradle_width() / 2),
        (end, -cradle_width() / 2),
        (end, cradle_width() / 2),
        (begin, cradle_width() / 2),
    )
    way = radians(turn())
    return tuple(
        (SIDES[god] * (SHAFT[0] + s * sin(way) + v * cos(way)), SHAFT[1] + s * cos(way) - v * sin(way))
        for s, v in corners
    )


def cradle_width() -> float:
    """Return how wide a cradle is outside: the gutter, the card of both ears, and a little room."""
    return 2 * (HALF + STOCK) + 0.4


def cradle_side() -> Line:
    """Return a cradle from its side, along the table and up: its rear foot first, then its front one."""
    (begin, rear), (end, front) = _ground(REAR), _ground(_front())
    return (begin, 0.0), (end, 0.0), (end, front), (begin, rear)


def ear_side() -> Line:
    """Return an ear of a cradle, which the sensors' seats lie against, from its side."""
    tilt = radians(SLOPE)
    low = [_ground(STOP + along) for along in (0.0, EAR[0])]
    return *low, *((s + EAR[1] * sin(tilt), z + EAR[1] * cos(tilt)) for s, z in reversed(low))


def _front() -> float:
    """Return where a cradle ends along the floor: beyond its ears, behind the box's front."""
    return STOP + 10.2


def _ground(along: float) -> tuple[float, float]:
    """Return how far from the middle of the shaft a point of a cradle's slope lies along the table, and how high."""
    tilt = radians(SLOPE)
    run = hypot(EXIT[0] - SHAFT[0], EXIT[1] - SHAFT[1])
    origin = SILL + run * tan(tilt)
    return along * cos(tilt) - UNDER * sin(tilt), origin - along * sin(tilt) - UNDER * cos(tilt)


def _tier(n: int) -> Net:
    """Return a box: its top in the middle, its walls around it, glued flaps at both ends of front and back."""
    tier = TIERS[n]
    w, d, h = tier.width, tier.depth, tier.rise
    right, low = h + w, h + d
    wide, high = w + 2 * h, d + 2 * h
    g = min(GLUE, h - GAP - 1)
    middle = h + tier.half
    edge: list[Point] = [(h, 0)]
    edge += _notch(middle, WIRES[0], 0, WIRES[1]) if n == 0 else []
    edge += [(right, 0), (right + g, 1.5), (right + g, h - GAP - 1), (right, h - GAP), (right, h)]
    edge += [(wide, h), (wide, low), (right, low), (right, low + GAP), (right + g, low + GAP + 1)]
    edge += [(right + g, high - 1.5), (right, high)]
    if n == 0:
        inner, outer, door = DOOR
        for begin, end in ((middle + outer, middle + inner), (middle - inner, middle - outer)):
            edge += [(begin, high), (begin, high - door), (end, high - door), (end, high)]
    edge += [(h, high), (h - g, high - 1.5), (h - g, low + GAP + 1), (h, low + GAP), (h, low)]
    edge += [(0, low), (0, h), (h, h), (h, h - GAP), (h - g, h - GAP - 1), (h - g, 1.5)]
    folds: list[Line] = [((h, h), (right, h), (right, low), (h, low), (h, h))]
    folds += [((x, y), (x, y + h - GAP)) for x in (h, right) for y in (0.0, low + GAP)]
    back = h - tier.back
    cuts: list[Line] = []
    if n + 1 < len(TIERS):
        above = TIERS[n + 1]
        x, y = above.half - STOCK - 0.2, STOCK + 0.2
        hole = box(middle - x, back + above.back + y, middle + x, back + above.front - y)
        inside = box(hole[0][0] + TAB, hole[0][1] + TAB, hole[2][0] - TAB, hole[2][1] - TAB)
        cuts += [inside, *zip(hole[:4], inside[:4], strict=True)]
        folds.append(hole)
        title = (middle, back)
    else:
        cuts += [_turned(SLOT / 2, (middle + side * SHAFT[0], back + SHAFT[1]), side * turn()) for side in (1, -1)]
        title = (middle, back + tier.front - 8)
    band = min(3.0, h / 4)
    bands = [
        box(h, h - band, right, h), box(h, low, right, low + band), box(h - band, h, h, low),
        box(right, h, right + band, low),
    ]  # fmt: skip
    glued = [
        box(x, y, x + g - 1, y + h - GAP - 4) for x in (h - g + 0.5, right + 0.5) for y in (1.5, low + GAP + 1.5)
    ]
    return laid(f"tier-{n + 1}", "", edge, cuts, folds, glued, bands, title=title, lying=n == 0)


def _cradle(god: str) -> Net:
    """Return a cradle: back wall, slope with two ears, and front wall in a column, the sides beside the slope."""
    tilt = radians(SLOPE)
    wide, long = cradle_width(), _front() - REAR
    (_, rear), (_, front) = _ground(REAR), _ground(_front())
    foot, g = 6.0, 7.0
    ear = (STOP - REAR, STOP - REAR + EAR[0], EAR[1])

    def side(way: int) -> list[Point]:
        """Return the way down along one side, v outwards."""
        x0 = wide if way > 0 else 0.0

        def at(u: float, v: float) -> Point:
            return x0 + way * v, u

        out = (sin(tilt), cos(tilt))
        points = [at(-rear - foot, 0), at(-rear, 0), at(-rear + 1, g), at(-3, g), at(-1, 0), at(0, 0)]
        points += [at(rear * out[0], rear * out[1]), at(long + front * out[0], front * out[1])]
        near, far = 9.0, front - 1.5
        flap = (cos(tilt) * g, -sin(tilt) * g)
        points += [at(long + far * out[0], far * out[1])]
        points += [at(long + (far - 1) * out[0] + flap[0], (far - 1) * out[1] + flap[1])]
        points += [at(long + (near + 2.5) * out[0] + flap[0], (near + 2.5) * out[1] + flap[1])]
        points += [at(long + near * out[0], near * out[1]), at(long, 0), at(long + front + foot, 0)]
        return points

    edge = [*side(1), *reversed(side(-1))]
    cuts: list[Line] = []
    folds: list[Line] = []
    for x0, way in ((0.0, 1), (wide, -1)):
        begin, end, deep = ear
        cuts.append(((x0, begin), (x0 + way * deep, begin), (x0 + way * deep, end), (x0, end)))
        folds += [((x0, 0), (x0, begin)), ((x0, end), (x0, long))]
        folds += [((x0, -rear), (x0, -1))]
        out, outer = (sin(tilt), cos(tilt)), -way
        folds.append(
            (
                (x0 + outer * 9 * out[1], long + 9 * out[0]),
                (x0 + outer * (front - 1.5) * out[1], long + (front - 1.5) * out[0]),
            )
        )
    folds += [((0, y), (wide, y)) for y in (-rear, 0, long, long + front)]
    return laid(f"cradle-{god}", god, edge, cuts, folds, [], [], title=(wide / 2, -rear / 2))


def _stairs() -> Net:
    """Return both stairs: the slope in the middle, a side left and right that follows the tiers' steps."""
    wide = 2 * STAIR_HALF
    top = TIERS[-1]
    back, high = STAIR_FOOT - top.front, TOP
    long = hypot(back, high)
    ux, uy = back / long, -high / long
    profile: list[Point] = []
    for upper, lower in zip(reversed(TIERS), (*reversed(TIERS[:-1]), None), strict=True):
        profile.append((upper.front, upper.low))
        if lower:
            profile.append((lower.front, upper.low))
    ground = profile.pop()
    # Along the slope from its upper end, and square to it, into the temple.
    flat = [
        ((y - top.front) * ux + (z - TOP) * uy, (y - top.front) * uy - (z - TOP) * ux) for y, z in (*profile, ground)
    ]
    flap = 7.0
    (lu, lv), (gu, gv) = flat[-2], flat[-1]
    length = hypot(gu - lu, gv - lv)
    du, dv = (gu - lu) / length, (gv - lv) / length
    nu, nv = (-dv, du) if -dv < 0 else (dv, -du)

    def way(outwards: int) -> list[Point]:
        x0 = wide if outwards > 0 else 0.0
        found = [(0.0, 0.0), *flat[:-1]]
        found.append((lu + 2 * du + flap * nu, lv + 2 * dv + flap * nv))
        found.append((gu - 2 * du + flap * nu, gv - 2 * dv + flap * nv))
        found += [(gu, gv), (long, 0.0)]
        return [(x0 + outwards * v, u) for u, v in found]

    over = 8.0
    edge = [(1, -over), (wide - 1, -over), *way(1), *reversed(way(-1))]
    folds: list[Line] = [((0, 0), (wide, 0)), ((0, 0), (0, long)), ((wide, 0), (wide, long))]
    folds += [((wide + lv, lu), (wide + gv, gu)), ((-lv, lu), (-gv, gu))]
    n = 14
    bands = [box(5, long * (k + 0.55) / n, wide / 2 - 1.5, long * (k + 1) / n) for k in range(n)]
    bands += [box(wide / 2 + 1.5, long * (k + 0.55) / n, wide - 5, long * (k + 1) / n) for k in range(n)]
    glued = [box(2, -over + 1, wide - 2, -1)]
    return laid("stairs", "", edge, [], folds, glued, bands, title=(wide / 2, -over / 2 + 1))


def _tower(god: str) -> Net:
    """Return the four walls around a slot, with feet that are glued onto the last box."""
    high, foot = SHRINE_HIGH, 4.0
    edge: list[Point] = [(0, 0), (4 * SHRINE, 0), (4 * SHRINE + GLUE - 1, 1.5), (4 * SHRINE + GLUE - 1, high - 1.5)]
    edge.append((4 * SHRINE, high))
    for n in (3, 2, 1, 0):
        begin, end = (n + 1) * SHRINE, n * SHRINE
        edge += [(begin - 0.6, high), (begin - 3, high + foot), (end + 3, high + foot), (end + 0.6, high)]
    edge.append((0, high))
    folds: list[Line] = [((n * SHRINE, 0), (n * SHRINE, high)) for n in (1, 2, 3, 4)]
    folds.append(((0, high), (4 * SHRINE, high)))
    glued = [box(4 * SHRINE + 0.5, 3, 4 * SHRINE + GLUE - 2, high - 3)]
    bands = [box(0, 0, 4 * SHRINE, 2.5), box(0, high - 2.5, 4 * SHRINE, high)]
    return laid(f"tower-{god}", god, edge, [], folds, glued, bands, title=(SHRINE / 2, high / 2))


def _facade(god: str) -> Net:
    """Return a shrine's front with its tall roof, glued onto its tower."""
    wide, high = FACADE
    roof, eaves = ROOF, 3.0
    edge: list[Point] = [(eaves + 3, 0), (wide - eaves - 3, 0), (wide, roof), (wide - eaves, roof)]
    edge += [(wide - eaves, high), (eaves, high), (eaves, roof), (0, roof)]
    bands = [box(eaves + 1, y, wide - eaves - 1, y + 1.6) for y in (roof - 4, roof)]
    for k in range(5):
        x = wide / 2 + (k - 2) * 3.8
        bands.append(box(x - 1.1, 2.5, x + 1.1, roof - 5.5))
    size = high - roof - 6
    return laid(f"front-{god}", god, edge, [], [], [], bands, ((wide - size) / 2, roof + 3.6, size), (wide / 2, -3))


def _shore(notched: bool) -> Net:
    """Return a strip of the shore, upright on the paper, with a flap at its lower end; one lets the wires through."""
    long, high = 2 * pi * RING / STRIPS, RING_HIGH
    begin, end = long / 2 + 6, long / 2 + 6 + NOTCH[0]
    notch = [(high, begin), (high - NOTCH[1], begin), (high - NOTCH[1], end), (high, end)] if notched else []
    edge: list[Point] = [(0, 0), (high, 0), *notch, (high, long), (high - 2, long + GLUE), (2, long + GLUE)]
    glued = [box(3, long + 1, high - 3, long + GLUE - 1)]
    edge.append((0, long))
    band = box(0, 0, 2.5, long)
    return laid("shore", "", edge, [], [((0, long), (high, long))], glued, [band], title=(high / 2, long / 2))


def _road(name: str, long: float) -> Net:
    """Return what parts both lakes at one end: a wall with a foot that is glued onto the plan."""
    edge = list(box(0, 0, long, ROAD_HIGH + ROAD_FOOT)[:4])
    folds: list[Line] = [((0, ROAD_HIGH), (long, ROAD_HIGH))]
    glued = [box(1.5, ROAD_HIGH + 2, long - 1.5, ROAD_HIGH + ROAD_FOOT - 1.5)]
    return laid(f"road-{name}", "", edge, [], folds, glued, [box(0, 0, long, 2)], title=(long / 2, ROAD_HIGH / 2))


def laid(
    name: str,
    god: str,
    edge: Sequence[Point],
    cuts: Sequence[Line],
    folds: Sequence[Line],
    glued: Sequence[Line],
    bands: Sequence[Line],
    face: tuple[float, float, float] = (0.0, 0.0, 0.0),
    title: Point = (0.0, 0.0),
    lying: bool = False,
) -> Net:
    """Return a net that is moved so that its outline begins at the left and upper edges, `lying` on its side."""
    if lying:
        edge = [(y, -x) for x, y in edge]
        cuts, folds, glued, bands = (
            [tuple((y, -x) for x, y in line) for line in lines] for lines in (cuts, folds, glued, bands)
        )
        title = (title[1], -title[0])
    left, top = min(x for x, _ in edge), min(y for _, y in edge)
    right, low = max(x for x, _ in edge), max(y for _, y in edge)

    def moved(line: Iterable[Point]) -> list[Point]:
        return [(x - left, y - top) for x, y in line]

    def path(lines: Iterable[Iterable[Point]], end: str = "") -> str:
        return "".join(
            "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in moved(line)) + end for line in lines
        )  # fmt: skip

    x, y, size = face
    return Net(
        name,
        god,
        right - left,
        low - top,
        path([edge], "z"),
        path(cuts),
        path(folds),
        path(glued, "z"),
        path(bands, "z"),
        (x - left, y - top, size),
        (title[0] - left, title[1] - top),
    )


def box(left: float, top: float, right: float, low: float) -> Line:
    """Return the outline of a rectangle."""
    return (left, top), (right, top), (right, low), (left, low), (left, top)


def _turned(half: float, middle: Point, angle: float) -> Line:
    """Return a square with its middle, turned by so many degrees from the y axis towards x."""
    a = radians(angle)
    corners = ((-half, -half), (half, -half), (half, half), (-half, half), (-half, -half))
    return tuple((middle[0] + x * cos(a) + y * sin(a), middle[1] - x * sin(a) + y * cos(a)) for x, y in corners)


def _notch(middle: float, half: float, y: float, deep: float) -> list[Point]:
    return [(middle - half, y), (middle - half, y + deep), (middle + half, y + deep), (middle + half, y)]

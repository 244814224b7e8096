"""The shell: four tiers, twin stairs in front, a serpent over each door; hollow, open at the top and at the foot.

It stands on the plinth and prints as it stands. Inside, every step is a slope of 45 degrees at most, so nothing needs
support.
"""

from __future__ import annotations

from math import cos, radians, tan

from build123d import Cylinder, Pos, Rot

from hardware import ornament
from hardware.parameters import SIDES, Temple, Tier
from hardware.parts import chute
from hardware.shapes import (
    BIG,
    Part,
    Plane,
    Point,
    block,
    cut,
    disc,
    extrude,
    frustum,
    join,
    middle,
    prism,
    rod,
    sideways,
)

CORNICE, SKIRTING = 2.2, 1.6
PILOT, SCREW = chute.PILOT, 1.7
"""The radii of a hole that an M3 screw cuts its thread into, and of one that it passes."""
BOSS = 9.0
"""The width of a post that takes a screw."""
BESIDE = 2.4
"""How thick the stairs' flanks are beside their hollow: the doors are cut into them from outside."""
AROUND = 0.6
"""Between a chute and what it goes through."""
RIB = 1.0
"""How far a rib stands out between the hollow of the stairs and a door."""
LANDING = 7.0
"""How far the stairs' head stands before the last tier: no tier may reach through them."""
FOOT = 1.5
"""How far the stairs' foot stands before their lowest step."""
HEAD = 2.8
"""Half the width of a serpent's head at the foot of the stairs."""
RAMP = 3.4
"""The balustrades' width beside the doors; between the two stairs it is half as wide again."""
BROAD = 10.0
"""How much wider they are above the serpents' heads, on which they stand: together half of the temple's front."""
STONE_R = 6.0
"""The radius of Coyolxauhqui's stone, which leans on the foot of Huitzilopochtli's stair."""
NUT: tuple[float, float, float] = (5.8, 3.0, 2.0)
"""The pocket for a nut M3, pushed in from the side: across its flats, its height, and how far it is from the seam."""


def build(temple: Temple) -> Part:
    """Draw it."""
    outside = [_tier(temple, n) for n in range(len(temple.tiers))]
    outside += _stairs(temple)
    for side in (1, -1):
        outside += _serpent(temple, side)
    outside += [*_heads(temple), *_moon(temple)]
    shape = cut(join(outside[0], outside[1:]), _cavity(temple))
    shape = join(shape, [*_bosses(temple), *_relief(temple)])
    return Pos(0, 0, -temple.plinth) * cut(shape, [*_chute_room(temple), *_pilots(temple), *_air(temple)])


def bottoms(temple: Temple) -> tuple[Point, ...]:
    """Return where screws come up from the plinth: beside those from the base, which a screwdriver must pass."""
    x = temple.tiers[0].half - temple.wall - BOSS / 2
    return tuple((side * x, y) for side in (1, -1) for y in (18.0, -12.0))


def tops(temple: Temple) -> tuple[Point, ...]:
    """Return where screws come down from the lid."""
    last, inset = temple.tiers[-1], temple.wall + BOSS / 2 - 0.5
    x = last.half - inset
    return tuple((side * x, y) for side in (1, -1) for y in (last.front - inset, last.back + inset))


def levels(temple: Temple, n: int) -> Point:
    """Return from where to where a tier reaches; the first stands on the plinth."""
    return temple.plinth + n * temple.rise, temple.plinth + (n + 1) * temple.rise


def _grown(tier: Tier, by: float) -> tuple[Point, Point]:
    return (-tier.half - by, tier.half + by), (tier.back - by, tier.front + by)


def _tier(temple: Temple, n: int) -> Part:
    tier, (low, high) = temple.tiers[n], levels(temple, n)
    base = high - temple.rise
    wide, r = _grown(tier, temple.relief), temple.relief
    walls = block(*_grown(tier, 0), (low, high))
    # A band may step out by the relief: that much prints without support.
    bands = [block(*wide, (high - CORNICE, high))]
    if n > 0:
        bands.append(block(*wide, (base, base + SKIRTING)))
    bands.append(block(*_grown(tier, r / 2), (high - CORNICE - 0.8, high)))
    return join(walls, bands)


def _stairs(temple: Temple) -> list[Part]:
    """Two flights between three balustrades, from the lid down to the foot."""
    half, foot, head = temple.stair_half, temple.stair_foot, temple.tiers[-1].front + LANDING
    back = temple.tiers[-1].front - 3
    base, high, steps = temple.plinth, temple.platform, temple.steps
    run, rise = (foot - FOOT - head) / steps, (high - base) / steps
    points = [(back, base), (foot - FOOT, base)]
    for n in range(steps):
        y, z = foot - FOOT - n * run, base + n * rise
        points += [(y, z + rise), (y - run, z + rise)]
    points += [(back, high)]
    flight = _along(points, half)
    # A balustrade rises beside the steps and ends upright, in a block as high as the lid.
    slope = [(foot, base + 3), (head + 4.2, high - 7), (head + 4.2, high), (back, high)]
    whole = [(back, base), (foot, base), *slope]
    ramps = [_along(whole, RAMP / 2, x) for x in (half - RAMP / 2, RAMP - half - RAMP / 2)]
    ramps.append(_along(whole, RAMP * 0.75))
    low = _lintel(temple) + 3
    upper = [(back, low), (_face(temple, low), low), *slope[1:]]
    ramps += [_along(upper, BROAD / 2, side * (half + BROAD / 2 - 0.01)) for side in (1, -1)]
    return [flight, *ramps]


def _face(temple: Temple, z: float) -> float:
    """Return how far before the temple's middle the balustrades' faces are, so high over the table."""
    low, high = temple.plinth + 3, temple.platform - 7
    foot, head = temple.stair_foot, temple.tiers[-1].front + LANDING + 4.2
    return foot - (foot - head) * (z - low) / (high - low)


def _moon(temple: Temple) -> list[Part]:
    """Lean Coyolxauhqui's stone on the foot of Huitzilopochtli's stair: the moon, in pieces, in a round rim."""
    flight = (RAMP * 0.75 + temple.stair_half - RAMP) / 2
    z = temple.plinth + STONE_R - 0.8
    lean = (_face(temple, z) - _face(temple, z + 1)) / 1.0
    plane = Plane(
        origin=(SIDES["huitzilopochtli"] * flight, _face(temple, z), z), x_dir=(-1, 0, 0), z_dir=(0, 1, lean)
    )
    stone = extrude(plane * disc(STONE_R), -4)
    moon = ornament.on(plane, [(ornament.moon(2 * STONE_R), (0.0, 0.0))], temple.relief)
    above = block((-BIG, BIG), (-BIG, BIG), (temple.plinth, BIG))
    return [each & above for each in (stone, *moon)]


def _along(points: list[Point], half: float, x: float = 0) -> Part:
    """Return a polygon in y and z, made `half` thick to each side of `x`."""
    return Pos(x, 0, 0) * Rot(0, 0, 90) * sideways(points, half)


def _lintel(temple: Temple) -> float:
    """Return how high a door is, where a chute looks out."""
    return _over(temple, temple.run - 6.5)


def _over(temple: Temple, s: float) -> float:
    """Return how high a gutter's roof lies, with some air."""
    return temple.gutter(s) + (temple.roof + temple.chute_wall + AROUND) * 1.12


def _behind(temple: Temple, back: float) -> float:
    """Return how high the ceiling of a door is, so far behind the tongue's end."""
    # A gutter turns, so one of its edges is higher than its middle at the same y.
    lag = (temple.shaft / 2 + temple.chute_wall) * tan(radians(temple.turn))
    return _over(temple, temple.run - back - lag)


def _rib(temple: Temple) -> float:
    """Return from where on ribs stand between the hollow of the stairs and the doors: under the lower ceiling."""
    return _behind(temple, 10) - 0.9


def _serpent(temple: Temple, side: int) -> list[Part]:
    """Draw the head over a door: the tongue of the chute is its tongue."""
    x, front = side * (temple.exit_at[0] - 0.5), temple.exit_at[1] + 1.5
    back = temple.tiers[2].front - 2
    door = _lintel(temple) + 2.0
    outer, top = 14.2, door + 8.5
    face, step = temple.tiers[0].front, temple.plinth + 2
    # Below the lake's edge the wall stays flush; above it the jaw comes forward at 45 degrees.
    jaw = _along(
        [
            (back, temple.plinth),
            (face, temple.plinth),
            (face, step),
            (front - 2, step + front - 2 - face),
            (front - 2, door + 3),
            (back, door + 3),
        ],
        outer,
        x,
    )
    # The snout rises forwards at 45 degrees, so that it prints in the air.
    head = [
        (back, door),
        (front - 2, door),
        (front + 3.5, door + 5.5),
        (front + 3.5, top - 2),
        (front + 1.5, top),
        (back, top),
    ]
    solids = [jaw, _along(head, outer - 2.4, x)]
    for n in (-1, 1):
        brow = [(back, top - 5), (front - 6, top - 5), (front - 1, top), (front - 1, top + 2.4), (back, top + 2.4)]
        solids.append(_along(brow, 3.4, x + n * (outer - 5)))
        for radius, out in ((3.9, 1.0), (1.8, 2.0)):
            solids.append(
                Pos(x + n * (outer - 3.4), front - 6.5, door + 4.4) * Rot(0, 90, 0) * Cylinder(radius, 2 * out + 2)
            )
        solids.append(Pos(x + n * 4, front + 3, top - 3.4) * Rot(90, 0, 0) * Cylinder(1.3, 2.4))
        # Fangs hang from the upper jaw to both sides of the tongue: short and thick, or they break first.
        fang = [
            (front - 3, door - 5),
            (front - 1, door - 5),
            (front + 0.8, door + 0.6),
            (front + 0.8, door + 4),
            (front - 3, door + 4),
        ]
        solids.append(_along(fang, 1.4, x + n * (outer - 1.5)))
    return solids


def _heads(temple: Temple) -> list[Part]:
    """Draw the heads of the feathered serpents at the foot of the stairs, each the end of a balustrade."""
    foot, low = temple.stair_foot, temple.plinth
    snout = [
        (foot - 4, low),
        (foot, low),
        (foot + 6.5, low + 6.5),
        (foot + 7.5, low + 8.5),
        (foot + 6.5, low + 10.5),
        (foot + 2.5, low + 11.5),
        (foot + 0.5, low + 14.5),
        (foot - 4, low + 14.5),
    ]
    mouth = [(foot + 2.2, low + 6.6), (foot + 8, low + 6.6), (foot + 8, low + 7.8), (foot + 2.2, low + 7.8)]
    found = []
    for side in (1, -1):
        x = side * (temple.stair_half - HEAD)
        head = _along(snout, HEAD, x)
        head -= _along(mouth, BIG / 10, x) - _along(mouth, HEAD - 0.7, x)
        eyes = [
            Pos(x + n * HEAD, foot - 0.6, low + 10.6) * Rot(0, 90, 0) * Cylinder(radius, 2 * out)
            for n in (1, -1)
            for radius, out in ((2.2, 0.6), (1.1, 1.0))
        ]
        found.append(join(head, eyes))
    return found


def _cavity(temple: Temple) -> list[Part]:
    """Return the room inside: boxes, and between them slopes of 45 degrees."""
    wall, tiers = temple.wall, temple.tiers
    rooms = []
    low = temple.plinth - 1
    for n, tier in enumerate(tiers):
        high = levels(temple, n)[1]
        if n + 1 == len(tiers):
            rooms.append(block(*_grown(tier, -wall), (low, high + 1)))
            break
        above = tiers[n + 1]
        step = max(tier.half - above.half, tier.front - above.front, above.back - tier.back)
        begin = high - wall - step
        rooms.append(block(*_grown(tier, -wall), (low, begin)))
        rooms.append(frustum(_grown(tier, -wall), _grown(above, -wall), (begin, high - wall)))
        low = high - wall - 0.5
    # The stairs are hollow as well, so that they cost little and leave room for the sensors behind them.
    half, foot, head = temple.stair_half - BESIDE, temple.stair_foot, temple.tiers[-1].front + LANDING
    inner = BESIDE + 2.0
    base = temple.plinth
    lean = (foot - head) / (temple.platform - base)
    points = [
        (temple.tiers[-1].front - 6, temple.plinth - 1),
        (foot - inner, temple.plinth - 1),
        (foot - inner, base),
        (foot - inner - lean * 33, base + 31),
        (foot - inner - lean * 33 - 14, base + 45),
        (temple.tiers[-1].front - 6, base + 45),
    ]
    # Higher up a rib to each side, as wide as a ledge prints, carries the doors' ceilings.
    room = _along(points, half)
    rooms.append(room & block((-BIG, BIG), (-BIG, BIG), (0, _rib(temple))))
    rooms.append(room & block((RIB - half, half - RIB), (-BIG, BIG), (0, BIG)))
    return rooms


def _air(temple: Temple) -> list[Part]:
    """Cut slots into the back of three tiers: warm air rises out under the lid."""
    slots = []
    for n in (1, 2, 3):
        tier, (low, _) = temple.tiers[n], levels(temple, n)
        high = temple.rise - SKIRTING - CORNICE - 3.6
        slots += [_slot(x, tier.back, low + SKIRTING + 1.4, high) for x in range(-21, 22, 7)]
    return slots


def _slot(x: float, y: float, z: float, high: float) -> Part:
    half = 1.5
    gable = prism([(-half, 0), (half, 0), (half, high - half), (0, high), (-half, high - half)], (-6, 6))
    return Pos(x, y, z) * Rot(90, 0, 0) * gable


def _bosses(temple: Temple) -> list[Part]:
    half = BOSS / 2
    posts = []
    for x, y in bottoms(temple):
        posts.append(
            middle(BOSS + 0.5, BOSS, (temple.plinth, temple.plinth + 9), (x + (0.25 if x > 0 else -0.25), y))
        )
    last = temple.tiers[-1]
    for x, y in tops(temple):
        # From the corner of the wall outwards at less than 45 degrees.
        dx, dy = (1 if x > 0 else -1), (1 if y > 0 else -1)
        cx, cy = dx * (last.half - 1), (last.front if dy > 0 else last.back) - dy * 1
        wide = (min(x - dx * half, cx), max(x - dx * half, cx)), (min(y - dy * half, cy), max(y - dy * half, cy))
        thin = (min(cx - dx * 0.8, cx), max(cx - dx * 0.8, cx)), (min(cy - dy * 0.8, cy), max(cy - dy * 0.8, cy))
        top = temple.platform
        posts.append(frustum(thin, wide, (top - 10 - BOSS - 3, top - 10)) + block(*wide, (top - 10.01, top)))
    return posts


def _pilots(temple: Temple) -> list[Part]:
    low, high = temple.plinth, temple.platform
    return [*nuts(bottoms(temple), low), *(rod(PILOT, (high - 9, high + 1), at) for at in tops(temple))]


def nuts(places: tuple[Point, ...], low: float) -> list[Part]:
    """Return the room for a nut in each post over a seam, open towards the middle, and for the screw into it."""
    across, high, over = NUT
    half, point = BOSS / 2 + 1, across / 2 / cos(radians(30))
    found = []
    for x, y in places:
        inwards = (x - half, x + point) if x > 0 else (x - point, x + half)
        pocket = block(inwards, (y - across / 2, y + across / 2), (low + over, low + over + high))
        found += [pocket, rod(SCREW, (low - 1, low + over + 1), (x, y))]
    return found


def _chute_room(temple: Temple) -> list[Part]:
    """Where chutes of any sensor go through: the doors open down to the plinth, so that one goes in from below."""
    half = temple.shaft / 2 + temple.chute_wall + AROUND
    sensor = temple.sensor
    deepest = max(each.depth for each in temple.sensors.values())
    reach = half + deepest + chute.PLAY + chute.SEAT_WALL
    rooms = []
    begin, far, low = temple.run - 24, temple.run + 14, temple.plinth - 1
    passage = [(begin, low), (far, low), (far, low + BIG / 4), (begin, low + BIG / 4)]
    doors = _ceiling(temple, low)
    rib = _rib(temple)
    seat = temple.beam_at + sensor.lens_from_end + chute.PLAY + chute.SEAT_WALL + AROUND
    start = temple.beam_at - sensor.length - 8
    high = [
        (start, low),
        (seat + 2.4, low),
        (seat + 2.4, temple.gutter(seat) + 17),
        (start, temple.gutter(start) + 17.5),
    ]
    for side in (1, -1):
        x, y = temple.shaft_at
        turn = Pos(side * x, y, 0) * Rot(0, 0, 90 - side * temple.turn)
        rooms.append((turn * sideways(passage, half)) & doors)
        # Between the door and the hollow of the stairs nothing thin is left standing.
        inner, outer = sorted((side * (temple.stair_half - BESIDE - 0.3), side * (temple.stair_half + 2)))
        rooms.append(block((inner, outer), (temple.tiers[2].front - 6, temple.tiers[1].front - 3.8), (low, rib)))
        rooms.append(turn * sideways(high, reach) & _inside(temple))
    return rooms


def _ceiling(temple: Temple, low: float) -> Part:
    """Return the room under the doors' ceiling: flat steps along x, as each is a bridge and a slope would hang."""
    turn, start = cos(radians(temple.turn)), temple.shaft_at[1]
    edges = [start + (temple.run - back) * turn for back in (24, 17, 10, 4)]
    tops = [*(_behind(temple, back) for back in (17, 17, 10)), _lintel(temple)]
    whole = block((-BIG, BIG), (edges[0], edges[1]), (low, tops[0]))
    ends = (edges[2], edges[3], temple.exit_at[1] + 12)
    return join(
        whole, [block((-BIG, BIG), (edges[n + 1] - 0.01, end), (low, tops[n + 1])) for n, end in enumerate(ends)]
    )


def _inside(temple: Temple) -> Part:
    """Return what may be cut away for the sensors without breaking through a wall that is seen."""
    second, third = temple.tiers[1:3]
    skin = 1.3
    high = temple.plinth + 3 * temple.rise - temple.wall - 1
    return (
        block((-third.half + skin, third.half - skin), (0, third.front - skin), (0, high))
        + block(
            (-second.half + skin, second.half - skin),
            (0, second.front - skin),
            (0, temple.plinth + 2 * temple.rise - temple.wall - 1),
        )
        + block(
            (-temple.stair_half + skin, temple.stair_half - skin),
            (0, second.front + 4),
            (0, temple.plinth + temple.rise),
        )
    )


def _relief(temple: Temple) -> list[Part]:
    """War on the one side, rain on the other: on the flanks, beside the stairs and behind."""
    bodies: list[Part] = []
    for n, tier in enumerate(temple.tiers):
        low = temple.plinth + n * temple.rise
        middle_z = low + (temple.rise - CORNICE - (SKIRTING if n else -1.0)) / 2 + (SKIRTING if n else -1.0)
        size = temple.rise - CORNICE - SKIRTING - 2.6
        for side in (1, -1):
            draw = (ornament.WAR if side == SIDES["huitzilopochtli"] else ornament.RAIN)[n](size)
            depth = tier.front - tier.back
            flank = ornament.wall(side * tier.half, (tier.front + tier.back) / 2, middle_z, 90 if side > 0 else 270)
            count = 5 - (n > 1)
            pitch = (depth - 10) / count
            places = [(draw, (pitch * (k - (count - 1) / 2), 0)) for k in range(count)]
            bodies += ornament.on(flank, places, temple.relief)
            back = ornament.wall(0, tier.back, middle_z, 180)
            spots = [31 - 1.0 * n] + ([42.5] if n == 0 else [])
            bodies += ornament.on(back, [(draw, (-side * x * -1.0, 0)) for x in spots], temple.relief)
            front = ornament.wall(0, tier.front, middle_z, 0)
            if n > 1:
                room = tier.half - temple.stair_half
                bodies += ornament.on(front, [(draw, (-side * (temple.stair_half + room / 2), 0))], temple.relief)
    return bodies

"""The two shrines: an open top leads tokens into a throat that one of them passes at a time."""

from __future__ import annotations

from math import cos, pi, sin

from build123d import Face, Plane, Pos, Rectangle, Rot, Sketch, extrude, loft

from hardware import ornament
from hardware.parameters import Temple
from hardware.parts import plaza
from hardware.shapes import Part, Point, block, cut, frustum, join, middle, polygon, rod

WALL = 2.4
CELLA = 11.0
"""How high the walls with the door are; the frieze stands on them."""
BEHIND = 180
"""Degrees from the front, where the roof stands instead of a crest."""
ROUND = 32
"""Corners of the funnel's circle."""


def build(temple: Temple, god: str) -> Part:
    """Draw one: ``huitzilopochtli`` or ``tlaloc``."""
    wide, deep = temple.shrine_x / 2, temple.shrine_y / 2
    high = temple.shrine_wall
    solids = [
        block((-wide, wide), (-deep, deep), (0, 2.2)),
        middle(2 * wide - 2, 2 * deep - 2, (0, high)),
        frustum(((-wide + 1, wide - 1), (-deep + 1, deep - 1)), ((-wide, wide), (-deep, deep)), (CELLA - 1.5, CELLA)),
        block((-wide, wide), (-deep, deep), (CELLA, CELLA + 1.6)),
        frustum(
            ((-wide + 0.6, wide - 0.6), (-deep + 0.6, deep - 0.6)),
            ((-wide + 1.0, wide - 1.0), (-deep + 1.0, deep - 1.0)),
            (CELLA + 1.5, high - 1.4),
        ),
        frustum(
            ((-wide + 1, wide - 1), (-deep + 1, deep - 1)),
            ((-wide + 0.2, wide - 0.2), (-deep + 0.2, deep - 0.2)),
            (high - 2.4, high - 1.4),
        ),
        block((-wide + 0.2, wide - 0.2), (-deep + 0.2, deep - 0.2), (high - 1.4, high)),
    ]
    body = cut(join(solids[0], solids[1:]), [*_funnel(temple, high), *_pegs(temple)])
    war = god == "huitzilopochtli"
    extra = [*_merlons(temple, high, war), *_frieze(temple, high, war), *_door(temple, war)]
    return join(body, extra)


def _funnel(temple: Temple, high: float) -> list[Part]:
    """From the open top to the throat: so steep that a token falls and does not circle."""
    wide, deep = temple.slot[0] / 2, temple.slot[1] / 2
    radius, low, rise = temple.throat / 2, temple.throat_long, temple.funnel
    circle = _circle(radius, low)
    top = [(wide * _square(a)[0], deep * _square(a)[1]) for a in _angles()]
    upper = polygon(top, Plane.XY.offset(low + rise))
    return [
        _throat(circle, low),
        loft([circle, upper]),
        block((-wide, wide), (-deep, deep), (low + rise - 0.02, high + 20)),
    ]


def _throat(face: Face, low: float) -> Part:
    """Return the throat below the funnel."""
    return extrude(face, low + 5, dir=(0, 0, -1))


def _angles() -> list[float]:
    return [2 * pi * (n + 0.5) / ROUND for n in range(ROUND)]


def _circle(radius: float, z: float) -> Face:
    # Circumscribed: a token of the throat's size passes between the flats.
    reach = radius / cos(pi / ROUND)
    return polygon([(reach * cos(a), reach * sin(a)) for a in _angles()], Plane.XY.offset(z))


def _square(angle: float) -> Point:
    """Return where a ray meets the square of side 2."""
    x, y = cos(angle), sin(angle)
    reach = 1 / max(abs(x), abs(y))
    return x * reach, y * reach


def _pegs(temple: Temple) -> list[Part]:
    return [rod(plaza.PEG + 0.2, (-1, plaza.PEG_HIGH + 0.4), at) for at in plaza.PEGS]


def _merlons(temple: Temple, high: float, war: bool) -> list[Part]:
    """Raise the crest on three sides: stepped flames for war, shells for rain; each stands on the wall."""
    wide, deep = temple.shrine_x / 2 - 0.2, temple.shrine_y / 2 - 0.2
    thick = WALL
    shapes = []
    steps = 5
    for side, along, out in ((0, wide, deep), (180, wide, deep), (90, deep, wide), (270, deep, wide)):
        for n in range(steps):
            # Behind the slot the roof stands.
            if side == BEHIND or (side, n) in ((90, 0), (270, steps - 1)):
                continue
            u = (n - (steps - 1) / 2) * (2 * along - 5.2) / (steps - 1)
            profile = _flame(temple.merlon) if war else _crest_shell()
            face = polygon(profile, Plane(origin=(0, 0, 0), x_dir=(1, 0, 0), z_dir=(0, -1, 0)))
            merlon = Pos(u, out, high - 0.4) * extrude(face, thick, dir=(0, -1, 0))
            shapes.append(Rot(0, 0, side) * merlon)
    return shapes


def _flame(high: float) -> list[Point]:
    return [
        (-2.5, 0),
        (2.5, 0),
        (2.5, 2.2),
        (1.3, 2.2),
        (1.3, high + 0.4),
        (-1.3, high + 0.4),
        (-1.3, 2.2),
        (-2.5, 2.2),
    ]


def _crest_shell() -> list[Point]:
    return [(-1.5, 0), (1.5, 0)] + [
        (2.2 * cos(a), 2.4 + 2.2 * sin(a)) for a in [pi * n / 10 - 0.2 for n in range(12)]
    ]


def _frieze(temple: Temple, high: float, war: bool) -> list[Part]:
    """Raise what covers the roof: skulls like studs for war, bars of falling water and ringed eyes for rain."""
    wide, deep = temple.shrine_x / 2 - 0.8, temple.shrine_y / 2 - 0.8
    mid = (CELLA + 1.6 + high - 1.4) / 2
    tall = high - 1.4 - CELLA - 1.6
    bodies: list[Part] = []
    for turned, along, out in ((0, wide, deep), (180, wide, deep), (90, deep, wide), (270, deep, wide)):
        angle = turned * pi / 180
        wall = ornament.wall(out * sin(angle), out * cos(angle), mid, turned)
        if war:
            draws = [(ornament.skull(5.4), (u * (2 * along - 6) / 3, 0.0)) for u in (-1.5, -0.5, 0.5, 1.5)]
        else:
            bar = Sketch() + Rectangle(1.6, tall - 0.6)
            draws = [(bar, (u * (2 * along - 4) / 6, 0.0)) for u in (-3, -2, 2, 3)]
            draws.append((ornament.goggles(7.0), (0.0, 0.0)))
        bodies += ornament.on(wall, draws, temple.relief)
    return bodies


def _door(temple: Temple, war: bool) -> list[Part]:
    """Raise the door's frame in front, with its god's sign over it, and signs behind and beside."""
    wide, deep = temple.shrine_x / 2 - 1, temple.shrine_y / 2 - 1
    front = ornament.wall(0, deep, 0, 0)
    jamb = Sketch() + Rectangle(2.0, CELLA - 3)
    lintel = Sketch() + Rectangle(14, 1.8)
    draws = [(jamb, (side * 6.0, (CELLA - 3) / 2 + 1)) for side in (-1, 1)] + [(lintel, (0.0, CELLA - 2.0))]
    draws += [((ornament.knife if war else ornament.drop)(5.6), (side * 10.0, 5.6)) for side in (-1, 1)]
    bodies = ornament.on(front, draws, temple.relief)
    sign = (ornament.butterfly if war else ornament.shell)(6.6)
    for turned, along, out in ((90, deep, wide), (270, deep, wide), (180, wide, deep)):
        angle = turned * pi / 180
        wall = ornament.wall(out * sin(angle), out * cos(angle), 6.0, turned)
        bodies += ornament.on(wall, [(sign, (u * along * 0.58, 0.0)) for u in (-1, 0, 1)], temple.relief)
    return bodies

"""The low relief that distinguishes the two gods' sides: our own drawings, made for printing.

Every ornament is a flat sketch around its own middle, u to the right and v up. `on` raises it from a wall.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

from build123d import Circle, Plane, Pos, Rectangle, Rot, Sketch, extrude

from hardware.shapes import Part, Point, polygon

SUNK = 0.6
"""How deep an ornament reaches into its wall, so that the two are one body."""


def _shape(*points: Point) -> Sketch:
    """Return a polygon, whichever way round its corners come."""
    twice = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, (*points[1:], points[0]), strict=True))
    return Sketch() + polygon(points if twice > 0 else points[::-1])


def on(wall: Plane, drawings: Sequence[tuple[Sketch, Point]], relief: float) -> list[Part]:
    """Raise drawings from a wall, each at its place in the wall's own coordinates."""
    sunk = wall.offset(-SUNK)
    return [extrude(sunk * (Pos(u, v) * sketch), relief + SUNK) for sketch, (u, v) in drawings]


def wall(x: float, y: float, z: float, turned: float) -> Plane:
    """Return the plane of a wall; `turned` 0 looks to +y, 90 to +x, 180 to -y, 270 to -x."""
    angle = turned * pi / 180
    out = (sin(angle), cos(angle), 0)
    return Plane(origin=(x, y, z), x_dir=(-cos(angle), sin(angle), 0), z_dir=out)


def skull(size: float) -> Sketch:
    """War: a skull from the front."""
    r = size / 2
    head = Pos(0, r * 0.22) * Circle(r * 0.8)
    jaw = Pos(0, -r * 0.62) * Rectangle(r * 0.98, r * 0.76)
    eyes = [Pos(side * r * 0.36, r * 0.18) * Circle(r * 0.24) for side in (-1, 1)]
    teeth = [Pos(side * r * 0.0, -r * 0.86) * Rectangle(r * 0.2, r * 0.36) for side in (0,)]
    return head + jaw - eyes - teeth


def butterfly(size: float) -> Sketch:
    """War: a butterfly of fire, the soul of a warrior."""
    r = size / 2
    wings = [_shape((0, r * 0.15), (side * r, r), (side * r, r * 0.05), (0, -r * 0.25)) for side in (-1, 1)]
    low = [_shape((0, 0), (side * r * 0.75, -r * 0.1), (side * r * 0.6, -r), (0, -r * 0.5)) for side in (-1, 1)]
    return wings[0] + wings[1] + low[0] + low[1] + Rectangle(r * 0.4, r * 1.5)


def drop(size: float) -> Sketch:
    """Rain: a drop."""
    r = size / 2
    return Pos(0, -r * 0.35) * Circle(r * 0.62) + _shape((-r * 0.56, -r * 0.1), (r * 0.56, -r * 0.1), (0, r))


def shell(size: float) -> Sketch:
    """Rain: a shell, cut through."""
    r = size / 2
    fan = [
        _shape(
            (0, -r * 0.75), *[(1.05 * r * sin(a), -r * 0.75 + 1.6 * r * cos(a)) for a in (lean - 0.17, lean + 0.17)]
        )
        for lean in (-0.72, -0.36, 0.0, 0.36, 0.72)
    ]
    whole = Pos(0, -r * 0.62) * Circle(r * 0.38)
    for rib in fan:
        whole = whole + rib
    return whole + Pos(0, -r * 0.1) * Circle(r * 0.52)


def goggles(size: float) -> Sketch:
    """Rain: the ringed eyes of Tlaloc, and his lip with its fangs."""
    r = size / 2
    eyes = [Pos(side * r * 0.52, r * 0.3) * (Circle(r * 0.5) - Circle(r * 0.2)) for side in (-1, 1)]
    lip = Pos(0, -r * 0.32) * Rectangle(r * 1.7, r * 0.3)
    fangs = [Pos(x * r, -r * 0.68) * Rectangle(r * 0.26, r * 0.64) for x in (-0.66, -0.22, 0.22, 0.66)]
    whole = eyes[0] + eyes[1] + lip
    for fang in fangs:
        whole = whole + fang
    return whole


def knife(size: float) -> Sketch:
    """War: a flint knife, point upwards."""
    r = size / 2
    return _shape((0, r), (r * 0.45, r * 0.2), (r * 0.34, -r * 0.5), (-r * 0.34, -r * 0.5), (-r * 0.45, r * 0.2)) + (
        Pos(0, -r * 0.72) * Rectangle(r * 0.34, r * 0.56)
    )


def fret(size: float) -> Sketch:
    """Neither's: a stepped fret, as borders have it."""
    u = size / 5
    steps = [Pos(u * x, u * (h / 2 - 2)) * Rectangle(u * 1.02, u * h) for x, h in ((-2, 1), (-1, 2), (0, 3), (1, 4))]
    whole = Sketch() + steps[0]
    for step in steps[1:]:
        whole = whole + step
    return whole + Pos(u * 2, u * -1.5) * Rectangle(u * 1.02, u)


def wave(size: float) -> Sketch:
    """Neither's: a wave of the lake, which breaks to the left."""
    r = size / 2
    crest = Pos(r * 0.1, 0) * (Circle(r * 0.8) - Circle(r * 0.36))
    back = _shape((r * 0.2, -r * 0.8), (r * 1.4, -r * 0.8), (r * 0.75, 0), (r * 0.45, 0))
    open_ = Pos(-r * 0.45, -r * 0.62) * Rot(0, 0, 20) * Rectangle(r * 0.9, r * 0.7)
    return crest - open_ + back + Pos(r * 0.1, -r * 0.68) * Rectangle(r * 2.3, r * 0.3)


def moon(size: float) -> Sketch:
    """War: Coyolxauhqui, head, trunk and limbs apart, as she fell from the mountain, within a rim."""
    r = size / 2
    whole = Circle(r) - Circle(r * 0.86)
    parts = [
        Pos(-r * 0.3, r * 0.46)
        * (Circle(r * 0.24) + Pos(-r * 0.1, r * 0.16) * Rot(0, 0, 20) * Rectangle(r * 0.4, r * 0.2)),
        Rot(0, 0, 24) * Rectangle(r * 0.44, r * 0.5),
    ]
    for turned, out, bend in ((30, 0.56, 50), (200, 0.56, -50), (270, 0.58, 60), (335, 0.56, -50)):
        limb = Rectangle(r * 0.44, r * 0.2) + Pos(r * 0.16, r * 0.12) * Rot(0, 0, bend) * Rectangle(r * 0.4, r * 0.2)
        parts.append(Rot(0, 0, turned) * Pos(r * out, 0) * Rot(0, 0, 90) * limb)
    for each in parts:
        whole = whole + each
    return whole


WAR = (skull, knife, skull, butterfly)
"""What stands on Huitzilopochtli's tiers, from the lowest up."""

RAIN = (goggles, drop, shell, goggles)
"""What stands on Tlaloc's tiers, from the lowest up."""

"""The basic shapes that every part is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, radians, sin

from build123d import (
    Align,
    Box,
    Circle,
    Cylinder,
    Edge,
    Face,
    Location,
    Part,
    Plane,
    Pos,
    Sketch,
    Solid,
    Vector,
    Wire,
    extrude,
    loft,
)

LOW = (Align.MIN, Align.MIN, Align.MIN)
STAND = (Align.CENTER, Align.CENTER, Align.MIN)
BIG = 1000.0

Point = tuple[float, float]


def block(x: Point, y: Point, z: Point) -> Part:
    """Return a box from and to on each axis."""
    return Pos(x[0], y[0], z[0]) * Box(x[1] - x[0], y[1] - y[0], z[1] - z[0], align=LOW)


def middle(x: float, y: float, z: Point, at: Point = (0, 0)) -> Part:
    """Return a box of width and depth around a point."""
    return block((at[0] - x / 2, at[0] + x / 2), (at[1] - y / 2, at[1] + y / 2), z)


def rod(radius: float, z: Point, at: Point = (0, 0)) -> Part:
    """Return an upright cylinder."""
    return Pos(at[0], at[1], z[0]) * Cylinder(radius, z[1] - z[0], align=STAND)


def polygon(points: Sequence[Point], plane: Plane = Plane.XY) -> Face:
    """Return a flat face with straight edges, in the coordinates of a plane."""
    corners = [plane.from_local_coords(Vector(x, y, 0)) for x, y in points]
    return Face(Wire.make_polygon(corners, close=True))


def prism(points: Sequence[Point], z: Point) -> Part:
    """Return an upright prism over a polygon."""
    return extrude(polygon(points, Plane.XY.offset(z[0])), z[1] - z[0], dir=(0, 0, 1))


def sideways(points: Sequence[Point], half: float) -> Part:
    """Return a polygon in x and z, made `half` thick to each side of y = 0."""
    face = polygon([(x, z) for x, z in points], Plane(origin=(0, -half, 0), x_dir=(1, 0, 0), z_dir=(0, -1, 0)))
    return extrude(face, 2 * half, dir=(0, 1, 0))


def frustum(low: tuple[Point, Point], high: tuple[Point, Point], z: Point) -> Part:
    """Return what joins one rectangle (x from and to, y from and to) to another above it."""

    def face(x: Point, y: Point, level: float) -> Face:
        return polygon([(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])], Plane.XY.offset(level))

    return loft([face(*low, z[0]), face(*high, z[1])])


def ring(centre: float, radius: float, count: int, first: float = 0) -> list[tuple[Point, float]]:
    """Return places on a circle with the degrees they are turned by."""
    turns = [first + 360 / count * n for n in range(count)]
    return [((centre + radius * cos(radians(t)), radius * sin(radians(t))), t) for t in turns]


def disc(radius: float) -> Sketch:
    """Return a flat disc."""
    return Sketch() + Circle(radius)


def join(first: Part, others: Iterable[Part]) -> Part:
    """Return one part of many, fused at once: one by one takes ten times as long."""
    rest = list(others)
    return first + rest if rest else first


def cut(first: Part, others: Iterable[Part]) -> Part:
    """Return a part without many others."""
    rest = list(others)
    return first - rest if rest else first


__all__ = [
    "BIG", "LOW", "STAND", "Edge", "Face", "Location", "Part", "Plane", "Point", "Pos", "Sketch", "Solid",
    "block", "cut", "disc", "extrude", "frustum", "join", "loft", "middle", "polygon", "prism", "ring", "rod",
    "sideways",
]  # fmt: skip

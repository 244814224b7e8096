"""A rack: it holds twelve tokens at a space of the board, with its tongue under the edge. Twenty are printed."""

from __future__ import annotations

from build123d import Axis, Plane, Pos, Rot, revolve

from hardware import ornament
from hardware.parameters import Temple
from hardware.shapes import Part, block, cut, join, polygon

FLOOR = 1.6
WALL = 1.6
DEEP = 32.0
HIGH = 24.0
TONGUE = 12.0
SPARE = 2.0
"""Degrees left between two racks."""


def build(temple: Temple) -> Part:
    """Draw one: a sector behind the board's edge, with x pointing outwards."""
    inner = temple.board.across / 2 + 0.8
    outer = inner + DEEP
    half = (360 / 20 - SPARE) / 2
    body = _sector(inner, outer, half, (0, HIGH))
    hollow = _sector(inner + WALL, outer - WALL, half - 57.3 * WALL / (inner + DEEP / 2), (FLOOR, HIGH + 5))
    # The wall towards the players is lower, so that a finger reaches in.
    dip = _sector(inner - 2, inner + WALL + 0.5, half - 2.4, (HIGH - 9, HIGH + 5))
    tongue = block((inner - TONGUE, inner + 1), (-12, 12), (0, 1.2)) - block(
        (inner - TONGUE - 1, inner - TONGUE + 3), (-3, 3), (-1, 3)
    )
    raised = []
    for turned in (-3.8, 0.0, 3.8):
        wall = Rot(0, 0, turned) * ornament.wall(outer, 0, HIGH / 2, 90)
        raised += ornament.on(wall.offset(-1.1), [(ornament.fret(12.0), (0.0, 0.0))], 0.6 + 1.1)
    body = join(cut(body, [hollow, dip]), [tongue])
    raised = [shape - _sector(inner, outer - 0.4, half, (-1, HIGH)) for shape in raised]
    return Pos(-inner, 0, 0) * join(body, raised)


def _sector(inner: float, outer: float, half: float, z: tuple[float, float]) -> Part:
    face = polygon([(inner, z[0]), (outer, z[0]), (outer, z[1]), (inner, z[1])], Plane.XZ)
    return Rot(0, 0, -half) * revolve(face, Axis.Z, 2 * half)


def room(temple: Temple) -> float:
    """Return its room in cubic millimetres."""
    inner = temple.board.across / 2 + 0.8 + WALL
    outer = inner + DEEP - 2 * WALL
    share = (360 / 20 - SPARE - 2 * 57.3 * WALL / (inner + DEEP / 2)) / 360
    return 3.14159265 * (outer**2 - inner**2) * share * (HIGH - FLOOR - 2)

"""The geometry of the board's picture, in the units of one drawing, 360 wide and `HEIGHT` high."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import cos, pi, sin
from typing import NamedTuple

from companion.games.moctezuma.rules.boards import PLACES

WIDTH = 360.0
HEX, ROUND = "hex434", "round"
HEIGHT = {HEX: 244.0, ROUND: 344.0}
TILE = 40.0
"""Half the height of a tile, a hexagon standing on a corner."""

_STEP_X, _STEP_Y = 86.0, 76.0
_PAWN = 20.0
"""How far from the middle of its tile a researcher stands."""


class Spot(NamedTuple):
    """A point of the drawing."""

    x: float
    y: float


def shape(board: str) -> str:
    """Return how a board is laid out: rows of hexagons, or round about the Library."""
    return HEX if board == HEX else ROUND


@cache
def spots(layout: str) -> tuple[Spot, ...]:
    """Return the middle of each place, the Library's first."""
    middle_x, middle_y = WIDTH / 2, HEIGHT[layout] / 2
    if layout == HEX:
        rows = ((-1, (-1.5, -0.5, 0.5, 1.5)), (0, (-1.0, 1.0)), (1, (-1.5, -0.5, 0.5, 1.5)))
        temples = [Spot(middle_x + x * _STEP_X, middle_y + y * _STEP_Y) for y, columns in rows for x in columns]
    else:
        turns = [2 * pi * n / (PLACES - 1) - pi / 2 for n in range(PLACES - 1)]
        temples = [Spot(middle_x + 136 * cos(turn), middle_y + 132 * sin(turn)) for turn in turns]
    return (Spot(middle_x, middle_y), *temples)


@cache
def tile(layout: str) -> str:
    """Return the outline of a tile about the middle of its place, as points of a polygon."""
    size = TILE if layout == HEX else 36.5
    corners = [(size * sin(pi * n / 3), size * cos(pi * n / 3)) for n in range(6)]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def pawns(layout: str, places: Sequence[int]) -> list[Spot]:
    """Return the position of each researcher; those in one place are side by side below its middle."""
    found = []
    for n, place in enumerate(places):
        here = [other for other, there in enumerate(places) if there == place]
        x, y = spots(layout)[place]
        across = (here.index(n) - (len(here) - 1) / 2) * min(20.0, 62.0 / len(here))
        found.append(Spot(round(x + across, 1), round(y + _PAWN, 1)))
    return found

"""The geometry of the market's picture: where cells and buyers are drawn when one seat's side is at the bottom.

In the units of one drawing.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from companion.games.kit import Seat, Struct
from companion.games.market.rules.board import CELLS, LANES, SIDES

CELL = 66
"""The side of a cell."""
BUYER = 52
"""How far a row of buyers reaches out from the market."""
EDGE = 6
"""What is left free round the market where nobody sits."""


class Box(Struct, frozen=True):
    """A rectangle by its upper left corner."""

    x: int
    y: int
    width: int
    height: int


class Sheet(Struct, frozen=True):
    """The whole drawing: its size, the box of each cell, and those of each seat's buyers by their own lane."""

    width: int
    height: int
    cells: tuple[Box, ...]
    buyers: dict[Seat, tuple[Box, ...]]


def sheet(nearest: Seat, seats: Collection[Seat]) -> Sheet:
    """Lay out the market with the side `nearest` at the bottom, and a margin of buyers for each seat there is."""
    return _sheet(nearest, frozenset(seats))


@cache
def _sheet(nearest: Seat, seats: frozenset[Seat]) -> Sheet:
    near = SIDES.index(nearest)
    taken = [SIDES[(near + turns) % 4] in seats for turns in range(4)]
    below, left, above, right = (BUYER if each else EDGE for each in taken)
    spots = [(0, 0)] * len(CELLS)
    for lane, cells in enumerate(LANES[nearest]):
        for depth, cell in enumerate(cells):
            spots[cell] = (left + CELL * lane, above + CELL * (3 - depth))
    buyers: dict[Seat, tuple[Box, ...]] = {}
    for turns in range(4):
        side = SIDES[(near + turns) % 4]
        if side in seats:
            buyers[side] = tuple(_outside(turns, *spots[cells[0]], left, above) for cells in LANES[side])
    return Sheet(
        left + 4 * CELL + right, above + 4 * CELL + below, tuple(Box(x, y, CELL, CELL) for x, y in spots), buyers
    )


def _outside(turns: int, x: int, y: int, left: int, above: int) -> Box:
    """Return the box outside the cell at the edge, on the side that is `turns` quarter turns clockwise from below."""
    if turns == 0:
        return Box(x, above + 4 * CELL, CELL, BUYER)
    if turns == 1:
        return Box(left - BUYER, y, BUYER, CELL)
    if turns == 2:
        return Box(x, above - BUYER, CELL, BUYER)
    return Box(left + 4 * CELL, y, BUYER, CELL)

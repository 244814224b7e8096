"""The market's geometry: its tiles, its 16 cells and the lanes that each side of the table sees.

A cell is ``4 * row + column``, row 0 in the north and column 0 in the west. A tile is a number from 0 to 14, so that
the two porters are distinguished on their way through the market; the rules look only at kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from companion.games.kit import Seat

COMMODITIES = ("pottery", "cloth", "jewels", "herbs")
"""Black, blue, red and green; wherever a number stands for one, it is its place here, and its vendor's tile."""

PER_COMMODITY = 20
COINS = 16

KINDS: tuple[str, ...] = (*COMMODITIES, "crowd", "porter", "governor", "ambassador", "messenger", "king")
"""A vendor is named by what it sells."""

COPIES: Mapping[str, int] = MappingProxyType(
    {kind: {"crowd": 4, "porter": 2, "governor": 2}.get(kind, 1) for kind in KINDS}
)
KIND_OF: tuple[str, ...] = tuple(kind for kind in KINDS for _ in range(COPIES[kind]))
"""The kind of each tile."""

TILES = len(KIND_OF)
FIRST_CROWD, FIRST_PORTER, FIRST_GOVERNOR, AMBASSADOR, MESSENGER, KING, HOLE = 4, 8, 10, 12, 13, 14, 15
"""Below the first crowd are the vendors, below the first porter the crowds, and so on; `HOLE` stands in a market
for the cell without a tile."""

TILE_NAMES: tuple[str, ...] = tuple(
    f"{kind}-{KIND_OF[:tile].count(kind) + 1}" if COPIES[kind] > 1 else kind for tile, kind in enumerate(KIND_OF)
)

CELLS = range(16)
SIZE = range(4)

SIDES: tuple[Seat, ...] = ("south", "west", "north", "east")

_LANE = {
    "south": lambda lane, depth: (3 - depth, lane),
    "west": lambda lane, depth: (lane, depth),
    "north": lambda lane, depth: (depth, 3 - lane),
    "east": lambda lane, depth: (3 - lane, 3 - depth),
}


def _cell(place: tuple[int, int]) -> int:
    return 4 * place[0] + place[1]


LANES: Mapping[Seat, tuple[tuple[int, ...], ...]] = MappingProxyType(
    {side: tuple(tuple(_cell(_LANE[side](lane, depth)) for depth in SIZE) for lane in SIZE) for side in SIDES}
)
"""For each side its lanes from left to right as its player sees them, each from the nearest cell to the farthest
(ruling A1: for East and West a lane is a row of the grid)."""

CROSS: tuple[tuple[int, ...], ...] = tuple(
    tuple(cell for cell in CELLS if (cell // 4 == here // 4) != (cell % 4 == here % 4)) for here in CELLS
)
"""The cells in the row and in the column of each cell, the same from every side (ruling A15)."""

BESIDE: tuple[tuple[int, ...], ...] = tuple(
    tuple(cell for cell in CELLS if abs(cell // 4 - here // 4) + abs(cell % 4 - here % 4) == 1) for here in CELLS
)
"""The cells that share an edge with each cell."""


def turned(cell: int) -> int:
    """Return a cell's place after turning the market by 90 degrees, clockwise seen from above."""
    return 4 * (cell % 4) + 3 - cell // 4

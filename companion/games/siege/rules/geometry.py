"""Hexes as whole numbers: names, neighbours, distances and sets of hexes as bits. It knows no terrain.

Rows run from top to bottom, hexes stand on a point, and every second row is shifted half a hex to the right. A hex
is ``row * width + column``; people read it as ``g12``, the seventh column and the twelfth row; after ``z`` comes
``aa``. A set of hexes is one whole number, the bit of a hex set where it belongs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from companion.games.kit import Struct

SIDES = ("e", "se", "sw", "w", "nw", "ne")
"""The six sides of a hex, clockwise; a side and its opposite are three apart."""

_STEPS = (
    ((1, 0), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1)),
    ((1, 0), (1, 1), (0, 1), (-1, 0), (0, -1), (1, -1)),
)
"""For even and for odd rows the change of column and row over each side."""

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

LARGEST = 40
"""Hexes that a map may have in a row, and rows."""


class Grid(Struct, frozen=True):
    """A rectangle of hexes with its tables: `beside[h]` a neighbour for each side or -1, `around[h]` a set."""

    width: int
    height: int
    beside: tuple[tuple[int, ...], ...]
    around: tuple[int, ...]
    cubes: tuple[tuple[int, int, int], ...]
    names: tuple[str, ...]
    numbers: Mapping[str, int]
    rank: tuple[int, ...]
    """For each hex its place among all names when they are sorted."""
    masks: tuple[int, int, int, int]
    """The hexes of the first column, of the last, of the rows that are shifted, and all."""

    def __len__(self) -> int:
        return self.width * self.height

    def name(self, hexagon: int) -> str:
        """Return the name that people read: ``g12``."""
        return self.names[hexagon]

    def hexagon(self, name: str) -> int:
        """Return the hex of a name; raises `ValueError` for one that is not on the map."""
        try:
            return self.numbers[name]
        except (KeyError, TypeError):
            raise ValueError(f"{ascii(name)[:20]} is no hex; expected a1 to {self.names[-1]}") from None

    def distance(self, one: int, other: int) -> int:
        """Return how many steps apart two hexes are."""
        a, b = self.cubes[one], self.cubes[other]
        return max(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(a[2] - b[2]))

    def grown(self, hexes: int) -> int:
        """Return a set with all its neighbours: each of the six steps is a shift of the whole set."""
        width, (west, east, odd, all_) = self.width, self.masks
        leftwards, rightwards = hexes & ~west, hexes & ~east
        sideways = leftwards >> 1 | rightwards << 1 | hexes << width | hexes >> width
        left, right = leftwards & ~odd, rightwards & odd
        slanting = left << width - 1 | left >> width + 1 | right << width + 1 | right >> width - 1
        return hexes | (sideways | slanting) & all_


@lru_cache(maxsize=64)
def grid(width: int, height: int) -> Grid:
    """Return the rectangle of a size."""
    beside, cubes = [], []
    for row in range(height):
        for column in range(width):
            steps = ((column + right, row + down) for right, down in _STEPS[row % 2])
            beside.append(tuple(y * width + x if 0 <= x < width and 0 <= y < height else -1 for x, y in steps))
            q = column - (row - row % 2) // 2
            cubes.append((q, row, -q - row))
    around = tuple(sum(1 << each for each in near if each >= 0) for near in beside)
    names = tuple(f"{_letters(h % width)}{h // width + 1}" for h in range(width * height))
    numbers = {name: h for h, name in enumerate(names)}
    places = {name: place for place, name in enumerate(sorted(names))}
    rank = tuple(places[name] for name in names)
    west = sum(1 << row * width for row in range(height))
    odd = sum((1 << width) - 1 << row * width for row in range(1, height, 2))
    masks = (west, west << width - 1, odd, (1 << width * height) - 1)
    return Grid(width, height, tuple(beside), around, tuple(cubes), names, numbers, rank, masks)


def _letters(column: int) -> str:
    before, last = divmod(column, 26)
    return (_ALPHABET[before - 1] if before else "") + _ALPHABET[last]


def bits(hexes: int) -> Iterator[int]:
    """Yield the members of a set, lowest first."""
    # A search in the written number is several times as fast as taking bit after bit off a long one.
    written = f"{hexes:b}"[::-1]
    at = written.find("1")
    while at >= 0:
        yield at
        at = written.find("1", at + 1)

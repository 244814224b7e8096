"""The boards of ruling Z10: which places a step joins. Place 0 is the Library, 1 to 10 are the temples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import TypeAlias

from companion.games.moctezuma.rules.pieces import TEMPLES

LIBRARY = 0
PLACES = TEMPLES + 1

Ways: TypeAlias = tuple[tuple[int, ...], ...]
"""For each place its neighbours, in order."""

_HUB = [(LIBRARY, temple) for temple in range(1, PLACES)]
_RING = [(temple, temple % TEMPLES + 1) for temple in range(1, PLACES)]

# Hexagons in rows of 4, 3 and 4; the Library is the middle one, the temples are numbered in reading order.
_ROWS = ((1, 2, 3, 4), (5, LIBRARY, 6), (7, 8, 9, 10))
_HEXES = [
    *((row[n], row[n + 1]) for row in _ROWS for n in range(len(row) - 1)),
    *((_ROWS[1][n], _ROWS[outer][n + side]) for outer in (0, 2) for n in range(3) for side in (0, 1)),
]

_JOINED: Mapping[str, Iterable[tuple[int, int]]] = {
    "hex434": _HEXES,
    "hub_ring": [*_HUB, *_RING],
    "star": _HUB,
    "custom": _HUB,
}

PAIRS = tuple((a, b) for a in range(PLACES) for b in range(a + 1, PLACES))
"""Every two places that a table which lays its own board may join."""


@cache
def ways(board: str) -> Ways:
    """Return a board; a table that lays its own begins with the star."""
    return joined(_JOINED[board])


def joined(pairs: Iterable[tuple[int, int]]) -> Ways:
    """Return the board on which these places are neighbours."""
    beside: list[set[int]] = [set() for _ in range(PLACES)]
    for a, b in pairs:
        beside[a].add(b)
        beside[b].add(a)
    return tuple(tuple(sorted(each)) for each in beside)


def toggled(board: Ways, a: int, b: int) -> Ways:
    """Return the board with one way laid, or taken up where it lay."""
    pairs = {(low, high) for low in range(PLACES) for high in board[low] if low < high}
    return joined(pairs ^ {(a, b)})


def whole(board: Ways) -> bool:
    """Return whether every place can be reached from the Library."""
    return UNREACHED not in distances(board)[LIBRARY]


UNREACHED = PLACES


@lru_cache(maxsize=256)
def distances(board: Ways) -> tuple[tuple[int, ...], ...]:
    """Return the steps from each place to each; `UNREACHED` where there is no way."""
    return tuple(_from(board, start) for start in range(PLACES))


def _from(board: Ways, start: int) -> tuple[int, ...]:
    steps = [UNREACHED] * PLACES
    steps[start] = 0
    reached = [start]
    for here in reached:  # grows while it is read: the places in the order of their distance
        for there in board[here]:
            if steps[there] == UNREACHED:
                steps[there] = steps[here] + 1
                reached.append(there)
    return tuple(steps)

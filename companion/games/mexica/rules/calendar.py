"""The ritual calendar as a ring of twenty spaces: where tribes start, how they walk, how far apart spaces are.

Spaces are numbered from 1, Crocodile, to 20, Flower, in calendar order, which is the direction of play.
"""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import Seat
from companion.games.mexica.rules.cards.effects import SPACES

SIGNS: tuple[str, ...] = SPACES
AROUND = len(SIGNS)
WEEK = 13
"""Tokens on a space at the start, and spaces of its day count."""

CROCODILE = 1
STARTS: Mapping[Seat, int] = {"east": 20, "north": 5, "west": 10, "south": 15}
"""Flower, Serpent, Dog and Eagle: the last space of each quadrant (ruling M31)."""


def sign(place: int) -> str:
    """Return the day sign of a space."""
    return SIGNS[place - 1]


def place_of(sign_: str) -> int:
    """Return the space of a day sign; raises `ValueError`."""
    return SIGNS.index(sign_) + 1


def start(direction: Seat, starts: str) -> int:
    """Return where a direction starts, under the option ``starts``."""
    return CROCODILE if starts == "all_crocodile" else STARTS[direction]


def walk(place: int, spaces: int) -> int:
    """Return the space this many steps further on, or back if the number is below 0."""
    return (place - 1 + spaces) % AROUND + 1


def apart(one: int, other: int) -> int:
    """Return the fewest spaces between two, in either direction."""
    ahead = (other - one) % AROUND
    return min(ahead, AROUND - ahead)

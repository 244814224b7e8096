"""How likely each king is cursed, and which names each temple may have: exactly, from what one seat knows.

All orders of the unseen faces are equally likely, and so are those of the names: an opponent's move reveals no more,
because nobody may use private knowledge when choosing to reveal a face.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import NamedTuple

from companion.games.moctezuma.rules.pieces import COPIES, CURSED, DOUBLED, KINGS, UNSEEN, chits, chits_of, needed


class Knowledge(NamedTuple):
    """What one seat knows: each chit's face and each temple's name, `UNSEEN` where it does not, and the rules."""

    chits: tuple[int, ...]
    names: tuple[int, ...]
    curse_rule: str
    third_chit: str


class Temple(NamedTuple):
    """What may be said of a temple: the chance of each name, that it is cursed, and what a point there counts."""

    names: tuple[Fraction, ...]
    cursed: Fraction
    worth: Fraction
    """The mean of the factor that a point of its treasure will have, from -2 to 2."""


class Deduction(NamedTuple):
    """For each king how likely he is cursed, and for each temple what may be said of it."""

    kings: tuple[Fraction, ...]
    temples: tuple[Temple, ...]


@lru_cache(maxsize=1024)
def deduce(known: Knowledge) -> Deduction:
    """Return all that follows from what a seat knows, as exact fractions (rulings Z1, Z15, Z17)."""
    kings = tuple(_cursed(known, king) for king in range(len(KINGS)))
    left = [copies - known.names.count(name) for name, copies in enumerate(COPIES)]
    temples = {name: _temple(name, left, kings) for name in set(known.names)}  # alike for all whose name is unseen
    return Deduction(kings, tuple(temples[name] for name in known.names))


def _cursed(known: Knowledge, king: int) -> Fraction:
    """Return the chance that a king is cursed: ways to lay the chits that are left, over all ways."""
    bag = chits(known.curse_rule)
    hidden = bag.all - len(known.chits) + known.chits.count(UNSEEN)
    cursed = bag.cursed - known.chits.count(CURSED)
    own = [known.chits[space] for space in chits_of(king, known.third_chit)]
    open_, least = own.count(UNSEEN), needed(known.curse_rule, len(own)) - own.count(CURSED)
    ways = sum(
        comb(open_, n) * comb(hidden - open_, cursed - n) for n in range(max(0, least), min(open_, cursed) + 1)
    )
    return Fraction(ways, comb(hidden, cursed))


def _temple(name: int, left: Sequence[int], kings: Sequence[Fraction]) -> Temple:
    total = sum(left)
    if name == UNSEEN:
        chances = tuple(Fraction(copies, total) for copies in left)
    else:
        chances = tuple(Fraction(int(each == name)) for each in range(len(COPIES)))
    cursed = sum((chances[king] * kings[king] for king in range(len(KINGS))), Fraction(0))
    worth = sum(
        (chances[king] * (2 if king in DOUBLED else 1) * (1 - 2 * kings[king]) for king in range(len(KINGS))),
        Fraction(0),
    )
    return Temple(chances, cursed, worth)

"""What is in the box: kings, chits, name cards, treasure, and how many of each."""

from __future__ import annotations

from typing import NamedTuple

KINGS = ("chimalpopoca", "itzcoatl", "moctezuma_i", "axayacatl", "tizoc", "ahuitzotl", "moctezuma_ii")
"""Seven kings in succession, as on the chart (ruling Z4)."""

CLUE = len(KINGS)
"""The name that a clue temple bears instead of a king's."""

NAMES = (*KINGS, "clue")
"""Every name a temple may bear, by its number."""

COPIES = (1,) * len(KINGS) + (3,)
"""How many name cards there are of each: one of a king, three clues."""

DOUBLED = (2, 6)
"""The two kings whose treasure counts twice, for good and ill (ruling Z17)."""

TEMPLES = 10

SAFE, CURSED = 0, 1
UNSEEN = -1
"""Instead of a face or a name: nobody has seen it, so it has not been drawn yet."""

FACES = ("safe", "cursed")

SPACES = 15
"""The spaces for chits on the chart: two for each king, and one king's third, the last to be turned."""

LAST = SPACES - 1

NAME = 0
"""Among the cards of a deck: its name card. A treasure is its worth."""

WORTHS = (1, 2, 3, 5)
WORTH_COPIES = (5, 3, 2, 1)
DECK = sum(WORTH_COPIES) + 1
"""The cards of one temple: eleven treasures and the name."""

CARDS = (NAME, *WORTHS)
FRESH = (1, *WORTH_COPIES)
"""How many of each of `CARDS` are in a deck that nobody has touched."""

GOLD = 12
"""What the City of Gold is worth to each who holds a treasure of all three clue temples (ruling Z16)."""


class Chits(NamedTuple):
    """The chits in the bag of one edition."""

    cursed: int
    safe: int

    @property
    def all(self) -> int:
        """How many there are; those beyond the spaces of the chart stay out, face down (ruling Z2)."""
        return self.cursed + self.safe


_FIRST_EDITION, _LATER = Chits(7, 9), Chits(14, 11)


def chits(curse_rule: str) -> Chits:
    """Return the chits that are used under a rule: ``two_plus`` brings a bag of its own (ruling Z1)."""
    return _LATER if curse_rule == "two_plus" else _FIRST_EDITION


def third(third_chit: str) -> int:
    """Return the king who has a third chit (ruling Z3)."""
    return DOUBLED[1] if third_chit == "second" else DOUBLED[0]


def king_of(chit: int, third_chit: str) -> int:
    """Return whose chit is on a space; spaces are counted as they are turned: down each column, then the third."""
    return third(third_chit) if chit == LAST else chit % len(KINGS)


def chits_of(king: int, third_chit: str) -> tuple[int, ...]:
    """Return the spaces beside a king's name."""
    own = (king, king + len(KINGS))
    return (*own, LAST) if king == third(third_chit) else own


def needed(curse_rule: str, spaces: int) -> int:
    """Return how many cursed chits make a king cursed who has so many (ruling Z1)."""
    return {"any": 1, "majority": spaces // 2 + 1, "all": spaces, "two_plus": 2}[curse_rule]

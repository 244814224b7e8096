"""What treasure is worth at the end, line by line, and who wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from companion.games.moctezuma.rules.pieces import (
    CLUE,
    COPIES,
    CURSED,
    DOUBLED,
    GOLD,
    KINGS,
    TEMPLES,
    chits_of,
    needed,
)

Treasure = tuple[int, int]
"""A temple, from 1 to 10, and what the card is worth."""


class Line(NamedTuple):
    """What one seat's treasure of one temple comes to: the cards' sum times a factor of -2 to 2."""

    temple: int
    cards: tuple[int, ...]
    factor: int

    @property
    def score(self) -> int:
        """What the line adds, or takes."""
        return sum(self.cards) * self.factor


class Score(NamedTuple):
    """One seat's whole count."""

    lines: tuple[Line, ...]
    gold: bool
    """Whether it has treasure of all three clue temples (ruling Z16)."""

    @property
    def total(self) -> int:
        """What the lines and the City of Gold come to."""
        return sum(line.score for line in self.lines) + (GOLD if self.gold else 0)

    @property
    def cards(self) -> int:
        """All treasure cards, cursed ones and clues among them (ruling Z18)."""
        return sum(len(line.cards) for line in self.lines)


def cursed_kings(chits: Sequence[int], curse_rule: str, third_chit: str) -> tuple[bool, ...]:
    """Return for each king whether he is cursed by the chits on the chart (ruling Z1)."""
    found = []
    for king in range(len(KINGS)):
        own = chits_of(king, third_chit)
        found.append(sum(chits[space] == CURSED for space in own) >= needed(curse_rule, len(own)))
    return tuple(found)


def factor(name: int, cursed: Sequence[bool]) -> int:
    """Return what a point of a temple's treasure counts: nothing at a clue (Z15), else 1 or 2 with its sign (Z17)."""
    if name == CLUE:
        return 0
    return (2 if name in DOUBLED else 1) * (-1 if cursed[name] else 1)


def score(treasure: Sequence[Treasure], names: Sequence[int], cursed: Sequence[bool]) -> Score:
    """Return a seat's count, temple by temple."""
    lines = []
    for temple in range(1, TEMPLES + 1):
        cards = tuple(worth for where, worth in treasure if where == temple)
        if cards:
            lines.append(Line(temple, cards, factor(names[temple - 1], cursed)))
    clues = sum(names[line.temple - 1] == CLUE for line in lines)
    return Score(tuple(lines), clues == COPIES[CLUE])


def winners(scores: Sequence[Score]) -> tuple[int, ...]:
    """Return who won, by place: most points, then most treasure cards, then all who are level (ruling Z18)."""
    ranks = [(each.total, each.cards) for each in scores]
    best = max(ranks)
    return tuple(n for n, rank in enumerate(ranks) if rank == best)

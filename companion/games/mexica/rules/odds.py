"""A tribe's prospects: where a sign is, and how likely tokens find it in its pile."""

from __future__ import annotations

from functools import lru_cache
from math import comb

from companion.games.kit import Struct


class Pile(Struct, frozen=True):
    """A pile to draw a sign from: cards that may hold it, copies among them, and what a card costs."""

    cards: int
    copies: int
    price: int


class Sign(Struct, frozen=True):
    """The place of a sign for a tribe: its pile, and the tokens on its week card's space.

    `kept` is a sign in the own hand, `mine` says whether the tribe holds the week card.
    """

    pile: Pile
    tokens: int
    kept: bool = False
    mine: bool = False

    @property
    def lacking(self) -> bool:
        """Whether the tribe has it in neither way."""
        return not self.kept and not self.mine

    @property
    def safe(self) -> bool:
        """Whether the tribe has it for good: a bare space's week card passes to nobody (ruling M7)."""
        return self.kept or (self.mine and not self.tokens)

    @property
    def lost(self) -> bool:
        """Whether only a card can still bring it."""
        return self.lacking and not self.tokens


@lru_cache(maxsize=4096)
def found(piles: tuple[Pile, ...], tokens: int) -> float:
    """Return how likely a number of tokens buys one sign from each of these piles, one pile after the other."""
    if not piles:
        return 1.0
    first, rest = piles[0], piles[1:]
    drawn = min(first.cards, tokens // first.price)
    if not rest:
        return 1 - _missed(first, drawn)
    total, missed = 0.0, 1.0
    for n in range(1, drawn + 1):
        still = _missed(first, n)
        total += (missed - still) * found(rest, tokens - n * first.price)
        missed = still
    return total


def _missed(pile: Pile, drawn: int) -> float:
    """Return how likely none of a number of cards is the sign."""
    return comb(pile.cards - pile.copies, drawn) / comb(pile.cards, drawn)

"""What a tribe may hope for: how likely tokens find the signs it lacks, what waiting brings. It decides nothing.

Plain arithmetic on what lies open, good enough to choose by. Whoever takes the last token of a sign's space gets its
week card, and that is nobody's to choose: each tribe is as likely as another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import comb, exp

from companion.games.mexica.rules.calendar import AROUND


@dataclass(frozen=True)
class Pile:
    """A pile to draw a sign from: cards that may hold it, copies among them, and what a card costs."""

    cards: int
    copies: int
    price: int


@dataclass(frozen=True)
class Sign:
    """Where a sign stands: its pile, the tokens on its week card's space, and who has it.

    `kept` is a sign in the own hand, which nobody takes; `mine` and `theirs` tell who holds the week card.
    """

    pile: Pile
    tokens: int
    kept: bool = False
    mine: bool = False
    theirs: bool = False

    @property
    def lacking(self) -> bool:
        """Whether the tribe has it in neither way."""
        return not self.kept and not self.mine

    def passes(self, turns: float) -> float:
        """Return how likely its week card changes hands within so many turns, or is issued: all its tokens go."""
        return landings(self.tokens, turns) if self.tokens else 0.0


@lru_cache(maxsize=4096)
def found(piles: tuple[Pile, ...], tokens: int) -> float:
    """Return how likely so many tokens buy one sign from each of these piles, one pile after the other."""
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
    """Return how likely none of so many cards is the sign."""
    return comb(pile.cards - pile.copies, drawn) / comb(pile.cards, drawn)


@lru_cache(maxsize=4096)
def landings(times: int, turns: float) -> float:
    """Return how likely a space is landed on so many times within so many turns; each turn lands about anywhere."""
    expected = turns / AROUND
    term, below = exp(-expected), 0.0
    for n in range(times):
        below += term
        term *= expected / (n + 1)
    return 1 - below


@dataclass(frozen=True)
class Outlook:
    """What lies ahead: how the signs stand, the turns still to come, and a tribe's share of what falls to anybody."""

    signs: tuple[Sign, ...]
    turns: float
    share: float

    def waiting(self, tokens: int) -> float:
        """Return how likely a tribe wins that lets these turns pass, and then spends tokens for what it lacks."""
        theirs = 1.0
        chances: list[tuple[Sign, float]] = []
        for sign in self.signs:
            passes = sign.passes(self.turns)
            theirs *= self._holding(sign.theirs, passes)
            chances.append((sign, 1.0 if sign.kept else self._holding(sign.mine, passes)))
        total = 0.0
        for held in product((True, False), repeat=len(chances)):
            likely = 1.0
            for (_, chance), has in zip(chances, held, strict=True):
                likely *= chance if has else 1 - chance
            if likely:
                lacking = tuple(sign.pile for (sign, _), has in zip(chances, held, strict=True) if not has)
                total += likely * found(lacking, tokens)
        return total * (1 - theirs)

    def buying(self, tokens: int) -> float:
        """Return how likely a tribe wins that spends its tokens now, and waits if they find nothing."""
        now = found(tuple(sign.pile for sign in self.signs if sign.lacking), tokens)
        return now + (1 - now) * self.waiting(0)

    def _holding(self, held: bool, passes: float) -> float:
        """Return how likely a tribe holds a week card at last that it holds now, or does not."""
        return 1 - passes * (1 - self.share) if held else passes * self.share

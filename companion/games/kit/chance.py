"""The possible outcomes of a die, a bag or a deck, with exact probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct, field

from companion.games.kit.moves import Facts, Move, Seat

T = TypeVar("T")

Below: TypeAlias = Callable[[int], int]
"""A source of chance: ``below(n)`` is a whole number from 0 up to n, n left out, each as likely as the others."""


class Chance(Struct, frozen=True):
    """What a die, a bag or a deck decides now: each outcome as a move of `CHANCE`, with its exact probability.

    >>> coin = Chance("coin", {Move("heads"): Fraction(1, 2), Move("tails"): Fraction(1, 2)}, "east")
    >>> sum(coin.outcomes.values())
    Fraction(1, 1)
    """

    key: str
    """Names it in the game's texts."""
    outcomes: Mapping[Move, Fraction]
    """A move of `CHANCE` for each outcome, with its exact probability; together 1."""
    seat: Seat | None = None
    """The owner of the die or card."""
    facts: Facts = field(default_factory=dict)
    """What its text needs."""
    secret: bool = False
    """Whether only that seat may learn the outcome, so that only it may type one in."""
    automatic: bool = False
    """Whether the app decides it at once, because nobody at a table would roll for it."""
    follows: bool = False
    """Whether it belongs to the same draw as the outcome before it.

    The app that rolled that one then rolls this one too.
    """


def shuffled(things: Iterable[T], below: Below) -> list[T]:
    """Return things in a random order, each equally likely.

    >>> shuffled("abc", lambda n: 0)
    ['b', 'c', 'a']
    """
    found = list(things)
    for last in range(len(found) - 1, 0, -1):
        other = below(last + 1)
        found[last], found[other] = found[other], found[last]
    return found


def best_of(things: Iterable[T], worth: Callable[[T], Any], below: Below) -> T:
    """Return the thing that is worth most, of several alike one at random, each equally likely.

    >>> best_of(["a", "bb", "cc"], len, lambda n: n - 1)
    'cc'
    """
    weighed = [(worth(thing), thing) for thing in things]
    most = max(value for value, _ in weighed)
    best = [thing for value, thing in weighed if value == most]
    return best[below(len(best))]


def outcome(due: Chance, below: Below) -> Move:
    """Return one outcome at random, by its probability.

    >>> from fractions import Fraction
    >>> coin = Chance("coin", {Move("coin", (side,)): Fraction(1, 2) for side in (0, 1)})
    >>> [outcome(coin, lambda n: drawn).args for drawn in (0, 1)]
    [(0,), (1,)]
    """
    probabilities = list(due.outcomes.values())
    one = probabilities[0]
    if one * len(probabilities) == 1 == probabilities.count(one) / len(probabilities):  # a die, a shuffled deck
        return list(due.outcomes)[below(len(probabilities))]
    parts = lcm(*(probability.denominator for probability in probabilities))
    drawn = below(parts)
    for move, probability in due.outcomes.items():
        drawn -= probability.numerator * (parts // probability.denominator)
        if drawn < 0:
            return move
    raise ValueError(f"the outcomes of {due.key!r} leave {drawn + 1} parts of {parts} over; expected a sum of 1")

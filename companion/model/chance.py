"""Draws one outcome of what chance has to bring, with its exact probability. It has no randomness of its own."""

from __future__ import annotations

from collections.abc import Callable
from math import lcm

from companion.games.kit import Below, Chance, Move


def outcome(due: Chance, below: Below) -> Move:
    """Return one outcome of what is due, each as likely as it says.

    >>> from fractions import Fraction
    >>> coin = Chance("coin", {Move("coin", (side,)): Fraction(1, 2) for side in (0, 1)})
    >>> [outcome(coin, lambda n: drawn).args for drawn in (0, 1)]
    [(0,), (1,)]
    """
    parts = lcm(*(probability.denominator for probability in due.outcomes.values()))
    drawn = below(parts)
    for move, probability in due.outcomes.items():
        drawn -= probability.numerator * (parts // probability.denominator)
        if drawn < 0:
            return move
    raise ValueError(f"the outcomes of {due.key!r} leave {drawn + 1} parts of {parts} over; expected a sum of 1")


def below_from(entropy: Callable[[int], bytes]) -> Below:
    """Return a source of even chance that draws on random bytes, without the bias of a remainder."""

    def below(n: int) -> int:
        if n < 1:
            raise ValueError(f"a number below {n} was asked for; expected at least 1")
        size = (n - 1).bit_length() // 8 + 1
        ceiling = 256**size - 256**size % n
        while True:
            drawn = int.from_bytes(entropy(size), "big")
            if drawn < ceiling:
                return drawn % n

    return below

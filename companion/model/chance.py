"""Makes a source of even chance from random bytes. It has no randomness of its own."""

from __future__ import annotations

from collections.abc import Callable

from companion.games.kit import Below


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

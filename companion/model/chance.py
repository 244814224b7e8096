"""Makes a uniform source of chance from random bytes that are passed in."""

from __future__ import annotations

from collections.abc import Callable

from companion.games.kit import Below


def below_from(entropy: Callable[[int], bytes]) -> Below:
    """Return a uniform source of chance over random bytes, without modulo bias."""

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

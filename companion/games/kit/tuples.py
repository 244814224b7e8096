"""Copies of tuples with one value changed, because states are frozen and contain tuples instead of lists."""

from __future__ import annotations

from typing import TypeVar

V = TypeVar("V")


def put(values: tuple[V, ...], place: int, value: V) -> tuple[V, ...]:
    """Return a tuple with another value at a place.

    >>> put((3, 0, 1), 1, 5)
    (3, 5, 1)
    """
    return (*values[:place], value, *values[place + 1 :])


def added(numbers: tuple[int, ...], place: int, n: int) -> tuple[int, ...]:
    """Return a tuple with `n` added to the number at a place.

    >>> added((3, 0, 1), 0, -2)
    (1, 0, 1)
    """
    return (*numbers[:place], numbers[place] + n, *numbers[place + 1 :])

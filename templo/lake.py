"""How many tokens of a kind fall on one side of the lake before its heap has to be levelled: the one table of it."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of token, by the widest interruption of a beam that it makes."""

    name: str
    widest_ms: float
    """In the temple as it is drawn, with the receiver that the limits are made for."""
    heap: int | None
    """How many make a heap that calls for a hand; None where the lake takes them all."""


KINDS = (
    Kind("bead_8", 6, None),
    Kind("bead_10", 9, 150),
    Kind("bead_12", 12, 75),
    Kind("bean", 19.5, 110),
    Kind("skull", 25, 55),
)
"""By their width. `make physics ARGS=--heaps` measures the numbers."""

DEEP = "deep"
"""What an owner calls a lake that takes every kind of token without a hand."""

BAND = 1.5
"""How much wider than the widest token of a calibration its band reaches."""


def heap_of(chosen: str, band_ms: float | None) -> int | None:
    """Return how many tokens on one side call for a hand: of the kind that an owner chose, or that calibration saw.

    None where none ever do, and while nobody knows the kind. A receiver that is barely driven sees each token wider:
    what looks like beans may be beads, so of what was seen and all that is narrower the smallest heap is meant.

    >>> heap_of("skull", 9.0) == heap_of("", 37.5), heap_of("", 9.0), heap_of("", None), heap_of(DEEP, 37.5)
    (True, None, None, None)
    >>> heap_of("", 29.25) == heap_of("bead_12", None) < heap_of("bean", None)
    True
    """
    if chosen:
        return next((kind.heap for kind in KINDS if kind.name == chosen), None)
    seen = KINDS[: KINDS.index(kind_seen(band_ms)) + 1] if band_ms else ()
    return min((kind.heap for kind in seen if kind.heap), default=None)


def kind_seen(band_ms: float) -> Kind:
    """Return the kind of token whose band is nearest to a calibration's.

    >>> [kind_seen(band_ms).name for band_ms in (9.0, 18.0, 29.25, 37.5)]
    ['bead_8', 'bead_12', 'bean', 'skull']
    """
    return min(KINDS, key=lambda kind: abs(kind.widest_ms * BAND - band_ms))

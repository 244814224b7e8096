"""Derives the limits of a slot from the widths of known tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from controller.core.counting import MS, Limits
from templo.contract import God


class Measured(Struct, frozen=True):
    """The narrowest and the widest of the measured tokens, in nanoseconds."""

    low_ns: int
    high_ns: int
    tokens: int


def measured(widths: Sequence[int]) -> Measured:
    """Return what was learned from the widths of known tokens; at least one."""
    return Measured(min(widths), max(widths), len(widths))


def limits(settings: Limits, chosen: frozenset[str], learned: Mapping[God, Measured]) -> Limits:
    """Return a temple's limits: those of the settings, and learned ones for what nobody set.

    Both slots share them, so they fit the narrowest and the widest token of either. A token is known by three tenths
    of the narrowest, from 1 to 5 ms; the band is six tenths of the narrowest to one and a half times the widest, as
    two tokens that overlap are wider than that unless they fall all but together; a jam is ten times the widest.
    """
    if not learned:
        return settings
    low = min(each.low_ns for each in learned.values())
    high = max(each.high_ns for each in learned.values())
    proposed = {
        "min_break": min(5 * MS, max(MS, low * 3 // 10)),
        "max_break": max(250 * MS, 10 * high),
        "band": high * 3 // 2,
        "narrow": low * 6 // 10,
    }
    return replace(
        settings, **{name: value for name, value in proposed.items() if f"counting.{name}_ms" not in chosen}
    )


MARGIN = 4 / 3
"""How many times `min_break` the narrowest known token should be, and `max_break` the widest."""


def near_limits(widths_ms: Sequence[float], counted_by: Mapping[str, float | None]) -> tuple[str, ...]:
    """Return the limits that known tokens come close to: narrower or wider ones may not have been measured.

    `counted_by` has the limits, as settings name them, while the tokens fell.

    >>> near_limits([3.5, 8.0], {"min_break_ms": 3, "max_break_ms": 250})
    ('min_break_ms',)
    """
    low, high = counted_by["min_break_ms"], counted_by["max_break_ms"]
    near = []
    if low is not None and min(widths_ms) < low * MARGIN:
        near.append("min_break_ms")
    if high is not None and max(widths_ms) * MARGIN > high:
        near.append("max_break_ms")
    return tuple(near)


def to_dict(of: Limits) -> dict[str, float | None]:
    """Return limits as settings name them."""
    return {
        "min_break_ms": round(of.min_break / MS, 3),
        "min_clear_ms": round(of.min_clear / MS, 3),
        "max_break_ms": round(of.max_break / MS, 3),
        "band_ms": None if of.band is None else round(of.band / MS, 3),
        "narrow_ms": None if of.narrow is None else round(of.narrow / MS, 3),
    }

"""The geometry of a plot of token widths, in the units of its drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

WIDTH, HEIGHT = 340, 150
RIGHT, TOP, BOTTOM = 8, 14, 8
UNIT, DIGIT = 36, 7
"""Room beside the plot itself; on the left for the unit of its numbers, and for each of their digits."""

LEAST = 16
"""The least number of tokens that the plot has room for."""

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_MOST_LINES = 4


class Mark(Struct, frozen=True):
    """One token: the position of its mark, and whether it is `stuck` (beyond the plot) or `outside` the band."""

    x: float
    y: float
    stuck: bool
    outside: bool


class Line(Struct, frozen=True):
    """One line of the scale: its height, and its milliseconds."""

    y: float
    ms: int


class Plot(Struct, frozen=True):
    """A plot of one slot's widths; `band` is the top and the height of what was learned, if anything was."""

    marks: tuple[Mark, ...]
    lines: tuple[Line, ...]
    band: tuple[float, float] | None
    left: int
    width: int = WIDTH
    height: int = HEIGHT
    right: int = WIDTH - RIGHT
    floor: int = HEIGHT - BOTTOM


def plot(slot: Mapping[str, Any], room: int) -> Plot:
    """Return the plot of a slot's widths, the oldest on the left; `room` tokens fill it.

    `slot` holds `points`, each a width in milliseconds and whether it was a jam, and the band's `low` and `high`.
    """
    points: Sequence[Sequence[Any]] = slot["points"]
    low, high = slot["low"], slot["high"]
    clean: list[float] = [width for width, stuck in points if not stuck]
    top: float = 1.15 * max([20.0, *clean, *([high] if high is not None else [])])
    span = HEIGHT - TOP - BOTTOM

    def y(width: float) -> float:
        return round(HEIGHT - BOTTOM - min(1.0, width / top) * span, 1)

    ms = next((each for each in _STEPS if top / each <= _MOST_LINES), _STEPS[-1])
    lines = tuple(Line(y(at), at) for at in range(0, int(top) + 1, ms))
    left = UNIT + DIGIT * len(f"{lines[-1].ms:,}")
    step = (WIDTH - left - RIGHT - 16) / max(1, room - 1)
    first = room - len(points)
    marks = tuple(
        Mark(
            round(left + 8 + (first + place) * step, 1),
            float(TOP) if stuck else y(width),
            bool(stuck),
            not stuck and ((high is not None and width > high) or (low is not None and width < low)),
        )
        for place, (width, stuck) in enumerate(points)
    )
    band = (y(high), round(y(low or 0) - y(high), 1)) if high is not None else None
    return Plot(marks, lines, band, left)

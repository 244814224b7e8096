"""How a game went, as an end page shows it: curves with their turning point, deeds, and awards."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from companion.games.kit import Curve, Json, Line, Recap

WIDTH, HEIGHT, EDGE = 320.0, 104.0, 8.0
"""The units of the picture of the curves, and what is left free around them."""
APART = 15.0
"""The least distance between the signs at the ends of two curves."""
END = 22.0
"""The room for those signs."""


def recap(found: Recap) -> Mapping[str, Json]:
    """Return the slice of a recap; ``shown`` says whether there is anything."""
    shown = [curve for curve in found.curves if len(curve.values) > 1]
    return {
        "shown": bool(found.awards),
        "width": WIDTH,
        "height": HEIGHT,
        "curves": _drawn(shown),
        "turning": _said(found.turning),
        "turning_x": _x(int(found.turning.facts["n"]), len(shown[0].values)) if found.turning and shown else None,
        "turns": len(shown[0].values) if shown else 0,
        "labels": [*found.labels] if found.deeds else [],
        "seats": [
            {"seat": seat, "deeds": [*found.deeds.get(seat, ())], "award": _said(award)}
            for seat, award in found.awards.items()
        ],
    }


def _said(line: Line | None) -> Json:
    return None if line is None else {"code": line.code, "facts": dict(line.facts)}


def _x(turn: int, turns: int) -> float:
    return round(EDGE + (WIDTH - END - 2 * EDGE) * turn / turns, 1)


def _drawn(curves: list[Curve]) -> list[Json]:
    """Return each curve's path from the beginning, and where the emblem at its end stands, all apart."""
    if not curves:
        return []
    values = [value for curve in curves for value in (curve.start, *curve.values)]
    low, high = min(values), max(values)
    span = (high - low) or 1.0

    def y(value: float) -> float:
        return round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (value - low) / span, 1)

    ends = _apart([y(curve.values[-1]) for curve in curves])
    return [
        {
            "seats": [*curve.seats],
            "god": curve.god,
            "n": curve.values[-1],
            "path": f"M{EDGE:g} {y(curve.start)}"
            + "".join(f"L{_x(turn, len(curve.values))} {y(value)}" for turn, value in enumerate(curve.values, 1)),
            "x": _x(len(curve.values), len(curve.values)),
            "y": y(curve.values[-1]),
            "end": end,
        }
        for curve, end in zip(curves, ends, strict=True)
    ]


def _apart(heights: list[float]) -> list[float]:
    """Return heights in the same order that are far enough apart, all in the picture."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed = [max(EDGE, height) for height in heights]
    for below, at in pairwise(order):
        placed[at] = max(placed[at], placed[below] + APART)
    lowest = HEIGHT - EDGE
    for at in reversed(order):
        placed[at] = min(placed[at], lowest)
        lowest = placed[at] - APART
    return [round(each, 1) for each in placed]

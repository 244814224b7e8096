"""The figures of two trees beside each other: medians, and the ratio of every round. Pure: it measures nothing."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.tools.figures import number


@dataclass(frozen=True, slots=True)
class Figure:
    """What is measured: its name, its unit, and whether more of it is better."""

    what: str
    unit: str
    more: bool = False


Sample = Mapping[Figure, float]
"""The figures of one round of one tree."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of both trees over all rounds: medians, and this tree's share of the other's in every round."""

    figure: Figure
    ours: float
    theirs: float
    ratios: tuple[float, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """The line of the table."""
        least, middle, most = min(self.ratios), statistics.median(self.ratios), max(self.ratios)
        better = "more" if self.figure.more else "less"
        return (
            self.figure.what,
            self.figure.unit,
            number(self.ours),
            number(self.theirs),
            f"{middle:.2f}",
            f"{least:.2f} to {most:.2f}",
            better,
        )


def compared(ours: Sequence[Sample], theirs: Sequence[Sample]) -> list[Comparison]:
    """Return each figure that both trees have, given their rounds in order.

    >>> speed = Figure("speed", "1/s", more=True)
    >>> [comparison] = compared([{speed: 10}, {speed: 12}, {speed: 30}], [{speed: 10}, {speed: 8}, {speed: 20}])
    >>> comparison.ours, comparison.theirs, comparison.ratios
    (12, 10, (1.0, 1.5, 1.5))
    """
    return [
        Comparison(
            figure,
            statistics.median(sample[figure] for sample in ours),
            statistics.median(sample[figure] for sample in theirs),
            tuple(one[figure] / other[figure] for one, other in zip(ours, theirs, strict=True)),
        )
        for figure in ours[0]
        if figure in theirs[0]
    ]

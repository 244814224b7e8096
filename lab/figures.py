"""Statistics of many games: shares with intervals, tests, and the effect of one change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import stdev

import scipy  # its statistics take a second to load, and are loaded when they are first used

CONFIDENCE = 0.95

FEW = 13
"""Pairs of games up to which a difference is judged by all its signs, as so few need not follow a normal curve."""


@dataclass(frozen=True, slots=True)
class Share:
    """How often something happened: so often among so many, and Wilson's interval around that share."""

    count: int
    of: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share itself, 0 of nothing."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class Effect:
    """What one change did in pairs of games with the same seeds: means before and after, and the difference.

    `low` and `high` hold the difference in 95 of 100 such studies, where it follows a normal curve; `p` is how often
    chance alone differs as much.
    """

    before: float
    after: float
    low: float
    high: float
    p: float
    pairs: int

    @property
    def difference(self) -> float:
        """By how much it is more afterwards."""
        return self.after - self.before


def share(count: int, of: int) -> Share:
    """Return a share with Wilson's interval.

    >>> found = share(60, 100)
    >>> round(found.low, 3), round(found.high, 3)
    (0.502, 0.691)
    """
    if not of:
        return Share(0, 0, 0.0, 1.0)
    interval = scipy.stats.binomtest(count, of).proportion_ci(CONFIDENCE, method="wilson")
    return Share(count, of, float(interval.low), float(interval.high))


def chance(count: int, of: int, fair: float) -> float:
    """Return how often chance alone is as far from a fair share as so many among so many.

    >>> round(chance(60, 100, 0.5), 3)
    0.057
    """
    return float(scipy.stats.binomtest(count, of, fair).pvalue) if of else 1.0


def evenness(winners: Sequence[Collection[str]], seats: int) -> float | None:
    """Return how likely equal seats differ as much in their wins, or None if nobody won.

    Seats that win together, as partners do, are counted as one; games that are shared besides are left out.

    >>> evenness([("a",), ("b",)] * 50, 2)
    1.0
    """
    size = min((len(won) for won in winners if won), default=0)
    if not size or size == seats:
        return None
    groups = Counter(frozenset(won) for won in winners if len(won) == size)
    counts = [*groups.values()]
    counts += [0] * (seats // size - len(counts))
    return float(scipy.stats.chisquare(counts).pvalue)


def effect(before: Sequence[float], after: Sequence[float]) -> Effect:
    """Return what a change did, from the same games with and without it; both are in the order of the seeds.

    >>> effect([0, 0, 1, 0], [0, 0, 1, 0]).p
    1.0
    """
    pairs = len(before)
    differences = [now - was for was, now in zip(before, after, strict=True)]
    means = [sum(values) / pairs if pairs else 0.0 for values in (before, after)]
    if pairs < 2 or not any(differences):
        return Effect(means[0], means[1], 0.0, 0.0, 1.0, pairs)
    if {*before, *after} <= {0, 1}:
        up, down = differences.count(1), differences.count(-1)
        p = float(scipy.stats.binomtest(up, up + down).pvalue)  # McNemar's test, exact
    elif len({*differences}) == 1:
        p = 2.0 ** (1 - pairs)
    elif pairs <= FEW:
        signs = scipy.stats.permutation_test((differences,), sum, permutation_type="samples", n_resamples=2**FEW)
        p = float(signs.pvalue)
    else:
        p = float(scipy.stats.ttest_1samp(differences, 0).pvalue)
    mean, deviation = means[1] - means[0], stdev(differences) / pairs**0.5
    reach = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, pairs - 1)) * deviation
    return Effect(means[0], means[1], mean - reach, mean + reach, p, pairs)


def corrected(values: Sequence[float]) -> list[float]:
    """Return the p of many comparisons so that of those called certain one in twenty is not (Benjamini, Hochberg).

    >>> [round(p, 3) for p in corrected([0.01, 0.02, 0.9])]
    [0.03, 0.03, 0.9]
    """
    return [float(p) for p in scipy.stats.false_discovery_control(values)] if values else []

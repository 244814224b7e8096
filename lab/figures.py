"""Statistics of many games: shares with intervals, tests, and the effect of one change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy
import scipy  # its statistics take a second to load, and are loaded when they are first used

CONFIDENCE = 0.95

CERTAIN = 0.05
"""The p, corrected where there are several, below which a difference is called certain."""

FEW = 20
"""Differing pairs below which a difference is judged by the signs that they might have: so few follow no curve."""

SIGNS = 2**13
"""How many of the possible signs are tried: all of them for up to 13 differing pairs."""

SEED = 1


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

    `low` and `high` hold the difference in at least 95 of 100 such studies; `p` is how often chance alone differs as
    much. Of several comparisons both are corrected for all of them.
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

    @property
    def certain(self) -> bool:
        """Whether chance alone would hardly cause as much."""
        return self.p < CERTAIN


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


def effect(before: Sequence[float], after: Sequence[float], confidence: float = CONFIDENCE) -> Effect:
    """Return what a change did, from the same games with and without it; both are in the order of the seeds.

    Where no pair differs, the interval says how little that proves (the rule of three): of all pairs, up to 3 in
    100 may differ.

    >>> found = effect([0] * 100, [0] * 100)
    >>> found.p, round(found.low, 3), round(found.high, 3)
    (1.0, -0.03, 0.03)
    """
    pairs = len(before)
    differences = [now - was for was, now in zip(before, after, strict=True)]
    means = [sum(values) / pairs if pairs else 0.0 for values in (before, after)]
    differing = [each for each in differences if each]
    sizes = {abs(each) for each in differing}
    if len(differing) < FEW or len(sizes) == 1:
        low, high = _bounds(differing, pairs, max((*before, *after, 1)), confidence)
        return Effect(means[0], means[1], low, high, _signs(differing), pairs)
    test = scipy.stats.ttest_1samp(differences, 0)
    interval = test.confidence_interval(confidence)
    return Effect(means[0], means[1], float(interval.low), float(interval.high), float(test.pvalue), pairs)


def shift(before: Sequence[Collection[str]], after: Sequence[Collection[str]]) -> float:
    """Return how often chance alone changes as much how often each label occurs, all labels together.

    A game has the labels of who won it, or of how it ended; the games are in the order of the seeds.

    >>> shift([("heads",)] * 12, [("tails",)] * 12) < 0.001
    True
    """
    moved = [(frozenset(was), frozenset(now)) for was, now in zip(before, after, strict=True) if {*was} != {*now}]
    if len(moved) < 2:
        return 1.0
    sets = sorted({each for pair in moved for each in pair}, key=sorted)
    labels = sorted({label for each in sets for label in each})
    if len(labels) == 1:
        return _signs([len(now) - len(was) for was, now in moved])
    has = numpy.array([[label in each for label in labels] for each in sets], dtype=float)

    def change(one: Any, other: Any, axis: int) -> Any:
        """Return the sum of the squared differences of all labels; the pairs are along the last axis."""
        return ((has[other.astype(int)] - has[one.astype(int)]).sum(axis=axis - 1) ** 2).sum(axis=-1)

    codes = [[sets.index(pair[side]) for pair in moved] for side in (0, 1)]
    return _permuted(codes, change, "greater")


def _bounds(differing: Sequence[float], pairs: int, most: float, confidence: float) -> tuple[float, float]:
    """Return the interval of a mean, from its values that are not 0; where there is none, each may be up to `most`.

    How many values are not 0, and how many of them are positive, is as far off as Clopper and Pearson's intervals
    allow. What speaks for an end has the mean size that was seen, what speaks against it the largest.
    """
    up, down = ([abs(each) for each in differing if (each > 0) == more] for more in (True, False))
    rise, fall = (mean(sizes or up or down or [most]) for sizes in (up, down))
    largest = max([*up, *down], default=most)
    often = _interval(len(differing), pairs, 2 * confidence - 1)
    least, greatest = _interval(len(up), len(differing), confidence)
    low, high = least * rise - (1 - least) * largest, greatest * largest - (1 - greatest) * fall
    return low * often[low < 0], high * often[high > 0]


def _interval(count: int, of: int, confidence: float) -> tuple[float, float]:
    if not of:
        return 0.0, 1.0
    found = scipy.stats.binomtest(count, of).proportion_ci(confidence)
    return float(found.low), float(found.high)


def _signs(differing: Sequence[float]) -> float:
    """Return how often the sum is as far from 0 if each value may as well have the other sign."""
    if not differing:
        return 1.0
    if len({abs(each) for each in differing}) == 1:
        return float(scipy.stats.binomtest(sum(each > 0 for each in differing), len(differing)).pvalue)
    return _permuted((differing,), lambda values, axis: values.sum(axis=axis), "two-sided")


def _permuted(samples: Sequence[Sequence[float]], statistic: Callable[..., Any], alternative: str) -> float:
    found = scipy.stats.permutation_test(
        samples, statistic, permutation_type="samples", vectorized=True, n_resamples=SIGNS, batch=64,
        alternative=alternative, rng=SEED,
    )  # fmt: skip
    return float(found.pvalue)


def corrected(values: Sequence[float]) -> list[float]:
    """Return the p of many comparisons so that of those called certain one in twenty is not (Benjamini, Hochberg).

    >>> [round(p, 3) for p in corrected([0.01, 0.02, 0.9])]
    [0.03, 0.03, 0.9]
    """
    return [float(p) for p in scipy.stats.false_discovery_control(values)] if values else []

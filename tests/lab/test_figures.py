"""Intervals cover the truth as often as they claim, and tests find what is there and little else."""

from __future__ import annotations

from random import Random

import pytest

from lab import figures
from tests.lab.coins import coin, tossed

RUNS, GAMES = 100, 100


@pytest.mark.parametrize("tenths", [1, 6])
def test_the_interval_covers_the_coins_truth_in_about_95_of_100_runs(tenths: int) -> None:
    truth, covered = (tenths + 1) / 10, 0  # half of the cards are lucky, which adds two tenths
    for run in range(RUNS):
        records = tossed(coin(tenths=tenths), GAMES, run * GAMES)
        found = figures.share(sum(each.winners == ("heads",) for each in records), GAMES)
        covered += found.low <= truth <= found.high
    assert 89 <= covered <= 99


def test_equal_seats_are_called_unequal_in_about_5_of_100_runs() -> None:
    random = Random(1)
    called = 0
    for _ in range(400):
        even = figures.evenness([(random.choice("abcd"),) for _ in range(100)], 4)
        assert even is not None
        called += even < 0.05
    assert 8 <= called <= 36


def test_partners_who_win_together_are_counted_as_one() -> None:
    assert figures.evenness([("a", "c"), ("b", "d")] * 20, 4) == 1
    assert figures.evenness([()] * 20, 4) is None


def test_of_many_changes_that_do_nothing_hardly_any_is_called_certain() -> None:
    random, certain = Random(2), 0
    for _ in range(50):
        changes = [
            figures.effect(*([random.random() < 0.5 for _ in range(60)] for _ in range(2))).p for _ in range(20)
        ]
        certain += any(p < 0.05 for p in figures.corrected(changes))
    assert certain <= 8


def test_a_difference_has_an_interval_that_covers_the_truth() -> None:
    random, covered = Random(3), 0
    for _ in range(200):
        before = [random.gauss(100, 20) for _ in range(50)]
        found = figures.effect(before, [each + random.gauss(5, 10) for each in before])
        covered += found.low <= 5 <= found.high
    assert 180 <= covered <= 199


@pytest.mark.parametrize(
    ("before", "after", "p"),
    [
        ([10, 12], [11, 13], 1 / 2),
        ([10] * 6, [12] * 6, 1 / 32),
        ([10, 12, 9, 14, 8], [15, 18, 15, 19, 14], 1 / 16),
        ([0] * 5, [1] * 5, 1 / 16),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_few_pairs_are_as_certain_as_their_signs(before: list[int], after: list[int], p: float) -> None:
    """Five games that all grew longer are no proof: chance alone does that once in sixteen."""
    assert figures.effect(before, after).p == pytest.approx(p)


def test_the_signs_of_a_few_pairs_are_right_nineteen_times_of_twenty() -> None:
    random = Random(4)
    studies = [figures.effect([0] * 9, [random.choice((-7, -1, 1, 7)) for _ in range(9)]).p for _ in range(200)]
    assert sum(p < 0.05 for p in studies) <= 18

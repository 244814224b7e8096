"""Intervals cover the truth as often as they claim, and tests find what is there and little else."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from lab import figures
from tests.lab.coins import coin, tossed

RUNS, GAMES = 100, 100


def tosses(random: Random) -> list[bool]:
    return [random.random() < 0.5 for _ in range(60)]


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
        changes = [figures.effect(tosses(random), tosses(random)).p for _ in range(20)]
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


@pytest.mark.parametrize(("pairs", "often", "more"), [
    (200, 0.3, 0.5), (60, 0.5, 0.6), (200, 0.02, 0.5), (100, 0.1, 1.0), (100, 0.3, 0.9),
])  # fmt: skip
def test_the_interval_of_wins_covers_the_truth_however_few_pairs_differ(
    pairs: int, often: float, more: float
) -> None:
    random, truth, covered = Random(5), often * (2 * more - 1), 0
    for _ in range(200):
        moved = [random.random() < often and random.choices((1, -1), (more, 1 - more))[0] for _ in range(pairs)]
        found = figures.effect([each == -1 for each in moved], [each == 1 for each in moved])
        covered += found.low <= truth <= found.high
    assert covered >= 186


@pytest.mark.parametrize("length", [lambda random: random.choice((-5, -1, 1, 5)), lambda random: random.gauss(0, 10)])
def test_lengths_that_differ_in_few_pairs_alone_are_judged_exactly(length: Callable[[Random], float]) -> None:
    random, covered, certain = Random(6), 0, 0
    for _ in range(200):
        found = figures.effect([0] * 60, [length(random) if random.random() < 0.15 else 0 for _ in range(60)])
        covered += found.low <= 0 <= found.high
        certain += found.certain
    assert covered >= 186
    assert certain <= 18


@pytest.mark.parametrize("pairs", [20, 60, 300])
def test_pairs_that_never_differ_prove_no_more_than_the_rule_of_three(pairs: int) -> None:
    wins = figures.effect([1] * pairs, [1] * pairs)
    assert (wins.p, wins.low) == (1, -wins.high)
    assert wins.high == pytest.approx(3 / pairs, rel=0.08)
    assert figures.effect([12] * pairs, [12] * pairs).high == pytest.approx(12 * wins.high)


def test_five_of_a_hundred_pairs_are_no_proof_though_all_five_grew() -> None:
    assert figures.effect([10] * 100, [10] * 95 + [11, 12, 13, 14, 15]).p == pytest.approx(1 / 16)


def test_a_shift_between_equal_seats_is_found_in_about_5_of_100_runs_and_a_real_one_nearly_always() -> None:
    random = Random(7)
    found = {"aabc": 0, "aaab": 0}
    for after in found:
        for _ in range(100):
            before, now = ([(random.choice(seats),) for _ in range(60)] for seats in ("aabc", after))
            found[after] += figures.shift(before, now) < 0.05
    assert found["aabc"] <= 11
    assert found["aaab"] >= 60

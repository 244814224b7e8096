"""The promise, in short: 1,000 tokens through each kind of fault, none lost, doubled or invented."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.chaos import club_faults, club_run
from tests.chaos.club import Size, differ
from tests.chaos.course import Course, run_through
from tests.chaos.faults import DECK, Fault, NobodyHitError, planned
from tests.chaos.oracle import Posts, judge_posts
from tests.chaos.run import run

SEED = os.environ.get("CHAOS_SEED", "short")
TOKENS = 1_000


def test_a_thousand_tokens_through_each_kind_of_fault_are_counted_once_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It takes a minute or three, most of it waiting; the figure is printed, and no time is asserted."""
    lines: list[str] = []
    outcome = run(tmp_path, SEED, TOKENS, len(DECK), lines.append)
    with capsys.disabled():
        print(f"\nseed {SEED}: {outcome}")
    story = "\n".join(lines)
    assert outcome.verdict.well, f"{outcome}\n{story}"
    assert outcome.settled, story
    assert outcome.received + outcome.held >= TOKENS - outcome.maybe - outcome.uncertain
    assert not outcome.raised, f"{outcome.raised}\n{story}"


class _Idle:
    """A world in which nothing goes on."""

    done = 0

    def allow(self, share: Fraction) -> None: ...

    def wait_until_done(self) -> None: ...

    def raise_the_dead(self) -> list[str]:
        return ["one ended"]

    def forget_what_waits(self) -> None: ...


def test_a_fault_that_hits_nothing_is_reported_and_not_counted() -> None:
    def miss(world: _Idle, whims: random.Random) -> str:
        raise NobodyHitError("none was there")

    def hit(world: _Idle, whims: random.Random) -> str:
        return "one was hit"

    lines: list[str] = []
    course = run_through(_Idle(), (miss, hit), {miss}, "a", 4, lines.append)
    assert course == Course(["one ended"] * 4, 2)
    assert sum(line.endswith("not counted: none was there") for line in lines) == 2


def test_a_club_s_program_that_ended_by_itself_and_a_page_that_differs_are_wrong() -> None:
    posts = judge_posts(Posts(frozenset(), frozenset(), []))
    outcome = club_run.Outcome(
        Size(), 0, {}, posts, 0, 0, 0, 0, 0, 0, [], ["/tables"], {}, ["worker-1 had ended"], 0.0
    )
    assert outcome.wrong() == ["not shown, or differently: /tables", "worker-1 had ended"]


@pytest.mark.parametrize(
    ("answers", "wrong"),
    [(["200\na", "200\na"], False), (["200\na", "200\nb"], True), (["503\na", "503\na"], True), (["away"], True)],
)
def test_only_one_page_that_all_companions_show_is_shown_equally(answers: list[str], wrong: bool) -> None:
    assert differ(answers) is wrong


@pytest.mark.parametrize("deck", [DECK, club_faults.DECK], ids=["a temple's", "a club's"])
def test_the_seed_alone_says_which_faults_happen_and_forty_are_each_of_them(deck: Sequence[Fault[Any]]) -> None:
    def names(seed: str, number: int) -> list[tuple[str, float]]:
        return [(fault.__name__, whims.random()) for fault, whims in planned(seed, number, deck)]

    assert names("a", 40) == names("a", 40)
    assert names("a", 40) != names("b", 40)
    assert {name for name, _ in names("a", 40)} == {fault.__name__ for fault in deck}

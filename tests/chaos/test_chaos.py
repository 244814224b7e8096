"""The promise, in short: 2,000 tokens through 40 faults, none lost, doubled or invented; at length: `make chaos`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.chaos import club_faults
from tests.chaos.faults import DECK, Fault, planned
from tests.chaos.run import run

SEED = os.environ.get("CHAOS_SEED", "short")


def test_two_thousand_tokens_through_forty_faults_are_counted_once_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It takes a minute or three, most of it waiting; the figure is printed, and no time is asserted."""
    lines: list[str] = []
    outcome = run(tmp_path, SEED, 2_000, 40, lines.append)
    with capsys.disabled():
        print(f"\nseed {SEED}: {outcome}")
    story = "\n".join(lines)
    assert outcome.verdict.well, f"{outcome}\n{story}"
    assert outcome.settled, story
    assert outcome.received + outcome.held >= 2_000 - outcome.maybe - outcome.uncertain
    assert not outcome.raised, f"{outcome.raised}\n{story}"


@pytest.mark.parametrize("deck", [DECK, club_faults.DECK], ids=["a temple's", "a club's"])
def test_the_seed_alone_says_which_faults_happen_and_forty_are_each_of_them(deck: Sequence[Fault[Any]]) -> None:
    def names(seed: str, number: int) -> list[tuple[str, float]]:
        return [(fault.__name__, whims.random()) for fault, whims in planned(seed, number, deck)]

    assert names("a", 40) == names("a", 40)
    assert names("a", 40) != names("b", 40)
    assert {name for name, _ in names("a", 40)} == {fault.__name__ for fault in deck}

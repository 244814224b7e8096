"""The oracle sees what it is there to see: each wrong book is found, and called what it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.chaos.oracle import Books, judge, maybe

WELL = Books(
    fell=[{"tlaloc": [0, 2, 4], "huitzilopochtli": [1, 3]}, {"tlaloc": [5, 7], "huitzilopochtli": [6]}],
    committed=frozenset({0, 1, 2, 3, 5, 6, 7}),
    ledger=[0, 1, 2, 3, 5, 6, 7],
    received=[0, 1, 2, 3, 5, 6, 7],
    scored=[0, 1, 2, 3, 5, 6, 7],
)
"""Token 4 was under way when the first temple died."""


def test_a_token_under_way_when_its_temple_died_may_be_counted_or_not() -> None:
    assert maybe(WELL) == {4}
    assert judge(WELL).well
    counted = [0, 1, 2, 3, 4, 5, 6, 7]
    assert judge(replace(WELL, ledger=counted, received=counted, scored=counted)).well


def test_lost_is_told_from_undelivered() -> None:
    fewer = [0, 1, 2, 3, 5, 6]
    kept = judge(replace(WELL, received=fewer, scored=fewer))
    assert (kept.undelivered, kept.lost) == ([7], [])
    gone = judge(replace(WELL, ledger=fewer, received=fewer, scored=fewer))
    assert (gone.undelivered, gone.lost) == ([], [7])


@pytest.mark.parametrize("station", ["ledger", "received", "scored"])
def test_a_token_that_is_anywhere_twice_is_doubled(station: str) -> None:
    assert judge(replace(WELL, **{station: [*getattr(WELL, station), 3]})).doubled == [3]


def test_what_nobody_committed_and_nobody_may_have_is_invented() -> None:
    assert judge(replace(WELL, received=[*WELL.received, 8], scored=[*WELL.scored, 8])).invented == [8]


def test_what_was_committed_although_nothing_fell_is_invented() -> None:
    more = [*WELL.ledger, 8]
    assert judge(Books(WELL.fell, WELL.committed | {8}, more, more, more)).invented == [8]


def test_what_was_passed_over_or_fell_into_a_temple_that_lived_on_is_missed() -> None:
    assert judge(replace(WELL, committed=WELL.committed - {0})).missed == [0]
    assert judge(replace(WELL, committed=WELL.committed - {7})).missed == [7]
    assert judge(replace(WELL, committed=WELL.committed - {3}, ledger=[0, 1, 2, 5, 6, 7])).missed == []


def test_the_tokens_of_a_slot_are_numbered_in_the_order_in_which_they_fell() -> None:
    assert judge(replace(WELL, received=[2, 1, 0, 3, 5, 6, 7])).disordered == [2]
    assert judge(replace(WELL, received=[1, 0, 2, 3, 5, 6, 7])).disordered == []


def test_what_never_entered_the_game_is_unscored() -> None:
    assert judge(replace(WELL, scored=WELL.scored[1:])).unscored == [0]

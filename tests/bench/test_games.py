"""The measurements of how well the app plays: they play whole games against a random player."""

from __future__ import annotations

import pytest

from bench.games import players, seer


def test_of_the_games_against_a_random_player_every_end_is_counted() -> None:
    rows = players.measure(2, ["classic"]).rows
    assert sum(row.ours for row in rows) == pytest.approx(100)


def test_a_tribe_that_knows_all_plays_its_games_to_the_end() -> None:
    [row] = seer.measure(2, ["classic"]).rows
    assert 0 <= row.ours <= 100

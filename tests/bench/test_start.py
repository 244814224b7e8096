"""The measurement of starts: it starts a companion's services over a store of games that are over."""

from __future__ import annotations

import pytest

from bench.club import start


def test_starts_are_measured_over_games_that_are_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "GAMES", (("mexica", "temple_only"),))
    rows = start.measure([3]).rows
    assert len(rows) == 3
    assert all(row.ours for row in rows)

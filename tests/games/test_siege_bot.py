"""The app as a player of the siege; `tests.games.siege_matches` plays its 200 skirmishes on either side."""

from __future__ import annotations

import pytest

from tests.games.siege_matches import won


@pytest.mark.parametrize("side", ["aztecs", "spaniards"])
def test_the_app_beats_chance_in_three_of_four_skirmishes(side: str) -> None:
    assert won(side, 24) >= 18

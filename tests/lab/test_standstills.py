"""A table of app players comes to an end, at seeds too at which it once stood still."""

from __future__ import annotations

from typing import Any

import pytest

from lab.matches import Setup, play


@pytest.mark.parametrize(
    ("game", "preset", "seats", "seed", "chosen"),
    [
        ("market", "classic", 2, 25, {}),
        ("market", "classic", 4, 48, {}),
        ("market", "short", 4, 6, {}),
        ("market", "no_luck", 4, 13, {}),
        ("market", "no_luck", 4, 14, {}),
        ("mexica", "wandering", 4, 200, {}),
        ("mexica", "classic", 4, 63, {"apocalypse_tokens": 130}),
        ("mexica", "classic", 4, 99, {"apocalypse_tokens": 130}),
    ],
)
def test_app_players_end_their_game(game: str, preset: str, seats: int, seed: int, chosen: dict[str, Any]) -> None:
    assert not play(Setup(game=game, preset=preset, seats=seats, chosen=chosen), "", seed).stood_still

"""A few of the evenings that `make soak` plays by the hundred."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from companion.games import registry
from tests.soak.evenings import plans
from tests.soak.run import Look, grown, run


def test_an_evening_of_every_game_goes_through_a_kill_and_counts_each_token_once(tmp_path: Path) -> None:
    lines: list[str] = []
    outcome = run(tmp_path, "short", 8, lines.append)
    assert outcome.wrong() == []
    assert (outcome.tokens > 0, outcome.faults) == (True, 1)
    assert "companion" in lines[-1]


def test_every_preset_of_every_game_is_played_by_every_number_of_players() -> None:
    games = registry.load(()).values()
    all_of_them = {(game.name, preset, n) for game in games for preset in game.presets for n in game.seatings}
    longest = max(len(game.presets) * len(game.seatings) for game in games)
    assert {*islice(plans(), longest * len(games))} == all_of_them


def test_what_grows_after_the_third_quarter_is_named_and_what_swings_is_not() -> None:
    def looks(*kib: int) -> list[Look]:
        return [Look({("companion", "KiB"): each}, 0) for each in kib]

    assert grown(looks(90, 80, 85, 84, 86, 85, 84, 86)) == []
    assert grown(looks(90, 80, 85, 84, 86, 85, 98, 99)) == [
        "companion: 85.5 KiB in the third quarter, 98.5 in the last"
    ]

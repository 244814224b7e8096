"""How even each preset is: data on a game's page, which the lab's own command brings again from its seeds."""

from __future__ import annotations

import tomllib
from functools import partial

import msgspec
import pytest

from companion.games import balance as stored
from companion.games import registry
from companion.games.balance import Played
from lab import balance, runs
from lab.command_line import main

GAMES = registry.load()

IN_SMALL = 2
"""Games of each preset that the tests play again."""


@pytest.mark.parametrize("name", GAMES)
def test_what_a_game_s_page_says_is_what_its_seeds_bring(name: str) -> None:
    found = stored.of(GAMES[name])
    setups = balance.setups(name)
    assert [(each.preset, each.seats, each.chosen) for each in found] == [
        (each.preset, each.seats, each.chosen) for each in setups
    ]
    again = balance.measured(setups, IN_SMALL, found[0].first, partial(runs.run, processes=1))
    assert [each.sample for each in again] == [each.sample[:IN_SMALL] for each in found]


@pytest.mark.parametrize("name", GAMES)
def test_the_wins_of_all_seats_and_the_games_without_a_winner_are_all_games(name: str) -> None:
    for each in stored.of(GAMES[name]):
        assert len(each.sample) == balance.SAMPLE
        assert tuple(each.won) == GAMES[name].seatings[each.seats]
        assert each.games - each.nobody <= sum(each.won.values()), "a game is won by one seat or several"
        assert all(n <= each.games - each.nobody for n in each.won.values())


def test_what_the_command_prints_is_what_a_game_s_page_reads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["balance", "siege", "--games", "1", "--first", "90000", "--processes", "1"]) == 0
    printed = tomllib.loads(capsys.readouterr().out)["played"]
    found = msgspec.convert(printed, list[Played])
    assert [each.sample for each in found] == [each.sample[:1] for each in stored.of(GAMES["siege"])]
    assert found[1].chosen == {"bodyguard": "first_4"}
    assert {each.games for each in found} == {1}


def test_a_game_that_the_lab_does_not_know_has_no_balance(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["balance", "chess"]) == 2
    assert "game is 'chess'; expected market or mexica or moctezuma or siege" in capsys.readouterr().err


def test_a_preset_that_only_people_can_play_is_left_out() -> None:
    assert "temple_only" not in {each.preset for each in balance.setups("mexica")}

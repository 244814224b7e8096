"""A table has sounds or none, as its players choose and its log records."""

from __future__ import annotations

import pytest

from companion.model.outline import Outline
from companion.model.table import ServiceError
from companion.service.tables import Opening
from tests.companion.conftest import Home


def test_a_table_wants_no_sound_until_somebody_says_so(home: Home) -> None:
    assert not home.services.tables.open("mexica", "Sunday", 2, "classic").sounds


def test_a_table_that_is_set_with_sound_wants_it_after_a_restart(home: Home) -> None:
    table = home.services.tables.open("mexica", "Sunday", 2, "classic", opening=Opening(sounds=True))
    home.restart()
    assert home.services.tables.get(table.id).sounds


@pytest.mark.parametrize("on", [True, False])
def test_whoever_sits_at_it_switches_the_sound_for_the_whole_table_and_the_log_says_who(home: Home, on: bool) -> None:
    table = home.services.tables.open("mexica", "Sunday", 2, "classic", opening=Opening(sounds=not on))
    token = home.seated(table, "east")
    now = home.services.play.set_sound(table.id, token, on)
    line = now.log()[0].lines[0]
    assert (now.sounds, line.code, line.facts) == (on, f"sound_{'on' if on else 'off'}", {"by": "east"})
    assert home.services.play.set_sound(table.id, token, on).version == now.version
    home.restart()
    assert home.services.tables.get(table.id).sounds is on


def test_nobody_else_switches_it(home: Home) -> None:
    table = home.services.tables.open("mexica", "Sunday", 2, "classic")
    with pytest.raises(ServiceError, match="not_seated"):
        home.services.play.set_sound(table.id, "0" * 32, True)


@pytest.mark.parametrize("on", [True, False])
def test_the_same_table_once_more_wants_what_it_wanted(home: Home, on: bool) -> None:
    table = home.services.tables.open("siege", "Sunday", 2, "skirmish", opening=Opening(sounds=on))
    token = home.services.seats.share(table.id, table.code, {"aztecs": "Ana"})
    home.services.seats.begin(table.id, token)
    home.services.tables.close(table.id, token)
    assert home.services.tables.again(table.id, token).sounds is on


def test_a_list_of_finished_tables_still_knows_it(home: Home) -> None:
    table = home.services.tables.open("siege", "Sunday", 2, "skirmish", opening=Opening(sounds=True))
    token = home.services.seats.share(table.id, table.code, {"aztecs": "Ana"})
    home.services.seats.begin(table.id, token)
    home.services.tables.close(table.id, token)
    home.restart()
    home.restart()
    (listed,) = home.services.tables.all()
    assert isinstance(listed, Outline)
    assert listed.sounds


def test_a_move_that_is_sent_in_the_same_moment_is_not_stale(home: Home) -> None:
    table = home.services.tables.open("siege", "Sunday", 2, "skirmish")
    token = home.services.seats.share(table.id, table.code, {"aztecs": "Ana"})
    begun = home.services.seats.begin(table.id, token)
    home.services.play.set_sound(table.id, token, True)
    assert not home.play(table, token, begun.on_turn or "", "end_turn", version=begun.version).stale


def test_a_table_whose_game_is_over_is_not_switched(home: Home) -> None:
    table = home.services.tables.open("siege", "Sunday", 2, "skirmish")
    token = home.services.seats.share(table.id, table.code, {"aztecs": "Ana"})
    home.services.seats.begin(table.id, token)
    home.services.tables.close(table.id, token)
    with pytest.raises(ServiceError, match="not_running"):
        home.services.play.set_sound(table.id, token, True)

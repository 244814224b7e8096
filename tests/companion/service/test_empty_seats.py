"""Seats that nobody has when a game begins: they are left out, the app plays for them, or anyone moves for them."""

from __future__ import annotations

import pytest

from companion.model.entries import LeaveOut, Sit
from companion.model.table import COMPANION, Refusal, ServiceError, Table
from companion.service.seats import empty_choices
from tests.companion.conftest import Home

FEW = [("mexica", "temple_only"), ("mexica", "classic"), ("market", "classic"), ("moctezuma", "classic")]


def opened(home: Home, game: str, preset: str = "", players: int = 4) -> Table:
    rules = home.games[game]
    return home.services.tables.open(game, "Sunday", players, preset or next(iter(rules.presets)), {})


def seated(table: Table) -> dict[str, str]:
    return {chair.seat: chair.name or "" for chair in table.chairs if chair.taken}


@pytest.mark.parametrize(("game", "preset"), FEW)
def test_a_game_for_four_begins_for_two_where_the_others_never_came(home: Home, game: str, preset: str) -> None:
    table = opened(home, game, preset)
    last, first = table.seats[-1], table.seats[0]
    keys = {"Ana": home.seated(table, last, "Ana"), "Ben": home.seated(table, first, "Ben")}
    assert empty_choices(home.services.tables.get(table.id))[0] == "left_out"
    begun = home.services.seats.begin(table.id, keys["Ana"], "left_out")
    assert begun.seats == table.game.seatings[2]
    assert sorted(seated(begun).values()) == ["Ana", "Ben"]
    for name, key in keys.items():
        (seat,) = home.services.seats.own(table.id, key)
        assert begun.chair(seat).name == name
    assert begun.on_turn in begun.seats
    home.restart()
    again = home.services.tables.get(table.id)
    assert again.seats == begun.seats
    assert seated(again) == seated(begun)
    assert again.state == begun.state


def test_who_has_a_seat_of_the_smaller_game_keeps_it(home: Home) -> None:
    table = opened(home, "mexica", "temple_only")
    home.seated(table, "east", "Ana")
    key = home.seated(table, "north", "Ben")
    assert seated(home.services.seats.begin(table.id, key, "left_out")) == {"east": "Ana", "west": "Ben"}


def test_a_seat_for_which_the_app_plays_or_that_is_reserved_is_not_left_out(home: Home) -> None:
    table = opened(home, "mexica", "temple_only")
    key = home.seated(table, "south", "Ana")
    home.services.seats.away(table.id, key, "north", "app")
    home.workspace.run(lambda change: change.enter(table.id, COMPANION, Sit("west", "Ben")), tables=[table.id])
    begun = home.services.seats.begin(table.id, key, "left_out")
    assert begun.seats == ("east", "north", "west")
    assert [(chair.name, chair.away) for chair in begun.chairs] == [("Ana", ""), (None, "app"), ("Ben", "")]


@pytest.mark.parametrize("choice", ["app", "anyone"])
def test_the_app_or_anyone_plays_for_seats_that_nobody_has(home: Home, choice: str) -> None:
    table = opened(home, "mexica", "temple_only")
    key = home.seated(table, "east", "Ana")
    begun = home.services.seats.begin(table.id, key, choice)
    assert {chair.seat: chair.away for chair in begun.chairs} == {
        "east": "",
        "north": choice,
        "west": choice,
        "south": choice,
    }
    home.seated(table, "north", "Ben")
    assert home.services.tables.get(table.id).chair("north").away == ""


def test_rules_that_need_as_many_players_offer_the_app_first(home: Home) -> None:
    table = opened(home, "siege", players=2)
    key = home.seated(table, "aztecs", "Ana")
    assert empty_choices(home.services.tables.get(table.id)) == ("app", "anyone")
    with pytest.raises(ServiceError, match="bad_players"):
        home.services.seats.begin(table.id, key, "left_out")
    assert home.services.tables.get(table.id).phase == "lobby"


def test_one_alone_leaves_nobody_out(home: Home) -> None:
    table = opened(home, "mexica", "temple_only")
    home.seated(table, "east", "Ana")
    assert empty_choices(home.services.tables.get(table.id)) == ("app", "anyone")


def test_a_full_table_is_asked_nothing(home: Home) -> None:
    table = opened(home, "mexica", "temple_only", 2)
    for seat in table.seats:
        key = home.seated(table, seat, seat)
    assert empty_choices(home.services.tables.get(table.id)) == ()
    assert home.services.seats.begin(table.id, key, "left_out").phase == "running"


def test_an_unknown_answer_is_refused_and_changes_nothing(home: Home) -> None:
    table = opened(home, "mexica", "temple_only")
    key = home.seated(table, "east", "Ana")
    for wrong in ("pass", "sleep"):
        with pytest.raises(ServiceError, match="unknown_mode"):
            home.services.seats.begin(table.id, key, wrong)
    assert home.services.tables.get(table.id).phase == "lobby"


def test_no_seat_leaves_a_running_game(home: Home) -> None:
    table = home.table()
    refused = table.extended(table.entry(home.clock(), COMPANION, LeaveOut("north")))
    assert isinstance(refused, Refusal)
    assert refused.code == "begun_already"


def test_a_lobby_for_a_number_that_the_rules_do_not_know_does_not_begin(home: Home) -> None:
    table = opened(home, "mexica", "temple_only", 2)
    home.workspace.run(lambda change: change.enter(table.id, COMPANION, LeaveOut("west")), tables=[table.id])
    with pytest.raises(ServiceError, match="bad_players"):
        home.services.seats.begin(table.id, table.code)


def test_the_next_game_at_a_table_is_for_those_who_played(home: Home) -> None:
    table = opened(home, "mexica", "temple_only")
    keys = [home.seated(table, seat, seat) for seat in ("north", "south")]
    home.services.seats.begin(table.id, keys[0], "left_out")
    home.services.tables.close(table.id, keys[0])
    again = home.services.tables.again(table.id, keys[0])
    assert again.seats == ("east", "west")
    assert [chair.taken for chair in again.chairs] == [True, True]

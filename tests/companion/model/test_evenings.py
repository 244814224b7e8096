"""Past evenings: what was played on which, and the records of games, people and temples."""

from __future__ import annotations

from datetime import UTC, date, timedelta, timezone

import pytest

from companion.model.evenings import by_game, by_person, by_temple, curve, evenings, plays, usual_minutes
from companion.model.plays import began, bg_stats, minutes
from companion.model.table import Table
from tests.companion.conftest import EVENING, Home


def played(home: Home, east: str, west: str, minutes: int = 54, tokens: int = 0, temple: str | None = None) -> Table:
    """Play a game that ends, so many minutes after it began, with the west as its winner."""
    table = home.table(2, temple)
    phone = home.seated(table, "east", east)
    home.seated(table, "west", west)
    for god in ("tlaloc",) * tokens:
        assert home.play(table, phone, "east", "sacrifice", god, 1).accepted
    home.clock.pass_(minutes=minutes)
    assert home.play(table, phone, "east", "settle", "west").accepted
    return home.services.tables.get(table.id)


def test_a_game_that_ends_after_midnight_belongs_to_the_evening_before(home: Home) -> None:
    first = played(home, "Ana", "Ben")
    home.clock.now = EVENING + timedelta(hours=8)
    late = played(home, "Ana", "Ben", minutes=30)
    home.clock.now = EVENING + timedelta(days=1)
    next_day = played(home, "Ana", "Ben")
    found = evenings(plays([late, next_day, first]), UTC)
    assert [(each.day, [play.table.id for play in each.plays]) for each in found] == [
        (date(2026, 11, 22), [next_day.id]),
        (date(2026, 11, 21), [first.id, late.id]),
    ]


def test_an_evening_is_one_of_the_zone_that_is_asked_for(home: Home) -> None:
    play = plays([played(home, "Ana", "Ben")])[0]
    assert play.evening(UTC) == date(2026, 11, 21)
    assert play.evening(timezone(timedelta(hours=14))) == date(2026, 11, 22)


def test_tables_that_are_open_and_aids_are_no_plays(home: Home) -> None:
    aid = home.services.tables.open("market.bag", "Bag", 1, next(iter(home.games["market.bag"].presets)), {})
    assert plays([home.table(), aid]) == []


def test_a_person_is_a_name_however_it_is_spelled(home: Home) -> None:
    tables = [played(home, "Ana", "Ben"), played(home, "Carla", "ana "), played(home, "ANA", "Ben")]
    assert [(each.name, each.played, each.won) for each in by_person(plays(tables))] == [
        ("Ben", 2, 2),
        ("ANA", 3, 1),
        ("Carla", 1, 0),
    ]


def test_a_game_has_its_usual_length_its_longest_play_and_the_one_with_most_tokens(home: Home) -> None:
    short, long = played(home, "Ana", "Ben", 20, tokens=3), played(home, "Ana", "Ben", 90)
    middle = played(home, "Ana", "Ben", 40, tokens=5)
    (record,) = by_game(plays([short, long, middle]))
    assert (record.game, record.played, record.minutes) == ("mexica", 3, 40)
    assert record.longest.table.id == long.id
    assert record.most_tokens
    assert (record.most_tokens.table.id, record.most_tokens.tokens) == (middle.id, 5)


@pytest.mark.parametrize("set_by", [timedelta(days=365 * 56), timedelta(days=-400)])
def test_a_game_in_which_the_machines_clock_was_set_has_no_length_and_the_day_of_its_end(
    home: Home, set_by: timedelta
) -> None:
    """A Raspberry Pi has no clock of its own: without a network it may begin a game in 1970."""
    home.clock.now -= set_by
    odd = played(home, "Ana", "Ben", minutes=round(set_by.total_seconds() / 60) + 30)
    assert odd.ended_at == EVENING + timedelta(minutes=30)
    usual = played(home, "Ana", "Ben", minutes=40)
    assert (minutes(odd), began(odd), began(usual)) == (0, odd.ended_at, usual.began_at)
    (record,) = by_game(plays([odd, usual]))
    assert (record.played, record.minutes, record.longest.table.id) == (2, 40, usual.id)
    assert usual_minutes([odd, usual], "mexica", odd.preset) == (40, 1)
    assert bg_stats(odd, "Mexica", dict.fromkeys(odd.seats, ""), UTC)["plays"][0]["playDate"][:10] == "2026-11-21"


def test_what_a_correction_adds_or_takes_away_counts_with_the_tokens(home: Home) -> None:
    table = home.table(2, "templo")
    phones = {seat: home.seated(table, seat, name) for seat, name in (("east", "Ana"), ("west", "Ben"))}
    home.services.temples.intake.receive([("templo", home.token(n)) for n in (1, 2, 3)])
    for god, delta in (("huitzilopochtli", 4), ("tlaloc", -2)):
        assert home.play(table, phones["east"], "east", "propose", "east", god, delta).accepted
        assert home.play(table, phones["west"], "west", "confirm").accepted
    assert home.play(table, phones["east"], "east", "settle", "west").accepted
    (play,) = plays([home.services.tables.get(table.id)])
    assert play.tokens == 5


def test_a_temple_has_the_games_that_it_served(home: Home) -> None:
    tables = [played(home, "Ana", "Ben", tokens=2, temple="templo"), played(home, "Ana", "Ben")]
    assert [(each.temple, each.played) for each in by_temple(plays(tables))] == [("templo", 1)]


def test_the_lakes_curve_rises_with_each_token_and_ends_at_all_of_them(home: Home) -> None:
    play = plays([played(home, "Ana", "Ben", minutes=100)])[0]
    began = play.ended_at - timedelta(minutes=100)
    fallen = [began + timedelta(minutes=at) for at in (75, 25, 25)]
    assert curve(play, fallen) == [(0.0, 0), (0.25, 1), (0.25, 2), (0.75, 3), (1.0, 3)]
    assert curve(play, []) == []


def test_a_token_whose_clock_was_wrong_stands_at_the_edge_of_the_curve(home: Home) -> None:
    play = plays([played(home, "Ana", "Ben")])[0]
    wrong = [play.ended_at - timedelta(days=3650), play.ended_at + timedelta(days=1)]
    assert curve(play, wrong) == [(0.0, 0), (0.0, 1), (1.0, 2), (1.0, 2)]


def test_a_long_curve_has_few_steps_and_all_tokens(home: Home) -> None:
    play = plays([played(home, "Ana", "Ben", minutes=100)])[0]
    began = play.ended_at - timedelta(minutes=100)
    found = curve(play, [began + timedelta(seconds=20 * n) for n in range(260)], steps=60)
    assert len(found) == 62
    assert found[-1] == (1.0, 260)
    assert found == sorted(found)


def test_the_usual_length_of_a_preset_is_the_median_of_its_games_at_which_somebody_sat(home: Home) -> None:
    tables = [played(home, "Ana", "Ben", minutes) for minutes in (20, 90, 40)]
    preset = tables[0].preset
    open_table = home.table(2)
    assert usual_minutes([*tables, open_table], "mexica", preset)[0] == 40
    assert usual_minutes(tables, "mexica", "evening" if preset != "evening" else "century") == (0, 0)
    assert usual_minutes([], "mexica", preset) == (0, 0)

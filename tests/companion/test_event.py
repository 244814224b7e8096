"""An event under way: its rounds open their tables at once, wait for each other, and reach every companion."""

from __future__ import annotations

import pytest

from companion.model.table import ServiceError, Table
from companion.service.workspace import Workspace
from tests.companion.conftest import Home
from tests.companion.test_arrivals import status
from tests.companion.test_forgetting import forget

FOUR = "Ana\nBen\nCleo\nDia"


def title(number: int, table: int) -> str:
    return f"Round {number}, table {table}"


def start(home: Home, players: str = FOUR, size: int = 2, pairing: str = "swiss", temples: bool = False) -> None:
    home.services.rounds.start("mexica", "temple_only", size, pairing, players, title, temples)


def tables_of(home: Home, number: int) -> list[Table]:
    page = home.services.rounds.page()
    assert page is not None
    return [page.tables[each.table_id] for each in page.event.rounds[number - 1].tables]


def close(home: Home, number: int) -> None:
    for table in tables_of(home, number):
        home.services.tables.close_for_players(table.id)


def test_a_round_opens_a_table_for_each_group_with_the_names_at_its_free_seats(home: Home) -> None:
    start(home)
    tables = tables_of(home, 1)
    assert [table.title for table in tables] == ["Round 1, table 1", "Round 1, table 2"]
    assert sorted(chair.name or "" for table in tables for chair in table.chairs) == FOUR.split()
    assert not any(chair.taken for table in tables for chair in table.chairs)
    assert len({table.code for table in tables}) == 2
    token = home.services.seats.sit(tables[0].id, tables[0].code, tables[0].charter.seats[0], "Ana")
    assert home.services.seats.held(tables[0].id, token)


def test_the_next_round_waits_until_every_table_is_over_and_begins_once(home: Home) -> None:
    start(home)
    with pytest.raises(ServiceError, match=r"round_runs.*2"):
        home.services.rounds.next_round(2, FOUR, title)
    close(home, 1)
    home.services.rounds.next_round(2, f"{FOUR}\nEva\nFlo", title)
    assert len(tables_of(home, 2)) == 3
    with pytest.raises(ServiceError, match="round_begun"):
        home.services.rounds.next_round(2, FOUR, title)
    close(home, 2)
    home.services.rounds.next_round(3, "ana\nDia", title)
    assert sorted(chair.name or "" for chair in tables_of(home, 3)[0].chairs) == ["Ana", "Dia"]
    page = home.services.rounds.page()
    assert page is not None
    assert {each.name for each in page.standings} == {*FOUR.split(), "Eva", "Flo"}


def test_nothing_is_opened_where_something_is_wrong(home: Home) -> None:
    rounds = home.services.rounds
    for wrong, code in (
        (("mexica", "nonsense", 2, "swiss", FOUR, title), "unknown_preset"),
        (("chess", "classic", 2, "swiss", FOUR, title), "unknown_game"),
        (("mexica", "temple_only", 99, "swiss", FOUR, title), "bad_players"),
        (("mexica", "temple_only", 2, "knockout", FOUR, title), "bad_pairing"),
        (("mexica", "temple_only", 2, "swiss", "Ana\nana", title), "player_twice"),
        (("mexica", "temple_only", 2, "swiss", FOUR, lambda *_: "x" * 25), "bad_name"),
    ):
        with pytest.raises(ServiceError, match=code):
            rounds.start(*wrong)
    with pytest.raises(ServiceError, match="no_event"):
        rounds.next_round(1, FOUR, title)
    assert home.services.tables.all() == ()
    assert rounds.event() is None
    start(home)
    with pytest.raises(ServiceError, match="event_runs"):
        start(home)


def test_free_temples_serve_the_tables_and_held_ones_stay(home: Home) -> None:
    held = home.table(temple="away")
    for name in ("beta", "alpha", "gamma"):
        home.services.temples.receive_status(name, status(source=name.encode().hex().ljust(32, "0")))
    start(home, temples=True)
    assert [table.temple for table in tables_of(home, 1)] == ["alpha", "beta"]
    assert home.services.tables.get(held.id).temple == "away"
    close(home, 1)
    home.services.rounds.next_round(2, FOUR, title)
    assert [table.temple for table in tables_of(home, 2)] == [None, None]


def test_an_event_outlasts_a_restart_and_is_seen_by_other_companions_until_it_is_ended(home: Home) -> None:
    start(home)
    before = home.services.rounds.event()
    home.restart()
    assert home.services.rounds.event() == before
    tables = [table.id for table in tables_of(home, 1)]
    home.services.rounds.end()
    assert home.services.rounds.event() is None
    assert home.services.rounds.page() is None
    assert {table.id for table in home.services.tables.all()} == set(tables)
    start(home)
    assert Workspace(home.store, home.games, home.clock, home.entropy).store.note("event")


def test_a_table_that_was_erased_counts_as_one_without_a_result(home: Home) -> None:
    start(home, "Ana\nBen")
    assert forget(home, "table", tables_of(home, 1)[0].id, "--yes") == 0
    page = home.services.rounds.page()
    assert page is not None
    assert page.waits_for == 0
    assert {each.name: float(each.points) for each in page.standings} == {"Ana": 0.5, "Ben": 0.5}


def test_a_person_who_is_forgotten_is_a_number_in_the_event(home: Home) -> None:
    start(home, "Ana\nBen", pairing="everyone")
    assert forget(home, "person", "ben", "--yes") == 0
    event = home.services.rounds.event()
    assert event is not None
    assert event.players == ("Ana", "#2")
    assert "Ben" not in home.store.note("event")

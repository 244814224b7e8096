"""An event under way: its rounds open their tables at once, wait for each other, and reach every companion."""

from __future__ import annotations

import threading

import pytest

from companion.model.rounds import decode
from companion.model.table import ServiceError, Table
from companion.service.change import Change
from tests.companion.cli.test_forgetting import forget
from tests.companion.conftest import Home
from tests.companion.service.test_arrivals import status

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
    assert rounds.page() is None
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


def test_a_temple_that_a_table_takes_meanwhile_is_not_taken_from_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.services.temples.receive_status("alpha", status())
    other = home.table()
    lock = Change.lock_temples

    def take_first(change: Change, *names: str | None) -> None:
        monkeypatch.setattr(Change, "lock_temples", lock)
        taking = threading.Thread(target=home.services.temples.serving.serve, args=(other.id, "alpha"))
        taking.start()
        taking.join()
        lock(change, *names)

    monkeypatch.setattr(Change, "lock_temples", take_first)
    start(home, temples=True)
    assert home.services.tables.get(other.id).temple == "alpha"
    assert [table.temple for table in tables_of(home, 1)] == [None, None]


def test_of_two_organisers_who_begin_the_same_round_one_does(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    start(home)
    close(home, 1)
    before = home.store.note("event")
    home.services.rounds.next_round(2, FOUR, title)
    note, stale = home.store.note, [before]
    monkeypatch.setattr(home.store, "note", lambda name: stale.pop() if stale else note(name))
    with pytest.raises(ServiceError, match="round_begun"):
        home.services.rounds.next_round(2, FOUR, title)
    assert len(home.services.tables.all()) == 4


def test_an_event_outlasts_a_restart_until_it_is_ended(home: Home) -> None:
    start(home)
    before = home.store.note("event")
    home.restart()
    assert home.store.note("event") == before
    tables = {table.id for table in tables_of(home, 1)}
    home.services.rounds.end()
    assert home.services.rounds.page() is None
    assert {table.id for table in home.services.tables.all()} == tables
    start(home)


def test_the_end_of_an_event_is_news_for_open_pages(home: Home) -> None:
    start(home)
    home.changes.clear()
    home.services.rounds.end()
    assert home.changes == ["note:event"]


def test_who_comes_back_under_the_same_name_in_other_letters_is_the_same_player(home: Home) -> None:
    start(home)
    for number, players in ((2, "Ben\nCleo\nDia"), (3, "ana\nBen\nCleo\nDia")):
        close(home, number - 1)
        home.services.rounds.next_round(number, players, title)
    page = home.services.rounds.page()
    assert page is not None
    assert sorted(each.name for each in page.standings) == FOUR.split()


def test_a_seat_that_somebody_gave_up_in_the_lobby_is_kept_for_nobody(home: Home) -> None:
    start(home)
    table = tables_of(home, 1)[0]
    seat = table.charter.seats[0]
    home.services.seats.sit(table.id, table.code, seat, "Zoe")
    home.services.seats.free(table.id, table.code, seat)
    assert list(home.services.tables.get(table.id).reserved()) == [table.charter.seats[1]]


def test_a_table_that_was_erased_counts_as_one_without_a_result(home: Home) -> None:
    start(home, "Ana\nBen")
    assert forget(home, "table", tables_of(home, 1)[0].id, "--yes") == 0
    page = home.services.rounds.page()
    assert page is not None
    assert page.waits_for == 0
    assert {each.name: float(each.points) for each in page.standings} == {"Ana": 0.5, "Ben": 0.5}


def test_who_is_in_the_event_alone_can_be_forgotten(home: Home) -> None:
    start(home, "Ana\nBen\nCleo")
    (rests,) = decode(home.store.note("event")).rounds[0].rests
    assert forget(home, "person", rests, "--yes") == 0
    assert rests not in home.store.note("event")


def test_a_person_who_is_forgotten_is_a_number_in_the_event(home: Home) -> None:
    start(home, "Ana\nBen", pairing="everyone")
    assert forget(home, "person", "ben", "--yes") == 0
    assert decode(home.store.note("event")).players == ("Ana", "#1")
    assert "Ben" not in home.store.note("event")

"""`templo-companion forget`: a table and a person's name are gone for good, and every token still counts once."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.adapters.database import store_lock
from companion.adapters.database.opening import sqlite_path
from companion.cli.command_line import main
from companion.model.evenings import by_person, plays
from companion.model.table import ServiceError, Table
from tests.companion.conftest import DATABASES, Home
from tests.companion.model.test_evenings import played

TEMPLE = "templo"


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def forget(home: Home, *words: str) -> int:
    """Run the command while no companion uses the store, then start one again."""
    home.store.close()
    try:
        return main(["forget", *words, "--store", home.url])
    finally:
        home.restart()


def names(home: Home, table: Table) -> list[str | None]:
    return [chair.name for chair in home.services.tables.get(table.id).chairs]


def test_a_table_that_is_forgotten_is_gone_with_its_log_and_its_record(home: Home) -> None:
    gone, stays = played(home, "Ana", "Ben"), played(home, "Carla", "Dora")
    log = home.services.tables.entries(stays.id)
    assert forget(home, "table", gone.id, "--yes") == 0
    assert [table.id for table in home.services.tables.all()] == [stays.id]
    assert home.store.entries(gone.id) == ()
    assert home.store.keys(gone.id) == {}
    assert [each.name for each in by_person(plays(home.services.tables.all()))] == ["Dora", "Carla"]
    assert home.services.tables.entries(stays.id) == log


def test_tokens_of_a_forgotten_table_count_for_their_temple_and_nowhere_twice(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    sent = [(TEMPLE, home.token(seq)) for seq in (1, 2, 3)]
    home.services.temples.intake.receive(sent)
    totals = home.services.temples.get(TEMPLE).totals
    assert forget(home, "table", table.id, "--yes") == 0
    temple = home.services.temples.get(TEMPLE)
    assert (temple.table_id, temple.totals) == (None, totals)
    (receipt,) = home.services.temples.intake.receive(sent)
    assert receipt.seq == 3
    other = home.services.tables.open("mexica", "Monday", 2, "temple_only", {}, TEMPLE)
    home.services.seats.begin(other.id, other.code)
    home.services.temples.intake.receive([*sent, (TEMPLE, home.token(4))])
    assert [kept.token.seq for kept in home.store.table_tokens(other.id)] == [4]


def test_a_name_that_is_forgotten_gives_way_to_the_seat_everywhere(home: Home) -> None:
    first, second = played(home, "Ana", "Ben"), played(home, "Carla", " ana")
    before = home.services.tables.get(first.id)
    home.restart()
    home.restart()
    assert forget(home, "person", "ANA", "--yes") == 0
    assert names(home, first) == ["", "Ben"]
    assert names(home, second) == ["Carla", ""]
    after = home.services.tables.get(first.id)
    assert (after.state, after.version, after.ended_at) == (before.state, before.version, before.ended_at)
    for _ in range(2):
        every = plays(home.services.tables.all())
        assert sorted(each.name for each in by_person(every)) == ["Ben", "Carla"]
        home.restart()


def test_a_name_is_forgotten_where_it_decided_about_tokens(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    home.services.temples.intake.receive([(TEMPLE, home.token(seq)) for seq in (1, 2)])
    home.services.temples.intake.receive([(TEMPLE, home.token(1, token="f" * 32))])
    home.services.temples.decisions.decide(table.id, token, "east", ["f" * 32], None)
    assert [each.name for each in home.services.temples.decisions.last(TEMPLE, 9)] == ["Ana"]
    assert forget(home, "person", "Ana", "--yes") == 0
    assert [(each.name, each.verdict) for each in home.services.temples.decisions.last(TEMPLE, 9)] == [
        ("", "dismissed")
    ]


@pytest.mark.parametrize("words", [("table",), ("person", "Xochiquetzal")])
def test_no_byte_of_what_was_forgotten_stays_in_the_file(home: Home, words: tuple[str, ...]) -> None:
    path = sqlite_path(home.url)
    if path is None:
        pytest.skip("a server's files are its own")
    table = played(home, "Xochiquetzal", "Ben")
    assert forget(home, *words, *([table.id] if len(words) == 1 else []), "--yes") == 0
    home.store.close()
    held = [file for file in Path(path).parent.iterdir() if b"Xochiquetzal" in file.read_bytes()]
    assert held == []


@pytest.mark.parametrize("what", ["table", "person"])
def test_nothing_is_removed_without_a_confirmation(home: Home, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = played(home, "Ana", "Ben")
    assert forget(home, what, table.id if what == "table" else "Ana") == 1
    assert "Nothing is removed yet; add --yes to do it." in capsys.readouterr().out
    assert names(home, table) == ["Ana", "Ben"]


def test_nothing_is_removed_while_a_companion_runs(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    table = played(home, "Ana", "Ben")
    with store_lock.hold(home.url):
        assert main(["forget", "table", table.id, "--yes", "--store", home.url]) == 2
    assert "which another companion" in capsys.readouterr().err
    assert home.services.tables.get(table.id).chairs


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("person", "Zoe"), "person is 'Zoe', who sat at none of 1 table"),
        (("person", "  "), "person is '  ', who sat at none"),
        (("table", "feed5eed"), "table is 'feed5eed', which fits 0 of 1 table"),
        (("table", ""), "table is '', which fits 1 of 1 table; expected an id"),
    ],
)
def test_what_names_no_table_and_no_person_is_refused(
    home: Home, words: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    played(home, "Ana", "Ben")
    assert forget(home, *words, "--yes") == 2
    assert reason in capsys.readouterr().err


def test_the_list_names_every_table_with_its_id_and_its_people(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    table = played(home, "Ana", "Ben")
    assert forget(home, "list") == 0
    assert capsys.readouterr().out == f"{table.id}  'Sunday' of 2026-11-21 (mexica; Ana, Ben)\n"


def test_a_title_that_holds_the_name_is_pointed_out(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    table = home.table()
    home.services.tables.rename(table.id, home.seated(table), "Ana's birthday")
    assert forget(home, "person", "Ana", "--yes") == 0
    assert 'The title "Ana\'s birthday" still holds the name: rename' in capsys.readouterr().out


def test_the_game_before_a_forgotten_one_can_be_played_once_more(home: Home) -> None:
    before = played(home, "Ana", "Ben")
    home.services.seats.free(before.id, before.code, "east")
    phone = home.services.seats.sit(before.id, before.code, "east", "Ana")
    after = home.services.tables.again(before.id, phone)
    forget(home, "table", after.id, "--yes")
    assert home.services.tables.get(before.id).again == ""
    assert home.services.tables.again(before.id, phone).id != after.id


def test_the_address_of_a_forgotten_table_is_not_found(home: Home) -> None:
    table = played(home, "Ana", "Ben")
    forget(home, "table", table.id[:8], "--yes")
    with pytest.raises(ServiceError, match="unknown_table"):
        home.services.tables.get(table.id)

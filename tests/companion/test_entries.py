"""The log of a table: a type for each kind of entry, and one stored form, in which earlier releases wrote theirs.

`stored_logs.json` holds what version 0.14 stored of four tables: every kind of entry, tokens and moves among them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
import sqlalchemy as sa

from companion.adapters.database.sql_store import SqlStore
from companion.games.kit import Move, Refusal
from companion.model.entries import (
    Action,
    Again,
    Archive,
    Away,
    Begin,
    Close,
    Decide,
    Rename,
    Rolls,
    SetOption,
    SetPace,
    SetSound,
    Sit,
    TableEntry,
    decode,
    encode,
)
from companion.model.history import folded
from companion.model.table import Table
from tests.companion.conftest import DATABASES, EVENING, Home

STORED: list[dict[str, Any]] = json.loads((Path(__file__).parent / "stored_logs.json").read_text())

YOUNGER = {Archive, Close, Rename, SetPace, SetSound}
"""Entries that no release stored yet when the logs were."""


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def insert(url: str) -> None:
    """Put the stored tables into a database as an earlier release left them there."""
    SqlStore(url).close()
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        game_table, entry = (
            sa.Table(name, sa.MetaData(), autoload_with=connection) for name in ("game_table", "entry")
        )
        for stored in STORED:
            connection.execute(sa.insert(game_table), stored["table"])
            rows = [{**row, "move": json.loads(row["move"])} for row in stored["entries"]]
            connection.execute(sa.insert(entry), [{**row, "table_id": stored["table"]["id"]} for row in rows])
    engine.dispose()


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: stored["table"]["title"])
def test_a_log_that_an_earlier_release_stored_leads_where_it_led(home: Home, stored: dict[str, Any]) -> None:
    insert(home.url)
    home.restart()
    read, expected = home.services.tables.get(stored["table"]["id"]), stored["leads_to"]
    found = {name: getattr(read, name) for name in ("phase", "version", "basis", "temple", "again", "rolls")}
    found["notation"] = "" if read.state is None else read.game.notation(read.state)
    found["away"] = [chair.away for chair in read.chairs]
    found["names"] = [chair.name for chair in read.chairs]
    found["lines"] = [[line.code for line in logged.lines] for logged in read.logged]
    assert found == expected
    assert home.services.tables.unreadable == []


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: stored["table"]["title"])
def test_the_same_entries_are_stored_in_the_same_form(home: Home, stored: dict[str, Any]) -> None:
    insert(home.url)
    home.restart()
    table_id = stored["table"]["id"]
    log = home.services.tables.entries(table_id)
    assert [encode(entry.action) for entry in log] == [json.loads(row["move"]) for row in stored["entries"]]
    copy = home.services.tables.open("mexica", "Copy", 2, "classic")
    with home.store.transaction() as transaction:
        transaction.append(copy.id, log)
    engine = sa.create_engine(home.url)
    with engine.connect() as connection:
        query = sa.text("SELECT table_id, n, move FROM entry ORDER BY n")
        rows = [tuple(row) for row in connection.execute(query)]
    engine.dispose()
    texts = {each: [str(move) for owner, _, move in rows if owner == each] for each in (table_id, copy.id)}
    assert texts[table_id] == texts[copy.id]


def test_every_kind_of_entry_is_among_the_stored_ones() -> None:
    found = {type(decode(json.loads(row["move"]))) for stored in STORED for row in stored["entries"]}
    assert found == {Move, *get_args(TableEntry)} - YOUNGER


@pytest.mark.parametrize(
    "action",
    [
        Begin(),
        Sit("east", "Ana \U0001f40d \udc80\x00"),
        Away("north", "pass"),
        Rolls(""),
        SetPace("slow"),
        SetSound("off"),
        Close(),
        Rename("Kitchen"),
        Archive("archive"),
        Again("f" * 32),
        SetOption("deck", "ñ\n"),
        SetOption("apocalypse_tokens", -3),
        Decide("old", 1),
        Move("claim", ("x", 2)),
    ],
    ids=str,
)
def test_what_is_encoded_is_decoded_as_it_was(action: Action) -> None:
    assert decode(encode(action)) == action
    assert json.loads(json.dumps(encode(action))) == encode(action)


@pytest.mark.parametrize(
    "stored",
    [["@sit"], ["@sit", "east", 3], ["@begin", "x"], ["@away", "east", "asleep"], ["@decided", "old", 0], ["@fly"]],
    ids=str,
)
def test_an_entry_that_is_none_stands_at_no_table(home: Home, stored: list[Any]) -> None:
    lobby_ = home.services.tables.open("mexica", "Sunday", 2, "classic")
    refused = lobby_.extended(lobby_.entry(EVENING, "east", decode(stored)))
    assert refused == Refusal("unknown_move", {"move": stored[0]})


@pytest.mark.parametrize("stored", [[], "@sit", ["@sit", None, "x"], ["@sit", "x" * 201, ""], [3]], ids=str)
def test_what_is_no_list_of_words_and_numbers_is_no_entry(stored: object) -> None:
    with pytest.raises(ValueError, match="expected a list of its name and its arguments"):
        decode(stored)


def test_a_log_goes_on_where_it_was_left(home: Home) -> None:
    begun = home.table()
    token = home.seated(begun)
    home.play(begun, token, "east", "end_turn")
    now, log = home.services.tables.get(begun.id), home.services.tables.entries(begun.id)
    for cut in range(len(log) + 1):
        before = folded(Table.opened(now.charter, now.game), log[:cut])
        assert folded(before, log[cut:]).with_keys(now.keys) == now

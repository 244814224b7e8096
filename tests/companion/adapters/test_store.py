"""The store on each supported database: commits are durable and atomic, and another schema is refused."""

from __future__ import annotations

import random
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from companion.adapters.database.opening import StoreError, make_sqlite_durable
from companion.adapters.database.schema import SCHEMA
from companion.adapters.database.sql_store import SqlStore
from companion.games.kit import Move
from companion.model.ports import COUNTED, Conflict, Decision, StoredToken, TempleRecord
from companion.model.table import Charter, Entry, ServiceError
from templo import contract
from tests.companion.conftest import DATABASES, EVENING, OTHER, SOURCE, Home
from tests.databases import Postgres

CHARTER = Charter(
    "1" * 32, "ABCDEFGH", "Noche \U0001f40d", "mexica", 1, "classic", {"deck": "ñ\n", "n": 3}, ("east",), EVENING
)


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def execute(url: str, *statements: str) -> list[tuple[object, ...]]:
    """Run statements in a database past the store; returns the result of the last one."""
    engine = sa.create_engine(url)
    rows: list[tuple[object, ...]] = []
    with engine.begin() as connection:
        for statement in statements:
            result = connection.execute(sa.text(statement))
            rows = [tuple(row) for row in result] if result.returns_rows else []
    engine.dispose()
    return rows


def tokens(home: Home, *seqs: int, table_id: str | None = None) -> list[StoredToken]:
    return [StoredToken("templo", home.token(seq), home.clock.now, table_id) for seq in seqs]


# -- what is kept --


def test_a_table_is_read_as_it_was_entered(url: str) -> None:
    store = SqlStore(url)
    at = EVENING + timedelta(microseconds=1)
    entries = (
        Entry(1, at, "east", Move("claim", ("\x00 \udc80 ñ \U0001f40d", -3)), "r1", ""),
        Entry(2, at, "app", Move("pass", ()), "", "app"),
    )
    with store.transaction() as change:
        change.add_table(CHARTER)
        change.append(CHARTER.id, entries)
        change.set_keys(CHARTER.id, {"east": "f" * 64})
        change.set_temple(TempleRecord("templo", SOURCE, CHARTER.id, "bean", 3, 4))
    store.close()
    store = SqlStore(url)
    (kept,) = store.tables()
    assert (kept.charter, kept.entries, kept.keys) == (CHARTER, entries, {"east": "f" * 64})
    assert store.entries(CHARTER.id) == entries
    assert store.temples() == [TempleRecord("templo", SOURCE, CHARTER.id, "bean", 3, 4)]
    store.close()


def test_a_token_is_read_as_it_fell(home: Home) -> None:
    widest = contract.Token(
        SOURCE,
        contract.MAX_SEQ,
        "e" * 32,
        contract.God.TLALOC,
        EVENING - timedelta(days=40_000, microseconds=1),
        contract.MAX_WIDTH_MS,
        frozenset({"jam", "overlap"}),
        replayed=True,
    )
    kept = StoredToken("templo", widest, EVENING, CHARTER.id)
    with home.store.transaction() as change:
        change.add_tokens([kept])
        change.set_mark(SOURCE, "templo", 3)
    assert home.store.table_tokens(CHARTER.id) == home.store.recent("templo", 5) == (kept,)
    assert home.store.marks() == {SOURCE: (3, "", {contract.MAX_SEQ: "e" * 32}, 0)}
    assert (
        home.store.totals("templo")[contract.God.TLALOC] == home.store.source_totals(SOURCE)[contract.God.TLALOC] == 1
    )


def test_a_chair_and_a_temple_are_changed_in_place(home: Home) -> None:
    with home.store.transaction() as change:
        change.add_table(CHARTER)
        change.set_keys(CHARTER.id, {"east": "a" * 64, "west": "b" * 64})
        change.set_temple(TempleRecord("templo"))
    with home.store.transaction() as change:
        change.set_keys(CHARTER.id, {"west": "c" * 64})
        change.set_temple(TempleRecord("templo", OTHER, None, "", 0, 5))
        change.set_mark(SOURCE, "templo", 1)
        change.set_mark(SOURCE, "templo", 2)
    (kept,) = home.store.tables()
    assert kept.keys == {"west": "c" * 64}
    assert home.store.temples() == [TempleRecord("templo", OTHER, None, "", 0, 5)]
    assert home.store.marks() == {SOURCE: (2, "", {}, 0)}


def test_what_fell_is_reported_in_the_order_in_which_it_fell(home: Home) -> None:
    fell = tokens(home, *range(1, 40), table_id=CHARTER.id)
    mixed = random.Random(1).sample(fell, len(fell))
    with home.store.transaction() as change:
        change.add_tokens(mixed)
    ids, stored, held, _ = home.store.known([home.token(2), home.token(3, token="f" * 32), home.token(99)])
    assert (ids, stored, held) == ({SOURCE: {2: f"{2:032x}", 3: f"{3:032x}"}}, set(), {})
    assert home.store.table_tokens(CHARTER.id) == tuple(fell)
    assert [each.token.seq for each in home.store.recent("templo", 3)] == [39, 38, 37]


def test_a_token_that_was_held_apart_and_counts_stands_at_its_number_among_the_table_s(home: Home) -> None:
    own = tokens(home, 1, 2, 3, table_id=CHARTER.id)
    apart = [StoredToken("templo", home.token(seq, token=f"{seq}" * 32), home.clock.now) for seq in (1, 2)]
    with home.store.transaction() as change:
        change.add_tokens(own)
        change.quarantine(apart)
        change.decide(
            [Decision(each, COUNTED, home.clock.now, "east", table_id=CHARTER.id, seat="east") for each in apart]
        )
    assert [each.token.seq for each in home.store.table_tokens(CHARTER.id)] == [1, 1, 2, 2, 3]


def test_a_token_held_apart_is_held_once(home: Home) -> None:
    with home.store.transaction() as change:
        change.quarantine(tokens(home, 1, 2))
    with pytest.raises(Conflict), home.store.transaction() as change:
        change.quarantine(tokens(home, 2, 3))
    assert home.store.known([home.token(n) for n in (1, 2, 3)]).held == {f"{1:032x}": "", f"{2:032x}": ""}
    assert home.store.quarantined("templo") == 2
    assert home.store.totals("templo")[contract.God.TLALOC] == 0


# -- all or nothing --


def test_a_change_that_fails_leaves_nothing_behind(home: Home) -> None:
    with suppress(ZeroDivisionError), home.store.transaction() as change:
        change.add_table(CHARTER)
        change.add_tokens(tokens(home, 1))
        raise ZeroDivisionError
    assert home.store.tables() == []
    assert home.store.recent("templo", 9) == ()


def test_a_second_writer_of_a_table_is_refused_by_the_line_s_number(home: Home) -> None:
    with home.store.transaction() as change:
        change.add_table(CHARTER)
        change.append(CHARTER.id, [Entry(1, EVENING, "east", Move("pass", ()), "r1", "")])
    with pytest.raises(Conflict), home.store.transaction() as change:
        change.append(CHARTER.id, [Entry(1, EVENING, "west", Move("pass", ()), "r2", "")])
    assert [entry.by for entry in home.store.entries(CHARTER.id)] == ["east"]


def test_the_same_number_of_a_source_is_never_kept_twice(home: Home) -> None:
    with home.store.transaction() as change:
        change.add_tokens(tokens(home, 1))
    with pytest.raises(Conflict), home.store.transaction() as change:
        change.add_tokens(tokens(home, 2, 1))
    assert [each.token.seq for each in home.store.recent("templo", 9)] == [1]


def test_when_the_store_fails_nothing_has_happened_and_the_next_try_counts(home: Home, database: str) -> None:
    table = home.table(temple="templo")
    if database == "sqlite":
        full = ["CREATE TRIGGER full_disk BEFORE INSERT ON token BEGIN SELECT RAISE(ABORT, 'disk is full'); END"]
        cleared = "DROP TRIGGER full_disk"
    else:
        full = [
            "CREATE FUNCTION full_disk() RETURNS trigger AS $$ BEGIN RAISE 'disk is full'; END $$ LANGUAGE plpgsql",
            "CREATE TRIGGER full_disk BEFORE INSERT ON token FOR EACH ROW EXECUTE FUNCTION full_disk()",
        ]
        cleared = "DROP TRIGGER full_disk ON token"
    execute(home.url, *full)
    with pytest.raises(ServiceError, match="store_failing"):
        home.services.temples.intake.receive([("templo", home.token(1))])
    assert home.store.recent("templo", 9) == ()
    execute(home.url, cleared)
    assert home.services.temples.intake.receive([("templo", home.token(1))])[0].seq == 1
    home.restart()
    assert [each.table_id for each in home.store.recent("templo", 9)] == [table.id]


# -- what is no store of this release --


@pytest.mark.parametrize("schema", [str(SCHEMA + 1), "0", "x"])
def test_a_store_of_a_schema_that_is_not_known_stays_closed(url: str, schema: str) -> None:
    SqlStore(url).close()
    execute(url, f"UPDATE about SET value = '{schema}' WHERE key = 'schema'")
    with pytest.raises(StoreError, match=f"store has schema '{schema}'; expected {SCHEMA}"):
        SqlStore(url)
    assert execute(url, "SELECT value FROM about WHERE key = 'schema'") == [(schema,)]


def test_the_signing_key_is_made_once_and_never_in_place_of_a_lost_one(url: str) -> None:
    store = SqlStore(url)
    made = store.signing_key()
    store.close()
    store = SqlStore(url)
    assert len(made) == 32
    assert store.signing_key() == made
    store.close()
    execute(url, "DELETE FROM about WHERE key = 'signing_key'")
    with pytest.raises(StoreError, match="store lacks signing_key; expected all of schema 1"):
        SqlStore(url)


def test_who_opens_a_new_file_at_the_same_moment_as_others_waits_for_them(tmp_path: Path) -> None:
    together = threading.Barrier(6)

    def opened(file: Path) -> str:
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            together.wait(60)
            make_sqlite_durable(connection, None)
            return str(connection.execute("PRAGMA journal_mode").fetchone()[0])

    with ThreadPoolExecutor(6) as pool:
        for n in range(60):
            assert set(pool.map(opened, [tmp_path / f"{n}.sqlite"] * 6)) == {"wal"}


def test_a_table_finds_its_tokens_by_an_index(home: Home, database: str) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(n)) for n in range(1, 300)])
    query = f"SELECT * FROM token WHERE table_id = '{table.id}' ORDER BY at, seq"
    explained = "EXPLAIN QUERY PLAN " if database == "sqlite" else "EXPLAIN "
    plan = execute(home.url, *([] if database == "sqlite" else ["SET enable_seqscan = off"]), explained + query)
    assert "token_by_table" in str(plan)


# -- a server that goes away --


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_what_was_committed_outlives_a_killed_server_and_the_companion_goes_on(
    home: Home, postgresql: Postgres
) -> None:
    table = home.table(temple="templo")
    for n in range(1, 6):
        home.services.temples.intake.receive([("templo", home.token(n))])
    postgresql.kill()
    with pytest.raises(ServiceError, match="store_failing"):
        home.services.temples.intake.receive([("templo", home.token(6))])
    postgresql.start()
    assert home.services.temples.intake.receive([("templo", home.token(6))])[0].seq == 6
    home.restart()
    assert [each.token.seq for each in home.store.table_tokens(table.id)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_server_that_refuses_is_named_without_the_password(url: str) -> None:
    with pytest.raises(StoreError, match=r"expected a database that can be opened \(.*password") as caught:
        SqlStore(url.replace("tlachinolli", "s3cret"))
    assert "s3cret" not in str(caught.value)

"""The places of a PostgreSQL for tests: one that a companion left as it makes them is emptied and given again."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.companion.conftest import Home
from tests.databases import Postgres, postgres


@pytest.fixture
def server() -> Iterator[Postgres]:
    with postgres() as server:
        yield server


def used(server: Postgres, *statements: str) -> str:
    """Make a companion's tables in a place, change them, and give the place back; returns its URL."""
    with server.place() as url:
        home = Home(url)
        home.table()
        home.store.close()
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())
    return url


def test_a_place_is_given_again_without_its_rows(server: Postgres) -> None:
    first = used(server)
    with server.place() as url, psycopg.connect(url.replace("+psycopg", "")) as connection:
        assert url == first
        assert connection.execute("SELECT count(*) FROM game_table").fetchone() == (0,)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE game_table ADD COLUMN more text",
        "ALTER TABLE game_table ALTER COLUMN id SET DEFAULT 'none'",
        "ALTER TABLE game_table ADD CONSTRAINT short CHECK (length(id) < 99)",
    ],
    ids=["column", "default", "constraint"],
)
def test_a_place_whose_tables_were_changed_is_not_given_again(server: Postgres, statement: str) -> None:
    used(server)
    changed = used(server, statement)
    with server.place() as url:
        assert url != changed


def test_a_place_without_tables_is_not_what_others_are_compared_to(server: Postgres) -> None:
    with server.place():
        pass
    first = used(server)
    with server.place() as url:
        assert url == first

"""Finds out whether a SQLite database is damaged, and how much of it can be read, by reading all of it.

Damage has many forms, and SQLite's own check finds only some: a row may be in its place and be no row of a store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from companion.adapters.database.opening import code_of, reason, sqlite_path
from companion.adapters.database.rows import read_charter, read_token
from companion.adapters.database.schema import ABOUT, ENTRIES, METADATA, SCHEMA, TABLES, TEMPLES, TOKENS
from companion.games.kit import LONGEST_TEXT
from companion.model.entries import decode

_NOT_OF_THE_FILE = tuple(
    f"SQLITE_{name}" for name in ("AUTH", "BUSY", "CANTOPEN", "FULL", "LOCKED", "NOMEM", "PERM", "READONLY")
)
"""How the names of errors begin that say nothing about the content of a file."""

_SHOWN: Mapping[str, sa.Table] = {"tables": TABLES, "entries": ENTRIES, "temples": TEMPLES, "tokens": TOKENS}
_READ: Mapping[str, Callable[[sa.Row[Any]], object]] = {
    TABLES.name: read_charter,
    ENTRIES.name: lambda row: decode(row.move, LONGEST_TEXT),
    TOKENS.name: read_token,
}


class Count(Struct, frozen=True):
    """How many rows of one kind were read, and whether they are all that the file has."""

    rows: int
    is_all: bool


class Damage(Struct, frozen=True):
    """A damaged file, what is wrong with it in the words of whoever found it, and what can be read of it.

    `readable` counts ``tables`` (of games), ``entries`` (of their logs), ``temples`` and ``tokens``.
    """

    file: Path
    problem: str
    readable: Mapping[str, Count]


def find_damage(url: str) -> Damage | None:
    """Read the whole SQLite database at `url`, which takes as long as its disk needs, and return its damage.

    It is None if the database is sound or missing, is of another kind, or cannot be opened for a reason that says
    nothing about its content, such as missing rights. A file without a byte counts as damaged.
    """
    try:
        path = sqlite_path(url)
        if path is None or not path.exists():
            return None
        if path.stat().st_size == 0:
            return Damage(path, "the file is empty", dict.fromkeys(_SHOWN, Count(0, is_all=False)))
    except (sa.exc.ArgumentError, OSError):
        return None
    there = f"{path.absolute().as_uri()}?mode=ro"
    engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(there, uri=True), poolclass=sa.NullPool)
    try:
        with engine.connect() as connection:
            problems, counts = _examine(connection)
    except Exception as error:  # damaged text is no text: not every error is one of SQLite
        if code_of(error).startswith(_NOT_OF_THE_FILE):
            return None
        problems, counts = [reason(error)], dict.fromkeys(METADATA.tables, Count(0, is_all=False))
    if not problems:
        return None
    return Damage(path, problems[0], {kind: counts[table.name] for kind, table in _SHOWN.items()})


def _examine(connection: sa.Connection) -> tuple[list[str], dict[str, Count]]:
    """Return every problem, and how much of each table can be read."""
    verdict = _tried(connection, lambda: connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one())
    unreadable = _tried(connection, lambda: connection.exec_driver_sql("SELECT * FROM sqlite_schema").all() and None)
    schema = _tried(
        connection, lambda: connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.key == "schema")).scalar()
    )
    is_another = schema.isdigit() and schema != str(SCHEMA)  # another release has other tables
    problems = [] if verdict == "ok" else [verdict.splitlines()[-1]]  # a heading may come first
    problems += [unreadable] if unreadable else []
    counts = {}
    for table in METADATA.sorted_tables:
        counts[table.name], problem = _read(connection, table)
        if problem and not is_another:
            problems.append(f"{table.name}: {problem}")
    if not schema and any(count.rows for count in counts.values()):
        problems.append(f"{ABOUT.name}: the number of the schema is missing")
    return problems, counts


def _tried(connection: sa.Connection, query: Callable[[], Any]) -> str:
    """Return the answer, or the problem that a query met; raises errors that say nothing about the content."""
    try:
        return str(query() or "")
    except Exception as error:
        if code_of(error).startswith(_NOT_OF_THE_FILE):
            raise
        connection.rollback()
        return reason(error)


def _read(connection: sa.Connection, table: sa.Table) -> tuple[Count, str]:
    """Count a table's rows from the first, and if one cannot be read also from the last; return the problem, too."""
    from_first, problem = _rows_until_problem(connection, table, sa.select(table))
    if not problem:
        return Count(from_first, is_all=True), ""
    has_rowid = table.dialect_options["sqlite"]["with_rowid"]
    last_first = [sa.literal_column("rowid").desc()] if has_rowid else [key.desc() for key in table.primary_key]
    from_last, _ = _rows_until_problem(connection, table, sa.select(table).order_by(*last_first))
    return Count(from_first + from_last, is_all=False), problem


def _rows_until_problem(connection: sa.Connection, table: sa.Table, query: sa.Select[Any]) -> tuple[int, str]:
    read = _READ.get(table.name, tuple)
    rows = 0

    def count() -> None:
        nonlocal rows
        for row in connection.execute(query, execution_options={"yield_per": 100}):
            read(row)
            rows += 1

    problem = _tried(connection, count)
    return rows, problem

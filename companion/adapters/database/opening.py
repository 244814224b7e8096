"""Opens a database, or creates a new one.

A change is durable when its transaction has ended: SQLite runs in WAL mode with ``synchronous=FULL``.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from companion.adapters.database.schema import ABOUT, METADATA, PASSING, SCHEMA, SIGNING_KEY
from templo.files import make_database_private

CONNECT_S = 5
"""How long a PostgreSQL may take to answer a new connection."""

UNANSWERED_S = 6
"""How long its machine may leave what was sent to it without an answer: less than a thread may take for a disk."""

IDLE_S = 6
"""How long a transaction may stand still, in seconds: it takes milliseconds."""

_KEEPALIVES = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""A machine that lost its power is noticed within half a minute, even if nothing is being sent to it."""

PAGE = 1024
"""A commit writes whole pages: small ones spare memory cards more than half of the bytes."""

_BUSY_S = 5
"""How long a connection to SQLite waits for another one's lock."""


class StoreError(Exception):
    """The store cannot be opened; the message says which, and what is wrong with it."""


def engine_for(url: str, **options: Any) -> sa.Engine:
    """Return an engine whose connections to a PostgreSQL fail after seconds, rather than wait for one that is gone.

    What the URL says of that comes first.
    """
    made = sa.make_url(url)
    if made.get_backend_name() == "postgresql" and made.get_driver_name() in ("psycopg", "psycopg2"):
        limits = {"connect_timeout": CONNECT_S, "tcp_user_timeout": 1000 * UNANSWERED_S, **_KEEPALIVES}
        options["connect_args"] = {name: limit for name, limit in limits.items() if name not in made.query}
        engine = sa.create_engine(made, **options)
        sa.event.listen(engine, "connect", _limit_standstills)
        return engine
    return sa.create_engine(made, **options)


def _limit_standstills(connection: Any, record: object) -> None:
    """Let PostgreSQL end the transaction of a companion that stands still, so that others can have what it locks."""
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_S}s'")
    cursor.execute(f"SET lock_timeout = '{IDLE_S + 2}s'")
    cursor.close()
    connection.commit()


def opened(url: str, *, create: bool = True) -> sa.Engine:
    """Return an engine for a database with this release's schema; raises `StoreError`.

    A SQLite file that is missing, now or later, is made unless `create` is false.
    """
    try:
        # A server may be restarted while the companion runs: a connection is tried before it is used.
        engine = engine_for(url, pool_pre_ping=True)
        try:
            if engine.dialect.name == "sqlite":
                if not create and (path := sqlite_path(url)):
                    there = f"{path.absolute().as_uri()}?mode=rw"
                    sa.event.listen(
                        engine, "do_connect", lambda *given: sqlite3.connect(there, uri=True, **given[-1])
                    )
                sa.event.listen(engine, "connect", make_sqlite_durable)
                _settle(engine)
            _check_schema(engine)
            if path := sqlite_path(url):
                make_database_private(path)
        except BaseException:
            engine.dispose()
            raise
    except (sa.exc.SQLAlchemyError, ImportError, UnicodeDecodeError) as error:  # a damaged schema is no text
        raise StoreError(
            f"store is {without_password(url)!r}; expected a database that can be opened ({reason(error)})"
        ) from error
    return engine


def _settle(engine: sa.Engine) -> None:
    """Make the content of SQLite's log durable before anything in it is acknowledged.

    A change during whose sync the process was killed may be seen, and be on no disk: its pages are written again.
    """
    with engine.connect() as connection:
        if connection.exec_driver_sql("PRAGMA wal_checkpoint(FULL)").scalar():
            raise StoreError("store is being read by another program; expected to be alone with it at the start")


def _check_schema(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            wait_to_create(connection)
            PASSING.create_all(connection)
        found = _found_schema(connection)
        if found is None:
            METADATA.create_all(connection)
            about = {"schema": str(SCHEMA), SIGNING_KEY: secrets.token_hex(32)}
            connection.execute(sa.insert(ABOUT), [{"key": key, "value": value} for key, value in about.items()])
        elif found != str(SCHEMA):
            raise StoreError(unknown_schema("store", found))


def unknown_schema(where: object, found: str | None) -> str:
    """Return what is wrong with a database whose schema is not this release's, and what to do.

    >>> unknown_schema("store", "7")
    "store has schema '7'; expected 1: a newer release wrote it. Install that one, or restore a backup of this one"
    """
    if found and found.isdecimal() and int(found) > SCHEMA:
        return (
            f"{where} has schema {found!r}; expected {SCHEMA}: a newer release wrote it. "
            "Install that one, or restore a backup of this one"
        )
    return f"{where} has schema {found!r}; expected {SCHEMA}, the one that this software knows"


def _found_schema(connection: sa.Connection) -> str | None:
    """Return the number of the schema, or None if the database is new, also if its creation was interrupted.

    Raises `StoreError` if a part of the store is missing: nobody would miss what an empty table replaces.
    """
    there = [table for table in METADATA.sorted_tables if sa.inspect(connection).has_table(table.name)]
    about: dict[str, str] = {}
    if ABOUT in there:
        named = sa.select(ABOUT.c.key, ABOUT.c.value).where(ABOUT.c.key.in_(("schema", SIGNING_KEY)))
        about = {row.key: row.value for row in connection.execute(named)}
    found = about.get("schema")
    if found is None and any(connection.execute(sa.select(table).limit(1)).first() for table in there):
        raise StoreError("store has no number of its schema, but rows; expected both or neither: it is damaged")
    lost = [table.name for table in METADATA.sorted_tables if table not in there]
    lost += {SIGNING_KEY} - about.keys()
    if found == str(SCHEMA) and lost:
        raise StoreError(f"store lacks {', '.join(lost)}; expected all of schema {SCHEMA}: it is damaged")
    return found


def wait_to_create(connection: sa.Connection) -> None:
    """Let one program at a time create tables, until its transaction ends: several may start at the same moment."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            sa.text("SELECT pg_advisory_xact_lock(hashtextextended('templo_' || current_schema(), 0))")
        )
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def make_sqlite_durable(connection: Any, record: object) -> None:
    """Let a new connection to SQLite write whatever is committed to the disk."""
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_S * 1000}")
    cursor.execute(f"PRAGMA page_size={PAGE}")
    _write_ahead(cursor)
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _write_ahead(cursor: sqlite3.Cursor) -> None:
    """Switch a database to WAL mode, which several that open a new one at the same moment all try.

    SQLite refuses all but one of them at once, whatever its timeout is.
    """
    until = time.monotonic() + _BUSY_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def sqlite_path(url: str) -> Path | None:
    """Return the file of a SQLite database, or None for other URLs."""
    made = sa.make_url(url)
    named = made.get_backend_name() == "sqlite" and made.database and not made.database.startswith((":", "file:"))
    return Path(made.database) if named and made.database else None


def without_password(url: str) -> str:
    """Return a database's URL, valid or not, without its password."""
    return re.sub(r":(?!//).*@", ":***@", url)


def reason(error: BaseException) -> str:
    """Return a database's error message in one line."""
    return next(iter(str(getattr(error, "orig", None) or error).splitlines()), type(error).__name__)


def code_of(error: BaseException) -> str:
    """Return SQLite's name or PostgreSQL's state of a database's error; empty for other errors."""
    cause = getattr(error, "orig", None) or error
    return getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or ""

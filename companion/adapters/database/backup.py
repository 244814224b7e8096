"""Backs up the whole store into one file and restores it. A backup is a SQLite database, whatever it came from.

A backup can be made while the companion runs; a restore needs the database to itself. It contains tables, seats,
temples and tokens, and with the tables the decks and maps that they were opened with.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from msgspec import Struct

from companion.adapters.database import store_lock
from companion.adapters.database.damage import find_damage
from companion.adapters.database.opening import StoreError, engine_for, sqlite_path, unknown_schema, without_password
from companion.adapters.database.schema import ABOUT, METADATA, QUARANTINE, SCHEMA, TABLES, TEMPLES, TOKENS
from companion.adapters.database.sql_store import SqlStore
from templo.files import draft_beside, sync
from templo.quoting import counted

MADE_AT = "backup_made_at"
"""The row of `about` that makes a database a backup, and says when it was made."""

_ROWS_AT_ONCE = 1000
_COUNTED = {"tables": TABLES, "temples": TEMPLES, "tokens": TOKENS, "held apart": QUARANTINE}


class BackupError(Exception):
    """A backup that cannot be made or read; the message names the file, what is wrong, and what was expected."""


class Backup(Struct, frozen=True):
    """The contents of a backup: when it was made, and how many rows of each kind."""

    made_at: datetime
    rows: Mapping[str, int]

    def summary(self) -> str:
        """Return its contents in words: ``"2 tables, 1 temple, 40 tokens, 0 held apart"``."""
        return ", ".join(counted(count, name.removesuffix("s"), name) for name, count in self.rows.items())


class Restored(Struct, frozen=True):
    """The result of a restore: its contents, and where the replaced database is now, if there was one."""

    backup: Backup
    replaced: Path | None


def back_up(url: str, file: Path, now: datetime) -> Backup:
    """Write the database at `url` into a new file of mode 0600 and return what is in it.

    It is consistent: it contains exactly what was committed at one moment. Raises `BackupError`, also if the file is
    there already, and `StoreError` if the database cannot be read.
    """
    if file.exists():
        raise BackupError(f"{file} is there already; expected the name of a new file")
    with _draft(file) as draft:
        path = sqlite_path(url)
        if path is None:
            _export(url, draft)
        else:
            if not path.exists():
                raise StoreError(f"store is {url!r}; expected a database, and there is none")
            _copy(path, draft)
        with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, which any medium can hold
            copy.execute("DELETE FROM about WHERE key = ?", (MADE_AT,))
            copy.execute(
                "INSERT INTO about VALUES (?, ?)", (MADE_AT, now.astimezone(UTC).isoformat(timespec="seconds"))
            )
        made = examine(draft)
        sync(draft)
        draft.rename(file)
        sync(file.absolute().parent)
    return made


def examine(file: Path) -> Backup:
    """Return a backup's contents; raises `BackupError` if it is no backup, is damaged or has another schema."""
    if not file.is_file():
        raise BackupError(f"{file} is not there; expected a file that 'templo-companion backup' made")
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if verdict != "ok":
                raise BackupError(f"{file} is damaged ({verdict.splitlines()[-1]}); expected an undamaged backup")
            about: dict[str, str] = dict(connection.execute("SELECT key, value FROM about"))
            if MADE_AT not in about:
                raise BackupError(
                    f"{file} is a companion's database; expected a file that 'templo-companion backup' made"
                )
            if (schema := about.get("schema")) != str(SCHEMA):
                raise BackupError(unknown_schema(file, schema))
            rows = {
                name: connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0]  # noqa: S608  # our names
                for name, table in _COUNTED.items()
            }
            return Backup(datetime.fromisoformat(about[MADE_AT]), rows)
    except (sqlite3.DatabaseError, ValueError) as error:
        raise BackupError(
            f"{file} is not a backup ({error}); expected a file that 'templo-companion backup' made"
        ) from None


def newest(folder: Path, url: str) -> tuple[Path, Backup] | None:
    """Return the newest undamaged backup among the ``*.sqlite`` in a folder, without the database at `url` itself."""
    found = []
    for file in folder.glob("*.sqlite"):
        with suppress(BackupError):
            if file != sqlite_path(url) and find_damage(f"sqlite:///{file}") is None:
                found.append((file, examine(file)))
    return max(found, key=lambda each: each[1].made_at, default=None)


def restore(file: Path, url: str, aside: Path, now: datetime) -> Restored:
    """Replace the database at `url` by a backup, as a whole or not at all.

    The replaced database is kept: beside its place if it is SQLite, else as a backup in the folder `aside`. Raises
    `StoreError` if a companion uses the database, and `BackupError`.
    """
    backup = examine(file)
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    with store_lock.hold(url):
        path = sqlite_path(url)
        if path is None:
            replaced = aside / f"replaced-{stamp}.sqlite"
            SqlStore(url).close()  # makes the tables in an empty one
            back_up(url, replaced, now)
            _import(file, url)
        else:
            replaced = path.with_name(f"{path.name}.replaced-{stamp}")
            with _draft(path) as draft:
                _copy(file, draft)
                _make_store(draft)
                found = path.exists()
                if found:
                    _set_aside(path, replaced)
                draft.replace(path)
                sync(path.absolute().parent)
            if not found:
                return Restored(backup, None)
    return Restored(backup, replaced)


@contextmanager
def _draft(file: Path) -> Iterator[Path]:
    """Give a new private file beside another one, removed afterwards if it is still there."""
    try:
        with draft_beside(file) as draft:
            yield draft
    except (sqlite3.Error, OSError) as error:
        raise BackupError(
            f"{file} cannot be written ({error}); expected a folder that can; nothing was changed"
        ) from error


def _copy(source: Path, target: Path) -> None:
    """Copy a SQLite database as of one moment, even if others write to it meanwhile."""
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as read,
        closing(sqlite3.connect(target)) as written,
    ):
        read.backup(written)


def _export(url: str, target: Path) -> None:
    """Copy another database into a SQLite file, in one consistent transaction."""
    try:
        with ExitStack() as engines:
            source = engine_for(url, isolation_level="REPEATABLE READ")
            engines.callback(source.dispose)
            written = _sqlite(target)
            engines.callback(written.dispose)
            METADATA.create_all(written)
            with source.connect() as reading, written.begin() as writing:
                found = reading.execute(sa.select(ABOUT.c.value).where(ABOUT.c.key == "schema")).scalar()
                if found != str(SCHEMA):
                    raise StoreError(unknown_schema("store", found))
                _copy_rows(reading, writing)
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        raise StoreError(
            f"store is {without_password(url)!r}; expected a database that can be read ({error})"
        ) from None


def _import(file: Path, url: str) -> None:
    """Replace every row of another database by those of a backup, in one transaction."""
    with _draft(file) as draft:
        _copy(file, draft)
        _make_store(draft)
        source, target = _sqlite(draft), engine_for(url)
        try:
            with source.connect() as reading, target.begin() as writing:
                for table in reversed(METADATA.sorted_tables):
                    writing.execute(sa.delete(table))
                _copy_rows(reading, writing)
        except sa.exc.SQLAlchemyError as error:
            raise StoreError(
                f"store is {without_password(url)!r}; it took no backup and is unchanged ({error})"
            ) from None
        finally:
            source.dispose()
            target.dispose()


def _make_store(draft: Path) -> None:
    """Make a copy of a backup a store again; raises `StoreError` if a part of it is missing."""
    SqlStore(f"sqlite:///{draft}").close()
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("DELETE FROM about WHERE key = ?", (MADE_AT,))
        connection.execute("PRAGMA journal_mode=DELETE")
    sync(draft)


def _set_aside(path: Path, aside: Path) -> None:
    """Give a database a second name, with everything that was committed to it and without a log."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        pass  # it may be damaged, hence the restore; its log goes with it
    try:
        os.link(path, aside)
    except OSError:  # not every file system has hard links
        shutil.copy2(path, aside)
        sync(aside)
    for ending in ("-wal", "-shm"):
        beside = path.with_name(path.name + ending)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + ending))


def _copy_rows(reading: sa.Connection, writing: sa.Connection) -> None:
    for table in METADATA.sorted_tables:
        found = reading.execution_options(stream_results=True).execute(sa.select(table))
        for rows in found.partitions(_ROWS_AT_ONCE):
            writing.execute(sa.insert(table), [dict(row._mapping) for row in rows])


def _sqlite(path: Path) -> sa.Engine:
    return sa.create_engine(f"sqlite:///{path}")

"""Removes a table with its log, or a person's name, from a store for good. No companion may be running on it.

The tokens of a removed table stay in the store: otherwise a temple that sent one again would make it count twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from msgspec import Struct

from companion.adapters.database import store_lock
from companion.adapters.database.opening import StoreError, engine_for, sqlite_path, without_password
from companion.adapters.database.rows import NOTE
from companion.adapters.database.schema import ABOUT, DECISIONS, ENTRIES, METADATA, OLD, OUTLINES, TABLES
from companion.adapters.database.sql_store import SqlStore
from companion.games.kit import LONGEST_TEXT
from companion.model import rounds
from companion.model.entries import Action, Again, Sit, decode, encode


class Erased(Struct, frozen=True):
    """What an erasure removed: how many rows that name a person, and at which tables."""

    rows: int
    tables: frozenset[str]


def erase_table(url: str, table_id: str) -> None:
    """Remove a table with its log, its seats and everything that is stored about it, and free its temple.

    Decisions about tokens that were made there stay, without the name of the person who decided. Raises `StoreError`.
    """

    def alone(action: Action) -> Action | None:
        return Again("") if action == Again(table_id) else None

    def erase(connection: sa.Connection) -> None:
        _rewrite(connection, "@again", alone)
        connection.execute(sa.update(DECISIONS).where(DECISIONS.c.table_id == table_id), {"name": ""})
        connection.execute(sa.update(OLD).where(OLD.c.table_id == table_id), {"by": ""})
        for table in reversed(METADATA.sorted_tables):
            for column in table.columns:
                if column.references(TABLES.c.id):
                    its = column == table_id
                    connection.execute(
                        sa.delete(table).where(its)
                        if column.primary_key
                        else sa.update(table).where(its).values({column.name: None})
                    )
        connection.execute(sa.delete(TABLES).where(TABLES.c.id == table_id))

    with _alone(url) as change:
        change(erase)


def erase_person(url: str, is_person: Callable[[str], bool]) -> Erased:
    """Remove the names for which `is_person` holds from every log, from decisions about tokens, and from an event.

    Pages and exports then show the seat's name instead. Titles of tables are not changed. Raises `StoreError`.
    """
    rows: list[str | None] = []

    def nameless(action: Action) -> Action | None:
        return Sit(action.seat, "") if isinstance(action, Sit) and is_person(action.name) else None

    def erase(connection: sa.Connection) -> None:
        rows[:] = _rewrite(connection, "@sit", nameless)
        event = sa.select(ABOUT.c.value).where(ABOUT.c.key == f"{NOTE}{rounds.NOTE}")
        if stored := connection.execute(event).scalar():
            after = rounds.encode(rounds.without_person(rounds.decode(stored), is_person))
            if after != stored:
                connection.execute(sa.update(ABOUT).where(ABOUT.c.key == f"{NOTE}{rounds.NOTE}"), {"value": after})
                rows.append(None)
        for table, key, column in ((DECISIONS, DECISIONS.c.token, DECISIONS.c.name), (OLD, OLD.c.source, OLD.c.by)):
            for row in connection.execute(sa.select(key, column, table.c.table_id)).all():
                if is_person(row[1]):
                    connection.execute(sa.update(table).where(key == row[0]), {column.name: ""})
                    rows.append(row.table_id)

    with _alone(url) as change:
        change(erase)
    return Erased(len(rows), frozenset(filter(None, rows)))


def _rewrite(connection: sa.Connection, tag: str, instead: Callable[[Action], Action | None]) -> list[str]:
    """Replace each action with a tag for which `instead` returns another; return the tables."""
    entries = sa.select(ENTRIES.c.table_id, ENTRIES.c.n, ENTRIES.c.move)
    changed: list[str] = []
    for table_id, n, move in connection.execute(
        entries.where(sa.cast(ENTRIES.c.move, sa.String).contains(f'"{tag}"'))
    ).all():
        if (action := instead(decode(move, LONGEST_TEXT))) is not None:
            its = sa.update(ENTRIES).where(ENTRIES.c.table_id == table_id, ENTRIES.c.n == n)
            connection.execute(its, {"move": encode(action)})
            changed.append(table_id)
    for table_id in set(changed):  # lists show data that was derived from the log before the erasure
        connection.execute(sa.delete(OUTLINES).where(OUTLINES.c.table_id == table_id))
    return changed


@contextmanager
def _alone(url: str) -> Iterator[Callable[[Callable[[sa.Connection], None]], None]]:
    """Give a transaction on a database that no companion uses, and leave no removed data in its files."""
    with store_lock.hold(url):
        SqlStore(url).close()  # which refuses one that cannot be used
        engine = engine_for(url)

        def change(erase: Callable[[sa.Connection], None]) -> None:
            with engine.begin() as connection:
                erase(connection)
            if sqlite_path(url):
                # What SQLite deletes stays in free pages and in its log until they are used again.
                with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.exec_driver_sql("VACUUM")
                    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

        try:
            yield change
        except sa.exc.SQLAlchemyError as error:
            raise StoreError(
                f"store is {without_password(url)!r}; expected one that can be changed ({error})"
            ) from None
        finally:
            engine.dispose()

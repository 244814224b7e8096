"""The store: tables, temples and tokens in SQLite, or in any database that SQLAlchemy names by a URL.

It implements the port that `keeping` declares and knows no rule of any game. A change is durable when its
transaction has ended: SQLite runs in WAL mode with ``synchronous=FULL``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from companion.games.kernel import LONGEST_TEXT, Move, Seat
from companion.keeping import KeptToken, MarkRecord, TableRecord, TempleRecord
from companion.schema import (
    ABOUT,
    ENTRIES,
    KEYS,
    METADATA,
    QUARANTINE,
    RESENT,
    SCHEMA,
    SOURCES,
    TABLES,
    TEMPLES,
    TOKENS,
    bring_up,
)
from companion.table import Charter, Entry, HouseError
from controller import wire


def _ids(of: Callable[[sa.ColumnElement[int]], sa.ColumnElement[bool]]) -> sa.CompoundSelect[tuple[int, str]]:
    """Return a query for the ids of a source's tokens with such numbers, those sent again under it among them."""
    own, resent = (
        sa.select(table.c.seq, table.c.token).where(table.c.source == sa.bindparam("source"), of(table.c.seq))
        for table in (TOKENS, RESENT)
    )
    return own.union_all(resent)


# Made once: a token alone in its batch waits longer for its queries to be put together than for their answers.
_IDS_OF = _ids(lambda seq: seq.in_(sa.bindparam("seqs", expanding=True)))
_IDS_FROM = _ids(lambda seq: seq >= sa.bindparam("mark"))
_STORED = sa.select(TOKENS.c.token).where(TOKENS.c.token.in_(sa.bindparam("ids", expanding=True)))


class StoreError(Exception):
    """The store cannot be opened; the message says which, and what is wrong with it."""


class SqlStore:
    """The port of `keeping.Store` over one database."""

    def __init__(self, url: str) -> None:
        """Open the database and make what is missing; raises `StoreError`."""
        try:
            # A server may be started anew while the companion runs: a connection is tried before it is used.
            self._engine = sa.create_engine(url, pool_pre_ping=True)
            if self._engine.dialect.name == "sqlite":
                sa.event.listen(self._engine, "connect", _make_sqlite_durable)
            try:
                if self._engine.dialect.name == "sqlite":
                    self._settle()
                self._check_schema()
            except BaseException:
                self._engine.dispose()
                raise
        except (sa.exc.SQLAlchemyError, ImportError) as error:
            raise StoreError(
                f"store is {_shown(url)!r}; expected a database that can be opened ({_reason(error)})"
            ) from error

    def _settle(self) -> None:
        """Make durable what is found in SQLite's log before anything is acknowledged because it is there already.

        A change during whose sync the process was killed may be seen, and be on no disk: its pages are written again.
        """
        with self._engine.connect() as connection:
            if connection.exec_driver_sql("PRAGMA wal_checkpoint(FULL)").scalar():
                raise StoreError("store is being read by another program; expected to be alone with it at the start")

    def _check_schema(self) -> None:
        with self._engine.begin() as connection:
            METADATA.create_all(connection)
            found = connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.key == "schema")).scalar()
            if found is None:
                connection.execute(sa.insert(ABOUT), {"key": "schema", "value": str(SCHEMA)})
                return
            if found not in map(str, range(1, SCHEMA + 1)):
                raise StoreError(f"store has schema {found!r}; expected {SCHEMA}, the one that this software knows")
            bring_up(connection, int(found))

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """Begin a change; leaving the block commits it, an exception rolls it back.

        Raises `HouseError` ``store_failing`` where the database refused.
        """
        try:
            with self._engine.begin() as connection:
                yield SqlTransaction(connection)
        except sa.exc.DBAPIError as error:
            raise HouseError("store_failing", reason=_reason(error)) from error

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        """Read; raises `HouseError` ``store_failing`` where the database refuses."""
        try:
            with self._engine.connect() as connection:
                yield connection
        except sa.exc.DBAPIError as error:
            raise HouseError("store_failing", reason=_reason(error)) from error

    def tables(self) -> list[TableRecord]:
        """Return every table, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(sa.select(TABLES).order_by(TABLES.c.opened_at, TABLES.c.id)).all()
            return [self._table(connection, row) for row in rows]

    def _table(self, connection: sa.Connection, row: sa.Row[Any]) -> TableRecord:
        fields = dict(row._mapping)
        fields["seats"] = tuple(fields["seats"])
        keys = connection.execute(sa.select(KEYS).where(KEYS.c.table_id == row.id))
        return TableRecord(
            Charter(**fields),
            self._log(connection, row.id),
            {each.seat: each.sha256 for each in keys},
        )

    def _log(self, connection: sa.Connection, table_id: str) -> tuple[Entry, ...]:
        rows = connection.execute(sa.select(ENTRIES).where(ENTRIES.c.table_id == table_id).order_by(ENTRIES.c.n))
        return tuple(
            Entry(row.n, row.at, row.by, Move.from_json(row.move, LONGEST_TEXT), row.request, row.hand)
            for row in rows
        )

    def entries(self, table_id: str) -> tuple[Entry, ...]:
        """Return a table's whole log, in order."""
        with self._reading() as connection:
            return self._log(connection, table_id)

    def temples(self) -> list[TempleRecord]:
        """Return every temple that was ever heard of, by name."""
        with self._reading() as connection:
            rows = connection.execute(sa.select(TEMPLES).order_by(TEMPLES.c.name))
            return [TempleRecord(**row._mapping) for row in rows]

    def marks(self) -> dict[str, MarkRecord]:
        """Return for each source how far its tokens are stored."""
        with self._reading() as connection:
            sources = connection.execute(sa.select(SOURCES)).all()
            return {row.source: self._mark(connection, row.source, row.mark) for row in sources}

    def _mark(self, connection: sa.Connection, source: str, mark: int) -> MarkRecord:
        rows = connection.execute(_IDS_FROM, {"source": source, "mark": mark})
        ids = {row.seq: row.token for row in rows}
        return MarkRecord(mark, ids.pop(mark, ""), ids)

    def recent(self, temple: str, limit: int) -> tuple[KeptToken, ...]:
        """Return a temple's last tokens, newest first."""
        newest = sa.select(TOKENS).where(TOKENS.c.temple == temple)
        newest = newest.order_by(TOKENS.c.received_at.desc(), TOKENS.c.seq.desc()).limit(limit)
        with self._reading() as connection:
            return tuple(_kept(row) for row in connection.execute(newest))

    def totals(self, temple: str) -> dict[wire.God, int]:
        """Return how many tokens of each god were kept from a temple, tests left out."""
        totals = dict.fromkeys(wire.God, 0)
        query = sa.select(TOKENS.c.god, TOKENS.c.flags, sa.func.count()).where(TOKENS.c.temple == temple)
        with self._reading() as connection:
            for god, flags, count in connection.execute(query.group_by(TOKENS.c.god, TOKENS.c.flags)):
                if wire.Flag.TEST not in flags.split():
                    totals[wire.God(god)] += count
        return totals

    def quarantined(self, temple: str) -> int:
        """Return how many of a temple's tokens are held apart."""
        query = sa.select(sa.func.count()).select_from(QUARANTINE).where(QUARANTINE.c.temple == temple)
        with self._reading() as connection:
            return connection.execute(query).scalar_one()

    def arrived(self, source: str) -> dict[wire.God, int]:
        """Return how many tokens of each god were kept from one ledger, tests among them."""
        by_god = sa.select(TOKENS.c.god, sa.func.count()).group_by(TOKENS.c.god)
        own = by_god.where(TOKENS.c.source == source)
        resent = by_god.join(RESENT, RESENT.c.token == TOKENS.c.token).where(RESENT.c.source == source)
        counts = dict.fromkeys(wire.God, 0)
        with self._reading() as connection:
            for god, count in connection.execute(own.union_all(resent)):
                counts[wire.God(god)] += count
        return counts

    def fallen(self, table_id: str) -> tuple[KeptToken, ...]:
        """Return the tokens that were kept for a table, ledger by ledger, each in the order of its numbers."""
        query = sa.select(TOKENS).where(TOKENS.c.table_id == table_id).order_by(TOKENS.c.seq)
        with self._reading() as connection:
            kept = [_kept(row) for row in connection.execute(query)]
        begun: dict[str, datetime] = {}
        for each in kept:
            begun.setdefault(each.token.source, each.received_at)
        # Stable: within one ledger the numbers alone order, for any clock may have been set meanwhile.
        return tuple(sorted(kept, key=lambda each: (begun[each.token.source], each.token.source)))


class SqlTransaction:
    """The port of `keeping.Transaction` over one connection that has begun."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def add_table(self, charter: Charter) -> None:
        """Enter a new table."""
        fields = {name: getattr(charter, name) for name in Charter.__slots__}
        fields |= {"seats": list(charter.seats), "options": dict(charter.options)}
        self._connection.execute(sa.insert(TABLES), fields)

    def append(self, table_id: str, entry: Entry) -> None:
        """Enter the next line of a table's log."""
        self._connection.execute(
            sa.insert(ENTRIES),
            {
                "table_id": table_id,
                "n": entry.n,
                "at": entry.at,
                "by": entry.by,
                "move": entry.move.to_json(),
                "request": entry.request,
                "hand": entry.hand,
            },
        )

    def set_keys(self, table_id: str, keys: Mapping[Seat, str]) -> None:
        """Replace who holds the chairs of a table."""
        self._connection.execute(sa.delete(KEYS).where(KEYS.c.table_id == table_id))
        if keys:
            rows = [{"table_id": table_id, "seat": seat, "sha256": digest} for seat, digest in keys.items()]
            self._connection.execute(sa.insert(KEYS), rows)

    def set_temple(self, temple: TempleRecord) -> None:
        """Enter a temple, or what changed about it."""
        fields = {"source": temple.source, "table_id": temple.table_id}
        changed = self._connection.execute(sa.update(TEMPLES).where(TEMPLES.c.name == temple.name), fields)
        if not changed.rowcount:
            self._connection.execute(sa.insert(TEMPLES), {"name": temple.name, **fields})

    def token_ids(self, source: str, seqs: Sequence[int]) -> dict[int, str]:
        """Return the ids of the tokens that are stored under these numbers of a source."""
        rows = self._connection.execute(_IDS_OF, {"source": source, "seqs": seqs})
        return {row.seq: row.token for row in rows}

    def stored(self, ids: Sequence[str]) -> set[str]:
        """Return those of these token ids that are stored, under whatever number of whatever source."""
        return set(self._connection.execute(_STORED, {"ids": ids}).scalars())

    def keep(self, tokens: Sequence[KeptToken]) -> None:
        """Keep tokens whose numbers are new."""
        if tokens:
            rows = [{**_fields(kept), "table_id": kept.table_id} for kept in tokens]
            self._connection.execute(sa.insert(TOKENS), rows)

    def keep_numbers(self, tokens: Sequence[wire.Token]) -> None:
        """Enter further numbers of tokens that are stored under other ones."""
        if tokens:
            rows = [{"source": token.source, "seq": token.seq, "token": token.token} for token in tokens]
            self._connection.execute(sa.insert(RESENT), rows)

    def quarantine(self, tokens: Sequence[KeptToken]) -> int:
        """Hold apart tokens whose numbers are taken by others; returns how many were not held apart before."""
        known = sa.select(sa.literal(1)).where(
            QUARANTINE.c.source == sa.bindparam("s"),
            QUARANTINE.c.seq == sa.bindparam("n"),
            QUARANTINE.c.token == sa.bindparam("t"),
        )
        new = 0
        for kept in tokens:
            key = {"s": kept.token.source, "n": kept.token.seq, "t": kept.token.token}
            if self._connection.execute(known, key).scalar() is None:
                self._connection.execute(sa.insert(QUARANTINE), _fields(kept))
                new += 1
        return new

    def set_mark(self, source: str, temple: str, seq: int) -> None:
        """Raise the number up to which a source's tokens are kept without a gap."""
        raised = sa.update(SOURCES).where(SOURCES.c.source == source)
        if not self._connection.execute(raised, {"mark": seq}).rowcount:
            self._connection.execute(sa.insert(SOURCES), {"source": source, "temple": temple, "mark": seq})


def _fields(kept: KeptToken) -> dict[str, Any]:
    token = kept.token
    return {
        "source": token.source,
        "seq": token.seq,
        "token": token.token,
        "temple": kept.temple,
        "god": str(token.god),
        "at": token.at,
        "width_ms": token.width_ms,
        "flags": " ".join(sorted(token.flags)),
        "replayed": token.replayed,
        "received_at": kept.received_at,
    }


def _kept(row: sa.Row[Any]) -> KeptToken:
    token = wire.Token(
        source=row.source,
        seq=row.seq,
        token=row.token,
        god=wire.God(row.god),
        at=row.at,
        width_ms=row.width_ms,
        flags=frozenset(row.flags.split()),
        replayed=row.replayed,
    )
    return KeptToken(row.temple, token, row.received_at, row.table_id)


def _make_sqlite_durable(connection: Any, record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA busy_timeout=5000")
    cursor.close()


def _shown(url: str) -> str:
    """Return a database's URL, or what should have been one, without its password."""
    return re.sub(r":(?!//).*@", ":***@", url)


def _reason(error: BaseException) -> str:
    return str(getattr(error, "orig", None) or error).splitlines()[0]

"""The store: tables, temples and tokens in SQLite, or in another database that SQLAlchemy addresses by a URL.

It implements the port of `companion.model.ports`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from msgspec.structs import replace

from companion.adapters.database.opening import code_of, opened, reason
from companion.adapters.database.rows import NOTE, read_charter, read_token
from companion.adapters.database.schema import (
    ABOUT,
    DECISIONS,
    DOUBTED,
    DOUBTS,
    ENTRIES,
    KEYS,
    OLD,
    OUTLINES,
    QUARANTINE,
    RESENT,
    SIGNING_KEY,
    SOURCES,
    TABLES,
    TEMPLES,
    TOKENS,
)
from companion.adapters.database.transaction import SqlTransaction, unassigned
from companion.games.kit import LONGEST_TEXT, Seat
from companion.model.entries import decode
from companion.model.ports import (
    COUNTED,
    HISTORY,
    Conflict,
    Decision,
    KnownTokens,
    MarkRecord,
    OldTokens,
    OutlineRecord,
    StoredToken,
    TableRecord,
    TempleRecord,
)
from companion.model.table import Charter, Entry, ServiceError
from templo import contract

_IS_OLD = sa.and_(OLD.c.source == TOKENS.c.source, TOKENS.c.seq <= OLD.c.through, TOKENS.c.replayed)
_OF_DECISION = DECISIONS.c.token == QUARANTINE.c.token
_UNDECIDED = ~sa.exists().where(_OF_DECISION)


def _ids(of: Callable[[sa.ColumnElement[int]], sa.ColumnElement[bool]]) -> sa.CompoundSelect[tuple[int, str]]:
    """Return a query for the ids of a source's tokens with some numbers, including tokens resent under it."""
    own, resent = (
        sa.select(table.c.seq, table.c.token).where(table.c.source == sa.bindparam("source"), of(table.c.seq))
        for table in (TOKENS, RESENT)
    )
    return own.union_all(resent)


def _kind(name: str) -> sa.ColumnElement[str]:
    return sa.literal_column(f"'{name}'", sa.String).label("kind")


# Built once: for a single token, building the queries takes longer than running them.
_IDS_OF = _ids(lambda seq: seq.in_(sa.bindparam("seqs", expanding=True)))
_IDS_FROM = _ids(lambda seq: seq >= sa.bindparam("mark"))
_IDS: sa.BindParameter[list[str]] = sa.bindparam("ids", expanding=True)
_OF_IDS = sa.union_all(
    sa.select(_kind("stored"), TOKENS.c.token, sa.literal_column("''", sa.String).label("fact")).where(
        TOKENS.c.token.in_(_IDS)
    ),
    sa.select(_kind("held"), QUARANTINE.c.token, DECISIONS.c.verdict)
    .select_from(QUARANTINE.outerjoin(DECISIONS, _OF_DECISION))
    .where(QUARANTINE.c.token.in_(_IDS)),
    sa.select(_kind("doubted"), DOUBTED.c.token, DOUBTED.c.reason).where(DOUBTED.c.token.in_(_IDS)),
)
"""Which tokens are stored, were ever held apart, with the verdict, and are doubted, with the reason."""
_LAST_DOUBT = sa.select(sa.func.max(DOUBTS.c.number)).where(DOUBTS.c.source == sa.bindparam("source"))

_CURRENT_OUTLINES = (
    sa.select(TABLES, OUTLINES.c.version, OUTLINES.c.summary)
    .join_from(TABLES, OUTLINES)
    .where(~sa.exists().where(ENTRIES.c.table_id == TABLES.c.id, ENTRIES.c.n > OUTLINES.c.version))
)


_ANOTHER_WAS_FIRST = frozenset(
    {"SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_ROWID", "23505", "40001", "40P01"}
)
"""SQLite's names and PostgreSQL's states of errors caused by another writer that took a number or a row."""

_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ")
"""How the names of SQLite's errors begin that a file causes whose content is damaged."""

_FAILURES = (sa.exc.DBAPIError, sa.exc.TimeoutError)
"""What the database refuses, and that no connection became free in time."""


class SqlStore:
    """The port `Store` over one database."""

    def __init__(self, url: str, *, create: bool = True) -> None:
        """Open the database, creating its schema in an empty one; raises `StoreError`.

        A SQLite file that is missing, now or later, is made unless `create` is false.
        """
        self._engine = opened(url, create=create)
        self.on_damage: Callable[[str], None] = lambda problem: None
        """Called in any thread, with SQLite's words, when the file proves to be damaged; must not block."""
        self._thread = threading.local()
        # SQLite allows one writer at a time: writers queue here, while SQLite would let them sleep and retry.
        self._write_lock: AbstractContextManager[object] = nullcontext()
        if self._engine.dialect.name == "sqlite":
            self._write_lock = threading.Lock()

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """Begin a change; leaving the block commits it, an exception rolls it back.

        Raises `Conflict` if another writer was first, `ServiceError` ``store_failing`` if the database refused.
        """
        try:
            with self._write_lock, self._engine.begin() as connection:
                yield SqlTransaction(connection)
        except _FAILURES as error:
            if code_of(error) in _ANOTHER_WAS_FIRST:
                raise Conflict(reason(error)) from error
            raise self._failing(error) from error

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read within the block by one connection, which costs more to take and give back than most queries do."""
        before = getattr(self._thread, "connection", None)
        with self._reading() as connection:
            self._thread.connection = connection
            try:
                yield
            finally:
                self._thread.connection = before

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        """Read; raises `ServiceError` ``store_failing`` if the database refuses."""
        try:
            if (ours := getattr(self._thread, "connection", None)) is not None:
                yield ours
            else:
                with self._engine.connect() as connection:
                    yield connection
        except _FAILURES as error:
            raise self._failing(error) from error

    def _failing(self, error: sa.exc.SQLAlchemyError) -> ServiceError:
        if code_of(error).startswith(_DAMAGED):
            self.on_damage(reason(error))
        return ServiceError("store_failing", reason=reason(error))

    def _rows(self, query: sa.Executable) -> Sequence[Any]:
        with self._reading() as connection:
            return connection.execute(query).all()

    def signing_key(self) -> bytes:
        """Return the 32 bytes with which this companion signs what browsers keep."""
        return bytes.fromhex(self._about(SIGNING_KEY))

    def note(self, name: str) -> str:
        """Return a note about this companion, or an empty string."""
        return self._about(f"{NOTE}{name}")

    def _about(self, key: str) -> str:
        with self._reading() as connection:
            return connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.key == key)).scalar() or ""

    def tables(self, without: Collection[str] = ()) -> list[TableRecord]:
        """Return every table except those with these ids, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(sa.select(TABLES).order_by(TABLES.c.opened_at, TABLES.c.id)).all()
            return [
                TableRecord(read_charter(row), self._log(connection, row.id, 0), self._keys(connection, row.id))
                for row in rows
                if row.id not in without
            ]

    def charters(self, only: Collection[str] | None = None, without: Collection[str] = ()) -> list[Charter]:
        """Return the charters of all tables, or of those in `only`, except those in `without`."""
        ids = {row.id for row in self._rows(sa.select(TABLES.c.id))} if only is None else set(only)
        missing = ids - set(without)
        if not missing:
            return []
        return [read_charter(row) for row in self._rows(sa.select(TABLES).where(TABLES.c.id.in_(missing)))]

    def outlines(self) -> list[OutlineRecord]:
        """Return the outlines of tables whose logs have not grown since they were stored."""
        with self._reading() as connection:
            keys: dict[str, dict[Seat, str]] = {}
            for row in connection.execute(sa.select(KEYS)):
                keys.setdefault(row.table_id, {})[row.seat] = row.sha256
            return [
                OutlineRecord(read_charter(row), row.version, row.summary, keys.get(row.id, {}))
                for row in connection.execute(_CURRENT_OUTLINES)
            ]

    def _keys(self, connection: sa.Connection, table_id: str) -> dict[Seat, str]:
        rows = connection.execute(sa.select(KEYS).where(KEYS.c.table_id == table_id))
        return {row.seat: row.sha256 for row in rows}

    def _log(self, connection: sa.Connection, table_id: str, after: int) -> tuple[Entry, ...]:
        log = sa.select(ENTRIES).where(ENTRIES.c.table_id == table_id, ENTRIES.c.n > after)
        rows = connection.execute(log.order_by(ENTRIES.c.n))
        return tuple(
            Entry(row.n, row.at, row.by, decode(row.move, LONGEST_TEXT), row.request, row.hand) for row in rows
        )

    def entries(self, table_id: str, after: int = 0) -> tuple[Entry, ...]:
        """Return a table's log in order, beginning after the entry with the number `after`."""
        with self._reading() as connection:
            return self._log(connection, table_id, after)

    def keys(self, table_id: str) -> dict[Seat, str]:
        """Return the phones that hold the chairs of a table."""
        with self._reading() as connection:
            return self._keys(connection, table_id)

    def known(self, tokens: Sequence[contract.Token]) -> KnownTokens:
        """Return what is already stored of these tokens, and under their numbers."""
        with self._reading() as connection:
            ids: dict[str, dict[int, str]] = {}
            for source in {token.source for token in tokens}:
                seqs = sorted({token.seq for token in tokens if token.source == source})
                rows = connection.execute(_IDS_OF, {"source": source, "seqs": seqs})
                ids[source] = {row.seq: row.token for row in rows}
            new = {"ids": [token.token for token in tokens if ids[token.source].get(token.seq) != token.token]}
            if not new["ids"]:
                return KnownTokens(ids, set(), {}, {})
            found: dict[str, dict[str, str]] = {"stored": {}, "held": {}, "doubted": {}}
            for kind, token, fact in connection.execute(_OF_IDS, new):
                found[kind][token] = fact or ""
            return KnownTokens(ids, set(found["stored"]), found["held"], found["doubted"])

    def tokens(self, ids: Collection[str]) -> tuple[StoredToken, ...]:
        """Return the stored tokens with these ids, in the order of their numbers."""
        query = sa.select(TOKENS).where(TOKENS.c.token.in_(ids)).order_by(TOKENS.c.seq)
        return tuple(map(read_token, self._rows(query)))

    def temples(self) -> list[TempleRecord]:
        """Return every stored temple, by name."""
        return [TempleRecord(**row._mapping) for row in self._rows(sa.select(TEMPLES).order_by(TEMPLES.c.name))]

    def marks(self, temples: Collection[str] | None = None, sources: Collection[str] = ()) -> dict[str, MarkRecord]:
        """Return how far the tokens of each source are stored, for all temples, or for some and these sources."""
        with self._reading() as connection:
            rows = connection.execute(_sources_of(temples, sources)).all()
            return {row.source: self._mark(connection, row.source, row.mark) for row in rows}

    def _mark(self, connection: sa.Connection, source: str, mark: int) -> MarkRecord:
        rows = connection.execute(_IDS_FROM, {"source": source, "mark": mark})
        ids = {row.seq: row.token for row in rows}
        doubts = connection.execute(_LAST_DOUBT, {"source": source}).scalar() or 0
        return MarkRecord(mark, ids.pop(mark, ""), ids, doubts)

    def recent(self, temple: str, limit: int) -> tuple[StoredToken, ...]:
        """Return a temple's last tokens, newest first, without the old ones."""
        newest = sa.select(TOKENS).where(TOKENS.c.temple == temple, ~sa.exists().where(_IS_OLD))
        newest = newest.order_by(*(TOKENS.c[name].desc() for name in ("received_at", "seq", "source"))).limit(limit)
        return tuple(map(read_token, self._rows(newest)))

    def totals(self, temple: str) -> dict[contract.God, int]:
        """Return how many tokens of each god are stored from a temple, without tests and excluded old ones."""
        totals = dict.fromkeys(contract.God, 0)
        left_out = sa.exists().where(_IS_OLD, OLD.c.choice.not_in((HISTORY, COUNTED)))
        query = sa.select(TOKENS.c.god, TOKENS.c.flags, sa.func.count()).where(TOKENS.c.temple == temple, ~left_out)
        for god, flags, count in self._rows(query.group_by(TOKENS.c.god, TOKENS.c.flags)):
            if contract.Flag.TEST not in flags.split():
                totals[contract.God(god)] += count
        return totals

    def quarantined(self, temple: str) -> int:
        """Return how many of a temple's tokens are held apart and undecided."""
        return self._number_of_held(QUARANTINE.c.temple == temple, _UNDECIDED)

    def ever_quarantined(self, temple: str) -> int:
        """Return how many of a temple's tokens were ever held apart, decided or not."""
        return self._number_of_held(QUARANTINE.c.temple == temple)

    def _number_of_held(self, *only: sa.ColumnElement[bool]) -> int:
        with self._reading() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(QUARANTINE).where(*only)).scalar_one()

    def held(self, temple: str, limit: int) -> tuple[StoredToken, ...]:
        """Return a temple's tokens that are held apart and undecided, in order of arrival."""
        query = sa.select(QUARANTINE).where(QUARANTINE.c.temple == temple, _UNDECIDED).limit(limit)
        query = query.order_by(QUARANTINE.c.received_at, QUARANTINE.c.source, QUARANTINE.c.seq)
        return tuple(map(read_token, self._rows(query)))

    def decided(self, temple: str, limit: int) -> tuple[Decision, ...]:
        """Return the last decisions about a temple's tokens held apart, newest first."""
        return tuple(map(_decision, self._rows(_decisions(QUARANTINE.c.temple == temple).limit(limit))))

    def sources(self, temples: Collection[str] | None = None, sources: Collection[str] = ()) -> dict[str, str]:
        """Return the temple of each source, for all temples, or for some and these sources."""
        return {row.source: row.temple for row in self._rows(_sources_of(temples, sources))}

    def old(self) -> list[OldTokens]:
        """Return the old tokens of every source that has any."""
        return [OldTokens(**row._mapping) for row in self._rows(sa.select(OLD))]

    def old_tokens(self, old: OldTokens) -> tuple[StoredToken, ...]:
        """Return the old tokens that have arrived and belong to no table, in the order of their numbers."""
        return tuple(map(read_token, self._rows(unassigned(old))))

    def source_totals(self, source: str) -> dict[contract.God, int]:
        """Return how many tokens of each god are stored from one source, including tests."""
        by_god = sa.select(TOKENS.c.god, sa.func.count()).group_by(TOKENS.c.god)
        own = by_god.where(TOKENS.c.source == source)
        resent = by_god.join(RESENT, RESENT.c.token == TOKENS.c.token).where(RESENT.c.source == source)
        counts = dict.fromkeys(contract.God, 0)
        for god, count in self._rows(own.union_all(resent)):
            counts[contract.God(god)] += count
        return counts

    def table_tokens(self, table_id: str) -> tuple[StoredToken, ...]:
        """Return the tokens of a table, source by source, in the order of their numbers."""
        query = sa.select(TOKENS).where(TOKENS.c.table_id == table_id).order_by(TOKENS.c.seq)
        counted = _decisions(DECISIONS.c.table_id == table_id, DECISIONS.c.verdict == COUNTED)
        with self._reading() as connection:
            tokens = [read_token(row) for row in connection.execute(query)]
            tokens += [_decision(row).stored for row in connection.execute(counted)]
        begun: dict[str, datetime] = {}
        for each in tokens:
            begun.setdefault(each.token.source, each.received_at)
        # Within one ledger only the numbers give the order, as clocks may have been set meanwhile.
        return tuple(sorted(tokens, key=lambda each: (begun[each.token.source], each.token.source, each.token.seq)))


def _sources_of(temples: Collection[str] | None, sources: Collection[str]) -> sa.Select[Any]:
    query = sa.select(SOURCES)
    return query if temples is None else query.where(SOURCES.c.temple.in_(temples) | SOURCES.c.source.in_(sources))


def _decisions(*only: sa.ColumnElement[bool]) -> sa.Select[Any]:
    columns = [column.label(f"decided_{column.name}") for column in DECISIONS.c]
    query = sa.select(QUARANTINE, *columns).join(DECISIONS, _OF_DECISION).where(*only)
    return query.order_by(DECISIONS.c.at.desc(), QUARANTINE.c.received_at.desc(), QUARANTINE.c.seq.desc())


def _decision(row: sa.Row[Any]) -> Decision:
    stored = replace(read_token(row), table_id=row.decided_table_id)
    return Decision(
        stored,
        row.decided_verdict,
        row.decided_at,
        row.decided_by,
        row.decided_name,
        row.decided_table_id,
        row.decided_seat,
    )

"""The store: tables, temples and tokens in SQLite, or in any database that SQLAlchemy names by a URL.

It implements the port of `companion.model.ports` and knows no rule of any game. A change is durable when its
transaction has ended: SQLite runs in WAL mode with ``synchronous=FULL``.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from companion.adapters.database.schema import (
    ABOUT,
    DECISIONS,
    ENTRIES,
    KEYS,
    METADATA,
    OLD,
    OUTLINES,
    PASSING,
    QUARANTINE,
    REQUESTS,
    RESENT,
    SCHEMA,
    SOURCES,
    TABLES,
    TEMPLES,
    TOKENS,
    bring_up,
)
from companion.games.kit import LONGEST_TEXT, Seat
from companion.model.entries import decode, encode
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
from templo.files import draft_beside, make_database_private, sync

_IS_OLD = sa.and_(OLD.c.source == TOKENS.c.source, TOKENS.c.seq <= OLD.c.through, TOKENS.c.replayed)
_OF_DECISION = DECISIONS.c.token == QUARANTINE.c.token
_UNDECIDED = ~sa.exists().where(_OF_DECISION)


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
_APPEND = sa.insert(ENTRIES)
CHANNEL = "'templo_' || md5(current_schema())"
"""The SQL of the name of the channel on which the companions of one PostgreSQL announce their changes."""

_ANNOUNCE = sa.text(
    f"SELECT pg_notify({CHANNEL}, topic) FROM unnest(CAST(:announced AS text[])) AS topic"  # noqa: S608  # our name
)
_HELD = (
    sa.select(QUARANTINE.c.token, DECISIONS.c.verdict)
    .select_from(QUARANTINE.outerjoin(DECISIONS, _OF_DECISION))
    .where(QUARANTINE.c.token.in_(sa.bindparam("ids", expanding=True)))
)

_CURRENT_OUTLINES = (
    sa.select(TABLES, OUTLINES.c.version, OUTLINES.c.summary)
    .join_from(TABLES, OUTLINES)
    .where(~sa.exists().where(ENTRIES.c.table_id == TABLES.c.id, ENTRIES.c.n > OUTLINES.c.version))
)

_FIRST_CAME_ANOTHER = frozenset(
    {"SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_ROWID", "23505", "40001", "40P01"}
)
"""SQLite's names and PostgreSQL's states of an error that another writer caused: a number or a row that it took."""


class StoreError(Exception):
    """The store cannot be opened; the message says which, and what is wrong with it."""


def copy_before(path: Path, schema: int) -> Path:
    """Return where a SQLite database is copied to before it is changed to a schema."""
    return path.with_name(f"{path.name}.before-schema-{schema}")


def _copy_earlier_schema(path: Path) -> None:
    """Copy a database that has an earlier schema, whole and durable; raises `StoreError` where that fails.

    The copy is named after the first schema that the earlier release does not know, so that this release finds it.
    A copy that is there already is replaced: it was made before a start that came to nothing, or before a downgrade.
    """
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            try:
                row = connection.execute("SELECT value FROM about WHERE key = 'schema'").fetchone()
            except sqlite3.Error:
                return  # it is no store, or is damaged: whoever opens it next says so
            if row is None or row[0] not in map(str, range(1, SCHEMA)):
                return
            kept = copy_before(path, int(row[0]) + 1)
            with draft_beside(kept) as draft:
                with closing(sqlite3.connect(draft)) as copy:
                    connection.backup(copy)
                    copy.execute("PRAGMA journal_mode = DELETE")
                sync(draft)
                draft.replace(kept)
                sync(kept.absolute().parent)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"store {path} has an earlier schema and cannot be copied before it is changed ({error}); "
            "expected room for a second one beside it"
        ) from error


class SqlStore:
    """The port `Store` over one database."""

    def __init__(self, url: str, *, copy_first: bool = True) -> None:
        """Open the database and make what is missing; raises `StoreError`.

        Before the schema of an earlier release changes, a SQLite database is copied beside itself, unless
        `copy_first` is false.
        """
        try:
            if copy_first and (path := sqlite_path(url)):
                _copy_earlier_schema(path)
            # A server may be restarted while the companion runs: a connection is tried before it is used.
            self._engine = sa.create_engine(url, pool_pre_ping=True)
            # SQLite has one writer at a time: here they wait in line, where it would let them sleep and try again.
            self._line: AbstractContextManager[object] = nullcontext()
            if self._engine.dialect.name == "sqlite":
                self._line = threading.Lock()
                sa.event.listen(self._engine, "connect", _make_sqlite_durable)
            try:
                if self._engine.dialect.name == "sqlite":
                    self._settle()
                self._check_schema()
                if path := sqlite_path(url):
                    make_database_private(path)
            except BaseException:
                self._engine.dispose()
                raise
        except (sa.exc.SQLAlchemyError, ImportError) as error:
            raise StoreError(
                f"store is {without_password(url)!r}; expected a database that can be opened ({_reason(error)})"
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
            if connection.dialect.name == "postgresql":  # others may start at the same moment
                connection.execute(sa.text(f"SELECT pg_advisory_xact_lock(hashtextextended({CHANNEL}, 0))"))
                PASSING.create_all(connection)
            METADATA.create_all(connection)
            found = connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.key == "schema")).scalar()
            if found is None:
                connection.execute(sa.insert(ABOUT), {"key": "schema", "value": str(SCHEMA)})
                return
            if found not in map(str, range(1, SCHEMA + 1)):
                known = f"expected {SCHEMA}, the one that this software knows"
                raise StoreError(f"store has schema {found!r}; {known}{self._way_back()}")
            bring_up(connection, int(found))

    def _way_back(self) -> str:
        """Return what helps after a downgrade: the newer release, or the copy that it made at its first start."""
        path = sqlite_path(str(self._engine.url.render_as_string(hide_password=False)))
        copy = path and copy_before(path, SCHEMA + 1)
        if not copy or not copy.exists():
            return ""
        return (
            f". Install the newer release again, or go back to {copy}, made before the update: stop the companion, "
            f"move {path} and its -wal and -shm elsewhere and that file to {path}; actions since then are lost"
        )

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """Begin a change; leaving the block commits it, an exception rolls it back.

        Raises `Conflict` where another writer was first, `ServiceError` ``store_failing`` where the database refused.
        """
        try:
            with self._line, self._engine.begin() as connection:
                yield SqlTransaction(connection)
        except sa.exc.DBAPIError as error:
            if _code(error) in _FIRST_CAME_ANOTHER:
                raise Conflict(_reason(error)) from error
            raise ServiceError("store_failing", reason=_reason(error)) from error

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        """Read; raises `ServiceError` ``store_failing`` where the database refuses."""
        try:
            with self._engine.connect() as connection:
                yield connection
        except sa.exc.DBAPIError as error:
            raise ServiceError("store_failing", reason=_reason(error)) from error

    def _rows(self, query: sa.Executable) -> Sequence[Any]:
        with self._reading() as connection:
            return connection.execute(query).all()

    def secret(self, name: str) -> str:
        """Return a secret of this companion, or nothing where none was entered under that name."""
        with self._reading() as connection:
            return connection.execute(sa.select(ABOUT.c.value).where(ABOUT.c.key == name)).scalar() or ""

    def note(self, name: str) -> str:
        """Return what was stored about this companion under a name, or nothing."""
        return self.secret(f"{NOTE}{name}")

    def tables(self, without: Collection[str] = ()) -> list[TableRecord]:
        """Return every table but those with these ids, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(sa.select(TABLES).order_by(TABLES.c.opened_at, TABLES.c.id)).all()
            return [
                TableRecord(_charter(row), self._log(connection, row.id, 0), self._keys(connection, row.id))
                for row in rows
                if row.id not in without
            ]

    def charters(self, only: Collection[str] | None = None, without: Collection[str] = ()) -> list[Charter]:
        """Return the charters of every table, or of these alone, but those with the ids `without`."""
        ids = {row.id for row in self._rows(sa.select(TABLES.c.id))} if only is None else set(only)
        missing = ids - set(without)
        if not missing:
            return []
        return [_charter(row) for row in self._rows(sa.select(TABLES).where(TABLES.c.id.in_(missing)))]

    def outlines(self) -> list[OutlineRecord]:
        """Return the outlines that were set of tables whose logs have not grown since."""
        with self._reading() as connection:
            keys: dict[str, dict[Seat, str]] = {}
            for row in connection.execute(sa.select(KEYS)):
                keys.setdefault(row.table_id, {})[row.seat] = row.sha256
            return [
                OutlineRecord(_charter(row), row.version, row.summary, keys.get(row.id, {}))
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
        """Return a table's log in order, from the entry behind the one with the number `after`."""
        with self._reading() as connection:
            return self._log(connection, table_id, after)

    def keys(self, table_id: str) -> dict[Seat, str]:
        """Return who holds the chairs of a table."""
        with self._reading() as connection:
            return self._keys(connection, table_id)

    def known(self, tokens: Sequence[contract.Token]) -> KnownTokens:
        """Return what is stored of these tokens, or in their places."""
        with self._reading() as connection:
            ids: dict[str, dict[int, str]] = {}
            for source in {token.source for token in tokens}:
                seqs = sorted({token.seq for token in tokens if token.source == source})
                rows = connection.execute(_IDS_OF, {"source": source, "seqs": seqs})
                ids[source] = {row.seq: row.token for row in rows}
            new = {"ids": [token.token for token in tokens if ids[token.source].get(token.seq) != token.token]}
            if not new["ids"]:
                return KnownTokens(ids, set(), {})
            stored = set(connection.execute(_STORED, new).scalars())
            held = {row.token: row.verdict or "" for row in connection.execute(_HELD, new)}
            return KnownTokens(ids, stored, held)

    def temples(self) -> list[TempleRecord]:
        """Return every temple that is known, by name."""
        return [TempleRecord(**row._mapping) for row in self._rows(sa.select(TEMPLES).order_by(TEMPLES.c.name))]

    def requests(self, temples: Collection[str]) -> dict[str, str]:
        """Return for each of these temples what was last requested of it by any companion of a shared store."""
        query = sa.select(REQUESTS).where(REQUESTS.c.temple.in_(temples))
        return {row.temple: row.stored for row in self._rows(query)}

    def marks(self, temples: Collection[str] | None = None) -> dict[str, MarkRecord]:
        """Return for each source, or each of some temples, how far its tokens are stored."""
        query = sa.select(SOURCES) if temples is None else sa.select(SOURCES).where(SOURCES.c.temple.in_(temples))
        with self._reading() as connection:
            sources = connection.execute(query).all()
            return {row.source: self._mark(connection, row.source, row.mark) for row in sources}

    def _mark(self, connection: sa.Connection, source: str, mark: int) -> MarkRecord:
        rows = connection.execute(_IDS_FROM, {"source": source, "mark": mark})
        ids = {row.seq: row.token for row in rows}
        return MarkRecord(mark, ids.pop(mark, ""), ids)

    def recent(self, temple: str, limit: int) -> tuple[StoredToken, ...]:
        """Return a temple's last tokens, newest first, without the old ones."""
        newest = sa.select(TOKENS).where(TOKENS.c.temple == temple, ~sa.exists().where(_IS_OLD))
        newest = newest.order_by(TOKENS.c.received_at.desc(), TOKENS.c.seq.desc()).limit(limit)
        return tuple(map(_kept, self._rows(newest)))

    def totals(self, temple: str) -> dict[contract.God, int]:
        """Return how many tokens of each god were kept from a temple; tests, and old ones left out, do not count."""
        totals = dict.fromkeys(contract.God, 0)
        left_out = sa.exists().where(_IS_OLD, OLD.c.choice.not_in((HISTORY, COUNTED)))
        query = sa.select(TOKENS.c.god, TOKENS.c.flags, sa.func.count()).where(TOKENS.c.temple == temple, ~left_out)
        for god, flags, count in self._rows(query.group_by(TOKENS.c.god, TOKENS.c.flags)):
            if contract.Flag.TEST not in flags.split():
                totals[contract.God(god)] += count
        return totals

    def quarantined(self, temple: str) -> int:
        """Return how many of a temple's tokens are held apart and wait for a person."""
        return self._number_of_held(QUARANTINE.c.temple == temple, _UNDECIDED)

    def ever_quarantined(self, temple: str) -> int:
        """Return how many of a temple's tokens were ever held apart, decided or not."""
        return self._number_of_held(QUARANTINE.c.temple == temple)

    def _number_of_held(self, *only: sa.ColumnElement[bool]) -> int:
        with self._reading() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(QUARANTINE).where(*only)).scalar_one()

    def held(self, temple: str, limit: int) -> tuple[StoredToken, ...]:
        """Return a temple's tokens that are held apart and wait for a person, in the order of their arrival."""
        query = sa.select(QUARANTINE).where(QUARANTINE.c.temple == temple, _UNDECIDED).limit(limit)
        query = query.order_by(QUARANTINE.c.received_at, QUARANTINE.c.source, QUARANTINE.c.seq)
        return tuple(map(_kept, self._rows(query)))

    def decided(self, temple: str, limit: int) -> tuple[Decision, ...]:
        """Return what was last decided about a temple's tokens that were held apart, newest first."""
        return tuple(map(_decision, self._rows(_decisions(QUARANTINE.c.temple == temple).limit(limit))))

    def sources(self) -> dict[str, str]:
        """Return for each source that was ever met the temple that it belongs to."""
        return {row.source: row.temple for row in self._rows(sa.select(SOURCES))}

    def old(self) -> list[OldTokens]:
        """Return the old tokens of every source that brought any."""
        return [OldTokens(**row._mapping) for row in self._rows(sa.select(OLD))]

    def old_tokens(self, old: OldTokens) -> tuple[StoredToken, ...]:
        """Return the old tokens that have arrived and went to no table, in the order of their numbers."""
        query = sa.select(TOKENS).where(TOKENS.c.source == old.source, TOKENS.c.seq <= old.through)
        query = query.where(TOKENS.c.replayed, TOKENS.c.table_id.is_(None)).order_by(TOKENS.c.seq)
        return tuple(map(_kept, self._rows(query)))

    def arrived(self, source: str) -> dict[contract.God, int]:
        """Return how many tokens of each god were kept from one ledger, tests among them."""
        by_god = sa.select(TOKENS.c.god, sa.func.count()).group_by(TOKENS.c.god)
        own = by_god.where(TOKENS.c.source == source)
        resent = by_god.join(RESENT, RESENT.c.token == TOKENS.c.token).where(RESENT.c.source == source)
        counts = dict.fromkeys(contract.God, 0)
        for god, count in self._rows(own.union_all(resent)):
            counts[contract.God(god)] += count
        return counts

    def fallen(self, table_id: str) -> tuple[StoredToken, ...]:
        """Return the tokens that were kept for a table, ledger by ledger, each in the order of its numbers."""
        query = sa.select(TOKENS).where(TOKENS.c.table_id == table_id).order_by(TOKENS.c.seq)
        counted = _decisions(DECISIONS.c.table_id == table_id, DECISIONS.c.verdict == COUNTED)
        with self._reading() as connection:
            kept = [_kept(row) for row in connection.execute(query)]
            kept += [_decision(row).kept for row in connection.execute(counted)]
        begun: dict[str, datetime] = {}
        for each in kept:
            begun.setdefault(each.token.source, each.received_at)
        # Stable: within one ledger the numbers alone order, for any clock may have been set meanwhile.
        return tuple(sorted(kept, key=lambda each: (begun[each.token.source], each.token.source)))


NOTE = "note."
"""Before the name of a note, which is in one table with secrets and the number of the schema."""


class SqlTransaction:
    """The port `Transaction` over one connection that has begun."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def expect_temples(self, temples: Mapping[str, TempleRecord | None]) -> None:
        """Raise `Conflict` unless these temples are stored so, until the change ends; only in a shared store."""
        if temples:
            query = sa.select(TEMPLES).where(TEMPLES.c.name.in_(temples)).order_by(TEMPLES.c.name).with_for_update()
            found = {row.name: TempleRecord(**row._mapping) for row in self._connection.execute(query)}
            for name, expected in temples.items():
                if found.get(name) != expected:
                    raise Conflict(f"temple {name!r} is stored as {found.get(name)}; expected {expected}")

    def set_request(self, temple: str, before: str, request: str, stored: str) -> None:
        """Store the request with the id `request` to a temple in place of that with the id `before`, if any."""
        known = sa.update(REQUESTS).where(REQUESTS.c.temple == temple, REQUESTS.c.request == before)
        fields = {"request": request, "stored": stored}
        if not self._connection.execute(known, fields).rowcount:
            self._connection.execute(sa.insert(REQUESTS), {"temple": temple, **fields})

    def announce(self, origin: str, topics: Sequence[str]) -> None:
        """Announce to the other companions of a shared store what this change concerns, once it is durable."""
        if topics:
            self._connection.execute(_ANNOUNCE, {"announced": [f"{origin} {topic}" for topic in topics]})

    def set_secret(self, name: str, value: str) -> None:
        """Enter a secret of this companion that was not there."""
        self._connection.execute(sa.insert(ABOUT), {"key": name, "value": value})

    def set_note(self, name: str, value: str) -> None:
        """Store something about this companion under a name, in place of what was there."""
        self._connection.execute(sa.delete(ABOUT).where(ABOUT.c.key == f"{NOTE}{name}"))
        self._connection.execute(sa.insert(ABOUT), {"key": f"{NOTE}{name}", "value": value})

    def add_table(self, charter: Charter) -> None:
        """Enter a new table."""
        fields = {name: getattr(charter, name) for name in Charter.__slots__}
        fields |= {"seats": list(charter.seats), "options": dict(charter.options)}
        self._connection.execute(sa.insert(TABLES), fields)

    def append(self, table_id: str, entries: Sequence[Entry]) -> None:
        """Enter the next lines of a table's log."""
        rows = [
            {
                "table_id": table_id,
                "n": entry.n,
                "at": entry.at,
                "by": entry.by,
                "move": encode(entry.action),
                "request": entry.request,
                "hand": entry.hand,
            }
            for entry in entries
        ]
        if rows:
            self._connection.execute(_APPEND, rows)

    def set_outline(self, table_id: str, version: int, summary: str) -> None:
        """Store what lists show of a table at a version of its log; it replaces an earlier one."""
        self._connection.execute(sa.delete(OUTLINES).where(OUTLINES.c.table_id == table_id))
        fields = {"table_id": table_id, "version": version, "summary": summary}
        self._connection.execute(sa.insert(OUTLINES), fields)

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

    def keep(self, tokens: Sequence[StoredToken]) -> None:
        """Keep tokens whose numbers are new."""
        if tokens:
            rows = [{**_fields(kept), "table_id": kept.table_id} for kept in tokens]
            self._connection.execute(sa.insert(TOKENS), rows)

    def keep_numbers(self, tokens: Sequence[contract.Token]) -> None:
        """Enter further numbers of tokens that are stored under other ones."""
        if tokens:
            rows = [{"source": token.source, "seq": token.seq, "token": token.token} for token in tokens]
            self._connection.execute(sa.insert(RESENT), rows)

    def quarantine(self, tokens: Sequence[StoredToken]) -> None:
        """Hold apart tokens whose numbers are taken by others."""
        if tokens:
            self._connection.execute(sa.insert(QUARANTINE), [_fields(kept) for kept in tokens])

    def decide(self, decisions: Sequence[Decision]) -> None:
        """Enter what was decided about tokens held apart; no token's id can be entered twice."""
        names = ("verdict", "at", "by", "name", "table_id", "seat")
        rows = [
            {"token": each.kept.token.token, **{name: getattr(each, name) for name in names}} for each in decisions
        ]
        if rows:
            self._connection.execute(sa.insert(DECISIONS), rows)

    def set_old(self, old: OldTokens) -> None:
        """Enter which tokens of a source are old, or what was decided about them."""
        fields = {name: getattr(old, name) for name in OldTokens.__slots__}
        if not self._connection.execute(sa.update(OLD).where(OLD.c.source == old.source), fields).rowcount:
            self._connection.execute(sa.insert(OLD), fields)

    def assign(self, tokens: Sequence[StoredToken], table_id: str) -> None:
        """Give tokens that were kept for no table to a table."""
        if tokens:
            given = sa.update(TOKENS).where(TOKENS.c.source == sa.bindparam("s"), TOKENS.c.seq == sa.bindparam("n"))
            keys = [{"s": kept.token.source, "n": kept.token.seq} for kept in tokens]
            self._connection.execute(given.values(table_id=table_id), keys)

    def set_mark(self, source: str, temple: str, seq: int) -> None:
        """Raise the number up to which a source's tokens are kept without a gap."""
        # Another companion may have raised it higher: then the row is there, and to enter it again is a conflict.
        raised = sa.update(SOURCES).where(SOURCES.c.source == source, SOURCES.c.mark <= seq)
        if not self._connection.execute(raised, {"mark": seq}).rowcount:
            self._connection.execute(sa.insert(SOURCES), {"source": source, "temple": temple, "mark": seq})


def _fields(kept: StoredToken) -> dict[str, Any]:
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


def _charter(row: sa.Row[Any]) -> Charter:
    fields = {name: row._mapping[name] for name in Charter.__slots__}
    return Charter(**fields | {"seats": tuple(fields["seats"])})


def _kept(row: sa.Row[Any]) -> StoredToken:
    token = contract.Token(
        source=row.source,
        seq=row.seq,
        token=row.token,
        god=contract.God(row.god),
        at=row.at,
        width_ms=row.width_ms,
        flags=frozenset(row.flags.split()),
        replayed=row.replayed,
    )
    return StoredToken(row.temple, token, row.received_at, getattr(row, "table_id", None))


def _decisions(*only: sa.ColumnElement[bool]) -> sa.Select[Any]:
    columns = [column.label(f"decided_{column.name}") for column in DECISIONS.c]
    query = sa.select(QUARANTINE, *columns).join(DECISIONS, _OF_DECISION).where(*only)
    return query.order_by(DECISIONS.c.at.desc(), QUARANTINE.c.received_at.desc(), QUARANTINE.c.seq.desc())


def _decision(row: sa.Row[Any]) -> Decision:
    kept = replace(_kept(row), table_id=row.decided_table_id)
    return Decision(
        kept,
        row.decided_verdict,
        row.decided_at,
        row.decided_by,
        row.decided_name,
        row.decided_table_id,
        row.decided_seat,
    )


def _make_sqlite_durable(connection: Any, record: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA busy_timeout=5000")
    cursor.close()


def sqlite_path(url: str) -> Path | None:
    """Return the file of a SQLite database, or nothing where a URL names none."""
    made = sa.make_url(url)
    named = made.get_backend_name() == "sqlite" and made.database and not made.database.startswith((":", "file:"))
    return Path(made.database) if named and made.database else None


def without_password(url: str) -> str:
    """Return a database's URL, or what should have been one, without its password."""
    return re.sub(r":(?!//).*@", ":***@", url)


def _code(error: sa.exc.DBAPIError) -> str | None:
    """Return what the database calls an error."""
    return getattr(error.orig, "sqlite_errorname", None) or getattr(error.orig, "sqlstate", None)


def _reason(error: BaseException) -> str:
    return str(getattr(error, "orig", None) or error).splitlines()[0]

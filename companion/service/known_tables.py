"""The tables in memory: loaded whole, as an outline for lists, or marked as outdated by another companion.

A companion that has run for years has thousands of tables whose games are over: of those, only outlines are in memory
until somebody opens one. If several companions share a store, a table's log is read when somebody looks at it here.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any

from companion.games.kit import Game, Seat
from companion.model.history import folded
from companion.model.outline import Outline, outlined, summarized
from companion.model.ports import Store
from companion.model.table import Charter, Entry, ServiceError, Table
from companion.service.locks import Locks

log = logging.getLogger(__name__)


class KnownTables:
    """All tables in memory. Safe from any thread: a table is frozen, and replaced as a whole."""

    def __init__(self, store: Store, games: Mapping[str, Game[Any]], locks: Locks, shared: bool) -> None:
        """Read what the store holds. `shared` says that other companions change it."""
        self.games = MappingProxyType(dict(games))
        self.unreadable: list[tuple[str, str]] = []
        """Title and reason of each stored table that this software cannot replay; it is left as it is."""
        self._store = store
        self._locks = locks
        self._shared = shared
        self._replacing = threading.Lock()
        self._tables: dict[str, Table] = {}
        self._used: set[str] = set()
        """The tables that were read since `unused` was last called."""
        self._refused: set[str] = set()
        self._behind: set[str] = set()
        """The tables whose logs may have grown at other companions."""
        self._read_outlines({record.table_id for record in store.temples()})
        if shared:
            self.read_charters()
        else:
            self._read_logs()

    # Finding

    def game(self, name: str) -> Game[Any]:
        """Return a game by its name; raises `ServiceError` ``unknown_game``."""
        try:
            return self.games[name]
        except KeyError:
            raise ServiceError("unknown_game", game=name[:32]) from None

    def all(self) -> list[Table]:
        """Return every table; those whose games are over may be outlines, which `get` makes whole."""
        for table_id in list(self._behind):
            self._current(table_id)
        return self.as_read()

    def as_read(self) -> list[Table]:
        """Return every table as it is in memory: its charter, code and id are current, its state may not be."""
        return list(self._tables.values())

    def get(self, table_id: str) -> Table:
        """Return a table by its id; raises `ServiceError` ``unknown_table``."""
        table = self.find(table_id)
        if table is None:
            raise ServiceError("unknown_table")
        return table

    def find(self, table_id: str | None) -> Table | None:
        """Return a table by its id, or None: a temple may serve one that this release cannot read."""
        table = self._current(table_id or "")
        if table is not None:
            self._used.add(table.id)
        return table

    def find_new(self) -> list[Table]:
        """Return the tables of a shared store that another companion has opened a moment ago."""
        before = set(self._tables)
        if self._shared:
            self.read_charters()
        return [table for table in self.as_read() if table.id not in before]

    def ids(self) -> frozenset[str]:
        """Return the ids of all tables, including those that this software cannot replay."""
        return frozenset((*self._tables, *self._refused))

    def __contains__(self, table_id: object) -> bool:
        return table_id in self._tables

    def after(self, table: Table) -> Table:
        """Return a table after the entries that it lacks. Its keys are read last, so that they are not older."""
        with self._store.reading():
            entries = self._store.entries(table.id, after=table.version)
            return folded(table, entries).with_keys(self._store.keys(table.id)) if entries else table

    # Replacing

    def put(self, table: Table) -> Table | None:
        """Replace a table, unless a later one is known; return the former one, or None if it is new."""
        with self._replacing:
            before = self._tables.get(table.id)
            if before is None or before.version <= table.version:
                self._tables[table.id] = table
        return before

    def shelve(self, outline: Outline) -> None:
        """Replace a table by its outline."""
        with self._replacing:
            self._tables[outline.id] = outline

    def mark_unused(self, table_id: str) -> None:
        """Mark a table as unused."""
        self._used.discard(table_id)

    def unused(self) -> list[Table]:
        """Return the finished tables that nobody has read since the last call."""
        used, self._used = self._used, set()
        over = [each for each in self.as_read() if each.phase == "over" and not isinstance(each, Outline)]
        return [each for each in over if each.id not in used]

    def mark_behind(self, table_ids: Collection[str]) -> None:
        """Note that these tables may have been opened or appended to without this companion's knowledge."""
        self._behind |= table_ids & self._tables.keys()
        if unknown := table_ids - self._tables.keys():
            self.read_charters(unknown)

    def read_on(self, table_id: str) -> Table | None:
        """Read what the store has more of a locked table, and return it; raises `ServiceError`."""
        was_behind = table_id in self._behind
        self.mark_behind({table_id})
        try:
            return self.find(table_id)
        except ServiceError:
            if not was_behind:
                self._behind.discard(table_id)
            raise

    def read_charters(self, only: Collection[str] | None = None) -> None:
        """Add the tables that other companions have opened; their logs are read when somebody looks at them."""
        for charter in self._store.charters(only, without=self._tables.keys() | self._refused):
            try:
                table = Table.opened(charter, self.game(charter.game))
            except ServiceError as error:
                self._refuse(charter, error)
                continue
            with self._replacing:
                self._behind.add(table.id)
                self._tables.setdefault(table.id, table)

    # Reading the store

    def _read_outlines(self, served: Collection[str | None]) -> None:
        """Load the stored outlines of finished tables, except those that a temple serves."""
        for stored in self._store.outlines():
            game = self.games.get(stored.charter.game)
            if game and stored.charter.id not in served:
                outline = outlined(stored.charter, game, stored.version, stored.summary)
                if outline:
                    self._tables[outline.id] = outline.with_keys(stored.keys)

    def _read_logs(self) -> None:
        """Load every other table with its log, and store outlines of the finished ones."""
        fresh: list[tuple[Table, str]] = []
        for record in self._store.tables(without=self._tables.keys()):
            table = self._folded(record.charter, record.entries, record.keys)
            if table is None:
                continue
            self._tables[table.id] = table
            if summary := summarized(table):
                fresh.append((table, summary))
        if fresh:
            with self._store.transaction() as transaction:
                for table, summary in fresh:
                    transaction.set_outline(table.id, table.version, summary)

    def _current(self, table_id: str) -> Table | None:
        """Return a table with everything that the store has of it, or None if there is none or its log is broken."""
        if self._shared and table_id and table_id not in self._tables:
            self.read_charters([table_id])  # another companion may have opened it just now
        table = self._tables.get(table_id)
        if table is None or (table_id not in self._behind and not isinstance(table, Outline)):
            return table
        with ExitStack() as reading:
            self._locks.take(reading, "log", [table_id])
            return self._read_log(table_id)

    def _read_log(self, table_id: str) -> Table | None:
        table, is_behind = self._tables.get(table_id), table_id in self._behind
        if table is None or not (is_behind or isinstance(table, Outline)):
            return table
        self._behind.discard(table_id)  # first, so that whatever changes during the read is read again
        try:
            if isinstance(table, Outline):
                after = self._folded(table.charter, self._store.entries(table_id), self._store.keys(table_id))
            else:
                after = self.after(table)
        except ServiceError:
            self._behind.add(table_id)
            raise
        except ValueError as error:
            self._refuse(table.charter, error)
            after = None
        with self._replacing:
            current = self._tables.get(table_id)
            if after is None:
                self._tables.pop(table_id, None)
            elif current is table or (current and current.version < after.version):
                self._tables[table_id] = after
            return self._tables.get(table_id)

    def _folded(self, charter: Charter, entries: Iterable[Entry], keys: Mapping[Seat, str]) -> Table | None:
        try:
            return folded(Table.opened(charter, self.game(charter.game)), entries).with_keys(keys)
        except Exception as error:  # what a game's rules raise for a log that its rules did not write
            self._refuse(charter, error)
            return None

    def _refuse(self, charter: Charter, error: Exception) -> None:
        log.error("table %r stays closed: %s", charter.title, error)
        self.unreadable.append((charter.title, str(error)))
        self._refused.add(charter.id)

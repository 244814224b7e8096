"""Every table of this companion, changed under one lock and durable before anybody sees it.

It opens none and seats nobody; it knows no temple. What cannot be done is a `ServiceError`.
"""

from __future__ import annotations

import hmac
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from companion.games.kernel import CHANCE, Fault, Game, Move, Refusal, Seat
from companion.model.chance import below_from
from companion.model.history import replay_log
from companion.model.lobby import normal_code
from companion.model.ports import Store, Transaction
from companion.model.table import APP, Charter, Entry, ServiceError, Table

log = logging.getLogger(__name__)

AT_ONCE = 400
"""Moves that the app makes by itself after one post, at most: a table of absent players goes on at the next."""


class Tables:
    """All tables; the one writer of its store."""

    def __init__(
        self,
        store: Store,
        games: Mapping[str, Game[Any]],
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        on_change: Callable[[str], None] = lambda topic: None,
    ) -> None:
        """Take over what the store holds.

        `clock` gives aware times in UTC, `entropy` that many random bytes. `on_change` is told a topic,
        ``table:<id>``, ``temple:<name>`` or ``tables``, after each change that is durable.
        """
        self._store = store
        self.games = MappingProxyType(dict(games))
        self._clock = clock
        self._entropy = entropy
        self._below = below_from(entropy)
        self._on_change = on_change
        self._lock = threading.RLock()
        self._tables: dict[str, Table] = {}
        self.unreadable: list[tuple[str, str]] = []
        """Title and reason of each stored table that this software cannot replay; it is left as it is."""
        for record in store.tables():
            try:
                table = self._replayed(record.charter, record.entries)
            except (ServiceError, ValueError) as error:
                log.error("table %r stays closed: %s", record.charter.title, error)
                self.unreadable.append((record.charter.title, str(error)))
            else:
                self._tables[table.id] = table.with_keys(record.keys)
        self._drafts: dict[str, tuple[Fault, ...]] = {}

    def _replayed(self, charter: Charter, entries: Iterable[Entry]) -> Table:
        game = self._game(charter.game)
        table = Table.opened(charter, game)
        for stage in replay_log(charter, game, entries):
            table = stage.after
        return table

    def _game(self, name: str) -> Game[Any]:
        try:
            return self.games[name]
        except KeyError:
            raise ServiceError("unknown_game", game=name[:32]) from None

    def tables(self) -> tuple[Table, ...]:
        """Return every table, the newest first."""
        return tuple(sorted(self._tables.values(), key=lambda table: table.charter.opened_at, reverse=True))

    def table(self, table_id: str) -> Table:
        """Return a table by its id; raises `ServiceError` ``unknown_table``."""
        try:
            return self._tables[table_id]
        except KeyError:
            raise ServiceError("unknown_table") from None

    def table_by_code(self, code: str) -> Table:
        """Return a table by its join code, however it was typed; raises `ServiceError` ``wrong_code``.

        Every table's code is compared, each in constant time.
        """
        wanted = normal_code(code)
        found = [
            table for table in self._tables.values() if hmac.compare_digest(table.code.encode(), wanted.encode())
        ]
        if not found:
            raise ServiceError("wrong_code")
        return found[0]

    def entries(self, table_id: str) -> Sequence[Entry]:
        """Return a table's whole log; raises `ServiceError` ``unknown_table``."""
        return self._store.entries(self.table(table_id).id)

    def draft(self, table_id: str) -> tuple[Fault, ...] | None:
        """Return what is wrong in the file that a table follows, or none where it follows no file."""
        return self._drafts.get(table_id)

    def set_draft(self, table_id: str, faults: Sequence[Fault]) -> None:
        """Say what is wrong in the file that a table follows; its pages show it until it is mended."""
        with self._lock:
            before, self._drafts[table_id] = self._drafts.get(table_id), tuple(faults)
            if before != self._drafts[table_id]:
                self._on_change(f"table:{table_id}")

    def _change(
        self, table: Table, moves: Sequence[tuple[Seat, Move]], *, keys: Mapping[Seat, str] | None = None
    ) -> Table:
        with self._store.transaction() as change:
            table = self._run(change, self._extended(change, table, moves))
            if keys is not None:
                change.set_keys(table.id, keys)
                table = table.with_keys(keys)
        self._swap(table)
        return table

    def _extended(self, change: Transaction, table: Table, moves: Iterable[tuple[Seat, Move]]) -> Table:
        now = self._clock()
        for by, move in moves:
            entry = table.entry(now, by, move)
            after = table.extended(entry)
            if isinstance(after, Refusal):
                raise ServiceError(after.code, **after.facts)
            change.append(table.id, entry)
            table = after
        return table

    def _run(self, change: Transaction, table: Table, brought: bool = False) -> Table:
        """Return the table after all that the app does by itself, entered in the same change.

        `brought` says that the last entry is an outcome that the app brought.
        """
        for _ in range(AT_ONCE):
            due = table.automatic(self._below, brought)
            if due is None:
                return table
            seat, move = due
            entry = table.entry(self._clock(), seat, move, hand=APP)
            after = table.extended(entry)
            if isinstance(after, Refusal):
                log.error("table %r: the app's %s for %s is refused: %s", table.title, move, seat, after)
                return table
            change.append(table.id, entry)
            table, brought = after, seat == CHANCE
        return table

    def _swap(self, *tables: Table) -> None:
        for table in tables:
            phase = self._tables[table.id].phase
            self._tables[table.id] = table
            self._on_change(f"table:{table.id}")
            if table.phase != phase:
                self._on_change("tables")

"""One unit of work in progress: the locks that it holds, and the changes that it will commit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from companion.games.kit import Refusal, Seat
from companion.model.entries import Action
from companion.model.ports import Conflict, OldTokens, Transaction
from companion.model.table import Charter, Entry, ServiceError, Table
from companion.model.temples import Source, Temple
from companion.service.known_tables import KnownTables
from companion.service.known_temples import KnownTemples

ABANDONED = timedelta(days=1)
"""After this time without a move, a token or a new player a table counts as left behind."""


class Change:
    """The locks of one change, and what it will commit. Begun by a `Workspace`."""

    def __init__(
        self,
        tables: KnownTables,
        temples: KnownTemples,
        take: Callable[[str, Iterable[str]], None],
        clock: Callable[[], datetime],
        paced: bool,
        origin: str,
    ) -> None:
        """Start without locks.

        `take` takes the locks of names of one kind, `clock` returns aware times in UTC. `paced` says that a pacer
        makes the app's moves for absent players one at a time. `origin` marks this companion's announcements; it is
        empty if the store is not shared.
        """
        self.paced = paced
        self._known_tables = tables
        self._known_temples = temples
        self._take = take
        self._clock = clock
        self._origin = origin
        self.locked_temples: frozenset[str] = frozenset()
        self.locked_tables: frozenset[str] = frozenset()
        self._found: dict[str, Table] = {}
        """Each locked table as this change sees it; other companions may append to it meanwhile."""
        self._old: dict[str, OldTokens | None] = {}
        """The old tokens of each source that this change has looked at, as they were then."""
        self.discard()

    def discard(self) -> None:
        """Drop all changes, and keep the locks."""
        self.tables: dict[str, Table] = {}
        self.temples: dict[str, tuple[Temple, bool]] = {}
        """Each changed temple, and whether its table's page shows the change."""
        self.sources: dict[str, Source] = {}
        self._opened: list[Charter] = []
        self._entries: dict[str, list[Entry]] = {}
        self._keys: dict[str, Mapping[Seat, str]] = {}
        self._others: list[Callable[[Transaction], None]] = []

    # Locks

    def lock_temples(self, *names: str | None) -> None:
        """Take the locks of these temples, known or not, before that of any table."""
        wanted = {name for name in names if name} - self.locked_temples
        if wanted and (self.locked_temples or self.locked_tables):
            raise RuntimeError(f"temples {sorted(wanted)} are locked late; expected all at once, before any table")
        self._take("temple", wanted)
        self.locked_temples |= wanted

    def lock_tables(self, *table_ids: str, new: str = "") -> None:
        """Take the locks of these tables, and of the id of a new one; raises `ServiceError` ``unknown_table``."""
        wanted = {self._known_tables.get(table_id).id for table_id in table_ids}
        if wanted and (self.locked_tables):
            raise RuntimeError(f"tables {sorted(wanted)} are locked late; expected all at once")
        self._take("table", {*wanted, new} if new else wanted)
        self.locked_tables |= wanted
        self._found |= {table_id: self._known_tables.get(table_id) for table_id in wanted}

    def lock_with_temple(self, table_id: str, temple: str | None = None) -> Table:
        """Take the locks of a table and its temple, and of another temple and its table.

        Raises `ServiceError` ``unknown_table``, and `Conflict` if a temple was moved meanwhile.
        """
        before = self._known_tables.get(table_id).temple
        other = self._known_temples.find(temple or "")
        self.lock_temples(before, other.name if other else None)
        other = self._known_temples.find(temple or "")
        served = self._known_tables.find(other.table_id) if other else None
        self.lock_tables(table_id, *([served.id] if served else ()))
        table = self.table(table_id)
        if table.temple != before:
            raise Conflict(f"temple {before!r} was moved away from the table")
        return table

    # Reading

    @property
    def now(self) -> datetime:
        """The time."""
        return self._clock()

    def table(self, table_id: str) -> Table:
        """Return a table as this change leaves it."""
        if table_id in self.tables:
            return self.tables[table_id]
        if table_id not in self.locked_tables:
            raise RuntimeError(f"table {table_id!r} is not locked by this change; expected one of its own")
        return self._found[table_id]

    def find_temple(self, name: str) -> Temple | None:
        """Return a temple as this change leaves it, or None if it is unknown."""
        return self.temples[name][0] if name in self.temples else self._known_temples.find(name)

    def temple(self, name: str) -> Temple:
        """Return a temple as this change leaves it; raises `ServiceError` ``unknown_temple``."""
        return self.temples[name][0] if name in self.temples else self._known_temples.get(name)

    def source(self, source: str) -> Source | None:
        """Return a source as this change leaves it, or None if it is unknown."""
        if source in self.sources:
            return self.sources[source]
        known = self._known_temples.source(source)
        self._old.setdefault(source, known.old if known else None)
        return known

    @property
    def known_sources(self) -> Collection[str]:
        """The sources that this change has looked at."""
        return self._old.keys()

    # Changing

    def open(self, charter: Charter) -> Table:
        """Open a new table."""
        table = Table.opened(charter, self._known_tables.game(charter.game))
        self._opened.append(charter)
        self.tables[charter.id] = table
        return table

    def extend(self, table_id: str, by: Seat, action: Action, request: str = "", hand: str = "") -> Table | Refusal:
        """Append to a table's log; return the table after it, or the refusal."""
        table = self.table(table_id)
        entry = table.entry(self.now, by, action, request, hand)
        after = table.extended(entry)
        if isinstance(after, Table):
            self._entries.setdefault(table_id, []).append(entry)
            self.tables[table_id] = after
        return after

    def enter(self, table_id: str, by: Seat, action: Action, request: str = "", hand: str = "") -> Table:
        """Append to a table's log; raises `ServiceError` with the rules' refusal."""
        after = self.extend(table_id, by, action, request, hand)
        if isinstance(after, Refusal):
            raise ServiceError(after.code, **after.facts)
        return after

    def set_keys(self, table_id: str, keys: Mapping[Seat, str]) -> Table:
        """Replace the phones that hold the chairs of a table."""
        self._keys[table_id] = keys
        self.tables[table_id] = self.table(table_id).with_keys(keys)
        return self.tables[table_id]

    def put(self, temple: Temple, *, visible: bool = True) -> None:
        """Replace a locked temple. `visible` says that the page of its table shows the change."""
        before = self._known_temples.find(temple.name)
        if visible and temple.health() != (before or Temple(temple.name)).health():
            exact = before is not None and before.status is not None
            temple = replace(temple, since=self.now, exact=exact)
        self.temples[temple.name] = (
            temple,
            visible or (temple.name in self.temples and self.temples[temple.name][1]),
        )

    def put_source(self, source: Source) -> None:
        """Replace a source, whose temple is locked."""
        self.sources[source.id] = source

    def write(self, transaction: Transaction) -> None:
        """Write everything to the store."""
        if self._origin:
            known = {name: self._known_temples.find(name) for name in self.locked_temples}
            transaction.expect_temples({name: temple.stored() if temple else None for name, temple in known.items()})
            transaction.expect_old(self._old)
            # Appending to a log shows by itself whether another companion was first.
            transaction.expect_versions(
                {name: table.version for name, table in self._found.items() if name not in self._entries}
            )
            transaction.announce(self._origin, self._topics())
        for charter in self._opened:
            transaction.add_table(charter)
        for table_id, entries in self._entries.items():
            transaction.append(table_id, entries)
        for table_id, keys in self._keys.items():
            transaction.set_keys(table_id, keys)
        for temple, _ in self.temples.values():
            if self._is_news(temple):
                transaction.set_temple(temple.stored())
        for source in self.sources.values():
            before = self._known_temples.source(source.id)
            if before is None or before.mark.seq != source.mark.seq:
                transaction.set_mark(source.id, source.temple, source.mark.seq)
            if source.old is not None and (before is None or before.old != source.old):
                transaction.set_old(source.old)
        for other in self._others:
            other(transaction)

    def also(self, write: Callable[[Transaction], None]) -> None:
        """Write something more in the same transaction, after everything else."""
        self._others.append(write)

    def also_expect(self, expect: Callable[[Transaction], None]) -> None:
        """Call what raises `Conflict` unless the store holds what this change has read there; if it is shared.

        It is called in the same transaction, while no other companion can change the locked temples.
        """
        if self._origin:
            self._others.append(expect)

    @property
    def writes(self) -> bool:
        """Whether it has anything to write to the store."""
        return bool(
            self._opened
            or self._entries
            or self._keys
            or self.sources
            or self._others
            or any(self._is_news(temple) for temple, _ in self.temples.values())
        )

    def _topics(self) -> list[str]:
        """Return the topics to announce to other companions."""
        topics = [*(f"table:{table_id}" for table_id in self.tables), *self.paced_topics()]
        if any(self._is_listed_anew(table) for table in self.tables.values()):
            topics.append("tables")
        for temple, visible in self.temples.values():
            topics += [
                f"temple:{temple.name}",
                *([f"table:{temple.table_id}"] if visible and temple.table_id else ()),
            ]
        return [*dict.fromkeys(topics)]

    def paced_topics(self) -> list[str]:
        """Return a topic for each table that awaits the app's next move, or did before this change."""
        tables = self.tables.values() if self.paced else ()
        return [f"pace:{each.id}" for each in tables if any(map(_goes_on, (each, self._found.get(each.id))))]

    def _is_listed_anew(self, table: Table) -> bool:
        before = self._found.get(table.id)
        return before is None or before.phase != table.phase

    def _is_news(self, temple: Temple) -> bool:
        before = self._known_temples.find(temple.name)
        return before is None or before.stored() != temple.stored()

    def known_version(self, table_id: str) -> int:
        """Return the version of a locked table that this change sees."""
        return self._found[table_id].version


def _goes_on(table: Table | None) -> bool:
    return table is not None and table.goes_on_by_itself

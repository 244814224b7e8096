"""One unit of work in progress: the locks that it holds, and the changes that it will commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from companion.games.kit import Refusal, Seat
from companion.model.entries import Action, Sit
from companion.model.ports import Conflict, Transaction
from companion.model.table import Charter, Entry, ServiceError, Table
from companion.model.temples import Source, Temple
from companion.service.known_notes import KnownNotes
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
        notes: KnownNotes,
        take: Callable[[str, Iterable[str]], None],
        clock: Callable[[], datetime],
        paced: bool,
    ) -> None:
        """Start without locks.

        `take` takes the locks of names of one kind, `clock` returns aware times in UTC. `paced` says that a pacer
        makes the app's moves for absent players one at a time.
        """
        self.paced = paced
        self._known_tables = tables
        self._known_temples = temples
        self._known_notes = notes
        self._take = take
        self._clock = clock
        self.locked_notes: frozenset[str] = frozenset()
        self.locked_temples: frozenset[str] = frozenset()
        self.locked_tables: frozenset[str] = frozenset()
        self._found: dict[str, Table] = {}
        """Each locked table as it was before this change."""
        self.known_sources: set[str] = set()
        """The sources that this change has looked at."""
        self.discard()

    def discard(self) -> None:
        """Drop all changes, and keep the locks."""
        self.tables: dict[str, Table] = {}
        self.temples: dict[str, tuple[Temple, bool]] = {}
        """Each changed temple, and whether its table's page shows the change."""
        self.sources: dict[str, Source] = {}
        self.notes: dict[str, str] = {}
        self._opened: list[Charter] = []
        self._entries: dict[str, list[Entry]] = {}
        self._keys: dict[str, Mapping[Seat, str]] = {}
        self._others: list[Callable[[Transaction], None]] = []

    @property
    def topics(self) -> frozenset[str]:
        """The topics of everything that it has locked."""
        kinds = (("note", self.locked_notes), ("temple", self.locked_temples), ("table", self.locked_tables))
        return frozenset(f"{kind}:{name}" for kind, names in kinds for name in names)

    # Locks

    def lock_notes(self, *names: str) -> None:
        """Take the locks of these notes, before that of any temple or table."""
        if self.locked_notes or self.locked_temples or self.locked_tables:
            raise RuntimeError(f"notes {sorted(names)} are locked late; expected all at once, before anything else")
        self._take("note", names)
        self.locked_notes = frozenset(names)

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
        if wanted and self.locked_tables:
            raise RuntimeError(f"tables {sorted(wanted)} are locked late; expected all at once")
        taken = {*wanted, new} if new else wanted
        self._take("table", taken)
        self.locked_tables |= taken
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
        self.known_sources.add(source)
        return self.sources[source] if source in self.sources else self._known_temples.source(source)

    def note(self, name: str) -> str:
        """Return a locked note as this change leaves it, or an empty string."""
        return self.notes[name] if name in self.notes else self._known_notes.get(name)

    # Changing

    def open(self, charter: Charter) -> Table:
        """Open a new table. Its lock is taken whenever that is: nobody else knows its id."""
        if charter.id not in self.locked_tables:
            self._take("table", [charter.id])
            self.locked_tables |= {charter.id}
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

    def sit(self, table_id: str, names: Mapping[Seat, str], key: str) -> Table:
        """Seat a phone, under a name at each seat; `key` is the digest of its token."""
        for seat, name in names.items():
            self.enter(table_id, seat, Sit(seat, name))
        return self.set_keys(table_id, {**self.table(table_id).keys, **dict.fromkeys(names, key)})

    def put(self, temple: Temple, *, visible: bool = True) -> None:
        """Replace a locked temple. `visible` says that the page of its table shows the change."""
        before = self._known_temples.seen(temple.name)
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

    def set_note(self, name: str, value: str) -> None:
        """Replace a locked note."""
        self.notes[name] = value

    def write(self, transaction: Transaction) -> None:
        """Write everything to the store."""
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
        for name, value in self.notes.items():
            transaction.set_note(name, value)
        for other in self._others:
            other(transaction)

    def also(self, write: Callable[[Transaction], None]) -> None:
        """Write something more in the same transaction, after everything else."""
        self._others.append(write)

    @property
    def writes(self) -> bool:
        """Whether it has anything to write to the store."""
        return bool(
            self._opened
            or self._entries
            or self._keys
            or self.sources
            or self.notes
            or self._others
            or any(self._is_news(temple) for temple, _ in self.temples.values())
        )

    def paced_topics(self) -> list[str]:
        """Return a topic for each table that awaits the app's next move, or did before this change."""
        tables = self.tables.values() if self.paced else ()
        return [f"pace:{each.id}" for each in tables if any(map(_goes_on, (each, self._found.get(each.id))))]

    def _is_news(self, temple: Temple) -> bool:
        return self._known_temples.stored(temple.name) != temple.stored()


def _goes_on(table: Table | None) -> bool:
    return table is not None and table.goes_on_by_itself

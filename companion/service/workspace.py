"""The unit of work: changes are collected under locks, made durable, and only then seen by anybody else.

Law of the locks: a change takes those of its temples first, by name, then those of its tables, by id, each kind at
once; and no change begins within another. So no two of them can wait for each other. A table's or a temple's value is
written only under its own lock; reading takes none, for every value is frozen and replaced as a whole. The store
commits while a change holds its own locks and no other, so everybody reads meanwhile, and other tables and temples
can change. Their commits may wait: SQLite has one writer, and a PostgreSQL that companions share ends commits that
announce something one after the other.

Several companions may share a store. Each change announces its topics in its own transaction, and `follow` takes in
what the others announce: a temple at once, a table only when somebody reads it here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from companion.games.kit import Game
from companion.model.chance import below_from
from companion.model.outline import outlined, summarized
from companion.model.ports import Conflict, Store
from companion.model.table import ServiceError, Table
from companion.service.change import Change
from companion.service.known_tables import KnownTables
from companion.service.known_temples import KnownTemples
from companion.service.locks import Locks
from companion.service.uncertain import Uncertain

MESSAGE = "message"
"""The topic of the organiser's message to all tables."""

ATTEMPTS = 50
"""How often a unit of work is tried at most. Each time another writer was first, so there is progress."""

Result = TypeVar("Result")


class Workspace:
    """All tables and temples in memory, and the store in which every change is durable first."""

    def __init__(
        self,
        store: Store,
        games: Mapping[str, Game[Any]],
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        on_change: Callable[[str], None] = lambda topic: None,
        paced: bool = False,
        shared: bool = False,
    ) -> None:
        """Read what the store holds.

        `clock` returns aware times in UTC, `entropy` a number of random bytes. `on_change` is called with a topic,
        ``table:<id>``, ``temple:<name>``, ``tables``, ``message`` or ``setup``, after each durable change; it must
        not block.
        `paced` says that a pacer makes the app's moves for absent players one at a time; it gets the topic
        ``pace:<id>`` for each table that begins or ceases to await such a move. `shared` says that other companions
        change the same store.
        """
        self.store = store
        self.clock = clock
        self.entropy = entropy
        self.below = below_from(entropy)
        self.on_change = on_change
        self.readers: dict[str, Callable[[], None]] = {}
        """By topic, what reads a note again before `on_change` is called for another companion's announcement."""
        self.paced = paced
        self.origin = entropy(8).hex() if shared else ""
        """The mark of this companion's own announcements; empty if the store is not shared."""
        self.written: dict[str, int] = {}
        """The version of each table that was last changed here, rather than by another companion."""
        self._locks = Locks()
        self._uncertain = Uncertain()
        self._within = threading.local()
        self.tables = KnownTables(store, games, self._locks, shared)
        self.temples = KnownTemples(store, shared)

    def shelve(self) -> None:
        """Unload each finished table that nobody has read since the last call, keeping its outline."""
        for table in self.tables.unused():
            self.run(partial(self._shelve, table.id), tables=[table.id])
            self.tables.mark_unused(table.id)

    def _shelve(self, table_id: str, change: Change) -> None:
        table = change.table(table_id)
        served = any(temple.table_id == table_id for temple in self.temples.all())
        summary = None if served else summarized(table)
        outline = outlined(table.charter, table.game, table.version, summary) if summary else None
        if summary and outline:
            change.also(lambda transaction: transaction.set_outline(table.id, table.version, summary))
            self.tables.shelve(outline.with_keys(table.keys))

    def run(
        self, work: Callable[[Change], Result], *, temples: Iterable[str] = (), tables: Iterable[str] = ()
    ) -> Result:
        """Carry out one unit of work, and again if another writer of the store was first.

        `work` reads and changes through the `Change` that it is given, may be called several times, and must do
        nothing else. It may take further locks by the law above. Raises what it raises, and `ServiceError`
        ``store_failing``.
        """
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                with self.change(temples=temples, tables=tables) as change:
                    return work(change)
            except Conflict as conflict:
                reason = str(conflict)
        raise ServiceError("store_failing", reason=f"others were first {ATTEMPTS} times, the last with: {reason}")

    @contextmanager
    def change(self, *, temples: Iterable[str] = (), tables: Iterable[str] = ()) -> Iterator[Change]:
        """Begin a unit of work on these temples and tables; leaving the block commits it, then makes it visible.

        If the block raises, or the store fails, nothing has changed. Raises `Conflict` if another writer was first,
        or if the block changed nothing because it did not know another writer's entries; they have been read by then.

        A commit that failed may have been made, and only its answer lost. What it was about is therefore read again
        before a change uses it, or by `read_uncertain`.
        """
        if getattr(self._within, "change", False):
            raise RuntimeError("a change begins within another; expected one at a time, or two could wait for ever")
        self._within.change = True
        try:
            with ExitStack() as locks:
                take = partial(self._take, locks)
                change = Change(self.tables, self.temples, take, self.clock, self.paced, self.origin)
                change.lock_temples(*temples)
                change.lock_tables(*tables)
                try:
                    yield change
                except ServiceError:
                    self._check_read_on(change)
                    self._check_temples_read_on(change)
                    raise
                if change.writes:
                    try:
                        with self.store.transaction() as transaction:
                            change.write(transaction)
                    except Conflict:
                        self._read_on(change)
                        raise
                    except BaseException:
                        self._doubt(change)
                        raise
                else:
                    self._check_read_on(change)
                self._publish(change)
        finally:
            self._within.change = False

    def _take(self, locks: ExitStack, kind: str, names: Iterable[str]) -> None:
        """Take the locks of these names, and read again what is uncertain of them."""
        self._locks.take(locks, kind, names)
        if self._uncertain:
            self._read_again(kind, set(names))

    # Commits whose result is unknown

    def _doubt(self, change: Change) -> None:
        self._uncertain.add("source", {*change.known_sources, *change.sources})
        self._uncertain.add("temple", change.locked_temples)
        self._uncertain.add("table", {*change.locked_tables, *change.tables})
        self._uncertain.add("note", self.readers)

    def read_uncertain(self) -> None:
        """Read again what failed commits may have changed, except what somebody is changing now.

        Call it from time to time, so that pages show what is stored though nobody changes it again. If the store
        still fails, it does nothing.
        """
        with suppress(ServiceError):
            for kind in ("temple", "table") if self._uncertain else ():
                for name in sorted(self._uncertain.of(kind)):
                    with ExitStack() as locks:
                        if self._locks.take_if_free(locks, kind, name):
                            self._read_again(kind, {name})
            for name in self._uncertain.of("note"):
                self.readers[name]()
                self._uncertain.remove("note", [name])
                self.on_change(name)

    def _read_again(self, kind: str, names: set[str]) -> None:
        """Read again those of these locked tables or temples that are uncertain, and announce them here."""
        found = self._uncertain.of(kind) & names
        if found and kind == "temple":
            self.temples.read_on(found, self._uncertain.of("source"), self.clock())
        elif found and kind == "table":
            self._read_tables_again(found)
        for name in sorted(found):
            self.on_change(f"{kind}:{name}")
        self._uncertain.remove(kind, found)
        if not self._uncertain.of("temple"):
            self._uncertain.remove("source", self._uncertain.of("source"))

    def _read_tables_again(self, table_ids: set[str]) -> None:
        if opened := self._uncertain.of("table") - self.tables.ids():
            self.tables.read_charters(opened)
            self.on_change("tables")
        for table_id in table_ids:
            if self.tables.find(table_id) is not None:
                self.written[table_id] = self._read_table_on(table_id)
                if self.paced:
                    self.on_change(f"pace:{table_id}")

    # Other writers

    def _read_on(self, change: Change) -> None:
        """Read what another writer has changed about the locked tables and temples of a change."""
        for table_id in change.locked_tables:
            self._read_table_on(table_id)
        self.temples.read_on(change.locked_temples, change.known_sources, self.clock())

    def _read_table_on(self, table_id: str) -> int:
        """Read the entries that another writer has appended to a locked table; return its version."""
        table = self.tables.get(table_id)
        after = self.tables.after(table)
        if after.version > table.version:
            self._put_table(after)
        return after.version

    def _check_read_on(self, change: Change) -> None:
        """Raise `Conflict` if another writer has appended entries that a change did not know."""
        for table_id in sorted(change.locked_tables):
            if self._read_table_on(table_id) > change.known_version(table_id):
                raise Conflict(f"more entries at table {table_id!r}")

    def _check_temples_read_on(self, change: Change) -> None:
        """Raise `Conflict` if another companion has changed what a refused change knew of its temples."""
        if self.origin and change.locked_temples:
            before = self._stored_of(change.locked_temples)
            self.temples.read_on(change.locked_temples, change.known_sources, self.clock())
            if self._stored_of(change.locked_temples) != before:
                raise Conflict(f"temples {sorted(change.locked_temples)} were changed")

    def _stored_of(self, names: Iterable[str]) -> list[object]:
        """Return what decides whether a change of these temples is refused, as it is known here."""
        known = [(name, self.temples.find(name)) for name in names]
        return [
            (name, temple and (temple.stored(), temple.old, temple.request and temple.request.command.id))
            for name, temple in known
        ]

    # Other companions on the same store

    def announce(self, topic: str) -> None:
        """Announce something that is not stored to the other companions; raises `ServiceError` ``store_failing``."""
        with self.store.transaction() as transaction:
            transaction.announce(self.origin, [topic])

    def follow(self, topics: Iterable[str]) -> None:
        """Apply what other companions have announced; raises `ServiceError` ``store_failing``."""
        named = [topic.partition(":") for topic in dict.fromkeys(topics)]
        self.tables.expect_more({name for kind, _, name in named if kind == "table"})
        for name in sorted(name for kind, _, name in named if kind == "temple"):
            with ExitStack() as locks:
                self._locks.take(locks, "temple", [name])
                self.temples.read_on({name}, (), self.clock())
        for kind, colon, name in named:
            if kind in self.readers:
                self.readers[kind]()
            self.on_change(f"{kind}{colon}{name}")

    def follow_all(self) -> None:
        """Apply all changes of other companions, because announcements may have been missed."""
        self.tables.read_charters()
        temples, tables = self.temples.names(), self.tables.as_read()
        self.follow(
            [
                *(f"table:{each.id}" for each in tables),
                *(f"temple:{each}" for each in sorted(temples)),
                "tables",
                *self.readers,
            ]
        )

    def _publish(self, change: Change) -> None:
        """Make the committed changes visible."""
        changed = {each.temple for each in change.sources.values() if each != self.temples.source(each.id)}
        self.temples.put_sources(change.sources)
        for table in change.tables.values():
            self.written[table.id] = table.version
            self._put_table(table)
        for topic in change.paced_topics():
            self.on_change(topic)
        for temple, visible in change.temples.values():
            if self.temples.put(temple):
                changed.add(temple.name)
                if visible and temple.table_id in self.tables:
                    self.on_change(f"table:{temple.table_id}")
        for name in sorted(changed):
            self.on_change(f"temple:{name}")

    def _put_table(self, table: Table) -> None:
        before = self.tables.put(table)
        if before is not None:
            self.on_change(f"table:{table.id}")
        if before is None or table.phase != before.phase:
            self.on_change("tables")

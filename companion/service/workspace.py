"""The unit of work: changes are collected under locks, made durable, and only then seen by anybody else.

Law of the locks: a change takes those of its notes first, then those of its temples, by name, then those of its
tables, by id, each kind at once; and no change begins within another. So no two of them can wait for each other. A
table's or a temple's value is written only under its own lock; reading takes none, for every value is frozen and
replaced as a whole. The store commits while a change holds its own locks and no other, so everybody reads meanwhile,
and other tables and temples can change.

Several companions may share a store. Each table, temple and note has one owner then: a change takes over what it
locks, reads what others have stored of it, and commits only while it still is the owner. What others own is read when
somebody looks at it here, as often as `follow` says that it has changed.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from companion.games.kit import Game
from companion.model.chance import below_from
from companion.model.outline import Outline, outlined, summarized
from companion.model.ports import Conflict, Store
from companion.model.table import ServiceError
from companion.service.change import Change
from companion.service.known_notes import KnownNotes
from companion.service.known_tables import KnownTables
from companion.service.known_temples import KnownTemples
from companion.service.locks import Locks
from companion.service.ownership import Alone, Ownership

ATTEMPTS = 50
"""How often a unit of work is tried at most, because another companion was first."""

PAUSE_S, MOST_PAUSE_S = 0.005, 1.0
"""The longest pause before the second attempt, and the longest one: each may be twice as long as the one before."""

Result = TypeVar("Result")


class Workspace:
    """All tables, temples and notes in memory, and the store in which every change is durable first."""

    def __init__(
        self,
        store: Store,
        games: Mapping[str, Game[Any]],
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        on_change: Callable[[str], None] = lambda topic: None,
        paced: bool = False,
        owners: Ownership | None = None,
    ) -> None:
        """Read what the store holds.

        `clock` returns aware times in UTC, `entropy` a number of random bytes. `on_change` is called with a topic,
        ``table:<id>``, ``temple:<name>``, ``note:<name>`` or ``tables``, after each durable change; it must not
        block.
        `paced` says that a pacer makes the app's moves for absent players one at a time; it gets the topic
        ``pace:<id>`` for each table that begins or ceases to await such a move. `owners` say what this companion owns
        of a store that others share; without it, it owns everything.
        """
        self.store = store
        self.clock = clock
        self.entropy = entropy
        self.below = below_from(entropy)
        self.on_change = on_change
        self.on_taken: list[Callable[[str], None]] = []
        """Called with each topic that was taken over, after it was read."""
        self.paced = paced
        self.owners: Ownership = owners or Alone()
        self.written: dict[str, int] = {}
        """The version of each table that was last changed here, rather than by another companion."""
        self._locks = Locks()
        self._unsure_sources: set[str] = set()
        """The sources that changes with an unknown result have looked at."""
        self._within = threading.local()
        self.tables = KnownTables(store, games, self._locks, owners is not None)
        self.temples = KnownTemples(store, self._locks, clock)
        self.notes = KnownNotes(store, self._locks)

    def shelve(self) -> None:
        """Unload each finished table that nobody has read since the last call, keeping its outline."""
        for table in self.tables.unused():
            if self.owners.holds(topic := f"table:{table.id}"):
                self.run(partial(self._shelve, table.id), tables=[table.id])
                self.owners.release(topic)
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
        self,
        work: Callable[[Change], Result],
        *,
        notes: Iterable[str] = (),
        temples: Iterable[str] = (),
        tables: Iterable[str] = (),
        live: bool = False,
    ) -> Result:
        """Carry out one unit of work, and again if another companion was first.

        `work` reads and changes through the `Change` that it is given, may be called several times, and must do
        nothing else. It may take further locks by the law above. A `live` one is about what is not stored, and takes
        nothing over: what it would store of another companion's is left to that one.
        Raises what `work` raises, and `ServiceError` ``store_failing``.
        """
        taken: list[str] = []
        result = self._run(work, taken, notes, temples, tables, live)
        self._gather(taken)
        return result

    def _run(
        self,
        work: Callable[[Change], Result],
        taken: list[str],
        notes: Iterable[str] = (),
        temples: Iterable[str] = (),
        tables: Iterable[str] = (),
        live: bool = False,
    ) -> Result:
        """Do what `run` does, and add the topics to `taken` that were taken over for it."""
        reason = ""
        for attempt in range(ATTEMPTS):
            if attempt:  # two companions that take the same things from each other come apart by chance
                time.sleep(random.uniform(0, min(PAUSE_S * 2 ** (attempt - 1), MOST_PAUSE_S)))  # noqa: S311
            try:
                with self._change(taken, notes, temples, tables, live) as change:
                    return work(change)
            except Conflict as conflict:
                reason = str(conflict)
        raise ServiceError("store_failing", reason=f"others were first {ATTEMPTS} times, the last with: {reason}")

    @contextmanager
    def _change(
        self, taken: list[str], notes: Iterable[str], temples: Iterable[str], tables: Iterable[str], live: bool
    ) -> Iterator[Change]:
        """Begin a unit of work; leaving the block commits it, then makes it visible.

        If the block raises, or the store fails, nothing has changed. Raises `Conflict` if another companion was
        first, also if the block has changed nothing.

        A commit that failed may have been made, and only its answer lost: what it was about is forgotten, and read
        again before a change uses it, or by `read_forgotten`.
        """
        if getattr(self._within, "change", False):
            raise RuntimeError("a change begins within another; expected one at a time, or two could wait for ever")
        self._within.change = True
        try:
            with ExitStack() as locks:
                take = partial(self._take, locks, taken, live)
                change = Change(self.tables, self.temples, self.notes, take, self.clock, self.paced)
                if notes:
                    change.lock_notes(*notes)
                change.lock_temples(*temples)
                change.lock_tables(*tables)
                try:
                    yield change
                except ServiceError:
                    self._confirm(change, live)
                    raise
                is_own = not live or all(map(self.owners.holds, change.topics))
                if change.writes and is_own:
                    self._commit(change)
                else:
                    self._confirm(change, live)
                self._publish(change, is_own)
        finally:
            self._within.change = False

    def _commit(self, change: Change) -> None:
        try:
            with self.store.transaction() as transaction:
                if epochs := self.owners.epochs(change.topics):
                    transaction.fence(epochs)
                change.write(transaction)
        except BaseException:
            self._forget(change)
            raise

    def _confirm(self, change: Change, live: bool) -> None:
        """Raise `Conflict` if what a change has read was another companion's by then."""
        if not live:
            try:
                self.owners.confirm(change.topics)
            except Conflict:
                self._forget(change)
                raise

    def _forget(self, change: Change) -> None:
        self._unsure_sources |= {*change.known_sources, *change.sources}
        self.owners.forget(change.topics)

    # Owning

    def _take(self, locks: ExitStack, taken: list[str], live: bool, kind: str, names: Iterable[str]) -> None:
        """Take the locks of these names; take over what is not owned, and read what is stored of it."""
        names = [*names]
        self._locks.take(locks, kind, names)
        for name in names:
            topic = f"{kind}:{name}"
            if not self.owners.holds(topic) and (not live or topic in self.owners.forgotten()):
                self.owners.take(topic)
                self._read_taken(kind, name)
                taken.append(topic)

    def _read_taken(self, kind: str, name: str) -> None:
        topic = f"{kind}:{name}"
        try:
            if kind == "table":
                self._read_table(name)
            elif kind == "temple":
                self.temples.read_on(name, self._unsure_sources)
                self._unsure_sources.clear()
            else:
                self.notes.read_on(name)
        except BaseException:
            self.owners.forget([topic])
            raise
        self.on_change(topic)

    def _read_table(self, table_id: str) -> None:
        forgotten = {topic.removeprefix("table:") for topic in self.owners.forgotten() if topic.startswith("table:")}
        if opened := {table_id, *forgotten} - self.tables.ids():  # or about to be opened
            self.tables.read_charters(opened)
            self.on_change("tables")
        if (table := self.tables.read_on(table_id)) is not None:
            self.written[table_id] = table.version
            if self.paced:
                self.on_change(f"pace:{table_id}")

    def _gather(self, taken: list[str]) -> None:
        """Let a temple and the table that it serves have the same owner, and pass on what was taken over."""
        for topic in [*taken]:
            kind, _, name = topic.partition(":")
            table = self.tables.find(name) if kind == "table" else None
            temple = self.temples.find(name) if kind == "temple" else None
            if table and table.temple and not self.owners.holds(f"temple:{table.temple}"):
                self._run(lambda change: None, taken, temples=[table.temple])
            if (
                temple
                and (served := self.tables.find(temple.table_id))
                and not self.owners.holds(f"table:{served.id}")
            ):
                self._run(lambda change: None, taken, tables=[served.id])
        for topic in dict.fromkeys(taken):
            for look in self.on_taken:
                look(topic)

    def read_forgotten(self) -> None:
        """Read again what failed commits may have changed, except what somebody is changing now.

        Call it from time to time, so that pages show what is stored though nobody changes it again. If the store
        still fails, it does nothing.
        """
        with suppress(ServiceError):
            for topic in sorted(self.owners.forgotten()):
                self.adopt(topic, partial(self.owners.take, topic))

    def adopt(self, topic: str, take: Callable[[], object]) -> None:
        """Take over what nobody owns and nobody is changing here, by `take`; that raises `Conflict` if another does.

        Raises `ServiceError` ``store_failing``.
        """
        kind, _, name = topic.partition(":")
        with ExitStack() as locks:
            if not self._locks.take_if_free(locks, kind, name) or self.owners.holds(topic):
                return
            try:
                take()
            except Conflict:
                return
            self._read_taken(kind, name)
        self._gather([topic])

    def unowned(self) -> Iterator[str]:
        """Return the topics of all temples, and of all tables whose games may go on."""
        yield from (f"temple:{temple.name}" for temple in self.temples.as_read())
        yield from (f"table:{table.id}" for table in self.tables.as_read() if not isinstance(table, Outline))

    def follow(self, topics: Iterable[str]) -> None:
        """Note that other companions have changed these: whoever looks at them reads them."""
        named = [topic.partition(":") for topic in topics]
        names: dict[str, set[str]] = {"table": set(), "temple": set(), "note": set()}
        for kind, _, name in named:
            names[kind].add(name)
        self.tables.mark_behind(names["table"])
        self.temples.mark_behind(names["temple"])
        self.notes.mark_behind(names["note"])
        for kind, _, name in named:
            self.on_change(f"{kind}:{name}")
        if names["table"]:
            self.on_change("tables")

    def _publish(self, change: Change, is_own: bool) -> None:
        """Make the committed changes visible; of what another companion owns, only what is not stored.

        Everything is visible before anything is announced, each topic once, and the pages of tables come first.
        """
        topics: list[str] = []
        if is_own:
            changed = (each for each in change.sources.values() if each != self.temples.source(each.id))
            topics += [f"temple:{each.temple}" for each in changed]
            self.temples.put_sources(change.sources)
            for table in change.tables.values():
                self.written[table.id] = table.version
                before = self.tables.put(table)
                if before is not None:
                    topics.append(f"table:{table.id}")
                if before is None or table.phase != before.phase:
                    topics.append("tables")
            topics += change.paced_topics()
            for name, value in change.notes.items():
                self.notes.put(name, value)
                topics.append(f"note:{name}")
        for temple, visible in change.temples.values():
            if self.temples.put(temple, stored=is_own):
                topics.append(f"temple:{temple.name}")
                if visible and temple.table_id in self.tables:
                    topics.append(f"table:{temple.table_id}")
        for topic in sorted(dict.fromkeys(topics), key=lambda each: not each.startswith("table:")):
            self.on_change(topic)

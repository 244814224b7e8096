"""The unit of work: changes are collected under locks, made durable, and only then seen by anybody else.

Law of the locks: a change takes those of its temples first, by name, then those of its tables, by id, each kind at
once; and no change begins within another. So no two of them can wait for each other. A table's or a temple's value is
written only under its own lock; reading takes none, for every value is frozen and replaced as a whole. The store
commits while a change holds its own locks and no other: a slow commit at one table keeps nobody else waiting.

Several companions may share a store. Each change announces its topics in its own transaction, and `follow` takes in
what the others announce: a temple at once, a table only when somebody reads it here.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from companion.games.kit import Game, Refusal, Seat
from companion.model.chance import below_from
from companion.model.entries import Action
from companion.model.history import folded
from companion.model.outline import Outline, outlined, summarized
from companion.model.ports import Conflict, OldTokens, Store, TempleRecord, Transaction
from companion.model.requests import TempleRequest
from companion.model.table import Charter, Entry, ServiceError, Table
from companion.model.temples import RECENT, Mark, Source, Temple

log = logging.getLogger(__name__)

MESSAGE = "message"
"""The topic of the organiser's message to all tables."""

ATTEMPTS = 50
"""How often a change is judged, at most: each time another writer was first, so that somebody gets on."""

Result = TypeVar("Result")


class Workspace:
    """All tables and temples as they are now, and the store in which every change of them is durable first."""

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

        `clock` gives aware times in UTC, `entropy` that many random bytes. `on_change` is given a topic,
        ``table:<id>``, ``temple:<name>``, ``tables`` or ``message``, after each change that is durable; it must not
        wait.
        `paced` says that somebody makes the app's moves for absent players one at a time, who is given the topic
        ``pace:<id>`` for each table that awaits such a move, or no longer does. `shared` says that other companions
        change the same store.
        """
        self.store = store
        self.games = MappingProxyType(dict(games))
        self.clock = clock
        self.entropy = entropy
        self.below = below_from(entropy)
        self.on_change = on_change
        self.readers: dict[str, Callable[[], None]] = {}
        """What reads a note again, by its topic, before `on_change` is given what another companion announced."""
        self.paced = paced
        self.shared = shared
        self.origin = entropy(8).hex() if shared else ""
        """What marks this companion's own announcements."""
        self.unreadable: list[tuple[str, str]] = []
        """Title and reason of each stored table that this software cannot replay; it is left as it is."""
        self._locks = _Locks()
        self._opening = threading.Lock()
        self._within = threading.local()
        self._tables: dict[str, Table] = {}
        self._asked: set[str] = set()
        """The tables that somebody asked for since `shelve` was last called."""
        self._refused: set[str] = set()
        self.written: dict[str, int] = {}
        """The version of each table that was last changed here, rather than by another companion."""
        self._behind: set[str] = set()
        """The tables of which others may have entered more than was read here."""
        self._read_tables()
        self._sources = self._stored_sources()
        self._temples = {record.name: self._read_temple(record) for record in store.temples()}

    def _read_temple(self, record: TempleRecord) -> Temple:
        """Return a temple as the store holds it; its source must have been read."""
        requests = self.store.requests([record.name]) if self.shared else {}
        return Temple(
            record.name,
            record.source,
            record.table_id,
            recent=self.store.recent(record.name, RECENT),
            totals=self.store.totals(record.name),
            quarantined=self.store.quarantined(record.name),
            old=self.old_of(record.source),
            request=TempleRequest.read(requests[record.name]) if requests else None,
        )

    def _read_tables(self) -> None:
        """Read every table; of those whose games are over only what lists show, once that has been stored.

        Of a shared store's other tables only the charters are read: their logs when somebody looks at them here.
        """
        served = {record.table_id for record in self.store.temples()}
        for kept in self.store.outlines():
            game = self.games.get(kept.charter.game)
            if game and kept.charter.id not in served:
                outline = outlined(kept.charter, game, kept.version, kept.summary)
                if outline:
                    self._tables[outline.id] = outline.with_keys(kept.keys)
        if self.shared:
            self._read_charters()
            return
        fresh: list[tuple[Table, str]] = []
        for record in self.store.tables(without=self._tables.keys()):
            table = self._folded(record.charter, record.entries, record.keys)
            if table is None:
                continue
            self._tables[table.id] = table
            if summary := summarized(table):
                fresh.append((table, summary))
        if fresh:
            with self.store.transaction() as transaction:
                for table, summary in fresh:
                    transaction.set_outline(table.id, table.version, summary)

    def _read_charters(self, only: Collection[str] | None = None) -> None:
        """Enter each table that others have opened, with its log to be read when somebody looks at it."""
        for charter in self.store.charters(only, without=self._tables.keys() | self._refused):
            try:
                table = Table.opened(charter, self.game(charter.game))
            except ServiceError as error:
                self._refuse(charter, error)
                continue
            with self._opening:
                self._behind.add(table.id)
                self._tables.setdefault(table.id, table)

    def _refuse(self, charter: Charter, error: Exception) -> None:
        log.error("table %r stays closed: %s", charter.title, error)
        self.unreadable.append((charter.title, str(error)))
        self._refused.add(charter.id)

    def _folded(self, charter: Charter, entries: Iterable[Entry], keys: Mapping[Seat, str]) -> Table | None:
        try:
            return folded(Table.opened(charter, self.game(charter.game)), entries).with_keys(keys)
        except (ServiceError, ValueError) as error:
            self._refuse(charter, error)
            return None

    def _current(self, table_id: str) -> Table | None:
        """Return a table after all that the store holds of it, or none where there is none or its log is broken."""
        if self.shared and table_id and table_id not in self._tables:
            self._read_charters([table_id])  # one that was opened just now may have been announced to nobody yet
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
        self._behind.discard(table_id)  # first: what is announced while it is read is read again
        try:
            if isinstance(table, Outline):
                after = self._folded(table.charter, self.store.entries(table_id), self.store.keys(table_id))
            else:
                after = self._after(table)
        except ServiceError:
            self._behind.add(table_id)
            raise
        except ValueError as error:
            self._refuse(table.charter, error)
            after = None
        with self._opening:
            current = self._tables.get(table_id)
            if after is None:
                self._tables.pop(table_id, None)
            elif current is table or (current and current.version < after.version):
                self._tables[table_id] = after
            return self._tables.get(table_id)

    def _after(self, table: Table) -> Table:
        """Return a table after the entries that it lacks; the keys are read later, so that they are no older."""
        entries = self.store.entries(table.id, after=table.version)
        return folded(table, entries).with_keys(self.store.keys(table.id)) if entries else table

    def shelve(self) -> None:
        """Keep only what lists show of each table whose game is over, if nobody asked for it since the last call."""
        asked, self._asked = self._asked, set()
        for table in self.tables():
            if table.phase == "over" and not isinstance(table, Outline) and table.id not in asked:
                self.run(partial(self._shelve, table.id), tables=[table.id])
                self._asked.discard(table.id)

    def _shelve(self, table_id: str, change: Change) -> None:
        table = change.table(table_id)
        served = any(temple.table_id == table_id for temple in self.temples())
        summary = None if served else summarized(table)
        outline = outlined(table.charter, table.game, table.version, summary) if summary else None
        if summary and outline:
            change.also(lambda transaction: transaction.set_outline(table.id, table.version, summary))
            with self._opening:
                self._tables[table.id] = outline.with_keys(table.keys)

    def _stored_sources(self, temples: Collection[str] | None = None) -> dict[str, Source]:
        """Return every ledger that tokens came from, or those of some temples.

        The marks are read first: whatever another companion enters meanwhile, what was found has its temple.
        """
        marks = self.store.marks(temples)
        of, old = self.store.sources(), {old.source: old for old in self.store.old()}
        return {
            source: Source(source, of[source], Mark(*record), old.get(source)) for source, record in marks.items()
        }

    # Reading

    def game(self, name: str) -> Game[Any]:
        """Return a game by its name; raises `ServiceError` ``unknown_game``."""
        try:
            return self.games[name]
        except KeyError:
            raise ServiceError("unknown_game", game=name[:32]) from None

    def tables(self) -> list[Table]:
        """Return every table; those whose games are over may be outlines, which `table` makes whole."""
        for table_id in list(self._behind):
            self._current(table_id)
        return self.known_tables()

    def known_tables(self) -> list[Table]:
        """Return every table as far as its log was read here: its charter, its code and its id are true."""
        return list(self._tables.values())

    def table(self, table_id: str) -> Table:
        """Return a table by its id; raises `ServiceError` ``unknown_table``."""
        table = self.find_table(table_id)
        if table is None:
            raise ServiceError("unknown_table")
        return table

    def find_new_tables(self) -> list[Table]:
        """Return the tables of a shared store that were opened elsewhere and announced to nobody yet."""
        before = set(self._tables)
        if self.shared:
            self._read_charters()
        return [table for table in self.known_tables() if table.id not in before]

    def has_table(self, table_id: str) -> bool:
        """Return whether there is a table with this id."""
        return table_id in self._tables

    def find_table(self, table_id: str | None) -> Table | None:
        """Return a table by its id, or none: a temple may serve one that this software cannot read."""
        table = self._current(table_id or "")
        if table is not None:
            self._asked.add(table.id)
        return table

    def temples(self) -> list[Temple]:
        """Return every temple."""
        return list(self._temples.values())

    def temple(self, name: str) -> Temple:
        """Return a temple by its name; raises `ServiceError` ``unknown_temple``."""
        try:
            return self._temples[name]
        except KeyError:
            raise ServiceError("unknown_temple", temple=name[:32]) from None

    def find_temple(self, name: str) -> Temple | None:
        """Return a temple by its name, or none where no message of it ever came."""
        return self._temples.get(name)

    def temple_count(self) -> int:
        """Return how many temples are known."""
        return len(self._temples)

    def sources(self) -> list[Source]:
        """Return every ledger that tokens came from, or that a temple's count named."""
        return list(self._sources.values())

    def source(self, source: str | None) -> Source | None:
        """Return a ledger by its id, or none where no token of it ever came."""
        return self._sources.get(source or "")

    def old_of(self, source: str | None) -> OldTokens | None:
        """Return the old tokens of a ledger, if it has any."""
        found = self.source(source)
        return found.old if found else None

    # Changing

    def run(
        self, judge: Callable[[Change], Result], *, temples: Iterable[str] = (), tables: Iterable[str] = ()
    ) -> Result:
        """Carry out one unit of work, and judge it again where another writer of the store was first.

        `judge` reads and changes through the `Change` that it is given, may be called several times, and must do
        nothing else. It may take further locks by the law above. Raises what it raises, and `ServiceError`
        ``store_failing``.
        """
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                with self.change(temples=temples, tables=tables) as change:
                    return judge(change)
            except Conflict as conflict:
                reason = str(conflict)
        raise ServiceError("store_failing", reason=f"others were first {ATTEMPTS} times, the last with: {reason}")

    @contextmanager
    def change(self, *, temples: Iterable[str] = (), tables: Iterable[str] = ()) -> Iterator[Change]:
        """Begin a unit of work on these temples and tables; leaving the block makes it durable, then visible.

        Where the block raises, or the store fails, nothing has happened. Raises `Conflict` where another writer was
        first, or had entered more than the block could know when it changed nothing; that has been read by then.
        """
        if getattr(self._within, "change", False):
            raise RuntimeError("a change begins within another; expected one at a time, or two could wait for ever")
        self._within.change = True
        try:
            with ExitStack() as locks:
                change = Change(self, lambda kind, names: self._locks.take(locks, kind, names))
                change.lock_temples(*temples)
                change.lock_tables(*tables)
                try:
                    yield change
                except ServiceError:
                    change.check_read_on()
                    raise
                if change.writes:
                    try:
                        with self.store.transaction() as transaction:
                            change.write(transaction)
                    except Conflict:
                        self._read_on(change)
                        raise
                else:
                    change.check_read_on()
                self._publish(change)
        finally:
            self._within.change = False

    def _read_on(self, change: Change) -> None:
        """Take in what another writer has entered about the tables and temples of a change, which is locked."""
        for table_id in change.locked_tables:
            self.read_on(table_id)
        if self.shared:
            self._read_temples(change.locked_temples)
        elif change.locked_temples:
            self._sources |= self._stored_sources(change.locked_temples)

    def read_on(self, table_id: str) -> int:
        """Take in the entries of a locked table that another writer has entered; return its version."""
        table = self.table(table_id)
        after = self._after(table)
        if after.version > table.version:
            self._put_table(after)
        return after.version

    def _read_temples(self, names: Collection[str]) -> None:
        """Take in what another writer has entered about temples, which are locked."""
        self._sources |= self._stored_sources(names)
        for record in self.store.temples():
            if record.name in names:
                before, after = self._temples.get(record.name), self._read_temple(record)
                self._temples[record.name] = before.read_on(after, self.clock()) if before else after

    # Other companions on the same store

    def announce(self, topic: str) -> None:
        """Announce something that is not stored to the other companions; raises `ServiceError` ``store_failing``."""
        with self.store.transaction() as transaction:
            transaction.announce(self.origin, [topic])

    def follow(self, topics: Iterable[str]) -> None:
        """Take in what other companions have announced; raises `ServiceError` ``store_failing``."""
        named = [topic.partition(":") for topic in dict.fromkeys(topics)]
        tables = {name for kind, _, name in named if kind == "table"}
        self._behind |= tables & self._tables.keys()
        if unknown := tables - self._tables.keys():
            self._read_charters(unknown)
        for name in sorted(name for kind, _, name in named if kind == "temple"):
            with ExitStack() as locks:
                self._locks.take(locks, "temple", [name])
                self._read_temples({name})
        for kind, colon, name in named:
            if kind in self.readers:
                self.readers[kind]()
            self.on_change(f"{kind}{colon}{name}")

    def follow_all(self) -> None:
        """Take in whatever other companions have changed: announcements may have been missed."""
        self._read_charters()
        temples = {record.name for record in self.store.temples()} | self._temples.keys()
        tables = list(self._tables)
        self.follow(
            [
                *(f"table:{each}" for each in tables),
                *(f"temple:{each}" for each in sorted(temples)),
                "tables",
                MESSAGE,
            ]
        )

    def _publish(self, change: Change) -> None:
        """Let everybody see what has become durable."""
        self._sources |= change.sources
        for table in change.tables.values():
            self.written[table.id] = table.version
            self._put_table(table)
        for topic in change.paced_topics():
            self.on_change(topic)
        for temple, shown in change.temples.values():
            if temple != self._temples.get(temple.name):
                self._temples[temple.name] = temple
                self.on_change(f"temple:{temple.name}")
                if shown and temple.table_id in self._tables:
                    self.on_change(f"table:{temple.table_id}")

    def _put_table(self, table: Table) -> None:
        with self._opening:
            before = self._tables.get(table.id)
            if before is None or before.version <= table.version:
                self._tables[table.id] = table
        if before is not None:
            self.on_change(f"table:{table.id}")
        if before is None or table.phase != before.phase:
            self.on_change("tables")


class Change:
    """One unit of work, as far as it has come: what it has locked, and what it will enter. Made by a `Workspace`."""

    def __init__(self, workspace: Workspace, take: Callable[[str, Iterable[str]], None]) -> None:
        """`take` takes the locks of names of one kind."""
        self._workspace = workspace
        self._take = take
        self.locked_temples: frozenset[str] = frozenset()
        self.locked_tables: frozenset[str] = frozenset()
        self._found: dict[str, Table] = {}
        """Each locked table as this change first saw it: others may enter more meanwhile."""
        self.discard()

    def discard(self) -> None:
        """Change nothing after all; the locks stay."""
        self.tables: dict[str, Table] = {}
        self.temples: dict[str, tuple[Temple, bool]] = {}
        """Each temple with whether its table shows what changed."""
        self.sources: dict[str, Source] = {}
        self._opened: list[Charter] = []
        self._entries: dict[str, list[Entry]] = {}
        self._keys: dict[str, Mapping[Seat, str]] = {}
        self._others: list[Callable[[Transaction], None]] = []

    # Locks

    def lock_temples(self, *names: str | None) -> None:
        """Take the locks of these temples, known or not, but for those it has; before that of any table."""
        wanted = {name for name in names if name} - self.locked_temples
        if wanted and (self.locked_temples or self.locked_tables):
            raise RuntimeError(f"temples {sorted(wanted)} are locked late; expected all at once, before any table")
        self._take("temple", wanted)
        self.locked_temples |= wanted

    def lock_tables(self, *table_ids: str) -> None:
        """Take the locks of these tables; raises `ServiceError` ``unknown_table``."""
        wanted = {self._workspace.table(table_id).id for table_id in table_ids}
        if wanted and self.locked_tables:
            raise RuntimeError(f"tables {sorted(wanted)} are locked late; expected all at once")
        self._take("table", wanted)
        self.locked_tables |= wanted

    def lock_with_temple(self, table_id: str, temple: str | None = None) -> Table:
        """Take the locks of a table, of the temple that serves it, of another and of the table that that one serves.

        Raises `ServiceError` ``unknown_table``, and `Conflict` where a temple was moved meanwhile.
        """
        before = self._workspace.table(table_id).temple
        other = self._workspace.find_temple(temple or "")
        self.lock_temples(before, other.name if other else None)
        other = self._workspace.find_temple(temple or "")
        served = self._workspace.find_table(other.table_id) if other else None
        self.lock_tables(table_id, *([served.id] if served else ()))
        table = self.table(table_id)
        if table.temple != before:
            raise Conflict(f"temple {before!r} was moved away from the table")
        return table

    # Reading

    @property
    def now(self) -> datetime:
        """The time."""
        return self._workspace.clock()

    @property
    def paced(self) -> bool:
        """Whether somebody makes the app's moves for absent players one at a time."""
        return self._workspace.paced

    def table(self, table_id: str) -> Table:
        """Return a table as this change leaves it."""
        if table_id in self.tables:
            return self.tables[table_id]
        if table_id not in self.locked_tables:
            raise RuntimeError(f"table {table_id!r} is not locked by this change; expected one of its own")
        if table_id not in self._found:
            self._found[table_id] = self._workspace.table(table_id)
        return self._found[table_id]

    def find_temple(self, name: str) -> Temple | None:
        """Return a temple as this change leaves it, or none where it is not known."""
        return self.temples[name][0] if name in self.temples else self._workspace.find_temple(name)

    def temple(self, name: str) -> Temple:
        """Return a temple as this change leaves it; raises `ServiceError` ``unknown_temple``."""
        return self.temples[name][0] if name in self.temples else self._workspace.temple(name)

    def source(self, source: str) -> Source | None:
        """Return a ledger as this change leaves it, or none where no token of it ever came."""
        return self.sources.get(source) or self._workspace.source(source)

    # Changing

    def open(self, charter: Charter) -> Table:
        """Open a new table, which nobody else can have seen."""
        table = Table.opened(charter, self._workspace.game(charter.game))
        self._opened.append(charter)
        self.tables[charter.id] = table
        return table

    def extend(self, table_id: str, by: Seat, action: Action, request: str = "", hand: str = "") -> Table | Refusal:
        """Enter the next line of a table's log; return the table after it, or why it cannot stand."""
        table = self.table(table_id)
        entry = table.entry(self.now, by, action, request, hand)
        after = table.extended(entry)
        if isinstance(after, Table):
            self._entries.setdefault(table_id, []).append(entry)
            self.tables[table_id] = after
        return after

    def enter(self, table_id: str, by: Seat, action: Action, request: str = "", hand: str = "") -> Table:
        """Enter the next line of a table's log; raises `ServiceError` with what the rules refuse it with."""
        after = self.extend(table_id, by, action, request, hand)
        if isinstance(after, Refusal):
            raise ServiceError(after.code, **after.facts)
        return after

    def set_keys(self, table_id: str, keys: Mapping[Seat, str]) -> Table:
        """Replace who holds the chairs of a table."""
        self._keys[table_id] = keys
        self.tables[table_id] = self.table(table_id).with_keys(keys)
        return self.tables[table_id]

    def put(self, temple: Temple, *, shown: bool = True) -> None:
        """Replace a temple, which is locked. `shown` says that the page of its table shows what changed."""
        before = self._workspace.find_temple(temple.name)
        if shown and temple.health() != (before or Temple(temple.name)).health():
            exact = before is not None and before.status is not None
            temple = replace(temple, since=self.now, exact=exact)
        self.temples[temple.name] = (temple, shown or (temple.name in self.temples and self.temples[temple.name][1]))

    def put_source(self, source: Source) -> None:
        """Replace a ledger, whose temple is locked."""
        self.sources[source.id] = source

    def write(self, transaction: Transaction) -> None:
        """Enter all of it in the store."""
        if self._workspace.shared:
            known = {name: self._workspace.find_temple(name) for name in self.locked_temples}
            transaction.expect_temples({name: temple.stored() if temple else None for name, temple in known.items()})
            transaction.announce(self._workspace.origin, self._topics())
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
            before = self._workspace.source(source.id)
            if before is None or before.mark.seq != source.mark.seq:
                transaction.set_mark(source.id, source.temple, source.mark.seq)
            if source.old is not None and (before is None or before.old != source.old):
                transaction.set_old(source.old)
        for other in self._others:
            other(transaction)

    def also(self, write: Callable[[Transaction], None]) -> None:
        """Enter something more in the same transaction, after all else."""
        self._others.append(write)

    @property
    def writes(self) -> bool:
        """Whether anything of it must be durable."""
        return bool(
            self._opened
            or self._entries
            or self._keys
            or self.sources
            or self._others
            or any(self._is_news(temple) for temple, _ in self.temples.values())
        )

    def _topics(self) -> list[str]:
        """Return what other companions are to look at again."""
        topics = [*(f"table:{table_id}" for table_id in self.tables), *self.paced_topics()]
        if any(self._is_listed_anew(table) for table in self.tables.values()):
            topics.append("tables")
        for temple, shown in self.temples.values():
            topics += [f"temple:{temple.name}", *([f"table:{temple.table_id}"] if shown and temple.table_id else ())]
        return [*dict.fromkeys(topics)]

    def paced_topics(self) -> list[str]:
        """Return a topic for each table that the app is to go on with, or was before this change."""
        tables = self.tables.values() if self.paced else ()
        return [f"pace:{each.id}" for each in tables if any(map(_goes_on, (each, self._found.get(each.id))))]

    def _is_listed_anew(self, table: Table) -> bool:
        before = self._found.get(table.id)
        return before is None or before.phase != table.phase

    def _is_news(self, temple: Temple) -> bool:
        before = self._workspace.find_temple(temple.name)
        return before is None or before.stored() != temple.stored()

    def check_read_on(self) -> None:
        """Raise `Conflict` where another writer has entered more at the locked tables than this change could know."""
        for table_id in sorted(self.locked_tables):
            if self._workspace.read_on(table_id) > self._found.get(table_id, self._workspace.table(table_id)).version:
                raise Conflict(f"more entries at table {table_id!r}")


def _goes_on(table: Table | None) -> bool:
    return table is not None and table.goes_on_by_itself


class _Locks:
    """One lock for each thing that was ever changed."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[tuple[str, str], threading.Lock] = {}

    def take(self, locks: ExitStack, kind: str, names: Iterable[str]) -> None:
        """Take the locks of these names of one kind, in their order, until the stack is left."""
        for name in sorted(names):
            with self._guard:
                lock = self._locks.setdefault((kind, name), threading.Lock())
            locks.enter_context(lock)

"""The temples in memory, and the ledgers that their tokens came from.

If several companions share a store, what is stored of another one's temple is read when somebody looks at it here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from datetime import datetime

from msgspec.structs import replace

from companion.model.ports import OldTokens, Store, TempleRecord
from companion.model.table import ServiceError
from companion.model.temples import RECENT, Mark, Source, Temple
from companion.service.locks import Locks


class KnownTemples:
    """All temples and sources in memory. Safe from any thread: each is frozen, and replaced as a whole."""

    def __init__(self, store: Store, locks: Locks, clock: Callable[[], datetime]) -> None:
        """Read what the store holds."""
        self._store = store
        self._locks = locks
        self._clock = clock
        self._replacing = threading.Lock()
        self._sources = self._stored_sources()
        records = list(store.temples())
        self._stored = {record.name: record for record in records}
        """What the store holds of each temple."""
        self._temples = {record.name: self._read(record) for record in records}
        self._behind: set[str] = set()
        """The temples of which another companion may have stored something."""

    # Finding

    def all(self) -> list[Temple]:
        """Return every temple."""
        for name in list(self._behind):
            self._current(name)
        return self.as_read()

    def as_read(self) -> list[Temple]:
        """Return every temple as it is in memory: its status is current, what is stored of it may not be."""
        return list(self._temples.values())

    def get(self, name: str) -> Temple:
        """Return a temple by its name; raises `ServiceError` ``unknown_temple``."""
        temple = self.find(name)
        if temple is None:
            raise ServiceError("unknown_temple", temple=name[:32])
        return temple

    def find(self, name: str) -> Temple | None:
        """Return a temple by its name, or None if no message of it ever came."""
        return self._current(name)

    def seen(self, name: str) -> Temple | None:
        """Return a temple as it is in memory, or None; as `as_read` does."""
        return self._temples.get(name)

    def stored(self, name: str) -> TempleRecord | None:
        """Return what the store holds of a temple, or None if it holds nothing."""
        return self._stored.get(name)

    def __len__(self) -> int:
        return len(self._temples)

    def sources(self) -> list[Source]:
        """Return every source that tokens came from, or that a temple's count named."""
        return list(self._sources.values())

    def source(self, source: str | None) -> Source | None:
        """Return a source by its id, or None if it is unknown."""
        return self._sources.get(source or "")

    def old_of(self, source: str | None) -> OldTokens | None:
        """Return the old tokens of a source, if it has any."""
        found = self.source(source)
        return found.old if found else None

    # Replacing

    def put(self, temple: Temple, *, stored: bool = True) -> bool:
        """Replace a temple; return whether anything about it has changed. `stored` says that the store has it so."""
        if stored:
            self._stored[temple.name] = temple.stored()
        with self._replacing:
            before, self._temples[temple.name] = self._temples.get(temple.name), temple
        return temple != before

    def put_sources(self, sources: Mapping[str, Source]) -> None:
        """Replace sources."""
        self._sources |= sources

    def mark_behind(self, names: Iterable[str]) -> None:
        """Note that another companion may have stored something of these temples."""
        self._behind |= {*names}

    def _current(self, name: str) -> Temple | None:
        if name in self._behind:
            with ExitStack() as reading:
                if self._locks.take_if_free(reading, "temple", name):  # or whoever has it knows more
                    self.read_on(name)
        return self._temples.get(name)

    def read_on(self, name: str, sources: Collection[str] = ()) -> None:
        """Read what is stored of a locked temple, its sources and some others; raises `ServiceError`."""
        was_behind = name in self._behind
        self._behind.discard(name)  # first, so that whatever changes during the read is read again
        try:
            with self._store.reading():
                self._read_on(name, sources)
        except ServiceError:
            if was_behind:
                self._behind.add(name)
            raise

    def _read_on(self, name: str, sources: Collection[str]) -> None:
        record = next((each for each in self._store.temples() if each.name == name), None)
        counting = {record.source} if record and record.source else set()
        stored = self._stored_sources([name], {*sources, *counting})
        for source, after in stored.items():
            before = self._sources.get(source)
            unsure = before is not None and before.unsure and after.old == before.old
            self._sources[source] = replace(after, unsure=unsure)  # nobody stores whether a source is unsure
        if record is not None:
            read = self._read(record)
            self._stored[name] = record
            with self._replacing:
                known = self._temples.get(name)
                self._temples[name] = (known or read).read_on(read, self._clock())

    # Reading the store

    def _read(self, record: TempleRecord) -> Temple:
        """Return a temple as the store holds it; its source must have been read."""
        return Temple(
            record.name,
            record.source,
            record.table_id,
            record.heaps,
            record.token,
            recent=self._store.recent(record.name, RECENT),
            totals=self._store.totals(record.name),
            quarantined=self._store.quarantined(record.name),
            old=self.old_of(record.source),
        )

    def _stored_sources(
        self, temples: Collection[str] | None = None, sources: Collection[str] = ()
    ) -> dict[str, Source]:
        """Return every stored source, or those of some temples and these.

        The marks are read first, so that each has its temple even if another companion adds sources meanwhile.
        """
        marks = self._store.marks(temples, sources)
        of = self._store.sources(temples, marks)
        old = {old.source: old for old in self._store.old()}
        return {
            source: Source(source, of[source], Mark(*record), old.get(source)) for source, record in marks.items()
        }

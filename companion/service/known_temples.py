"""The temples in memory, and the ledgers that their tokens came from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from companion.model.ports import OldTokens, Store, TempleRecord
from companion.model.requests import TempleRequest
from companion.model.table import ServiceError
from companion.model.temples import RECENT, Mark, Source, Temple


class KnownTemples:
    """All temples and sources in memory. Safe from any thread: each is frozen, and replaced as a whole."""

    def __init__(self, store: Store, shared: bool) -> None:
        """Read what the store holds. `shared` says that other companions change it."""
        self._store = store
        self._shared = shared
        self._sources = self._stored_sources()
        self._temples = {record.name: self._read(record) for record in store.temples()}

    # Finding

    def all(self) -> list[Temple]:
        """Return every temple."""
        return list(self._temples.values())

    def get(self, name: str) -> Temple:
        """Return a temple by its name; raises `ServiceError` ``unknown_temple``."""
        try:
            return self._temples[name]
        except KeyError:
            raise ServiceError("unknown_temple", temple=name[:32]) from None

    def find(self, name: str) -> Temple | None:
        """Return a temple by its name, or None if no message of it ever came."""
        return self._temples.get(name)

    def __len__(self) -> int:
        return len(self._temples)

    def names(self) -> set[str]:
        """Return the names of all temples that are known here or stored by others."""
        return {record.name for record in self._store.temples()} | self._temples.keys()

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

    def put(self, temple: Temple) -> bool:
        """Replace a temple; return whether anything about it has changed."""
        if temple == self._temples.get(temple.name):
            return False
        self._temples[temple.name] = temple
        return True

    def put_sources(self, sources: Mapping[str, Source]) -> None:
        """Replace sources."""
        self._sources |= sources

    def read_on(self, names: Collection[str], sources: Collection[str], now: datetime) -> None:
        """Read what another writer has changed about locked temples, their sources and some others."""
        if not names:
            return
        with self._store.reading():
            self._read_on(names, sources, now)

    def _read_on(self, names: Collection[str], sources: Collection[str], now: datetime) -> None:
        records = [record for record in self._store.temples() if record.name in names]
        counting = {record.source for record in records if record.source}
        stored = self._stored_sources(names, {*sources, *counting})
        for source, after in stored.items():
            before = self._sources.get(source)
            unsure = before is not None and before.unsure and after.old == before.old
            self._sources[source] = replace(after, unsure=unsure)  # nobody stores whether a source is unsure
        for record in records:
            known, read = self._temples.get(record.name), self._read(record)
            self._temples[record.name] = known.read_on(read, now) if known else read

    # Reading the store

    def _read(self, record: TempleRecord) -> Temple:
        """Return a temple as the store holds it; its source must have been read."""
        requests = self._store.requests([record.name]) if self._shared else {}
        return Temple(
            record.name,
            record.source,
            record.table_id,
            recent=self._store.recent(record.name, RECENT),
            totals=self._store.totals(record.name),
            quarantined=self._store.quarantined(record.name),
            old=self.old_of(record.source),
            request=TempleRequest.read(requests[record.name]) if requests else None,
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

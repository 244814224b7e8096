"""The store's notes in memory: short texts about the installation, such as its name or the organiser's message."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

from companion.model.ports import Store
from companion.model.table import ServiceError
from companion.service.locks import Locks


class KnownNotes:
    """All notes that somebody has read. Safe from any thread."""

    def __init__(self, store: Store, locks: Locks) -> None:
        self._store = store
        self._locks = locks
        self._values: dict[str, str] = {}
        self._behind: set[str] = set()
        """Those that another companion may have changed."""

    def get(self, name: str) -> str:
        """Return a note, or an empty string; raises `ServiceError` ``store_failing``."""
        known = self._values.get(name)
        if known is not None and name not in self._behind:
            return known
        with ExitStack() as reading:
            if self._locks.take_if_free(reading, "note", name):
                return self.read_on(name)
        return self._store.note(name)  # somebody is changing it: this may be outdated at once, and is not kept

    def read_on(self, name: str) -> str:
        """Read a locked note, and return it; raises `ServiceError` ``store_failing``."""
        self._behind.discard(name)  # first, so that whatever changes during the read is read again
        try:
            self._values[name] = self._store.note(name)
        except ServiceError:
            self._behind.add(name)
            raise
        return self._values[name]

    def put(self, name: str, value: str) -> None:
        """Replace a locked note."""
        self._values[name] = value

    def mark_behind(self, names: Iterable[str]) -> None:
        """Note that another companion may have changed these: whoever asks reads them again."""
        self._behind |= {*names}

"""What a commit may have changed whose result is unknown, until it is read again: its answer may have been lost."""

from __future__ import annotations

import threading
from collections.abc import Iterable


class Uncertain:
    """Names by their kind: tables, temples, sources and notes. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: frozenset[tuple[str, str]] = frozenset()

    def __bool__(self) -> bool:
        return bool(self._names)

    def add(self, kind: str, names: Iterable[str]) -> None:
        """Add names of one kind."""
        with self._lock:
            self._names |= {(kind, name) for name in names}

    def remove(self, kind: str, names: Iterable[str]) -> None:
        """Remove names of one kind, which were read again."""
        with self._lock:
            self._names -= {(kind, name) for name in names}

    def of(self, kind: str) -> set[str]:
        """Return the names of one kind."""
        return {name for each, name in self._names if each == kind}

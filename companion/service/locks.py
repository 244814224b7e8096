"""One lock for each table and each temple."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack


class Locks:
    """The locks, by kind and name."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[tuple[str, str], threading.Lock] = {}

    def take(self, locks: ExitStack, kind: str, names: Iterable[str]) -> None:
        """Take the locks of these names of one kind, in sorted order, until the stack is left."""
        for name in sorted(names):
            with self._guard:
                lock = self._locks.setdefault((kind, name), threading.Lock())
            locks.enter_context(lock)

    def take_if_free(self, locks: ExitStack, kind: str, name: str) -> bool:
        """Take the lock of a name until the stack is left, unless somebody has it; return whether it was free."""
        with self._guard:
            lock = self._locks.setdefault((kind, name), threading.Lock())
        if not lock.acquire(blocking=False):
            return False
        locks.callback(lock.release)
        return True

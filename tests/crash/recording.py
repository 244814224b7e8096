"""Everything that a database asked of its disk, in order, and what its program said in between.

It records through `tests.chaos.seam` while the real code runs on a real disk; it changes nothing, and lets syncs fail
where a workload wishes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tests.chaos import seam


class Created(NamedTuple):
    """A file got its name."""

    name: str


class Wrote(NamedTuple):
    """Bytes were handed to the system."""

    name: str
    offset: int
    data: bytes


class Truncated(NamedTuple):
    """A file was cut or lengthened."""

    name: str
    size: int


class Synced(NamedTuple):
    """What was written to a file before this is on the disk after it."""

    name: str


class Deleted(NamedTuple):
    """A file lost its name."""

    name: str


class FolderSynced(NamedTuple):
    """The names that were given and taken before this are on the disk after it."""


class Said(NamedTuple):
    """What the program let others know: from here on a power cut must not make it untrue."""

    fact: object


Event: TypeAlias = Created | Wrote | Truncated | Synced | Deleted | FolderSynced | Said


@dataclass(slots=True)
class Recording:
    """A watcher that writes down."""

    events: list[Event] = field(default_factory=list)
    written: int = 0
    """Bytes, in all."""
    syncs: int = 0
    refuses: bool = False
    """Whether syncs fail: what they were asked to make durable stays as it was."""
    _owing: set[str] = field(default_factory=set)
    """Logs whose first sync will sync the folder as well: SQLite does so by itself."""

    def say(self, fact: object) -> None:
        """Write down what is promised from here on."""
        self.events.append(Said(fact))

    def opening(self, path: Path, flags: int, journal: bool) -> int:
        """Note a file that is made."""
        if flags & seam.OPEN_CREATE:
            if not path.exists():
                self.events.append(Created(path.name))
            if journal:
                self._owing.add(path.name)
        return flags

    def writing(self, path: Path, offset: int, data: bytes) -> int:
        """Note a write."""
        self.events.append(Wrote(path.name, offset, data))
        self.written += len(data)
        return seam.OK

    def truncating(self, path: Path, size: int) -> int:
        """Note a truncation."""
        self.events.append(Truncated(path.name, size))
        return seam.OK

    def syncing(self, path: Path) -> int:
        """Note a sync, or refuse it."""
        if self.refuses:
            return seam.IOERR_FSYNC
        self.events.append(Synced(path.name))
        self.syncs += 1
        if path.name in self._owing:
            self._owing.discard(path.name)
            self.events.append(FolderSynced())
        return seam.OK

    def deleting(self, path: Path, durably: bool) -> int:
        """Note a deletion."""
        self.events.append(Deleted(path.name))
        if durably:
            self.events.append(FolderSynced())
        return seam.OK


@contextmanager
def recorded() -> Iterator[Recording]:
    """Record what SQLite does in this process, and when a program syncs a folder by itself."""
    recording = Recording()
    layer = seam.Seam(recording).put_in()
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        fsync(descriptor)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            recording.events.append(FolderSynced())

    os.fsync = noted  # type: ignore[assignment]
    try:
        yield recording
    finally:
        os.fsync = fsync
        layer.take_out()

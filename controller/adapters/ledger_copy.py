"""Reads a ledger whose disk cannot be written, from a copy in memory of what is certainly on the disk.

SQLite needs files of its own beside a ledger even to read it, and a full or read-only disk has no room for them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from controller.adapters.sqlite_ledger import Ledger
from controller.core.ports import LedgerTrouble
from templo.contract import Trouble

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 (only for new folders in it)
"""A file system in memory, which has room when the disk has none; None for the system's folder of temporary files."""

_CHUNK = 1 << 20


def read_copy(path: Path) -> Ledger:
    """Return a ledger as it is on its disk, in memory; it takes no writes. Raises `LedgerError` or `LedgerTrouble`.

    Law: what this returns is on the disk. A commit whose sync failed, or whose process was killed, can be in the
    system's memory alone; a token of it that was published and then lost in a power cut would leave its number to
    another token. So each file is synced, dropped from the system's memory and read again: what comes back then came
    from the disk. Where the sync fails nothing is returned. (A file system that stopped taking writes by itself may
    call a sync done that never was; there the id in the companion's acknowledgement finds out.)
    """
    try:
        with TemporaryDirectory(prefix="templo-ledger-", dir=MEMORY) as folder:
            return Ledger.open_copy(copied(path, Path(folder)), path)
    except OSError as error:
        raise LedgerTrouble(Trouble.LEDGER_FAILING, f"the ledger {path} cannot be read: {error}") from error


def copied(path: Path, folder: Path) -> Path:
    """Copy a ledger and its log, as they are on the disk, into a folder and return the copy; raises `OSError`."""
    copy = folder / path.name
    _copy_durable(path, copy)
    with suppress(FileNotFoundError):  # there is no log after an orderly end
        _copy_durable(Path(f"{path}-wal"), Path(f"{copy}-wal"))
    return copy


def _copy_durable(path: Path, copy: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        with copy.open("wb") as file:
            while chunk := os.read(descriptor, _CHUNK):
                file.write(chunk)
    finally:
        os.close(descriptor)

"""Files that must survive a power cut or be private: written atomically, readable by their owner, locked."""

from __future__ import annotations

import fcntl
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OWNER_ONLY = 0o600
_SQLITE_COMPANIONS = ("", "-wal", "-shm", "-journal")

log = logging.getLogger(__name__)


class HeldError(Exception):
    """Another process has a file's lock; `holder` is its process id, or empty if unknown."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"process {holder or 'unknown'} has the lock")
        self.holder = holder


def lock(descriptor: int) -> None:
    """Lock an open file until it is closed, and write this process's id into it; raises `HeldError`."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        raise HeldError(holder if holder.isdigit() else "") from None
    with suppress(OSError):  # on a full disk the lock holds, and only its holder's number is missing
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def sync(path: Path) -> None:
    """Make a file's content, or the names in a folder, durable; raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def create_private(path: Path) -> None:
    """Create an empty file of mode 0600; raises `OSError`, also if it exists."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_ONLY))


@contextmanager
def draft_beside(file: Path) -> Iterator[Path]:
    """Give a new private file to replace another one with; if it is not used, it is removed with SQLite's files."""
    path = file.absolute().with_name(f".{file.name}.draft")
    path.unlink(missing_ok=True)
    create_private(path)
    try:
        yield path
    finally:
        for ending in _SQLITE_COMPANIONS:
            path.with_name(path.name + ending).unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 atomically and durably; raises `OSError`."""
    partial = path.with_suffix(".new")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, OWNER_ONLY), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync(path.absolute().parent)


def make_private(path: Path) -> None:
    """Give a file mode 0600 if it exists; one that belongs to somebody else is only logged."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            path.chmod(OWNER_ONLY)
            log.info("%s could be opened by other users of this machine; now its owner alone can", path)
    except FileNotFoundError:
        pass
    except OSError as error:
        log.warning("%s can be opened by other users of this machine, and stays so: %s", path, error)


def make_folder_private(folder: Path) -> None:
    """Give every file in a folder mode 0600: a copy may have left it as the umask was."""
    try:
        paths = list(folder.iterdir())
    except OSError as error:
        log.warning("%s cannot be listed, so that nothing in it is made private: %s", folder, error)
        return
    for path in paths:
        if not path.is_symlink():
            make_private(path)


def make_database_private(path: Path) -> None:
    """Give a SQLite database and the files beside it mode 0600.

    SQLite gives its log and its shared memory the mode of the database, so those that it makes later need nothing.
    """
    for ending in _SQLITE_COMPANIONS:
        make_private(path.with_name(path.name + ending))

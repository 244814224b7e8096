"""Files that are their owner's alone: tightened where they are not. New ones are made so by the umask."""

from __future__ import annotations

import logging
from pathlib import Path

log = logging.getLogger(__name__)

OWNER_ONLY = 0o600
_SQLITE_COMPANIONS = ("", "-wal", "-shm", "-journal")


def make_database_private(path: Path) -> None:
    """Give a SQLite database and the files beside it mode 0600.

    SQLite gives its log and its shared memory the mode of the database, so those that it makes later need nothing.
    """
    for ending in _SQLITE_COMPANIONS:
        make_private(path.with_name(path.name + ending))


def make_private(path: Path) -> None:
    """Give a file mode 0600 if it is there; one that belongs to somebody else is named in the log."""
    try:
        if path.stat().st_mode & 0o077:
            path.chmod(OWNER_ONLY)
            log.info("%s could be opened by other users of this machine; now its owner alone can", path)
    except FileNotFoundError:
        pass
    except OSError as error:
        log.warning("%s can be opened by other users of this machine, and stays so: %s", path, error)

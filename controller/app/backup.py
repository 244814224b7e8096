"""`templo-controller backup` and `restore`: a temple's ledger and learned limits as one file."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from controller.adapters import learned_file
from controller.adapters.ledger_recovery import BUILDING, build, clear, exchange, trouble_with
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from controller.core.ports import LedgerError
from templo.files import OWNER_ONLY, draft_beside, sync, write_whole

_BESIDE = "CREATE TABLE beside (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT"


class BackupError(Exception):
    """A backup that cannot be written, or a file that is no backup; the message says why."""


def backup(state: Path, file: Path) -> int:
    """Write a state folder's ledger and learned limits into one file; return the number of tokens.

    A daemon may be running. The file is written atomically. Raises `BackupError`, `FileNotFoundError`, `LedgerError`
    and `LedgerTrouble`.
    """
    if os.path.lexists(file):
        raise BackupError(f"the backup {file} is there already; expected a name that nothing has")
    with closing(Ledger.open(state / FILE_NAME, str, read_only=True)) as ledger:
        try:
            with draft_beside(file) as draft:
                with closing(sqlite3.connect(draft, isolation_level=None)) as target:
                    ledger.copy_to(target)
                    target.execute("PRAGMA journal_mode = DELETE")
                    target.execute("PRAGMA synchronous = FULL")
                    target.execute(_BESIDE)
                    with suppress(FileNotFoundError):
                        content = (state / learned_file.FILE_NAME).read_bytes()
                        target.execute("INSERT INTO beside VALUES (?, ?)", (learned_file.FILE_NAME, content))
                    (number,) = target.execute("SELECT count(*) FROM token").fetchone()
                draft.replace(file)
                sync(file.absolute().parent)
        except (OSError, sqlite3.Error) as error:
            raise BackupError(f"the backup {file} cannot be written: {error}") from error
    return int(number)


def restore(state: Path, file: Path, now: datetime) -> tuple[int, int, Path | None]:
    """Replace the ledger of a state folder by a backup; the caller holds the folder's lock.

    A new source begins with the tokens that were not delivered when the backup was made, and a notice says so.
    Returns how many tokens the backup has, how many of them will be sent again, and the path of the replaced ledger.
    Raises `BackupError`, `LedgerError` and `LedgerTrouble`.
    """
    try:
        clear(state)
        building = state / BUILDING
        try:
            building.write_bytes(file.read_bytes())
        except OSError as error:
            raise BackupError(f"the backup {file} cannot be read or copied: {error}") from error
        building.chmod(OWNER_ONLY)
        content = _taken_from(building, file)
        counts: list[int] = []

        def renew(ledger: Ledger) -> None:
            ledger.renew(secrets.token_hex(16), "backup_restored", now)
            counts.extend((sum(1 for _ in ledger.tokens()), ledger.last_seq))

        build(state, lambda: secrets.token_hex(16), renew)
        aside = exchange(state, now.astimezone(UTC), "replaced")
        if content is not None:
            write_whole(state / learned_file.FILE_NAME, content)
    except LedgerError as error:
        clear(state)
        raise BackupError(f"{file} is no whole backup of a temple: {error}") from error
    except OSError as error:
        raise trouble_with(state, error) from error
    return counts[0], counts[1], aside


def _taken_from(building: Path, file: Path) -> bytes | None:
    """Take out of a backup what was stored beside the ledger; raises `BackupError` if the file is no backup."""
    try:
        with closing(sqlite3.connect(building, isolation_level=None)) as found:
            row = found.execute("SELECT content FROM beside WHERE name = ?", (learned_file.FILE_NAME,)).fetchone()
            found.execute("DROP TABLE beside")
    except sqlite3.Error as error:
        building.unlink(missing_ok=True)
        raise BackupError(f"{file} is no backup of a temple: {error}") from error
    return None if row is None else bytes(row[0])

"""`templo-companion backup FILE` and `restore FILE`: their output and exit codes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TextIO

from companion.adapters.database import backup
from companion.adapters.database.opening import without_password
from companion.settings import Settings


def back_up(settings: Settings, file: Path, now: datetime, out: TextIO) -> int:
    """Make a backup and print its contents."""
    made = backup.back_up(settings.store_url, file, now)
    print(f"Wrote {file}: {made.summary()}.", file=out)
    return 0


def restore(settings: Settings, file: Path, now: datetime, out: TextIO) -> int:
    """Restore a backup, and print its contents and what happens next."""
    settings.state_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    done = backup.restore(file, settings.store_url, settings.state_directory, now)
    print(f"Restored {file} of {done.backup.made_at:%Y-%m-%d %H:%M} UTC: {done.backup.summary()}.", file=out)
    if done.replaced:
        print(f"What was there before is kept as {done.replaced}.", file=out)
    print(
        f"Now start the companion on {without_password(settings.store_url)}. It will ask every temple for the "
        "tokens that this backup lacks; they are counted for the table that the temple served when it was made. "
        "Moves that people made since then are gone; a seat that was taken since then is free again.",
        file=out,
    )
    return 0

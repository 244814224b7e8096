"""The lock that lets one companion use a database, or several that all share it. It ends with its process.

For SQLite it is a lock on a file beside the database, for PostgreSQL an advisory lock of a connection that stays
open. Other databases are not locked.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from pathlib import Path
from typing import Self

import sqlalchemy as sa

from companion.adapters.database.opening import StoreError, engine_for, sqlite_path, without_password
from templo import files

log = logging.getLogger(__name__)

PATIENCE_S = 5.0
"""How long PostgreSQL may take to notice that the previous companion is gone."""

LOOK_EVERY_S = 5.0
"""Seconds between checks of the connection that holds PostgreSQL's lock."""

_POLL_S = 0.2
_KEY = "hashtextextended('templo-companion.' || current_schema(), 0)"
_TRY = {
    False: sa.text(f"SELECT pg_try_advisory_lock({_KEY})"),
    True: sa.text(f"SELECT pg_try_advisory_lock_shared({_KEY})"),
}
"""By whether it is shared."""
_SETTINGS = ("tcp_keepalives_idle = 10", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3")
"""A companion's machine that lost its power is noticed within half a minute, not after two hours."""


def hold(url: str, *, shared: bool = False) -> AbstractContextManager[object]:
    """Hold the right to be the only companion of a database, until the end of a `with` block.

    With `shared` it is the right to be one of several, which needs PostgreSQL. Raises `StoreError` if another
    companion has the database for itself, or, for one alone, if any has it.
    """
    try:
        backend = sa.make_url(url).get_backend_name()
    except sa.exc.ArgumentError as error:
        raise StoreError(f"store is {without_password(url)!r}; expected the URL of a database ({error})") from None
    if backend == "postgresql":
        return _ServerLock(url, shared)
    if shared:
        raise StoreError(
            f"store is {without_password(url)!r} and shared is on; expected the URL of a PostgreSQL, which several "
            "companions can use at once"
        )
    path = sqlite_path(url)
    return _locked_file(path, url) if path else nullcontext()


def _in_use(url: str, by: str = "") -> StoreError:
    return StoreError(
        f"store is {without_password(url)!r}, which another companion{by} uses; expected one that is free: "
        "end that companion, or give this one another database (TEMPLO_STORE) or state directory"
    )


def _locked_file(database: Path, url: str) -> ExitStack:
    """Lock a file of its own: SQLite's locks on the database are lost when any handle of it is closed."""
    path = database.resolve()
    path = path.with_name(f"{path.name}.lock")
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, files.OWNER_ONLY)
    except OSError as error:
        raise StoreError(
            f"store is {without_password(url)!r}; expected a folder in which {path.name} can be written ({error})"
        ) from None
    files.make_private(path)
    try:
        files.lock(file)
    except files.HeldError as error:
        os.close(file)
        raise _in_use(url, f" (process {error.holder})" if error.holder else "") from None
    held = ExitStack()
    held.callback(os.close, file)
    return held


class _ServerLock:
    """An advisory lock of PostgreSQL, taken again after the server was restarted.

    If another companion took the lock meanwhile, the thread that notices it fails, and with it this companion.
    """

    def __init__(self, url: str, shared: bool) -> None:
        self._url = url
        self._try = _TRY[shared]
        self._engine = engine_for(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
        self._connection: sa.Connection | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="store-lock", daemon=True)
        try:
            self._take()
        except sa.exc.SQLAlchemyError as error:
            raise StoreError(
                f"store is {without_password(url)!r}; expected a database that can be opened ({error})"
            ) from None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self._drop()

    def _take(self) -> None:
        self._drop()
        connection = self._connection = self._engine.connect()
        for setting in _SETTINGS:
            connection.exec_driver_sql(f"SET {setting}")
        deadline = time.monotonic() + PATIENCE_S
        while not connection.execute(self._try).scalar():
            if time.monotonic() > deadline or self._ending.wait(_POLL_S):
                self._drop()
                raise _in_use(self._url)

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(sa.exc.SQLAlchemyError):
                self._connection.close()
        self._connection = None

    def _watch(self) -> None:
        while not self._ending.wait(LOOK_EVERY_S):
            try:
                if self._connection is None:
                    self._take()
                    log.info("the database is this companion's again")
                else:
                    self._connection.exec_driver_sql("SELECT 1")
            except sa.exc.DBAPIError as error:
                if self._connection is not None:
                    log.warning("the connection that keeps the database for this companion is gone: %s", error.orig)
                self._drop()

"""A thread that listens for what the other companions on one PostgreSQL announce, and applies it here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

import sqlalchemy as sa

from companion.adapters.background import Background
from companion.adapters.database.opening import engine_for
from companion.adapters.database.schema import CHANNEL
from companion.model.table import ServiceError
from templo.liveness import DISK_S, Beat, no_heartbeat

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
"""Seconds between checks of whether to stop."""

RETRY_S = 1.0
"""Seconds between attempts to reach the database."""


class Announcements(Background):
    """Calls `follow` with the topics that other companions announce, and `follow_all` if some may be missing."""

    def __init__(
        self,
        url: str,
        origin: str,
        follow: Callable[[Iterable[str]], None],
        follow_all: Callable[[], None],
        beat: Beat = no_heartbeat,
    ) -> None:
        """Store the arguments; `start` begins. Announcements of this companion, marked with `origin`, are ignored."""
        super().__init__("announcements")
        self._engine = engine_for(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
        self._driver_error: type[Exception] = self._engine.dialect.loaded_dbapi.Error
        self._origin = origin
        self._follow = follow
        self._follow_all = follow_all
        self._beat = beat

    def _run(self) -> None:
        while not self._ending.is_set():
            self._beat(DISK_S)
            try:
                with self._engine.connect() as connection:
                    self._listen(connection)
            except (sa.exc.DBAPIError, self._driver_error) as error:
                log.warning("changes of other companions do not arrive, trying again: %s", error)
            except ServiceError as error:
                log.warning("changes of other companions cannot be read, trying again: %s", error.facts["reason"])
            self._ending.wait(RETRY_S)

    def _listen(self, connection: sa.Connection) -> None:
        channel = connection.execute(sa.text(f"SELECT {CHANNEL}")).scalar_one()
        connection.exec_driver_sql(f'LISTEN "{channel}"')
        self._follow_all()
        driver = connection.connection.driver_connection
        assert driver is not None
        while not self._ending.is_set():
            self._beat(DISK_S)
            found = [notice.payload for notice in driver.notifies(timeout=LOOK_EVERY_S, stop_after=1)]
            # Whatever has come with it is taken in at once: a temple that counts fast is read once for many tokens.
            found += [notice.payload for notice in driver.notifies(timeout=0)]
            named = [each.partition(" ") for each in found]
            if topics := [topic for origin, _, topic in named if origin != self._origin]:
                self._follow(topics)

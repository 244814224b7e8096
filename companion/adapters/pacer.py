"""The thread that makes the moves of absent players one at a time, at the pace of their table."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from companion.adapters.background import Background
from companion.model.entries import PACES
from companion.model.table import ServiceError, Table
from companion.service.services import Services
from templo.liveness import DISK_S, IDLE_S, Beat, no_heartbeat

RETRY_S = 1.0
"""Seconds until a table that could not be read, or whose move could not be made, is tried again."""

log = logging.getLogger(__name__)


def seconds(table: Table) -> float:
    """Return how many seconds a table waits before each move of the app."""
    return PACES[table.pace]


class Pacer(Background):
    """Watches every table that this companion owns for a move of the app, and makes it when it is due.

    At the start it checks every table, so that it continues where an earlier run ended.
    """

    def __init__(
        self,
        services: Services,
        wait: Callable[[Table], float] = seconds,
        beat: Beat = no_heartbeat,
    ) -> None:
        """Store the arguments; `start` begins. `wait` gives the seconds before the app's next move at a table."""
        super().__init__("pacer")
        self._services = services
        self._wait = wait
        self._beat = beat
        self._changed: SimpleQueue[str | None] = SimpleQueue()
        self._due: dict[str, float] = {}
        self._unread: dict[str, float] = {}
        """When to retry the tables that could not be read."""

    def notice(self, topic: str) -> None:
        """Note a table at which the app must move: ``"pace:<id>"``; ignore other topics. Safe from any thread."""
        kind, _, table_id = topic.partition(":")
        if kind == "pace":
            self._changed.put(table_id)

    def start(self) -> None:
        """Start, with every table that is already waiting."""
        for table in self._services.tables.own():
            if table.phase == "running":  # looking at a table whose game is over reads its whole log
                self._changed.put(table.id)
        super().start()

    def stop(self) -> None:
        """End the thread; a move that is being made is finished first."""
        self._changed.put(None)
        super().stop()

    def _run(self) -> None:
        while True:
            due = min((*self._due.values(), *self._unread.values()), default=math.inf)
            pause = min(IDLE_S, max(0.0, due - time.monotonic()))
            self._beat(pause + DISK_S)
            try:
                changed = self._changed.get(timeout=pause)
            except Empty:
                self._look_again()
                self._make_due_moves()
                continue
            if changed is None:
                return
            self._beat(DISK_S)
            self._look_at(changed)

    def _look_at(self, table_id: str) -> None:
        self._unread.pop(table_id, None)
        try:
            table = self._services.tables.find(table_id)
        except ServiceError as error:
            log.warning("table %s cannot be looked at, trying again: %s", table_id, error)
            self._unread[table_id] = time.monotonic() + RETRY_S
            return
        if table is None or not table.goes_on_by_itself:
            self._due.pop(table_id, None)
        else:
            self._due.setdefault(table_id, time.monotonic() + self._wait(table))

    def _look_again(self) -> None:
        now = time.monotonic()
        for table_id in [each for each, at in self._unread.items() if at <= now]:
            self._look_at(table_id)

    def _make_due_moves(self) -> None:
        now = time.monotonic()
        for table_id in [each for each, at in self._due.items() if at <= now]:
            del self._due[table_id]
            if not self._services.tables.is_own(table_id):
                continue
            self._beat(DISK_S)  # a move may take seconds to find
            try:
                self._services.play.go_on(table_id)
            except ServiceError as error:
                log.warning("the app's move at table %s waits: %s", table_id, error)
                self._due[table_id] = now + RETRY_S
            except Exception:  # what a game's rules or its app player raise stops that table alone
                log.exception("the app's move at table %s failed; people may go on", table_id)

"""The thread that puts away tables whose games are over and at which nobody looks any more."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from companion.model.table import ServiceError

EVERY_S = 600.0

log = logging.getLogger(__name__)


class Shelving:
    """Calls `shelve` from time to time, until it is stopped."""

    def __init__(self, shelve: Callable[[], None], every_s: float = EVERY_S) -> None:
        """Only remember; `start` begins."""
        self._shelve = shelve
        self._every_s = every_s
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="shelving", daemon=True)

    def start(self) -> None:
        """Begin; the first call comes later."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; a call that is under way is finished first."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._ending.wait(self._every_s):
            try:
                self._shelve()
            except ServiceError as error:
                log.warning("tables whose games are over stay in memory for now: %s", error)

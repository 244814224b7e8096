"""The thread that unloads what nobody looks at any more: tables whose games are over, and their pages."""

from __future__ import annotations

import logging
from collections.abc import Callable

from companion.adapters.background import Background
from companion.model.table import ServiceError

EVERY_S = 600.0

log = logging.getLogger(__name__)


class Shelving(Background):
    """Calls `shelve` from time to time, until it is stopped."""

    def __init__(self, shelve: Callable[[], None], every_s: float = EVERY_S) -> None:
        """Store the arguments; the first call comes `every_s` seconds after `start`."""
        super().__init__("shelving")
        self._shelve = shelve
        self._every_s = every_s

    def _run(self) -> None:
        while not self._ending.wait(self._every_s):
            try:
                self._shelve()
            except ServiceError as error:
                log.warning("tables whose games are over stay in memory for now: %s", error)

"""Ends a companion that nobody has used for a time: systemd starts it again when somebody connects."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from companion.adapters.background import Background

LOOK_S = 1.0

log = logging.getLogger(__name__)


class Idleness(Background):
    """Calls `end` once nothing was used for `limit_s` seconds: no `touch`, and never a page that is open."""

    def __init__(
        self,
        limit_s: float,
        pages_open: Callable[[], int],
        end: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        look_every_s: float = LOOK_S,
    ) -> None:
        """Store the arguments; `start` begins. `end` is called once, from this thread."""
        super().__init__("idleness")
        self._limit_s = limit_s
        self._pages_open = pages_open
        self._end = end
        self._clock = clock
        self._look_every_s = look_every_s
        self._used_at = clock()

    def touch(self) -> None:
        """Note that somebody uses the companion; from any thread."""
        self._used_at = self._clock()

    def _run(self) -> None:
        while not self._ending.wait(self._look_every_s):
            if self._pages_open():
                self.touch()
            elif self._clock() - self._used_at >= self._limit_s:
                log.info("nobody has used this companion for %.0f s; ending", self._limit_s)
                self._end()
                return

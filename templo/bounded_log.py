"""A log of bounded rate for what strangers can cause: it counts the lines that it leaves out, and logs the count."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

AT_ONCE = 10
"""Warnings in one minute that are logged in full."""

WINDOW_S = 60.0


class BoundedLog:
    """Logs the first warnings of each minute, and then how many more there were.

    `clock` gives seconds. Safe from any thread.

    >>> import sys
    >>> log = logging.getLogger("example"); log.propagate = False; log.addHandler(logging.StreamHandler(sys.stdout))
    >>> bounded = BoundedLog(log, lambda: 0.0, at_once=2)
    >>> for number in range(5):
    ...     bounded.warning("junk %d", number)
    junk 0
    junk 1
    """

    def __init__(self, log: logging.Logger, clock: Callable[[], float], at_once: int = AT_ONCE) -> None:
        self._log = log
        self._clock = clock
        self._at_once = at_once
        self._lock = threading.Lock()
        self._began_s = clock()
        self._logged = 0
        self._left_out = 0

    def warning(self, message: str, *args: object) -> None:
        """Log a warning, or count it."""
        self.settle()
        with self._lock:
            if self._logged >= self._at_once:
                self._left_out += 1
                return
            self._logged += 1
        self._log.warning(message, *args)

    def settle(self) -> None:
        """Log how many were left out of a past minute; called with every warning, and now and then without."""
        with self._lock:
            if abs(self._clock() - self._began_s) < WINDOW_S:
                return
            left_out, self._left_out, self._logged = self._left_out, 0, 0
            self._began_s = self._clock()
        if left_out:
            self._log.warning("%d more of the kind above in the last minute", left_out)

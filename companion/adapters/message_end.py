"""Has the pages painted again when the organiser's message ends by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable

_LATER_S = 0.1
"""Seconds after its end, so that it is over by any rounding."""


class MessageEnd:
    """One timer, set for the end of the message that is shown."""

    def __init__(self, seconds_left: Callable[[], float], end: Callable[[], None]) -> None:
        """Only remember; `end` is called from another thread when nothing is left of the message."""
        self._seconds_left = seconds_left
        self._end = end
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def look(self) -> None:
        """Set the timer for the message as it is now."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            left = self._seconds_left()
            self._timer = threading.Timer(left + _LATER_S, self._end) if left > 0 else None
            if self._timer:
                self._timer.daemon = True
                self._timer.start()

    def stop(self) -> None:
        """Set no timer any more."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
                self._timer.join()
            self._timer = None

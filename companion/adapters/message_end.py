"""Renders pages again when the organiser's message expires."""

from __future__ import annotations

import threading
from collections.abc import Callable

_LATER_S = 0.1
"""Seconds to wait beyond its end, so that it is over whatever the rounding."""

_AT_MOST_S = 5.0
"""Seconds between checks while a message is shown, because the clock may be set meanwhile."""


class MessageEnd:
    """One timer, set for the end of the message that is shown."""

    def __init__(self, seconds_left: Callable[[], float], end: Callable[[], None]) -> None:
        """Store the arguments; `end` is called from another thread when the message has ended."""
        self._seconds_left = seconds_left
        self._end = end
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._stopped = False

    def look(self) -> None:
        """Set the timer for the current message, unless this was stopped."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
                self._timer = None
            left = self._seconds_left()
            if left > 0 and not self._stopped:
                self._timer = threading.Timer(min(left, _AT_MOST_S) + _LATER_S, self._fired)
                self._timer.daemon = True
                self._timer.start()

    def stop(self) -> None:
        """Stop the timer, and wait for a call in progress."""
        with self._lock:
            self._stopped = True
            timer, self._timer = self._timer, None
        if timer:
            timer.cancel()
            timer.join()

    def _fired(self) -> None:
        if self._seconds_left() > 0:
            self.look()
        else:
            self._end()

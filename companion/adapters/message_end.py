"""Renders pages again when the organiser's message expires."""

from __future__ import annotations

import threading
from collections.abc import Callable

_LATER_S = 0.1
"""Seconds after its end, so that it is over by any rounding."""

_AT_MOST_S = 5.0
"""Seconds between two checks while a message is shown: the clock by which it ends may be set meanwhile."""


class MessageEnd:
    """One timer, set for the end of the message that is shown."""

    def __init__(self, seconds_left: Callable[[], float], end: Callable[[], None]) -> None:
        """Store the arguments; `end` is called from another thread when nothing is left of the message."""
        self._seconds_left = seconds_left
        self._end = end
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._stopped = False

    def look(self) -> None:
        """Set the timer for the message as it is now, unless this was stopped."""
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
        """Set no timer any more, and wait for one that is at work."""
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

"""What is tried for one tenant, and again after longer and longer pauses if it fails."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from companion.model.table import ServiceError

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
"""The pause before something that failed for one tenant is tried again, at first and at the longest."""


class Attempts:
    """When to try again what failed for a tenant, and the pause after that."""

    def __init__(self) -> None:
        self._retries: dict[tuple[str, str], tuple[float, float]] = {}

    def run(self, name: str, what: str, task: Callable[[], None]) -> None:
        """Do something for one tenant, unless it failed a moment ago; no failure concerns the others."""
        if not self.is_due(name, what):
            return
        try:
            task()
        except Exception as error:  # whatever one tenant's rows are like
            pause = self._pause(name, what)
            log.warning("tenant %r: %s failed, trying again in %.0f s: %s", name, what, pause, reason(error))
        else:
            self.forget(name, what)

    def failed(self, name: str, what: str, error: Exception) -> None:
        """Note that something that had begun for a tenant was ended by an error that nobody expected."""
        pause = self._pause(name, what)
        log.error("tenant %r: %s failed, trying again in %.0f s", name, what, pause, exc_info=error)

    def is_due(self, name: str, what: str) -> bool:
        """Return whether something may be tried for a tenant now."""
        return time.monotonic() >= self._retries.get((name, what), (0.0, 0.0))[0]

    def forget(self, name: str, what: str) -> None:
        """Forget that something failed for a tenant."""
        self._retries.pop((name, what), None)

    def _pause(self, name: str, what: str) -> float:
        """Let nothing be tried before a pause, which is longer each time; return its seconds."""
        pause = self._retries.get((name, what), (0.0, FIRST_PAUSE_S))[1]
        self._retries[name, what] = time.monotonic() + pause, min(2 * pause, LONGEST_PAUSE_S)
        return pause

    def is_failing(self, name: str, what: str) -> bool:
        """Return whether something failed for a tenant when it was last tried."""
        return (name, what) in self._retries


def reason(error: Exception) -> object:
    """Return what a log says of an error."""
    return error.facts.get("reason", error) if isinstance(error, ServiceError) else repr(error)

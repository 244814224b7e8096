"""This machine's name in the local network, as avahi has it.

Where a second machine has the same host name, avahi announces another one for it: `raspberrypi-2.local`.
"""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable

ASK_S = 5.0
"""How long a name is used."""

RETRY_S = 60.0
"""How long nobody is asked after there was no name: whoever asks may have waited for seconds."""

_COMMAND = (
    *("busctl", "--system", "--auto-start=no", "--timeout=2", "call"),
    *("org.freedesktop.Avahi", "/", "org.freedesktop.Avahi.Server", "GetHostNameFqdn"),
)
_ANSWER = re.compile(r's "([A-Za-z0-9.-]+)"\s*')


def ask_avahi() -> str:
    """Return the name that avahi announces for this machine, or nothing where it does not answer."""
    try:
        done = subprocess.run(_COMMAND, capture_output=True, text=True, check=False, timeout=5)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _ANSWER.fullmatch(done.stdout)
    return found[1].lower() if found else ""


class HostName:
    """The name that `ask` returns, asked again after a while by one thread at a time."""

    def __init__(self, ask: Callable[[], str] = ask_avahi, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._name = ""
        self._ask_at: float | None = None

    def look(self) -> str:
        """Return the name of now, or nothing where nobody gives one."""
        with self._lock:
            if self._ask_at is None or self._clock() >= self._ask_at:
                self._name = self._ask()
                self._ask_at = self._clock() + (ASK_S if self._name else RETRY_S)
            return self._name

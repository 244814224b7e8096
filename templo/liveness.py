"""Tracks whether every stage of a program makes progress, and notifies the supervisor (systemd) while all of them do.

A stage is known only by its name. This module never ends or restarts anything; systemd does.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, MutableMapping
from typing import TypeAlias

Beat: TypeAlias = Callable[[float], None]
"""Called by a stage's own thread: "I made progress; expect another call within so many seconds, or I am stuck"."""

IDLE_S = 5.0
"""How long a stage that has nothing to do may sleep before its next heartbeat."""

REST_S = IDLE_S + 3
"""The deadline of a stage that waits for something to do."""

SOON_S = 5.0
"""The deadline of a stage that waits only for its own work."""

DISK_S = 8.0
"""The deadline of a stage that may wait for a disk: memory cards stall for seconds without being dead."""

NETWORK_S = 60.0
"""The deadline of a stage that looks up a name or connects: a resolver without a network is slow."""

START_S = 30.0
"""How long a stage may take until its first beat."""

EXIT_MISCONFIGURED = 78
"""``EX_CONFIG`` of sysexits.h: another start fails in the same way until somebody changes a setting."""

log = logging.getLogger(__name__)


def no_heartbeat(within_s: float) -> None:
    """Ignore a heartbeat."""


class Pulse:
    """When each stage's next heartbeat is due. Safe from any thread; blocks only briefly.

    >>> clock = [0.0]
    >>> pulse = Pulse(["link"], lambda: clock[0])
    >>> pulse.of("link")(5.0)
    >>> clock[0] = 6.0
    >>> pulse.late()
    ['link']
    """

    def __init__(self, stages: Iterable[str], monotonic: Callable[[], float]) -> None:
        """Expect these stages; others may join with their first beat. `monotonic` gives seconds."""
        self._now = monotonic
        self._lock = threading.Lock()
        self._awaited = set(stages)
        self._due = dict.fromkeys(self._awaited, monotonic() + START_S)

    def of(self, stage: str) -> Beat:
        """Return the beat of one stage."""
        return lambda within_s: self.beat(stage, within_s)

    def beat(self, stage: str, within_s: float) -> None:
        """Note that a stage made progress, and when its next heartbeat is due."""
        with self._lock:
            self._awaited.discard(stage)
            self._due[stage] = self._now() + within_s

    def rest(self, stage: str) -> None:
        """Expect no more heartbeats of a stage that has ended in order."""
        with self._lock:
            self._awaited.discard(stage)
            self._due.pop(stage, None)

    def begun(self) -> bool:
        """Return whether every stage that was expected from the start has had a heartbeat."""
        with self._lock:
            return not self._awaited

    def late(self) -> list[str]:
        """Return the names of the stages whose heartbeat is overdue."""
        with self._lock:
            now = self._now()
            return sorted(stage for stage, due in self._due.items() if due < now)


class Supervisor:
    """The supervisor that waits for this program's notifications, by systemd's protocol, if there is one."""

    def __init__(self, environ: MutableMapping[str, str], pid: int) -> None:
        """Read from the environment where and how often to send, and remove the variables, so that no child does."""
        self._address = environ.pop("NOTIFY_SOCKET", "")
        every, whom = environ.pop("WATCHDOG_USEC", ""), environ.pop("WATCHDOG_PID", "")
        meant = not whom or whom == str(pid)
        self.watchdog_s = int(every) / 1e6 if self._address and meant and every.isdecimal() and int(every) else None

    @property
    def present(self) -> bool:
        """Whether anybody waits for the notifications."""
        return bool(self._address)

    def notify(self, *facts: str) -> None:
        """Send facts such as ``READY=1``; what cannot be sent now is dropped."""
        if not self._address:
            return
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as connection:
            connection.setblocking(False)
            try:
                connection.sendto("\n".join(facts).encode(), address)
            except OSError as error:
                log.warning("the supervisor at %s cannot be sent %s: %s", ascii(self._address), facts[0], error)


def refused_settings(reason: str, supervisor: Supervisor, otherwise: int) -> int:
    """Report why the settings allow no start; returns the exit code: that of a command unless supervised."""
    if not supervisor.present:
        return otherwise
    supervisor.notify(f"STATUS=cannot start: {reason}")
    return EXIT_MISCONFIGURED


class Feeder:
    """Notifies the supervisor that the program is ready, and from then on feeds its watchdog while all goes well."""

    def __init__(self, pulse: Pulse, supervisor: Supervisor) -> None:
        self._pulse = pulse
        self._supervisor = supervisor
        self._ready = False
        self._over = False
        self._stuck: list[str] = []

    def pause(self, most_s: float) -> float:
        """Return how long to wait until the next turn: at most so long, and always in time for the watchdog."""
        if not self._ready:
            return 0.05
        watchdog_s = self._supervisor.watchdog_s
        return most_s if watchdog_s is None else min(most_s, watchdog_s / 3)

    def turn(self) -> None:
        """Notify that all have begun, once; feed the watchdog unless some stage is stuck."""
        if self._over:
            return
        late = self._pulse.late()
        if late != self._stuck:
            self._stuck = late
            if late:
                log.error("no progress from: %s; the watchdog is not fed", ", ".join(late))
                self._supervisor.notify(f"STATUS=no progress from: {', '.join(late)}")
            else:
                log.warning("every stage makes progress again")
                self._supervisor.notify("STATUS=")
        if not self._ready and not late and self._pulse.begun():
            self._ready = True
            self._supervisor.notify("READY=1")
        if self._ready and not late:
            self._supervisor.notify("WATCHDOG=1")

    def stopping(self) -> None:
        """Notify that the program is ending in order."""
        self._over = True
        self._supervisor.notify("STOPPING=1")


def supervisor() -> Supervisor:
    """Return this process's supervisor."""
    return Supervisor(os.environ, os.getpid())

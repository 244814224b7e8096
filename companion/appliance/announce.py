"""Publishes `templo.local` as this machine's name for as long as it runs: the unit `templo-mayor-name`.

If another machine already has the name, this one is still reached by its own.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from companion.adapters.network.addresses import ALIAS, ANNOUNCED, announced_name, interface_addresses
from companion.adapters.network.avahi import Announcement, AvahiError, GroupState
from templo import logs
from templo.liveness import supervisor

LOOK_S = 5.0
"""Between two checks of the addresses and of what avahi made of the announcement."""

RETRY_S = 60.0
"""Until the next try when another machine has the name, or avahi is not there."""

log = logging.getLogger(__name__)


class Announced(Protocol):
    """A name that is announced until it is closed."""

    def state(self) -> GroupState:
        """Return avahi's state of it."""

    def close(self) -> None:
        """Take it back."""


class Announcer:
    """Keeps the name announced for the addresses of now; `look` is called every few seconds.

    `publish` announces a name for addresses, each on an interface, or raises `AvahiError`. `report` gets a sentence
    whenever something else is true. `own_name` returns the name that avahi announces by itself.
    """

    def __init__(
        self,
        publish: Callable[[str, Sequence[tuple[int, str]]], Announced],
        report: Callable[[str], None],
        own_name: Callable[[], str],
    ) -> None:
        self._publish = publish
        self._report = report
        self._own_name = own_name
        self._reported = ""
        self._current: Announced | None = None
        self._addresses: Sequence[tuple[int, str]] = ()
        self._retry_at = 0.0

    def look(self, addresses: Sequence[tuple[int, str]], now: float) -> None:
        """Announce what is to be announced now; `now` is in seconds of a monotonic clock."""
        if self._own_name() == ALIAS:
            self._give_up(f"{ALIAS} is this machine's own name, which avahi announces by itself", now)
            return
        if addresses != self._addresses:
            self.close()
            self._addresses, self._retry_at = addresses, now
        if self._current is None:
            if now < self._retry_at:
                return
            if not addresses:
                self._report_change(f"{ALIAS} is not announced: this machine is on no network")
                return
            try:
                self._current = self._publish(ALIAS, addresses)
            except AvahiError as error:
                self._give_up(f"{ALIAS} is not announced: {error}", now + RETRY_S)
                return
        try:
            state = self._current.state()
        except AvahiError as error:  # a restarted daemon has forgotten it
            self._give_up(f"{ALIAS} is not announced: {error}", now)
            return
        if state is GroupState.ESTABLISHED:
            self._report_change(ANNOUNCED)
        elif state is GroupState.COLLISION:
            self._give_up(f"{ALIAS} is not announced: another machine in this network has that name", now + RETRY_S)
        elif state is GroupState.FAILURE:
            self._give_up(f"{ALIAS} is not announced: avahi failed to", now + RETRY_S)

    def close(self) -> None:
        """Take the announcement back."""
        if self._current is not None:
            self._current.close()
            self._current = None

    def _give_up(self, why: str, until: float) -> None:
        self.close()
        self._retry_at = until
        self._report_change(why)

    def _report_change(self, what: str) -> None:
        if what != self._reported:
            self._reported = what
            self._report(what)


def main() -> int:
    """Announce the name until a signal comes."""
    logs.set_up("templo-mayor-name", "info")
    supervised = supervisor()

    def report(what: str) -> None:
        log.info("%s", what)
        supervised.notify(f"STATUS={what}")

    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: ended.set())
    supervised.notify("READY=1")
    announcer = Announcer(Announcement, report, announced_name)
    while not ended.is_set():
        announcer.look(interface_addresses(), time.monotonic())
        ended.wait(LOOK_S)
    announcer.close()
    return 0

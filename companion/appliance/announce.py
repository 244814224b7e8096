"""Publishes `templo.local` as this machine's name for as long as it runs: the unit `templo-mayor-name`.

If another machine already has the name, this one is still reached by its own.
"""

from __future__ import annotations

import logging
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from companion.adapters.network.addresses import (
    ALIAS,
    ANNOUNCED,
    address_changes,
    announced_name,
    interface_addresses,
)
from companion.adapters.network.avahi import Announcement, AvahiError, GroupState
from companion.adapters.network.host_name import ask_avahi
from templo import logs
from templo.liveness import supervisor

LOOK_S = 5.0
"""Until the next look while avahi asks the network whether the name is free."""

REST_S = 3600.0
"""Until the next look where nothing happens."""

RETRY_S = 60.0
"""Until the next try when another machine has the name, or avahi is not there."""

_MESSAGES = 65_536

log = logging.getLogger(__name__)


class Announced(Protocol):
    """A name that is announced until it is closed."""

    def state(self) -> GroupState:
        """Return avahi's state of it."""

    def fileno(self) -> int:
        """Return the descriptor that can be read when avahi says something."""

    def has_news(self) -> bool:
        """Take what avahi has said; return whether there was anything."""

    def close(self) -> None:
        """Take it back."""


class Announcer:
    """Keeps the name announced for the addresses of now; `look` is called when `wait` says so.

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
        self._rest_s = 0.0

    def wait(self, *others: socket.socket) -> list[socket.socket | Announced]:
        """Wait until it is time for a look, or one of `others` can be read; return what can."""
        if self._current is not None and self._current.has_news():
            return []
        watched: list[socket.socket | Announced] = [*others] if self._current is None else [*others, self._current]
        return select.select(watched, [], [], self._rest_s)[0]

    def look(self, addresses: Sequence[tuple[int, str]], now: float) -> None:
        """Announce what is to be announced now; `now` is in seconds of a monotonic clock."""
        self._rest_s = RETRY_S
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
                self._rest_s = REST_S
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
            self._rest_s = LOOK_S
            return
        if state is GroupState.ESTABLISHED:
            self._rest_s = REST_S
            self._report_change(ANNOUNCED)
        elif state is GroupState.COLLISION:
            self._give_up(f"{ALIAS} is not announced: another machine in this network has that name", now + RETRY_S)
        elif state is GroupState.FAILURE:
            self._give_up(f"{ALIAS} is not announced: avahi failed to", now + RETRY_S)
        else:
            self._rest_s = LOOK_S

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

    ended, end = socket.socketpair()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: end.send(b"."))
    supervised.notify("READY=1")
    announcer = Announcer(Announcement, report, lambda: announced_name(look=ask_avahi))
    with ended, end, address_changes() as changes:
        ready: list[socket.socket | Announced] = []
        while ended not in ready:
            with suppress(OSError):  # until nothing more waits
                while changes.recv(_MESSAGES):
                    pass
            announcer.look(interface_addresses(), time.monotonic())
            ready = announcer.wait(ended, changes)
    announcer.close()
    return 0

"""What a companion asks of its temples, and what they say of themselves beside their tokens.

Nothing here is durable, and no token is counted here. Who may ask is decided by whoever calls; how a request
travels is given to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from companion.errands import LIVES, MOST, Errand
from companion.table import HouseError
from companion.temple_service import TempleService
from companion.temples import Temple
from controller import wire

Carrier = Callable[[str, wire.Command], None]
"""Takes a request to the temple of that name; must not wait."""


class Queue(NamedTuple):
    """A temple's ledger beside what is kept here: numbers of its tokens. `recorded` is None until it was heard."""

    recorded: int | None
    acknowledged: int

    @property
    def waiting(self) -> int:
        """How many wait in the temple, by its last word."""
        return max(0, (self.recorded or 0) - self.acknowledged)


class Asking(TempleService):
    """All temples, as those who look after them see them."""

    _carrier: Carrier | None = None

    def speak_through(self, carrier: Carrier) -> None:
        """Let requests travel by this from now on."""
        self._carrier = carrier

    def ask(
        self,
        name: str,
        what: wire.CommandName,
        request: str,
        god: wire.God | None = None,
        count: int | None = None,
        keep: bool | None = None,
    ) -> Temple:
        """Ask a temple for something, once for each request id, and one thing at a time.

        Raises `HouseError` ``unknown_temple``, ``temple_away`` where nobody would hear it, ``temple_busy`` while it
        still answers the last request, ``bad_count``.
        """
        with self._lock:
            temple = self.temple(name)
            if temple.errand is not None and temple.errand.request == request:
                return temple
            if not (temple.alive and temple.reachable and self._carrier):
                raise HouseError("temple_away", temple=name)
            ends = keep is False and temple.errand is not None and temple.errand.measuring
            if temple.errand is not None and temple.errand.pending and not ends:
                raise HouseError("temple_busy", temple=name)
            if count is not None and not 1 <= count <= MOST:
                raise HouseError("bad_count", most=MOST)
            now = self._clock()
            command = wire.Command(self._entropy(16).hex(), what, now + LIVES, god=god, count=count, keep=keep)
            self._put(replace(temple, errand=Errand(command, request, now)))
            self._carrier(name, command)
            return self._temples[name]

    def replied(self, name: str, reply: wire.Reply) -> None:
        """Take in what a temple answers; an answer to something else than the last request is nobody's."""
        with self._lock:
            temple = self._temples.get(name)
            if temple is not None and temple.errand is not None:
                self._note(replace(temple, errand=temple.errand.replied(reply, self._clock())))

    def found(self, name: str, findings: wire.Findings) -> None:
        """Take in what a temple finds wrong with its beams."""
        with self._lock:
            if (temple := self._temples.get(name)) is not None:
                self._note(replace(temple, findings=findings))

    def noise(self, name: str, noise: wire.Noise) -> None:
        """Take in what a temple's beams heard that was no token."""
        with self._lock:
            if (temple := self._temples.get(name)) is not None:
                self._note(replace(temple, noise=noise))

    def counts(self, name: str, count: wire.Count) -> None:
        """Take in what a temple's ledger holds in all."""
        news = self._counts.get(name) != count
        super().counts(name, count)
        if news:
            self._on_change(f"temple:{name}")

    def pass_time(self) -> None:
        """Draw what follows from the time alone: an answer that is overdue, a minute without a token."""
        with self._lock:
            now = self._clock()
            for temple in self.temples():
                self._note(temple.timed(now))

    def queue(self, name: str) -> Queue:
        """Return how far a temple's ledger is, and how far its tokens are kept here."""
        temple, count = self.temple(name), self._counts.get(name)
        mark = self.mark(temple.source or "").seq
        return Queue(count.seq if count is not None and count.source == temple.source else None, mark)

    def _note(self, temple: Temple) -> None:
        """Take a temple that differs in nothing that its table shows."""
        if temple != self._temples[temple.name]:
            self._temples[temple.name] = temple
            self._on_change(f"temple:{temple.name}")

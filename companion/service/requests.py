"""What a companion asks of its temples, and what they say of themselves beside their tokens.

Nothing here is durable, and no token is counted here. Who may ask is decided by whoever calls; how a request
travels is given to it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from companion.games.kernel import Game
from companion.model.missing import EMPTY, EXPIRED, NEVER, REFUSED, SILENT, Missing
from companion.model.ports import Store
from companion.model.requests import LIVES, MOST, TempleRequest
from companion.model.table import ServiceError, Table
from companion.model.temples import Temple
from companion.service.temples import TempleService
from templo import contract

log = logging.getLogger(__name__)

_WORDS = {
    EXPIRED: "it refuses to send them, because of its clock: set the clocks right, or update its software",
    REFUSED: "it refuses to send them: restart it, and see its log",
    SILENT: "it does not answer: restart it",
    EMPTY: "it agrees to send them, and none has come: restart it, and see its log",
}

Carrier = Callable[[str, contract.Command], None]
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

    def __init__(
        self,
        store: Store,
        games: Mapping[str, Game[Any]],
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        on_change: Callable[[str], None] = lambda topic: None,
    ) -> None:
        """Take over what the store holds, as `Tables` does."""
        super().__init__(store, games, clock, entropy, on_change)
        self._missing: dict[str, Missing] = {}

    def speak_through(self, carrier: Carrier) -> None:
        """Let requests travel by this from now on."""
        self._carrier = carrier

    def ask(
        self,
        name: str,
        what: contract.CommandName,
        request: str,
        god: contract.God | None = None,
        count: int | None = None,
        keep: bool | None = None,
        notice: str | None = None,
    ) -> Temple:
        """Ask a temple for something, once for each request id, and one thing at a time.

        Raises `ServiceError` ``unknown_temple``, ``temple_away`` where nobody would hear it, ``temple_busy`` while it
        still answers the last request, ``bad_count``.
        """
        with self._lock:
            temple = self.temple(name)
            if temple.errand is not None and temple.errand.request == request:
                return temple
            if not (temple.alive and temple.reachable and self._carrier):
                raise ServiceError("temple_away", temple=name)
            ends = keep is False and temple.errand is not None and temple.errand.measuring
            if temple.errand is not None and temple.errand.pending and not ends:
                raise ServiceError("temple_busy", temple=name)
            if count is not None and not 1 <= count <= MOST:
                raise ServiceError("bad_count", most=MOST)
            now = self._clock()
            details: dict[str, Any] = {"god": god, "count": count, "keep": keep, "notice": notice}
            command = contract.Command(self._entropy(16).hex(), what, now + LIVES, **details)
            self._put(replace(temple, errand=TempleRequest(command, request, now)))
            self._carrier(name, command)
            return self._temples[name]

    def serve(self, table_id: str, temple: str | None) -> Table:
        """Let a temple serve a table without asking who wants it; a calibration under way ends with that."""
        with self._lock:
            before = self.table(table_id).temple
            table = super().serve(table_id, temple)
            if temple and temple != before:
                self.end_calibration(temple)
            return table

    def end_calibration(self, name: str) -> None:
        """End the calibration that a temple is in the middle of, so that what falls from now on scores."""
        with self._lock:
            temple = self.temple(name)
            if temple.errand is None or not temple.errand.measuring or self._carrier is None:
                return
            now, god = self._clock(), temple.errand.command.god
            calibrate = contract.CommandName.CALIBRATE
            command = contract.Command(self._entropy(16).hex(), calibrate, now + LIVES, god=god, keep=False)
            self._put(replace(temple, errand=TempleRequest(command, command.id, now)))
            self._carrier(name, command)

    def replied(self, name: str, reply: contract.Reply, now_s: float = 0.0) -> None:
        """Take in what a temple answers; an answer to something else than the last requests is nobody's.

        `now_s` is of the same clock as that of `ask_for_missing`.
        """
        with self._lock:
            temple = self._temples.get(name)
            if temple is None:
                return
            if temple.errand is not None:
                temple = replace(temple, errand=temple.errand.replied(reply, self._clock()))
            if (missing := self._missing.get(name)) is not None:
                temple = self._with_missing(temple, missing.replied(reply, now_s))
            self._note(temple)

    def ask_for_missing(self, now_s: float) -> None:
        """Ask each temple again for what its ledger has and is not stored here; `now_s` is of a monotonic clock.

        Call it twice a second, and after tokens were stored. Only the ledger that speaks for a temple is asked: a
        request names a number and no ledger.
        """
        with self._lock:
            for temple in self.temples():
                self._note(self._asked_for_missing(temple, now_s))

    def _asked_for_missing(self, temple: Temple, now_s: float) -> Temple:
        gap = bool(self.mark(temple.source or "").ahead)
        present = temple.alive or (gap and temple.status is None)
        if not (present and temple.reachable and temple.source and self._carrier):
            self._missing.pop(temple.name, None)
            return replace(temple, trouble=None)
        missing = self._missing.get(temple.name)
        if missing is None or missing.source != temple.source:
            missing = Missing(temple.source)
        recorded, acknowledged = self.queue(temple.name)
        missing = missing.looked(now_s, acknowledged, gap, recorded)
        if missing.due(now_s):
            log.info("temple %r: asking for its tokens from number %d on again", temple.name, acknowledged + 1)
            command = contract.Command(self._entropy(16).hex(), contract.CommandName.RESEND, NEVER, acknowledged + 1)
            missing = missing.asked(command.id, now_s)
            self._carrier(temple.name, command)
        return self._with_missing(temple, missing)

    def _with_missing(self, temple: Temple, missing: Missing) -> Temple:
        self._missing[temple.name] = missing
        if missing.trouble is not None and missing.trouble != temple.trouble:
            log.warning(
                "temple %r: its tokens from number %d on are missing here: %s%s",
                temple.name,
                missing.mark + 1,
                _WORDS[missing.trouble.code],
                f" ({missing.trouble.error})" if missing.trouble.error else "",
            )
        return replace(temple, trouble=missing.trouble)

    def found(self, name: str, findings: contract.Findings) -> None:
        """Take in what a temple finds wrong with its beams."""
        with self._lock:
            if (temple := self._temples.get(name)) is not None:
                self._note(replace(temple, findings=findings))

    def noise(self, name: str, noise: contract.Noise) -> None:
        """Take in what a temple's beams heard that was no token."""
        with self._lock:
            if (temple := self._temples.get(name)) is not None:
                self._note(replace(temple, noise=noise))

    def counts(self, name: str, count: contract.Count) -> None:
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

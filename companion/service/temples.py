"""The temples' current status, findings and noise, and whether the broker can be reached."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from companion.model.table import ServiceError
from companion.model.temples import Source, Temple
from companion.service.arrivals import TokenIntake
from companion.service.change import Change
from companion.service.decisions import Decisions
from companion.service.doubts import DoubtIntake
from companion.service.ledgers import Ledgers
from companion.service.requests import TempleRequests
from companion.service.serving import Serving
from companion.service.workspace import Workspace
from templo import contract
from templo.bounded_log import BoundedLog
from templo.lake import DEEP, KINDS

log = logging.getLogger(__name__)


class TempleService:
    """All temples; each attribute is a group of commands on them."""

    def __init__(
        self,
        workspace: Workspace,
        ledgers: Ledgers,
        intake: TokenIntake,
        doubts: DoubtIntake,
        requests: TempleRequests,
        serving: Serving,
        decisions: Decisions,
    ) -> None:
        self._workspace = workspace
        self.ledgers = ledgers
        self.intake = intake
        self.doubts = doubts
        self.requests = requests
        self.serving = serving
        self.decisions = decisions
        self._reachable = True
        self._doubts = BoundedLog(log, lambda: workspace.clock().timestamp())

    def now(self) -> datetime:
        """Return the time, which temples without a time server are given."""
        return self._workspace.clock()

    def all(self) -> tuple[Temple, ...]:
        """Return every temple that is known, by name."""
        return tuple(sorted(self._workspace.temples.all(), key=lambda temple: temple.name))

    def get(self, name: str) -> Temple:
        """Return a temple; raises `ServiceError` ``unknown_temple``."""
        return self._workspace.temples.get(name)

    def find(self, name: str) -> Temple | None:
        """Return a temple, or None if no message of it ever came."""
        return self._workspace.temples.find(name)

    def is_known(self, temple: str, source: str = "") -> bool:
        """Return whether a temple is in the store, and a source too if one is given."""
        known = self._workspace.temples.seen(temple) is not None
        return known and (not source or self._workspace.temples.source(source) is not None)

    def is_current(self, temple: str, source: str) -> bool:
        """Return whether a source is the one that a temple counts with now."""
        known = self._workspace.temples.seen(temple)
        return known is not None and known.source == source

    def own(self) -> tuple[Temple, ...]:
        """Return the temples that this companion owns: it stores their tokens, and answers them."""
        known = self._workspace.temples.as_read()
        return tuple(temple for temple in known if self.is_own(temple.name))

    def is_own(self, name: str) -> bool:
        """Return whether this companion owns a temple."""
        return self._workspace.owners.holds(f"temple:{name}")

    def take_over(self, topic: str) -> None:
        """Store what a temple has said of itself before this companion took it over; ignore other topics."""
        kind, _, name = topic.partition(":")

        def work(change: Change) -> None:
            if temple := change.find_temple(name):
                change.put(temple, visible=False)
                self.ledgers.meet(change, temple)

        if kind == "temple":
            self._workspace.run(work, temples=[name], live=True)

    def count(self) -> int:
        """Return how many temples are in the store."""
        return len(self._workspace.temples)

    def expect(self, name: str) -> Temple:
        """Return a temple by its name, adding it if it is unknown."""

        def work(change: Change) -> None:
            if change.find_temple(name) is None:
                change.put(Temple(name, reachable=self._reachable))

        self._workspace.run(work, temples=[contract.temple_name(name)])
        if self._workspace.temples.get(name).reachable != self._reachable:  # it has changed during the commit
            self._apply_reachable(name)
        return self._workspace.temples.get(name)

    def receive_status(self, name: str, status: contract.Status) -> None:
        """Process a temple's status."""

        def work(change: Change) -> tuple[Temple | None, Temple]:
            before = change.find_temple(name)
            after = (before or Temple(name, reachable=self._reachable)).with_status(status, change.now)
            after = replace(after, old=self._workspace.temples.old_of(after.source))
            change.put(after)
            if before and after.source and after.source != before.source and before.begins_anew(status):
                change.put_source(change.source(after.source) or Source(after.source, name))
            self.ledgers.meet(change, after)
            return before, after

        before, after = self._workspace.run(work, temples=[name], live=True)
        second = after.conflict.source if after.conflict else None
        if second and not (before and before.conflict and before.conflict.source == second):
            self._doubts.warning("two counters call themselves %r: %s and %s", name, after.source, second)

    def receive_findings(self, name: str, findings: contract.Findings) -> None:
        """Process a temple's findings."""
        if (known := self._workspace.temples.seen(name)) is not None:
            is_news = replace(known, findings=findings).to_level != known.to_level
            self._replace(name, lambda temple: replace(temple, findings=findings), visible=is_news)

    def receive_noise(self, name: str, noise: contract.Noise) -> None:
        """Process a temple's counts of glitches and missed edges."""
        if self._workspace.temples.seen(name) is not None:
            self._replace(name, lambda temple: replace(temple, noise=noise), visible=False)

    def level(self, name: str) -> None:
        """Count the heaps of a temple's lake from 0, because somebody has levelled it."""
        self._workspace.run(lambda change: change.put(change.temple(name).levelled()), temples=[name])

    def set_token(self, name: str, token: str) -> None:
        """Set which token a temple is played with; raises `ServiceError` ``bad_move`` for one that is unknown."""
        if token not in ("", DEEP, *(kind.name for kind in KINDS)):
            raise ServiceError("bad_move")
        self._workspace.run(lambda change: change.put(replace(change.temple(name), token=token)), temples=[name])

    def set_reachable(self, reachable: bool) -> None:
        """Set whether the broker can be reached."""
        self._reachable = reachable
        for temple in self._workspace.temples.as_read():
            self._apply_reachable(temple.name)

    def _apply_reachable(self, name: str) -> None:
        self._replace(name, lambda temple: replace(temple, reachable=self._reachable))

    @property
    def awaits_something(self) -> bool:
        """Whether `pass_time` or a request for missing tokens may soon have something to do."""
        return (
            self.requests.awaits_tokens
            or bool(self._workspace.owners.forgotten())
            or any(each.rush or (each.request and each.request.pending) for each in self._workspace.temples.as_read())
        )

    def pass_time(self) -> None:
        """Apply what follows from the time alone: an overdue reply, a minute without a token.

        What a failed change may have stored is read again.
        """
        self._workspace.read_forgotten()
        now = self._workspace.clock()
        for temple in self._workspace.temples.as_read():
            if (after := temple.timed(now)) != temple:
                is_slower = after.rush != temple.rush
                self._replace(temple.name, lambda temple: temple.timed(now), visible=is_slower)

    def _replace(self, name: str, after: Callable[[Temple], Temple], *, visible: bool = True) -> None:
        """Replace a temple after a change that is not stored."""
        self._workspace.run(
            lambda change: change.put(after(change.temple(name)), visible=visible), temples=[name], live=True
        )

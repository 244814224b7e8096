"""Builds the temple's status, noise and reports from the parts that know them."""

from __future__ import annotations

from datetime import datetime

from controller.core.board_intake import BoardIntake
from controller.core.ledger_access import LedgerAccess
from controller.core.name_watch import NameWatch
from controller.core.outbox import Outbox
from controller.core.publisher import Identity, Publisher
from controller.core.slots import ALARMING, Slots
from templo import contract
from templo.contract import State, Trouble


class StatusReporter:
    """Reads the temple's parts, and changes nothing in them."""

    def __init__(
        self,
        identity: Identity,
        slots: Slots,
        board: BoardIntake,
        outbox: Outbox,
        access: LedgerAccess,
        publisher: Publisher,
        name: NameWatch,
    ) -> None:
        self._identity = identity
        self._slots = slots
        self._board = board
        self._outbox = outbox
        self._access = access
        self._publisher = publisher
        self._name = name

    def status(self) -> contract.Status:
        """Return the current status message."""
        beams, notices = self._slots.beams(), self._access.notices
        taken = Trouble.NAME_TAKEN if self._name.taken else None
        trouble = self._access.trouble or self._board.trouble() or taken
        alert = trouble is not None or notices or any(beam in ALARMING for beam in beams.values())
        state = State.ALERT if alert else State.READY
        return self._identity.status(state, beams, self._access.source, trouble, notices)

    def noise(self) -> contract.Noise:
        """Return how many glitches and missed edges the beams gave."""
        return contract.Noise(self._identity.session, self._slots.glitches(), self._slots.missed_edges())

    def report(self) -> dict[str, object]:
        """Return everything that is known, for the command line."""
        status = self.status()
        last = self._publisher.last_seq if self._access.readable else None
        return {
            "temple": self._identity.temple,
            "state": status.state,
            "kind": status.kind,
            "software": status.software,
            "timing": status.timing,
            "session": status.session,
            "source": status.source,
            "trouble": status.trouble,
            "notices": [{"code": each.code, "at": contract.format_utc(each.at)} for each in status.notices],
            "beams": dict(status.beams),
            "glitches": self._slots.glitches(),
            "missed_edges": self._slots.missed_edges(),
            "totals": dict(self._publisher.totals) if last is not None else None,
            "last_seq": last,
            "delivered": self._publisher.delivered,
            "waiting": last - self._publisher.delivered if last is not None else None,
            "unrecorded": self._outbox.unrecorded(),
        }

    def selftest(self, now_ns: int, quiet: bool) -> dict[str, object]:
        """Return what each beam reads, what was seen of it and what is wrong, the most urgent first."""
        status = self.status()
        return {
            "state": status.state,
            "trouble": status.trouble,
            **self._slots.selftest(now_ns, quiet, self._board.ailment),
        }

    def findings(self, now_ns: int, at: datetime) -> contract.Findings:
        """Return what is wrong with the beams, as far as is known without a test."""
        return self._slots.findings(self._identity.session, at, now_ns, self._board.ailment)

    def seen(self) -> object:
        """Return everything that `findings` depends on, except the time."""
        return (self._slots.seen(), self._board.ailment)

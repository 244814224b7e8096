"""Publishes the temple's status, tokens and totals when they are due.

Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from msgspec import Struct

from controller.core.counting import SECOND
from controller.core.doubt_window import DoubtWindow
from controller.core.ports import Ledger, MessageSink
from controller.core.send_window import AckVerdict, SendWindow
from templo import contract
from templo.contract import Beam, God, State, Trouble

NOISE_NS = 5 * SECOND
"""The shortest interval of noise messages: a beam in the sun glitches a thousand times a second."""

COUNT_NS = SECOND // 4
"""The shortest interval of the retained totals, which are for screens."""

STATUS_NS = 30 * SECOND
"""The interval at which an unchanged status is repeated, and the totals and findings with it.

The nodes of a cluster may bring a late will and the status after it to two companions in different orders, or lose
one of them, and only the temple knows what is true.
"""

log = logging.getLogger(__name__)


class Identity(Struct, frozen=True):
    """The identity of this temple for the lifetime of the process."""

    temple: str
    session: str
    kind: contract.Kind
    software: str
    timing: contract.Timing

    def status(
        self,
        state: State,
        beams: Mapping[God, Beam],
        source: str | None,
        trouble: Trouble | None = None,
        notices: tuple[contract.Notice, ...] = (),
    ) -> contract.Status:
        """Return a status message."""
        return contract.Status(
            state, self.session, self.kind, self.software, self.timing, beams, source, trouble, notices
        )

    def gone(
        self,
        state: State,
        source: str | None,
        trouble: Trouble | None = None,
        notices: tuple[contract.Notice, ...] = (),
    ) -> contract.Status:
        """Return the status of a temple whose beams nobody watches any more."""
        return self.status(state, dict.fromkeys(God, Beam.UNKNOWN), source, trouble, notices)


def client_id(name: str) -> str:
    """Return a temple's client id: the same for each run, so that a new run replaces a dead one at the broker."""
    return f"templo-{name[:16]}"


class Publisher:
    """Publishes what is due, the tokens through a send window."""

    def __init__(self, outlet: MessageSink, ledger: Ledger | None) -> None:
        """Start disconnected, with what the ledger holds."""
        self._outlet = outlet
        self._window = SendWindow(0, 0)
        self._doubts = DoubtWindow(0)
        self.totals = dict.fromkeys(God, 0)
        """Of the temple's lifetime."""
        self._before = dict.fromkeys(God, 0)
        self._up = False
        if ledger is not None:
            self.begin(ledger)
        self._status: contract.Status | None = None
        self._status_ns = 0
        self._counted: int | None = None
        self._count_ns = 0
        self._noise: contract.Noise | None = None
        self._noise_ns = 0
        self._stale = False

    @property
    def last_seq(self) -> int:
        """The number of the last token that may be published."""
        return self._window.last

    @property
    def delivered(self) -> int:
        """The number up to which the companion has stored the tokens."""
        return self._window.delivered

    def connected(self) -> None:
        """Publish everything again: the broker may have lost what it retained."""
        self._up = True
        self._status = None
        self._counted = None
        self._noise = None
        self._noise_ns = 0
        self._window.connected()
        self._doubts.connected()

    def republish_status(self) -> None:
        """Publish the status again: something else is retained in its place."""
        self._status = None

    def disconnected(self) -> None:
        """Publish nothing until connected."""
        self._up = False
        self._window.disconnected()
        self._doubts.disconnected()

    def begin(self, ledger: Ledger) -> None:
        """Publish from this ledger, which was just opened; all of it may be published."""
        self._window = SendWindow(ledger.delivered, ledger.last_seq)
        self._doubts = DoubtWindow(ledger.last_doubt)
        self.totals = dict(ledger.totals)
        self._before = dict(ledger.totals_before)
        self._connect_windows()

    def recorded(self, token: contract.Token, fell_ns: int) -> None:
        """Add the next token, which is durable and final."""
        self._window.recorded(token.seq, fell_ns)
        self.totals[token.god] += 1

    def doubted(self, last: int) -> None:
        """Note the number of the ledger's last doubt, which is durable."""
        self._doubts.recorded(last)

    def doubts_stored(self, number: int, now_ns: int) -> bool:
        """Note that the companion has every doubt up to `number`; False if there are not so many here."""
        self._doubts.acknowledged(number, now_ns)
        return number <= self._doubts.last

    def acknowledged(self, seq: int, now_ns: int, named: bool = False) -> AckVerdict:
        """Note that the companion stored everything up to `seq`; `named` if it named that token."""
        return self._window.acknowledged(seq, now_ns, named)

    def renew(self, totals_before: Mapping[God, int], first: int) -> None:
        """Continue with a new source, whose tokens are those from the number `first` of the one before."""
        self._before = dict(totals_before)
        self._window = SendWindow(0, self._window.last - first + 1)
        self._doubts = DoubtWindow(self._doubts.last, stored=0)
        self._counted = None
        self._connect_windows()

    def _connect_windows(self) -> None:
        if self._up:
            self._window.connected()
            self._doubts.connected()

    def resend_unacknowledged(self) -> None:
        """Resend at once what is unacknowledged, to a companion that is known to be there again."""
        self._window.resend_unacknowledged()

    def resend_from(self, seq: int) -> None:
        """Treat everything from `seq` on as not delivered."""
        self._window.resend_from(seq)

    def publish_status(self, status: contract.Status, now_ns: int) -> bool:
        """Publish the status if it has changed or was published a while ago; return whether it was repeated."""
        is_news = status != self._status
        if not is_news and now_ns < self._status_ns:
            return False
        self._status_ns = now_ns + STATUS_NS
        if not self._outlet.publish(status):
            return False
        if not is_news:
            self._counted = None  # the totals are published again with it
        self._status = status
        return not is_news

    def status_deadline(self) -> int | None:
        """Return when `publish_status` will have something to publish by time alone."""
        return self._status_ns if self._up and self._status is not None else None

    def publish_noise(self, noise: contract.Noise, now_ns: int) -> None:
        """Publish glitches and missed edges if they have changed and the last message is old enough."""
        if self._up and noise != self._noise and now_ns >= self._noise_ns and self._outlet.publish(noise):
            self._noise = noise
            self._noise_ns = now_ns + NOISE_NS

    def publish_ledger(self, ledger: Ledger, now_ns: int) -> None:
        """Publish the doubts and tokens that are due, and the totals; raises what reading the ledger raises.

        Doubts come first, so that a token that is doubted from the beginning never counts.
        """
        if self._up:
            if self._counted is None:  # it shows a companion that does not know this temple which tokens are old
                self._publish_count(ledger, now_ns)
            self._publish_doubts(ledger, now_ns)
            self._publish_tokens(ledger, now_ns)
            self._publish_count(ledger, now_ns)

    def deadline(self) -> int | None:
        """Return when `publish_ledger` will have something to publish by time alone."""
        if not self._up:
            return None
        due = (self._window.deadline(), self._doubts.deadline(), self._count_ns if self._stale else None)
        return min((at_ns for at_ns in due if at_ns is not None), default=None)

    def _publish_doubts(self, ledger: Ledger, now_ns: int) -> None:
        self._doubts.advance(now_ns)
        if due := self._doubts.due():
            for doubt in ledger.doubts_after(due.start - 1, len(due)):
                if not self._outlet.publish(doubt):
                    self.disconnected()
                    return
                self._doubts.sent(doubt.number, now_ns)

    def _publish_tokens(self, ledger: Ledger, now_ns: int) -> None:
        if self._window.silent(now_ns):
            # A token that the broker has not acknowledged is still in flight; the link watches over that.
            if self._outlet.congested():
                self._window.wait_on(now_ns)
                return
            self._window.send_again()
        due = self._window.due()
        if not due:
            return
        for token in ledger.after(due.start - 1, len(due)):
            replayed = self._window.sent(token.seq, now_ns)
            if not self._outlet.publish(replace(token, replayed=replayed)):
                self.disconnected()
                return

    def _publish_count(self, ledger: Ledger, now_ns: int) -> None:
        self._stale = self.last_seq != self._counted
        if not self._stale or now_ns < self._count_ns:
            return
        self._count_ns = now_ns + COUNT_NS
        if self._counted is not None and self._outlet.congested():
            return
        totals = {god: self.totals[god] - self._before[god] for god in God}
        if self._outlet.publish(contract.Count(ledger.source, self.last_seq, totals)):
            self._counted = self.last_seq
            self._stale = False

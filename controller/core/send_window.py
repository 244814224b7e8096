"""The tokens that were sent and are not yet acknowledged, by number.

Pure. Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto

from controller.core.counting import SECOND

SIZE = 20
"""The most tokens in flight."""

FIRST_WAIT_NS, LONGEST_WAIT_NS = 2 * SECOND, 30 * SECOND
"""How long an acknowledgement is waited for: at first, and at most."""

FRESH_NS = 2 * SECOND
"""How long after its fall a token is still news."""


class AckVerdict(Enum):
    """The meaning of an acknowledgement."""

    NEWS = auto()
    OLD = auto()
    BEYOND = auto()
    """It names a token that was never recorded here, so this ledger came from a backup."""


class SendWindow:
    """At most `SIZE` tokens in flight, in order, until the companion acknowledges them.

    Laws:
    - ``delivered < everything in flight <= delivered + SIZE``; nothing is sent out of order or beyond `last`.
    - After a silence everything in flight is sent again, in order, at first after 2 s, then twice as long each time
      up to 30 s; any news, and every new connection, starts that over.
    - A token is news (not replayed) at most once: when it is first sent, within 2 s of its fall.
    - An acknowledgement is believed up to the number that was sent since the window was made, or up to the token that
      the companion has named. One for a token that does not exist is `BEYOND` and moves nothing.
    """

    def __init__(self, delivered: int, last: int) -> None:
        """Start disconnected; everything up to `last` fell before now."""
        self.delivered = delivered
        self.last = last
        self._wait = FIRST_WAIT_NS
        self._next = delivered + 1
        self._highest = last
        self._sent = delivered
        self._fell: deque[tuple[int, int]] = deque()
        self._up = False
        self._silent_ns: int | None = None

    @property
    def in_flight(self) -> int:
        """How many tokens are sent and not acknowledged."""
        return self._next - 1 - self.delivered

    def recorded(self, seq: int, fell_ns: int) -> None:
        """Add the ledger's next token, which may be published."""
        self.last = seq
        self._fell.append((seq, fell_ns))
        while self._fell[0][1] < fell_ns - FRESH_NS:
            self._fell.popleft()

    def connected(self) -> None:
        """Start again after a connect: nothing that was sent before counts as in flight."""
        self._up = True
        self._again()

    def disconnected(self) -> None:
        """Send nothing until connected."""
        self._up = False
        self._silent_ns = None

    def resend_unacknowledged(self) -> None:
        """Resend at once what is in flight, to a companion that is known to be there again."""
        if self._up:
            self._again()

    def acknowledged(self, seq: int, now_ns: int, named: bool = False) -> AckVerdict:
        """Note that the companion has stored everything up to `seq`.

        `named` if it gave the id of that token: it was sent then, if only before this process began. A number
        alone may be from before this process too, whose mark was lost in a crash, or from a ledger that this one is
        an older copy of: it proves only that what was sent here has arrived, or cannot arrive under its number.
        """
        if seq > self.last:
            return AckVerdict.BEYOND
        if not named:
            seq = min(seq, self._sent)
        if seq <= self.delivered:
            return AckVerdict.OLD
        self.delivered = seq
        self._next = max(self._next, seq + 1)
        self._wait = FIRST_WAIT_NS
        self._silent_ns = now_ns + self._wait if self.in_flight else None
        return AckVerdict.NEWS

    def resend_from(self, seq: int) -> None:
        """Treat `seq` and everything after it as not delivered, and send it again."""
        self.delivered = min(self.delivered, seq - 1)
        self._again()

    def silent(self, now_ns: int) -> bool:
        """Return whether an acknowledgement of what is in flight is overdue."""
        return self._up and self._silent_ns is not None and now_ns >= self._silent_ns

    def send_again(self) -> None:
        """Make everything in flight due again, and wait longer next time."""
        self._wait = min(2 * self._wait, LONGEST_WAIT_NS)
        self._next = self.delivered + 1
        self._silent_ns = None

    def wait_on(self, now_ns: int) -> None:
        """Wait again without sending, because the broker has not passed on yet what is in flight."""
        self._silent_ns = now_ns + self._wait

    def due(self) -> range:
        """Return the numbers that may be sent now."""
        if not self._up:
            return range(0)
        return range(self._next, min(self.last, self.delivered + SIZE) + 1)

    def sent(self, seq: int, now_ns: int) -> bool:
        """Note that `seq`, the first one due, is being sent; return whether it is a replay."""
        if seq != self._next:
            raise ValueError(f"token {seq} is sent; expected {self._next}, the first one due")
        if self._silent_ns is None:
            self._silent_ns = now_ns + self._wait
        self._next = seq + 1
        self._sent = max(self._sent, seq)
        replayed = seq <= self._highest or not self._is_fresh(seq, now_ns)
        self._highest = max(self._highest, seq)
        return replayed

    def deadline(self) -> int | None:
        """Return when an acknowledgement will be overdue."""
        return self._silent_ns if self._up else None

    def _again(self) -> None:
        self._next = self.delivered + 1
        self._wait = FIRST_WAIT_NS
        self._silent_ns = None

    def _is_fresh(self, seq: int, now_ns: int) -> bool:
        while self._fell and self._fell[0][0] < seq:
            self._fell.popleft()
        return bool(self._fell) and self._fell[0][0] == seq and now_ns - self._fell[0][1] <= FRESH_NS

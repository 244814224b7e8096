"""The doubts that were sent and that the companion has not stored yet, by number.

Pure. Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from controller.core.send_window import FIRST_WAIT_NS, LONGEST_WAIT_NS, SIZE


class DoubtWindow:
    """At most `SIZE` doubts in flight, in order, until the companion says up to which number it has them.

    Laws:
    - What the ledger held at the start is sent again only if the companion lacks it; it is asked by the status.
    - After a silence everything in flight is sent again, at first after 2 s, then twice as long each time up to 30 s.

    >>> window = DoubtWindow(last=3)
    >>> window.recorded(4); window.connected(); list(window.due())
    [4]
    >>> window.acknowledged(1, now_ns=0); list(window.due())
    [2, 3, 4]
    """

    def __init__(self, last: int, stored: int | None = None) -> None:
        """Start disconnected. `stored` is None while it is not known what the companion has."""
        self.last = last
        self._stored = stored
        self._base = last if stored is None else stored
        self._sent = self._base
        self._wait_ns = FIRST_WAIT_NS
        self._silent_ns: int | None = None
        self._up = False

    def recorded(self, last: int) -> None:
        """Note the ledger's last doubt, which may be published."""
        self.last = last

    def connected(self) -> None:
        """Start again after a connect: nothing that was sent before counts as in flight."""
        self._up = True
        self._again()

    def disconnected(self) -> None:
        """Send nothing until connected."""
        self._up = False

    def acknowledged(self, number: int, now_ns: int) -> None:
        """Note that the companion has every doubt up to `number`, of those that exist.

        Less than before shows that its store is another, or an older one.
        """
        before = self._stored
        self._stored = self._base = min(number, self.last)
        if before is None or number < before:
            self._again()
        elif number > before:
            self._sent = max(self._sent, self._stored)
            self._wait_ns = FIRST_WAIT_NS
            self._silent_ns = now_ns + self._wait_ns if self._sent > self._stored else None

    def due(self) -> range:
        """Return the numbers that may be sent now."""
        return range(self._sent + 1, min(self.last, self._base + SIZE) + 1) if self._up else range(0)

    def sent(self, number: int, now_ns: int) -> None:
        """Note that `number`, the first one due, is being sent."""
        self._sent = number
        if self._silent_ns is None:
            self._silent_ns = now_ns + self._wait_ns

    def advance(self, now_ns: int) -> None:
        """Make everything in flight due again if an acknowledgement is overdue."""
        if self._up and self._silent_ns is not None and now_ns >= self._silent_ns:
            self._wait_ns = min(2 * self._wait_ns, LONGEST_WAIT_NS)
            self._sent, self._silent_ns = self._base, None

    def deadline(self) -> int | None:
        """Return when an acknowledgement will be overdue."""
        return self._silent_ns if self._up else None

    def _again(self) -> None:
        self._sent, self._wait_ns, self._silent_ns = self._base, FIRST_WAIT_NS, None

"""Which tokens and doubts are sent and not acknowledged, in milliseconds.

The laws of controller/core/send_window.py and controller/core/doubt_window.py. Pure: no clock, no IO. It holds
numbers, never tokens.
"""

SIZE = 20
NEWS, OLD, BEYOND = "news", "old", "beyond"
"""What an acknowledgement is; `BEYOND` speaks of other tokens than those here: the ledger came from a backup."""

PATIENCE_MS = (2000, 30000)
FRESH_MS = 2000


class Window:
    """At most `SIZE` tokens in flight, in order, until the companion has them."""

    def __init__(self, delivered, last):
        """Begin disconnected; everything up to `last` fell before now."""
        self.delivered = delivered
        self.last = last
        self._wait = PATIENCE_MS[0]
        self._next = delivered + 1
        self._highest = last
        self._sent = delivered
        self._fell = []
        self._up = False
        self._silent_ms = None

    def recorded(self, seq, fell_ms):
        """Record the next token that may be sent."""
        self.last = seq
        self._fell.append((seq, fell_ms))
        while len(self._fell) > 2 * SIZE or self._fell[0][1] < fell_ms - FRESH_MS:
            self._fell.pop(0)

    def connected(self):
        """Begin again with a broker."""
        self._up = True
        self._again()

    def disconnected(self):
        """Send nothing until connected."""
        self._up = False
        self._silent_ms = None

    def nudged(self):
        """Send at once what a companion that has just connected may have missed."""
        if self._up:
            self._again()

    def acknowledged(self, seq, now_ms, ours=None):
        """Process an acknowledgement of everything up to `seq`; return its kind.

        `ours` says whether the token that it stored as `seq` is ours; None where it names none, or where none is
        known here: then only what was sent since the start is believed.
        """
        if ours is False or (ours is None and seq > max(self._sent, self.delivered)):
            return BEYOND
        if seq <= self.delivered:
            return OLD
        self.delivered = seq
        self._next = max(self._next, seq + 1)
        self._wait = PATIENCE_MS[0]
        self._silent_ms = now_ms + self._wait if self._next - 1 > seq else None
        return NEWS

    def resend_from(self, seq):
        """Count `seq` and what follows as not delivered, and send it again."""
        self.delivered = min(self.delivered, seq - 1)
        self._again()

    def turn(self, now_ms):
        """Send again what has been unacknowledged for too long."""
        if self._up and self._silent_ms is not None and now_ms >= self._silent_ms:
            self._wait = min(2 * self._wait, PATIENCE_MS[1])
            self._next = self.delivered + 1
            self._silent_ms = None

    def due(self):
        """Return the next number that may be sent, or None."""
        if self._up and self._next <= min(self.last, self.delivered + SIZE):
            return self._next
        return None

    def sent(self, seq, now_ms):
        """Record that the due one is being sent; return whether it is a replay."""
        if self._silent_ms is None:
            self._silent_ms = now_ms + self._wait
        self._next = seq + 1
        replayed = seq <= self._highest or not self._is_fresh(seq, now_ms)
        self._highest = max(self._highest, seq)
        self._sent = max(self._sent, seq)
        return replayed

    def _again(self):
        self._next = self.delivered + 1
        self._wait = PATIENCE_MS[0]
        self._silent_ms = None

    def _is_fresh(self, seq, now_ms):
        while self._fell and self._fell[0][0] < seq:
            self._fell.pop(0)
        return bool(self._fell) and self._fell[0][0] == seq and now_ms - self._fell[0][1] <= FRESH_MS


class DoubtWindow:
    """At most `SIZE` doubts in flight, in order, until the companion says up to which number it has them."""

    def __init__(self, last, stored=None):
        """Begin disconnected; `stored` is None while it is not known what the companion has."""
        self.last = last
        self.stored = stored
        self._base = self._sent = last if stored is None else stored
        self._wait = PATIENCE_MS[0]
        self._silent_ms = None
        self._up = False

    def connected(self):
        """Begin again with a broker."""
        self._up = True
        self._again()

    def disconnected(self):
        """Send nothing until connected."""
        self._up = False

    def acknowledged(self, number, now_ms):
        """Note that the companion has every doubt up to `number`; return whether there are so many here.

        Less than before shows that its store is another, or an older one.
        """
        before = self.stored
        self.stored = self._base = min(number, self.last)
        if before is None or number < before:
            self._again()
        elif number > before:
            self._sent = max(self._sent, self.stored)
            self._wait = PATIENCE_MS[0]
            self._silent_ms = now_ms + self._wait if self._sent > self.stored else None
        return number <= self.last

    def turn(self, now_ms):
        """Send again what has been unacknowledged for too long."""
        if self._up and self._silent_ms is not None and now_ms >= self._silent_ms:
            self._wait = min(2 * self._wait, PATIENCE_MS[1])
            self._sent, self._silent_ms = self._base, None

    def due(self):
        """Return the next number that may be sent, or None."""
        if self._up and self._sent < min(self.last, self._base + SIZE):
            return self._sent + 1
        return None

    def sent(self, number, now_ms):
        """Record that the due one is being sent."""
        self._sent = number
        if self._silent_ms is None:
            self._silent_ms = now_ms + self._wait

    def _again(self):
        self._sent, self._wait, self._silent_ms = self._base, PATIENCE_MS[0], None

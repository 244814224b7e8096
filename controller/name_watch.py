"""Whether another temple speaks under this one's name, and which of two with one ledger has to begin a new source.

Pure: no clock, no IO. Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque

from controller import wire
from controller.counting import SECOND

PROOFS = 5
"""How often another session has to take the place of this one's status before it is believed to be alive."""

WITHIN_NS = 60 * SECOND

_ALIVE = (wire.State.READY, wire.State.ALERT)


class NameWatch:
    """Watches what lies under this temple's own `status`.

    Laws:
    - A status of another session proves nothing until this session's own was there: before that it is an earlier run.
    - A broker that forgot may bring an earlier run back once each time it does. Only a session that takes the place
      of this one's status `PROOFS` times within a minute is alive.
    - Of two sessions that speak from one ledger, the one with the greater id begins a new source; the other goes on.
    """

    def __init__(self, session: str) -> None:
        """Begin without having seen anything."""
        self._session = session
        self._seen_own = False
        self._in_place = False
        self._sightings: deque[tuple[str, int]] = deque(maxlen=PROOFS)
        self._other: str | None = None

    @property
    def taken(self) -> bool:
        """Whether another temple is known to speak under this name."""
        return self._other is not None

    def connected(self) -> None:
        """Begin anew with a broker: what lies there may have been written while this temple was away."""
        self._in_place = self._seen_own

    def take(self, status: wire.Status, source: str | None, now_ns: int) -> bool:
        """Take a status that lies under this temple's name; return whether this temple has to begin a new source."""
        if status.session == self._session:
            self._seen_own = self._in_place = True
            return False
        if status.state not in _ALIVE:
            if status.session == self._other:
                self._other = None
            return False
        if not self._seen_own or not self._in_place:
            return False
        self._in_place = False
        self._sightings.append((status.session, now_ns))
        first_ns = self._sightings[0][1]
        if len(self._sightings) < PROOFS or now_ns - first_ns > WITHIN_NS or len({s for s, _ in self._sightings}) > 1:
            return False
        self._other = status.session
        return source is not None and status.source == source and self._session > status.session

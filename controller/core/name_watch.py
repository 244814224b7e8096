"""Detects another temple with this one's name at the broker, and decides which of two clones begins a new source.

Pure. Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque

from controller.core.counting import SECOND
from templo import contract

PROOFS = 4
"""How many statuses of another session must replace this one's before it counts as alive."""

WITHIN_NS = 120 * SECOND
"""The time within which they must come."""

SILENT_NS = 300 * SECOND
"""How long a known other temple may be silent; longer than one that gives way stays away."""

ANSWERS = 6
"""How often within that time this temple replaces another's status by its own."""

PROBE_NS = 45 * SECOND
"""How often, while the name is taken, it is looked whether the other one has fallen silent, and asked once more.

Each temple's regular statuses come sooner than that, and are answered as well.
"""

_TAKEOVER_NS = 3 * SECOND
"""A will that arrives this soon after a connect may belong to a temple that this very connection replaced."""


class NameWatch:
    """Watches the retained message under this temple's own `status`.

    Laws:
    - A status of another session proves nothing until this session's own has been there: before that it is of an
      earlier run. A will that comes with a connection is of a temple that it threw out, else of one that is gone.
    - A broker that forgot may bring an earlier run back each time it does, and with it the number of its publication.
      A session is alive whose publications take the place of this one's status `PROOFS` times within two minutes,
      each with a number of its own. A Pico W does not number them: its own count each time.
    - Each answers with its own status, a bounded number of times in two minutes: so both of two learn of each other.
      Both repeat their statuses every half minute, so they go on answering, within that bound.
      A status of a temple that is gone is always answered, for it answers nothing, and would else be the last word.
    - Of two sessions that use one ledger, the one with the greater id begins a new source.
    """

    def __init__(self, session: str) -> None:
        """Start without having seen anything."""
        self._session = session
        self._seen_own = False
        self._in_place = False
        self._connected_ns = 0
        self._sightings: deque[tuple[contract.Status, int]] = deque(maxlen=PROOFS)
        self._answers: deque[int] = deque(maxlen=ANSWERS)
        self._other: contract.Status | None = None
        self._seen_ns = 0
        self._probe_ns: int | None = None

    @property
    def taken(self) -> bool:
        """Whether another temple is known to use this name."""
        return self._other is not None

    def must_renew(self, source: str | None) -> bool:
        """Return whether another temple uses this ledger's source and this one must begin a new one."""
        other = self._other
        return other is not None and self._session > other.session and source is not None and other.source == source

    def connected(self, now_ns: int) -> None:
        """Start again after a connect: what the broker retains may have been written while this temple was away."""
        self._connected_ns = now_ns
        self._in_place = self._seen_own

    def take(self, status: contract.Status, now_ns: int) -> bool:
        """Process a status retained under this temple's name; return whether to publish our own again."""
        if status.session == self._session:
            return self._take_own(status)
        gone = status.state is contract.State.STOPPED or (
            status.state is contract.State.LOST and now_ns - self._connected_ns > _TAKEOVER_NS
        )
        if not self._seen_own:
            return False
        was_in_place, self._in_place = self._in_place, False
        if gone:
            if self._other is not None and status.session == self._other.session:
                self._other = self._probe_ns = None
            return True
        if was_in_place:
            self._note_sighting(status, now_ns)
        if (self._other is not None and status.session == self._other.session) or self._proved(
            status.session, now_ns
        ):
            self._other, self._seen_ns = status, now_ns
            self._probe_ns = now_ns + PROBE_NS if self._probe_ns is None else self._probe_ns
        # A lost temple does not answer: its will, which may or may not be its last message, is always replaced.
        return status.state is contract.State.LOST or self._may_answer(now_ns)

    def advance(self, now_ns: int) -> bool:
        """Forget another temple that has been silent for too long; return whether to probe for it now."""
        if self._probe_ns is None or now_ns < self._probe_ns:
            return False
        if self._other is None:
            self._probe_ns = None
            return self._may_answer(now_ns)
        if now_ns - self._seen_ns > SILENT_NS:
            self._other = self._probe_ns = None
            return False
        self._probe_ns = now_ns + PROBE_NS
        return True

    def deadline(self) -> int | None:
        """Return when `advance` will have something to do."""
        return self._probe_ns

    def _take_own(self, status: contract.Status) -> bool:
        if status.state is contract.State.LOST:
            # The will of an earlier connection of this run, which the broker gave up only now.
            in_place, self._in_place = self._in_place, False
            return in_place
        self._seen_own = self._in_place = True
        return False

    def _note_sighting(self, status: contract.Status, now_ns: int) -> None:
        again = status.publication is not None and any(
            (seen.session, seen.publication) == (status.session, status.publication) for seen, _ in self._sightings
        )
        if not again:
            self._sightings.append((status, now_ns))

    def _proved(self, session: str, now_ns: int) -> bool:
        of_it = [seen for seen, at_ns in self._sightings if seen.session == session and now_ns - at_ns <= WITHIN_NS]
        return len(of_it) == PROOFS

    def _may_answer(self, now_ns: int) -> bool:
        if len(self._answers) == ANSWERS and now_ns - self._answers[0] <= WITHIN_NS:
            again_ns = self._answers[0] + WITHIN_NS + 1
            self._probe_ns = again_ns if self._probe_ns is None else min(self._probe_ns, again_ns)
            return False
        self._answers.append(now_ns)
        return True

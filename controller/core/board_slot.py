"""One slot of a board that counts by itself, according to the board's reports."""

from __future__ import annotations

from collections.abc import Callable

from controller.core.counting import Counter, Detection, Edge, Event, Limits, MissedEdge
from controller.core.messages import BoardStatus
from templo.contract import Beam, Flag


class BoardSlot(Counter):
    """Takes the place of a counter, and shows what the board reported last."""

    def __init__(self, limits: Limits, since_ns: int) -> None:
        """Start in an unknown condition: no report has come yet."""
        super().__init__(limits, False, since_ns)
        self.beam = Beam.UNKNOWN
        self._total_glitches = self._board_glitches = self._board_missed = 0

    @property
    def glitches(self) -> int:
        """How many spells so far were too short for a token, through all restarts of the board."""
        return self._total_glitches

    def flags(self, counted: Detection) -> frozenset[Flag]:
        """Return a token's flags, with `OVERLAP` if it is wider than the learned band."""
        band = self._limits.band
        wide = band is not None and counted.width_ns > band and Flag.JAM not in counted.flags
        return counted.flags | {Flag.OVERLAP} if wide else counted.flags

    def report(self, status: BoardStatus) -> list[Event]:
        """Process a report. Its numbers count from the board's own start, so they drop when it restarts."""
        events: list[Event] = []
        dark, glitches, missed = status.dark, status.glitches, status.missed
        self._total_glitches += glitches - self._board_glitches if glitches >= self._board_glitches else glitches
        news = missed - self._board_missed if missed >= self._board_missed else missed
        self._board_glitches, self._board_missed = glitches, missed
        if news:
            self.missed_edges += news
            events.append(MissedEdge(status.at_ns, dark, news))
        if dark != self._dark:
            self._dark, self._last_ns = dark, status.at_ns
        self._show(status.beam, events)
        return events

    def disconnect(self) -> list[Event]:
        """Show that nobody watches the slot any more."""
        events: list[Event] = []
        self._show(Beam.UNKNOWN, events)
        return events

    def feed(self, edge: Edge) -> list[Event]:
        """Refuse: edges of this slot are counted elsewhere."""
        raise AssertionError(f"an edge at {edge.at_ns} came to a slot that a board counts")

    def advance(self, now_ns: int, reads_dark: Callable[[], bool | None] = lambda: True) -> list[Event]:
        """Return nothing: the board's clock does it."""
        return []

    def deadline(self) -> int | None:
        """Return None: the board keeps its own."""
        return None

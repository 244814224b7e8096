"""Beams without a Raspberry Pi: what a script, a key press or the command line breaks gives the same edges.

It knows levels and times, never tokens: whether an edge means anything is decided where real edges are.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Mapping
from itertools import count

from controller.core.counting import MS, SECOND, WIDTH_NS
from controller.core.diagnosis import DEAF, Answer, proof
from controller.core.ports import Level, Listener, answered
from controller.simulation.timeline import Change, Timeline
from templo.contract import Emitters, God, Timing
from templo.liveness import IDLE_S, SOON_S, Beat, no_heartbeat

SPACING_NS = 20 * MS
"""From one token of a handful to the next, in one slot: 50 tokens a second."""

MOST_DROPS = 100_000
"""Tokens in one wish."""


class SimulatedBeams:
    """Two beams that break on demand.

    Edges are stamped with the moment they were planned for, so widths are exact however busy the machine is, and
    they are heard from a thread of their own, as lgpio's are.
    """

    timing = Timing.SIMULATED
    emitters = Emitters.FIXED

    def __init__(self, monotonic_ns: Callable[[], int]) -> None:
        """Begin with both beams clear."""
        self._now = monotonic_ns
        self.beat: Beat = no_heartbeat
        """How their thread says that it lives."""
        self._changed = threading.Condition()
        self._plan: list[tuple[int, int, God, int, bool, bool]] = []
        self._timeline: Timeline | None = None
        self._start_ns = 0
        self._awake = False
        self._order = count()
        self._shades = dict.fromkeys(God, 0)
        self._held: set[God] = set()
        self._free_ns = dict.fromkeys(God, 0)
        self._listener: Listener | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="beams", daemon=True)

    def open(self, listener: Listener) -> Mapping[God, Level]:
        """Begin to listen, and return how the beams stand."""
        with self._changed:
            self._listener = listener
            answers = self.prove()
            if answers is not None and any(proof(each) == DEAF for each in answers.values()):
                self.heal()
                answers = self.prove()
            levels = {god: answered(self.dark(god), self._now(), answers, god) for god in God}
        if not self._thread.is_alive():
            self._thread.start()
        return levels

    def rest(self) -> None:
        """Let nobody listen until the next `open`: beams break on while their temple is away."""
        with self._changed:
            self._listener = None

    def dark(self, god: God) -> bool:
        """Read a beam's level now."""
        return self._shades[god] > 0

    def prove(self) -> Mapping[God, Answer] | None:
        """Return what the scenario says that each receiver answers; None where nothing switches the emitters."""
        answers = self._timeline.answers(self._now() - self._start_ns, self._awake) if self._timeline else None
        if answers is None:
            return None
        # What a key holds dark beside the scenario is dark with the emitter on and off.
        return {god: Answer(True, True, False) if god in self._held else answer for god, answer in answers.items()}

    def heal(self) -> None:
        """Wake what a scenario has put to sleep until a line more is claimed."""
        self._awake = True

    def alive(self) -> bool:
        """Say whether edges can still reach the listener."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop the thread; what was planned is forgotten."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def drop(self, god: God, times: int = 1, spacing_ns: int = SPACING_NS) -> int:
        """Plan tokens into a slot, one after the other; return when the last is through, in monotonic nanoseconds.

        Those that come closer than usual are as much faster: three fifths of the spacing are dark.
        """
        width_ns = min(WIDTH_NS, spacing_ns * 3 // 5)
        with self._changed:
            start = max(self._now(), self._free_ns[god])
            for _ in range(times):
                self._at(start, god, 1)
                self._at(start + width_ns, god, -1)
                start += spacing_ns
            self._free_ns[god] = start
            self._changed.notify()
            return start

    def play(self, timeline: Timeline, start_ns: int) -> None:
        """Plan every change of a timeline whose moment 0 is `start_ns`; `open` comes after it."""
        with self._changed:
            self._timeline, self._start_ns = timeline, start_ns
            self.emitters = timeline.emitters
            for god, dark in timeline.dark.items():
                self._shades[god] += dark
            for moment in timeline.moments:
                if isinstance(moment, Change):
                    shade = 1 if moment.dark else -1
                    self._at(start_ns + moment.at_ns, moment.god, shade, moment.heard, moment.asleep)
            self._changed.notify()

    def hold(self, god: God, dark: bool) -> None:
        """Hold a beam dark, as a stuck token or a pulled emitter does, or let go of it."""
        with self._changed:
            if dark != (god in self._held):
                (self._held.add if dark else self._held.remove)(god)
                self._at(self._now(), god, 1 if dark else -1)
                self._changed.notify()

    def held(self, god: God) -> bool:
        """Say whether a beam is held dark."""
        return god in self._held

    def _at(self, due_ns: int, god: God, shade: int, heard: bool = True, asleep: bool = False) -> None:
        heapq.heappush(self._plan, (due_ns, next(self._order), god, shade, heard, asleep))

    def _run(self) -> None:
        with self._changed:
            while not self._closing:
                self.beat(SOON_S)
                if not self._plan:
                    self._changed.wait(IDLE_S)
                elif (wait := self._plan[0][0] - self._now()) > 0:
                    self._changed.wait(min(wait / SECOND, IDLE_S))
                else:
                    due_ns, _, god, shade, heard, asleep = heapq.heappop(self._plan)
                    self._shade(god, due_ns, shade, heard or (asleep and self._awake))

    def _shade(self, god: God, at_ns: int, shade: int, heard: bool = True) -> None:
        was_dark = self.dark(god)
        self._shades[god] += shade
        if heard and self.dark(god) != was_dark and self._listener is not None:
            self._listener(god, at_ns, self.dark(god))

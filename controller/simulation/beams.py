"""The backend `simulated`: beams that are broken by a script, a key press or the command line.

Its edges are counted like real ones.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Mapping
from itertools import count

from msgspec.structs import replace

from controller.core.counting import MS, SECOND, WIDTH_NS
from controller.core.diagnosis import DEAF, Answer, proof
from controller.core.messages import BelowSeen, EdgeSeen
from controller.core.ports import BackendContext, BeamSource, Capabilities, Level, Put, answered
from controller.core.proof import Pulse
from controller.simulation.timeline import BelowChange, Change, Timeline
from templo.contract import God, Kind, Timing
from templo.liveness import IDLE_S, REST_S

SPACING_NS = 90 * MS
"""From one token of a handful to the next, in one slot, on average: as fast as a bowl is swept."""

WIDER_NS = {God.HUITZILOPOCHTLI: 5 * MS, God.TLALOC: 0}
"""Tokens of the two slots differ: two that fall at the same moment and are equally wide are a dip of the supply.

By more than twice `TOGETHER_NS`: however far apart two of them begin, not both of their ends are at once.
"""

BELOW_NS = 14 * MS
"""How much later than the first beam a token breaks the second one, where there is one."""

MOST_DROPS = 100_000
"""Tokens in one request."""


class SimulatedBeams(BeamSource):
    """Two beams that break on demand, and a second one below each that the settings or a scenario have.

    Edges are stamped with the moment they were planned for, so widths are exact however busy the machine is, and
    they come from a thread of their own, as lgpio's do.
    """

    def __init__(self, context: BackendContext) -> None:
        """Begin with both beams clear."""
        self.capabilities = Capabilities(Kind.SIMULATOR, Timing.SIMULATED, test_drops=True)
        self._now = context.monotonic_ns
        self.beat = context.beat
        self._changed = threading.Condition()
        self._plan: list[tuple[int, int, God, int, bool, bool, bool]] = []
        self._timeline: Timeline | None = None
        self._start_ns = 0
        self._awake = False
        self._order = count()
        self._shades = dict.fromkeys(God, 0)
        self._below = dict.fromkeys(context.settings.below, 0)
        self._held: set[God] = set()
        self._dropped = dict.fromkeys(God, 0)
        self._free_ns = dict.fromkeys(God, 0)
        self._put: Put | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="beams", daemon=True)

    def open(self, put: Put) -> Mapping[God, Level]:
        """Begin to put edges, and return how the beams stand."""
        with self._changed:
            self._put = put
            answers = self._answers()
            if answers is not None and any(proof(each) == DEAF for each in answers.values()):
                self.heal()
                answers = self._answers()
            levels = {god: answered(self.dark(god), self._now(), answers, god) for god in God}
        if not self._thread.is_alive():
            self._thread.start()
        return levels

    def rest(self) -> None:
        """Put nothing until the next `open`: beams go on breaking while their temple is away."""
        with self._changed:
            self._put = None

    def dark(self, god: God) -> bool:
        """Read a beam's level now."""
        return self._shades[god] > 0

    def below(self, god: God) -> bool | None:
        """Read a second beam's level now; None if there is none."""
        return self._below[god] > 0 if god in self._below else None

    def prove(self) -> Pulse | None:
        """Return a pulse without a length, and what each receiver answers; None if nothing switches the emitters."""
        answers, now_ns = self._answers(), self._now()
        return None if answers is None else Pulse(now_ns, now_ns, now_ns, answers)

    def _answers(self) -> Mapping[God, Answer] | None:
        """Return what each receiver answers by the scenario."""
        answers = self._timeline.answers(self._now() - self._start_ns, self._awake) if self._timeline else None
        if answers is None:
            return None
        # A beam that a key holds dark is dark with the emitter on and off.
        return {god: Answer(True, True, False) if god in self._held else answer for god, answer in answers.items()}

    def heal(self) -> None:
        """Wake what a scenario has put to sleep until a line more is claimed."""
        self._awake = True

    def alive(self) -> bool:
        """Return whether edges can still come."""
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

        Those that come closer than usual are as much faster: three fifths of the spacing are dark. Every second one
        is a sixteenth of it late, because equal periods are a machine's.
        """
        width_ns = min(WIDTH_NS + WIDER_NS[god], spacing_ns * 3 // 5)
        with self._changed:
            start = max(self._now(), self._free_ns[god])
            for _ in range(times):
                self._dropped[god] += 1
                at_ns = start + self._dropped[god] % 2 * (spacing_ns // 16)
                self._at(at_ns, god, 1)
                self._at(at_ns + width_ns, god, -1)
                if god in self._below:
                    self._at(at_ns + BELOW_NS, god, 1, below=True)
                    self._at(at_ns + BELOW_NS + width_ns, god, -1, below=True)
                start += spacing_ns
            self._free_ns[god] = start
            self._changed.notify()
            return start

    def play(self, timeline: Timeline, start_ns: int) -> None:
        """Plan every change of a timeline whose moment 0 is `start_ns`; `open` comes after it."""
        with self._changed:
            self._timeline, self._start_ns = timeline, start_ns
            self.capabilities = replace(self.capabilities, emitters=timeline.emitters)
            for god, dark in timeline.dark.items():
                self._shades[god] += dark
            self._below |= timeline.below
            for moment in timeline.moments:
                match moment:
                    case Change(at_ns, god, dark, edge_seen, asleep):
                        self._at(start_ns + at_ns, god, 1 if dark else -1, edge_seen, asleep)
                    case BelowChange(at_ns, god, dark):
                        self._at(start_ns + at_ns, god, 1 if dark else -1, below=True)
            self._changed.notify()

    def toggle(self, god: God) -> bool:
        """Hold a beam dark, as a stuck token or a pulled emitter does, or release it."""
        with self._changed:
            self._held ^= {god}
            dark = god in self._held
            self._at(self._now(), god, 1 if dark else -1)
            self._changed.notify()
        return dark

    def _at(
        self, due_ns: int, god: God, shade: int, edge_seen: bool = True, asleep: bool = False, *, below: bool = False
    ) -> None:
        heapq.heappush(self._plan, (due_ns, next(self._order), god, shade, edge_seen, asleep, below))

    def _run(self) -> None:
        with self._changed:
            while not self._closing:
                self.beat(REST_S)
                if not self._plan:
                    self._changed.wait(IDLE_S)
                elif (wait := self._plan[0][0] - self._now()) > 0:
                    self._changed.wait(min(wait / SECOND, IDLE_S))
                else:
                    due_ns, _, god, shade, edge_seen, asleep, below = heapq.heappop(self._plan)
                    if below:
                        self._shade_below(god, due_ns, shade)
                    else:
                        self._shade(god, due_ns, shade, edge_seen or (asleep and self._awake))

    def _shade(self, god: God, at_ns: int, shade: int, edge_seen: bool = True) -> None:
        was_dark = self.dark(god)
        self._shades[god] += shade
        if edge_seen and self.dark(god) != was_dark and self._put is not None:
            self._put(EdgeSeen(god, at_ns, self.dark(god)))

    def _shade_below(self, god: God, at_ns: int, shade: int) -> None:
        was_dark = self.below(god)
        self._below[god] += shade
        if self.below(god) != was_dark and self._put is not None:
            self._put(BelowSeen(god, at_ns, not was_dark))

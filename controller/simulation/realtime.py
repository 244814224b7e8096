"""Plays a scenario in real time: breaks the simulated beams by its timeline, and passes its cues to the daemon.

Like real beams, the simulated ones outlive the daemon: while it restarts they go on, and nobody receives their edges.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from controller.core.counting import SECOND
from controller.core.ports import BackendContext
from controller.simulation.beams import SimulatedBeams
from controller.simulation.parser import Script
from controller.simulation.timeline import BrokerCut, Restart, expand


class Actor(Protocol):
    """A temple's program, as far as a scenario may touch it."""

    def cut(self, pulled: bool) -> None:
        """Cut the connection to the broker, or let it come back."""

    def restart(self) -> None:
        """End in order, to be started again."""


class ScriptPlayer:
    """Plays one script, once. Moment 0 is `start`."""

    def __init__(
        self,
        script: Script,
        beams: SimulatedBeams,
        monotonic_ns: Callable[[], int],
        report: Callable[[str], None],
    ) -> None:
        """Work the timeline out; raises `ScenarioError`."""
        self.beams = beams
        self._timeline = expand(script)
        self._title = script.title or "the scenario"
        self._now = monotonic_ns
        self._report = report
        self._start_ns = 0
        self._actor: Actor | None = None
        self._cut = False
        self._resting_ns = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scenario", daemon=True)

    def source(self, context: BackendContext) -> SimulatedBeams:
        """Return the beams, as a backend of the program that has this heartbeat."""
        self.beams.beat = context.beat
        return self.beams

    def start(self) -> None:
        """Begin: the levels at the start hold from now on."""
        self._start_ns = self._now()
        self.beams.play(self._timeline, self._start_ns)
        self._thread.start()

    def enter(self, actor: Actor) -> None:
        """Take a temple's program that has just started."""
        with self._lock:
            self._actor = actor
            if self._cut:
                actor.cut(True)

    def leave(self) -> None:
        """Take no more edges: the temple's program ends, to be started again."""
        self.beams.rest()

    def rest(self) -> bool:
        """Wait as long as the program is to be away; False if everything ended meanwhile."""
        return not self._ended.wait(self._resting_ns / SECOND)

    def end(self) -> None:
        """Give no cue any more. Safe in a signal's handler."""
        self._ended.set()

    def close(self) -> None:
        """End, beams too."""
        self.end()
        self._thread.join()
        self.beams.close()

    def _run(self) -> None:
        for moment in self._timeline.moments:
            if not isinstance(moment, BrokerCut | Restart):
                continue
            if self._until(moment.at_ns):
                return
            with self._lock:
                if isinstance(moment, BrokerCut):
                    self._cut = moment.cut
                    if self._actor is not None:
                        self._actor.cut(moment.cut)
                elif self._actor is not None:
                    self._resting_ns = moment.for_ns
                    actor, self._actor = self._actor, None
                    actor.restart()
        if not self._until(self._timeline.end_ns):
            self._report(f"{self._title} is over; the temple goes on")

    def _until(self, at_ns: int) -> bool:
        """Wait for a moment; return whether everything ended first."""
        return self._ended.wait(max(0, self._start_ns + at_ns - self._now()) / SECOND)

"""The thread of the temple's lights: it computes frames and sets the lamps, and never makes the pipeline wait.

The pipeline only assigns the latest token and the latest beam of each shrine, without a queue and without a lock.
Lamps that are slow miss frames; lamps that are stuck stay as they are; lamps that fail stay off until the next start.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

from controller.core.lights import Shrine, brightness
from controller.core.ports import Lights
from controller.core.slots import ALARMING
from templo.contract import Beam, God

FRAME_S = 0.04
"""25 frames a second."""

_LAST_S = 1.0

log = logging.getLogger(__name__)


class Lamps(Protocol):
    """A lamp for each shrine. Only the lights' thread calls it; each method may block and may raise anything."""

    def open(self) -> None:
        """Claim what is needed."""

    def show(self, frame: Mapping[God, float]) -> None:
        """Set the brightness of every lamp, from 0 to 1."""

    def close(self) -> None:
        """Switch the lamps off and release them. May be called before `open`."""


class LightThread(Lights):
    """Shows on lamps what the pipeline reports."""

    def __init__(self, lamps: Lamps, monotonic_ns: Callable[[], int]) -> None:
        """Only remember; `start` opens the lamps."""
        self._lamps = lamps
        self._monotonic_ns = monotonic_ns
        self._tokens: dict[God, int | None] = dict.fromkeys(God)
        self._beams: dict[God, Beam] = dict.fromkeys(God, Beam.UNKNOWN)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lights", daemon=True)

    def token_recorded(self, god: God) -> None:
        """Let a shrine glow."""
        self._tokens[god] = self._monotonic_ns()

    def beam_changed(self, god: God, beam: Beam) -> None:
        """Let a shrine blink while its slot counts nothing."""
        self._beams[god] = beam

    def start(self) -> None:
        """Open the lamps and show frames, on a thread of its own."""
        self._thread.start()

    def close(self) -> None:
        """Switch the lamps off; a thread that is stuck is left behind and ends with the process."""
        self._ended.set()
        self._thread.join(_LAST_S)

    def frame(self, now_ns: int) -> Mapping[God, float]:
        """Return each lamp's brightness."""
        return {
            god: brightness(Shrine(self._tokens[god], self._beams[god] in ALARMING), now_ns) for god in self._tokens
        }

    def _run(self) -> None:
        try:
            self._lamps.open()
            shown = None
            while not self._ended.wait(FRAME_S):
                if (frame := self.frame(self._monotonic_ns())) != shown:
                    self._lamps.show(frame)
                    shown = frame
        except Exception as error:  # no lamp may end the temple
            log.error("the lights stay off until the next start: %s", str(error) or type(error).__name__)
        finally:
            with suppress(Exception):  # what failed once may fail to close, too, and is in the log
                self._lamps.close()

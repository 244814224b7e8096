"""The thread of the temple's lights: it computes frames and sets the lamps, and never makes the pipeline wait.

Others only assign the latest of each thing that lamps show, without a queue and without a lock.
Lamps that are slow miss frames; lamps that are stuck stay as they are; lamps that fail stay off until the next start.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from controller.core.lights import AT_FIRST, Frame, Scene, Shrine, colour
from controller.core.ports import Lights
from controller.core.slots import ALARMING
from templo.contract import Beam, Findings, God, Light, Mood, SetLight

FRAME_S = 0.04
"""25 frames a second."""

_LAST_S = 1.0

log = logging.getLogger(__name__)


class Lamps(Protocol):
    """A lamp for each shrine. Only the lights' thread calls it; each method may block and may raise anything."""

    coloured: bool
    """Whether the lamps can show any colour; others show how bright it is."""

    def open(self) -> None:
        """Claim what is needed."""

    def show(self, frame: Frame) -> None:
        """Set the colour of every lamp."""

    def close(self) -> None:
        """Switch the lamps off and release them. May be called before `open`."""


class LightThread(Lights):
    """Shows on lamps what the pipeline and the broker report, and publishes how they are set."""

    def __init__(
        self, lamps: Lamps, monotonic_ns: Callable[[], int], publish: Callable[[Light], bool] = lambda _: False
    ) -> None:
        """Only remember; `start` opens the lamps. `publish` returns False where there is no connection."""
        self._lamps = lamps
        self._monotonic_ns = monotonic_ns
        self._tokens: dict[God, int | None] = dict.fromkeys(God)
        self._beams: dict[God, Beam] = dict.fromkeys(God, Beam.UNKNOWN)
        self._findings: dict[God, bool] = dict.fromkeys(God, False)
        self._trouble = False
        self._mood = Mood(None, ())
        self._light = AT_FIRST
        self._publish = publish
        self._unpublished = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lights", daemon=True)

    def token_recorded(self, god: God) -> None:
        """Let a shrine glow."""
        self._tokens[god] = self._monotonic_ns()

    def beam_changed(self, god: God, beam: Beam) -> None:
        """Let a shrine blink while its slot counts nothing."""
        self._beams[god] = beam

    def found(self, findings: Findings) -> None:
        """Let a shrine blink once where its beam has a finding; that no token has proved it yet is none."""
        for god in God:
            self._findings[god] = any(each.code != "unproved" for each in findings.beams[god])

    def troubled(self, trouble: bool) -> None:
        """Let both shrines blink while the temple has another trouble than its beams."""
        self._trouble = trouble

    def received(self, message: Mood | SetLight) -> None:
        """Show a game's signals, or change how the lamps are set. Called by the connection's thread alone."""
        if isinstance(message, Mood):
            self._mood = message
            return
        self._light = Light(
            message.on,
            message.brightness or self._light.brightness,
            message.colour or self._light.colour,
            message.effect or self._light.effect,
        )
        self._unpublished.set()

    def connected(self) -> None:
        """Publish how the lamps are set."""
        self._unpublished.set()

    def start(self) -> None:
        """Open the lamps and show frames, on a thread of its own."""
        self._thread.start()

    def close(self) -> None:
        """Switch the lamps off; a thread that is stuck is left behind and ends with the process."""
        self._ended.set()
        self._thread.join(_LAST_S)

    def frame(self, now_ns: int) -> Frame:
        """Return each lamp's colour."""
        mood = self._mood
        scene = Scene(mood.signals, mood.left, self._trouble, self._light)
        return {
            god: colour(
                god, Shrine(self._tokens[god], self._beams[god] in ALARMING, self._findings[god]), scene, now_ns
            )
            for god in God
        }

    def _run(self) -> None:
        try:
            self._lamps.open()
            shown = None
            while not self._ended.wait(FRAME_S):
                if self._unpublished.is_set():
                    self._unpublished.clear()  # before it is read: a later change is published by the next frame
                    self._publish(self._light)
                if (frame := self.frame(self._monotonic_ns())) != shown:
                    self._lamps.show(frame)
                    shown = frame
        except Exception as error:  # no lamp may end the temple
            log.error("the lights stay off until the next start: %s", str(error) or type(error).__name__)
            self._publish(replace(self._light, on=False))
        finally:
            with suppress(Exception):  # what failed once may fail to close, too, and is in the log
                self._lamps.close()

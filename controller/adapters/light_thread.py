"""The thread that computes lights and sounds and sets lamps and buzzer, so that the pipeline never waits.

Other threads only assign the latest state of what the lamps show, without a queue or a lock. Lamps that are slow skip
frames; lamps that block stay as they are; lamps that fail stay off until the next start.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from controller.core.lights import AT_FIRST, CHIRPS, SIGNALS, Frame, Scene, Shrine, Tune, colour, note
from controller.core.ports import Lights
from controller.core.slots import ALARMING
from templo.contract import MOST_FAULT, Beam, Findings, God, Light, Mood, SetLight
from templo.quoting import printable

FRAME_S = 0.04
"""25 frames a second."""

_LAST_S = 1.0

_T = TypeVar("_T")

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


class Buzzer(Protocol):
    """Something that sounds. Only the lights' thread calls it; each method may block and may raise anything."""

    def open(self) -> None:
        """Claim what is needed."""

    def play(self, hertz: float | None) -> None:
        """Sound at a frequency until the next call, or be silent."""

    def close(self) -> None:
        """Be silent and release everything. May be called before `open`."""


class _Output(Generic[_T]):
    """One thing that the thread drives; where it fails it stays off, and the others go on."""

    def __init__(self, name: str, device: Lamps | Buzzer, compute: Callable[[int], _T], show: Callable[[_T], None]):
        self.fault: str | None = None
        """Why it stays off, in printable characters."""
        self._name = name
        self._device = device
        self._compute = compute
        self._show = show
        self._current: _T | None = None

    def open(self) -> None:
        """Claim what the device needs."""
        with self._guard():
            self._device.open()

    def turn(self, now_ns: int) -> None:
        """Show what is to be shown now, where that is something else."""
        if self.fault is not None:
            return
        with self._guard():
            if (now := self._compute(now_ns)) != self._current:
                self._show(now)
                self._current = now

    def close(self) -> None:
        """Switch the device off, however it is."""
        with suppress(Exception):  # a device that failed may fail to close, too; its failure is in the log
            self._device.close()

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # a failing lamp must not end the temple
            self.fault = printable(str(error) or type(error).__name__, MOST_FAULT)
            log.error("the %s stay off until the next start: %s", self._name, self.fault)
            self.close()


class LightThread(Lights):
    """Shows on lamps, and plays, what the pipeline and the broker report, and publishes how the lamps are set."""

    def __init__(
        self,
        lamps: Lamps | None,
        monotonic_ns: Callable[[], int],
        publish: Callable[[Light], bool] = lambda _: False,
        buzzer: Buzzer | None = None,
    ) -> None:
        """Store the arguments; `start` opens the lamps. `publish` returns False if there is no connection."""
        self._lamps = None if lamps is None else _Output("lights", lamps, self.frame, lamps.show)
        self._buzzer = None if buzzer is None else _Output("sounds", buzzer, self.tone, buzzer.play)
        self._monotonic_ns = monotonic_ns
        self._tokens: dict[God, int | None] = dict.fromkeys(God)
        self._beams: dict[God, Beam] = dict.fromkeys(God, Beam.UNKNOWN)
        self._findings: dict[God, bool] = dict.fromkeys(God, False)
        self._trouble = False
        self._mood = Mood(None, ())
        self._tune: tuple[Tune, int] = ((), 0)
        self._light = AT_FIRST
        self._publish = publish
        self._unpublished = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lights", daemon=True)

    def token_recorded(self, god: God) -> None:
        """Let a shrine glow."""
        now_ns = self._monotonic_ns()
        self._tokens[god] = now_ns
        self._tune = CHIRPS[god], now_ns

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
            begun = [code for code in message.signals if code in SIGNALS and code not in self._mood.signals]
            self._mood = message
            if begun:
                self._tune = SIGNALS[begun[-1]].tune, self._monotonic_ns()
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

    def tone(self, now_ns: int) -> float | None:
        """Return the frequency that sounds, in hertz; None for silence, as while the lamps are off."""
        tune, begun_ns = self._tune
        return note(tune, begun_ns, now_ns) if self._light.on else None

    def _run(self) -> None:
        outputs: list[_Output[Any]] = [each for each in (self._lamps, self._buzzer) if each is not None]
        for each in outputs:
            each.open()
        while not self._ended.wait(FRAME_S):
            if self._lamps is not None and self._unpublished.is_set():
                self._unpublished.clear()  # before it is read: a later change is published by the next frame
                fault = self._lamps.fault
                self._publish(replace(self._light, on=self._light.on and fault is None, fault=fault))
            now_ns = self._monotonic_ns()
            for each in outputs:
                each.turn(now_ns)
        for each in outputs:
            each.close()

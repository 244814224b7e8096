"""A passive piezo on a pin of a Raspberry Pi's header, sounded by gpiozero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from controller.adapters.gpio import open_factory
from controller.adapters.light_thread import Buzzer
from controller.core.settings import BeamSettings

OCTAVES = 2
"""How far notes may be from gpiozero's middle tone, 880 Hz: from 220 to 3520 Hz."""


class Piezo(Buzzer):
    """The piezo on a pin; factory and chip are those of the beams."""

    def __init__(self, pin: int, beams: BeamSettings, folder: Path) -> None:
        """Store the arguments; `folder` is the temple's state folder."""
        self._pin = pin
        self._beams = beams
        self._folder = (folder / "lgpio").absolute()
        self._factory: Any = None
        self._buzzer: Any = None

    def open(self) -> None:
        """Claim the pin, silent; raises what gpiozero and lgpio raise, and `BeamsError`."""
        from gpiozero import TonalBuzzer
        from gpiozero.tones import Tone

        self._factory, _ = open_factory(self._beams, self._folder)
        middle = Tone.from_frequency(880)
        self._buzzer = TonalBuzzer(self._pin, mid_tone=middle, octaves=OCTAVES, pin_factory=self._factory)

    def play(self, hertz: float | None) -> None:
        """Sound at a frequency until the next call, or be silent."""
        if hertz is None:
            self._buzzer.stop()
        else:
            from gpiozero.tones import Tone

            self._buzzer.play(Tone.from_frequency(hertz))

    def close(self) -> None:
        """Be silent and release the pin."""
        if self._buzzer is not None:
            self._buzzer.close()
            self._buzzer = None
        if self._factory is not None:
            self._factory.close()
            self._factory = None

"""Plain LEDs before the shrines' doors: one for each, on a pin of a Raspberry Pi's header, dimmed by gpiozero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from controller.adapters.gpio import open_factory
from controller.adapters.light_thread import Lamps
from controller.core.lights import Frame
from controller.core.settings import BeamSettings, LightSettings
from templo.contract import God


class Leds(Lamps):
    """The LEDs on the pins that the settings name; factory and chip are those of the beams."""

    def __init__(self, settings: LightSettings, beams: BeamSettings, folder: Path) -> None:
        """Store the arguments; `folder` is the temple's state folder."""
        self.coloured = False
        self._settings = settings
        self._beams = beams
        self._folder = (folder / "lgpio").absolute()
        self._factory: Any = None
        self._leds: dict[God, Any] = {}

    def open(self) -> None:
        """Claim the pins, with the LEDs off; raises what gpiozero and lgpio raise, and `BeamsError`."""
        from gpiozero import PWMLED

        self._factory, _ = open_factory(self._beams, self._folder)
        for god, pin in self._settings.pins.items():
            self._leds[god] = PWMLED(pin, pin_factory=self._factory)

    def show(self, frame: Frame) -> None:
        """Dim each LED, within the brightness that the settings allow."""
        for god, colour in frame.items():
            self._leds[god].value = max(colour) * self._settings.brightness / 100

    def close(self) -> None:
        """Switch the LEDs off and release their pins."""
        for led in self._leds.values():
            led.close()
        self._leds.clear()
        if self._factory is not None:
            self._factory.close()
            self._factory = None

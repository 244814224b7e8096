"""WS2812 LEDs before the shrines' doors: coloured LEDs on one data line, timed by the kernel's SPI.

Every bit of colour is one byte on the line at 6.4 MHz: high for two or for five of its eight pulses, 0.31 or 0.78 us.
A pause of the controller between two bytes only makes a low longer, which these LEDs tolerate up to about 5 us.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from controller.adapters.light_thread import Lamps
from controller.core.lights import Colour, Frame
from controller.core.settings import LightSettings
from templo.contract import God

HERTZ = 6_400_000
ZERO, ONE = 0b11000000, 0b11111000
RESET = bytes(HERTZ // 8 * 300 // 1_000_000)
"""A silence of 300 us: the LEDs take over what they were sent. The older ones need 50, those since 2017 need 280."""

CHAIN = (God.HUITZILOPOCHTLI, God.TLALOC)
"""Whose LEDs come first on the line."""

_GAMMA = 2.2
_BITS = [bytes(ONE if value >> bit & 1 else ZERO for bit in range(7, -1, -1)) for value in range(256)]


class LampsError(Exception):
    """The lamps cannot be driven; the message says what is missing and how to put it right."""


class Bus(Protocol):
    """What is used of an SPI device."""

    def writebytes2(self, values: Sequence[int]) -> None:
        """Send bytes in one transfer."""

    def close(self) -> None:
        """Release the device."""


class Ws2812(Lamps):
    """A chain of LEDs, first those before Huitzilopochtli's door, then as many before Tlaloc's."""

    def __init__(self, settings: LightSettings, open_bus: Callable[[str], Bus] | None = None) -> None:
        """Store the arguments."""
        self.coloured = True
        self._settings = settings
        self._open_bus = open_bus or _open_spidev
        self._bus: Bus | None = None

    def open(self) -> None:
        """Open the SPI device, and switch all LEDs off; raises `LampsError`."""
        try:
            self._bus = self._open_bus(self._settings.spi)
        except OSError as error:
            raise LampsError(
                f"lights.spi is {self._settings.spi}, which cannot be opened ({error}); expected a device that "
                "'dtparam=spi=on' in config.txt brings, and a member of the group spi"
            ) from error
        self._send([(0.0, 0.0, 0.0)] * 2)

    def show(self, frame: Frame) -> None:
        """Set the colour of every LED, within the brightness that the settings allow."""
        self._send([frame[god] for god in CHAIN])

    def close(self) -> None:
        """Switch all LEDs off and release the device."""
        if self._bus is not None:
            bus, self._bus = self._bus, None
            try:
                bus.writebytes2(encoded([(0.0, 0.0, 0.0)] * 2, self._settings.each, 0))
            finally:
                bus.close()

    def _send(self, colours: Sequence[Colour]) -> None:
        assert self._bus is not None, "it is open"
        self._bus.writebytes2(encoded(colours, self._settings.each, self._settings.brightness))


def encoded(colours: Sequence[Colour], each: int, brightness: int) -> bytes:
    """Return what is sent for shrines' colours, `each` LEDs a shrine, at a brightness in per cent.

    The LEDs want green before red; their light grows with the number, the eye's impression does not.
    """
    sent = bytearray(RESET)  # the line may have been high before
    for red, green, blue in colours:
        levels = (round(255 * value**_GAMMA * brightness / 100) for value in (green, red, blue))
        sent += b"".join(_BITS[level] for level in levels) * each
    return bytes(sent + RESET)


def _open_spidev(path: str) -> Bus:
    found = re.fullmatch(r"/dev/spidev(\d+)\.(\d+)", path)
    if found is None:
        raise LampsError(f"lights.spi is {path!r}; expected an SPI device such as /dev/spidev0.0")
    try:
        import spidev
    except ImportError as error:
        raise LampsError(
            f"lights.lamps is ws2812, which needs spidev ({error}): 'sudo apt install python3-spidev' brings it"
        ) from error
    device: Bus = spidev.SpiDev()
    device.open(int(found[1]), int(found[2]))  # type: ignore[attr-defined]
    device.max_speed_hz, device.mode = HERTZ, 0  # type: ignore[attr-defined]
    return device

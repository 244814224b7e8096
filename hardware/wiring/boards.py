"""The boards that can count, with their manufacturers' pin numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Board:
    """One kind of board: what its pins are called, and where power and ground are found.

    `numbers` gives, for a number as programs know it, the pin's place and name on the board; `strong` feeds the
    emitters, `logic` the receivers and their pull-ups. No signal may be pulled above `volts`.
    """

    name: str
    title: str
    volts: float
    numbers: Mapping[int, str]
    strong: str
    logic: str
    ground: str
    tables: tuple[str, str | None]
    """The tables of `controller/app/pins.toml` with its receivers and its switch, which not every program drives."""


_HEADER = {
    2: 3, 3: 5, 4: 7, 14: 8, 15: 10, 17: 11, 18: 12, 27: 13, 22: 15, 23: 16, 24: 18, 10: 19, 9: 21, 25: 22, 11: 23,
    8: 24, 7: 26, 5: 29, 6: 31, 12: 32, 13: 33, 19: 35, 16: 36, 26: 37, 20: 38, 21: 40,
}  # fmt: skip
"""Where each GPIO (BCM number) of a Raspberry Pi stands on its header of forty pins."""

_PICO = {
    0: 1, 1: 2, 2: 4, 3: 5, 4: 6, 5: 7, 6: 9, 7: 10, 8: 11, 9: 12, 10: 14, 11: 15, 12: 16, 13: 17, 14: 19, 15: 20,
    16: 21, 17: 22, 18: 24, 19: 25, 20: 26, 21: 27, 22: 29, 26: 31, 27: 32, 28: 34,
}  # fmt: skip
"""Where each GP stands round a Pico, counted from the USB plug's left."""

PI = Board(
    name="pi",
    title="Raspberry Pi",
    volts=3.3,
    numbers={gpio: f"pin {pin} (GPIO {gpio})" for gpio, pin in _HEADER.items()},
    strong="pin 2 (5 V)",
    logic="pin 1 (3.3 V)",
    ground="pin 9 (ground)",
    tables=("receivers", "emitters"),
)
PICO = Board(
    name="pico",
    title="Pico W",
    volts=3.3,
    numbers={gp: f"pin {pin} (GP{gp})" for gp, pin in _PICO.items()},
    strong="pin 40 (VBUS, 5 V)",
    logic="pin 36 (3V3 OUT)",
    ground="pin 23 (ground)",
    tables=("pico", None),
)
UNO = Board(
    name="uno",
    title="Arduino Uno",
    volts=5.0,
    numbers={pin: f"D{pin}" for pin in range(2, 14)},
    strong="5V",
    logic="5V",
    ground="GND",
    tables=("uno", None),
)
BOARDS = {board.name: board for board in (PI, PICO, UNO)}

"""The wires of one temple: from the board to the strip, and from the strip to both halves of each beam.

The strip is a piece of perforated board in the bay. It shares out power and ground, pulls both signals up, and holds
the transistor where the emitters are switched: six wires at most go to the board, and every sensor can be unplugged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardware.wiring.boards import Board
from templo.shrines import LEFT_TO_RIGHT

PINS = Path(__file__).resolve().parents[2] / "controller" / "app" / "pins.toml"
GODS = LEFT_TO_RIGHT
NAMES = {"huitzilopochtli": "Huitzilopochtli", "tlaloc": "Tlaloc"}
HALVES = ("emitter", "receiver")
STRIP = "strip"
PULL_UP = "10 kΩ"
GUARD = "1 kΩ"
"""In series with each signal, on the strip: a pin survives a receiver that is pulled up to 5 V by mistake."""
BASE, HOLD = "1 kΩ", "10 kΩ"
"""Into the transistor's base, which guards the switch's pin too, and from there to ground: it stays off undriven."""
SPIKES, DIPS = "100 nF", "47 µF"
"""At each receiver's plug, and once between 5 V and ground."""


class WiringError(ValueError):
    """A pin that a board does not have, or that two wires would share; the message says what was expected."""


@dataclass(frozen=True)
class Wire:
    """One wire between two things, each with the name of its terminal; its colour is a proposal."""

    start: tuple[str, str]
    end: tuple[str, str]
    colour: str


@dataclass(frozen=True)
class Wiring:
    """All wires of a temple around one board; `switch` is the pin that switches the emitters, where there is one."""

    board: Board
    signals: Mapping[str, int]
    switch: int | None

    @property
    def wires(self) -> tuple[Wire, ...]:
        """Every wire, from the board outwards."""
        return (*self.to_strip, *self.from_strip)

    @property
    def to_strip(self) -> tuple[Wire, ...]:
        """The wires from the board to the strip."""
        board = self.board
        ends = [(board.ground, "ground", "BK"), (board.strong, "5 V", "RD")]
        if board.logic != board.strong:
            ends.append((board.logic, "3.3 V", "OG"))
        ends += [
            (board.numbers[self.signals[god]], NAMES[god], {"huitzilopochtli": "YE", "tlaloc": "BU"}[god])
            for god in GODS
        ]
        if self.switch is not None:
            ends.append((board.numbers[self.switch], "switch", "GN"))
        return tuple(Wire((board.title, pin), (STRIP, terminal), colour) for pin, terminal, colour in ends)

    @property
    def from_strip(self) -> tuple[Wire, ...]:
        """The wires from the strip to the four halves of the beams."""
        return tuple(wire for god in GODS for part in HALVES for wire in self.to(god, part))

    def to(self, god: str, part: str) -> tuple[Wire, ...]:
        """Return the wires from the strip to one half of a god's beam: ``"emitter"`` or ``"receiver"``."""
        half = f"{NAMES[god]}'s {part}"
        if part == "emitter":
            back = "emitters −" if self.switch is not None else "ground"
            ends = [("5 V", "+", "RD"), (back, "−", "BK")]
        else:
            ends = [(self.receivers, "+", "RD"), ("ground", "−", "BK"), (NAMES[god], "signal", "WH")]
        return tuple(Wire((STRIP, here), (half, there), colour) for here, there, colour in ends)

    @property
    def receivers(self) -> str:
        """The strip's terminal that feeds the receivers and their pull-ups: never more than the board can read."""
        return "3.3 V" if self.board.volts < 5 else "5 V"


def wiring(board: Board, pins: Mapping[str, Mapping[str, Any]] | None = None) -> Wiring:
    """Return the wiring of a board by `controller/app/pins.toml`, or by other pins; raises `WiringError`."""
    pins = tomllib.loads(PINS.read_text(encoding="utf-8")) if pins is None else pins
    receivers, emitters = board.tables
    signals = {god: int(pins[receivers][god]) for god in GODS}
    switch = int(pins[emitters]["switch"]) if emitters is not None and emitters in pins else None
    taken: dict[int, str] = {}
    for name, pin in (*signals.items(), *((("switch", switch),) if switch is not None else ())):
        if pin not in board.numbers:
            raise WiringError(f"{name} is {pin}; expected one of {board.title}'s pins: {sorted(board.numbers)}")
        if pin in taken:
            raise WiringError(f"{name} is {pin}, as is {taken[pin]}; expected a pin of its own")
        taken[pin] = name
    return Wiring(board, signals, switch)

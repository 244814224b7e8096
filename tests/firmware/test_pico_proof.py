"""A Pico whose emitters can be switched proves its beams, and doubts what a beam made that they do not prove."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module as module
from pathlib import Path
from typing import Any

import pytest

from templo import contract
from tests.firmware.test_pico_light import PINS, Companion, God
from tests.firmware.test_pico_restored import new_id

SECOND = 1_000_000
GOD = God.TLALOC
PULSE_US = 10_010_000
"""When the second pulse is sent, if nothing falls before."""


class Board:
    """A Pico's own files on stand-ins for its pins, with emitters that a lamp may outshine."""

    def __init__(self, folder: Path) -> None:
        self.world = module("world")
        self.world.reset()
        self.world.pass_to(0)
        self.companion = Companion()
        self.lamp: set[God] = set()
        self.shade: set[God] = set()
        self.lit = 1
        self.planned: list[tuple[int, God, bool]] = []
        self.pulses: list[int] = []
        limits = module("slots").Limits()
        self.beams = [module("beams").Beam(n, PINS[god], 5_000, self._us) for n, god in enumerate(God)]
        self.temple: Any = module("temple").Temple(
            {"temple": "templo"}, module("calibration").Calibration(limits), self.beams,
            lambda: module("ledger").Ledger(str(folder), new_id), self.companion, "c" * 32, lambda: 1795286527123, 0,
            pulse=self._pulse,
        )  # fmt: skip

    def _us(self) -> int:
        return int(self.world.now_us)

    def _pulse(self) -> Any:
        self.pulses.append(self._us())
        return module("proof").send(self._switch, self.beams, self._us, self._sleep)

    def _sleep(self, us: int) -> None:
        until_us = self._us() + us
        while self.planned and self.planned[0][0] <= until_us:
            at_us, god, dark = self.planned.pop(0)
            self.world.pass_to(at_us)
            (self.shade.add if dark else self.shade.discard)(god)
            self.shine()
        self.world.pass_to(until_us)

    def _switch(self, lit: int) -> None:
        self.lit = lit
        self.shine()

    def shine(self) -> None:
        for god in God:
            bright = god in self.lamp or (self.lit and god not in self.shade)
            self.world.put(PINS[god], int(bright))

    def run(self, seconds: float) -> None:
        until_us = self._us() + round(seconds * SECOND)
        while self._us() < until_us:
            self._sleep(5_000)
            self.temple.turn(self._us() // 1000)

    def fall(self, god: God, width_us: int = 12_000) -> None:
        self.shade.add(god)
        self.shine()
        self._sleep(width_us)
        self.shade.discard(god)
        self.shine()
        self.run(0.1)

    def findings(self) -> list[list[str]]:
        return [[code for code, _ in found] for found in self.temple.findings()]


def command(digit: str) -> contract.Command:
    at = contract.parse_utc(module("wire").format_utc(1795286527123 + 60_000))
    return contract.Command(digit * 32, contract.CommandName.SELFTEST, at)


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    one = Board(tmp_path / "ledger")
    yield one
    one.temple.ledger.close()


def test_beams_are_proved_at_the_start_after_ten_quiet_seconds_and_then_each_minute(board: Board) -> None:
    board.run(1)
    assert board.findings() == [[], []]
    board.fall(God.TLALOC)
    board.run(140)
    assert [round(at_us / SECOND) for at_us in board.pulses] == [0, 11, 71, 131]
    assert board.temple.ledger.last_seq == 1
    assert [slot.glitches for slot in board.temple.slots] == [0, 0]
    assert [seen.falls for seen in board.temple.seen] == [0, 1]
    assert board.companion.reasons == {}


def test_a_beam_that_a_lamp_lights_says_so_within_a_minute_and_what_it_made_is_doubted(board: Board) -> None:
    board.run(12)
    board.lamp.add(God.TLALOC)
    board.run(30)
    board.lamp.clear()
    board.fall(God.TLALOC)
    board.fall(God.HUITZILOPOCHTLI)
    board.lamp.add(God.TLALOC)
    board.shine()
    board.run(60)
    assert board.findings() == [[], ["no_answer"]]
    assert board.temple.slots[1].beam == "unproved"
    assert board.companion.counted() == {God.TLALOC: ["unproved"], God.HUITZILOPOCHTLI: [""]}
    board.lamp.clear()
    board.fall(God.TLALOC)
    assert board.companion.counted()[God.TLALOC] == ["unproved", "unproved"]
    board.run(61)
    assert board.findings() == [[], []]
    board.fall(God.TLALOC)
    assert board.companion.counted()[God.TLALOC] == ["unproved", "unproved", ""]


def test_a_selftest_proves_the_beams_at_once_unless_one_has_just_changed(board: Board) -> None:
    board.run(5)
    board.lamp.add(God.TLALOC)
    board.companion.ask(command("a"))
    board.run(0.1)
    board.lamp.clear()
    board.fall(God.HUITZILOPOCHTLI)
    board.companion.ask(command("b"))
    board.run(0.1)
    first, second = board.companion.replies
    assert (first["emitters"], second["emitters"]) == ("switched", "busy")
    assert {god: beam["proof"] for god, beam in first["beams"].items()} == {"tlaloc": False, "huitzilopochtli": True}
    assert first["beams"]["tlaloc"]["findings"] == [{"code": "no_answer"}]
    assert len(board.pulses) == 2


@pytest.mark.parametrize("later_us", range(-16_000, 8_000, 1_000))
def test_a_token_that_meets_a_pulse_is_counted_once_and_as_wide_as_it_was(board: Board, later_us: int) -> None:
    """It begins so long after the pulse of the eleventh second, or before it."""
    board.planned = [(PULSE_US + later_us, GOD, True), (PULSE_US + later_us + 12_000, GOD, False)]
    board.run(20)
    width_us = board.temple.ledger.read(1)[3]
    assert board.temple.ledger.last_seq == 1
    assert 11_900 <= width_us <= 12_100 + (9_000 if later_us > 0 else 0)
    assert [slot.glitches for slot in board.temple.slots] == [0, 0]
    assert board.findings() == [[], []]
    assert board.companion.reasons == {}

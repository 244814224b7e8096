"""The Uno's binary in simavr: its record through power cuts at every moment, its line, and its pins."""

from __future__ import annotations

import ctypes
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from controller.wire import God
from firmware.tests import uno
from firmware.tests.host import ARDUINO, BUILD, compiled
from tests.controller.program import ROOT


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    uno.build()


class Memory:
    """The EEPROM of the ledger, compiled for this machine: its power may fail after any number of bytes."""

    def __init__(self) -> None:
        sources = [str(ARDUINO / "ledger.c"), str(Path(__file__).parent / "memory.c")]
        file = compiled(BUILD / "ledger.so", ["-std=c11", "-O1", "-shared", "-fPIC", *sources])
        self.core = ctypes.CDLL(str(file))
        self.core.probe_append.restype = ctypes.c_bool
        for name in ("probe_seq", "probe_first", "probe_huitzilopochtli", "probe_acked"):
            getattr(self.core, name).restype = ctypes.c_uint32
        self.cells = (ctypes.c_uint8 * 1024).in_dll(self.core, "cells")
        self.writes = (ctypes.c_uint32 * 1024).in_dll(self.core, "writes")
        self.budget = ctypes.c_long.in_dll(self.core, "budget")

    def erase(self) -> None:
        ctypes.memset(self.cells, 0xFF, 1024)
        ctypes.memset(self.writes, 0, 4096)
        self.budget.value = -1
        self.core.probe_open()

    def append(self, god: int, width: int) -> bool:
        return bool(self.core.probe_append(god, 0, width))

    def seq(self) -> int:
        return int(self.core.probe_seq())


@pytest.fixture(scope="module")
def memory() -> Memory:
    return Memory()


def test_a_power_cut_after_any_byte_loses_no_recorded_token_and_invents_none(memory: Memory) -> None:
    """Every token of three rounds through the memory is cut after each of its bytes."""
    memory.erase()
    huitzilopochtli = 0
    for seq in range(1, 3 * uno.RECORDS + 1):
        god = seq % 3 == 0
        before = bytes(memory.cells)
        for cut in range(14):
            ctypes.memmove(memory.cells, before, 1024)
            memory.budget.value = -1
            memory.core.probe_open()
            memory.budget.value = cut
            whole = memory.append(int(god), seq * 7)
            memory.budget.value = -1
            memory.core.probe_open()
            # Cut after its last byte a record is there although nobody was told of it: it may be, and only once.
            there = memory.seq() == seq
            assert there or (not whole and memory.seq() == seq - 1)
            assert memory.core.probe_huitzilopochtli() == huitzilopochtli + (there and not god)
            assert memory.seq() - memory.core.probe_first() + 1 >= min(memory.seq(), uno.RECORDS - 1)
            if there:
                break
        if not there:
            assert memory.append(int(god), seq * 7)
        huitzilopochtli += not god
    assert memory.seq() == 3 * uno.RECORDS


def test_each_cell_is_written_once_in_a_round_at_most(memory: Memory) -> None:
    memory.erase()
    for seq in range(1, 20 * uno.RECORDS + 1):
        assert memory.append(seq % 2, 600 + seq % 100)
    assert max(memory.writes) <= 21
    assert sum(memory.writes) / (20 * uno.RECORDS) <= 12


def test_a_byte_that_rots_costs_one_record_and_no_number_twice(memory: Memory) -> None:
    memory.erase()
    for seq in range(1, 101):
        memory.append(seq % 2, 600)
    for at in range(40, 1020, 7):
        memory.cells[at] ^= 0x10
        memory.core.probe_open()
        assert memory.seq() >= 99
        memory.cells[at] ^= 0x10


def test_a_name_that_is_cut_is_the_old_one_or_the_new_one(memory: Memory) -> None:
    memory.erase()
    for name in (b"a" * 16, b"b" * 16):
        before, old = bytes(memory.cells), bytes(memory.cells[2:18])
        for cut in range(41):
            ctypes.memmove(memory.cells, before, 1024)
            memory.budget.value = cut
            memory.core.probe_name(name)
            memory.budget.value = -1
            got = ctypes.create_string_buffer(17)
            named = memory.core.probe_read_name(got)
            assert got.value in ({name, old} if named else {b""})
            assert named or old != b"a" * 16


def test_a_reset_under_a_falling_token_costs_that_token_and_no_other(tmp_path: Path) -> None:
    spells = [(God.TLALOC, 500.0 + 100 * n, 512.0 + 100 * n) for n in range(100)]
    story = uno.pulses(spells)
    cuts = [(uno.BOOT_US + 500_000 + 100_000 * n + 6_000, "P 1000") for n in range(10, 100, 10)]
    uno.run(tmp_path, sorted([*story[:-1], *cuts]) + story[-1:])
    assert uno.totals(tmp_path) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 100 - len(cuts)}


def test_resets_at_any_moment_cost_one_token_each_at_most(tmp_path: Path) -> None:
    spells = [(God.HUITZILOPOCHTLI, 500.0 + 120 * n, 511.0 + 120 * n) for n in range(200)]
    story = uno.pulses(spells)
    cuts = [(uno.BOOT_US + 1_000_000 + 241_300 * n, "P 500") for n in range(80)]
    uno.run(tmp_path, sorted([*story[:-1], *cuts]) + story[-1:])
    counted = uno.totals(tmp_path)[God.HUITZILOPOCHTLI]
    assert 200 - len(cuts) <= counted <= 200
    assert [each.seq for each in uno.kept(tmp_path)] == list(range(counted - uno.RECORDS + 1, counted + 1))


def test_a_clock_that_has_run_for_hours_counts_on(tmp_path: Path) -> None:
    """The program's clock of 4 us wraps after 4.8 hours; here its first overflows are passed, 262 ms each."""
    spells = [(God.TLALOC, 262.0 * n - 6, 262.0 * n + 6) for n in range(4, 60)]
    uno.run(tmp_path, uno.pulses(spells))
    assert [each.width_ms for each in uno.kept(tmp_path)] == pytest.approx([12.0] * 56, abs=0.05)


def test_the_pins_are_those_of_the_table() -> None:
    pins = tomllib.loads((ROOT / "controller" / "pins.toml").read_text())["uno"]
    header = (ARDUINO / "pins.h").read_text()
    found = {name: int(number) for name, number in re.findall(r"#define (\w+)_PIN (\d+)", header)}
    assert found == {"HUITZ": pins["huitzilopochtli"], "TLALOC": pins["tlaloc"]}
    ports = {"D": range(8), "B": range(8, 14)}
    for name, number in found.items():
        (port,) = re.findall(rf"#define {name}_IN PIN([BD])", header)
        (bit,) = re.findall(rf"#define {name}_BIT _BV\((\d)\)", header)
        assert ports[port].start + int(bit) == number
        group, mask = {"D": ("PCIE2", "PCMSK2"), "B": ("PCIE0", "PCMSK0")}[port]
        assert f"#define {name}_GROUP _BV({group})" in header
        assert f"#define {name}_MASK {mask}" in header


def test_the_program_leaves_room_on_the_chip() -> None:
    said = subprocess.run(["avr-size", str(uno.FIRMWARE)], check=True, capture_output=True, text=True).stdout
    text, data, bss = map(int, said.splitlines()[1].split()[:3])
    assert text + data < 32_256  # less Optiboot
    assert data + bss < 2048 - 256  # of which the stack needs some 150

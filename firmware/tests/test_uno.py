"""The Uno's binary in simavr: its records through power cuts at every moment, its protocol and its pins."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import pytest

from controller.adapters import serial_board
from controller.core.counting import MS, SECOND, Counter, Edge, Limits
from controller.simulation.parser import read
from controller.simulation.timeline import Change, expand
from firmware.tests import uno
from firmware.tests.host import ARDUINO, BUILD, compiled
from templo.contract import God
from tests.compatibility.reading import FACTS
from tests.compatibility.write import FILES
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
        for name in ("probe_append", "probe_mark", "probe_worn"):
            getattr(self.core, name).restype = ctypes.c_bool
        self.core.probe_width.restype = ctypes.c_uint16
        for name in ("probe_seq", "probe_first", "probe_huitzilopochtli", "probe_acked"):
            getattr(self.core, name).restype = ctypes.c_uint32
        self.cells = (ctypes.c_uint8 * 1024).in_dll(self.core, "cells")
        self.stuck = (ctypes.c_uint8 * 1024).in_dll(self.core, "stuck")
        self.writes = (ctypes.c_uint32 * 1024).in_dll(self.core, "writes")
        self.budget = ctypes.c_long.in_dll(self.core, "budget")
        self.spoil = ctypes.c_int.in_dll(self.core, "spoil")

    def erase(self) -> None:
        ctypes.memset(self.cells, 0xFF, 1024)
        ctypes.memset(self.writes, 0, 4096)
        ctypes.memset(self.stuck, 0, 1024)
        self.budget.value = -1
        self.core.probe_open()

    def append(self, god: int, width: int) -> bool:
        return bool(self.core.probe_append(god, 0, width))

    def seq(self) -> int:
        return int(self.core.probe_seq())

    def acked(self) -> int:
        return int(self.core.probe_acked())


@pytest.fixture(scope="module")
def memory() -> Memory:
    return Memory()


def wear_out(memory: Memory, places: Iterable[int]) -> None:
    """Let one cell of each place of the ring, another one in each, keep no zeros."""
    for place in places:
        memory.stuck[uno.HEADER + place * uno.RECORD + place % uno.RECORD] = 0xFF


@pytest.mark.parametrize("worn", [(), (0, 7, 8, 20, 33, 69)], ids=["", "worn"])
@pytest.mark.parametrize("marked", [False, True], ids=["", "marked"])
@pytest.mark.parametrize("spoil", [-1, 0xFF, 0x5A], ids=["between", "erased", "torn"])
def test_a_power_cut_in_any_byte_loses_no_recorded_token_and_invents_none(
    memory: Memory, spoil: int, marked: bool, worn: tuple[int, ...]
) -> None:
    """Every token of three rounds through the memory is cut after each of its bytes, or within the next."""
    memory.erase()
    wear_out(memory, worn)
    huitzilopochtli = 0
    for seq in range(1, 3 * uno.RECORDS + 1):
        god = seq % 3 == 0
        if marked:
            memory.core.probe_acknowledge(seq - 1)
            assert memory.core.probe_mark()
        before = bytes(memory.cells)
        for cut in range(14 + 19 * len(worn)):
            ctypes.memmove(memory.cells, before, 1024)
            memory.budget.value = -1
            memory.core.probe_open()
            memory.budget.value = cut
            memory.spoil.value = spoil
            whole = memory.append(int(god), seq * 7)
            memory.budget.value = -1
            memory.core.probe_open()
            # Cut after its last byte a record is there although nobody was sent it: it may be, and only once.
            there = memory.seq() == seq
            assert there or (not whole and memory.seq() == seq - 1)
            assert memory.core.probe_huitzilopochtli() == huitzilopochtli + (there and not god)
            assert not marked or memory.acked() == seq - 1 or (not there and memory.acked() == max(0, seq - 2))
            assert memory.seq() - memory.core.probe_first() + 1 >= min(memory.seq(), uno.RECORDS - 1 - len(worn))
            if there:
                break
        if not there:
            assert memory.append(int(god), seq * 7)
        huitzilopochtli += not god
    assert memory.seq() == 3 * uno.RECORDS


@pytest.mark.parametrize("spoil", [-1, 0xFF, 0x5A], ids=["between", "erased", "torn"])
def test_a_power_cut_in_any_byte_of_a_mark_changes_no_record(memory: Memory, spoil: int) -> None:
    """Each token of three rounds is acknowledged and marked; each mark is cut after each byte, or within the next."""
    memory.erase()
    for seq in range(1, 3 * uno.RECORDS + 1):
        assert memory.append(int(seq % 3 == 0), seq * 7)
        before, huitzilopochtli = bytes(memory.cells), memory.core.probe_huitzilopochtli()
        for cut in range(8):
            ctypes.memmove(memory.cells, before, 1024)
            memory.budget.value = -1
            memory.core.probe_open()
            assert (memory.seq(), memory.acked()) == (seq, seq - 1)
            memory.core.probe_acknowledge(seq)
            memory.budget.value = cut
            memory.spoil.value = spoil
            whole = memory.core.probe_mark()
            memory.budget.value = -1
            memory.core.probe_open()
            assert (memory.seq(), memory.core.probe_huitzilopochtli()) == (seq, huitzilopochtli)
            assert memory.acked() in ((seq,) if whole else (seq - 1, seq))
            assert memory.seq() - memory.core.probe_first() + 1 >= min(seq, uno.RECORDS - 1)
            assert [each.seq for each in uno.records(bytes(memory.cells))][-1] == seq
        assert whole


def test_a_mark_is_written_only_once_all_is_acknowledged_and_once(memory: Memory) -> None:
    memory.erase()
    for number in (30, 8, 90):
        for _ in range(number):
            memory.append(0, 500)
        memory.core.probe_acknowledge(memory.seq() - 1)
        before = bytes(memory.cells)
        assert memory.core.probe_mark()
        assert bytes(memory.cells) == before
        memory.core.probe_acknowledge(memory.seq())
        assert memory.core.probe_mark()
        written = sum(memory.writes)
        memory.core.probe_open()
        assert memory.acked() == memory.seq()
        assert memory.core.probe_mark()
        assert sum(memory.writes) == written


def test_a_worn_cell_is_skipped_and_every_token_is_recorded_and_read_again(memory: Memory) -> None:
    """One place more wears out after every three tokens, until two are left: the latest record always stays."""
    memory.erase()
    for worn in range(uno.RECORDS - 2):
        wear_out(memory, [worn * 3 % uno.RECORDS])
        for _ in range(3):
            seq = memory.seq() + 1
            assert memory.append(seq % 2, seq)
            if seq % 3:
                memory.core.probe_acknowledge(seq)
                assert memory.core.probe_mark()
            if seq % 2:
                memory.core.probe_open()
            assert not memory.core.probe_worn()
            assert memory.seq() == seq
            assert memory.core.probe_huitzilopochtli() == seq // 2
        first = memory.core.probe_first()
        assert [memory.core.probe_width(each) for each in range(first, seq + 1)] == list(range(first, seq + 1))


def test_a_ring_with_few_places_holds_as_many_tokens(memory: Memory) -> None:
    memory.erase()
    wear_out(memory, range(20, uno.RECORDS))
    for seq in range(1, 101):
        assert memory.append(0, seq)
    for _ in range(2):
        assert [memory.core.probe_width(seq) for seq in range(memory.core.probe_first(), 101)] == list(range(81, 101))
        memory.core.probe_open()


def test_a_memory_in_which_no_place_is_left_says_so_and_gives_no_number_twice(memory: Memory) -> None:
    memory.erase()
    for seq in range(1, 6):
        assert memory.append(0, seq)
    for place in range(uno.RECORDS):
        memory.stuck[uno.HEADER + place * uno.RECORD] = 0xFF
    assert not memory.append(0, 6)
    assert memory.core.probe_worn()
    memory.core.probe_open()
    assert memory.seq() == 5


@pytest.mark.parametrize("at", [3, 17, 23, 39])
def test_a_worn_cell_in_one_copy_of_the_name_costs_no_name(memory: Memory, at: int) -> None:
    memory.erase()
    memory.stuck[at] = 0xFF
    name = ctypes.create_string_buffer(17)
    for given in (b"a" * 16, b"b" * 16):
        memory.core.probe_name(given)
        assert not memory.core.probe_worn()
        assert memory.core.probe_read_name(name)
        assert name.value == given
    assert memory.append(0, 5)


@pytest.mark.parametrize(("number", "acked"), [(300, 7), (8199, 7), (8200, 8)])
def test_a_board_knows_after_a_power_cut_which_of_its_last_8192_tokens_nobody_took(
    memory: Memory, number: int, acked: int
) -> None:
    memory.erase()
    for _ in range(number):
        memory.core.probe_append(1, 3, 500)
        memory.core.probe_acknowledge(min(memory.seq(), 7))
    memory.core.probe_open()
    assert (memory.seq(), memory.acked()) == (number, acked)
    assert {(each.flags, each.god) for each in uno.records(bytes(memory.cells))} == {(3, God.TLALOC)}


def test_a_mark_after_each_token_wears_no_cell_more_than_twice_in_a_round(memory: Memory) -> None:
    memory.erase()
    for seq in range(1, 20 * uno.RECORDS + 1):
        assert memory.append(seq % 2, 600 + seq % 100)
        memory.core.probe_acknowledge(seq)
        assert memory.core.probe_mark()
    assert max(memory.writes) <= 42


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


def test_a_power_cut_under_a_falling_token_costs_that_token_and_no_other(tmp_path: Path) -> None:
    spells = [(God.TLALOC, 500.0 + 100 * n, 512.0 + 100 * n) for n in range(100)]
    story = uno.pulses(spells)
    cuts = [(uno.BOOT_US + 500_000 + 100_000 * n + 6_000, "P 1000") for n in range(10, 100, 10)]
    uno.run(tmp_path, sorted([*story[:-1], *cuts]) + story[-1:])
    assert uno.totals(tmp_path) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 100 - len(cuts)}


def test_a_reset_in_the_middle_of_a_burst_loses_no_token_that_was_counted(tmp_path: Path) -> None:
    """Fifty fall in half a second, twice as many as can be written down in that time; then DTR resets the board."""
    spells = [*uno.row(God.TLALOC, 25, 20.0), *uno.row(God.HUITZILOPOCHTLI, 25, 20.0, 11.0)]
    story = uno.pulses(spells)
    after_us = story[-2][0] + 8_000
    uno.run(tmp_path, [*story[:-1], (after_us, "R"), (after_us + 3_000_000, "E")])
    assert uno.totals(tmp_path) == dict.fromkeys(God, 25)
    found = uno.kept(tmp_path)
    assert [each.seq for each in found] == list(range(1, 51))
    assert {(each.god, round(each.width_ms)) for each in found} == {(God.TLALOC, 9), (God.HUITZILOPOCHTLI, 11)}


def test_resets_by_whoever_opens_the_port_cost_no_token_but_those_of_the_boot_loader(tmp_path: Path) -> None:
    """Each of forty resets falls at another moment of counting and writing; none doubles what it finds again."""
    spells = uno.row(God.TLALOC, 800, 41.0)
    resets_us = [uno.BOOT_US + 600_000 + 751_377 * n for n in range(40)]
    story = uno.pulses(spells)
    uno.run(tmp_path, sorted([*story[:-1], *((at_us, "R") for at_us in resets_us)]) + story[-1:])

    def near(begin_us: float, end_us: float) -> bool:
        return any(at_us - 5_500 < end_us and begin_us < at_us + 520_000 for at_us in resets_us)

    sure = sum(not near(uno.BOOT_US + begin * 1000, uno.BOOT_US + end * 1000) for _, begin, end in spells)
    # One under the boot loader's ends may be seen or not.
    assert sure <= uno.totals(tmp_path)[God.TLALOC] <= sure + 2 * len(resets_us)
    assert not [each for each in uno.kept(tmp_path) if each.flags]


def test_noise_in_memory_is_no_token_after_a_power_cut(tmp_path: Path) -> None:
    story = uno.pulses([*uno.row(God.TLALOC, 20, 20.0), *uno.row(God.HUITZILOPOCHTLI, 20, 20.0)])
    cut_us = story[-2][0] + 8_000
    uno.run(tmp_path, [*story[:-1], (cut_us, "P 1000"), (cut_us + 3_000_000, "E")])
    before = len(uno.kept(tmp_path))
    assert 5 < before < 40
    assert not [each for each in uno.kept(tmp_path) if each.flags or round(each.width_ms) != 9]


def test_a_burst_beyond_all_memory_is_counted_and_its_end_flagged(tmp_path: Path) -> None:
    story = uno.pulses([*uno.row(God.TLALOC, 150, 20.0), *uno.row(God.HUITZILOPOCHTLI, 150, 20.0)])
    uno.run(tmp_path, [*story[:-1], (story[-1][0] + 5_000_000, "E")])
    assert uno.totals(tmp_path) == dict.fromkeys(God, 150)
    assert {(round(each.width_ms), each.flags) for each in uno.kept(tmp_path)[-20:]} == {(0, 2)}


@pytest.mark.parametrize("name", ["sun-through-leaves", "sunlight-passed"])
def test_flicker_is_reported_as_the_pi_reports_it(tmp_path: Path, name: str) -> None:
    """Each state that lasts is reported in its turn, and none that never was.

    Health is reported from the first second on, five times a second at most.
    """
    script = read((ROOT / "controller" / "simulation" / "scenarios" / f"{name}.toml").read_bytes(), name)
    timeline = expand(script)
    levels = uno.run(tmp_path, uno.script(timeline))["beams"].split()
    for place, god in enumerate((God.HUITZILOPOCHTLI, God.TLALOC)):
        seen = [state for state, _ in groupby(pair[place] for pair in levels)]
        counter = Counter(script.limits(Limits()), timeline.dark[god], 0)
        states = [(0, "ud"[timeline.dark[god]])]
        for moment in [each for each in timeline.moments if isinstance(each, Change) and each.god is god]:
            while (due := counter.deadline()) is not None and due < moment.at_ns:
                counter.advance(due)
                states.append((due, str(counter.beam)[0]))
            counter.feed(Edge(moment.at_ns, moment.dark))
            states.append((moment.at_ns, str(counter.beam)[0]))
        counter.advance(timeline.end_ns + SECOND)
        states.append((timeline.end_ns + SECOND, str(counter.beam)[0]))
        changes = [next(group) for _, group in groupby(states, key=lambda each: each[1])]
        ends = [*(at_ns for at_ns, _ in changes[1:]), timeline.end_ns + 2 * SECOND]
        lasting = [state for (at_ns, state), end in zip(changes, ends, strict=True) if end - at_ns > 250 * MS]
        assert _within(lasting[1:], seen)
        assert _within(seen, [state for _, state in changes])


def _within(some: list[str], all_: list[str]) -> bool:
    rest = iter(all_)
    return all(each in rest for each in some)


def test_six_hundred_spells_a_second_in_each_slot_lose_no_edge(tmp_path: Path) -> None:
    spells = [*uno.row(God.TLALOC, 3000, 1.667, 0.8), *uno.row(God.HUITZILOPOCHTLI, 3000, 1.667, 0.6)]
    result = uno.run(tmp_path, uno.pulses(spells))
    assert uno.missed(result) == dict.fromkeys(God, 0)
    assert [(each.flags, round(each.width_ms)) for each in uno.kept(tmp_path)] == [(1, 250)] * 2


def test_edges_that_are_lost_are_reported_and_the_next_tokens_are_counted(tmp_path: Path) -> None:
    """Noise of 20 kHz is more than any interrupt takes; each loss makes one token at most, and it is flagged."""
    noise = uno.row(God.TLALOC, 600, 0.05, 0.025)
    tokens = [(God.TLALOC, 2000.0 + 100 * n, 2012.0 + 100 * n) for n in range(10)]
    result = uno.run(tmp_path, uno.pulses([*noise, *tokens]))
    assert uno.missed(result)[God.TLALOC] > 0
    found = uno.kept(tmp_path)
    assert len(found) <= 10 + 3
    assert all(each.flags & 2 for each in found[:-10])
    assert [(round(each.width_ms), each.flags) for each in found[-10:]] == [(12, 0)] * 10


def test_a_port_that_its_reader_closed_is_opened_again_without_a_reset(tmp_path: Path) -> None:
    with uno.plugged(tmp_path, [(0, "E")], 0) as tty:
        for _ in range(3):
            port = serial_board._open(str(tty))
            until = time.monotonic() + 30
            while b"H 1 " not in port.read(4096):
                assert time.monotonic() < until
            port.close()
            time.sleep(0.3)
    assert json.loads((tmp_path / "result.json").read_text())["resets"] == 2  # its power, and the first opening


def test_a_board_knows_after_a_power_cut_that_all_its_tokens_were_taken(tmp_path: Path) -> None:
    """A second after the last of them; its power fails as the cable is pulled."""
    with uno.plugged(tmp_path, uno.pulses(uno.row(God.TLALOC, 5, 100.0)), 1.0) as tty:
        assert uno.taken(tty, 5)[0].acked == 0
    with uno.plugged(tmp_path, [(0, "E")], 1.0) as tty:
        assert uno.taken(tty, 0)[0].acked == 5


@pytest.mark.parametrize("release", sorted(each.name for each in FILES.iterdir()))
def test_what_the_program_of_a_release_recorded_is_sent_and_continued(release: str, tmp_path: Path) -> None:
    expected = json.loads((FILES / release / "uno" / FACTS).read_text("utf-8"))
    shutil.copy(FILES / release / "uno" / uno.EEPROM, tmp_path)
    with uno.plugged(tmp_path, uno.pulses(uno.row(God.TLALOC, 1, 100.0)), 1.0) as tty:
        found = uno.sent(tty, expected["tokens"][-1][0] + 1)
    *before, (seq, god, *_) = found["tokens"]
    assert found | {"tokens": before} == expected
    assert (seq, god) == (expected["tokens"][-1][0] + 1, God.TLALOC)


def test_power_cuts_at_any_moment_cost_one_token_each_at_most(tmp_path: Path) -> None:
    spells = [(God.HUITZILOPOCHTLI, 500.0 + 120 * n, 511.0 + 120 * n) for n in range(200)]
    story = uno.pulses(spells)
    cuts = [(uno.BOOT_US + 1_000_000 + 241_300 * n, "P 500") for n in range(80)]
    result = uno.run(tmp_path, sorted([*story[:-1], *cuts]) + story[-1:])
    assert result["spoilt"] > 10  # bytes whose power failed while they were written
    counted = uno.totals(tmp_path)[God.HUITZILOPOCHTLI]
    assert 200 - len(cuts) <= counted <= 200
    assert [each.seq for each in uno.kept(tmp_path)] == list(range(counted - uno.RECORDS + 1, counted + 1))


def test_a_clock_that_has_run_for_hours_counts_on(tmp_path: Path) -> None:
    """The program's clock of 4 us wraps after 4.8 hours; here its first overflows are passed, 262 ms each."""
    spells = [(God.TLALOC, 262.0 * n - 6, 262.0 * n + 6) for n in range(4, 60)]
    uno.run(tmp_path, uno.pulses(spells))
    assert [each.width_ms for each in uno.kept(tmp_path)] == pytest.approx([12.0] * 56, abs=0.05)


HOUR_MS = 3_600_000


def test_the_age_of_a_token_is_unknown_before_the_clock_wraps_and_never_wrong() -> None:
    """The clock passes sixty days in hours; some tokens fall at first, and one a month later."""
    file = compiled(BUILD / "ages.so", ["-std=c11", "-O1", "-shared", "-fPIC", str(ARDUINO / "ages.c")])
    ages = ctypes.CDLL(str(file))
    ages.ages_of.restype = ctypes.c_bool
    ages.ages_begin(ctypes.c_uint32(2))
    fell = {seq: 1_000 * seq for seq in range(2, 8)} | {8: 30 * 24 * HOUR_MS}
    age = ctypes.c_uint32()
    for now_ms in range(0, 60 * 24 * HOUR_MS, HOUR_MS):
        for seq in [each for each, at_ms in fell.items() if now_ms <= at_ms < now_ms + HOUR_MS]:
            ages.ages_add(seq, ctypes.c_uint32(fell[seq] & 0xFFFFFFFF))
        later_ms = now_ms + HOUR_MS - 1
        ages.ages_pass(ctypes.c_uint32(later_ms & 0xFFFFFFFF))
        for seq, at_ms in fell.items():
            known = ages.ages_of(seq, ctypes.c_uint32(later_ms & 0xFFFFFFFF), ctypes.byref(age))
            assert known == (seq > 2 and at_ms <= later_ms and later_ms - at_ms <= 48 * 24 * HOUR_MS)
            assert not known or age.value == later_ms - at_ms


def test_the_pins_are_those_of_the_table() -> None:
    pins = tomllib.loads((ROOT / "controller" / "app" / "pins.toml").read_text())["uno"]
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

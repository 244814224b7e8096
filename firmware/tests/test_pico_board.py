"""The Pico's files under a real MicroPython, and its PIO program in an emulator: what only they can show."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from controller.core.counting import MS
from controller.core.lights import AT_FIRST, Scene, Shrine, colour
from firmware.tests import pico_pio, uno
from firmware.tests.pico_memory import SLOWEST, TYPICAL, Flash, kept, micropython, remembered
from templo import contract
from templo.contract import God

VECTORS = """
import binascii, json, os, wire

def step():
    found = []
    for leaf in ("ack", "command"):
        with open("/vectors/%s.json" % leaf) as file:
            vectors = json.load(file)
        for kind in ("good", "bad"):
            for each in vectors[kind]:
                payload = each["payload"].encode() if "payload" in each else binascii.unhexlify(each["payload_hex"])
                try:
                    wire.read(leaf, payload)
                    was = "good"
                except wire.WireError:
                    was = "bad"
                if was != kind:
                    found.append([leaf, each["name"], was])
    said = [
        wire.token("a" * 32, 7, "b" * 32, "tlaloc", 1795286527123, 14200, ["overlap", "jam"], True),
        wire.count("a" * 32, 7, [3, 4]),
        wire.noise("c" * 32, [3, 4], [5, 6]),
        wire.status("ready", None, "c" * 32, "1.0.0", ("clear", "unproved"), None),
        wire.status("alert", "a" * 32, "c" * 32, "1.0.0", ("clear", "dark"), "name_taken", [("ledger_cloned", 1)]),
        wire.reply("d" * 32, {"from": 3}),
        wire.reply("d" * 32, None, "no"),
    ]
    return json.dumps({"found": found, "said": [each.decode() for each in said]})
"""


def test_the_vectors_of_the_contract_are_read_alike_by_a_real_micropython(tmp_path: Path) -> None:
    result = micropython(tmp_path, VECTORS)
    assert result["found"] == []
    leaves = ("token", "count", "noise", "status", "status", "reply", "reply")
    for leaf, text in zip(leaves, result["said"], strict=True):
        message = contract.decode(leaf, text.encode())
        assert contract.decode(leaf, contract.encode(message)) == message
        if leaf in ("token", "count", "noise", "status"):
            assert contract.encode(message) == text.encode()


SETTINGS = """
import json, settings

def step():
    said = []
    with open("/job.json") as file:
        job = json.load(file)
    with open("/settings.json", "w") as file:
        json.dump(job["file"], file)
    kept = settings.usable(said.append, "/settings.json")
    kept["broker"] = "10.0.0.2"
    return json.dumps([kept, sorted([line.split()[2] for line in said]), settings.checked(kept)["tlaloc"]])
"""


def test_a_real_micropython_refuses_settings_and_keeps_the_rest(tmp_path: Path) -> None:
    right = {"ssid": "home", "wifi_password": "12345678", "tlaloc": 14.0, "min_clear_ms": 2.5, "user": None}
    wrong = {"broker": 7, "password": 1, "piezo": 24, "lamp_each": 1.5, "min_brake_ms": 4, "max_break_ms": 1}
    result = micropython(tmp_path, SETTINGS, {"file": right | wrong})
    assert result == [right | {"broker": "10.0.0.2"}, sorted(wrong), 14]


SHOWN = ("", "flood", "war", "countdown", "hotspot", "level_tlaloc", "level_huitzilopochtli")

LIGHTS = f"""
import json, lights

def step():
    begin = 10 ** 8  # a day after the start, when a float of its milliseconds would be coarse
    light = (True, 200, (255, 150, 60), "signals")
    shown = []
    for now in range(begin, begin + 8000, 70):
        for signal in {SHOWN}:
            shown.append(lights.colour(1, now, begin, False, True, False, (signal,), 3, light))
    return json.dumps(shown)
"""


def test_lamps_have_the_same_colours_under_a_real_micropython_as_on_a_raspberry_pi(tmp_path: Path) -> None:
    begin, expected = 10**8, []
    for now in range(begin, begin + 8000, 70):
        for signal in SHOWN:
            shrine, scene = (
                Shrine(begin * MS, finding=True),
                Scene((signal,), 3, light=replace(AT_FIRST, brightness=200)),
            )
            expected.append(colour(God.TLALOC, shrine, scene, now * MS))
    shown = micropython(tmp_path, LIGHTS)
    assert all(one == pytest.approx(other, abs=1e-4) for one, other in zip(shown, expected, strict=True))


WEEKS = """
import json
import world
from beams import Beam
from judge import Judge
from slots import Limits

def step():
    found = []
    for begin in (0, 3000000000000):
        world.reset()
        world.now_us = begin
        beams, judge = [Beam(number, 16 + number, 5000, lambda: world.now_us) for number in range(2)], Judge(Limits())
        spells, doubts = [], []
        for number in range(12):
            for god in range(2):
                world.pass_to(world.now_us + 70000 + 9000 * god)
                world.put(16 + god, 0)
                world.pass_to(world.now_us + 8000)
                world.put(16 + god, 1)
            world.pass_to(world.now_us + 200000)  # the flash is busy
            for god in range(2):
                start_us, width_us = beams[god].spell()
                spells.append((start_us - begin, width_us))
                doubts += judge.take(god, number, start_us, width_us)
                beams[god].spell()
        found.append([spells, doubts])
    return json.dumps(found)
"""


def test_a_real_micropython_reckons_after_weeks_as_at_its_start(tmp_path: Path) -> None:
    """Its small whole numbers end at 30 bits: 18 minutes of microseconds."""
    first, later = micropython(tmp_path, WEEKS)
    assert first == later
    spells, doubts = first
    assert len(spells) == 24
    began_us = [start_us for start_us, _ in spells[::2]]
    assert {later - before for before, later in pairwise(began_us)} <= {364_980, 365_000, 365_020}
    assert {reason for reason, _ in doubts} == {1}


PICO_HEAP = 180 * 1024
"""Bytes: less than MicroPython leaves to programs on a Pico W beside its Wi-Fi."""


def test_everything_fits_into_a_picos_memory_and_does_not_grow_with_the_tokens(tmp_path: Path) -> None:
    """MicroPython's own figures; `python -m firmware.tests.limits` runs a hundred thousand."""
    result = remembered(tmp_path, 6_000, 1_000)
    assert result["recorded"] >= 6_000
    assert result["tokens"] >= result["recorded"] - 40  # the last of them are on their way
    assert result["delivered"] >= result["recorded"] - 40
    assert result["files"] <= 9 + 5  # of tokens and of doubts
    assert max(result["loading"], result["most"]) <= PICO_HEAP
    assert max(result["alive"][1:]) - result["alive"][0] < 4096


@pytest.mark.parametrize(
    ("per_s", "flash", "lost"), [(40, TYPICAL, False), (17, TYPICAL, False), (59, SLOWEST, True)]
)
def test_no_token_is_lost_while_the_flash_is_written_unless_it_is_as_slow_as_it_may_be(
    tmp_path: Path, per_s: int, flash: Flash, lost: bool
) -> None:
    """And what is lost is reported by a flag. At 40 a second each token's doubt is written too."""
    result = kept(tmp_path, per_s, 10, flash)
    assert (result["recorded"] < result["fell"]) is lost
    assert (result["missed"] > 0) is lost


def test_no_token_is_lost_while_sixteen_pixels_are_sent_in_every_turn(tmp_path: Path) -> None:
    """Many more than the 25 frames a second that are sent, each for longer than the emulator measures below."""
    result = kept(tmp_path, 40, 10, TYPICAL, turn_us=5_500)
    assert result["recorded"] == result["fell"]
    assert result["missed"] == 0


# -- the PIO --


def widths(result: dict[str, Any], machine: int) -> list[int]:
    return [width_us for _, width_us in result["spells"][machine]]


def test_the_program_assembles_to_the_words_of_the_data_sheet() -> None:
    """RP2040 data sheet, section 3.4: JMP X-- 1, JMP PIN 3, JMP 4, JMP PIN 20, IN X 16, ..."""
    words = [
        0x0041, 0x00C3, 0x0004, 0x00D4, 0x4030, 0x0046, 0x00C9, 0x00CA, 0x0005, 0xA047, 0xA047, 0x004C, 0x00CE,
        0x000F, 0x00D0, 0x0005, 0x008B, 0x0052, 0x4030, 0x8020, 0x0000,
    ]  # fmt: skip
    assert pico_pio.program()["words"] == words
    assert pico_pio.program()["falls"] == [0x20A0, 0x2020, 0x0040]


@pytest.mark.parametrize(
    ("gap_us", "spells"), [(4_900, 1), (4_975, 1), (5_005, 2), (5_100, 2)]
)  # fmt: skip
def test_spells_closer_than_min_clear_are_one(gap_us: int, spells: int) -> None:
    begin = 100_000
    story = [(begin, "t 0"), (begin + 4_000, "t 1"), (begin + 4_000 + gap_us, "t 0"), (begin + 9_000 + gap_us, "t 1")]
    result = pico_pio.run([*story, (begin + 50_000, "E")])
    found = widths(result, 1)
    assert len(found) == spells
    if spells == 1:
        assert abs(found[0] - (9_000 + gap_us)) <= 20


def test_nine_spells_wait_while_nobody_looks_and_the_tenth_is_reported_as_lost() -> None:
    """A flash erase of 0.9 s, longer than any; tokens of 12 ms every 90."""
    for number, stalled in ((9, False), (12, True)):
        spells = [(God.TLALOC, 100.0 + 90 * n, 112.0 + 90 * n) for n in range(number)]
        after = [(God.TLALOC, 1500.0 + 90 * n, 1512.0 + 90 * n) for n in range(5)]
        result = pico_pio.run(uno.pulses(spells + after), blind=[(0, 1_400_000)])
        found = widths(result, 1)
        assert len(found) == 9 + 5
        assert all(abs(width - 12_000) <= 20 for width in found)
        assert result["stalled"][1] is (stalled or number == 9)


def test_a_pulse_of_a_few_cycles_is_seen_and_two_slots_do_not_disturb_each_other() -> None:
    """Whenever it comes within a tick."""
    for shift_us in range(0, 20, 4):
        at_us = 100_000 + shift_us
        story = [(at_us, "t 0"), (at_us + 16, "t 1"), (at_us + 4, "h 0"), (at_us + 12_000, "h 1")]
        result = pico_pio.run([*sorted(story), (150_000, "E")])
        assert len(widths(result, 1)) == 1
        assert widths(result, 1)[0] <= 20
        assert abs(widths(result, 0)[0] - 11_996) <= 20


def test_when_each_spell_began_stays_exact_for_thousands_of_ticks_whatever_the_beam_does() -> None:
    """Spells, merged flashes and gaps at random for 30 s: no way through the program takes longer than another."""
    chance, at_us = random.Random(1), 100_000
    story: list[tuple[int, str]] = []
    expected: list[tuple[int, int]] = []
    while at_us < 30_000_000:
        began_us = at_us
        for _ in range(chance.choice([1, 1, 5])):
            flash_us = chance.randrange(40, 30_000)
            story += [(at_us, "t 0"), (at_us + flash_us, "t 1")]
            ended_us, at_us = at_us + flash_us, at_us + flash_us + chance.randrange(40, 4_900)
        expected.append((began_us, ended_us - began_us))
        at_us = ended_us + chance.randrange(5_100, 300_000)
    found = pico_pio.run([*story, (at_us + 10_000, "E")])["spells"][1]
    assert len(found) == len(expected) > 100
    for (began_us, width_us), (found_us, found_width_us) in zip(expected, found, strict=True):
        assert abs(width_us - found_width_us) <= 20
        assert (found_us - began_us) % pico_pio.ROUND_US <= 40


def test_how_often_a_beam_went_dark_is_known_while_it_does_and_while_it_rests() -> None:
    """Merged or not, and read in the middle of either wait; it is asked for every 5 ms."""
    edges = [(100_000 + 700 * n, f"{'h' if n % 3 else 't'} {n % 2}") for n in range(200)]
    asks = [50_000, *range(101_300, 400_000, 5_000)]
    found = pico_pio.fallen([*edges, (400_000, "E")], asks)
    levels = {"h": 1, "t": 1}
    expected: dict[str, list[int]] = {"h": [], "t": []}
    moves, falls = list(edges), {"h": 0, "t": 0}
    for at_us in asks:
        while moves and moves[0][0] <= at_us:
            slot, level = moves.pop(0)[1].split()
            falls[slot] += levels[slot] > int(level)
            levels[slot] = int(level)
        for slot, number in falls.items():
            expected[slot].append(number)
    assert found == [expected["h"], expected["t"]]
    assert min(numbers[-1] for numbers in found) > 20


# -- the pixels --

CYCLE_US = 1e6 / 6_400_000
WORDS = [0xFF00AA00, 0x00000000, 0x12345600, 0xFFFFFF00]


def decoded(pulses: list[list[int]]) -> list[int]:
    """Read the pulses as a WS2812 does: a long one is a 1."""
    ones = "".join("1" if high * CYCLE_US > 0.55 else "0" for _, high in pulses)
    return [int(ones[place : place + 24], 2) << 8 for place in range(0, len(ones), 24)]


def test_the_program_that_sends_assembles_to_the_words_of_the_data_sheet() -> None:
    """RP2040 data sheet, section 3.4: OUT X 1, SET PINS 1 [1], MOV PINS X [2], SET PINS 0 [1]."""
    assert pico_pio.program()["pixels"]["words"] == [0x6021, 0xE101, 0xA201, 0xE100]


def test_what_is_sent_is_what_ws2812_leds_read_within_the_times_of_their_data_sheets() -> None:
    result = pico_pio.sent(WORDS)
    assert decoded(result["pulses"]) == WORDS
    # All editions of the WS2812B's data sheet together: a 0 is high for 0.25 to 0.38 us, a 1 for 0.65 to 0.95.
    assert {high * CYCLE_US for _, high in result["pulses"]} == {0.3125, 0.78125}
    begins = [begin for begin, _ in result["pulses"]]
    assert {later - begin for begin, later in pairwise(begins)} == {8}
    assert result["idle"] == [0]


def test_sixteen_leds_keep_the_program_from_the_beams_for_less_than_a_quarter_of_a_millisecond() -> None:
    """It waits for room in the queue only, with its interrupts enabled; the beams' machines go on meanwhile."""
    result = pico_pio.sent(WORDS * 4)
    assert decoded(result["pulses"]) == WORDS * 4
    assert 0 < result["waited"] * CYCLE_US < 250


def test_an_interrupt_while_the_queue_is_full_leaves_no_gap_on_the_line() -> None:
    result = pico_pio.sent(WORDS * 4, interrupted_after=9, interrupted_cycles=round(230 / CYCLE_US))
    begins = [begin for begin, _ in result["pulses"]]
    assert {later - begin for begin, later in pairwise(begins)} == {8}

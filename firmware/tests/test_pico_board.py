"""The Pico's files under a real MicroPython, and its PIO program in an emulator: what only they can show."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from controller import wire
from controller.wire import God
from firmware.tests import pico_pio, uno

HERE = Path(__file__).parent


def micropython(folder: Path, script: str, job: dict[str, Any] | None = None, heap: int = 192 * 1024) -> Any:
    """Run a script of ours under MicroPython, and return what it gives at its end."""
    (folder / "job.json").write_text(json.dumps(job or {}))
    file = folder / "script.py"
    file.write_text(script)
    done = subprocess.run(
        ["node", str(HERE / "micropython.mjs"), str(pico_pio.NODE), str(file), str(folder)],
        capture_output=True, text=True, timeout=300, check=False, env={"PATH": "/usr/bin:/bin", "HEAP": str(heap)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


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
        wire.status("ready", None, "c" * 32, "0.1.0", ("clear", "unproved"), None),
        wire.reply("d" * 32, {"from": 3}),
        wire.reply("d" * 32, None, "no"),
    ]
    return json.dumps({"found": found, "said": [each.decode() for each in said]})
"""


def test_the_vectors_of_the_contract_are_read_alike_by_a_real_micropython(tmp_path: Path) -> None:
    result = micropython(tmp_path, VECTORS)
    assert result["found"] == []
    leaves = ("token", "count", "noise", "status", "reply", "reply")
    for leaf, text in zip(leaves, result["said"], strict=True):
        message = wire.decode(leaf, text.encode())
        assert wire.decode(leaf, wire.encode(message)) == message
        if leaf in ("token", "count", "noise", "status"):
            assert wire.encode(message) == text.encode()


MEMORY = """
import gc, json, world
import pico_run
from ledger import Ledger
from slots import Limits
from temple import Temple

world.put(16, 1)
class Beam:
    def __init__(self):
        self.left = 0
    def dark(self):
        return False
    def spell(self):
        if not self.left:
            return None
        self.left -= 1
        return 12000
    def lost(self):
        return False

class Link:
    up = True
    def __init__(self):
        self.begun = False
        self.tokens = 0
        self.acks = []
    def room(self):
        return True
    def publish(self, topic, payload, retain=False):
        if topic.endswith("token"):
            self.tokens += 1
            self.last = payload
        return True
    def turn(self, now_ms, will):
        if not self.begun:
            self.begun = True
            return ["up"]
        acks, self.acks = self.acks, []
        return acks

beams, link, number = [Beam(), Beam()], Link(), [0]
def random():
    number[0] += 1
    return number[0].to_bytes(16, "big")
temple = Temple({"temple": "templo"}, Limits(), beams, lambda: Ledger("/ledger", random), link, "c" * 32,
                lambda: 1795286527123 + now[0], 0)
now, peak, after = [0], [], []

def step():
    for _ in range(50):
        now[0] += 40
        beams[0].left = beams[1].left = 1
        temple.turn(now[0])
        if temple.ledger is not None:
            link.acks = [("templo/templo/ack", json.dumps(
                {"v": 1, "source": temple.ledger.source, "seq": temple.ledger.last_seq}).encode(), False)]
    done = temple.ledger.last_seq
    if done // EVERY != len(after):
        gc.collect()
        after.append(gc.mem_alloc())
    if done >= TOKENS:
        import os
        return json.dumps({"alloc": after, "free": gc.mem_free(), "tokens": link.tokens, "recorded": done,
                           "delivered": temple.window.delivered, "files": len(os.listdir("/ledger"))})
    return 0
"""


def remembered(folder: Path, tokens: int, every: int) -> dict[str, Any]:
    """Return what MicroPython says of its memory while so many tokens are counted, recorded, told and taken."""
    found: dict[str, Any] = micropython(folder, f"TOKENS, EVERY = {tokens}, {every}\n" + MEMORY)
    return found


def test_memory_does_not_grow_with_the_tokens(tmp_path: Path) -> None:
    """MicroPython's own figures; `python -m firmware.tests.limits` runs a hundred thousand."""
    result = remembered(tmp_path, 16_000, 2_000)
    assert result["recorded"] >= 16_000
    assert result["tokens"] == result["recorded"]
    assert result["files"] <= 6
    assert max(result["alloc"][1:]) - result["alloc"][0] < 4096


# -- the PIO --


def widths(result: dict[str, Any], machine: int) -> list[int]:
    return [(0xFFFFFFFF - word) * 5 for _, word in result["words"][machine]]


def test_the_program_assembles_to_the_words_of_the_data_sheet() -> None:
    """RP2040 data sheet, section 3.4: WAIT 0 PIN 0, MOV X ~NULL, JMP X-- 3, JMP PIN 5, JMP 2, ..."""
    words = [
        0x2020, 0xA02B, 0x0043, 0x00C5, 0x0002, 0xA0C1, 0xA047, 0x0048, 0x00CA, 0x0002, 0x0087, 0x8020, 0xC010,
    ]  # fmt: skip
    assert pico_pio.program()["words"] == words


@pytest.mark.parametrize(
    ("gap_us", "spells"), [(4_900, 1), (4_985, 1), (5_015, 2), (5_100, 2)]
)  # fmt: skip
def test_spells_closer_than_min_clear_are_one(gap_us: int, spells: int) -> None:
    begin = 100_000
    story = [(begin, "t 0"), (begin + 4_000, "t 1"), (begin + 4_000 + gap_us, "t 0"), (begin + 9_000 + gap_us, "t 1")]
    result = pico_pio.run([*story, (begin + 50_000, "E")])
    found = widths(result, 1)
    assert len(found) == spells
    if spells == 1:
        assert abs(found[0] - (9_000 + gap_us)) <= 10


def test_nine_spells_wait_while_nobody_looks_and_the_tenth_is_told_as_lost() -> None:
    """A flash erase of 0.9 s, longer than any; tokens of 12 ms every 90."""
    for number, stalled in ((9, False), (12, True)):
        spells = [(God.TLALOC, 100.0 + 90 * n, 112.0 + 90 * n) for n in range(number)]
        after = [(God.TLALOC, 1500.0 + 90 * n, 1512.0 + 90 * n) for n in range(5)]
        result = pico_pio.run(uno.pulses(spells + after), blind=[(0, 1_400_000)])
        found = widths(result, 1)
        assert len(found) == 9 + 5
        assert all(abs(width - 12_000) <= 10 for width in found)
        assert result["stalled"][1] is (stalled or number == 9)


def test_a_pulse_of_a_few_cycles_is_seen_and_two_slots_do_not_disturb_each_other() -> None:
    story = [(100_000, "t 0"), (100_010, "t 1"), (100_004, "h 0"), (112_000, "h 1")]
    result = pico_pio.run([*sorted(story), (150_000, "E")])
    assert len(widths(result, 1)) == 1
    assert widths(result, 1)[0] <= 20
    assert abs(widths(result, 0)[0] - 11_996) <= 10

"""The Pico's PIO program in an emulator, assembled from the very file that the board runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from firmware.tests.host import BUILD

HERE = Path(__file__).parent
NODE = BUILD / "node"
PINS = {"h": 16, "t": 17}
_ASSEMBLE = """
import json, sys
sys.path[:0] = {paths!r}
import beams
import pixels
from rp2 import _Assembler
turns = beams.quiet_turns({min_clear_us})
loads = _Assembler()
names = loads.names()
names["mov"]("isr", "null")
for shift in (25, 20, 15, 10, 5, 0):
    names["set"]("x", turns >> shift & 31)
    names["in_"]("x", 5)
names["mov"]("osr", "isr")
names["set"]("x", 0)
names["mov"]("x", names["invert"]("x"))
print(json.dumps({{
    "words": beams.spells.words, "wrap": beams.spells.wrap, "frequency": beams.FREQUENCY,
    "exec": [word for word, _ in loads.lines], "turns": turns,
    "falls": beams.falls.words, "falls_wrap": beams.falls.wrap,
    "pixels": {{"words": pixels.bits.words, "wrap": pixels.bits.wrap, "options": pixels.bits.options}},
}}))
"""


def program(min_clear_us: int = 5000) -> dict[str, Any]:
    """Return the program's words, how it wraps, its frequency, and the words that load its registers."""
    paths = [str(HERE / "standins"), str(HERE.parent / "micropython")]
    text = _ASSEMBLE.format(paths=paths, min_clear_us=min_clear_us)
    done = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(
    story: list[tuple[int, str]], min_clear_us: int = 5000, blind: list[tuple[int, int]] | None = None
) -> dict[str, Any]:
    """Run the story of `uno.script` or `uno.pulses`; return what each machine pushed, and whether it stalled.

    `words` are those it pushed, with their times, `spells` the beginning and width that each of them holds.
    """
    moves = [(at_us, PINS[words[0]], int(words[2])) for at_us, words in story if words[0] in PINS]
    job = {
        **program(min_clear_us),
        "machines": list(PINS.values()),
        "story": moves,
        "end_us": story[-1][0],
        "blind": blind or [],
    }
    command = ["node", str(HERE / "pio.mjs"), str(NODE)]
    done = subprocess.run(command, input=json.dumps(job), check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    result["spells"] = [[_spell(word, job["turns"]) for _, word in words] for words in result["words"]]
    return result


TICK_US, ROUND_US = 20, 20 << 16


def _spell(word: int, turns: int) -> tuple[int, int]:
    """Return when a spell began and how long it was, in microseconds, both modulo `ROUND_US`."""
    began, over = ~(word >> 16), ~word
    return (began & 0xFFFF) * TICK_US, (over - began - turns - 2 & 0xFFFF) * TICK_US


_SET_X, _NOT_X, _X_TO_ISR, _PUSH = 0xE020, 0xA029, 0xA0C1, 0x8000
"""What `beams.Beam` has the counting machine do: begin with all ones, and hand over what it holds."""


def fallen(story: list[tuple[int, str]], asks: list[int]) -> list[list[int]]:
    """Run the program that counts falls, ask each machine at these microseconds, and return what each said."""
    given = program()
    moves = [(at_us, PINS[words[0]], int(words[2])) for at_us, words in story if words[0] in PINS]
    job = {
        "words": given["falls"], "wrap": given["falls_wrap"], "frequency": given["frequency"],
        "exec": [_SET_X, _NOT_X], "ask": [_X_TO_ISR, _PUSH], "machines": list(PINS.values()),
        "story": sorted([*moves, *((at_us, -1, 0) for at_us in asks)]), "end_us": story[-1][0],
    }  # fmt: skip
    command = ["node", str(HERE / "pio.mjs"), str(NODE)]
    done = subprocess.run(command, input=json.dumps(job), check=True, capture_output=True, text=True)
    return [[0xFFFFFFFF - word for _, word in words] for words in json.loads(done.stdout)["words"]]


def sent(words: list[int], interrupted_after: int = 0, interrupted_cycles: int = 0) -> dict[str, Any]:
    """Send words of 24 bits, at the top of 32, to WS2812 LEDs; return every pulse as [cycle, cycles high].

    `waited` is for how many cycles whoever sends them waits for room in the queue. An interrupt may keep them from it
    once, after so many words.
    """
    job = {
        **program()["pixels"], "pin": 18, "send": words, "after": interrupted_after, "cycles": interrupted_cycles,
    }  # fmt: skip
    command = ["node", str(HERE / "pixels.mjs"), str(NODE)]
    done = subprocess.run(command, input=json.dumps(job), check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result

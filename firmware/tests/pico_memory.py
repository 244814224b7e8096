"""How much memory and flash time a Pico's files need, by MicroPython's own figures.

MicroPython's WebAssembly port has words of 32 bits, as a Pico has. It collects garbage only between two calls from
outside, once 16 kB were taken, and lets its heap grow where a call needs more. So each module is loaded, and each
turn made, in a call of its own, after the stand-ins, which are not counted; what is in use at a call's end, its
garbage included, is more than a Pico needs, which collects whenever it must.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from firmware.tests import pico_pio
from firmware.tests.flash import Flash as Cells
from firmware.tests.flash import ledger_on, mounted

HERE = Path(__file__).parent


class Flash(NamedTuple):
    """How long a Pico's flash takes, in microseconds: for a sector that is erased, and a page that is programmed."""

    erase: int
    page: int


TYPICAL, SLOWEST = Flash(45_000, 400), Flash(400_000, 3_000)
"""W25Q16JV data sheet, AC characteristics: typical, and the most."""


def micropython(folder: Path, script: str, job: dict[str, Any] | None = None) -> Any:
    """Run a script of ours under MicroPython, and return what it gives at its end."""
    (folder / "job.json").write_text(json.dumps(job or {}))
    file = folder / "script.py"
    file.write_text(script)
    done = subprocess.run(
        ["node", str(HERE / "micropython.mjs"), str(pico_pio.NODE), str(file), str(folder)],
        capture_output=True, text=True, timeout=900, check=False, stdin=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


_LOADED = """
import gc, json, sys

class Nothing:
    pass

for name in ("socket", "select"):
    sys.modules[name] = Nothing()
names = ["world", "machine", "rp2", "network"]  # the stand-ins: a board has these in its flash
gc.collect()
while names:
    __import__(names.pop())
gc.collect()
not_ours = gc.mem_alloc()
names = ["wire", "mqtt", "link", "slots", "window", "records", "doubts", "ledger", "judge", "proof", "diagnosis",
         "commands", "calibration", "bulletin", "names", "notices", "temple", "discovery", "settings", "clock",
         "lamp", "beams", "main", "lights", "lamps", "pixels"]

def load():
    __import__(names[0])
    gc.collect()
    names.pop(0)
"""

_MEMORY = """
def begin():
    import mqtt, world
    from calibration import Calibration
    from ledger import Ledger
    from link import Link
    from slots import Limits
    from temple import KIND, SOFTWARE, Temple
    import discovery

    class Beam:
        left = fallen = 0
        def dark(self):
            return False
        def spell(self):
            if not self.left:
                return None
            self.left -= 1
            self.fallen += 1
            width = 9000 + self.fallen % 700 * 10
            return now * 1000 - 5000 - width, width
        def lost(self):
            return False
        def falls(self):
            return self.fallen
        def again(self):
            pass

    class Socket:
        inbox = b"\\x20\\x02\\0\\0\\x90\\5\\0\\1\\1\\1\\1"
        tokens = 0
        def send(self, data):
            self.tokens += bytes(data[:40]).find(b"/token") > 0
            return len(data)
        def recv(self, most):
            if not self.inbox:
                raise OSError(11)
            data, self.inbox = self.inbox[:most], self.inbox[most:]
            return data
        def close(self):
            pass

    global beams, socket, temple, ack
    beams, socket = [Beam(), Beam()], Socket()
    number = [0]
    def random():
        number[0] += 1
        return number[0].to_bytes(16, "big")
    settings = {"temple": "templo", "broker": "", "port": 0}
    topics = ["templo/templo/" + leaf for leaf in ("ack", "command", "status")]
    link = Link(lambda host, port: socket, settings, "client", topics[2], topics)
    temple = Temple(settings, Calibration(Limits()), beams, lambda: Ledger("/ledger", random), link, "c" * 32,
                    lambda: 1795286527123 + now, 0, lambda: discovery.announcement("templo", KIND, SOFTWARE))
    def ack():
        ledger = temple.ledger
        if ledger.last_seq == 0:
            return
        form = '{"v":1,"source":"%s","seq":%d,"token":"%s","at":"2026-11-21T18:42:07.123Z","doubts":%d}'
        text = form % (ledger.source, ledger.last_seq, ledger.name(ledger.last_seq), ledger.last_doubt)
        socket.inbox += mqtt.publish(topics[0], text.encode(), 7, False)

now, alive, most, loading, phase = 0, [], 0, 0, 0

def step():
    global loading, most
    done = inner()
    if names:
        loading = max(loading, gc.mem_alloc() - not_ours)
    else:
        most = max(most, gc.mem_alloc() - not_ours)
    return done

def inner():
    global now, phase
    if names:
        load()
        return 0
    if phase == 0:
        phase = 1
        begin()
        return 0
    if phase == 2:  # what the last call asked for is done: only what is needed is left
        alive.append(gc.mem_alloc() - not_ours)
        phase = 1
        if temple.ledger.last_seq >= TOKENS:
            import os
            return json.dumps({
                "loading": loading, "alive": alive, "most": most, "tokens": socket.tokens,
                "recorded": temple.ledger.last_seq, "delivered": temple.window.delivered,
                "files": len(os.listdir("/ledger")),
            })
    now += 40
    beams[0].left = beams[1].left = 1
    temple.turn(now)
    if temple.ledger is not None:
        ack()
        if temple.ledger.last_seq // EVERY != len(alive):
            gc.collect()
            phase = 2
    return 0
"""


def remembered(folder: Path, tokens: int, every: int) -> dict[str, Any]:
    """Return what MicroPython says of its memory while so many tokens are counted, recorded, sent and taken.

    In bytes: `loading` is the most that was in use while the files were read and compiled, `alive` what is needed
    after each `every` tokens, `most` the most that was in use at the end of any turn, with its garbage.
    """
    script = f"TOKENS, EVERY = {tokens}, {every}\n{_LOADED}{_MEMORY}"
    found: dict[str, Any] = micropython(folder, script)
    return found


_RATE = """
import json
with open("/job.json") as file:
    job = json.load(file)
import world
from beams import Beam
from calibration import Calibration
from ledger import Ledger
from slots import Limits
from temple import Temple

class Link:
    up = False
    def turn(self, now_ms, will):
        return []

moments = []
every_us = 1000000 // job["per_s"]
for n in range(job["seconds"] * job["per_s"]):
    for pin, shift in ((16, 0), (17, every_us // 2)):
        at_us = 500000 + shift + n * every_us + n * 7919 % 100 * every_us // 1000  # unevenly, as by the hand
        moments.append((at_us, pin, 0))
        moments.append((at_us + 6000 + n * 37 % 3000, pin, 1))
fell = len(moments) // 2
moments.sort()
moments.reverse()

def pass_time(us):
    goal_us = world.now_us + us
    while moments and moments[-1][0] <= goal_us:
        at_us, pin, level = moments.pop()
        world.pass_to(at_us)
        world.put(pin, level)
    world.pass_to(goal_us)

number = 0
def random():
    global number
    number += 1
    return number.to_bytes(16, "big")

def opened():
    ledger = Ledger("/ledger", random)
    record = ledger.record
    def slowly(fallen, doubted):
        for _ in range(bool(fallen) + bool(doubted)):  # doubts are in a file of their own
            erased, pages = job["costs"][ledger.last_seq % len(job["costs"])]
            pass_time(erased * job["erase"] + pages * job["page"])
        ledger.deliver(ledger.last_seq)
        ledger.doubts_stored(ledger.last_doubt)
        return record(fallen, doubted)
    ledger.record = slowly
    return ledger

clock_us = lambda: world.now_us
beams = [Beam(0, 16, 5000, clock_us), Beam(1, 17, 5000, clock_us)]
temple = Temple({"temple": "templo"}, Calibration(Limits()), beams, opened, Link(), "c" * 32, lambda: 1, 0)

def step():
    pass_time(job["turn"])
    temple.turn(world.now_us // 1000)
    if moments or world.now_us < job["seconds"] * 1000000 + 5000000:
        return 0
    return json.dumps({"fell": fell, "recorded": temple.ledger.last_seq,
                       "missed": sum([slot.missed_edges for slot in temple.slots])})
"""


def costs(tokens: int) -> list[tuple[int, int]]:
    """Return what each of so many commits costs littlefs: sectors that it erases, and pages that it programs."""
    flash, found = Cells(), []
    fs = mounted(flash, fresh=True)
    with ledger_on(fs) as module:
        number = iter(range(1, 10**9))
        one = module.Ledger("/ledger", lambda: next(number).to_bytes(16, "big"))
        for _ in range(tokens):
            erased, programmed = sum(flash.erases), flash.programmed
            one.deliver(one.last_seq)
            one.record([(1, 1_795_286_527_123, 12_000, [])])
            found.append((sum(flash.erases) - erased, (flash.programmed - programmed) // 256))
    return found


def kept(folder: Path, per_s: int, seconds: int, flash: Flash, turn_us: int = 5_000) -> dict[str, int]:
    """Let tokens fall into both slots, so many a second into each, and return how many fell and were recorded.

    A turn takes `turn_us` beside what the flash takes: while it is written nothing but the PIO goes on.
    """
    job = {
        "per_s": per_s, "seconds": seconds, "turn": turn_us, "costs": costs(170), **flash._asdict(),
    }  # fmt: skip
    found: dict[str, int] = micropython(folder, _RATE, job)
    return found


def rate(folder: Path, flash: Flash, turn_us: int = 5_000) -> int:
    """Return the highest rate, in tokens a second in each slot, at which none is lost in 20 s; over 60 is flicker."""
    for per_s in (59, *range(56, 0, -4)):
        result = kept(folder, per_s, 20, flash, turn_us)
        if result["recorded"] == result["fell"] and not result["missed"]:
            return per_s
    return 0

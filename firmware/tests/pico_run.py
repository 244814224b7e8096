"""Plays a timeline to the Pico's files, under CPython or a real MicroPython, connected to a real broker.

The clock is the timeline's, so many times faster than the one on the wall.
A line of the timeline is `(microseconds, words)`: a pin and its level, a power cut, a broker that goes or comes, the
end. A power cut drops everything but the files. A test that talks to the board may say such words while it plays, and
a few more: `D` for a token with its slot and width in us, `S` for a machine of the PIO that stands still, `C` for a
time server that answers, `W` for a flash that takes nothing any more, or does again, `K` for a copy of the flash that
is kept, `R` for that copy written back, `X` for a flash whose last file is overwritten with nonsense; with the last
two the board restarts. A `flash` in the settings, files in hexadecimal, is there before the first start, and
`board` is the id of the chip.
"""

import binascii
import os

import calibration
import discovery
import rp2
import settings
import wire
import world
from beams import Beam
from clock import Clock
from ledger import Ledger
from link import Link
from notices import Notices
from slots import Limits
from temple import KIND, SOFTWARE, Temple

PINS = {"h": 16, "t": 17}
TURN_US = 5000


class Pico:
    """One board on a timeline."""

    def __init__(self, chosen, folder, random, dial, wall_s, epoch_ms, next_words=lambda: ""):
        """`next_words` gives the next words of whoever tests; a `clock` in the settings is not set yet."""
        self._chosen = chosen
        self._folder = folder
        self._random = random
        self._dial = dial
        self._wall_s = wall_s
        self._epoch_ms = epoch_ms
        self._sent_epoch = "clock" not in chosen
        self._clock = None
        self._copy = {}
        self._next_words = next_words
        self._refuses = False
        self._cut = False
        self._temple = None
        self._link = None
        self.most_waiting = 0
        self.result = None

    def play(self, story, speed, until_delivered_s):
        """Play it to its end, then go on until all is delivered or time is up; sets `result`.

        It yields after each turn how many seconds too early it is.
        """
        for at_us, words in story:
            if at_us == 0 and words[0] in PINS:
                world.put(PINS[words[0]], int(words[2]))
        if "flash" in self._chosen:
            self._copy = {name: binascii.unhexlify(data) for name, data in self._chosen["flash"].items()}
            self._write_back()
        self._power_up()
        begun_s, due = self._wall_s(), [each for each in story if each[0]]
        index = 0
        ended_us = found = None
        while True:
            goal_us = world.now_us + TURN_US
            words = self._next_words()
            if words[:1] == "D":
                slot, width = words[2], int(words[4:])
                due[index:index] = [(world.now_us, slot + " 0"), (world.now_us + width, slot + " 1")]
            elif words:
                due.insert(index, (world.now_us, words))
            while index < len(due) and due[index][0] <= goal_us:
                at_us, words = due[index]
                index += 1
                world.pass_to(max(at_us, world.now_us))
                if words[0] in PINS:
                    world.put(PINS[words[0]], int(words[2]))
                elif words[0] == "B":
                    self._cut = words[2] == "1"
                    if self._cut:
                        self._link.cut(world.now_us // 1000)
                        self._temple.disconnected()
                elif words[0] == "P":
                    index = self._without_power(due, index, world.now_us + int(words[2:]))
                elif words[0] == "S":
                    rp2.deaf.add(1 << (PINS[words[2]] - PINS["h"]))
                elif words[0] == "C":
                    self._sent_epoch = True
                    self._send_time()
                elif words[0] == "K":
                    self._copy = self._files()
                elif words[0] == "R":
                    self._write_back()
                    index = self._without_power(due, index, world.now_us + 50000)
                elif words[0] == "X":
                    name = max(self._files())
                    with open(self._folder + "/" + name, "wb") as file:
                        file.write(b"\x55" * 4000)
                    index = self._without_power(due, index, world.now_us + 50000)
                elif words[0] == "W":
                    self._refuses = words[2] == "1"
                elif words[0] == "F":
                    found = self._temple.findings()
                elif words[0] == "E":
                    ended_us = world.now_us
                    self._cut = False
            world.pass_to(max(goal_us, world.now_us))
            self._temple.turn(world.now_us // 1000)
            self.most_waiting = max(self.most_waiting, self._temple.waiting())
            if speed:
                yield begun_s + world.now_us / 1e6 / speed - self._wall_s()
            if ended_us is not None:
                ledger = self._temple.ledger
                done = ledger is not None and self._temple.window.delivered == ledger.last_seq
                if done or world.now_us - ended_us > until_delivered_s * 1000000 * (speed or 1):
                    break
        self.result = self._counted(found)
        self._temple.close(world.now_us // 1000)

    def _counted(self, found):
        slots = self._temple.slots
        return {
            "recorded": self._temple.ledger.last_seq,
            "delivered": self._temple.window.delivered,
            "totals": self._temple.ledger.totals,
            "beams": [slot.beam for slot in slots],
            "glitches": [slot.glitches for slot in slots],
            "missed": [slot.missed_edges for slot in slots],
            "findings": found and {wire.GODS[god]: [code for code, _ in found[god]] for god in range(2)},
        }

    def _without_power(self, due, index, back_us):
        """Let the pins do what is due until the power comes back; return what is due next."""
        self._link.cut(0)
        world.watchers.clear()
        while index < len(due) and due[index][0] < back_us:
            at_us, words = due[index]
            world.pass_to(at_us)
            if words[0] in PINS:
                world.put(PINS[words[0]], int(words[2]))
            index += 1
        world.pass_to(back_us)
        self._power_up()
        return index

    def _power_up(self):
        chosen = self._chosen
        limits = Limits(
            int(chosen["min_break_ms"] * 1000),
            int(chosen["min_clear_ms"] * 1000),
            int(chosen["max_break_ms"] * 1000),
            chosen["flicker_per_s"],
            None if chosen["band_ms"] is None else int(chosen["band_ms"] * 1000),
            None if chosen["narrow_ms"] is None else int(chosen["narrow_ms"] * 1000),
            chosen["fastest_per_s"],
        )
        topics = ["templo/%s/%s" % (chosen["temple"], leaf) for leaf in ("ack", "command", "status")]
        will = "templo/%s/status" % chosen["temple"]
        self._link = Link(self._door, chosen, chosen.get("client", chosen["temple"]), will, topics)
        session = "%032x" % int.from_bytes(self._random(16), "big")
        self._clock = Clock(lambda: world.now_us, lambda later, earlier: later - earlier)
        beams = [Beam(place, PINS[slot], limits.min_clear, lambda: world.now_us) for place, slot in enumerate("ht")]
        if self._sent_epoch:
            self._send_time()
        announced = lambda: discovery.announcement(chosen["temple"], KIND, SOFTWARE)  # noqa: E731
        file = self._folder + ".learned"
        learned = calibration.Calibration(
            limits, settings.named(chosen), calibration.load(file), lambda known: self._keep(known, file)
        )
        notices = Notices(chosen.get("board", "01"), self._folder + ".notices", os.rename)
        self._temple = Temple(
            chosen, learned, beams, self._open, self._link, session, self._clock.utc_ms, world.now_us // 1000,
            announced, notices, self._clock.suggested,
        )  # fmt: skip

    def _send_time(self):
        self._clock.set_by_server(self._epoch_ms + world.now_us // 1000, self._clock.ms())

    def _files(self):
        files = {}
        for name in os.listdir(self._folder):
            with open(self._folder + "/" + name, "rb") as file:
                files[name] = file.read()
        return files

    def _write_back(self):
        """Restore the flash from its copy; notices that nobody dismissed are in another file, which stays."""
        try:
            os.mkdir(self._folder)
        except OSError:
            pass
        for name in os.listdir(self._folder):
            os.remove(self._folder + "/" + name)
        for name, data in self._copy.items():
            with open(self._folder + "/" + name, "wb") as file:
                file.write(data)

    def _open(self):
        ledger = Ledger(self._folder, lambda: self._random(16))
        record, again = ledger.record, ledger.deliver_again
        ledger.record = lambda fallen, doubted: record(self._written(fallen), doubted)
        ledger.deliver_again = lambda seq: again(self._written(seq))
        return ledger

    def _keep(self, known, file):
        calibration.save(self._written(known), os.rename, file)

    def _written(self, what):
        if self._refuses:
            raise OSError(5, "the flash takes nothing")
        return what

    def _door(self, host, port):
        if self._cut:
            raise OSError(113, "the plug is pulled")
        return self._dial(host, port)

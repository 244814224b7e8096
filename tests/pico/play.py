"""Plays a story to the Pico's whole firmware on an emulated chip, connected to a broker on this machine.

The chip starts as an owner's does: MicroPython's firmware finds the temple's own `main.py` in its flash, and before
it a `boot.py` of ours. A power cut ends the chip in the middle of whatever it does; a new one starts from its flash.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from littlefs import LittleFS

from tests.pico import chip as emulated
from tests.pico.chip import Chip, Dead
from tests.pico.wires import Wires

HERE = Path(__file__).parent
FIRMWARE = HERE.parents[1] / "firmware" / "micropython"
PINS = {"h": 16, "t": 17}
READY_US = 20_000_000
"""Within so much of its time a chip must have read its files, and within so much again it must count."""

KEY, KEY_NS = b"Press a key", 2.9e9
"""What the firmware says before it waits three seconds for a key."""

OPEN, SEND, TAKE, CLOSE, SETTINGS, TURN, FOUND = range(1, 8)


def files() -> dict[str, bytes]:
    """Return what is in the flash: the temple's files as they are, and what stands for the missing hardware."""
    return {file.name: file.read_bytes() for folder in (FIRMWARE, HERE / "board") for file in folder.glob("*.py")}


def filed(given: Mapping[str, bytes]) -> bytes:
    """Return the image of a file system as MicroPython makes it, with these files."""
    fs = LittleFS(
        block_size=emulated.SECTOR, block_count=emulated.FILES, prog_size=emulated.PAGE, read_size=32,
        cache_size=1024, lookahead_size=32, block_cycles=100, disk_version=0x00020000,
    )  # fmt: skip
    for name, data in given.items():
        with fs.open(name, "wb") as out:
            out.write(data)
    fs.unmount()
    return bytes(fs.context.buffer)  # type: ignore[attr-defined]


@dataclass
class Board:
    """A chip with its flash, its network and its story; it starts again after each power cut."""

    flash: bytes
    chance: random.Random
    number: bytes = b"emulated"
    settings: bytes = b""
    levels: dict[int, bool] = field(default_factory=lambda: dict.fromkeys(PINS.values(), True))
    flash_us: tuple[int, int] = (0, 0)
    """How long its flash takes to erase a sector, and to program a page."""

    recorded: int = 0
    delivered: int = 0
    turns: int = 0
    free: int = 0
    used: int = 0
    findings: dict[str, list[str]] | None = None
    asked: bool = False
    passed_us: float = 0.0
    """How long the chips lived that this one replaced."""

    def __post_init__(self) -> None:
        self.begun_s = time.time()
        self.wires = Wires(lambda: self.begun_s + self.us / 1e6)
        self.held = True
        self.start()

    @property
    def us(self) -> float:
        """Return the microseconds since the first power-on."""
        return self.passed_us + self.chip.us

    def start(self) -> None:
        """Give the chip its power."""
        self.chip = Chip(self.flash, self.chance, self.number)
        self.chip.erase_us, self.chip.page_us = self.flash_us
        self.chip.door.answer = self._answer
        self.turns = 0
        for pin, level in self.levels.items():
            self.chip.pin(pin, level)

    def cut(self, dark_us: float = 0) -> None:
        """Take the power away, which ends its connections, and give it a new start from the same flash."""
        self.wires.pull()
        self.flash = self.chip.flash
        self.passed_us += self.chip.us + dark_us
        self.start()

    def read_files(self) -> None:
        """Run until everything is imported and it waits for its settings."""
        self._wanted(lambda: self.free, "reads its files")

    def count(self) -> None:
        """Give it its settings, and run until it counts."""
        self.held = False
        self.wait_for_turns()

    def wait_for_turns(self) -> None:
        """Run until it counts. While it only waits for a key, nothing else runs: its clock is put forward."""
        self._wanted(lambda: self.turns or KEY in self.chip.console, "asks for a key")
        self.chip.run(lambda: self.turns, 50_000)
        self.chip.mcu.clock.tick(KEY_NS)
        self._wanted(lambda: self.turns, "counts")

    def _wanted(self, until: Callable[[], object], words: str) -> None:
        if not self.chip.run(until, READY_US):
            raise Dead(f"it never {words}; its console: {self.chip.console[-2000:].decode(errors='replace')}")

    def _answer(self, what: int, number: int, address: int, length: int) -> int:
        chip, wires = self.chip, self.wires
        if what == SETTINGS:
            self.free = number
            if self.held:
                return 0
            given, self.settings = self.settings, b""
            chip.write(address, given)
            return max(1, len(given))
        if what == TURN:
            self.turns += 1
            self.recorded, self.delivered = number >> 16, number & 0xFFFF
            return FOUND if self.asked else 0
        if what == FOUND:
            self.asked, self.used = False, number
            self.findings = json.loads(chip.read(address, length))
            return 0
        if what == OPEN:
            return wires.connect(chip.read(address, length).decode(), number)
        if what == SEND:
            return wires.send(number, chip.read(address, length))
        if what == TAKE:
            came = wires.take(number, length)
            if isinstance(came, int):
                return came
            chip.write(address, came)
            return len(came)
        return wires.close(number) if what == CLOSE else -22


def play(board: Board, story: list[tuple[int, str]], patience_s: float) -> None:
    """Play a story of `counters.story` to a board that counts, and go on until all it recorded is delivered."""
    zero_us = board.us
    due = [(zero_us + at_us, words) for at_us, words in story if at_us]
    dark_us, over = 0.0, False

    def step() -> None:
        nonlocal dark_us, over
        while due and due[0][0] <= board.us + 1e-3 and not board.chip.dead:
            _, words = due.pop(0)
            if words[0] in PINS:
                board.levels[PINS[words[0]]] = words[2] == "1"
                board.chip.pin(PINS[words[0]], words[2] == "1")
            elif words[0] == "B":
                board.wires.cut = words[2] == "1"
                if board.wires.cut:
                    board.wires.pull()
            elif words[0] == "P":
                dark_us = float(words[2:])
                board.chip.end()
            elif words[0] == "F":
                board.asked = True
            elif words[0] == "E":
                board.wires.cut, over = False, True
        if due:
            board.chip.at(due[0][0] - board.passed_us, step)

    while True:
        step()
        most_us = due[-1][0] - board.us + patience_s * 1e6 if due else patience_s * 1e6
        if board.chip.run(lambda: over and board.turns and board.recorded == board.delivered, most_us):
            return
        if not board.chip.dead:
            said = board.chip.console[-1000:].decode(errors="replace")
            raise Dead(f"{board.delivered} of {board.recorded} tokens delivered; its console: {said}")
        board.cut(dark_us)

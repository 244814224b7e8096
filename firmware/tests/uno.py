"""The Uno on this machine: its binary, run in simavr with beams moved by a timeline and a terminal as its line."""

from __future__ import annotations

import json
import struct
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from controller.adapters import serial_board
from controller.adapters.serial_protocol import Greeting, Session, TokenLine, crc16
from controller.core.counting import SECOND, Limits
from controller.core.messages import BoardCursor
from controller.simulation.timeline import Change, Restart, Timeline
from firmware.tests.host import ARDUINO, BUILD, compiled
from templo.contract import God

HERE = Path(__file__).parent
FIRMWARE = BUILD / "uno" / "templo.elf"
SIMULATOR = BUILD / "uno" / "simulator"
EEPROM = "eeprom"
"""The file of a board's memory, in its folder."""

HEADER, RECORD = 40, 14
RECORDS = (1024 - HEADER) // RECORD
NAME = "b" * 32
"""What a board without a name is called here."""

BOOT_US = 20_000
"""The delay before a timeline, so that the program is running when it begins."""


class Kept(NamedTuple):
    """One record of the EEPROM."""

    seq: int
    god: God
    width_ms: float
    flags: int
    huitzilopochtli: int


def build() -> None:
    """Build the firmware and the simulator around it."""
    if not FIRMWARE.exists() or any(file.stat().st_mtime > FIRMWARE.stat().st_mtime for file in ARDUINO.iterdir()):
        subprocess.run(["make", "--silent", "-C", str(ARDUINO)], check=True)
    sources = [HERE / "uno.c", HERE / "cells.c"]
    if not SIMULATOR.exists() or any(
        file.stat().st_mtime > SIMULATOR.stat().st_mtime for file in [*sources, HERE / "cells.h"]
    ):
        compiled(SIMULATOR, ["-std=gnu11", "-O2", *map(str, sources), "-lsimavr", "-lelf", "-lm"])


def script(timeline: Timeline) -> list[tuple[int, str]]:
    """Return a scenario's timeline as the simulator reads it. A restart of the program is a cut of the power."""
    story = [(BOOT_US // 2, f"{god[0]} {int(not dark)}") for god, dark in timeline.dark.items() if dark]
    story = [(0, words) for _, words in story]
    for moment in timeline.moments:
        at_us = BOOT_US + moment.at_ns // 1000
        if isinstance(moment, Change):
            story.append((at_us, f"{moment.god[0]} {int(not moment.dark)}"))
        elif isinstance(moment, Restart):
            story.append((at_us, f"P {moment.for_ns // 1000}"))
    return [*story, (BOOT_US + timeline.end_ns // 1000 + 1_500_000, "E")]


def row(god: God, number: int, every_ms: float, width_ms: float = 9.0) -> list[tuple[God, float, float]]:
    """Return a row of tokens through one slot, half a second after the start."""
    return [(god, 500 + every_ms * n, 500 + every_ms * n + width_ms) for n in range(number)]


def missed(result: dict[str, Any]) -> dict[God, int]:
    """Return how many missed edges the board's last health line reports."""
    words = result["health"].partition("*")[0].split()
    return dict(zip(God, map(int, words[5:7]), strict=True))


def pulses(spells: Iterable[tuple[God, float, float]]) -> list[tuple[int, str]]:
    """Return dark spells, each a slot with begin and end in milliseconds, as the simulator reads them."""
    story = []
    for god, begin, end in spells:
        story += [(BOOT_US + round(begin * 1000), f"{god[0]} 0"), (BOOT_US + round(end * 1000), f"{god[0]} 1")]
    story.sort()
    return [*story, (story[-1][0] + 1_500_000, "E")]


def run(folder: Path, story: list[tuple[int, str]]) -> dict[str, Any]:
    """Run a story to its end as fast as it goes, nobody listening; the EEPROM is kept in the folder."""
    done = subprocess.run(_command(folder, story, 0), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return _result(done.stdout)


@contextmanager
def plugged(folder: Path, story: list[tuple[int, str]], speed: float) -> Iterator[Path]:
    """Run a story with the board's line on a terminal, whose path is given; `result.json` says how it went."""
    link = folder / "tty"
    command = [*_command(folder, story, speed), str(link)]
    with (folder / "simulator").open("w") as said:
        running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True)
    try:
        while not link.is_symlink():
            assert running.poll() is None
        yield link
        (folder / "result.json").write_text(running.communicate(timeout=30)[0])
        assert running.returncode == 0, (folder / "simulator").read_text()
    finally:
        running.kill()
        running.wait()
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.close()
        running.stdout.close()
        link.unlink(missing_ok=True)


def taken(tty: Path, until: int) -> tuple[Greeting, list[TokenLine]]:
    """Take each token as the controller does, and each again from the first on that nobody is known to have.

    Returns the board's first greeting and the tokens, five seconds after the one with the number `until`, in which
    the board writes down that all of them are acknowledged; with 0, the greeting alone.
    """
    first, tokens = None, list[TokenLine]()
    with closing(serial_board._open(str(tty))) as port:
        latest_ns = time.monotonic_ns()
        session = Session(Limits(), latest_ns)
        while (
            first is None
            or len(tokens) < until - first.acked
            or (until and time.monotonic_ns() - latest_ns < 5 * SECOND)
        ):
            assert time.monotonic_ns() - latest_ns < 60 * SECOND
            for happened in session.take(port.read(4096), time.monotonic_ns()):
                if isinstance(happened, Greeting) and happened.name is None:
                    session.name(NAME)
                elif isinstance(happened, Greeting):
                    first = first or happened
                    session.welcome(happened, BoardCursor(happened.acked, 0))
                elif isinstance(happened, TokenLine):
                    tokens.append(happened)
                    session.recorded(happened.board, happened.cursor.seq)
                    latest_ns = time.monotonic_ns()
            session.advance(time.monotonic_ns())
            port.write(b"".join(session.out))
            session.out.clear()
    return first, tokens


def sent(tty: Path, until: int) -> dict[str, Any]:
    """Return what `taken` takes, in JSON: name, numbers, gods, widths in milliseconds and flags."""
    greeting, tokens = taken(tty, until)
    return {
        "name": greeting.name,
        "acked": greeting.acked,
        "tokens": [
            [each.cursor.seq, each.god, each.counted.width_ns / 1e6, sorted(each.counted.flags)] for each in tokens
        ],
    }


def kept(folder: Path) -> list[Kept]:
    """Return the EEPROM's records in the order of their numbers; one that was cut in the middle is none."""
    return records((folder / EEPROM).read_bytes())


def records(memory: bytes) -> list[Kept]:
    found = []
    for at in range(HEADER, HEADER + RECORDS * RECORD, RECORD):
        seq, total, width, info, _, crc = struct.unpack_from("<IIHBBH", memory, at)
        if crc == crc16(memory[at : at + RECORD - 2]):
            found.append(Kept(seq, list(God)[info & 1], width * 0.02, info >> 1 & 3, total))
    return sorted(found)


def totals(folder: Path) -> dict[God, int]:
    """Return the lifetime totals that the latest record holds."""
    found = kept(folder)
    if not found:
        return dict.fromkeys(God, 0)
    last = found[-1]
    return {God.HUITZILOPOCHTLI: last.huitzilopochtli, God.TLALOC: last.seq - last.huitzilopochtli}


def _command(folder: Path, story: list[tuple[int, str]], speed: float) -> list[str]:
    file = folder / "timeline"
    file.write_text("".join(f"{at_us} {words}\n" for at_us, words in story))
    return [str(SIMULATOR), str(FIRMWARE), str(folder / EEPROM), str(file), str(speed)]


def _result(text: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(text)
    return result

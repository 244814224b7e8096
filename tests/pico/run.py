"""Runs the Pico's own firmware on an emulated chip, judged as every counter is: `make pico`.

MicroPython's firmware, the temple's files in its flash, `rp2.asm_pio`, the PIO, heap and flash are the real ones; a
plain Pico has no Wi-Fi, so that the sockets of `board/` reach a broker on this machine instead. A second of the chip
takes 15 s of CPU or more: a full ledger and a day without a broker are played to the stand-ins alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from controller.simulation.parser import read
from controller.simulation.timeline import Restart
from firmware.tests import counters
from firmware.tests.pico_memory import SLOWEST, TYPICAL, Flash
from firmware.tests.test_conformance import SCENARIOS, Companion, judged, running_companion
from templo.contract import God
from tests import fresh
from tests.pico import chip, firmware, ledgers, play

SHORT = ("unplugged-receiver", "slow-flicker", "lamps", "blocked", "resets", "rush", "rate-20")
"""Scenarios of a few seconds: light, a jam, power cuts while tokens fall, the page's highest rate."""

RATE = """
v = 1
title = "Tokens at one rate in both slots, as a machine drops them: each is doubted, which costs a record more"
seed = 13
event = [
    {{ at_ms = 500, do = "drop", god = "tlaloc", count = 80, every_ms = {0}, width_ms = [8, 10] }},
    {{ at_ms = 507, do = "drop", god = "huitzilopochtli", count = 80, every_ms = {0}, width_ms = [8, 10] }},
]
[expect]
tokens = {{ tlaloc = 80, huitzilopochtli = 80 }}
"""
RATED = re.compile(r"rate-([1-9]\d*)")
"""The name of a scenario at so many tokens a second."""

COUNTER = "pico-chip"
BOOT_NS = 12_000_000_000
"""After a cut: a chip reads its files and waits three seconds for a key before it counts."""

PATIENCE_S = 60.0
NETWORK = {"ssid": "none", "wifi_password": "", "ntp": "127.0.0.1"}


FLASHES = {"none": Flash(0, 0), "typical": TYPICAL, "slowest": SLOWEST}
PARTS = ("scenarios", "cuts")


def main(argv: Sequence[str]) -> int:
    """Build, boot and play; returns 0 if all is right."""
    parser = argparse.ArgumentParser(prog="make pico ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="these alone, 'all', or 'rate-30'")
    parser.add_argument("--only", choices=PARTS, help="one part alone")
    parser.add_argument("--renew", action="store_true", help="build the firmware anew")
    parser.add_argument("--seed", type=int, default=1, help="chance")
    parser.add_argument("--flash", choices=FLASHES, default="typical", help="how long it takes to be written")
    parser.add_argument("--tokens", type=int, default=6, help="that fall while the power is cut")
    parser.add_argument("--starts", type=int, default=2, help="of the chip with what a cut left")
    given = parser.parse_args(argv)
    known = {"all", *(file.stem for file in SCENARIOS)}
    if unknown := [name for name in given.scenarios if name not in known and not RATED.fullmatch(name)]:
        parser.error(f"scenario is {unknown[0]!r}; expected rate-N, or one of {', '.join(sorted(known))}")
    folder = Path(tempfile.mkdtemp())
    right = True
    try:
        board = booted(firmware.built(renew=given.renew), given.seed, FLASHES[given.flash])
        if given.only in (None, "scenarios"):
            right &= scenarios(board, given.scenarios or SHORT, folder)
        if given.only in (None, "cuts"):
            right &= power_cuts(board, given.tokens, given.starts, folder)
    except (fresh.FreshError, chip.Dead) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder)
    return 0 if right else 1


def scenarios(board: play.Board, wanted: Sequence[str], folder: Path) -> bool:
    """Play scenarios, and print a table of them."""
    files = [file for file in SCENARIOS if file.stem in wanted or "all" in wanted]
    for rate in filter(None, map(RATED.fullmatch, wanted)):
        files.append(folder / f"{rate[0]}.toml")
        files[-1].write_text(RATE.format(1000 / int(rate[1])))
    print(f"{'scenario':<20} {'expected':>9} {'counted':>9} {'heap':>8} {'start s':>8} {'chip s':>7} {'CPU s':>7}")
    with running_companion(folder) as companion:
        wrong = [file.stem for file in files if not row(board, file, folder / file.stem, companion)]
    print(f"{len(files) - len(wrong)} of {len(files)} scenarios as expected", flush=True)
    return not wrong


def power_cuts(board: play.Board, tokens: int, starts: int, folder: Path) -> bool:
    """Cut the power in every operation of the flash while tokens fall; start the chip from what some cuts left."""

    def what() -> dict[str, Any]:
        found = ledgers.cuts(board, tokens)
        wrong = ledgers.judged(found)
        late = [each.flash for each in found if each.recorded]
        for number in range(starts):
            flash = late[number * len(late) // starts]
            again, expected = ledgers.restarted(flash, random.Random(number)), len(ledgers.read(flash))
            if again.recorded != expected:
                wrong = wrong or f"the chip found {again.recorded} tokens after a cut, the ledger's files {expected}"
        return {"cuts": len(found), "error": wrong}

    done = apart(what, folder / "cuts.json")
    print(
        f"power cuts: {done.get('cuts', 0)}, in every operation of the flash while {tokens} tokens fell,"
        f" {starts} started from: {done.get('error') or 'no recorded token lost'}; {done['cpu_s']:.0f} s of CPU",
        flush=True,
    )
    return not done.get("error")


def booted(uf2: Path, seed: int, flash: Flash) -> play.Board:
    """Return a board that has read its files and waits for its settings."""
    board = play.Board(chip.flash_of(uf2, play.filed(play.files())), random.Random(seed), flash_us=flash)
    board.read_files()
    print(
        f"MicroPython started and imported the temple's files in {board.us / 1e6:.1f} s of the chip's time,"
        f" {time.process_time():.0f} s of CPU; {board.free:,} bytes of its heap are free",
        flush=True,
    )
    return board


def row(board: play.Board, file: Path, folder: Path, companion: Companion) -> bool:
    """Play one scenario to a copy of the board, print how it went, and return whether it was right."""
    folder.mkdir()
    script = read(file.read_bytes(), file.name)
    one = counters.job(file, script, folder, companion.port, COUNTER, 1.0)
    played = apart(lambda: scenario(board, one), folder / "result.json")
    kept = companion.kept(one.temple)
    expected = counters.reference(one.timeline, script.limits(counters.Limits()))
    said = played.get("error", "")
    if not said:
        findings = {God(name): set(codes) for name, codes in played["findings"].items()}
        try:
            judged(companion, COUNTER, one, findings, BOOT_NS)
        except AssertionError as error:
            said = str(error) or "not as expected"
    may_miss = "~" * any(isinstance(moment, Restart) for moment in one.timeline.moments)
    counts = (f"{may_miss}{'+'.join(str(len(all_of[god])) for god in God)}" for all_of in (expected, kept))
    print(
        f"{file.stem:<20} {next(counts):>9} {next(counts):>9} {played.get('used', 0):>8,}"
        f" {played.get('start_s', 0):>8.2f} {played.get('chip_s', 0):>7.1f} {played['cpu_s']:>7.1f}"
        f"{said and f'  WRONG: {said}'}",
        flush=True,
    )
    return not said


def scenario(board: play.Board, one: counters.Job) -> dict[str, Any]:
    """Play a scenario; return what the board found wrong with its beams, and how long it took."""
    work = json.loads((counters.pico_job(one) / "job.json").read_text())
    board.settings = json.dumps(work["settings"] | NETWORK).encode()
    board.chance.seed(one.temple)
    begun_us = board.us
    for at_us, words in work["story"]:
        if not at_us:
            board.levels[play.PINS[words[0]]] = words[2] == "1"
            board.chip.pin(play.PINS[words[0]], words[2] == "1")
    board.count()
    counts_us = board.us
    play.play(board, work["story"], PATIENCE_S)
    return {
        "findings": board.findings, "chip_s": (board.us - begun_us) / 1e6, "start_s": counts_us / 1e6,
        "used": board.used, "turns": board.turns,
    }  # fmt: skip


def apart(what: Callable[[], dict[str, Any]], file: Path) -> dict[str, Any]:
    """Do something in a copy of this process, and return its result and the CPU seconds that it took."""
    process = os.fork()
    if not process:
        begun = time.process_time()
        try:
            result = what()
        except Exception as error:  # whatever it is, the row says it
            result = {"error": f"{type(error).__name__}: {error}"}
        file.write_text(json.dumps(result | {"cpu_s": time.process_time() - begun}))
        os._exit(0)
    os.waitpid(process, 0)
    found: dict[str, Any] = json.loads(file.read_text())
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

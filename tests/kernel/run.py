"""Counts on a real kernel whose lines are simulated, in QEMU: `make kernel`.

First the backends of this checkout on Debian 12, with this machine's Python; then the controller as the packages
install it on Debian 13: tokens with bounces beside an oracle, a starved machine, troubles, and power cuts; then the
hotspot with NetworkManager and simulated radios; the devices that the controller's unit may open; last an evening
that begins in 1970, and whose clock is set in the middle. All but the first needs root, as `make packages` does.

A long run is made of parts, each with a start of its own. They are recorded in `build/kernel`: the same command with
the same seed goes on after the last part that came to its end, and its figures are of all parts together.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

from tests import fresh
from tests.kernel import clock, machine, temple, usb, wifi
from tests.kernel.parts import Found, once

PROGRAM = "tests.kernel.guest"
STAGES = ("backends", "tokens", "troubles", "cuts", "wifi", "usb", "clock")
TOKENS_A_PART, CUTS_A_PART = 1700, 20


def main(argv: Sequence[str]) -> int:
    """Go through the stages; returns 0 where no fault was found."""
    parser = argparse.ArgumentParser(prog="make kernel ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=STAGES, help="one stage alone")
    parser.add_argument("--tokens", type=int, default=200, help="through each backend (default: %(default)s)")
    parser.add_argument("--starved", type=int, default=100, help="and on a starved machine (default: %(default)s)")
    parser.add_argument("--starts", type=int, default=5, help="of each backend (default: %(default)s)")
    parser.add_argument("--cuts", type=int, default=3, help="how often the power is cut (default: %(default)s)")
    seed = time.time_ns() % 10**6
    parser.add_argument("--seed", type=int, default=seed, help="the same plans; recorded parts are not run again")
    parser.add_argument("--where-allowed", action="store_true", help="pass where this machine may not do that")
    parser.add_argument("--built", action="store_true", help="take the package that is in build/packages")
    given = parser.parse_args(argv)
    stages = (given.only,) if given.only else STAGES
    needed = machine.NEEDED if stages == ("backends",) else machine.NEEDED | temple.NEEDED
    if missing := machine.missing(needed):
        print(missing, file=sys.stderr)
        return 0 if given.where_allowed else 2
    if stages != ("backends",):
        try:
            fresh.check_machine(os.geteuid(), shutil.which, "make kernel")
        except fresh.FreshError as error:
            print(error, file=sys.stderr)
            return 0 if given.where_allowed else 1
    print(f"seed {given.seed}", flush=True)
    faults: list[str] = []
    made = machine.kernel()
    if "backends" in stages:
        words = f"guest={PROGRAM} root_of_project={machine.ROOT}"
        initrd = machine.pack(made, machine.HERE / "init")
        faults += ["the backends"] if machine.run(machine.command(made, initrd, words)) else []
    try:
        if {"tokens", "troubles", "cuts"}.intersection(stages):
            disk = temple.image(built=given.built)
        if "tokens" in stages:
            faults += tokens(disk, given.tokens, given.starved, given.seed)
        if "troubles" in stages:
            faults += temple.troubled(disk, given.starts, given.seed)
        if "cuts" in stages:
            faults += cuts(disk, given.cuts, given.seed)
        if {"wifi", "usb", "clock"}.intersection(stages):
            whole = wifi.image(built=given.built or len(stages) > 1)
        if "wifi" in stages:
            faults += wifi.tried(whole)
        if "usb" in stages:
            faults += usb.tried(whole)
        if "clock" in stages:
            faults += clock.tried(whole)
    except fresh.FreshError as error:
        faults.append(str(error))
    for fault in faults:
        print(f"FAULT: {fault}", flush=True)
    return 1 if faults else 0


def tokens(disk: Path, fall: int, starved: int, seed: int) -> list[str]:
    """Let tokens fall, part by part; returns the faults."""
    parts = max(1, -(-max(fall, starved) // TOKENS_A_PART))
    whole: dict[str, Found] = {}
    for number in range(parts):
        sizes = [each // parts + (number < each % parts) for each in (fall, starved)]
        begins = seed + number * len(temple.BACKENDS) * 3
        key = f"{disk.stem} steady tokens {sizes[0]} starved, behind {sizes[1]} seed {begins}"
        for name, found in once(key, partial(temple.counted, disk, *sizes, begins)).items():
            whole.setdefault(name, Found()).add(found)
            show(f"{name}, part {number + 1} of {parts}", found)
    key = f"{disk.stem} late {starved} seed {seed}"
    whole |= once(key, partial(temple.late, disk, starved, seed)) if starved else {}
    for name, found in whole.items():
        show(name, found)
    return [fault for found in whole.values() for fault in found.faults]


def cuts(disk: Path, number: int, seed: int) -> list[str]:
    """Cut the power, part by part; returns the faults."""
    whole = Found()
    for begun in range(0, number, CUTS_A_PART):
        size = min(CUTS_A_PART, number - begun)
        key = f"{disk.stem} cuts {size} seed {seed + begun}"
        whole.add(once(key, partial(temple.cut, disk, size, seed + begun))["cuts"])
        show("power cuts so far", whole)
    return whole.faults


def show(what: str, found: Found) -> None:
    """Print figures: sums, and of durations the median and the longest."""
    figures = [f"{number} {name}" for name, number in found.figures.items()]
    figures += [
        f"{name} {median(all_):.1f} s, at most {max(all_):.1f} s" for name, all_ in found.seconds.items() if all_
    ]
    print(f"{what}: {', '.join(figures)}; {len(found.faults)} faults", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

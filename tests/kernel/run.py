"""Counts on a real kernel whose lines are simulated, in QEMU: `make kernel`.

First the backends of this checkout on Debian 12, with this machine's Python; then the controller as the packages
install it on Debian 13: tokens with bounces beside an oracle, a starved machine, troubles, and power cuts. The last
needs root, as `make packages` does.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence

from tests import fresh
from tests.kernel import machine, temple

PROGRAM = "tests.kernel.guest"
STAGES = ("backends", "tokens", "troubles", "cuts")


def main(argv: Sequence[str]) -> int:
    """Go through the stages; returns 0 where no fault was found."""
    parser = argparse.ArgumentParser(prog="make kernel ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=STAGES, help="one stage alone")
    parser.add_argument("--tokens", type=int, default=200, help="through each backend (default: %(default)s)")
    parser.add_argument("--starved", type=int, default=100, help="and on a starved machine (default: %(default)s)")
    parser.add_argument("--starts", type=int, default=5, help="of each backend (default: %(default)s)")
    parser.add_argument("--cuts", type=int, default=3, help="how often the power is cut (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6, help="the same plans and moments again")
    parser.add_argument("--built", action="store_true", help="take the package that is in build/packages")
    given = parser.parse_args(argv)
    stages = (given.only,) if given.only else STAGES
    needed = machine.NEEDED if stages == ("backends",) else machine.NEEDED | temple.NEEDED
    if missing := machine.missing(needed):
        print(missing, file=sys.stderr)
        return 2
    print(f"seed {given.seed}", flush=True)
    faults: list[str] = []
    if "backends" in stages:
        made = machine.kernel()
        words = f"guest={PROGRAM} root_of_project={machine.ROOT}"
        initrd = machine.pack(made, machine.HERE / "init")
        faults += ["the backends"] if machine.run(machine.command(made, initrd, words)) else []
    try:
        if stages != ("backends",):
            fresh.check_machine(os.geteuid(), shutil.which, "make kernel")
            machine.kernel()
            disk = temple.image(built=given.built)
        if "tokens" in stages:
            faults += temple.counted(disk, given.tokens, given.starved, given.seed)
        if "troubles" in stages:
            faults += temple.troubled(disk, given.starts, given.seed)
        if "cuts" in stages:
            faults += temple.cut(disk, given.cuts, given.seed)
    except fresh.FreshError as error:
        faults.append(str(error))
    for fault in faults:
        print(f"FAULT: {fault}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

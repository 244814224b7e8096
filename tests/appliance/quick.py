"""Builds the Debian packages, installs them into a Debian 13 and boots it once; an apt repository upgrades it.

``make packages-test`` is this command. A mistake in a package fails it, and so does a unit that does not start. A
machine that cannot try (no root, no mmdebstrap, no namespaces, no mirror, little space, little time), or boots no
container, is named in one line, and passes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from tests import fresh
from tests.appliance import repository as apt_repository
from tests.appliance.installing import download, installed_into
from tests.appliance.machine import (
    APT,
    BASE,
    SIMULATED,
    UNITS,
    Machine,
    NotAllowedError,
    booted,
    check_machine,
    must,
    run_in,
    say,
)
from tools import packages, repository

DEADLINE_S = 560
"""After that the machine is too slow; ending what runs and removing the root takes it up to 100 more."""

GRACE_S = 10
STARTED_S = 30.0
"""For each of what must come up after the boot; at a load of 16, all of it together took 7 s."""

ROOM = 4 * 1024**3
"""Bytes that the root, its tarball and the packages need."""


class Deadline:
    """Ends the programs that this process started once the time is up: politely at first, then by force."""

    def __init__(self, seconds: int) -> None:
        self.passed = False
        signal.signal(signal.SIGALRM, self._end)
        signal.alarm(seconds)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        ending = signal.SIGKILL if self.passed else signal.SIGTERM  # mmdebstrap cleans up after SIGTERM
        self.passed = True
        signal.alarm(GRACE_S)
        with suppress(OSError, ValueError):
            for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(child), ending)

    def cancel(self) -> None:
        """Cancel the time limit."""
        signal.alarm(0)


def main(argv: Sequence[str]) -> int:
    """Return 1 where a package is wrong, else 0."""
    parser = argparse.ArgumentParser(prog="make packages-test ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--within", type=int, default=DEADLINE_S, metavar="SECONDS", help=f"({DEADLINE_S})")
    given = parser.parse_args(argv)
    deadline = Deadline(given.within)
    try:
        prove(deadline)
    except fresh.FreshError as error:
        if deadline.passed:
            why = f"this machine needs more than {given.within} s for it."
        elif isinstance(error, NotAllowedError):
            why = " ".join(str(error).split())[:300]
        else:
            print(error, file=sys.stderr)
            return 1
        print(f"The packages were not tried to the end: {why}")
    else:
        print("The packages are as they must be.")
    finally:
        deadline.cancel()
    return 0


def prove(deadline: Deadline) -> None:
    """Build, install and boot; raises `NotAllowedError` if the machine prevents it, otherwise `FreshError`."""
    wrong: fresh.FreshError | None = None
    try:
        check_machine()
        fresh.BUILD.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(fresh.BUILD).free < ROOM:
            raise NotAllowedError(f"{fresh.BUILD} has less than {ROOM >> 30} GiB of free space.")
        with fresh.Root.made(packages.SUITE, purpose="packages", packages=packages.PACKAGES) as root:
            try:
                run_in(
                    root, f"apt-get --quiet update && {APT} install systemd {' '.join((*BASE, *repository.TOOLS))}"
                )
                try:
                    files = packages.build_in(root)
                except fresh.FreshError as error:
                    wrong = error
                else:
                    download(root, files)
                    try:
                        installed_into(root)
                        (root.folder / "etc/templo-mayor/controller.toml").write_text(SIMULATED)
                        apt_repository.published(root, files)
                        with booted(root.folder) as machine:
                            started(machine)
                            apt_repository.updated(machine)
                    except fresh.FreshError as error:
                        wrong = error
            finally:
                deadline.cancel()
    except (fresh.FreshError, OSError) as error:
        # Making a root, reaching a mirror and removing the root depend on the machine, not on the packages.
        if wrong is None:
            raise NotAllowedError(str(error)) from None
    if wrong is not None:
        raise wrong


def started(machine: Machine) -> None:
    """Wait until each unit runs, the first page answers and the temple counts."""
    print("Booted, without a network:", flush=True)
    for unit in UNITS:
        machine.until(f"{unit} starts", lambda unit=unit: settled(machine, unit), STARTED_S)
        if machine.show(unit, "ActiveState") != "active":
            raise fresh.FreshError(f"{unit} does not start:\n{machine.journal(unit)}")
        say(f"{unit} is active")
    must("the broker logs to the journal", "mosquitto version" in machine.journal("mosquitto"))
    must("and into no file, which nothing would bound", machine.run("find /var/log/mosquitto -type f"), "")
    machine.until("the page answers", lambda: machine.page("/"), STARTED_S)
    machine.until("the temple counts", machine.counts, STARTED_S)
    say("power on to the page on port 80 and to counting", f"{time.monotonic() - machine.begun:.1f} s")
    machine.run((fresh.PROJECT / "debian/tests/both-programs").read_text())
    say("the package's own test, of debian/tests")


def settled(machine: Machine, unit: str) -> bool:
    """Return whether a unit runs, or never will: ours are restarted again and again."""
    return machine.show(unit, "ActiveState") in ("active", "failed") or int(machine.show(unit, "NRestarts")) > 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Installs the Debian packages on a Debian 13, boots it, and checks from outside what an owner meets.

``make appliance`` is this command: it builds the packages, installs them with apt into a root, boots that with
systemd-nspawn and goes through its life: no network, a network later, another address, two hosted clubs, each daemon
killed, a second installation, removed, purged, installed once more; each program alone; an upgrade from the last
release, and back; a card that was flashed, with its settings on the boot partition. It prints what it measured. It
needs root, mmdebstrap and systemd-nspawn, and says what is missing; of Python, the standard library alone. There is
no GPIO in a container: after a check of what a temple without its chip reports, the beams are simulated.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from collections.abc import Sequence

from tests import fresh
from tests.appliance import written
from tests.appliance.addresses import named, networks, secured
from tests.appliance.faults import flooded, full, killed, misconfigured, stopped, unsaved, without_beams
from tests.appliance.hosted import hosted
from tests.appliance.installing import alone, download, exposed, installed_into, packaged
from tests.appliance.machine import (
    APT,
    BASE,
    STATE,
    UNITS,
    Machine,
    NotAllowedError,
    booted,
    check_machine,
    drop,
    must,
    say,
    simulate,
)
from tests.appliance.updates import downgraded, flash, flashed, prepared, returned, upgraded
from tools import packages

EARLIER = packages.BUILT / "earlier"
"""Where the packages of the last release are."""


def main(argv: Sequence[str]) -> int:
    """Run all stages; returns 0 if everything was as expected."""
    parser = argparse.ArgumentParser(prog="make appliance ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--where-allowed", action="store_true", help="pass where this machine cannot boot a Debian")
    parser.add_argument("--built", action="store_true", help="take the packages that are in build/packages")
    parser.add_argument(
        "--from", dest="earlier", metavar="REVISION", help="the last release; default: its tag, or the commit before"
    )
    given = parser.parse_args(argv)
    try:
        check_machine()
        last = given.earlier or packages.last_release()  # before a commit that is made meanwhile
        files = sorted(packages.BUILT.glob("*.deb")) if given.built else packages.build()
        if len(files) != len(packages.NAMES):
            raise fresh.FreshError(f"{packages.BUILT} holds {len(files)} packages; run 'make packages' first.")
        earlier = sorted(EARLIER.glob("*.deb")) if given.built else []
        if not earlier:
            earlier = packages.build(revision=last, into=EARLIER)
        with fresh.Root.made(packages.SUITE, purpose="appliance", packages=BASE) as root:
            download(root, files)
            (root.folder / "srv" / "earlier").mkdir()
            for file in earlier:
                shutil.copy(file, root.folder / "srv" / "earlier")
            installed_into(root)
            with booted(root.folder) as machine:
                lived(machine)
            with booted(root.folder) as machine:
                machine.until("the temple counts", machine.counts)
                say("power on to counting", f"{time.monotonic() - machine.begun:.1f} s")
                drop(machine, 1)
                secrets = prepared(machine)
            flash(root.folder)
            with booted(root.folder) as machine:
                flashed(machine, secrets)
    except NotAllowedError as error:
        print(error, file=sys.stderr)
        return 0 if given.where_allowed else 1
    except fresh.FreshError as error:
        print(error, file=sys.stderr)
        return 1
    print("The appliance is as it must be.")
    return 0


def lived(machine: Machine) -> None:
    """Go through the life of an installed temple."""
    print("Booted, without a network:", flush=True)
    machine.until("the page answers", lambda: "Templo Mayor" in machine.page("/"))
    say("power on to the page on port 80", f"{time.monotonic() - machine.begun:.1f} s")
    without_beams(machine)
    simulate(machine)
    restarted = time.monotonic()
    machine.run("systemctl restart templo-controller")
    machine.until("the temple counts", machine.counts)
    say("the controller restarted to counting", f"{time.monotonic() - restarted:.1f} s")
    misconfigured(machine)
    for unit in UNITS:
        must(f"{unit} is active", machine.show(unit, "ActiveState"), "active")
    exposed(machine)
    remembered(machine)
    drop(machine, 3)
    networks(machine)
    named(machine)
    secured(machine)
    returned(machine)
    as_written(machine)
    hosted(machine)
    killed(machine)
    stopped(machine)
    full(machine)
    unsaved(machine)
    flooded(machine)
    print("Installed again, removed, purged:", flush=True)
    packaged(machine)
    print("One program alone, then the last release, this one, and back:", flush=True)
    alone(machine)
    upgraded(machine)
    downgraded(machine)


def remembered(machine: Machine) -> None:
    """Measure what each unit takes of the memory, and what all that runs takes together."""

    def mebibytes(processes: str) -> float:
        rollups = machine.attempt(f"cat /proc/{processes}/smaps_rollup 2>/dev/null").stdout
        return sum(int(kilobytes) for kilobytes in re.findall(r"^Pss:\s+(\d+) kB", rollups, re.MULTILINE)) / 1024

    units = {unit: mebibytes(machine.show(unit, "MainPID")) for unit in (*UNITS, "templo-mayor-name")}
    for unit, found in units.items():
        say(f"memory of {unit} (PSS)", f"{found:.1f} MiB")
    say("memory of these four, of 512 MiB", f"{sum(units.values()):.1f} MiB")
    say("memory of every process of the machine", f"{mebibytes('[0-9]*'):.1f} MiB")


def as_written(machine: Machine) -> None:
    """Run every command that the docs give to an owner, as it is written there."""
    machine.run("echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/90yes")  # as the page's reader does
    machine.run(f"mkdir -p /media/usb; {APT} install openssl mosquitto-clients")
    machine.run(
        "cd /srv; openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=temple.example "
        "-addext subjectAltName=DNS:temple.example -keyout privkey.pem -out fullchain.pem"
    )
    ran, stopped, restored = 0, set[str](), False
    for page in written.PAGES:
        for command in written.commands(page):
            if command in written.NOT_RUN:
                continue
            if command.startswith("templo-mayor backup /"):
                machine.run("rm -f /media/usb/*")
            script = f"export DEBIAN_FRONTEND=noninteractive; cd /srv; timeout 120 {written.filled(command)}"
            done = machine.attempt(script.replace("timeout 120 mosquitto_sub", "timeout 3 mosquitto_sub"))
            expected = written.ENDED_BY_TIME if command.startswith("mosquitto_sub") else 0
            said = (done.stdout + done.stderr)[-600:]
            must(
                f"{page}: {command[:50]}",
                (done.returncode, said if done.returncode != expected else ""),
                (expected, ""),
            )
            ran += 1
            if command.startswith("systemctl disable --now"):
                machine.run(command.replace("disable", "enable"))
            verb, _, unit = command.removeprefix("systemctl ").partition(" ")
            if verb == "stop":
                stopped.add(unit)
            elif verb == "start":
                stopped.discard(unit)
            restored |= " restore " in command
            if stopped:
                continue
            if restored or command.startswith("apt install"):
                machine.until(
                    "the temple is back", lambda: machine.counts() or "backup" in machine.page("/temples/templo")
                )
                machine.attempt(f"templo-controller dismiss backup_restored {STATE}")
                restored = False
            machine.until("the temple counts", machine.counts)
    must("every unit that a page stops is started again", stopped, set())
    machine.run("rm /etc/apt/apt.conf.d/90yes")
    say("commands of the docs that do what they say", ran)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

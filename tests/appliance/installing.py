"""Packages put into a Debian with apt, removed, purged, installed again, and each program alone."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests import fresh
from tests.appliance.machine import APT, OURS, STATE, Machine, drop, must, run_in, say, simulate
from tools import packages

EXPOSURE = {"mosquitto": 3.0, **dict.fromkeys((*OURS, "templo-mayor-name"), 1.5), "templo-mayor-backup": 2.5}
TIMERS = ("templo-mayor-backup.timer", "templo-hotspot.timer", "templo-network.socket", "templo-tls-renew.timer")
MODES = {
    "/etc/templo-mayor": "755 root",
    "/etc/templo-mayor/controller.env": "600 root",
    "/etc/templo-mayor/companion.env": "600 root",
    "/etc/mosquitto/templo": "700 mosquitto",
    "/etc/mosquitto/templo/passwords": "600 mosquitto",
    "/etc/mosquitto/conf.d/templo.conf": "644 root",
}


def download(root: fresh.Root, files: Sequence[Path]) -> None:
    """Put the packages into a root, with what they need from Debian's archive: a booted one reaches no mirror."""
    for file in files:
        shutil.copy(file, root.folder / "srv")
    run_in(root, "apt-get --quiet update")
    for name in reversed(packages.NAMES):
        run_in(root, f"{APT} install --download-only ./{name}_*.deb")
    run_in(root, f"{APT} install --download-only haproxy openssl mosquitto-clients")


def installed_into(root: fresh.Root) -> None:
    """Install the whole appliance with apt, as an owner does, and look at what it left."""

    def run(script: str) -> str:
        return run_in(root, script)

    print("In a root that is not booted:", flush=True)
    begun = time.monotonic()
    run(f"{APT} install ./templo-mayor_*.deb")
    say("apt install ./templo-mayor_*.deb, with what it depends on", f"{time.monotonic() - begun:.0f} s")
    weight = run("du -ks /usr/share/templo-mayor | cut -f1")
    say("our files in it, byte-compiled", f"{int(weight) / 1024:.1f} MiB")
    for user in OURS:
        must(f"the user {user} exists", run(f"id --user --name {user}").strip(), user)
    run("getent group gpio")
    must("the controller's state, pages and settings are as the units need them: modes", modes(run), MODES)
    must(
        "the controller's user can read its settings file and not its password",
        run(
            "echo >/etc/templo-mayor/controller.toml; cd /; "
            "runuser -u templo-controller -- cat /etc/templo-mayor/controller.toml; "
            "runuser -u templo-controller -- cat /etc/templo-mayor/controller.env 2>/dev/null || echo refused"
        ).split(),
        ["refused"],
    )
    must("every module is byte-compiled", run("""
        find /usr/share/templo-mayor -name '*.py' | while read -r file; do
            set -- "$(dirname "$file")/__pycache__/$(basename "$file" .py)".*.pyc
            [ -e "$1" ] || echo "$file"
        done
    """), "")  # fmt: skip
    units = " ".join((*(f"{unit}.service" for unit in EXPOSURE if unit != "mosquitto"), *TIMERS))
    run(f"systemd-analyze verify --man=no {units} 2>&1")
    say("systemd-analyze verify of all our units")
    must("what a unit names as its documentation is there", run("""
        sed -n 's/^Documentation=file:..//p' /usr/lib/systemd/system/templo-* | while read -r file; do
            [ -r "$file" ] || echo "$file"
        done
    """), "")  # fmt: skip
    for program in OURS:
        run(f"cd /; runuser -u {program} -- {program} --help")
    say("both commands start with Debian's own libraries")


def modes(run: Callable[[str], str]) -> dict[str, str]:
    """Return the mode and the owner of each file that must have its own."""
    lines = run(f"stat --format='%n %a %U' {' '.join(MODES)}").splitlines()
    return {name: mode for name, _, mode in (line.partition(" ") for line in lines)}


def exposed(machine: Machine) -> None:
    """Look at how exposed systemd finds each running unit."""
    for unit in EXPOSURE:
        judged = machine.run(f"systemd-analyze security --no-pager {unit} || true")
        found = re.search(r"Overall exposure level for \S+: ([\d.]+)", judged)
        level = float(found[1]) if found else 10.0
        if level > EXPOSURE[unit]:
            raise fresh.FreshError(f"{unit} has an exposure of {level}; expected {EXPOSURE[unit]} or less")
        say(f"systemd-analyze security of {unit}", level)


def packaged(machine: Machine) -> None:
    """Install a second time, remove, purge, and install once more."""
    tokens = machine.received()
    passwords = machine.run("cat /etc/templo-mayor/*.env")
    machine.run(f"cd /srv; {APT} install --reinstall ./templo-mayor_*.deb")
    machine.until("the temple counts", machine.counts)
    must("a second installation keeps every password", machine.run("cat /etc/templo-mayor/*.env"), passwords)
    must("and every token", machine.received(), tokens)

    machine.run(f"{APT} remove templo-mayor")
    must(
        "removed: no command, no unit is left",
        leftovers(machine, "/usr/bin /usr/lib/systemd /usr/sbin /usr/share"),
        [],
    )
    must("and nothing answers", machine.page("/"), "")
    machine.run(f"cd /srv; {APT} install ./templo-mayor_*.deb")
    machine.until("the temple counts", machine.counts)
    must("installed again, every token is there", machine.received(), tokens)
    drop(machine, 1)

    said = machine.run(f"{APT} purge templo-mayor 2>&1")
    must(
        "purged where nobody can be asked, the ledger is kept, and it is said",
        "Kept: /var/lib/templo-controller" in said,
    )
    must("no setting and no password is left", leftovers(machine, "/etc /usr /run"), [])
    machine.run(f"cd /srv; {APT} install ./templo-mayor_*.deb")
    simulate(machine)
    machine.run("systemctl restart templo-controller")
    machine.until("the temple counts", machine.counts)
    must("installed again, every token is there", machine.received(), tokens + 1)

    machine.run("echo 'templo-mayor templo-mayor/purge-tokens boolean true' | debconf-set-selections")
    machine.run(f"{APT} purge templo-mayor")
    must("purged with a yes, nothing is left", leftovers(machine, "/etc /usr /var /run"), [])
    said = machine.run(f"cd /srv; {APT} install ./templo-mayor_*.deb")
    must("what apt says last is where the page is", "http://192.168.178.77" in said[-1000:])
    confined = f"grep --count '^NoNewPrivs:.1$' /proc/{machine.show('mosquitto', 'MainPID')}/status || true"
    must("mosquitto is confined at once", machine.run(confined).strip(), "1")
    simulate(machine)
    machine.run("systemctl restart templo-controller")
    machine.until("the temple counts", machine.counts)
    must("installed once more, it begins with nothing", machine.received(), 0)
    drop(machine, 1)


def alone(machine: Machine) -> None:
    """Install each program without the other, then both: what the one counted comes to the other."""
    machine.run(f"{APT} purge templo-mayor; rm -rf /var/lib/templo-*; systemctl restart mosquitto")
    machine.run(f"cd /srv; {APT} install ./templo-mayor-companion_*.deb")
    machine.until("the page answers", lambda: "Templo Mayor" in machine.page("/"))
    must("the companion alone is active", machine.show("templo-companion", "ActiveState"), "active")
    must(
        "and brings no other program of ours", machine.run("ls /usr/bin | grep templo-").split(), ["templo-companion"]
    )
    refused = machine.attempt(f"cd /srv; {APT} --no-remove install ./templo-mayor-controller_*.deb")
    must("the controller's package would replace it, and says so", refused.returncode != 0)
    machine.run(
        "echo 'templo-mayor-companion templo-mayor-companion/purge-tokens boolean true' | debconf-set-selections"
    )
    machine.run(f"{APT} purge templo-mayor-companion")
    machine.run(f"cd /srv; {APT} install ./templo-mayor-controller_*.deb")
    must("purged, nothing of it answers", machine.page("/"), "")
    simulate(machine)
    machine.run("systemctl restart templo-controller")
    machine.run(f"templo-controller drop tlaloc --count 4 {STATE}")
    machine.until(
        "it reaches a broker that is not ours",
        lambda: "connected in MQTT 5" in machine.run(f"templo-controller status {STATE}"),
    )
    said = machine.run(f"templo-controller status {STATE}")
    must("the controller alone counts, and keeps what nobody takes", "4 tokens, 4 not yet delivered" in said)
    machine.run(f"cd /srv; {APT} install ./templo-mayor_*.deb")
    machine.until("every token arrives", lambda: machine.received() == 4)
    say("with the whole installed in its place, every token arrives")
    machine.run("echo 'templo-mayor templo-mayor/purge-tokens boolean true' | debconf-set-selections")
    # dpkg remembers the package whose place the whole took until that is purged, too.
    machine.run(f"{APT} purge templo-mayor templo-mayor-controller")
    must("purged with a yes, nothing is left", leftovers(machine, "/etc /usr /var /run"), [])


def leftovers(machine: Machine, folders: str) -> list[str]:
    """Return what is named after us below some folders, but for what apt and systemd remember of any package."""
    found = machine.run(f"find {folders} -xdev -name '*templo*' 2>/dev/null || true").split()
    remembered = ("/var/cache/apt/", "/var/lib/systemd/", "/run/credentials/", "/var/cache/debconf")
    return [each for each in found if not each.startswith(remembered)]

"""Backups, updates, returns to an earlier release, and a card that was flashed."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

from tests.appliance.machine import APT, OURS, STATE, UNITS, Machine, drop, must, say, simulate, status

OPEN = """
import sys, urllib.parse, urllib.request
form = {'game': 'mexica', 'title': sys.argv[1], 'players': '4', 'preset': 'temple_only', 'temple': 'templo'}
urllib.request.urlopen(urllib.request.Request(
    'http://127.0.0.1/tables', urllib.parse.urlencode(form).encode(), {'Origin': 'http://127.0.0.1'}), timeout=60)
"""
"""Opens a table that the temple serves, as a phone does."""


def returned(machine: Machine) -> None:
    """Back everything up, lose the card, and restore on a new one."""
    machine.run("systemctl start templo-mayor-backup")
    must("the timer of every night runs", machine.show("templo-mayor-backup.timer", "ActiveState"), "active")
    nightly = machine.run("ls /var/backups/templo-mayor").split()
    must("its backup is one file", len(nightly), 1)
    tokens, passwords = machine.received(), machine.run("cat /etc/templo-mayor/*.env")
    machine.run("templo-mayor backup /srv/all.tar.gz")
    machine.run("systemctl stop templo-controller templo-companion")
    machine.run("rm -r /var/lib/templo-*/* /etc/templo-mayor/controller.toml /var/backups/templo-mayor")
    machine.run(
        "templo-broker-access --again --renew && systemctl restart mosquitto templo-controller templo-companion"
    )
    machine.until("the new card's page answers", lambda: machine.page("/"))
    must("a new card has no token", machine.received(), 0)
    begun = time.monotonic()
    machine.run("templo-mayor restore /srv/all.tar.gz")
    machine.until("the temple counts", lambda: machine.counts() or "backup" in machine.page("/temples/templo"))
    say("a backup restored, to the temple's page", f"{time.monotonic() - begun:.1f} s")
    must("with every token", machine.received(), tokens)
    must("and every password", machine.run("cat /etc/templo-mayor/*.env"), passwords)
    drop(machine, 2)
    machine.run("templo-controller dismiss backup_restored " + STATE)
    machine.until("the temple counts", machine.counts)
    machine.run("head -c 2000 /srv/all.tar.gz >/srv/cut.tar.gz")
    refused = machine.attempt("templo-mayor restore /srv/cut.tar.gz")
    must("half a backup is refused", (refused.returncode, "is damaged" in refused.stderr), (1, True))
    must("and everything runs on", machine.counts())


def upgraded(machine: Machine) -> None:
    """Play with the last release, and go on with this one."""
    machine.run(f"cd /srv/earlier; {APT} install ./templo-mayor_*.deb")
    simulate(machine)
    machine.run("systemctl restart templo-controller")
    machine.until("the temple counts", machine.counts)
    before = machine.run("dpkg-query --show --showformat='${Version}' templo-mayor")
    say("the last release, installed", before)
    machine.run(f"python3 -c {shlex.quote(OPEN)} 'Before the update'")
    drop(machine, 5)
    passwords = machine.run("cat /etc/templo-mayor/*.env")
    begun = time.monotonic()
    machine.run(f"cd /srv; {APT} install ./templo-mayor_*.deb")
    machine.until("the temple counts", machine.counts)
    say("upgraded by apt, to counting again", f"{time.monotonic() - begun:.1f} s")
    must("it is this release", machine.run("dpkg-query --show --showformat='${Version}' templo-mayor") != before)
    must("with every token", machine.received(), 5)
    must("every table", "Before the update" in machine.page("/tables"))
    must("and every password", machine.run("cat /etc/templo-mayor/*.env"), passwords)
    for unit in (*UNITS, "templo-mayor-name"):
        must(f"{unit} is active", machine.show(unit, "ActiveState"), "active")
    drop(machine, 2)
    machine.run(f"cd /srv/earlier; {APT} --allow-downgrades install ./templo-mayor_*.deb")
    machine.until("the temple counts", machine.counts)
    must("back to the last release, every token is there", machine.received(), 7)
    drop(machine, 1)
    machine.run(f"cd /srv; {APT} install ./templo-mayor_*.deb")
    machine.until("the temple counts", machine.counts)


def downgraded(machine: Machine) -> None:
    """Leave what a newer release leaves, and take its own store and ledger back."""
    store, ledger = "/var/lib/templo-companion/companion.sqlite", "/var/lib/templo-controller/ledger.sqlite3"
    newer = (
        int(machine.run("sed -n 's/^SCHEMA = //p' /usr/share/templo-mayor/companion/adapters/database/schema.py")) + 1
    )
    copy, tokens = "/srv/store", machine.received()
    machine.run("systemctl stop templo-controller templo-companion")
    machine.run(f"cp -p {store} {copy}; cp -p {ledger} /srv/ledger")
    changes = {
        store: f"UPDATE about SET value = '{newer}' WHERE key = 'schema'",
        ledger: "UPDATE meta SET schema = 99",
    }
    for file, change in changes.items():
        script = f"import sqlite3; c = sqlite3.connect({file!r}); c.execute({change!r}); c.commit(); c.close()"
        machine.run(f"python3 -c {shlex.quote(script)}")
    machine.run("systemctl start --no-block templo-companion templo-controller")
    machine.until("the page says why", lambda: "a newer release wrote it" in machine.answer("/")[1])
    time.sleep(8)  # several restarts, if there were any
    must("no other page is there", machine.answer("/")[0], "503")
    for unit in OURS:
        must(f"{unit} is not restarted", machine.show(unit, "NRestarts"), "0")
    machine.run(f"systemctl stop templo-companion; rm -f {store}-wal {store}-shm; cp -p {copy} {store}")
    machine.run("systemctl start templo-companion")
    temple = "/temples/templo"
    machine.until("the temple's page says so", lambda: "A newer release wrote" in machine.page(temple))
    say("with its own store the pages are back, and the temple's says that its ledger is newer")
    machine.run(f"systemctl stop templo-controller; cp -p /srv/ledger {ledger}; systemctl start templo-controller")
    machine.until("the temple counts", machine.counts)
    must("and with its own ledger every token is there", machine.received(), tokens)
    drop(machine, 1)


def prepared(machine: Machine) -> str:
    """Prepare the card to be copied; returns the secrets that a copy must not have."""
    secrets = machine.run("cat /etc/templo-mayor/*.env /var/lib/templo-companion/owner-code")
    machine.run("templo-mayor backup")
    refused = machine.attempt("templo-mayor prepare-image")
    must("a card is prepared to be copied only if somebody says yes", refused.returncode, 1)
    machine.run("templo-mayor prepare-image --yes")
    folders = "etc/templo-mayor etc/mosquitto/templo var/lib/templo-* var/lib/mosquitto var/backups/templo-mayor"
    left = machine.run(f"cd /; find {folders} -type f")
    must("a card to be copied keeps its settings alone", left.split(), ["etc/templo-mayor/controller.toml"])
    return secrets


def flash(folder: Path) -> None:
    """Make a root what a flashed card is: with settings on its boot partition."""
    (folder / "boot/firmware").mkdir(parents=True, exist_ok=True)
    (folder / "boot/firmware/templo-mayor.toml").write_text(
        'name = "attic"\n[beams]\nsource = "simulated"\ntlaloc = 99\n'
    )


def flashed(machine: Machine, secrets: str) -> None:
    """Boot a copy of a card whose settings are wrong, then right; `secrets` are those of the copied card."""
    print("A flashed card, with its settings on the boot partition:", flush=True)
    machine.until("the page answers", lambda: "Templo Mayor" in machine.page("/"))
    must("a wrong setting stands on the first page", "beams.tlaloc is 99" in machine.page("/"))
    must("and in `templo-mayor status`", "beams.tlaloc is 99" in status(machine))
    must("and in a file beside it", "99" in machine.run("cat /boot/firmware/templo-mayor.error.txt"))
    own = machine.run("cat /etc/templo-mayor/*.env /var/lib/templo-companion/owner-code")
    must(
        "the card made passwords and a code of its own",
        machine.run("ls /etc/templo-mayor/*.env | wc -l").strip(),
        "4",
    )
    values = {line.rpartition("=")[2] for line in own.splitlines() if "_USER=" not in line and "_TEMPLE=" not in line}
    must(
        "none of which is the first card's",
        values & {line.rpartition("=")[2] for line in secrets.splitlines()},
        set(),
    )
    must("and has no token", machine.received(), 0)
    machine.run("sed -i s/99/22/ /boot/firmware/templo-mayor.toml")
    machine.run("systemctl restart templo-mayor-boot mosquitto templo-controller templo-companion")
    machine.until("it counts", lambda: 'templo_temple_up{temple="attic"} 1' in machine.page("/metrics"))
    must("with it mended, the temple has its name and counts; the file is set aside", machine.run(
        "ls /boot/firmware").split(), ["templo-mayor.applied.toml"])  # fmt: skip

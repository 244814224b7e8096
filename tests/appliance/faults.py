"""Faults of an installed temple, as its owner meets them: wrong settings, no beams, killed daemons, bad disks."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable

from tests.appliance.machine import OURS, STATE, UNITS, Machine, drop, must, say, status

DISKS = {
    "full": "mount -t tmpfs -o size=16k,mode=0700 tmpfs {folder}; chown {user}: {folder}",
    "read-only": "mount --bind {folder} {folder}; mount -o remount,bind,ro {folder}",
}
"""Commands that turn a folder into a full or a read-only disk."""

DEATHS = 6
"""More than the five starts within 10 s after which systemd gives a unit up that does not say otherwise."""

FLOOD = 100_000
MOST_LINES = 1500
"""journald lets a unit of 200 lines in 30 s have up to six times as many where its disk has much room."""


def without_beams(machine: Machine) -> None:
    """Check a temple whose GPIO chip is missing: its page says so, and it does not restart in a loop."""
    page = "/temples/templo"
    machine.until(
        "the page says what is missing", lambda: "finds nothing to read its beams with" in machine.page(page)
    )
    say("without a GPIO chip the temple's page says that it is missing")
    must("and the controller was never restarted", machine.show("templo-controller", "NRestarts"), "0")
    must("and `templo-mayor status` takes it for none that counts", "does not count" in status(machine))
    found = machine.run("templo-controller status")
    must("`templo-controller status` finds it", "nothing to read the beams with was found" in found)
    found = machine.run("templo-controller selftest 2>&1 || true")
    must("and selftest says why it cannot watch them", "GPIO" in found)
    must("and names the cause to systemd", "GPIO" in machine.show("templo-controller", "StatusText"))


def misconfigured(machine: Machine) -> None:
    """Give each daemon a wrong setting: it fails once, says which, and runs again when that is mended."""
    for unit in OURS:
        file = f"/etc/templo-mayor/{unit.removeprefix('templo-')}.toml"
        port = "[broker]\nport = 99999999\n"
        machine.run(f"touch {file} && cp {file} /srv/right.toml && printf '%s' '{port}' >{file}")
        before = machine.show(unit, "NRestarts")
        machine.attempt(f"systemctl restart {unit}")
        machine.until("it has failed", lambda unit=unit: machine.show(unit, "ActiveState") == "failed")
        time.sleep(3)  # three restarts, if there were any
        must(f"{unit} with a wrong setting fails", machine.show(unit, "ActiveState"), "failed")
        must("and is not restarted", machine.show(unit, "NRestarts") in ("0", before))
        must("systemd knows the setting", "broker.port is 99999999" in machine.show(unit, "StatusText"))
        if unit == "templo-controller":
            must("and `templo-mayor status` shows it", "broker.port is 99999999" in status(machine))
            machine.run(f"printf '[counting]\\nmin_break_ms = 0\\n' >{file}")
            machine.attempt(f"systemctl restart {unit}")
            wrong = "A setting of the temple is wrong"
            machine.until("the page says it", lambda wrong=wrong: wrong in machine.page("/temples/templo"))
            say("if its broker can be reached, the temple's page says that a setting is wrong")
        machine.run(f"cp /srv/right.toml {file} && systemctl restart {unit}")
    machine.until("the temple counts", machine.counts)
    say("with the settings mended, the temple counts")


def killed(machine: Machine) -> None:
    """Kill each daemon; without any help, the next token must reach the companion's store."""
    for unit in UNITS:
        before, process = machine.received(), machine.show(unit, "MainPID")
        begun = time.monotonic()
        machine.run(f"kill -9 {process}")
        machine.until(
            "a token falls", lambda: machine.attempt(f"templo-controller drop tlaloc {STATE}").returncode == 0
        )
        machine.until("the token is stored", lambda before=before: machine.received() == before + 1)
        say(f"{unit} killed: a new token is in the companion's store after", f"{time.monotonic() - begun:.1f} s")
    for _ in range(DEATHS):
        process = machine.show("mosquitto", "MainPID")
        machine.run(f"kill -9 {process}")
        machine.until(
            "it runs again", lambda process=process: machine.show("mosquitto", "MainPID") not in ("0", process)
        )
    machine.until("the temple counts", machine.counts)
    drop(machine, 1)
    say(f"mosquitto killed {DEATHS} times in a row runs again")


def stopped(machine: Machine) -> None:
    """Stop each daemon: the pages say so, and what falls meanwhile is stored once it runs again."""
    page, tokens = "/temples/templo", machine.received()
    machine.run("systemctl stop mosquitto")
    machine.until("the page says so", lambda: "The message broker cannot be reached" in machine.page(page))
    say("the broker stopped: the temple's page says that it cannot be reached")
    machine.run(f"templo-controller drop tlaloc --count 2 {STATE}; systemctl start mosquitto")
    machine.until("every token is stored", lambda: machine.received() == tokens + 2)
    machine.run("systemctl stop templo-controller")
    machine.until("the page says so", lambda: "The temple is switched off" in machine.page(page))
    say("the controller stopped: the temple's page says that it is switched off")
    machine.run("systemctl start templo-controller; systemctl stop templo-companion")
    must("the companion stopped: nothing answers", machine.answer("/"), ("", ""))
    machine.run(f"templo-controller drop tlaloc --count 3 {STATE}; systemctl start templo-companion")
    machine.until("every token is stored", lambda: machine.received() == tokens + 5)
    machine.until("the temple counts", machine.counts)
    say("what fell while the broker or the companion was stopped is stored once it runs again")


def full(machine: Machine) -> None:
    """Start each daemon on a disk that is full, then on one that is read-only; the pages must say so."""
    store, ledger = (f"/var/lib/{unit}" for unit in ("templo-companion", "templo-controller"))
    tokens = machine.received()

    def refused() -> bool:
        code, page = machine.answer("/")
        return code == "503" and "cannot start" in page

    def shown(sentence: str) -> Callable[[], bool]:
        return lambda: sentence in machine.page("/temples/templo")

    for unit, folder, disk, said in (
        ("templo-companion", store, "full", refused),
        ("templo-companion", store, "read-only", refused),
        ("templo-controller", ledger, "full", shown("storage is full")),
        ("templo-controller", ledger, "read-only", shown("cannot write to its storage")),
    ):
        mounted = DISKS[disk].format(folder=folder, user=unit)
        machine.run(f"systemctl stop {unit}; {mounted}; systemctl start {unit}")
        machine.until("the page says why", said)
        must(f"{unit} on a {disk} disk is up", machine.show(unit, "ActiveState"), "active")
        say("and the page says why it does nothing")
        machine.run(f"systemctl stop {unit}; umount {folder}; systemctl start {unit}")
        machine.until("the temple counts", machine.counts)
        must("with its disk back every token is there", machine.received(), tokens)
    drop(machine, 1)


def unsaved(machine: Machine) -> None:
    """Run the broker on a disk that takes nothing: it restarts there, and every token still arrives."""
    folder = "/var/lib/mosquitto"
    for disk, spoil in DISKS.items():
        mounted = spoil.format(folder=folder, user="mosquitto")
        machine.run(f"systemctl stop mosquitto; {mounted}; cat /dev/zero >{folder}/filling 2>/dev/null || true")
        machine.run("systemctl start mosquitto")
        machine.until("the temple counts", machine.counts)
        say(f"mosquitto on a {disk} disk is up, and the temple counts")
        drop(machine, 2)
        machine.run("systemctl restart mosquitto")
        machine.until("the temple counts", machine.counts)
        drop(machine, 1)
        machine.run(f"systemctl stop mosquitto; umount {folder}; systemctl start mosquitto")
        machine.until("the temple counts", machine.counts)


def flooded(machine: Machine) -> None:
    """Let the controller's unit write without end, as lgpio does when its chip goes away."""
    folder = "/run/systemd/system/templo-controller.service.d"
    flood = f"[Service]\nExecStartPre=sh -c 'seq {FLOOD} >&2'\n"
    machine.run(f"mkdir {folder}; printf '%s' {shlex.quote(flood)} >{folder}/flood.conf; systemctl daemon-reload")
    machine.run("systemctl restart templo-controller; journalctl --sync")
    written = machine.run("journalctl --unit=templo-controller --output=cat | grep -c '^[0-9]*$' || true")
    must(f"of {FLOOD} lines at once the journal has {MOST_LINES} at most", 0 < int(written) <= MOST_LINES)
    say("lines of them in the journal", written.strip())
    must(
        "the broker logs into no file, which nothing would bound",
        machine.run("find /var/log/mosquitto -size +0 -type f"),
        "",
    )
    machine.run(f"rm -r {folder}; systemctl daemon-reload; systemctl restart templo-controller")
    machine.until("the temple counts", machine.counts)

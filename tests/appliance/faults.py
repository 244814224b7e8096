"""Faults of an installed temple, as its owner meets them: wrong settings, no beams, killed daemons, bad disks."""

from __future__ import annotations

import time

from tests.appliance.machine import OURS, STATE, UNITS, Machine, drop, must, say, status


def without_beams(machine: Machine) -> None:
    """Look at a temple whose GPIO chip is missing: it says so on its page, and does not loop."""
    page = "/temples/templo"
    machine.until(
        "the page says what is missing", lambda: "finds nothing to read its beams with" in machine.page(page)
    )
    say("without a GPIO chip the temple's page says that it is missing")
    must("and the controller was never restarted", machine.show("templo-controller", "NRestarts"), "0")
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


def full(machine: Machine) -> None:
    """Start each daemon on a disk that is full or read-only; the page must say so, and all be well afterwards."""
    store, ledger = (f"/var/lib/{unit}" for unit in ("templo-companion", "templo-controller"))
    tokens = machine.received()
    machine.run(f"systemctl stop templo-companion; mount -t tmpfs -o size=16k,mode=0700 tmpfs {store}")
    machine.run(f"chown templo-companion: {store}; systemctl start templo-companion")
    machine.until("the page says why it cannot start", lambda: "cannot start" in machine.answer("/")[1])
    must("on a full disk the companion is up, and its page says why it cannot start", machine.answer("/")[0], "503")
    machine.run(f"systemctl stop templo-companion; umount {store}; systemctl start templo-companion")
    machine.until("the temple counts", machine.counts)
    must("and with room again it has every token", machine.received(), tokens)

    machine.run(
        f"systemctl stop templo-controller; mount --bind {ledger} {ledger}; mount -o remount,bind,ro {ledger}"
    )
    machine.run("systemctl start templo-controller")
    page = "/temples/templo"
    machine.until("the page says so", lambda: "cannot write to its storage" in machine.page(page))
    say("on a read-only disk the controller is up, and the temple's page says so")
    machine.run(f"systemctl stop templo-controller; umount {ledger}; systemctl start templo-controller")
    machine.until("the temple counts", machine.counts)
    drop(machine, 1)

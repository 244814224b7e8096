"""A Debian that runs in a container, and how a stage of `make appliance` looks at it; standard library alone."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests import fresh

BASE = ("ca-certificates", "dbus", "iproute2", "python3", "systemd-sysv", "udev")
"""What every installed Debian has and mmdebstrap's smallest lacks."""

PATIENCE_S = 300.0
UNITS = ("mosquitto", "templo-controller", "templo-companion")
OURS = UNITS[1:]
APT = "DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o Dpkg::Use-Pty=0"
STATE = "--state /var/lib/templo-controller"
SIMULATED = '[beams]\nsource = "simulated"\n'
ASK = """
import sys, urllib.error, urllib.request
path, host = sys.argv[1:]
try:
    asked = urllib.request.Request('http://127.0.0.1' + path, headers={'Host': host})
    answer = urllib.request.urlopen(asked, timeout=20)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.read().decode(), sep='\\n', end='')
"""
"""Asks a page of the machine itself, inside."""


class NotAllowedError(fresh.FreshError):
    """Raised where this machine cannot make or boot a Debian."""


def check_machine() -> None:
    """Raise `NotAllowedError` where a Debian cannot be made and booted."""
    try:
        fresh.check_machine(os.geteuid(), shutil.which, "make appliance")
    except fresh.FreshError as error:
        raise NotAllowedError(str(error)) from None
    for program, package in {"systemd-nspawn": "systemd-container", "nsenter": "util-linux"}.items():
        if shutil.which(program) is None:
            raise NotAllowedError(f"make appliance needs {program}: 'sudo apt-get install {package}' brings it.")


def say(what: str, value: object = "as it must be") -> None:
    """Print one result."""
    print(f"  {what:<72} {value}", flush=True)


def must(what: str, found: object, expected: object = True) -> None:
    """Print what was found; raises `FreshError` where it is something else than what was expected."""
    if found != expected:
        raise fresh.FreshError(f"{what}: found {found!r}; expected {expected!r}")
    say(what)


def run_in(root: fresh.Root, script: str) -> str:
    """Run a script of the shell in a root; returns what it printed, raises `FreshError`."""
    return fresh.run(*root.inside(["sh", "-euc", script], "/srv"), environment=root.environment)


class Machine:
    """A Debian that is running in a container; commands are run inside it."""

    def __init__(self, leader: int, begun: float) -> None:
        self._leader = leader
        self.begun = begun
        """When it was switched on, by the monotonic clock."""

    def attempt(self, script: str, patience_s: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
        """Run a script of the shell inside, however it ends."""
        inside = [
            "nsenter",
            f"--target={self._leader}",
            "--mount",
            "--uts",
            "--ipc",
            "--net",
            "--pid",
            "--root",
            "--wd=/",
        ]
        clean = ["env", "--ignore-environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"]
        return subprocess.run(
            [*inside, *clean, "sh", "-euc", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=patience_s,
            check=False,
        )

    def run(self, script: str) -> str:
        """Run a script; returns what it printed, raises `FreshError` with what it said where it failed."""
        done = self.attempt(script)
        if done.returncode:
            said = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
            raise fresh.FreshError(
                f"{script.strip()!r} ended with exit code {done.returncode}:\n{said}\n{self.journal()}"
            )
        return done.stdout

    def journal(self, *units: str) -> str:
        """Return the end of the log of some units, or of ours."""
        return self.attempt(f"journalctl --no-pager -n 40 {' '.join(f'-u {unit}' for unit in units or UNITS)}").stdout

    def until(self, what: str, true: Callable[[], object], patience_s: float = PATIENCE_S) -> float:
        """Wait until a condition holds; returns the seconds it took."""
        begun = time.monotonic()
        while not true():
            if time.monotonic() - begun > patience_s:
                raise fresh.FreshError(f"{what}: not within {patience_s:.0f} s\n{self.journal()}")
            if not Path(f"/proc/{self._leader}").exists():
                raise fresh.FreshError(f"{what}: the machine has ended")
            time.sleep(0.2)
        return time.monotonic() - begun

    def page(self, path: str, host: str = "127.0.0.1") -> str:
        """Return a page as somebody who names `host` gets it; nothing where it does not answer."""
        status, body = self.answer(path, host)
        return body if status == "200" else ""

    def answer(self, path: str, host: str = "127.0.0.1") -> tuple[str, str]:
        """Return the status and the page, whatever it is; nothing where nobody answers."""
        status, _, body = self.attempt(f"python3 -c {shlex.quote(ASK)} {path} {host}").stdout.partition("\n")
        return status, body

    def counts(self) -> bool:
        """Return whether the page says that the temple counts."""
        return 'templo_temple_up{temple="templo"} 1' in self.page("/metrics")

    def received(self) -> int:
        """Return how many tokens of Tlaloc the companion has stored."""
        found = re.search(
            r'^templo_tokens_received_total\{temple="templo",god="tlaloc"\} (\d+)',
            self.page("/metrics"),
            re.MULTILINE,
        )
        return int(found[1]) if found else 0

    def show(self, unit: str, what: str) -> str:
        """Return a property of a unit."""
        return self.run(f"systemctl show --value --property={what} {unit}").strip()


@contextmanager
def booted(folder: Path) -> Iterator[Machine]:
    """Boot a root in namespaces of its own, without any network; afterwards it is switched off."""
    log = fresh.BUILD / "appliance-console.log"
    command = [
        "systemd-nspawn",
        "--boot",
        "--register=no",
        "--keep-unit",
        "--private-network",
        f"--directory={folder}",
    ]
    begun = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--quiet", "--console=pipe"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        inside: int | None = None
        try:
            leader = leader_of(process, log)
            inside = os.pidfd_open(leader)
            yield Machine(leader, begun)
        finally:
            process.send_signal(signal.SIGTERM)  # it asks the system inside to power off
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if inside is not None:
                with suppress(ProcessLookupError):  # the system inside outlives a systemd-nspawn that was killed
                    signal.pidfd_send_signal(inside, signal.SIGKILL)
                os.close(inside)


def leader_of(process: subprocess.Popen[bytes], log: Path) -> int:
    """Return the process that is the first one inside, once systemd answers; raises `NotAllowedError` if it ends."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if process.poll() is not None:
            said = "\n".join(log.read_text(errors="replace").splitlines()[-5:])
            raise NotAllowedError(f"This machine does not boot a Debian with systemd-nspawn:\n{said}")
        with suppress(OSError, ValueError, IndexError):
            leader = int(children.read_text().split()[-1])
            state = Machine(leader, 0).attempt("systemctl is-system-running 2>/dev/null || true").stdout.strip()
            if state in ("starting", "running", "degraded"):
                return leader
        time.sleep(0.05)
    raise fresh.FreshError(f"the first process inside did not answer; its console is in {log}")


def simulate(machine: Machine) -> None:
    """Let the beams be simulated from the next start on."""
    machine.run(f"printf '%s' '{SIMULATED}' >/etc/templo-mayor/controller.toml")


def drop(machine: Machine, count: int) -> None:
    """Drop tokens; each must reach the companion's store."""
    before = machine.received()
    machine.run(f"templo-controller drop tlaloc --count {count} {STATE}")
    machine.until("every token is stored", lambda: machine.received() == before + count)
    say(f"{count} tokens dropped: all of them in the companion's store")


def status(machine: Machine) -> str:
    """Return what `templo-mayor status` prints."""
    return machine.attempt("templo-mayor status").stdout

"""Installs the Debian packages on a Debian 13, boots it, and looks from outside at what an owner meets.

``make appliance`` is this command: it builds the packages, installs them with apt into a root, boots that with
systemd-nspawn and goes through its life: no network, a network later, another address, each daemon killed, a second
installation, removed, purged, installed once more; each program alone; an upgrade from the last release, and back; a
card that was flashed, with its settings on the boot partition. It prints what it measured. It needs root, mmdebstrap
and systemd-nspawn, and says what is missing; of Python, the standard library alone. There is no GPIO in a container:
after a look at what a temple without its chip says, the beams are simulated.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests import fresh
from tests.appliance import written
from tools import packages

BASE = ("ca-certificates", "dbus", "iproute2", "python3", "systemd-sysv", "udev")
"""What every installed Debian has and mmdebstrap's smallest lacks."""

PATIENCE_S = 300.0
UNITS = ("mosquitto", "templo-controller", "templo-companion")
OURS = UNITS[1:]
EXPOSURE = {"mosquitto": 3.0, **dict.fromkeys((*OURS, "templo-mayor-name"), 1.5), "templo-mayor-backup": 2.5}
TIMERS = ("templo-mayor-backup.timer", "templo-hotspot.timer", "templo-network.socket", "templo-tls-renew.timer")
APT = "DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o Dpkg::Use-Pty=0"
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

RESOLVE = """
import socket, struct, sys, time
name, own = sys.argv[1:]
labels = b''.join(bytes([len(each)]) + each.encode() for each in name.split('.'))
question = struct.pack('>6H', 7, 0, 1, 0, 0, 0) + labels + struct.pack('>x2H', 1, 1)
asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asked.bind((own, 0))
asked.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
asked.settimeout(1)
answers, until = set(), time.monotonic() + 5
while time.monotonic() < until:
    asked.sendto(question, ('224.0.0.251', 5353))
    try:
        while True:
            answer = asked.recv(9000)
            answers |= {socket.inet_ntoa(answer[-4:])} if struct.unpack('>H', answer[6:8])[0] else set()
    except TimeoutError:
        pass
print(*sorted(answers))
"""
"""Asks a network for the address of a `.local` name, as a phone does; prints every answer of five seconds."""

RIVAL = """
[server]
host-name=templo
use-ipv4=yes
use-ipv6=no
enable-dbus=no
[publish]
[rlimits]
"""
"""The configuration of another machine's avahi that is called `templo`, too."""

OPEN = """
import sys, urllib.parse, urllib.request
form = {'game': 'mexica', 'title': sys.argv[1], 'players': '4', 'preset': 'temple_only', 'temple': 'templo'}
urllib.request.urlopen(urllib.request.Request(
    'http://127.0.0.1/tables', urllib.parse.urlencode(form).encode(), {'Origin': 'http://127.0.0.1'}), timeout=60)
"""
"""Opens a table that the temple serves, as a phone does."""

EARLIER = packages.BUILT / "earlier"
"""Where the packages of the last release are."""

STATE = "--state /var/lib/templo-controller"
SIMULATED = '[beams]\nsource = "simulated"\n'


class NotAllowedError(fresh.FreshError):
    """This machine does not let a Debian be made or booted."""


def main(argv: Sequence[str]) -> int:
    """Go through all of it; returns 0 where everything was as it must be."""
    parser = argparse.ArgumentParser(prog="make appliance ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--where-allowed", action="store_true", help="pass where this machine cannot boot a Debian")
    parser.add_argument("--built", action="store_true", help="take the packages that are in build/packages")
    parser.add_argument(
        "--from", dest="earlier", metavar="REVISION", help="the last release; default: by its tag or changelog"
    )
    given = parser.parse_args(argv)
    try:
        check_machine()
        files = sorted(packages.BUILT.glob("*.deb")) if given.built else packages.build()
        if len(files) != len(packages.NAMES):
            raise fresh.FreshError(f"{packages.BUILT} holds {len(files)} packages; run 'make packages' first.")
        earlier = sorted(EARLIER.glob("*.deb")) if given.built else []
        if not earlier:
            earlier = packages.build(revision=given.earlier or packages.last_release(), into=EARLIER)
        with fresh.Root.made(packages.SUITE, purpose="appliance", packages=BASE) as root:
            download(root, files)
            (root.folder / "srv" / "earlier").mkdir()
            for file in earlier:
                shutil.copy(file, root.folder / "srv" / "earlier")
            installed_into(root)
            with booted(root.folder) as machine:
                lived(machine)
            flash(root.folder)
            with booted(root.folder) as machine:
                flashed(machine)
    except NotAllowedError as error:
        print(error, file=sys.stderr)
        return 0 if given.where_allowed else 1
    except fresh.FreshError as error:
        print(error, file=sys.stderr)
        return 1
    print("The appliance is as it must be.")
    return 0


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
    """Print one thing that was looked at."""
    print(f"  {what:<72} {value}", flush=True)


def must(what: str, found: object, expected: object = True) -> None:
    """Print what was found; raises `FreshError` where it is something else than what was expected."""
    if found != expected:
        raise fresh.FreshError(f"{what}: found {found!r}; expected {expected!r}")
    say(what)


# -- the root, not yet booted --


def run_in(root: fresh.Root, script: str) -> str:
    """Run a script of the shell in a root; returns what it printed, raises `FreshError`."""
    return fresh.run(*root.inside(["sh", "-euc", script], "/srv"), environment=root.environment)


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
    for program in OURS:
        run(f"cd /; runuser -u {program} -- {program} --help")
    say("both commands start with Debian's own libraries")


MODES = {
    "/etc/templo-mayor": "755 root",
    "/etc/templo-mayor/controller.env": "600 root",
    "/etc/templo-mayor/companion.env": "600 root",
    "/etc/mosquitto/templo": "700 mosquitto",
    "/etc/mosquitto/templo/passwords": "600 mosquitto",
    "/etc/mosquitto/conf.d/templo.conf": "644 root",
}


def modes(run: Callable[[str], str]) -> dict[str, str]:
    """Return the mode and the owner of each file that must have its own."""
    lines = run(f"stat --format='%n %a %U' {' '.join(MODES)}").splitlines()
    return {name: mode for name, _, mode in (line.partition(" ") for line in lines)}


# -- booted --


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

    def journal(self) -> str:
        """Return the last words of our units."""
        return self.attempt(f"journalctl --no-pager -n 40 {' '.join(f'-u {unit}' for unit in UNITS)}").stdout

    def until(self, what: str, true: Callable[[], object], patience_s: float = PATIENCE_S) -> float:
        """Wait until something is so; returns the seconds it took."""
        begun = time.monotonic()
        while not true():
            if time.monotonic() - begun > patience_s:
                raise fresh.FreshError(f"{what}: not within {patience_s:.0f} s\n{self.journal()}")
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
        try:
            yield Machine(leader_of(process, log), begun)
        finally:
            process.send_signal(signal.SIGTERM)  # it asks the system inside to power off
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


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
    killed(machine)
    full(machine)
    print("Installed again, removed, purged:", flush=True)
    packaged(machine)
    print("One program alone, then the last release, this one, and back:", flush=True)
    alone(machine)
    upgraded(machine)
    downgraded(machine)


def without_beams(machine: Machine) -> None:
    """Look at a temple whose GPIO chip is missing: it says so on its page, and does not loop."""
    page = "/temples/templo"
    machine.until(
        "the page says what is missing", lambda: "finds nothing to read its beams with" in machine.page(page)
    )
    say("without a GPIO chip the temple's page says that it is missing")
    must("and the controller was never restarted", machine.show("templo-controller", "NRestarts"), "0")
    must("and names the cause to systemd", "GPIO" in machine.show("templo-controller", "StatusText"))


def simulate(machine: Machine) -> None:
    """Let the beams be simulated from the next start on."""
    machine.run(f"printf '%s' '{SIMULATED}' >/etc/templo-mayor/controller.toml")


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


def drop(machine: Machine, count: int) -> None:
    """Drop tokens; each must reach the companion's store."""
    before = machine.received()
    machine.run(f"templo-controller drop tlaloc --count {count} {STATE}")
    machine.until("every token is stored", lambda: machine.received() == before + count)
    say(f"{count} tokens dropped: all of them in the companion's store")


def exposed(machine: Machine) -> None:
    """Look at how exposed systemd finds each running unit."""
    for unit in EXPOSURE:
        judged = machine.run(f"systemd-analyze security --no-pager {unit} || true")
        found = re.search(r"Overall exposure level for \S+: ([\d.]+)", judged)
        level = float(found[1]) if found else 10.0
        if level > EXPOSURE[unit]:
            raise fresh.FreshError(f"{unit} has an exposure of {level}; expected {EXPOSURE[unit]} or less")
        say(f"systemd-analyze security of {unit}", level)


def remembered(machine: Machine) -> None:
    """Measure what each unit takes of the memory."""
    total = 0.0
    for unit in UNITS:
        rollup = machine.run(f"cat /proc/{machine.show(unit, 'MainPID')}/smaps_rollup")
        found = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
        kilobytes = int(found[1]) if found else 0
        total += kilobytes / 1024
        say(f"memory of {unit} (PSS)", f"{kilobytes / 1024:.1f} MiB")
    say("memory of all three, of 512 MiB", f"{total:.1f} MiB")


def networks(machine: Machine) -> None:
    """Let a network come after the boot, change its address, and look at what is shown each time."""
    must("without a network `templo-mayor status` says so", "is on no network" in status(machine))
    machine.run("ip link add lan type veth peer name router && ip link set lan up && ip link set router up")
    machine.run("ip address add 192.168.178.20/24 dev lan")
    must("with a network it shows the address at once", "http://192.168.178.20\n" in status(machine))
    machine.run("ip address flush dev lan && ip address add 192.168.178.77/24 dev lan")
    must("and another one when that changes", "http://192.168.178.77\n" in status(machine))
    machine.run("echo 'search fritz.box' >/etc/resolv.conf")
    host = machine.run("hostname").strip().lower()
    time.sleep(6)  # the guard asks for its own names at most every 5 s
    for name in ("192.168.178.77", f"{host}.local", f"{host}.fritz.box", host):
        must(f"the page answers to {name}", "Templo Mayor" in machine.page("/", name))
    must("and to no stranger's name", machine.page("/", "evil.example"), "")


SECURE = """
import ssl, sys, urllib.request
trusting = ssl.create_default_context(cafile='/etc/templo-mayor/tls/authority.pem')
print(urllib.request.urlopen(f'https://{sys.argv[1]}/', timeout=20, context=trusting).read().decode())
"""
"""Asks the first page over TLS, as somebody who trusts the authority."""


def secured(machine: Machine) -> None:
    """Switch TLS on, change the address, and switch it off again."""

    def page(host: str) -> str:
        return machine.attempt(f"python3 -c {shlex.quote(SECURE)} {host}").stdout

    machine.run(f"{APT} install haproxy openssl")
    must("`templo-mayor tls` says how a phone trusts it", "/trust" in machine.run("templo-mayor tls"))
    machine.until("the companion answers again", lambda: machine.page("/"))
    must("who trusts the authority gets the page over TLS", "Templo Mayor" in page("192.168.178.77"))
    judged = machine.run("systemd-analyze security --no-pager templo-tls || true")
    must(
        "templo-tls has an exposure of 1.5 or less", float(judged.split("templo-tls.service: ")[1].split()[0]) <= 1.5
    )
    machine.run("ip address add 192.168.178.78/24 dev lan && systemctl start templo-tls-renew.service")
    machine.until("the certificate has the new address", lambda: "Templo Mayor" in page("192.168.178.78"))
    say("another address: the certificate was renewed for it")
    must("plain http serves the same page", "Templo Mayor" in machine.page("/", "192.168.178.77"))
    machine.run("templo-mayor tls off && ip address delete 192.168.178.78/24 dev lan")
    must("switched off, nothing answers over TLS", page("192.168.178.77"), "")
    machine.until("the temple counts", machine.counts)


def named(machine: Machine) -> None:
    """Ask for `templo.local` from the other end of the network, and let another machine have it first."""
    machine.run("ip netns add other && ip link set router netns other")
    machine.run("ip netns exec other ip address add 192.168.178.1/24 dev router")
    machine.run("ip netns exec other ip link set lo up && ip netns exec other ip link set router up")
    machine.run("systemctl restart avahi-daemon")

    def resolved(name: str) -> str:
        return machine.run(
            f"ip netns exec other python3 -c {shlex.quote(RESOLVE)} {name} 192.168.178.1 || true"
        ).strip()

    def reported() -> str:
        return machine.show("templo-mayor-name", "StatusText")

    machine.until("templo.local leads to this machine", lambda: resolved("templo.local") == "192.168.178.77")
    machine.until("the unit reports it", lambda: reported() == "announced as templo.local")
    say("templo.local leads to this machine, also after avahi was started anew")
    must("and the page answers to it", "Templo Mayor" in machine.page("/", "templo.local"))
    must("and `templo-mayor status` shows it", "http://templo.local\n" in status(machine))
    machine.run("systemctl stop templo-mayor-name")
    machine.run(f"printf '%s' {shlex.quote(RIVAL)} >/run/rival.conf")
    machine.run(
        "systemd-run --unit=rival --quiet --property=NetworkNamespacePath=/run/netns/other "
        "--property='TemporaryFileSystem=/run/avahi-daemon /etc/avahi/services' "
        "avahi-daemon --file=/run/rival.conf --no-drop-root --no-chroot"
    )
    machine.until("the other machine has the name", lambda: resolved("templo.local") == "192.168.178.1")
    machine.run("systemctl start templo-mayor-name")
    machine.until("the alias is given up", lambda: "another machine" in reported())
    must("a name that another machine has is left to it", resolved("templo.local"), "192.168.178.1")
    host = machine.run("hostname").strip().lower()
    must("and this machine has its own name as before", resolved(f"{host}.local"), "192.168.178.77")
    must("which alone is shown", "http://templo.local" in status(machine), False)
    machine.run("systemctl stop rival; systemctl restart templo-mayor-name")
    machine.until("the alias is announced again", lambda: reported() == "announced as templo.local")
    say("and when it is free it is announced again")


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


def as_written(machine: Machine) -> None:
    """Run every command that the docs give to an owner, as it is written there."""
    machine.run("echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/90yes")  # whoever reads the page says so
    machine.run(f"mkdir -p /media/usb; {APT} install openssl mosquitto-clients")
    machine.run(
        "cd /srv; openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=temple.example "
        "-addext subjectAltName=DNS:temple.example -keyout privkey.pem -out fullchain.pem"
    )
    ran = 0
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
            if command.startswith(("templo-mayor restore", "apt install")):
                machine.until(
                    "the temple is back", lambda: machine.counts() or "backup" in machine.page("/temples/templo")
                )
                machine.attempt(f"templo-controller dismiss backup_restored {STATE}")
            machine.until("the temple counts", machine.counts)
    machine.run("rm /etc/apt/apt.conf.d/90yes")
    say("commands of the docs that do what they say", ran)


def status(machine: Machine) -> str:
    """Return what `templo-mayor status` prints."""
    return machine.attempt("templo-mayor status").stdout


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
    machine.run(f"cd /srv; {APT} install ./templo-mayor_*.deb")
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
    """Leave what a newer release leaves, and do what the pages say."""
    store, ledger = "/var/lib/templo-companion/companion.sqlite", "/var/lib/templo-controller/ledger.sqlite3"
    newer = (
        int(machine.run("sed -n 's/^SCHEMA = //p' /usr/share/templo-mayor/companion/adapters/database/schema.py")) + 1
    )
    copy, tokens = f"{store}.before-schema-{newer}", machine.received()
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
    machine.until("the page says why", lambda: copy in machine.answer("/")[1])
    time.sleep(8)  # several restarts, if there were any
    code, page = machine.answer("/")
    must(
        "with a newer release's store the page says why, and names the copy",
        (code, "go back to" in page),
        ("503", True),
    )
    for unit in OURS:
        must(f"{unit} is not restarted", machine.show(unit, "NRestarts"), "0")
    machine.run(f"systemctl stop templo-companion; mv {store} /srv; rm -f {store}-wal {store}-shm; mv {copy} {store}")
    machine.run("systemctl start templo-companion")
    temple = "/temples/templo"
    machine.until("the temple's page says so", lambda: "A newer release wrote" in machine.page(temple))
    say("done as the page says, the pages are back, and the temple's says that its ledger is newer")
    machine.run(f"systemctl stop templo-controller; cp -p /srv/ledger {ledger}; systemctl start templo-controller")
    machine.until("the temple counts", machine.counts)
    must("and with its own ledger every token is there", machine.received(), tokens)
    drop(machine, 1)


def flash(folder: Path) -> None:
    """Make a root what a flashed card is: without passwords, with settings on its boot partition."""
    for file in (*(folder / "etc/templo-mayor").glob("*.env"), folder / "etc/mosquitto/templo/passwords"):
        file.unlink()
    (folder / "boot/firmware").mkdir(parents=True, exist_ok=True)
    (folder / "boot/firmware/templo-mayor.toml").write_text(
        'name = "attic"\n[beams]\nsource = "simulated"\ntlaloc = 99\n'
    )


def flashed(machine: Machine) -> None:
    """Boot a flashed card whose settings are wrong, then right."""
    print("A flashed card, with its settings on the boot partition:", flush=True)
    machine.until("the page answers", lambda: "Templo Mayor" in machine.page("/"))
    must("a wrong setting stands on the first page", "beams.tlaloc is 99" in machine.page("/"))
    must("and in `templo-mayor status`", "beams.tlaloc is 99" in status(machine))
    must("and in a file beside it", "99" in machine.run("cat /boot/firmware/templo-mayor.error.txt"))
    must("the card made passwords of its own", machine.run("ls /etc/templo-mayor/*.env | wc -l").strip(), "4")
    machine.run("sed -i s/99/22/ /boot/firmware/templo-mayor.toml")
    machine.run("systemctl restart templo-mayor-boot mosquitto templo-controller templo-companion")
    machine.until("it counts", lambda: 'templo_temple_up{temple="attic"} 1' in machine.page("/metrics"))
    must("with it mended, the temple has its name and counts; the file is set aside", machine.run(
        "ls /boot/firmware").split(), ["templo-mayor.applied.toml"])  # fmt: skip


def leftovers(machine: Machine, folders: str) -> list[str]:
    """Return what is named after us below some folders, but for what apt and systemd remember of any package."""
    found = machine.run(f"find {folders} -xdev -name '*templo*' 2>/dev/null || true").split()
    remembered = ("/var/cache/apt/", "/var/lib/systemd/", "/run/credentials/", "/var/cache/debconf")
    return [each for each in found if not each.startswith(remembered)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

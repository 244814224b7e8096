"""`templo-mayor club-site`: adds, lists and removes the clubs that this machine hosts, each with its own companion.

A club is a user of this machine, a folder of settings, a folder of state, users and a port at the broker, and a
socket that starts its companion.
"""

from __future__ import annotations

import pwd
import re
import secrets
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from companion.adapters.owner import ORGANISER_FILE, make_owner, owner_in
from companion.settings import WebSettings
from templo import files

SETTINGS = "companion.toml"
WEB_PORT, BROKER_PORT = 8101, 18831
"""The ports of the first club; any other has a later one of both, and the same distance between them."""

MEBIBYTE = 1_048_576
PATIENCE_S = 120

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,15}")
_PORT = re.compile(r"^TEMPLO_BROKER_PORT=([0-9]+)$", re.MULTILINE)
_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#\"\\]*)?")


class ClubError(Exception):
    """What keeps a club from being added or removed; the message says what and why."""


class Machine(Struct, frozen=True):
    """Where everything of the clubs is, and what runs the commands of the system.

    `run` runs a command and returns what it prints; it raises `ClubError` if the command fails.
    """

    settings: Path
    states: Path
    units: Path
    run: Callable[..., str]


class Club(Struct, frozen=True):
    """One club that this machine hosts."""

    machine: Machine
    name: str

    @property
    def user(self) -> str:
        """Who its companion runs as."""
        return f"templo-club-{self.name}"

    @property
    def unit(self) -> str:
        """The unit of its companion, and of its socket, without their kind."""
        return f"templo-club@{self.name}"

    @property
    def folder(self) -> Path:
        """Its settings and passwords."""
        return self.machine.settings / self.name

    @property
    def state(self) -> Path:
        """Everything that it stores."""
        return self.machine.states / self.name

    @property
    def drop_in(self) -> Path:
        """The file with the port of its socket."""
        return self.machine.units / f"{self.unit}.socket.d" / "port.conf"

    @property
    def broker_port(self) -> int:
        """The broker's port for its users; raises `ClubError`."""
        file = self.folder / "companion.env"
        found = _PORT.search(file.read_text("utf-8")) if file.exists() else None
        if found is None:
            raise ClubError(f"{file} names no port of the broker; expected what templo-broker-access --club wrote")
        return int(found[1])

    @property
    def web_port(self) -> int:
        """The port at which its pages are on this machine, for a proxy."""
        return WEB_PORT + self.broker_port - BROKER_PORT

    @property
    def address(self) -> str:
        """The address of its pages, from its settings; empty if these cannot be read."""
        with suppress(OSError, ValueError, LookupError, TypeError):
            return str(tomllib.loads((self.folder / SETTINGS).read_text("utf-8"))["web"]["address"])
        return ""


def installed() -> Machine:
    """Return this machine."""
    return Machine(
        Path("/etc/templo-mayor/clubs"), Path("/var/lib/templo-club"), Path("/etc/systemd/system"), run_command
    )


def run_command(*words: str) -> str:
    """Run a command of the system and return what it prints; raises `ClubError`."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClubError(f"{words[0]} cannot be run: {error}") from None
    if done.returncode:
        raise ClubError(f"{' '.join(words)} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def add(machine: Machine, name: str, address: str) -> list[str]:
    """Add a club whose pages a proxy serves at an address, and return what to print; raises `ClubError`."""
    club, host = _named(machine, name), _host_of(address)
    if club.folder.exists() or club.state.exists():
        raise ClubError(
            f"there is a club {name}; expected another name, or 'templo-mayor club-site remove {name}' first"
        )
    try:
        pwd.getpwnam(club.user)
    except KeyError:
        own = ("--system", "--user-group", "--no-create-home", "--home-dir", str(club.state))
        machine.run("useradd", *own, "--shell", "/usr/sbin/nologin", club.user)
    machine.run("templo-broker-access", "--again", "--club", name)
    try:
        code = _make_files(club, address.rstrip("/"), host)
    except OSError as error:
        raise ClubError(
            f"{name} is not added: {error}. 'templo-mayor club-site remove {name}' clears it away"
        ) from None
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "enable", "--now", f"{club.unit}.socket")
    machine.run("systemctl", "restart", "mosquitto.service")
    return [
        f"Added {name}. Its pages are at {address}, where a proxy passes them on to 127.0.0.1:{club.web_port}.",
        f"Its organiser's code is {code}. Its broker is this machine's port {club.broker_port}.",
        f"For a temple of its own: sudo templo-broker-access --again --club {name} --temple attic,",
        "and then: sudo systemctl reload mosquitto",
        "For haproxy, the first line in the frontend that has the certificate:",
        *_for_haproxy(club, host, address),
    ]


def remove(machine: Machine, name: str) -> list[str]:
    """Remove a club with everything that it has stored, and return what to print; raises `ClubError`."""
    club = _named(machine, name)
    if not club.folder.exists() and not club.state.exists():
        raise ClubError(f"there is no club {name}; expected one of {', '.join(_names(machine)) or 'none'}")
    machine.run("systemctl", "disable", "--now", f"{club.unit}.socket")
    machine.run("systemctl", "stop", f"{club.unit}.service")
    has_users = (club.folder / "companion.env").exists()
    try:
        for folder in (club.state, club.drop_in.parent):
            if folder.exists():
                shutil.rmtree(folder)
        if not has_users and club.folder.exists():
            shutil.rmtree(club.folder)
    except OSError as error:
        raise ClubError(f"{name} is not wholly removed: {error}. Mend that, and type the command again") from None
    if has_users:
        machine.run("templo-broker-access", "--again", "--remove-club", name)
    with suppress(KeyError):
        pwd.getpwnam(club.user)
        machine.run("userdel", club.user)
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", "mosquitto.service")
    return [f"Removed {name}: tables, tokens, people, settings and users of the broker."]


def question(machine: Machine, name: str) -> str:
    """Return what to ask before a club is removed."""
    state = _named(machine, name).state
    return f"This removes {name} with everything in {state}, for good. Go on? [y/N] "


def listed(machine: Machine) -> list[str]:
    """Return a line for each club."""
    lines = []
    for name in _names(machine):
        club = Club(machine, name)
        runs = machine.run("systemctl", "show", "--property=ActiveState", "--value", f"{club.unit}.service").strip()
        stored = sum(path.stat().st_size for path in club.state.rglob("*") if path.is_file()) / MEBIBYTE
        code = owner_in(club.state / ORGANISER_FILE)
        lines.append(
            f"{name}: {club.address or 'no address'}, {'asleep' if runs == 'inactive' else runs}, pages at "
            f"127.0.0.1:{club.web_port}, broker at port {club.broker_port}, {stored:.1f} MiB stored, "
            f"organiser's code {code.code if code else 'unknown'}"
        )
    return lines or ["This machine hosts no clubs."]


def _named(machine: Machine, name: str) -> Club:
    if not _NAME.fullmatch(name):
        raise ClubError(
            f"{name!r} is no club's name; expected 1 to 16 lower-case letters, digits and hyphens, not starting with "
            "a hyphen"
        )
    return Club(machine, name)


def _names(machine: Machine) -> list[str]:
    return sorted(path.parent.name for path in machine.settings.glob("*/companion.env"))


def _host_of(address: str) -> str:
    """Return the host of an address; raises `ClubError`."""
    host = ""
    if _ADDRESS.fullmatch(address):
        with suppress(ValueError):
            host = urlsplit(address).hostname or ""
    if not host:
        raise ClubError(
            f"address is {address!r}; expected one such as https://club-a.example or https://example.org/a"
        )
    return host


def _make_files(club: Club, address: str, host: str) -> str:
    """Write the settings, the folder of the state and the port of the socket; return the organiser's code."""
    settings = club.folder / SETTINGS
    text = f'# The club {club.name}: docs/settings.md has all settings.\n\n[web]\naddress = "{address}"\n'
    files.write_whole(settings, f'{text}allowed_hosts = ["{host}"]\n'.encode())
    shutil.chown(settings, group=club.user)
    settings.chmod(0o640)
    club.state.parent.mkdir(mode=0o755, exist_ok=True)
    club.state.mkdir(mode=0o700)
    code = make_owner(club.state / ORGANISER_FILE, secrets.token_bytes).code
    for path in (club.state, club.state / ORGANISER_FILE):
        shutil.chown(path, club.user, club.user)
    club.drop_in.parent.mkdir(parents=True, exist_ok=True)
    club.drop_in.write_text(f"[Socket]\nListenStream=127.0.0.1:{club.web_port}\n", "utf-8")
    return code


def _for_haproxy(club: Club, host: str, address: str) -> Sequence[str]:
    """Return the lines by which haproxy passes a club's pages on."""
    named, path = f"{{ hdr(host),field(1,:) -i {host} }}", WebSettings(address=address).path
    chosen = f"{named} {{ path {path} }} or {named} {{ path_beg {path}/ }}" if path else named
    return (
        f"    use_backend {club.name} if {chosen}",
        f"backend {club.name}",
        "    http-request set-header X-Forwarded-For %[src]",
        f"    http-request set-header X-Forwarded-Proto {urlsplit(address).scheme}",
        "    timeout server 60s",
        "    option http-server-close",
        "    http-reuse never",
        f"    server companion 127.0.0.1:{club.web_port}",
    )

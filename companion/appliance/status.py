"""The status of the installed temple: what runs, where phones find it, and what to do next."""

from __future__ import annotations

import ipaddress
import re
import shlex
import subprocess
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from companion import settings as configuration
from companion.adapters import boot_fault, known_update
from companion.adapters.network.addresses import ALIAS, ANNOUNCED, announced_name, own_addresses, phone_addresses
from companion.adapters.network.network_manager import look as look_at_network
from companion.adapters.owner import FILE, ORGANISER_FILE, owner_in
from companion.appliance import tls
from companion.model.network import Hotspot
from templo import __version__
from templo.codes import grouped

UNITS = {"broker": "mosquitto", "controller": "templo-controller", "companion": "templo-companion"}
"""What an installation runs, by its role, and the unit of each in the order of their start."""

STATE = Path("/var/lib/templo-companion")
SETTINGS = Path("/etc/templo-mayor/companion.toml")
"""The companion's settings, which root and the companion alone may read where the boot partition brought them."""

NIGHTLY = "templo-mayor-backup"
"""The unit that makes a backup every night."""

NAME = "templo-mayor-name"
"""The unit that announces the alias."""

ANSWER_S = 10.0
LOOPBACK = "127.0.0.1"
_STATES = {True: "counts", False: "does not count", None: "is not connected"}
_UP = re.compile(r'^templo_temple_up\{temple="([^"]+)"\} ([01])$', re.MULTILINE)
_TROUBLE = re.compile(r'^templo_temple_trouble\{temple="([^"]+)",', re.MULTILINE)


class Installation(Struct, frozen=True):
    """What could be learned of the installed temple.

    `units` is systemd's word for the state of each unit, by its role. `pages` are the addresses that a phone may
    open, the likeliest first. `temples` says of each temple that the companion knows whether it counts, and none of
    one that is not connected; it is none itself where the page does not answer.
    """

    units: Mapping[str, str]
    pages: Sequence[str]
    temples: Mapping[str, bool | None] | None
    reasons: Mapping[str, str] = field(default_factory=dict)
    secure: Sequence[str] = ()
    """The same pages over TLS, for phones that trust the authority."""
    hotspot: Hotspot | None = None
    """The Wi-Fi of this machine's own, while it is open and this user may know its password."""
    owner: str = ""
    """The code for the settings on the page; empty if this user may not read it."""
    organiser: str = ""
    """The code for the page that shows all tables; empty if this user may not read it."""
    backup_failed: bool = False
    boot_fault: str = ""
    boot_kept: str = ""
    update: str = ""
    """The newer release that apt knows."""
    since: datetime | None = None
    """Since when every unit that runs has been running."""
    has_ipv6: bool = False
    """Whether other networks reach this machine by IPv6, which the pages do not answer."""
    has_secrets: bool = False
    """Whether a code or a password was left out."""

    @property
    def is_well(self) -> bool:
        """Whether nobody has to do anything."""
        asked_for = self.boot_fault or self.boot_kept or self.backup_failed or self.is_in_trouble
        return self.counts and bool(self.pages) and not asked_for

    @property
    def counts(self) -> bool:
        """Whether everything runs and a temple counts."""
        return set(self.units.values()) == {"active"} and any((self.temples or {}).values())

    @property
    def is_in_trouble(self) -> bool:
        """Whether a temple is connected and does not count; one that is switched off bothers nobody."""
        return False in (self.temples or {}).values()


def web_settings(systemd: Callable[..., str]) -> configuration.WebSettings:
    """Return the settings of the installed companion's pages; raises `SettingsError`."""
    environment = systemd("show", "--property=Environment", "--value", UNITS["companion"])
    given = dict(each.split("=", 1) for each in shlex.split(environment) if "=" in each)
    system = {"XDG_CONFIG_HOME": "/nonexistent"}  # the daemon has no home: what configures it is in /etc
    return configuration.load(None, system | given, {}, Path("/")).web


def look(systemd: Callable[..., str], fetch: Callable[[int], str | None], serves_tls: bool = False) -> Installation:
    """Learn how everything is.

    `systemd` runs systemctl with words and returns what it prints; `fetch` returns the metrics that the companion
    shows at a port, or none if nothing answers. `serves_tls` says whether the pages are served over TLS as well.
    """
    running = {**UNITS, **({"tls": tls.UNIT} if serves_tls else {})}
    states = systemd("is-active", *running.values()).split("\n")
    web = web_settings(systemd)
    found = fetch(web.port)
    units = {role: state for role, state in zip(running, states, strict=False) if state}
    reasons = {
        role: systemd("show", "--property=StatusText", "--value", running[role])
        for role, state in units.items()
        if state == "failed"
    }
    found_at = pages_now(web, systemd)
    hotspot = look_at_network(secrets=True).hotspot
    owner, organiser = owner_in(STATE / FILE), owner_in(STATE / ORGANISER_FILE)
    return Installation(
        units,
        found_at,
        None if found is None else _counting(found),
        {role: reason for role, reason in reasons.items() if reason},
        secure=[page.replace("http://", "https://").removesuffix(f":{web.port}") for page in found_at]
        if serves_tls
        else (),
        hotspot=hotspot if hotspot and hotspot.on else None,
        owner=owner.code if owner else "",
        organiser=organiser.code if organiser else "",
        backup_failed=systemd("is-failed", NIGHTLY) == "failed",
        boot_fault=boot_fault.read(),
        boot_kept=boot_fault.read_kept(),
        update=known_update.read(),
        since=_since(systemd("show", "--property=ActiveEnterTimestamp", "--timestamp=unix", *running.values())),
        has_ipv6=reaches_by_ipv6(own_addresses()),
    )


def _since(printed: str) -> datetime | None:
    r"""Return the last of the times that systemctl prints.

    >>> _since("ActiveEnterTimestamp=@1795903200\n\nActiveEnterTimestamp=@1795900000").timestamp()
    1795903200.0
    """
    times = [int(each) for each in re.findall(r"=@(\d+)", printed)]
    return datetime.fromtimestamp(max(times), UTC).astimezone() if times else None


def without_secrets(found: Installation) -> Installation:
    """Return what anybody may read, such as in a log."""
    has_secrets = bool(found.owner or found.organiser or found.hotspot)
    return replace(found, owner="", organiser="", hotspot=None, has_secrets=has_secrets)


def reaches_by_ipv6(addresses: Sequence[str]) -> bool:
    """Return whether an address is one of IPv6 that leads further than this machine and its link."""
    found = [ipaddress.ip_address(each) for each in addresses]
    return any(each.version == 6 and not each.is_loopback and not each.is_link_local for each in found)


def _counting(metrics: str) -> dict[str, bool | None]:
    """Return of each temple whether nothing keeps it from recording tokens, or none where it is not connected."""
    troubled = _TROUBLE.findall(metrics)
    return {temple: temple not in troubled if up == "1" else None for temple, up in _UP.findall(metrics)}


def pages_now(web: configuration.WebSettings, systemd: Callable[..., str]) -> list[str]:
    """Return where phones find the pages of this machine now; `systemd` is as in `look`."""
    alias = systemd("show", "--property=StatusText", "--value", NAME) == ANNOUNCED
    return pages(web, phone_addresses(), announced_name(), alias)


def pages(web: configuration.WebSettings, addresses: Sequence[str], name: str, alias: bool = False) -> list[str]:
    """Return where phones find the pages: at the address that is set or listened on, else at all of the machine's.

    `name` is the one that is announced, or nothing; `alias` is whether the alias leads here.

    >>> pages(configuration.WebSettings(port=80), ["192.168.1.7"], "raspberrypi.local", alias=True)
    ['http://192.168.1.7', 'http://templo.local', 'http://raspberrypi.local']
    """
    if web.address or web.only_host:
        return [web.address.rstrip("/") or web.url(web.only_host)]
    outer = [each for each in addresses if each != LOOPBACK]
    names = [each for each in dict.fromkeys([ALIAS, name] if alias else [name]) if each] if outer else []
    return [web.url(each) for each in (*outer, *names)]


def described(found: Installation, code: Callable[[str], Sequence[str]]) -> list[str]:
    """Return the lines that a person reads; `code` draws a QR code, or nothing if it cannot be shown.

    Whether all is well is said below the code, which may fill a terminal.
    """
    lines = [f"Templo Mayor {__version__}", ""]
    lines += [f"  {role:<11} {state}" for role, state in found.units.items()]
    for temple, counts in (found.temples or {}).items():
        lines.append(f"  {temple:<11} {_STATES[counts]}")
    if found.pages:
        lines += [
            "",
            *(
                f"  {'or  ' if n else 'On a phone in the same network  ':>32}{each}"
                for n, each in enumerate(found.pages)
            ),
        ]
        if found.secure:
            lines.append(f"  or, where the authority is trusted  {found.secure[0]}  ({found.pages[0]}/trust)")
        if found.owner:
            lines.append(f"  The owner's code, for settings on the page  {grouped(found.owner, 4)}")
        if found.organiser:
            lines.append(f"  The organiser's code, for {found.pages[0]}/organiser  {grouped(found.organiser, 4)}")
        if found.has_secrets:
            lines.append(
                "  'sudo templo-mayor status' shows the owner's code, the organiser's code and the hotspot's password"
            )
        if found.hotspot:
            lines.append(f"  First join the Wi-Fi {found.hotspot.name}, password {found.hotspot.password}")
        for text in (*([found.hotspot.as_qr()] if found.hotspot else []), found.pages[0]):
            if drawn := code(text):
                lines += ["", *(f"  {row}" for row in drawn)]
    todo = _next(found)
    if found.boot_fault:
        todo.insert(0, f"The settings on the boot partition were not applied: {found.boot_fault}")
    if found.boot_kept:
        todo.append(found.boot_kept)
    if found.backup_failed:
        todo.append(f"The last nightly backup failed: 'sudo journalctl -n 30 -u {NIGHTLY}' says why.")
    if found.update:
        todo.append(f"Release {found.update} is there: 'sudo apt upgrade' installs it, with no game running.")
    since = f" since {found.since:%F %H:%M}" if found.since else ""
    return [*lines, "", f"All is well{since}." if found.is_well else "To do:", *(f"  {each}" for each in todo)]


def _next(found: Installation) -> list[str]:
    """Return what to do now, the first thing first."""
    units = {**UNITS, "tls": tls.UNIT}
    todo = [
        f"The {role} {found.reasons[role]}. After you have mended that: 'sudo systemctl restart {units[role]}'."
        if role in found.reasons
        else f"The {role} is not running ({state}): 'sudo journalctl -n 30 -u {units[role]}' says why."
        for role, state in found.units.items()
        if state != "active"
    ]
    if not found.pages and found.has_ipv6:
        todo.append("This machine has no IPv4 address; the pages need one.")
    elif not found.pages:
        todo.append("This machine is on no network: plug in a cable, or choose a Wi-Fi with 'sudo nmtui'.")
    if todo:
        return todo
    if found.temples is None:
        return ["The page does not answer: 'sudo journalctl -n 30 -u templo-companion' says why."]
    if not found.temples:
        return ["No temple has connected yet: 'sudo journalctl -n 30 -u templo-controller' says why."]
    where = f"{found.pages[0]}/temples"
    if found.is_in_trouble or not found.counts:
        return [f"{where} says what is wrong with the temple, and what to do."]
    return [f"Prove the beams: drop a token through each slot and watch {where}", f"Then play: open {found.pages[0]}"]


def systemctl(*arguments: str) -> str:
    """Return what systemctl prints; nothing if there is none."""
    try:
        done = subprocess.run(["systemctl", *arguments], capture_output=True, text=True, check=False, timeout=60)  # noqa: S603, S607
    except OSError:
        return ""
    return done.stdout.strip()


def metrics(port: int) -> str | None:
    """Return the companion's metrics, or nothing if it does not answer."""
    try:
        with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/metrics", timeout=ANSWER_S) as answer:
            return str(answer.read().decode())
    except (OSError, ValueError):
        return None

"""NetworkManager, through `nmcli`: the network that this machine is on, a Wi-Fi to join, and its own hotspot.

Anybody may read the state; only root may change something or read a password.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from companion.model.network import Hotspot, Network, NetworkRefused, Wifi
from templo.codes import CODE_LETTERS

PATIENCE_S = 20
JOINING_S = 60
"""How long NetworkManager may take to join a Wi-Fi, or to open one."""

HOTSPOT = "templo-mayor-hotspot"
"""The connection of NetworkManager by which this machine opens a Wi-Fi of its own."""

HOTSPOT_NAME = "Templo Mayor"
HOTSPOT_ADDRESS = "10.42.0.1"
"""What NetworkManager gives itself on a connection that it shares; the address is set all the same."""

LEASES = Path("/var/lib/NetworkManager")
"""Where NetworkManager's dnsmasq notes which devices it gave an address, a file for each interface."""

_PASSWORD = re.compile(r"[ -~]{8,63}|[0-9A-Fa-f]{64}")
_UUID = re.compile(r"\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)")

log = logging.getLogger(__name__)


class NetworkError(NetworkRefused):
    """NetworkManager did not do what was asked; the message is its own."""


def look(secrets: bool = False) -> Network:
    """Return what NetworkManager says now; the hotspot is among it where secrets are asked for."""
    if shutil.which("nmcli") is None:
        return Network()
    try:
        devices = list(_rows("device", "status", fields=("TYPE", "STATE", "CONNECTION")))
        seen = list(
            _rows("device", "wifi", "list", "--rescan", "no", fields=("IN-USE", "SSID", "SIGNAL", "SECURITY"))
        )
    except NetworkError as error:
        log.warning("NetworkManager does not answer: %s", error)
        return Network()
    connected = {(kind, connection) for kind, state, connection in devices if state.startswith("connected")}
    is_open = ("wifi", HOTSPOT) in connected
    names = [name for in_use, name, _, _ in seen if in_use == "*" and name]
    return Network(
        managed=True,
        wired=any(kind == "ethernet" for kind, _ in connected),
        wifi="" if is_open or not names else names[0],
        has_wifi=any(kind == "wifi" for kind, _, _ in devices),
        busy=any(kind == "wifi" and state.startswith("connecting") for kind, state, _ in devices),
        in_reach=tuple(each for each in _strongest(seen) if each.name != HOTSPOT_NAME),
        hotspot=_hotspot(is_open) if secrets else None,
    )


def join(name: str, password: str) -> None:
    """Join a Wi-Fi, and keep to it from then on; its password is empty if it needs none.

    If that fails, NetworkManager returns to what it was on, or the hotspot is opened again. Raises `NetworkError`.
    """
    check(name, password)
    hotspot_was_open = look(secrets=True).hotspot_is_open
    arguments = ["connection", "add", "type", "wifi", "con-name", name, "ifname", "*", "ssid", name]
    if password:
        arguments += ["wifi-sec.key-mgmt", "sae" if _wants_sae(name) else "wpa-psk", "wifi-sec.psk", password]
    added = _UUID.search(nmcli(*arguments))
    if not added:
        raise NetworkError("nmcli added a connection and did not say which; expected its UUID in brackets")
    try:
        nmcli("--wait", str(JOINING_S), "connection", "up", "uuid", added[1])
    except NetworkError:
        nmcli("connection", "delete", "uuid", added[1])
        if hotspot_was_open:
            open_hotspot()
        raise
    for uuid, kind, other in _rows("connection", "show", fields=("UUID", "TYPE", "NAME")):
        if (kind, other) == ("802-11-wireless", name) and uuid != added[1]:
            nmcli("connection", "delete", "uuid", uuid)  # with the earlier password


def check(name: str, password: str) -> None:
    """Raise `NetworkError` for what can be no name or no password of a Wi-Fi."""
    if not 1 <= len(name.encode()) <= 32 or not name.isprintable():
        raise NetworkError(f"{name[:40]!r} is no name of a Wi-Fi; expected 1 to 32 bytes without control characters")
    if password and not _PASSWORD.fullmatch(password):
        raise NetworkError("that is no password of a Wi-Fi; expected 8 to 63 characters, or 64 hexadecimal digits")


def prepare_hotspot(entropy: Callable[[int], bytes]) -> None:
    """Make the hotspot's connection with a password of its own, unless there is one. Raises `NetworkError`.

    `entropy` returns that many random bytes.
    """
    if _hotspot(is_open=False) is not None:
        return
    letters = "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in entropy(10))
    nmcli(
        *("connection", "add", "type", "wifi", "con-name", HOTSPOT, "ifname", "*", "autoconnect", "no"),
        *("ssid", HOTSPOT_NAME, "802-11-wireless.mode", "ap", "802-11-wireless.band", "bg"),
        *("ipv4.method", "shared", "ipv4.addresses", f"{HOTSPOT_ADDRESS}/24", "ipv6.method", "disabled"),
        *("wifi-sec.key-mgmt", "wpa-psk", "wifi-sec.psk", f"{letters[:5]}-{letters[5:]}"),
    )


def open_hotspot() -> None:
    """Open the hotspot; raises `NetworkError`."""
    nmcli("--wait", str(JOINING_S), "connection", "up", "id", HOTSPOT)


def close_hotspot() -> None:
    """Close the hotspot, so that NetworkManager may join a Wi-Fi that it knows; raises `NetworkError`."""
    nmcli("connection", "down", "id", HOTSPOT)


def knows_wifi() -> bool:
    """Return whether NetworkManager has a Wi-Fi to join by itself; raises `NetworkError`."""
    return any(
        (kind, automatic) == ("802-11-wireless", "yes") and name != HOTSPOT
        for kind, automatic, name in _rows("connection", "show", fields=("TYPE", "AUTOCONNECT", "NAME"))
    )


def guests(now: float, leases: Path = LEASES) -> int:
    """Return how many devices have an address from the hotspot at a time, in seconds since 1970."""
    ends: list[int] = []
    for file in leases.glob("dnsmasq-*.leases"):
        with suppress(FileNotFoundError):  # it goes with its interface
            ends += [_number(line.partition(" ")[0]) for line in file.read_text(errors="replace").splitlines()]
    return sum(end > now for end in ends)


def _hotspot(is_open: bool) -> Hotspot | None:
    fields = "802-11-wireless.ssid,802-11-wireless-security.psk"
    try:
        arguments = ("--show-secrets", "--escape", "no", "--get-values", fields, "connection", "show", "id", HOTSPOT)
        name, password = nmcli(*arguments).splitlines()[:2]
    except (NetworkError, ValueError):
        return None
    return Hotspot(name, password, is_open) if password else None


def _wants_sae(name: str) -> bool:
    """Return whether a Wi-Fi that was seen takes WPA3 alone."""
    kinds = [security.split() for found, security in _rows(*_LIST, fields=("SSID", "SECURITY")) if found == name]
    return bool(kinds) and all("WPA3" in each and "WPA2" not in each for each in kinds)


_LIST = ("device", "wifi", "list", "--rescan", "no")


def _strongest(seen: list[list[str]]) -> Iterator[Wifi]:
    """Yield each Wi-Fi once, by its strongest access point, the strongest first; one without a name is left out."""
    named = sorted((each for each in seen if each[1]), key=lambda each: -_number(each[2]))
    known = set()
    for _, name, signal, security in named:
        if name not in known:
            known.add(name)
            yield Wifi(name, _number(signal), security not in ("", "--"))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 0


def _rows(*arguments: str, fields: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the fields of each line that nmcli prints in its terse form."""
    for line in nmcli("--terse", "--escape", "yes", "--fields", ",".join(fields), *arguments).splitlines():
        row = _split(line)
        if len(row) == len(fields):
            yield row


def _split(line: str) -> list[str]:
    r"""Split a terse line at its colons; one within a value has a backslash before it.

    >>> _split(r"*:Casa\: Ruiz:72:WPA2")
    ['*', 'Casa: Ruiz', '72', 'WPA2']
    """
    fields, escaped = [""], False
    for sign in line:
        if escaped or sign not in "\\:":
            fields[-1] += sign
            escaped = False
        elif sign == "\\":
            escaped = True
        else:
            fields.append("")
    return fields


def nmcli(*arguments: str) -> str:
    """Return what nmcli prints; raises `NetworkError`."""
    try:
        done = subprocess.run(  # noqa: S603
            ["nmcli", *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=PATIENCE_S + (JOINING_S if "--wait" in arguments else 0),
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
    except OSError as error:
        raise NetworkError(str(error)) from None
    except subprocess.TimeoutExpired as error:  # its own message quotes every argument, a password included
        raise NetworkError(f"nmcli did not answer within {error.timeout:.0f} s") from None
    if done.returncode:
        raise NetworkError(done.stderr.strip()[:200] or f"nmcli ended with exit code {done.returncode}")
    return done.stdout

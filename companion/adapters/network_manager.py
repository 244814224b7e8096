"""NetworkManager, by its command `nmcli`: which network this machine is on."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from collections.abc import Iterator

from companion.model.network import Network, Wifi

PATIENCE_S = 60
HOTSPOT = "templo-mayor-hotspot"
"""The connection of NetworkManager by which this machine opens a Wi-Fi of its own."""

log = logging.getLogger(__name__)


class NetworkError(Exception):
    """NetworkManager did not do what was asked; the message is its own."""


def look() -> Network:
    """Return what NetworkManager says now."""
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
    of_own = any(connection == HOTSPOT for _, connection in connected)
    names = [name for in_use, name, _, _ in seen if in_use == "*" and name]
    return Network(
        managed=True,
        wired=any(kind == "ethernet" for kind, _ in connected),
        wifi="" if of_own or not names else names[0],
        has_wifi=any(kind == "wifi" for kind, _, _ in devices),
        in_reach=tuple(_strongest(seen)),
    )


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


def _rows(*words: str, fields: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the fields of each line that nmcli prints in its terse form, where a colon in a value has a backslash."""
    for line in nmcli("--terse", "--escape", "yes", "--fields", ",".join(fields), *words).splitlines():
        row = _split(line)
        if len(row) == len(fields):
            yield row


def _split(line: str) -> list[str]:
    r"""Split a terse line at its colons.

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


def nmcli(*words: str) -> str:
    """Return what nmcli prints; raises `NetworkError`."""
    try:
        done = subprocess.run(  # noqa: S603
            ["nmcli", *words],  # noqa: S607
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=PATIENCE_S,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NetworkError(str(error)) from None
    if done.returncode:
        raise NetworkError(done.stderr.strip()[:200] or f"nmcli ended with exit code {done.returncode}")
    return done.stdout

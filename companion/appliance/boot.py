"""Applies the settings that somebody wrote onto a card's boot partition: the unit `templo-mayor-boot`.

A flashed card has neither screen nor keyboard, but every computer can write to its boot partition. The file is
checked and applied as a whole, or not at all; then it is renamed and its passwords are removed. One that cannot be
renamed is not applied again until its content changes.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from msgspec import Struct

from companion import settings as companion_settings
from companion.adapters import boot_fault
from templo import files, logs
from templo.broker import BrokerSettings
from templo.broker_elsewhere import FILE, drop_in
from templo.quoting import nearest, quoted
from templo.setting_types import HIDDEN, TempleName, matching, text
from templo.settings import SettingsError
from templo.settings import load as load_settings
from templo.toml_text import to_toml

FILES = (Path("/boot/firmware/templo-mayor.toml"), Path("/boot/templo-mayor.toml"))
"""Where a card's boot partition is mounted, on Raspberry Pi OS and elsewhere."""

LOGINS = ("companion.env", "homeassistant.env", "watcher.env", "controller.env")
"""What every installation has in the folder of its settings, in the order in which it is written."""

APPLIED = "boot-applied"
"""The name of the file, in the same folder, with the digest of an applied file that could not be set aside."""

_OWN = ("name", "wifi")
_CONTROLLER = ("beams", "counting", "broker")
_COMPANION = ("web", "broker")
_KEY_MANAGEMENT = {"wpa2": "wpa-psk", "wpa3": "sae"}
ORIGIN = "By templo-mayor-boot, from the file on the boot partition."
_PASSWORD = re.compile(r"^TEMPLO_BROKER_PASSWORD=\S", re.MULTILINE)

log = logging.getLogger(__name__)


class BootError(Exception):
    """Settings that cannot be applied; the message holds the value, where it came from and what was expected."""


@dataclass(frozen=True, slots=True)
class WifiSettings:
    """The network to join, unless a cable is enough."""

    country: Annotated[str, matching("[A-Z]{2}|", "two capital letters, such as DE")] = ""
    ssid: Annotated[str, text(32, "the name of a Wi-Fi, of 1 to 32 characters", least=0)] = ""
    password: Annotated[str, HIDDEN, matching("|[ -~]{8,63}|[0-9a-fA-F]{64}", "a password of 8 to 63 characters")] = (
        ""
    )
    security: Literal["wpa2", "wpa3"] = "wpa2"
    """``wpa3`` for a Wi-Fi that takes nothing older; one that takes both is ``wpa2``."""
    hidden: Literal["on", "off"] = "off"
    """Whether the Wi-Fi does not show its name, so that it has to be asked for."""


@dataclass(frozen=True, slots=True)
class BootSettings:
    """What is not a setting of one of the programs."""

    name: TempleName = "templo"
    wifi: WifiSettings = field(default_factory=WifiSettings)
    broker: BrokerSettings = field(default_factory=BrokerSettings)


class Machine(Struct, frozen=True):
    """Where settings of this machine are. `run` runs a command of it, and raises `BootError` if that fails."""

    settings: Path
    units: Path
    connections: Path
    run: Callable[..., None]


def apply(file: Path, machine: Machine) -> None:
    """Check everything that a file gives, then apply it; raises `BootError` before anything is changed."""
    try:
        tables = _tables(file)
    except OSError as error:
        raise BootError(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BootError(f"{file} is not TOML: {error}") from None
    known = tuple(dict.fromkeys((*_OWN, *_CONTROLLER, *_COMPANION)))
    for key in tables:
        if key not in known:
            meant = nearest(key, known)
            expected = f"did you mean {meant}?" if meant else f"expected one of {', '.join(known)}"
            raise BootError(f"{quoted(key)} (from {file}) is no setting; {expected}")
    own = _checked(file, tables, machine)
    settings = {name: _settings_of(name, tables, own, machine) for name in ("controller", "companion")}
    _join(own.wifi, machine)
    if "name" in tables and not _is_elsewhere(settings["controller"]):
        machine.run("templo-broker-access", "--again", "--own", own.name)
    for program, given in settings.items():
        if given:
            _write(machine.settings / f"{program}.toml", to_toml(given), 0o640, f"templo-{program}")
            _place_drop_in(program, _is_elsewhere(given), machine)
    machine.run("systemctl", "daemon-reload")


def _tables(file: Path) -> dict[str, object]:
    """Return what a file gives; Notepad and others may have saved it with a byte order mark."""
    return tomllib.loads(file.read_text("utf-8-sig"))


def _settings_of(
    program: str, tables: Mapping[str, object], own: BootSettings, machine: Machine
) -> Mapping[str, object]:
    """Return the new settings of a program, or none if it keeps those that it has.

    Of those that it has, a table that the file gives is replaced, and all others stay.
    """
    given = {
        name: tables[name] for name in (_CONTROLLER if program == "controller" else _COMPANION) if name in tables
    }
    if program == "controller" and "name" in tables:
        given = {"temple": own.name, **given}
    return {**_present(machine.settings / f"{program}.toml"), **given} if given else {}


def _present(file: Path) -> dict[str, object]:
    """Return what a program's settings file gives; nothing if it is not there or cannot be read."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def _is_elsewhere(settings: Mapping[str, object]) -> bool:
    """Return whether a broker of a program's settings is on another machine."""
    broker = settings.get("broker")
    host = broker.get("host") if isinstance(broker, Mapping) else None
    try:
        return isinstance(host, str) and not all(each.is_here for each in BrokerSettings(host).addresses)
    except ValueError:  # a port that is none, in a file that was there
        return True


def _place_drop_in(program: str, is_elsewhere: bool, machine: Machine) -> None:
    """Write the drop-in of a program whose broker is elsewhere, and remove it where it is on this machine."""
    file = machine.units / f"templo-{program}.service.d" / FILE
    if is_elsewhere:
        _write(file, drop_in(ORIGIN, program), 0o644)
        return
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise BootError(f"{file} cannot be removed: {error}") from error


def _checked(file: Path, tables: Mapping[str, object], machine: Machine) -> BootSettings:
    """Return our own settings after each program has accepted its own; raises `BootError`."""
    with TemporaryDirectory(prefix="templo-boot-") as folder:
        path = Path(folder) / "settings.toml"

        def given(*names: str) -> Path:
            path.write_text(to_toml({name: tables[name] for name in names if name in tables}))
            return path

        try:
            read = load_settings(
                BootSettings, "boot", file=given(*_OWN, "broker"), environ={}, flags={}, home=Path(folder)
            )
            own = read.values
            companion_settings.load(given(*_COMPANION), {}, {}, Path(folder))
            machine.run("templo-controller", "check", "--config", str(given(*_CONTROLLER)))
        except (SettingsError, BootError) as error:
            raise BootError(str(error).replace(str(path), str(file))) from None
    wifi = own.wifi
    if wifi != WifiSettings(wifi.country) and not (wifi.ssid and wifi.country):
        missing = "wifi.ssid" if not wifi.ssid else "wifi.country"
        raise BootError(f"{missing} is missing (from {file}); expected it beside the other settings of the Wi-Fi")
    if wifi.security == "wpa3" and not wifi.password:
        raise BootError(f"wifi.security is 'wpa3' and wifi.password is missing (from {file}); expected both")
    return own


def _join(wifi: WifiSettings, machine: Machine) -> None:
    if wifi.country and shutil.which("raspi-config"):  # it allows the radio, which is off until the country is known
        try:
            machine.run("raspi-config", "nonint", "do_wifi_country", wifi.country)
        except BootError as error:  # without a radio there is no Wi-Fi to keep the rest back for
            log.warning("wifi.country %r could not be set: %s", wifi.country, error)
    if wifi.ssid:
        lines = ["[connection]", "id=templo-mayor", "type=wifi", "[wifi]", "mode=infrastructure"]
        lines.append(f"ssid={';'.join(str(each) for each in wifi.ssid.encode())};")  # as bytes, whatever they are
        if wifi.hidden == "on":
            lines.append("hidden=true")
        if wifi.password:
            lines += [
                "[wifi-security]",
                f"key-mgmt={_KEY_MANAGEMENT[wifi.security]}",
                f"psk={_escaped(wifi.password)}",
            ]
        lines += ["[ipv4]", "method=auto", "[ipv6]", "method=auto"]
        # NetworkManager reads a file of any name there: one that was kept would be a second network to join.
        _write(machine.connections / "templo-mayor.nmconnection", "\n".join(lines) + "\n", 0o600, keep=False)


def _escaped(value: str) -> str:
    r"""Return a value as a key file of NetworkManager holds it.

    >>> _escaped(" a\\b")
    '\\sa\\\\b'
    """
    escaped = value.replace("\\", "\\\\")
    return re.sub(r"^ +| +$", lambda spaces: r"\s" * len(spaces[0]), escaped)


def _write(path: Path, content: str, mode: int, group: str | None = None, *, keep: bool = True) -> None:
    """Write a file as a whole; one that is there with other content is kept beside it, or nothing unless `keep`."""
    before = path.with_name(f"{path.name}.before-boot")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if keep and path.exists() and path.read_text(errors="replace") != content:
            path.replace(before)
        files.write_whole(path, content.encode())
        if group:
            with suppress(LookupError, PermissionError):
                shutil.chown(path, "root", group)
        path.chmod(mode)
    except OSError as error:
        raise BootError(f"{path} cannot be written: {error}") from error


def main() -> int:
    """Apply the file if there is one; passwords of the broker are made where any is missing."""
    logs.set_up("templo-mayor-boot", "info")
    machine = Machine(
        Path("/etc/templo-mayor"),
        Path("/etc/systemd/system"),
        Path("/etc/NetworkManager/system-connections"),
        _run,
    )
    return boot(next((file for file in FILES if file.exists()), None), machine, boot_fault.FILE)


def boot(file: Path | None, machine: Machine, found: Path) -> int:
    """Apply a file and set it aside; write what is wrong into `found` and beside it. Return the exit code."""
    kept = found.with_name(boot_fault.KEPT)
    for path in (found, kept):
        path.unlink(missing_ok=True)
    applied = machine.settings / APPLIED
    try:
        if not all(_has_password(machine.settings / name) for name in LOGINS):
            machine.run("templo-broker-access", "--again")
        if file is None:
            return 0
        if not _is_applied(file, applied):
            apply(file, machine)
            log.info("%s was applied", file)
    except BootError as error:
        log.error("%s", error)
        _note(found, str(error))
        if file:
            _note(file.with_suffix(".error.txt"), str(error))
        return 1
    try:
        _set_aside(file)
        applied.unlink(missing_ok=True)
    except OSError as error:
        reason = f"{file} was applied, but cannot be renamed, and still holds its passwords: {error.strerror}"
        log.error("%s", reason)
        _note(kept, f"{reason}. Delete it on any computer.")
        with suppress(OSError):
            files.write_whole(applied, _digest(file).encode())
    return 0


def _is_applied(file: Path, applied: Path) -> bool:
    """Return whether a file has the content that was applied last and could not be set aside."""
    try:
        return applied.read_text() == _digest(file)
    except OSError:
        return False


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _set_aside(file: Path) -> None:
    """Rename an applied file and remove its passwords; raises `OSError`."""
    applied = f"# This was applied. Passwords are left out.\n{to_toml(_without_passwords(_tables(file)))}"
    file.with_suffix(".applied.toml").write_text(applied, "utf-8")
    file.unlink()
    file.with_suffix(".error.txt").unlink(missing_ok=True)


def _note(path: Path, text: str) -> None:
    """Write what a person has to know, if that is possible: a boot partition may be read-only."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


def _has_password(login: Path) -> bool:
    """Return whether a file gives a password of the broker: a power cut can leave it away, or empty."""
    try:
        return _PASSWORD.search(login.read_text(errors="replace")) is not None
    except FileNotFoundError:
        return False
    except OSError as error:
        raise BootError(f"{login} cannot be read: {error}") from error


def _without_passwords(tables: Mapping[str, object]) -> dict[str, object]:
    """Return settings without any key that is called password.

    >>> _without_passwords({"name": "attic", "wifi": {"ssid": "Home", "password": "secret"}})
    {'name': 'attic', 'wifi': {'ssid': 'Home'}}
    """
    return {
        key: _without_passwords(value) if isinstance(value, Mapping) else value
        for key, value in tables.items()
        if key != "password"
    }


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=_ENVIRONMENT)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BootError(f"{command[0]} cannot be run: {error}") from error
    if done.returncode:
        reason = done.stderr.strip() or f"exit code {done.returncode}"
        raise BootError(reason.removeprefix(f"{command[0]}: "))


_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent"}

if __name__ == "__main__":
    sys.exit(main())

"""Pairs this temple: uses the organiser's code at a companion, and writes into the settings what that gives.

Everything that can be wrong here is looked at before the code is used, for it can be used once.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode, urlsplit

import msgspec

from templo import files
from templo.broker_elsewhere import drop_in
from templo.quoting import printable, shown
from templo.setting_types import HIDDEN, Hosts, TempleName, text
from templo.toml_text import to_toml

ANSWER_S = 30.0
MOST_BYTES = 16_384
UNIT = "templo-controller"
GROUP_READS, ALL_READ = 0o640, 0o644
ORIGIN = "By templo-controller pair. The broker, its user and the password are in controller.toml."


class PairingError(Exception):
    """Why this temple was not paired, and what to do."""


class Paired(msgspec.Struct, frozen=True):
    """What a companion gives a temple for its code."""

    temple: TempleName
    brokers: Hosts
    user: Annotated[str, text(128, "a user name")]
    password: Annotated[str, HIDDEN, text(255, "a password")]
    table: Annotated[str, text(200, "a title", least=0)] = ""

    def __repr__(self) -> str:
        """Return what it is, without the password."""
        return f"Paired({self.temple!r}, {self.brokers!r}, {self.user!r})"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the settings of a controller are. `owner` is the user that it runs as, where that is another one."""

    settings: Path
    owner: str = ""
    units: Path | None = None
    """Where drop-ins for its unit are, where it has one."""

    @property
    def password(self) -> Path:
        """The file of the password."""
        return self.settings.with_name(f"{self.settings.stem}-password")

    def read(self) -> dict[str, object]:
        """Return the settings that are there, having seen that others can be written.

        Raises `PairingError`.
        """
        try:
            self.settings.parent.mkdir(parents=True, exist_ok=True)
            probe = self.settings.with_name(f".{self.settings.name}.probe")
            files.create_private(probe)
            probe.unlink()
            return tomllib.loads(self.settings.read_text("utf-8")) if self.settings.exists() else {}
        except PermissionError:
            raise PairingError(f"{self.settings} cannot be written by you: run this with sudo") from None
        except OSError as error:
            raise PairingError(f"{self.settings} cannot be written: {error}") from None
        except ValueError as error:
            raise PairingError(f"{self.settings} is not TOML: {printable(str(error), 200)}") from None

    def write(self, paired: Paired, before: Mapping[str, object]) -> None:
        """Write what a companion gave, beside all other settings; raises `PairingError`."""
        found = before.get("broker")
        broker = dict(found) if isinstance(found, Mapping) else {}
        for name in ("port", "password"):
            broker.pop(name, None)
        broker |= {"host": paired.brokers, "user": paired.user, "password_file": str(self.password)}
        content = to_toml({**before, "temple": paired.temple, "broker": broker})
        try:
            _write(self.password, f"{paired.password}\n")
            self._give(self.password, self.owner, files.OWNER_ONLY)
            if self.settings.exists() and self.settings.read_text("utf-8") != content:
                shutil.copy2(self.settings, self.settings.with_name(f"{self.settings.name}.before-pairing"))
            _write(self.settings, content)
            self._give(self.settings, "root", GROUP_READS)
            if self.units is not None:
                folder = self.units / f"{UNIT}.service.d"
                folder.mkdir(parents=True, exist_ok=True)
                _write(folder / "paired.conf", drop_in(ORIGIN, "controller"))
                (folder / "paired.conf").chmod(ALL_READ)
        except OSError as error:
            raise PairingError(
                f"the code is used, and the settings could not be written: {error}. Mend that, and ask for a new code"
            ) from None

    def _give(self, path: Path, owner: str, mode: int) -> None:
        """Let the service's user read a file that root has written."""
        if self.owner and os.geteuid() == 0:
            with suppress(LookupError):
                shutil.chown(path, owner, self.owner)
                path.chmod(mode)


def place(config: Path | None, usual: Path, installed: Path, root: Path = Path("/")) -> Place:
    """Return where the settings go: into a file that was named, or those of the installed service, or the user's own.

    `installed` is the service's state directory, which is there where it is installed.
    """
    if config is not None:
        return Place(config)
    if installed.exists():
        return Place(root / "etc/templo-mayor/controller.toml", UNIT, root / "etc/systemd/system")
    return Place(usual)


def ask(address: str, code: str, authority: Path | None = None) -> Paired:
    """Use a code at the companion of an address, such as ``temple.local`` or ``https://club.lan``.

    `authority` is the file of the certificate by which its certificate is judged, beside those that this machine
    trusts. Raises `PairingError`.
    """
    try:
        url = urlsplit(address if "://" in address else f"http://{address}")
        host, port = url.hostname, url.port
    except ValueError:
        host = port = None
    if not host or url.scheme not in ("http", "https"):
        raise PairingError(f"{shown(address)} is no address; expected one such as temple.local or https://club.lan")
    try:
        connection = _connection(url.scheme, host, port, authority)
        try:
            headers = {
                "Origin": f"{url.scheme}://{url.netloc}",
                "Accept": "application/json",
                "Accept-Language": "en",
                "Content-Type": "application/x-www-form-urlencoded",
            }
            connection.request("POST", "/pair", urlencode({"code": code}), headers)
            with connection.getresponse() as response:
                body = response.read(MOST_BYTES)
        finally:
            connection.close()
    except ssl.SSLCertVerificationError as error:
        raise PairingError(
            f"the certificate of {host} is not trusted: {error.verify_message}. "
            "Name the file of its authority, which the page /trust offers, with --authority"
        ) from None
    except (OSError, HTTPException) as error:
        raise PairingError(f"no companion answers at {shown(address)}: {error}") from None
    return _read(body, response.status, address)


def _connection(scheme: str, host: str, port: int | None, authority: Path | None) -> HTTPConnection:
    if scheme == "http":
        return HTTPConnection(host, port, timeout=ANSWER_S)
    context = ssl.create_default_context()
    if authority is not None:
        try:
            context.load_verify_locations(authority)
        except OSError as error:
            raise PairingError(f"the authority's certificate {authority} cannot be read: {error}") from None
    return HTTPSConnection(host, port, timeout=ANSWER_S, context=context)


def _read(body: bytes, status: int, address: str) -> Paired:
    try:
        if status == 200:
            paired = msgspec.json.decode(body, type=Paired)
            if all(each.isprintable() for each in (paired.user, paired.password, paired.table)):
                return paired
            raise ValueError
        words = json.loads(body)["words"]
        if not isinstance(words, str):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PairingError(
            f"{shown(address)} answered {status} and nothing that a companion of this release says: "
            "look at the address"
        ) from None
    raise PairingError(printable(words, 500))


def overriding(environ: Mapping[str, str]) -> list[str]:
    """Return the variables of the environment that count more than what pairing writes."""
    names = ("TEMPLO_TEMPLE", *(f"TEMPLO_BROKER_{each}" for each in ("HOST", "PORT", "USER", "PASSWORD")))
    return [name for name in names if name in environ]


def _write(path: Path, content: str) -> None:
    files.write_whole(path, content.encode())

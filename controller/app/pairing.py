"""Pairs this temple: uses the organiser's code at a companion, and writes into the settings what that gives.

A code can be used once. So before it is used, every file is tried where it will be, and the settings that are there
are read as the daemon will read them.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import ssl
import stat
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated
from urllib.parse import quote, unquote, urlencode, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from controller.app import settings as controller_settings
from templo import files
from templo.broker_elsewhere import FILE, drop_in
from templo.codes import is_pairing_code
from templo.quoting import printable, quoted
from templo.setting_types import HIDDEN, Hosts, TempleName, WebAddress, text
from templo.settings import SettingsError
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
    address: WebAddress = ""
    """Where the companion answered."""

    def __repr__(self) -> str:
        """Return what it is, without the password."""
        return f"Paired({self.temple!r}, {self.brokers!r}, {self.user!r})"


class Place(Struct, frozen=True):
    """Where the settings of a controller are. `owner` is the user that it runs as, where that is another one."""

    settings: Path
    owner: str = ""
    units: Path | None = None
    """Where drop-ins for its unit are, where it has one."""

    @property
    def password(self) -> Path:
        """The file of the password."""
        return self.settings.with_name(f"{self.settings.stem}-password")

    @property
    def _drop_in(self) -> Path | None:
        return self.units / f"{UNIT}.service.d" / FILE if self.units else None

    def read(self) -> dict[str, object]:
        """Return the settings that are there, having seen that what pairing writes can be written and will be read.

        Raises `PairingError`.
        """
        for path in filter(None, (self.settings, self.password, self._drop_in)):
            self._try(path)
        try:
            before = tomllib.loads(self.settings.read_text("utf-8")) if self.settings.exists() else {}
        except OSError as error:
            raise PairingError(f"{self.settings} cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise PairingError(f"{self.settings} is not TOML: {printable(str(error), 200)}") from None
        with TemporaryDirectory(prefix="templo-pairing-") as folder:
            file, password = Path(folder) / "settings.toml", Path(folder) / "password"
            password.write_text("any\n")
            file.write_text(_content(Paired("any", "127.0.0.1", "any", "any"), password, before), "utf-8")
            try:
                controller_settings.load(file=file, environ={}, flags={}, home=Path(folder))
            except SettingsError as error:
                found = str(error).replace(str(file), str(self.settings))
                raise PairingError(f"{found}. The code is not used yet: mend that first") from None
        return before

    def write(self, paired: Paired, before: Mapping[str, object]) -> None:
        """Write what a companion gave, beside all other settings; raises `PairingError`."""
        content = _content(paired, self.password, before)
        try:
            access = self._access(self.settings)  # before the file is replaced
            _write(self.password, f"{paired.password}\n", self._access(self.password))
            if self.settings.exists() and self.settings.read_text("utf-8") != content:
                shutil.copy2(self.settings, self.settings.with_name(f"{self.settings.name}.before-pairing"))
            _write(self.settings, content, access)
            if self._drop_in is not None:
                _write(self._drop_in, drop_in(ORIGIN, "controller"), _Access(ALL_READ))
        except OSError as error:
            raise PairingError(
                f"the code is used, and the settings could not be written: {error}. Mend that, and ask for a new code"
            ) from None

    def _access(self, path: Path) -> _Access:
        """Return who may read a file that is written: the service's user, or who may read the settings now."""
        is_password = path == self.password
        if self.owner:
            with suppress(LookupError):
                user = pwd.getpwnam(self.owner)
                own = _Access(files.OWNER_ONLY, user.pw_uid, user.pw_gid)
                return own if is_password else _Access(GROUP_READS, 0, user.pw_gid)
        if not self.settings.exists():
            return _Access(files.OWNER_ONLY)
        found = self.settings.stat()
        mode = stat.S_IMODE(found.st_mode)
        if is_password:  # a file that everybody may read names no group that may know a password
            mode = GROUP_READS if mode & 0o044 == 0o040 else files.OWNER_ONLY
        return _Access(mode, found.st_uid, found.st_gid)

    def _try(self, path: Path) -> None:
        """Write and remove a file beside one that pairing writes; raises `PairingError`."""
        probe = path.with_name(f".{path.name}.probe")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise PairingError(f"{path} is a folder; expected a file, or none")
            probe.unlink(missing_ok=True)
            files.create_private(probe)
            try:
                self._access(path).give(probe)
            finally:
                probe.unlink()
        except PermissionError:
            raise PairingError(f"{path} cannot be written by you: run this with sudo") from None
        except OSError as error:
            raise PairingError(f"{path} cannot be written: {error}") from None


class _Access(Struct, frozen=True):
    """Mode and owner of a file; without an owner, whoever writes it."""

    mode: int
    uid: int = -1
    gid: int = -1

    def give(self, path: Path) -> None:
        """Give a file this owner and mode; only root can give it to somebody else."""
        found = path.stat()
        if self.uid not in (-1, found.st_uid) or self.gid not in (-1, found.st_gid):
            os.chown(path, self.uid, self.gid)
        path.chmod(self.mode)


def _content(paired: Paired, password: Path, before: Mapping[str, object]) -> str:
    """Return the settings with what a companion gave."""
    found = before.get("broker")
    broker = dict(found) if isinstance(found, Mapping) else {}
    for name in ("port", "password"):
        broker.pop(name, None)
    broker |= {"host": paired.brokers, "user": paired.user, "password_file": str(password)}
    return to_toml({**before, "temple": paired.temple, "broker": broker, "web": {"address": paired.address}})


def place(named: Path | None, usual: Sequence[Path], installed: Path, root: Path = Path("/")) -> Place:
    """Return where the daemon reads its settings: in the file that is named, the installed service's, or a usual one.

    `named` is that of a flag or of the environment; of the `usual` ones the first that exists is meant, or else the
    first. `installed` is the service's state directory, which is there where it is installed.
    """
    service = Place(root / "etc/templo-mayor/controller.toml", UNIT, root / "etc/systemd/system")
    if installed.exists() and (named is None or named.resolve() == service.settings.resolve()):
        return service
    return Place((named or next((path for path in usual if path.exists()), usual[0])).absolute())


def request(address: str, code: str, authority: Path | None = None) -> Paired:
    """Use a code at the companion of an address, such as ``temple.local`` or ``https://club.lan``.

    An address may have a path: ``https://club.lan/club-a``. `authority` is the file of the certificate by which
    its certificate is judged, beside those that this machine trusts. Raises `PairingError`.
    """
    if not is_pairing_code(code):
        raise PairingError(
            f"{quoted(code)} is no code of a temple; expected twelve letters and digits, without 0, 1, I and O"
        )
    try:
        url = urlsplit(address if "://" in address else f"http://{address}")
        host, port, path = url.hostname, url.port, quote(unquote(url.path)).rstrip("/")
    except ValueError:
        host = port = path = None
    if not host or url.scheme not in ("http", "https"):
        raise _no_address(address)
    try:
        connection = _connection(url.scheme, host, port, authority)
        try:
            headers = {
                "Origin": f"{url.scheme}://{url.netloc}",
                "Accept": "application/json",
                "Accept-Language": "en",
                "Content-Type": "application/x-www-form-urlencoded",
            }
            connection.request("POST", f"{path}/pair", urlencode({"code": code}), headers)
            with connection.getresponse() as response:
                body = response.read(MOST_BYTES)
        finally:
            connection.close()
    except ssl.SSLCertVerificationError as error:
        raise PairingError(
            f"the certificate of {host} is not trusted: {error.verify_message}. "
            "Name the file of its authority, which the page /trust offers, with --authority"
        ) from None
    except UnicodeError:  # a name that the resolver cannot be asked for, such as one with an empty label
        raise _no_address(address) from None
    except (OSError, HTTPException) as error:
        raise PairingError(f"no companion answers at {quoted(address)}: {error}") from None
    paired = _read(body, response.status, address)
    return replace(paired, address=f"{url.scheme}://{url.netloc}{path}")


def _no_address(address: str) -> PairingError:
    return PairingError(f"{quoted(address)} is no address; expected one such as temple.local or https://club.lan")


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
            f"{quoted(address)} answered {status} and nothing that a companion of this release says: "
            "look at the address"
        ) from None
    raise PairingError(printable(words, 500))


def overriding(environ: Mapping[str, str], settings: Path) -> list[str]:
    """Return the variables of the environment that count more than what pairing writes into a settings file."""
    broker = ("HOST", "PORT", "USER", "PASSWORD", "PASSWORD_FILE")
    names = [name for name in ("TEMPLO_TEMPLE", *(f"TEMPLO_BROKER_{each}" for each in broker)) if name in environ]
    named = controller_settings.named_file(environ)
    if named is not None and named.absolute() != settings:
        names.append("TEMPLO_CONTROLLER_CONFIG")
    return names


def _write(path: Path, content: str, access: _Access) -> None:
    files.write_whole(path, content.encode())
    access.give(path)

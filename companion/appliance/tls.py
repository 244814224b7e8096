"""`templo-mayor tls`: serves the installed pages over TLS, with this machine's authority or a given certificate.

haproxy serves them (`templo-tls.service`). One folder holds its files and those that phones may download.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

from companion.adapters.network.certificates import (
    CERTIFICATE_FOR,
    CertificateError,
    Pair,
    check_pair,
    make_authority,
    make_certificate,
    read,
    signable_by,
)
from templo import files

FOLDER = Path("/etc/templo-mayor/tls")
UNIT = "templo-tls"
HAPROXY = Path("/usr/sbin/haproxy")
PACKAGED = Path("/etc/haproxy/haproxy.cfg")
"""The settings of the haproxy that Debian's package starts by itself."""

LOOPBACK = "127.0.0.1"

_SERVES = re.compile(r"^[ \t]*(frontend|listen)[ \t]", re.MULTILINE)

EARLY = timedelta(days=60)
"""A certificate is renewed so long before it ends."""


class Tls(Struct, frozen=True):
    """The TLS of this machine: its files, the names and addresses it is reached by, and who runs its units.

    `systemd` runs systemctl with words and returns what it prints. `packaged` is where haproxy's own unit has its
    settings.
    """

    folder: Path
    hosts: Callable[[], Collection[str]]
    systemd: Callable[..., str]
    packaged: Path

    @property
    def authority(self) -> Path:
        """The certificate of the authority, which phones download."""
        return self.folder / "authority.pem"

    @property
    def served(self) -> Path:
        """The certificate that is served, with its key; TLS is on while it is there."""
        return self.folder / "server.pem"

    @property
    def _given(self) -> Path:
        return self.folder / "given"

    @property
    def _settings(self) -> Path:
        return self.folder / "settings.env"

    @property
    def is_on(self) -> bool:
        """Whether the pages are served over TLS, as far as files say."""
        return self.served.exists()

    @property
    def is_given(self) -> bool:
        """Whether it serves a certificate that was made elsewhere."""
        return self._given.exists()

    def switch_on(self, port: int, now: datetime, given: tuple[Path, Path] | None = None) -> None:
        """Serve the pages, which the companion has at a port of this machine, over TLS.

        haproxy's own unit is switched off where it serves nothing.
        `given` is a certificate, with those that it was signed by, and its key. Raises `CertificateError`, `OSError`.
        """
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        if given:
            self._serve(_joined(*given))
            _write(self._given, "".join(f"{path.absolute()}\n" for path in given), 0o600)
        else:
            self._given.unlink(missing_ok=True)
            self._serve(self._signed(now))
        self._write_settings(port)
        if self.packaged.exists() and not _SERVES.search(self.packaged.read_text(errors="replace")):
            self.systemd("disable", "--now", "haproxy.service")
        self.systemd("restart", "templo-companion.service")
        self.systemd("restart", f"{UNIT}.service")

    def renew(self, port: int, now: datetime) -> list[str]:
        """Serve another certificate, and the pages from another port, where there is need; return what was done.

        Another certificate is needed when ours ends soon, has yet to begin, or lacks a name or an address of this
        machine, or when the files of the given one have changed. Raises `CertificateError` or `OSError`.
        """
        if not self.is_on:
            return []
        done = []
        if pair := self._needed(now):
            self._serve(pair)
            done.append("The certificate was renewed.")
        if not self._settings.exists() or self._settings.read_text() != self._settings_for(port):
            self._write_settings(port)
            done.append(f"The pages are at port {port} now.")
        if done:
            self.systemd("restart", f"{UNIT}.service")
        return done

    def _needed(self, now: datetime) -> str:
        """Return the certificate and key that must replace those that are served, or nothing while they are good."""
        if self.is_given:
            certificate, key = (Path(line) for line in self._given.read_text().splitlines())
            pair = _joined(certificate, key)
            return "" if pair == self.served.read_text() else pair
        served = read(self.served)
        is_valid = served.begins <= now < served.ends - EARLY
        if is_valid and signable_by(self.authority, self.hosts()) <= served.hosts:
            return ""
        return self._signed(now)

    def switch_off(self) -> None:
        """Serve the pages over plain http alone; the authority stays, for phones that trust it. Raises `OSError`."""
        for file in (self.served, self._given, self._settings):
            file.unlink(missing_ok=True)
        self.systemd("stop", f"{UNIT}.service")
        self.systemd("restart", "templo-companion.service")

    def unsigned(self) -> list[str]:
        """Return the names of this machine that its authority may not sign."""
        return sorted(set(self.hosts()) - signable_by(self.authority, self.hosts()))

    def _signed(self, now: datetime) -> str:
        """Return a certificate and its key, by an authority that does not end before it.

        One that would is made again with its key: phones have more than a year to trust it. A machine without a
        network may have made it while its clock stood in 1970.
        """
        key = self.folder / "authority.key"
        has_one = key.exists() and self.authority.exists()
        if not has_one or read(self.authority).ends - now < CERTIFICATE_FOR:
            made = make_authority(socket.gethostname(), self.hosts(), now, key.read_text() if has_one else "")
            _write(key, made.key, 0o600)
            _write(self.authority, made.certificate, 0o644)
        authority = Pair(self.authority.read_text(), key.read_text())
        made = make_certificate(authority, signable_by(self.authority, self.hosts()), now)
        return made.certificate + made.key

    def _serve(self, pair: str) -> None:
        _write(self.served, pair, 0o600)

    def _write_settings(self, port: int) -> None:
        _write(self._settings, self._settings_for(port), 0o644)

    def _settings_for(self, port: int) -> str:
        lines = [f"TEMPLO_WEB_PROXY={LOOPBACK}", f"COMPANION_ADDRESS={LOOPBACK}:{port}"]
        if not self.is_given:
            lines.append(f"TEMPLO_WEB_AUTHORITY={self.authority}")
        return "\n".join(lines) + "\n"


def command(
    tls: Tls, action: str, given: tuple[Path, Path] | None, port: int, proxy: str, pages: Collection[str]
) -> tuple[int, list[str]]:
    """Do what was typed after `templo-mayor tls`; return the exit code and the lines that say what was done.

    `port` and `proxy` are the companion's settings, `pages` the addresses of its pages over plain http.
    """
    if os.geteuid() != 0:
        return 1, ["This needs root: sudo templo-mayor tls"]
    if action == "on" and not HAPROXY.exists():
        return 1, ["haproxy is missing, which serves the pages over TLS: 'sudo apt install haproxy' brings it."]
    if action == "on" and proxy not in ("", LOOPBACK):
        return 1, [f"web.proxy is {proxy!r}; expected none: let that reverse proxy serve the pages over TLS."]
    try:
        if action == "off":
            tls.switch_off()
            return 0, ["The pages are served over plain http alone. Phones that trust the authority may keep it."]
        if action == "renew":
            return 0, tls.renew(port, datetime.now(UTC))
        tls.switch_on(port, datetime.now(UTC), given)
    except (CertificateError, OSError) as error:
        return 1, [f"The pages cannot be served over TLS: {error}"]
    state = tls.systemd("is-active", f"{UNIT}.service")
    if state != "active":
        return 1, [f"haproxy is not running ({state or 'unknown'}): 'sudo journalctl -n 30 -u {UNIT}' says why."]
    return 0, described(tls, pages)


def described(tls: Tls, pages: Collection[str]) -> list[str]:
    """Return the lines that say where the pages are now, and how a phone trusts them."""
    served = read(tls.served)
    lines = ["The pages are served over TLS, and over plain http as before:", ""]
    lines += [f"  {secure}" for page in pages if (secure := secured(page, served.hosts))]
    lines += ["", f"The certificate is valid until {served.ends:%Y-%m-%d}."]
    if tls.is_given:
        return [
            *lines,
            "Its files are read again every 15 minutes; to link to it, set TEMPLO_WEB_ADDRESS=https://...",
        ]
    lines += [
        "It is renewed by itself, also when this machine gets another address.",
        "",
        f"How a phone trusts it: open {next(iter(pages), 'http://localhost')}/trust and download the authority.",
        "Compare its fingerprint with the one below, and install it as that page says for each sort of device.",
        "Then open an address above: that page can be installed, keeps the screen on, and calls you for your turn.",
        "",
        f"  {read(tls.authority).fingerprint}",
    ]
    if names := tls.unsigned():
        lines += [
            "",
            f"Not for {', '.join(names)}: the authority was made before this machine had that name. To make",
            f"a new one, which every phone must trust anew: sudo rm {tls.authority} && sudo templo-mayor tls",
        ]
    return lines


def secured(page: str, hosts: Collection[str]) -> str:
    """Return an address over TLS for one over plain http, or nothing if the certificate lacks its host.

    >>> secured("http://192.168.1.7", {"192.168.1.7"})
    'https://192.168.1.7'
    """
    host = page.removeprefix("http://").partition(":")[0].partition("/")[0]
    return f"https://{host}" if host in hosts else ""


def _joined(certificate: Path, key: Path) -> str:
    """Return a given certificate and its key as one text; raises `CertificateError` or `OSError`."""
    check_pair(certificate, key)
    return f"{certificate.read_text().rstrip()}\n{key.read_text()}"


def _write(path: Path, text: str, mode: int) -> None:
    files.write_whole(path, text.encode())
    path.chmod(mode)

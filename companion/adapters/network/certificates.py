"""A local certificate authority and the certificates that it signs, made with the command `openssl`."""

from __future__ import annotations

import ipaddress
import re
import secrets
import ssl
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

AUTHORITY_DAYS = 3650
CERTIFICATE_DAYS = 397
"""Phones refuse a server's certificate that is valid for much longer, even if they trust its authority."""

HOME_DOMAINS = ("local", "localhost", "lan", "home.arpa", "internal")
"""Domains that no public name ends in: an authority may sign names in them, whatever the machine is called later."""

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")


class CertificateError(Exception):
    """A certificate or a key cannot be made, read or used; the message says which and why."""


class Pair(Struct, frozen=True):
    """A certificate and its private key, each as PEM."""

    certificate: str
    key: str


class Certificate(Struct, frozen=True):
    """What a certificate says: for which names and addresses it is valid, until when, and its fingerprint."""

    hosts: frozenset[str]
    ends: datetime
    fingerprint: str
    """SHA-256, in pairs of hexadecimal digits with colons between them."""


def make_authority(machine: str, names: Iterable[str]) -> Pair:
    """Make an authority for a machine of this name.

    It can sign any address, but only the given names and what ends in `HOME_DOMAINS`: with its key nobody can pose as
    a public site to a phone that trusts it.
    """
    permitted = [f"DNS:{name}" for name in (*HOME_DOMAINS, *_signable(names)[0])]
    permitted += ["IP:0.0.0.0/0.0.0.0", "IP:::/::"]
    extensions = {
        "basicConstraints": "critical,CA:TRUE,pathlen:0",
        "keyUsage": "critical,keyCertSign,cRLSign",
        "subjectKeyIdentifier": "hash",
        "nameConstraints": "critical," + ",".join(f"permitted;{each}" for each in dict.fromkeys(permitted)),
    }
    return _made(f"Templo Mayor on {machine}", AUTHORITY_DAYS, extensions)


def make_certificate(authority: Pair, hosts: Iterable[str]) -> Pair:
    """Make a certificate for names and addresses; raises `CertificateError`.

    They must be among what the authority may sign (`signable_by`), or nobody accepts the certificate.
    """
    names, addresses = _signable(hosts)
    alternatives = [*(f"DNS:{name}" for name in names), *(f"IP:{address}" for address in addresses)]
    if not alternatives:
        raise CertificateError("there is no name and no address to make a certificate for; expected one at least")
    extensions = {
        "basicConstraints": "critical,CA:FALSE",
        "keyUsage": "critical,digitalSignature",
        "extendedKeyUsage": "serverAuth",
        "subjectKeyIdentifier": "hash",
        "authorityKeyIdentifier": "keyid",
        "subjectAltName": ",".join(alternatives),
    }
    return _made("Templo Mayor", CERTIFICATE_DAYS, extensions, authority)


def signable_by(authority: Path, hosts: Iterable[str]) -> frozenset[str]:
    """Return those of the hosts that an authority may sign: every address, and the names it was made for."""
    permitted = re.findall(r"DNS:(\S+)", _openssl("x509", "-in", str(authority), "-noout", "-ext", "nameConstraints"))
    names, addresses = _signable(hosts)
    fine = [name for name in names if any(name == each or name.endswith(f".{each}") for each in permitted)]
    return frozenset([*fine, *addresses])


def read(file: Path) -> Certificate:
    """Read a certificate; raises `CertificateError`."""
    text = _openssl(
        "x509", "-in", str(file), "-noout", "-enddate", "-fingerprint", "-sha256", "-ext", "subjectAltName"
    )
    ends = re.search(r"^notAfter=(.+)$", text, re.MULTILINE)
    fingerprint = re.search(r"^sha256 Fingerprint=(\S+)$", text, re.MULTILINE | re.IGNORECASE)
    if not ends or not fingerprint:
        raise CertificateError(f"{file} is no certificate that openssl can describe: {text[:200]!r}")
    hosts = [each.lower() for each in re.findall(r"DNS:([^,\s]+)", text)]
    hosts += [str(ipaddress.ip_address(each)) for each in re.findall(r"IP Address:([^,\s]+)", text)]
    return Certificate(
        frozenset(hosts), datetime.fromtimestamp(ssl.cert_time_to_seconds(ends[1]), UTC), fingerprint[1]
    )


def check_pair(certificate: Path, key: Path) -> None:
    """Raise `CertificateError` unless a key without a password belongs to a certificate, with which one can serve."""

    def no_password() -> str:
        raise CertificateError(f"{key} has a password; expected a key without one: nobody types it at a restart")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, no_password)
    except OSError as error:  # ssl.SSLError is an OSError too
        raise CertificateError(
            f"{certificate} and {key} cannot be used; expected a certificate and its key, as PEM ({error})"
        ) from None


def _signable(hosts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the names and the addresses among hosts, sorted; what is neither is left out."""
    names, addresses = set(), set()
    for host in hosts:
        text = host.partition("%")[0]
        with suppress(ValueError):
            addresses.add(str(ipaddress.ip_address(text)))
            continue
        if _NAME.fullmatch(text.lower()) and len(text) <= 253:
            names.add(text.lower())
    return sorted(names), sorted(addresses)


def _made(name: str, days: int, extensions: dict[str, str], by: Pair | None = None) -> Pair:
    """Make a key and a certificate for it, signed by an authority or by itself."""
    with TemporaryDirectory() as folder:
        path = Path(folder)
        lines = ["[req]", "distinguished_name=name", "x509_extensions=extensions", "[name]", "[extensions]"]
        lines += [f"{key}={value}" for key, value in extensions.items()]
        (path / "config").write_text("\n".join(lines) + "\n")
        arguments = ["req", "-x509", "-config", str(path / "config"), *_KEY, "-keyout", str(path / "key")]
        arguments += ["-out", str(path / "certificate"), "-days", str(days), "-subj", f"/CN={_printable(name)}"]
        arguments += ["-set_serial", f"0x{secrets.token_hex(16)}", "-sha256"]
        if by:
            (path / "by.pem").touch(mode=0o600)
            (path / "by.pem").write_text(by.certificate + by.key)
            arguments += ["-CA", str(path / "by.pem"), "-CAkey", str(path / "by.pem")]
        _openssl(*arguments)
        return Pair((path / "certificate").read_text(), (path / "key").read_text())


def _printable(name: str) -> str:
    """Return a name as openssl's `-subj` takes it, at most 64 characters, as X.509 has it."""
    return re.sub(r"[^A-Za-z0-9 ._-]", "-", name)[:64]


def _openssl(*arguments: str) -> str:
    try:
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False, timeout=120)  # noqa: S603, S607
    except FileNotFoundError:
        raise CertificateError("openssl is missing: 'sudo apt install openssl' brings it") from None
    if done.returncode:
        raise CertificateError(f"openssl {arguments[0]} failed: {done.stderr.strip()[-400:]}")
    return done.stdout

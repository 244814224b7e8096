"""A local certificate authority and the certificates that it signs, made with the command `openssl`."""

from __future__ import annotations

import ipaddress
import re
import ssl
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

AUTHORITY_FOR = timedelta(days=3650)
CERTIFICATE_FOR = timedelta(days=397)
"""Phones refuse a server's certificate that is valid for much longer, even if they trust its authority."""

BEGINS_EARLIER = timedelta(days=1)
"""A certificate begins so long before it is made: a phone's clock may be behind this machine's."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

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
    """What a certificate says: for which names and addresses it is valid, from when until when, its fingerprint."""

    hosts: frozenset[str]
    begins: datetime
    ends: datetime
    fingerprint: str
    """SHA-256, in pairs of hexadecimal digits with colons between them."""


def make_authority(machine: str, names: Iterable[str], now: datetime, key: str = "") -> Pair:
    """Make an authority for a machine of this name, valid from 1970 on: only its end depends on this machine's clock.

    With the key of an earlier one, phones that trust either of them accept what it signs.

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
    return _made(f"Templo Mayor on {machine}", (_EPOCH, now + AUTHORITY_FOR), extensions, key=key)


def make_certificate(authority: Pair, hosts: Iterable[str], now: datetime) -> Pair:
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
    begins = now - BEGINS_EARLIER
    return _made("Templo Mayor", (begins, begins + CERTIFICATE_FOR), extensions, authority)


def signable_by(authority: Path, hosts: Iterable[str]) -> frozenset[str]:
    """Return those of the hosts that an authority may sign: every address, and the names it was made for."""
    permitted = re.findall(r"DNS:(\S+)", _openssl("x509", "-in", str(authority), "-noout", "-ext", "nameConstraints"))
    names, addresses = _signable(hosts)
    fine = [name for name in names if any(name == each or name.endswith(f".{each}") for each in permitted)]
    return frozenset([*fine, *addresses])


def read(file: Path) -> Certificate:
    """Read a certificate; raises `CertificateError`."""
    text = _openssl("x509", "-in", str(file), "-noout", "-dates", "-fingerprint", "-sha256", "-ext", "subjectAltName")
    begins = re.search(r"^notBefore=(.+)$", text, re.MULTILINE)
    ends = re.search(r"^notAfter=(.+)$", text, re.MULTILINE)
    fingerprint = re.search(r"^sha256 Fingerprint=(\S+)$", text, re.MULTILINE | re.IGNORECASE)
    if not begins or not ends or not fingerprint:
        raise CertificateError(f"{file} is no certificate that openssl can describe: {text[:200]!r}")
    hosts = [each.lower() for each in re.findall(r"DNS:([^,\s]+)", text)]
    hosts += [str(ipaddress.ip_address(each)) for each in re.findall(r"IP Address:([^,\s]+)", text)]
    return Certificate(frozenset(hosts), _time(begins[1]), _time(ends[1]), fingerprint[1])


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


def _made(
    name: str,
    valid: tuple[datetime, datetime],
    extensions: dict[str, str],
    by: Pair | None = None,
    key: str = "",
) -> Pair:
    """Make a certificate for a given key or another, signed by an authority or by itself."""
    with TemporaryDirectory() as folder:
        path = Path(folder)
        own, signer = str(path / "key"), str(path / "by")
        lines = ["[req]", "distinguished_name=name", "[name]", "[policy]", "commonName=supplied"]
        lines += ["[ca]", "default_ca=own", "[own]", "policy=policy", "rand_serial=yes", f"database={path}/made"]
        lines += ["[extensions]", *(f"{each}={value}" for each, value in extensions.items())]
        (path / "config").write_text("\n".join(lines) + "\n")
        for file, content in (("made", ""), ("key", key), ("by", by.certificate + by.key if by else "")):
            (path / file).touch(mode=0o600)
            (path / file).write_text(content)
        config = ("-config", str(path / "config"))
        of = ("-key", own) if key else (*_KEY, "-keyout", own)
        _openssl("req", "-new", *config, *of, "-subj", f"/CN={_printable(name)}", "-out", str(path / "request"))
        # `openssl req` and `x509` take the day of a beginning from OpenSSL 3.4 on; Debian 12 has 3.0.
        begins, ends = (f"{each:%Y%m%d%H%M%SZ}" for each in valid)
        arguments = ["-batch", "-notext", "-md", "sha256", "-extensions", "extensions", "-outdir", folder]
        arguments += ["-startdate", begins, "-enddate", ends, "-in", str(path / "request")]
        arguments += ["-cert", signer, "-keyfile", signer] if by else ["-selfsign", "-keyfile", own]
        _openssl("ca", *config, *arguments, "-out", str(path / "certificate"))
        return Pair((path / "certificate").read_text(), (path / "key").read_text())


def _time(text: str) -> datetime:
    return _EPOCH + timedelta(seconds=ssl.cert_time_to_seconds(text))


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

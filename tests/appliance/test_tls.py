"""`templo-mayor tls`: certificates that real clients judge, and the pages behind haproxy with our configuration."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from companion.adapters.network import certificates
from companion.adapters.network.addresses import ANNOUNCED
from companion.adapters.network.certificates import CertificateError, Pair
from companion.appliance import command_line, status, tls
from companion.settings import WebSettings
from companion.web.server.serving import Server
from tests.appliance.secure import HOSTS, PATIENCE_S, Machine, haproxy

NOW = datetime.now(UTC)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "tls")


@contextmanager
def serving(app: Callable[..., Iterable[bytes]]) -> Iterator[int]:
    """Serve an application as the companion does that has haproxy in front of it; yields the port."""
    server = Server(app, WebSettings("127.0.0.1", 0, streams=4, proxy=tls.LOOPBACK))
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server.port
    finally:
        server.stop()
        thread.join(PATIENCE_S)


def who_asks(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """Answer with what the companion takes for the scheme and the client."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{environ['wsgi.url_scheme']} {environ['REMOTE_ADDR']} {environ['HTTP_HOST']}".encode()]


def asked(port: int, client: ssl.SSLContext, host: str, **headers: str) -> str:
    """Request a page under a host's name; the client checks its certificate."""
    with (
        closing(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)) as plain,
        client.wrap_socket(plain, server_hostname=host) as secure,
    ):
        connection = http.client.HTTPConnection(host)
        connection.sock = secure
        connection.request("GET", "/", headers={"Connection": "close", **headers})
        return connection.getresponse().read().decode()


def names_of(machine: Machine) -> frozenset[str]:
    return certificates.read(machine.tls.served).hosts


def test_a_client_that_trusts_the_authority_reaches_the_pages_under_every_name_and_address(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    with serving(who_asks) as companion, haproxy(machine, companion) as port:
        for host in HOSTS:
            assert asked(port, machine.trusting(), host) == f"https 127.0.0.1 {host}"
        with pytest.raises(ssl.SSLCertVerificationError):
            asked(port, ssl.create_default_context(), "localhost")
        with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
            asked(port, machine.trusting(), "other.local")


def test_a_client_s_word_for_its_own_address_and_scheme_is_replaced(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    forged = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}
    with serving(who_asks) as companion, haproxy(machine, companion) as port:
        assert asked(port, machine.trusting(), "localhost", **forged) == "https 127.0.0.1 localhost"


def test_the_authority_can_vouch_for_no_public_site(machine: Machine) -> None:
    machine.hosts.append("temple.example.com")
    machine.tls.switch_on(80, NOW)
    machine.hosts.append("bank.example.com")
    assert machine.tls.unsigned() == ["bank.example.com"]
    authority = Pair(machine.tls.authority.read_text(), (machine.folder / "authority.key").read_text())
    stolen = certificates.make_certificate(authority, ["bank.example.com"], NOW)
    machine.tls.served.write_text(stolen.certificate + stolen.key)
    with (
        serving(who_asks) as companion,
        haproxy(machine, companion) as port,
        pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree"),
    ):
        asked(port, machine.trusting(), "bank.example.com")


def test_secret_files_are_readable_by_their_owner_alone(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    modes = {path.name: path.stat().st_mode & 0o777 for path in machine.folder.iterdir()}
    assert modes == {"authority.key": 0o600, "authority.pem": 0o644, "server.pem": 0o600, "settings.env": 0o644}


def test_the_companion_is_started_again_with_its_proxy_and_authority(machine: Machine) -> None:
    machine.tls.switch_on(8080, NOW)
    assert machine.asked == [("restart", "templo-companion.service"), ("restart", "templo-tls.service")]
    assert (machine.folder / "settings.env").read_text().splitlines() == [
        "TEMPLO_WEB_PROXY=127.0.0.1",
        "COMPANION_ADDRESS=127.0.0.1:8080",
        f"TEMPLO_WEB_AUTHORITY={machine.folder}/authority.pem",
    ]


IDLE = "global\n\tstats socket /run/haproxy/admin.sock mode 660\n\ndefaults\n\tmode http\n"


def test_the_haproxy_that_debian_starts_and_that_serves_nothing_is_switched_off(machine: Machine) -> None:
    machine.packaged.write_text(IDLE)
    machine.tls.switch_on(80, NOW)
    assert ("disable", "--now", "haproxy.service") in machine.asked


@pytest.mark.parametrize("section", ["frontend site", "  listen stats"])
def test_a_haproxy_that_serves_something_else_goes_on(machine: Machine, section: str) -> None:
    machine.packaged.write_text(f"{IDLE}\n{section}\n\tbind :8443\n")
    machine.tls.switch_on(80, NOW)
    assert machine.asked == [("restart", "templo-companion.service"), ("restart", "templo-tls.service")]


@pytest.mark.parametrize(
    ("state", "named"), [(ANNOUNCED, True), ("another machine in this network has that name", False)]
)
def test_the_command_prints_the_names_that_lead_here_the_alias_among_them(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: str, named: bool
) -> None:
    def systemd(*words: str) -> str:
        return state if words[0] == "show" and words[-1] == status.NAME else machine.systemd(*words)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(tls, "FOLDER", machine.folder)
    monkeypatch.setattr(tls, "PACKAGED", machine.packaged)
    monkeypatch.setattr(status, "systemctl", systemd)
    monkeypatch.setattr(status, "phone_addresses", lambda: ("192.168.1.7",))
    monkeypatch.setattr(status, "announced_name", lambda: "attic.local")
    monkeypatch.setattr("companion.adapters.network.addresses.own_names", lambda: ["attic.local", "templo.local"])
    monkeypatch.setattr("companion.adapters.network.addresses.own_addresses", lambda: ["192.168.1.7"])
    assert command_line.main(["tls"]) == 0
    printed = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  https:")]
    assert printed == ["https://192.168.1.7", *["https://templo.local"] * named, "https://attic.local"]


def test_a_certificate_is_renewed_for_a_new_address_and_not_without_need(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    before = machine.tls.served.read_text()
    machine.asked.clear()
    machine.hosts.remove("192.168.1.7")
    assert not machine.tls.renew(80, NOW)
    assert (machine.tls.served.read_text(), machine.asked) == (before, [])
    machine.hosts.append("10.0.0.5")
    assert machine.tls.renew(80, NOW)
    assert {"10.0.0.5", "raspberrypi.local"} <= names_of(machine)
    assert machine.asked == [("restart", "templo-tls.service")]
    assert not machine.tls.renew(80, NOW)


def test_another_port_of_the_pages_is_followed(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    machine.asked.clear()
    assert machine.tls.renew(8080, NOW) == ["The pages are at port 8080 now."]
    assert "COMPANION_ADDRESS=127.0.0.1:8080\n" in (machine.folder / "settings.env").read_text()
    assert machine.asked == [("restart", "templo-tls.service")]
    assert not machine.tls.renew(8080, NOW)


def test_a_name_that_the_authority_may_not_sign_renews_nothing_for_ever(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    machine.hosts.append("raspberrypi.speedport.ip")
    assert not machine.tls.renew(80, NOW)
    assert machine.tls.unsigned() == ["raspberrypi.speedport.ip"]
    machine.hosts.append("kitchen.local")
    assert machine.tls.renew(80, NOW)
    assert "kitchen.local" in names_of(machine)


def test_a_certificate_is_renewed_before_it_ends_by_the_same_authority(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    authority, ends = machine.tls.authority.read_text(), certificates.read(machine.tls.served).ends
    assert timedelta(days=395) < ends - NOW < timedelta(days=398)
    before = machine.tls.served.read_text()
    assert not machine.tls.renew(80, ends - timedelta(days=61))
    assert machine.tls.renew(80, ends - timedelta(days=59))
    assert machine.tls.served.read_text() != before
    assert machine.tls.authority.read_text() == authority


def accepts(authority: str, machine: Machine, at: datetime) -> bool:
    """Return whether a phone that trusts an authority accepts what is served at a time by its own clock."""
    trusted = machine.folder.with_name("trusted.pem")
    trusted.write_text(authority)
    words = ["-attime", str(int(at.timestamp())), "-CAfile", trusted, "-verify_hostname", "raspberrypi.local"]
    done = subprocess.run(
        ["openssl", "verify", *words, machine.tls.served], capture_output=True, check=False, timeout=PATIENCE_S
    )
    return done.returncode == 0


def test_a_phone_whose_clock_is_hours_behind_accepts_a_certificate_that_was_just_made(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    authority = machine.tls.authority.read_text()
    assert accepts(authority, machine, NOW)
    assert accepts(authority, machine, NOW - timedelta(hours=1))
    assert accepts(authority, machine, NOW - timedelta(hours=20))
    served = certificates.read(machine.tls.served)
    assert served.ends - served.begins == certificates.CERTIFICATE_FOR


def test_every_phone_that_trusts_the_authority_accepts_its_certificates_until_it_ends(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    first, ends = machine.tls.authority.read_text(), certificates.read(machine.tls.authority).ends
    now, authorities = NOW, [first]
    while now < ends - timedelta(hours=1):
        assert accepts(first, machine, now), now
        now = min(certificates.read(machine.tls.served).ends - timedelta(days=59), ends - timedelta(hours=1))
        machine.tls.renew(80, now)
        if (authority := machine.tls.authority.read_text()) != authorities[-1]:
            authorities.append(authority)
    assert accepts(first, machine, now)
    assert len(authorities) == 2
    assert accepts(authorities[1], machine, now)
    assert ends - now < certificates.CERTIFICATE_FOR
    assert accepts(authorities[1], machine, ends + timedelta(days=1))
    assert (machine.folder / "authority.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("made", [datetime(1970, 1, 1, 0, 2, tzinfo=UTC), datetime(2099, 6, 1, tzinfo=UTC)])
def test_a_certificate_that_was_made_by_a_wrong_clock_is_renewed_once_the_clock_is_right(
    machine: Machine, made: datetime
) -> None:
    machine.tls.switch_on(80, made)
    assert not machine.tls.renew(80, made + timedelta(minutes=15))
    assert accepts(machine.tls.authority.read_text(), machine, made)
    assert not accepts(machine.tls.authority.read_text(), machine, NOW)
    assert machine.tls.renew(80, NOW) == ["The certificate was renewed."]
    assert accepts(machine.tls.authority.read_text(), machine, NOW)
    assert not machine.tls.renew(80, NOW)


def test_switched_off_and_on_again_it_is_the_same_authority(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    authority = machine.tls.authority.read_text()
    machine.tls.switch_off()
    assert not machine.tls.is_on
    assert not machine.tls.renew(80, NOW)
    assert sorted(path.name for path in machine.folder.iterdir()) == ["authority.key", "authority.pem"]
    assert machine.asked[-2:] == [("stop", "templo-tls.service"), ("restart", "templo-companion.service")]
    machine.tls.switch_on(80, NOW)
    assert machine.tls.authority.read_text() == authority


@pytest.fixture
def given(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate from elsewhere, and its key."""
    return _written(tmp_path, certificates.make_authority("elsewhere", ["temple.example.com"], NOW))


def _written(folder: Path, pair: Pair) -> tuple[Path, Path]:
    (folder / "chain.pem").write_text(pair.certificate)
    (folder / "key.pem").write_text(pair.key)
    return folder / "chain.pem", folder / "key.pem"


def test_a_given_certificate_is_served_and_taken_again_when_its_file_changes(
    machine: Machine, given: tuple[Path, Path], tmp_path: Path
) -> None:
    machine.tls.switch_on(80, NOW, given)
    served = machine.tls.served
    assert served.read_text() == f"{given[0].read_text().rstrip()}\n{given[1].read_text()}"
    assert (machine.folder / "given").stat().st_mode & 0o777 == 0o600
    assert not (machine.folder / "authority.pem").exists()
    assert "AUTHORITY" not in (machine.folder / "settings.env").read_text()
    assert not machine.tls.renew(80, NOW)
    _written(tmp_path, certificates.make_authority("elsewhere", ["temple.example.com"], NOW))
    assert machine.tls.renew(80, NOW)
    assert given[0].read_text().rstrip() in served.read_text()
    machine.tls.switch_on(80, NOW)
    assert HOSTS[0] in names_of(machine)


def test_a_key_of_another_certificate_is_refused_and_leaves_what_was_served(
    machine: Machine, given: tuple[Path, Path]
) -> None:
    machine.tls.switch_on(80, NOW)
    before = machine.tls.served.read_text()
    given[1].write_text(certificates.make_authority("another", [], NOW).key)
    with pytest.raises(CertificateError, match=r"chain\.pem and .*key\.pem cannot be used; expected a certificate"):
        machine.tls.switch_on(80, NOW, given)
    assert machine.tls.served.read_text() == before
    assert not machine.tls.is_given


def test_a_key_with_a_password_is_refused_with_why(machine: Machine, given: tuple[Path, Path]) -> None:
    secret = given[1].with_name("secret.pem")
    words = ["openssl", "pkey", "-in", given[1], "-aes256", "-passout", "pass:secret", "-out", secret]
    subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE_S)
    with pytest.raises(CertificateError, match=r"secret\.pem has a password; expected a key without one"):
        machine.tls.switch_on(80, NOW, (given[0], secret))


def test_the_command_says_in_three_sentences_how_a_phone_trusts_it(machine: Machine) -> None:
    machine.tls.switch_on(80, NOW)
    lines = tls.described(machine.tls, ["http://192.168.1.7", "http://raspberrypi.local", "http://10.1.1.1"])
    assert [line.strip() for line in lines if "https" in line] == ["https://192.168.1.7", "https://raspberrypi.local"]
    said = "\n".join(lines)
    assert "open http://192.168.1.7/trust and download the authority.\nCompare its fingerprint" in said
    assert certificates.read(machine.tls.authority).fingerprint in said


def test_the_command_names_what_prevents_it(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert tls.command(machine.tls, "on", None, 80, "", []) == (1, ["This needs root: sudo templo-mayor tls"])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(tls, "HAPROXY", machine.folder / "none")
    assert "'sudo apt install haproxy' brings it" in tls.command(machine.tls, "on", None, 80, "", [])[1][0]
    monkeypatch.setattr(tls, "HAPROXY", Path("/usr/sbin/haproxy"))
    code, lines = tls.command(machine.tls, "on", None, 80, "192.168.1.2", [])
    assert (code, lines[0]) == (
        1,
        "web.proxy is '192.168.1.2'; expected none: let that reverse proxy serve the pages over TLS.",
    )
    assert not machine.folder.exists()

"""Pairing a temple: what a companion answers becomes settings, and nothing that stands in them gets lost."""

from __future__ import annotations

import json
import os
import pwd
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from controller.app import settings as controller_settings
from controller.app.pairing import Paired, PairingError, Place, ask, overriding, place
from tests.controller.program import call

PAIRED = {
    "temple": "attic",
    "brokers": "temple.local:1883,two.lan:1884",
    "user": "temple-attic",
    "password": 'a "word" # of = signs',
    "table": "Sunday",
}


@dataclass
class Answers:
    """What stands for a companion answers, and what it was asked."""

    status: int = 200
    body: bytes = json.dumps(PAIRED).encode()
    codes: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    address: str = ""


@contextmanager
def answering(status: int = 200, body: bytes = Answers.body) -> Iterator[Answers]:
    answers = Answers(status, body)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            answers.codes += form["code"]
            answers.origins.append(self.headers["Origin"])
            self.send_response(answers.status)
            self.end_headers()
            self.wfile.write(answers.body)

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    answers.address = f"127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield answers
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_a_companion_gives_is_what_the_controller_reads(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "controller.toml"
    with answering() as companion:
        done = call("pair", companion.address, "ABCD-EFGH", "--config", str(file))
    assert done.returncode == 0, done.stderr
    assert companion.codes == ["ABCD-EFGH"]
    assert companion.origins == [f"http://{companion.address}"]
    read = controller_settings.load(file=file, environ={}, flags={}, home=tmp_path)
    assert (read.temple, read.broker.host) == ("attic", PAIRED["brokers"])
    assert (read.broker.user, read.broker.password) == ("temple-attic", PAIRED["password"])
    assert "This temple is attic now, and serves the table 'Sunday'." in done.stdout
    assert f"templo-controller run --config {file}" in done.stdout
    assert PAIRED["password"] not in done.stdout + done.stderr + file.read_text()
    assert (mode(file), mode(file.with_name("controller-password"))) == (0o600, 0o600)


def test_all_other_settings_stay_and_the_file_before_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "controller.toml"
    before = 'temple = "main"\n# Our pins.\n[beams]\ntlaloc = 22\n[broker]\nhost = "old"\nkeepalive_s = 5\n'
    file.write_text(before)
    where = place(file, tmp_path, tmp_path / "missing")
    where.write(Paired("attic", "new.lan", "temple-attic", "secret"), where.read())
    read = controller_settings.load(file=file, environ={}, flags={}, home=tmp_path)
    assert (read.temple, read.beams.tlaloc, read.broker.keepalive_s) == ("attic", 22, 5)
    assert (read.broker.host, read.broker.password) == ("new.lan", "secret")
    assert (tmp_path / "controller.toml.before-pairing").read_text() == before


def test_the_installed_service_gets_its_settings_and_a_drop_in_for_a_broker_elsewhere(tmp_path: Path) -> None:
    installed = tmp_path / "var"
    installed.mkdir()
    where = place(None, tmp_path / "usual.toml", installed, root=tmp_path)
    where.write(Paired("attic", "new.lan", "temple-attic", "secret"), where.read())
    assert (tmp_path / "etc/templo-mayor/controller.toml").exists()
    drop_in = (tmp_path / "etc/systemd/system/templo-controller.service.d/paired.conf").read_text()
    assert "\nEnvironmentFile=\n" in drop_in, "the user of the machine's own broker counts no more"
    assert "\nIPAddressAllow=link-local 10.0.0.0/8" in drop_in
    assert "secret" not in drop_in


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to another user")
def test_the_installed_service_s_user_reads_its_settings_and_nobody_else_its_password(tmp_path: Path) -> None:
    where = Place(tmp_path / "controller.toml", "daemon", tmp_path / "units")
    where.write(Paired("attic", "new.lan", "temple-attic", "secret"), where.read())
    user = pwd.getpwnam("daemon")
    password, settings = where.password.stat(), where.settings.stat()
    assert (stat.S_IMODE(password.st_mode), password.st_uid) == (0o600, user.pw_uid)
    assert (stat.S_IMODE(settings.st_mode), settings.st_uid, settings.st_gid) == (0o640, 0, user.pw_gid)


def test_a_refused_code_changes_nothing_and_is_told_in_the_companion_s_words(tmp_path: Path) -> None:
    file = tmp_path / "controller.toml"
    with answering(403, json.dumps({"ok": False, "words": "That code has been \x1b[2Jused."}).encode()) as companion:
        done = call("pair", companion.address, "ABCD-EFGH", "--config", str(file))
    assert done.returncode == 1
    assert done.stderr == "templo-controller: That code has been \\x1b[2Jused.\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[" * 10_000,
        json.dumps({**PAIRED, "temple": "../x"}).encode(),
        json.dumps({**PAIRED, "password": "a\nb"}).encode(),
        json.dumps({**PAIRED, "user": ""}).encode(),
        json.dumps({**PAIRED, "brokers": "a b"}).encode(),
        json.dumps({**PAIRED, "password": "x" * 20_000}).encode(),
    ],
)
def test_an_answer_of_another_form_is_refused_without_showing_it(body: bytes) -> None:
    with answering(200, body) as companion, pytest.raises(PairingError, match="nothing that a companion") as refused:
        ask(companion.address, "ABCD-EFGH")
    assert PAIRED["password"] not in str(refused.value)


@pytest.mark.parametrize("address", ["", "ftp://x", "http://", "http://[::1", "a:99999"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(PairingError, match="is no address"):
        ask(address, "ABCD-EFGH")


def test_where_no_companion_answers_that_is_said(tmp_path: Path) -> None:
    with answering() as companion:
        pass
    with pytest.raises(PairingError, match="no companion answers"):
        ask(companion.address, "ABCD-EFGH")
    with pytest.raises(PairingError, match="authority's certificate"):
        ask("https://localhost", "ABCD-EFGH", tmp_path / "missing.pem")


@pytest.mark.parametrize("content", [None, "[broken"])
def test_a_code_is_not_used_where_the_settings_cannot_be_written(tmp_path: Path, content: str | None) -> None:
    if content is None:
        (tmp_path / "file").touch()
        file = tmp_path / "file" / "controller.toml"
    else:
        file = tmp_path / "controller.toml"
        file.write_text(content)
    with answering() as companion:
        done = call("pair", companion.address, "ABCD-EFGH", "--config", str(file))
    assert done.returncode == 1
    assert str(file) in done.stderr
    assert companion.codes == []


def test_a_password_is_in_no_representation() -> None:
    assert "secret" not in repr(Paired("attic", "new.lan", "temple-attic", "secret"))


def test_variables_that_count_more_than_the_file_are_named() -> None:
    assert overriding({"TEMPLO_BROKER_HOST": "x", "TEMPLO_LOG": "debug"}) == ["TEMPLO_BROKER_HOST"]

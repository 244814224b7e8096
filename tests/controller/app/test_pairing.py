"""Pairing a temple: a companion's answer becomes settings, and all other settings stay."""

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
from controller.app.pairing import Paired, PairingError, Place, overriding, place, request
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
    """A fake companion: its answers, and the requests that it received."""

    status: int = 200
    body: bytes = json.dumps(PAIRED).encode()
    codes: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    address: str = ""


@contextmanager
def answering(status: int = 200, body: bytes = Answers.body) -> Iterator[Answers]:
    answers = Answers(status, body)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            answers.codes += form["code"]
            answers.origins.append(self.headers["Origin"])
            answers.paths.append(self.path)
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
        done = call("pair", companion.address, "ABCD-EFGH-JKLM", "--config", str(file))
    assert done.returncode == 0, done.stderr
    assert companion.codes == ["ABCD-EFGH-JKLM"]
    assert companion.origins == [f"http://{companion.address}"]
    read = controller_settings.load(file=file, environ={}, flags={}, home=tmp_path)
    assert (read.temple, read.broker.host) == ("attic", PAIRED["brokers"])
    assert (read.broker.user, read.broker.password) == ("temple-attic", PAIRED["password"])
    assert read.web.address == f"http://{companion.address}"
    assert "This temple is attic now, and serves the table 'Sunday'." in done.stdout
    assert f"templo-controller run --config {file}" in done.stdout
    assert PAIRED["password"] not in done.stdout + done.stderr + file.read_text()
    assert (mode(file), mode(file.with_name("controller-password"))) == (0o600, 0o600)


def test_all_other_settings_stay_and_the_file_before_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "controller.toml"
    before = 'temple = "main"\n# Our pins.\n[beams]\ntlaloc = 22\n[broker]\nhost = "old"\nkeepalive_s = 5\n'
    file.write_text(before)
    where = place(file, [tmp_path / "usual.toml"], tmp_path / "missing")
    where.write(Paired("attic", "new.lan", "temple-attic", "secret"), where.read())
    read = controller_settings.load(file=file, environ={}, flags={}, home=tmp_path)
    assert (read.temple, read.beams.tlaloc, read.broker.keepalive_s) == ("attic", 22, 5)
    assert (read.broker.host, read.broker.password) == ("new.lan", "secret")
    assert (tmp_path / "controller.toml.before-pairing").read_text() == before


def test_the_installed_service_gets_its_settings_and_a_drop_in_for_a_broker_elsewhere(tmp_path: Path) -> None:
    installed = tmp_path / "var"
    installed.mkdir()
    where = place(None, [tmp_path / "usual.toml"], installed, root=tmp_path)
    where.write(Paired("attic", "new.lan", "temple-attic", "secret"), where.read())
    assert (tmp_path / "etc/templo-mayor/controller.toml").exists()
    drop_in = (tmp_path / "etc/systemd/system/templo-controller.service.d/broker-elsewhere.conf").read_text()
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


@pytest.mark.parametrize("code", ["ABCD-EFGH", "ABCD-EFGH-JKL0", "ABCD-EFGH-JKLM-N", ""])
def test_a_malformed_code_is_refused_before_any_companion_is_asked(tmp_path: Path, code: str) -> None:
    file = tmp_path / "controller.toml"
    with answering() as companion:
        done = call("pair", companion.address, code, "--config", str(file))
    assert (done.returncode, companion.codes) == (1, [])
    assert f"{code!r} is no code of a temple; expected twelve letters and digits" in done.stderr
    assert not file.exists()


def test_a_refused_code_changes_nothing_and_is_reported_in_the_companion_s_words(tmp_path: Path) -> None:
    file = tmp_path / "controller.toml"
    with answering(403, json.dumps({"ok": False, "words": "That code has been \x1b[2Jused."}).encode()) as companion:
        done = call("pair", companion.address, "ABCD-EFGH-JKLM", "--config", str(file))
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
        request(companion.address, "ABCD-EFGH-JKLM")
    assert PAIRED["password"] not in str(refused.value)


@pytest.mark.parametrize("address", ["", "ftp://x", "http://", "http://[::1", "a:99999", "no..name", "https://храм"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(PairingError, match="is no address"):
        request(address, "ABCD-EFGH-JKLM")


def test_a_companion_that_does_not_answer_is_reported(tmp_path: Path) -> None:
    with answering() as companion:
        pass
    with pytest.raises(PairingError, match="no companion answers"):
        request(companion.address, "ABCD-EFGH-JKLM")
    with pytest.raises(PairingError, match="authority's certificate"):
        request("https://localhost", "ABCD-EFGH-JKLM", tmp_path / "missing.pem")


@pytest.mark.parametrize("content", [None, "[broken"])
def test_a_code_is_not_used_where_the_settings_cannot_be_written(tmp_path: Path, content: str | None) -> None:
    if content is None:
        (tmp_path / "file").touch()
        file = tmp_path / "file" / "controller.toml"
    else:
        file = tmp_path / "controller.toml"
        file.write_text(content)
    with answering() as companion:
        done = call("pair", companion.address, "ABCD-EFGH-JKLM", "--config", str(file))
    assert done.returncode == 1
    assert str(file) in done.stderr
    assert companion.codes == []


def test_the_file_that_the_environment_names_is_written(tmp_path: Path) -> None:
    file = tmp_path / "named.toml"
    with answering() as companion:
        done = call("pair", companion.address, "ABCD-EFGH-JKLM", TEMPLO_CONTROLLER_CONFIG=str(file))
    assert done.returncode == 0, done.stderr
    assert controller_settings.load(file=file, environ={}, flags={}, home=tmp_path).temple == "attic"
    assert "unset" not in done.stdout


def test_of_the_usual_files_the_one_that_the_daemon_reads_is_written(tmp_path: Path) -> None:
    usual = [tmp_path / "home.toml", tmp_path / "etc.toml"]
    assert place(None, usual, tmp_path / "missing").settings == usual[0]
    usual[1].touch()
    assert place(None, usual, tmp_path / "missing").settings == usual[1]
    usual[0].touch()
    assert place(None, usual, tmp_path / "missing").settings == usual[0]
    assert place(tmp_path / "named.toml", usual, tmp_path).settings == tmp_path / "named.toml"


def test_a_relative_path_gives_a_password_file_that_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    where = place(Path("controller.toml"), [], tmp_path / "missing")
    where.write(Paired("attic", "new.lan", "temple-attic", "secret"), where.read())
    monkeypatch.chdir("/")
    read = controller_settings.load(file=tmp_path / "controller.toml", environ={}, flags={}, home=tmp_path)
    assert read.broker.password == "secret"


def test_naming_the_installed_service_s_file_is_the_same_as_naming_none(tmp_path: Path) -> None:
    service = place(None, [], tmp_path, root=tmp_path)
    assert place(service.settings, [], tmp_path, root=tmp_path) == service


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to another user")
@pytest.mark.parametrize(("before", "password"), [(0o640, 0o640), (0o600, 0o600), (0o644, 0o600)])
def test_a_file_that_is_replaced_keeps_its_owner_and_its_mode(tmp_path: Path, before: int, password: int) -> None:
    file = tmp_path / "controller.toml"
    file.touch()
    file.chmod(before)
    os.chown(file, 1, 2)
    where = place(file, [], tmp_path / "missing")
    where.write(Paired("attic", "new.lan", "temple-attic", "secret"), where.read())
    for path, expected in ((file, before), (where.password, password)):
        found = path.stat()
        assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (expected, 1, 2), path


@pytest.mark.parametrize("blocked", ["units", "units/templo-controller.service.d", "controller-password/x"])
def test_a_code_is_not_used_where_the_drop_in_or_the_password_cannot_be_written(tmp_path: Path, blocked: str) -> None:
    path = tmp_path / blocked
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with pytest.raises(PairingError, match=blocked.removesuffix("/x")):
        Place(tmp_path / "controller.toml", units=tmp_path / "units").read()


def test_a_code_is_not_used_where_the_daemon_would_refuse_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "controller.toml"
    file.write_text("[beams]\ntlaloc = 99\n")
    with pytest.raises(PairingError, match=r"beams\.tlaloc is 99 \(from .*controller\.toml\); expected a BCM pin"):
        Place(file).read()


def test_settings_of_the_broker_that_pairing_replaces_may_be_wrong(tmp_path: Path) -> None:
    file = tmp_path / "controller.toml"
    file.write_text('temple = "No Name"\n[broker]\nport = 0\npassword_file = "missing"\n')
    assert Place(file).read()["temple"] == "No Name"


def test_what_an_interrupted_run_left_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / ".controller.toml.probe").touch()
    assert Place(tmp_path / "controller.toml").read() == {}
    assert list(tmp_path.iterdir()) == []


def test_a_password_is_in_no_representation() -> None:
    assert "secret" not in repr(Paired("attic", "new.lan", "temple-attic", "secret"))


def test_variables_that_count_more_than_the_file_are_named() -> None:
    file = Path("/etc/templo-mayor/controller.toml")
    assert overriding({"TEMPLO_BROKER_HOST": "x", "TEMPLO_LOG": "debug"}, file) == ["TEMPLO_BROKER_HOST"]
    assert overriding({"TEMPLO_CONTROLLER_CONFIG": "/elsewhere.toml"}, file) == ["TEMPLO_CONTROLLER_CONFIG"]
    assert overriding({"TEMPLO_CONTROLLER_CONFIG": str(file)}, file) == []


def test_a_temple_is_paired_below_the_path_of_the_companion_s_address(tmp_path: Path) -> None:
    file = tmp_path / "controller.toml"
    with answering() as companion:
        done = call("pair", f"http://{companion.address}/club-a/", "ABCD-EFGH-JKLM", "--config", str(file))
    assert done.returncode == 0, done.stderr
    assert companion.paths == ["/club-a/pair"]
    page = controller_settings.load(file=file, environ={}, flags={}, home=tmp_path).page("kitchen")
    assert page == f"http://{companion.address}/club-a/temples/{PAIRED['temple']}"

"""One command runs a club with real PostgreSQL, NATS and haproxy, and each part is directed by its name."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import psycopg
import pytest

from companion.adapters.network.certificates import make_authority, make_certificate
from companion.cli.club import control as control_module
from companion.cli.club import parts, postgresql, proxy
from companion.cli.club.command_line import default_folder, main
from companion.cli.club.control import Control, Lines, send
from companion.cli.club.parts import Part, Plan
from companion.cli.club.running import Club, CommandError
from companion.cli.programs import network
from companion.cli.programs.children import Program, Signals
from companion.cli.programs.starting import LaunchError
from tests.companion.cli.conftest import Started, alive, family
from tests.waiting import eventually, within

PATIENCE_S = 300
SLEEPS = (sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)")


@pytest.fixture
def signals() -> Iterator[Signals]:
    with Signals() as signals:
        yield signals


@pytest.fixture
def club(signals: Signals, tmp_path: Path) -> Iterator[tuple[Club, list[str]]]:
    """A club of three small programs that runs, and what it has reported."""
    reported: list[str] = []
    programs = [(name, SLEEPS) for name in ("broker-1", "worker-1", "worker-2")]
    running = Club(plan(tmp_path, *programs), signals, reported.append)
    try:
        running.start()
        yield running, reported
    finally:
        running.end()


def plan(folder: Path, *programs: tuple[str, tuple[str, ...]]) -> Plan:
    stages = []
    for name, command in programs:
        program = Program(name, command, dict(os.environ), folder)
        stages.append((Part(program, "nowhere", lambda child: "up" in child.program.output.read_text()),))
    return Plan(tuple(stages), (), "", "", "", ())


def states(club: Club) -> dict[str, str]:
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in club.obey(["status"])}


def test_a_part_that_was_stopped_or_killed_is_started_again_by_its_name(club: tuple[Club, list[str]]) -> None:
    running, _ = club
    assert running.obey(["stop", "worker-2"]) == ["Stopped worker-2."]
    assert running.obey(["kill", "broker-1"]) == ["Killed broker-1."]
    assert states(running)["worker-2"] == "stopped"
    assert states(running)["broker-1"] == "killed"
    assert states(running)["worker-1"].startswith("runs (process ")
    assert running.obey(["start", "worker-2", "broker-1"]) == ["Started worker-2 and broker-1."]
    assert all(state.startswith("runs") for state in states(running).values())


def test_several_parts_start_in_their_order_and_stop_in_the_reverse_one(signals: Signals, tmp_path: Path) -> None:
    events = tmp_path / "events"
    code = f"""if True:
        import signal, sys, time
        def note(event):
            with open({str(events)!r}, "a") as file: file.write(event + " " + sys.argv[1] + chr(10))
        def ending(*_):
            time.sleep(0.3)
            note("ended")
            sys.exit()
        signal.signal(signal.SIGTERM, ending)
        time.sleep(0.3)
        note("up")
        print("up", flush=True)
        time.sleep(600)
    """
    names = ["store", "worker", "proxy"]
    running = Club(
        plan(tmp_path, *((name, (sys.executable, "-c", code, name)) for name in names)), signals, lambda _: None
    )
    try:
        running.start()
        assert running.obey(["stop", "all"]) == ["Stopped store, worker and proxy."]
        assert running.obey(["start", "proxy", "worker", "store"]) == ["Started proxy, worker and store."]
        up, ended = [f"up {name}" for name in names], [f"ended {name}" for name in reversed(names)]
        assert events.read_text().splitlines() == [*up, *ended, *up]
        with pytest.raises(CommandError, match=r"store, worker and proxy are already running\."):
            running.obey(["start", "all"])
        running.obey(["stop", "proxy", "store"])
        with pytest.raises(CommandError, match=r"store is not running\."):
            running.obey(["stop", "store"])
    finally:
        running.end()


def test_a_part_that_ends_by_itself_is_named_and_the_rest_goes_on(club: tuple[Club, list[str]]) -> None:
    running, reported = club
    (pid,) = re.findall(r"process (\d+)", states(running)["worker-1"])
    os.kill(int(pid), signal.SIGKILL)

    def noticed() -> bool:
        running.watch()
        return "worker-1 has ended by itself (signal SIGKILL): 'start worker-1' starts it again." in reported

    eventually(noticed)
    assert [name for name, state in states(running).items() if state.startswith("runs")] == ["broker-1", "worker-2"]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["stop", "worker-9"], "'worker-9' is no part of this club; did you mean worker-"),
        (["stop", "x"], "'x' is no part of this club; expected one of broker-1, worker-1, worker-2"),
        (["stop"], "stop needs the name of a part, such as worker-2."),
        (["start", "worker-1"], "worker-1 is already running."),
    ],
)
def test_a_command_that_cannot_be_carried_out_says_why(
    club: tuple[Club, list[str]], words: list[str], answer: str
) -> None:
    with pytest.raises(CommandError, match=re.escape(answer)):
        club[0].obey(words)


def test_an_unknown_command_is_answered_with_the_known_ones(club: tuple[Club, list[str]]) -> None:
    first, *others = club[0].obey(["explode"])
    assert first == "'explode' is no command. These are:"
    assert others == club[0].obey(["help"])


def test_a_part_that_does_not_start_again_is_named_with_its_log_and_the_rest_goes_on(
    signals: Signals, tmp_path: Path
) -> None:
    once = tmp_path / "once"
    code = f"""if True:
        import pathlib, sys, time
        if pathlib.Path({str(once)!r}).exists():
            sys.exit('no beans')
        print('up', flush=True)
        time.sleep(600)
    """
    programs = [("first", SLEEPS), ("second", (sys.executable, "-c", code))]
    running = Club(plan(tmp_path, *programs), signals, lambda _: None)
    try:
        running.start()
        once.touch()
        running.obey(["kill", "second"])
        with pytest.raises(CommandError, match=r"second has ended by itself \(exit code 1\)[^\0]*no beans"):
            running.obey(["start", "second"])
        assert states(running)["first"].startswith("runs")
        assert running.obey(["log", "second"]) == ["second:", "  no beans"]
    finally:
        running.end()


def test_a_program_that_is_gone_is_reported(signals: Signals, tmp_path: Path) -> None:
    running = Club(plan(tmp_path, ("proxy", (str(tmp_path / "haproxy"),))), signals, lambda _: None)
    with pytest.raises(LaunchError, match=r"The proxy cannot be started: .*No such file"):
        running.start()


def test_a_missing_program_is_reported_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(proxy, "_SBIN", str(tmp_path))
    monkeypatch.setattr(postgresql, "VERSIONS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--port", "0", "--folder", str(tmp_path / "club")]) == 1
    said = capsys.readouterr()
    assert said.err == "A club needs PostgreSQL and haproxy: 'sudo apt install postgresql haproxy' brings them.\n"
    assert not list((tmp_path / "club").iterdir())


def test_a_port_that_only_root_may_use_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def free(port: int, host: str = "") -> bool:
        if port < 1024:
            raise PermissionError
        return True

    monkeypatch.setattr(network, "free", free)
    assert main(["--port", "443", "--folder", str(tmp_path / "club")]) == 1
    assert capsys.readouterr().err.startswith("Port 443, for the pages, may be used by root alone: choose another")


def test_a_database_that_is_not_made_in_time_and_files_that_cannot_be_made_are_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("initdb", 300)

    def link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(postgresql, "_user", lambda: None)
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "run", run)
        with pytest.raises(LaunchError, match="initdb did not end within 300 seconds"):
            postgresql.prepare(tmp_path / "postgresql", 5432, "atl", 1, {}, tmp_path)
    monkeypatch.setattr(os, "link", link)
    (tmp_path / "club").mkdir()
    with pytest.raises(LaunchError, match=r"files cannot be made in .*club: .*Operation not permitted"):
        parts.plan(parts.Wish(), tmp_path / "club")


def test_a_folder_with_files_of_somebody_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "letters").write_text("Dear Ana")
    assert main(["--folder", str(tmp_path)]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["letters"]


def test_where_no_club_runs_a_command_for_one_says_how_to_start_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stop", "worker-2", "--folder", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"No club runs in {tmp_path}: 'make club' starts one.\n"


def test_a_user_s_club_has_one_folder_wherever_it_is_directed_from() -> None:
    assert default_folder().name == f"templo-club-{os.geteuid()}"


def test_the_socket_carries_out_a_command_and_says_what_is_wrong_with_another(tmp_path: Path) -> None:
    def obey(words: Sequence[str]) -> list[str]:
        if words == ["stop", "x"]:
            raise CommandError("'x' is no part of this club")
        return [" ".join(words)]

    control = Control(tmp_path)
    answers: list[tuple[bool, list[str]]] = []

    def client() -> None:
        answers.extend(send(tmp_path, words) for words in (["stop", "worker-2"], ["stop", "x"]))

    directing = threading.Thread(target=client)
    directing.start()
    try:

        def served() -> bool:
            control.serve(obey)
            return len(answers) == 2

        eventually(served)
        assert answers == [(True, ["stop worker-2"]), (False, ["'x' is no part of this club"])]
        assert (tmp_path / "control.sock").stat().st_mode & 0o777 == 0o600
    finally:
        control.close()
        directing.join()


def test_a_failure_of_a_command_is_not_taken_for_a_client_that_left(tmp_path: Path) -> None:
    def obey(_: Sequence[str]) -> list[str]:
        raise FileNotFoundError("no such program")

    control = Control(tmp_path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "control.sock"))
        client.sendall(b'["start", "proxy"]\n')
        try:
            with pytest.raises(FileNotFoundError, match="no such program"):
                control.serve(obey)
        finally:
            control.close()


def test_a_club_that_does_not_answer_is_not_taken_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_module, "_ANSWER_S", 0.05)
    control = Control(tmp_path)
    try:
        with pytest.raises(CommandError, match="has not answered"):
            send(tmp_path, ["stop", "worker-2"])
    finally:
        control.close()


@pytest.mark.parametrize("sent", [b"stop worker-2\n", b'{"stop": 1}\n', b"[1]\n", b"", b"[" * 4000])
def test_a_client_that_sends_something_else_is_answered_and_harms_nobody(tmp_path: Path, sent: bytes) -> None:
    control = Control(tmp_path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "control.sock"))
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        try:
            control.serve(lambda _: pytest.fail("nothing was to be carried out"))
        finally:
            control.close()
        assert json.loads(client.makefile().readline()) == {
            "ok": False,
            "lines": ["expected a list of words, as JSON"],
        }


def test_typed_lines_count_when_they_are_finished_and_a_closed_terminal_is_noticed() -> None:
    source, typing = os.pipe()
    try:
        lines = Lines(source)
        assert lines.read() == []
        os.write(typing, b"status\nstop wor")
        assert lines.read() == ["status"]
        os.write(typing, b"ker-2\n")
        assert lines.read() == ["stop worker-2"]
        os.close(typing)
        assert lines.read() == []
        assert lines.ended
    finally:
        os.close(source)


def test_haproxy_takes_the_configuration_for_any_number_of_workers(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    pair = make_certificate(make_authority("club", [], now), ["localhost"], now)
    (tmp_path / "server.pem").write_text(pair.certificate + pair.key)
    workers = {f"worker-{n}": f"127.0.0.1:{8000 + n}" for n in range(1, 17)}
    file = tmp_path / "haproxy.cfg"
    file.write_text(
        proxy.configuration("A test.", f"127.0.0.1:{network.any_free_port()}", str(tmp_path / "server.pem"), workers)
    )
    checked = subprocess.run([str(proxy.program()), "-c", "-f", file], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "WARNING" not in checked.stderr


class Running(Started):
    """A club of its own command, without a terminal."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.port = network.any_free_port()
        super().__init__("club", "--folder", str(folder), "--port", str(self.port), *flags)

    def directed(self, *words: str) -> str:
        command = [sys.executable, "-m", "companion", "club", "--folder", str(self.folder), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, path: str) -> http.client.HTTPResponse:
        """Ask the proxy as a browser that trusts the club's authority."""
        return self._asked("GET", path, None, {})

    def _asked(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        context = ssl.create_default_context(cafile=self.folder / "authority.pem")
        with (
            socket.create_connection(("127.0.0.1", self.port), timeout=60) as plain,
            closing(context.wrap_socket(plain, server_hostname="localhost")) as secure,
        ):
            connection = http.client.HTTPConnection("localhost", self.port)
            connection.sock = secure
            connection.request(method, path, body, {"Connection": "close", **headers})
            answer = connection.getresponse()
            answer.body = answer.read()  # type: ignore[attr-defined]
            return answer

    def post(self, path: str, form: dict[str, str], cookie: str = "") -> http.client.HTTPResponse:
        """Post a form of a page."""
        origin = f"https://localhost:{self.port}"
        headers = {"Origin": origin, "Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
        answer = self._asked("POST", path, urlencode(form), headers)
        assert answer.status == 303, answer.status
        return answer

    def worker(self, path: str) -> str:
        """Return which worker serves a page."""
        answer = self.ask(path)
        return answer.headers["X-Templo-Worker"] if answer.status == 200 else ""


def store_of(status: str) -> str:
    """Return the database's URL, which only a worker's environment holds, for psycopg."""
    (pid,) = re.findall(r"worker-1 .*process (\d+)", status)
    environment = Path(f"/proc/{pid}/environ").read_text().split("\0")
    (store,) = [word for word in environment if word.startswith("TEMPLO_STORE=")]
    return store.removeprefix("TEMPLO_STORE=").replace("postgresql+psycopg", "postgresql")


def page(url: str) -> str:
    with urllib.request.urlopen(url, timeout=180) as answer:
        return str(answer.read().decode())


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder that PostgreSQL's own user may enter, which pytest's are not."""
    made = Path(tempfile.mkdtemp(prefix="templo-club-"))
    yield made
    shutil.rmtree(made)


def test_a_club_plays_on_while_its_parts_are_stopped_and_leaves_nothing_behind(folder: Path) -> None:
    running = Running(folder, "--workers", "2", "--temples", "2", "--pace", "1")
    try:
        running.ready()
        status = running.directed("status")
        names = "postgresql broker-1 broker-2 broker-3 worker-1 worker-2 proxy temple-1 temple-2"
        assert [line.split()[0] for line in status.splitlines()] == names.split()
        tables = re.findall(r'href="(/t/\w+)"', running.ask("/tables").body.decode())
        assert len(set(tables)) == 2
        with closing(psycopg.connect(store_of(status), autocommit=True)) as store:

            def tokens() -> int:
                ((count,),) = store.execute("SELECT count(*) FROM token").fetchall()
                return int(count)

            def arriving() -> bool:
                before = tokens()
                return within(180, lambda: tokens() > before + 3, 0.2)

            assert arriving()
            (code,) = [line.split()[-1] for line in running.lines if "organiser" in line]
            cookie = running.post("/organiser/code", {"code": code}).headers["Set-Cookie"].partition(";")[0]
            running.post("/organiser/message", {"text": "Pizza is here", "minutes": "10"}, cookie)
            for worker in re.findall(r"worker-\d .*(http://\S+)", status):
                eventually(lambda: "Pizza is here" in page(f"{worker}{tables[0]}"), every_s=0.2)  # noqa: B023
            at = {table: running.worker(table) for table in tables}
            for table in tables:
                assert {running.worker(f"{table}/{page}") for page in ("rules", "story")} == {at[table]}
            serving = at[tables[0]]
            other = next(name for name in ("worker-1", "worker-2") if name != serving)
            assert running.directed("kill", serving, "broker-1") == f"Killed {serving} and broker-1.\n"
            eventually(lambda: running.worker(tables[0]) == other, every_s=0.2)
            assert arriving()
            assert running.directed("start", serving, "broker-1") == f"Started {serving} and broker-1.\n"
            eventually(lambda: running.worker(tables[0]) == serving, every_s=0.2)
        pids = family(running.process.pid)
        os.killpg(running.process.pid, signal.SIGINT)
        assert running.process.wait(PATIENCE_S) == 0
        eventually(lambda: not alive(pids))
        assert not list(folder.iterdir())
    finally:
        running.clear()


def test_a_club_killed_outright_takes_every_program_with_it_and_what_another_left_is_not_in_its_way(
    folder: Path,
) -> None:
    (folder / "club.lock").touch()
    (folder / "postgresql").mkdir()
    (folder / "control.sock").touch()
    running = Running(folder, "--workers", "1", "--brokers", "1", "--temples", "0")
    try:
        running.ready()
        pids = family(running.process.pid)
        assert len(pids) >= 4
        running.process.kill()
        assert within(180, lambda: not alive(pids), 0.2), pids
    finally:
        running.clear()

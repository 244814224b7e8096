"""The daemon and its command line, run as a person runs them: no broker is there, and nothing needs one."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import socket
import stat
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from controller.adapters.control_socket import StateLock, send_request
from controller.app import command_line, daemon, settings
from controller.core.messages import LevelRead
from templo import __version__, contract
from templo.contract import God, State, Trouble
from templo.liveness import Supervisor
from tests.brokers import free_port, mosquitto
from tests.controller.program import ROOT, Companion, Temple, call, command, environment
from tests.waiting import eventually


@pytest.fixture
def temple(tmp_path: Path, temples: list[Temple]) -> Temple:
    temples.append(Temple(tmp_path / "state", free_port()))
    return temples[0].start()


# -- commands on a running daemon --


def test_a_drop_into_a_running_simulation_goes_through_its_beams(temple: Temple) -> None:
    done = call("drop", "t", "--count", "3", "--state", str(temple.state))
    assert done.stdout == "3 tokens for tlaloc recorded, up to number 3 (the running daemon has them)\n"
    assert [(row["god"], row["flags"], row["width_ms"]) for row in temple.ledger()] == [
        ("tlaloc", ["simulated"], 12)
    ] * 3
    assert temple.report()["beams"]["tlaloc"] == "clear"


def test_a_drop_into_a_blocked_slot_says_so(temple: Temple) -> None:
    temple.press("T")
    eventually(lambda: temple.report()["beams"]["tlaloc"] == "jammed")
    done = call("drop", "tlaloc", "--state", str(temple.state))
    assert done.returncode == 1
    assert "not recorded yet of what was dropped for tlaloc: 1 of 1 token: the temple's status" in done.stderr
    status = call("status", "--state", str(temple.state)).stdout
    assert "Tlaloc           1 token, beam blocked: clear the chute" in status


def test_the_status_says_in_plain_words_how_the_temple_is(temple: Temple) -> None:
    words = call("status", "--state", str(temple.state)).stdout
    assert words.startswith("Temple templo: ready\n")
    assert "Huitzilopochtli  0 tokens, beam clear, and not yet proved by a token" in words
    assert "not connected" in words
    assert f"simulator {__version__}, time stamps: simulated" in words


def test_the_socket_is_open_to_its_owner_alone_and_answers_junk_with_reasons(temple: Temple) -> None:
    path = temple.state / "control.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(temple.state.stat().st_mode) == 0o700
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(str(path))
        with door.makefile("rwb") as lines:
            for line, words in [
                (b"junk", "expected a JSON object"),
                (b"[1]", "expected a JSON object"),
                (b"\xff\xfe", "expected a JSON object"),
                (
                    b'{"do":"reboot"}',
                    "the request is to 'reboot'; expected calibrate, dismiss, drop, selftest or status",
                ),
                (b'{"do":"drop","god":"Chac"}', "god is 'Chac'; expected huitzilopochtli or tlaloc"),
                (b'{"do":"drop","god":"tlaloc","count":0}', "count is 0; expected a whole number from 1"),
                (b'{"do":"drop","god":"tlaloc","count":true}', "count is True"),
                (b'{"do":"drop","god":"tlaloc","every_ms":-1}', "every_ms is -1; expected milliseconds"),
            ]:
                lines.write(line + b"\n")
                lines.flush()
                answer = json.loads(lines.readline())
                assert not answer["ok"]
                assert words in answer["error"]
    assert temple.report()["state"] == "ready"


def test_what_the_controller_keeps_is_its_owner_s_alone_and_what_was_open_is_tightened(temple: Temple) -> None:
    temple.drop()
    temple.kill()
    for path in temple.state.iterdir():
        path.chmod(0o644)
    umask = os.umask(0o022)
    try:
        temple.start()
    finally:
        os.umask(umask)
    temple.drop()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in temple.state.iterdir() if path.is_file()}
    assert {"ledger.sqlite3", "ledger.sqlite3-wal", "ledger.sqlite3-shm", "controller.lock"} <= set(modes)
    assert set(modes.values()) == {0o600}


def test_a_second_daemon_on_the_same_state_is_refused_in_one_sentence(temple: Temple) -> None:
    done = call("run", "--simulate", "--state", str(temple.state))
    assert done.returncode == 1
    assert done.stderr == (
        f"templo-controller: another controller (process {temple.pid}) already keeps {temple.state}\n"
    )
    assert temple.report()["state"] == "ready"


def test_a_daemon_that_was_killed_leaves_nothing_in_the_way_of_the_next(temple: Temple) -> None:
    temple.drop("tlaloc", 2)
    temple.kill()
    assert (temple.state / "control.sock").exists()
    assert temple.report()["running"] is False
    temple.start()
    assert temple.drop("tlaloc", 1) == 3


def test_keys_on_a_pipe_play_and_its_end_does_not_end_the_temple(temple: Temple) -> None:
    temple.press("h t\nx?")
    eventually(lambda: temple.report()["last_seq"] == 2)
    assert "'x' does nothing" in temple.log()
    temple._hang_up()
    time.sleep(0.1)
    assert temple.report()["state"] == "ready"
    assert temple.stop() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(temple: Temple, number: int) -> None:
    os.kill(temple.pid, number)
    assert temple._process.wait(180) == 0
    assert not (temple.state / "control.sock").exists()


def test_a_terminal_is_given_back_as_it_was(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    # A session of its own with the terminal in the foreground, as a shell would start it.
    script = (
        "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
        "os.execv(sys.executable, [sys.executable, '-m', 'controller', *sys.argv[1:]])"
    )
    program = [
        *(sys.executable, "-c", script),
        *("run", "--simulate", "--keys", "--state", str(tmp_path / "state"), "--broker", f"127.0.0.1:{free_port()}"),
    ]
    running = subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(), cwd=ROOT)
    try:
        said = b""
        while b"keys: h t" not in said:
            said += os.read(ours, 4096)
        assert termios.tcgetattr(theirs)[3] & termios.ICANON == 0
        os.write(ours, b"hq")
        while b"closing the temple" not in said:
            said += os.read(ours, 4096)
        assert b"a token falls for huitzilopochtli" in said
        assert running.wait(180) == 0
        assert termios.tcgetattr(theirs) == before
    finally:
        running.kill()
        running.wait()
        os.close(ours)
        os.close(theirs)


def test_a_dead_thread_is_logged_and_ends_the_daemon_for_its_supervisor(tmp_path: Path) -> None:
    script = (
        "import sys; from controller.simulation import beams; from controller.app.command_line import main\n"
        "def fail(*_): raise RuntimeError('a fault of ours')\n"
        "beams.SimulatedBeams._shade = fail\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        words = (
            "run",
            "--simulate",
            "--keys",
            "--state",
            str(tmp_path / "state"),
            "--broker",
            f"localhost:{broker.port}",
        )
        running = subprocess.Popen(
            [sys.executable, "-c", script, *words],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment(), bufsize=0,
        )  # fmt: skip
        try:
            companion.until(lambda: companion.statuses() and companion.statuses()[-1].state is State.READY)
            assert running.stdin is not None
            running.stdin.write(b"t")
            _, complaint = running.communicate(timeout=180)
        finally:
            running.kill()
            running.wait()
        assert running.returncode == 70
        assert b"the thread of the beams is dead" in complaint
        published = companion.until(lambda: [s for s in companion.statuses() if s.trouble is Trouble.DEAF])
        assert published[0].state is State.ALERT
        assert published[0].beams == dict.fromkeys(God, contract.Beam.UNKNOWN)


# -- commands without a daemon --


def test_a_drop_without_a_daemon_goes_into_the_ledger_as_a_test_unless_the_beams_are_simulated(
    tmp_path: Path,
) -> None:
    state = str(tmp_path / "state")
    assert "as tests, which are never scored" in call("drop", "--new", "--state", state).stdout
    assert "scored" not in call("drop", "tlaloc", "--simulate", "--state", state).stdout
    rows = [json.loads(line) for line in call("export", "--state", state).stdout.splitlines()]
    assert [(row["god"], row["flags"]) for row in rows] == [
        ("huitzilopochtli", ["simulated", "test"]),
        ("tlaloc", ["simulated"]),
    ]
    for row in rows:
        contract.decode("token", json.dumps({"v": 1, "replayed": False, **row}).encode())


def test_a_drop_into_a_directory_without_a_ledger_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    done = call("drop", "--state", str(tmp_path / "wrong"))
    assert done.returncode == 1
    assert "no daemon runs on" in done.stderr
    assert "make a ledger there with --new" in done.stderr
    assert not (tmp_path / "wrong").exists()


def test_an_export_is_json_lines_or_csv_on_the_terminal_or_in_a_file(tmp_path: Path) -> None:
    state, file = str(tmp_path / "state"), tmp_path / "tokens.csv"
    call("drop", "tlaloc", "--new", "--count", "600", "--state", state)
    done = call("export", "--state", state, "--format", "csv", "--output", str(file))
    assert done.stdout == f"600 tokens written to {file}\n"
    rows = list(csv.DictReader(io.StringIO(file.read_text())))
    assert [int(row["seq"]) for row in rows] == list(range(1, 601))
    assert rows[0]["flags"] == "simulated test"
    refused = call("export", "--state", state, "--output", str(tmp_path / "absent" / "file"))
    assert refused.returncode == 1
    assert "cannot be written: No such file or directory" in refused.stderr


def test_an_export_whose_reader_leaves_early_ends_silently(tmp_path: Path) -> None:
    call("drop", "--new", "--count", "2000", "--state", str(tmp_path))
    with subprocess.Popen(
        command("export", "--state", str(tmp_path)),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""


def test_there_is_a_status_before_anything_fell_and_no_export(tmp_path: Path) -> None:
    status = call("status", "--state", str(tmp_path))
    assert status.stdout.startswith("Temple templo: no daemon runs\n")
    assert f"there is none in {tmp_path}" in status.stdout
    assert status.returncode == 1
    done = call("export", "--state", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"templo-controller: there is no ledger at {tmp_path}/ledger.sqlite3\n"


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["run", "--set", "counting.min_brake_ms=4"], 2, "did you mean counting.min_break_ms?"),
        (["run", "--set", "novalue"], 2, "--set is 'novalue'; expected KEY=VALUE"),
        (["run", "--temple", "Templo Mayor"], 2, "temple is 'Templo Mayor' (from --temple); expected 1 to 32 lower"),
        (["run", "--broker", "localhost:mqtt"], 2, "broker.port is 'mqtt' (from --broker); expected a port"),
        (["run", "--config", "/nowhere.toml"], 2, "the settings file /nowhere.toml cannot be read"),
        (["run", "--simulate", "--state", "/dev/null/x"], 1, "cannot be made: Not a directory"),
        (["run", "--simulate", "--state", "/run/" + "x" * 120], 1, "expected at most 107: choose a shorter one"),
        (["drop", "chac"], 2, "'chac' is no god of this temple; expected huitzilopochtli or tlaloc"),
        (["drop", "--count", "0"], 2, "expected 1 to 100000"),
        ([], 2, "required: COMMAND"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_refused_in_one_sentence(
    tmp_path: Path, words: list[str], code: int, complaint: str
) -> None:
    if words and "--state" not in words:
        words = [*words, "--state", str(tmp_path)]
    done = call(*words)
    assert done.returncode == code
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_raspberry_pi_the_real_beams_are_refused_in_one_sentence(tmp_path: Path) -> None:
    done = call("run", "--state", str(tmp_path))
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "GPIO header was not found" in done.stderr or "python3-lgpio" in done.stderr


def test_without_a_daemon_there_is_no_answer(tmp_path: Path) -> None:
    assert send_request(tmp_path, {"do": "status"}, 1) is None


# -- what the daemon does besides --


def test_a_level_that_differs_twice_without_an_edge_is_read_and_once_is_not(tmp_path: Path) -> None:
    chosen = settings.load(
        file=None,
        environ={},
        flags={"state": (str(tmp_path), "--state"), "beams.factory": ("mock", "--set")},
        home=tmp_path,
    )
    one = daemon._Daemon(chosen, StateLock(tmp_path), Supervisor({}, os.getpid()))
    try:
        pin = one._beams._factory.pin("GPIO27")  # type: ignore[attr-defined] # the mock's pins
        pin._state = False  # the level falls, and no edge arrives
        one._check_levels()
        assert one._items.empty()
        one._check_levels()
        item = one._items.get_nowait()
        assert isinstance(item, LevelRead)
        assert (item.god, item.dark) == (God.TLALOC, True)
    finally:
        one._beams.close()
        assert one._pipeline._access.ledger is not None
        one._pipeline._access.ledger.close()


@pytest.mark.skipif("COVERAGE_PROCESS_CONFIG" in os.environ, reason="what measures coverage makes programs larger")
def test_the_daemon_stays_small_and_asleep(temple: Temple) -> None:
    """Bounds with room for a busy machine; the bench measures."""

    def used() -> float:
        fields = Path(f"/proc/{temple.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    temple.drop("tlaloc", 20)
    before = used()
    time.sleep(2)
    assert used() - before <= 0.05
    resident = next(
        int(line.split()[1])
        for line in Path(f"/proc/{temple.pid}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    )
    assert resident < 35 * 1024


def test_a_command_finds_the_installed_daemon_where_no_other_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed, home = tmp_path / "installed", tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(command_line, "INSTALLED", installed)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    with mosquitto(tmp_path) as broker:
        temple = Temple(installed, broker.port).start()
        try:
            assert command_line.main(["drop", "tlaloc"]) == 0
            assert "the running daemon has them" in capsys.readouterr().out
            assert command_line.main(["status", "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["running"]
            assert command_line.main(["status", "--temple", "other"]) == 1
            assert f"the daemon on {installed} is of temple templo, not other" in capsys.readouterr().err
            assert command_line.main(["status", "--json", "--state", str(home / "other")]) == 1
            assert not json.loads(capsys.readouterr().out)["running"]
        finally:
            temple.kill()

"""One command starts everything and leaves nothing behind: the real broker, companion and controller."""

from __future__ import annotations

import os
import pty
import re
import signal
import socket
import stat
import subprocess
import sys
import termios
import urllib.request
from pathlib import Path

import pytest

from companion.adapters.owner import ORGANISER_FILE, owner_in
from companion.cli.programs import network
from tests.companion.cli.conftest import Launched, alive, family, kill
from tests.waiting import eventually, within


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=180) as answer:
        return str(answer.read().decode())


def test_the_table_answers_and_ctrl_c_leaves_no_process_behind(launched: Launched) -> None:
    assert "<html" in fetch(launched.url())
    pids = family(launched.process.pid)
    os.killpg(launched.process.pid, signal.SIGINT)  # as the terminal does
    assert launched.ends() == (0, "")
    assert not alive(pids)
    assert network.free(launched.web)
    assert network.free(launched.broker)


def test_no_line_of_a_launch_without_a_terminal_holds_a_control_code(left_running: Launched) -> None:
    assert all(line.isprintable() for line in left_running.lines)
    assert any(re.search(r"http://\S+/j/[A-Z0-9]{6}$", line) for line in left_running.lines)
    assert any(re.search(r"code.* [A-Z0-9]{3}-[A-Z0-9]{3}$", line) for line in left_running.lines)


def test_the_organiser_s_page_and_its_code_are_printed(left_running: Launched) -> None:
    organiser = owner_in(left_running.state / ORGANISER_FILE)
    assert organiser
    (line,) = [each for each in left_running.lines if "/organiser" in each]
    assert line.endswith(f"code {organiser.code[:4]}-{organiser.code[4:]}")


def test_what_the_broker_asks_for_is_for_its_owner_alone(left_running: Launched) -> None:
    assert stat.S_IMODE((left_running.state / "broker/nats-server.conf").stat().st_mode) == 0o600
    with socket.create_connection(("127.0.0.1", left_running.broker), timeout=5) as stranger:
        stranger.sendall(b"\x10\x10\x00\x04MQTT\x04\x02\x00\x3c\x00\x04abcd")
        assert stranger.recv(16)[:4] == b"\x20\x02\x00\x05"  # CONNACK: not authorized


def test_a_launcher_killed_outright_takes_everything_with_it(launched: Launched) -> None:
    pids = family(launched.process.pid)
    launched.process.kill()
    assert within(180, lambda: not alive(pids)), pids


def test_a_program_that_dies_is_named_and_the_rest_is_ended(launched: Launched) -> None:
    pids = family(launched.process.pid)
    broker = next(pid for pid in pids if "nats-server" in Path(f"/proc/{pid}/cmdline").read_text())
    os.kill(broker, signal.SIGKILL)
    code, said = launched.ends()
    assert code == 1
    assert said.startswith("The broker has ended by itself (signal SIGKILL)")
    assert "Server is ready" in said
    assert not alive(pids)


def test_a_second_launch_on_the_same_state_is_refused(left_running: Launched) -> None:
    second = Launched(left_running.state)
    try:
        code, said = second.ends()
    finally:
        second.clear()
    assert code == 1
    assert said.count("\n") == 1
    assert "runs from" in said


@pytest.mark.parametrize("command", ["launch", "run"])
def test_a_deck_that_cannot_be_read_is_named_before_a_port_in_use(command: str, tmp_path: Path) -> None:
    deck = tmp_path / "misspelled.toml"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        flags = {
            "launch": ("--simulate", "--ports", port, str(network.any_free_port())),
            "run": ("--host", "127.0.0.1", "--port", port, "--state", str(tmp_path), "--demo-table", "templo"),
        }
        refused = subprocess.run(
            [sys.executable, "-m", "companion", command, *flags[command], "--deck", str(deck)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert refused.returncode == 2
    assert f"argument --deck: file is '{deck}'; expected one that can be read" in refused.stderr
    assert port not in refused.stderr


@pytest.mark.parametrize("which", [0, 1])
def test_a_port_in_use_is_named_with_its_holder_and_the_way_round_it(tmp_path: Path, which: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = [network.any_free_port(), network.any_free_port()]
        ports[which] = taken.getsockname()[1]
        refused = subprocess.run(
            [sys.executable, "-m", "companion", "launch", "--simulate", "--ports", *map(str, ports)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.count("\n") == 1
    assert f"Port {ports[which]}, for {('the pages', 'the broker')[which]}, is taken" in refused.stderr
    assert f"process {os.getpid()}" in refused.stderr
    assert re.search(r'make demo ARGS="--ports \d+ \d+"', refused.stderr)


class Person:
    """Somebody at a terminal that `make demo` runs in."""

    def __init__(self, *command: str) -> None:
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests may run under nohup
            os.execvp(command[0], command)  # the child is that program from here on
        self.seen = ""
        self._status: int | None = None

    def sees(self, text: str, seconds: float = 180) -> bool:
        return within(seconds, lambda: text in self.read())

    def types(self, keys: str) -> None:
        os.write(self.screen, keys.encode())

    def modes(self) -> list[object]:
        return list(termios.tcgetattr(self.screen)[:4])

    def ended(self) -> int | None:
        """The exit code; looking at the screen meanwhile, or its writer would wait for a reader for ever."""
        if self._status is None:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status

    def leaves(self, pids: set[int]) -> None:
        """Close the terminal, and see that nobody stays behind."""
        os.close(self.screen)
        if self._status is None:
            kill(pids | {self.pid})
            os.waitpid(self.pid, 0)

    def read(self) -> str:
        try:
            os.set_blocking(self.screen, False)
            while chunk := os.read(self.screen, 65536):
                self.seen += chunk.decode(errors="replace")
        except OSError:  # nothing more to see now, or the terminal's other end is gone
            pass
        return self.seen


def at_a_terminal() -> Person:
    ports = (str(network.any_free_port()), str(network.any_free_port()))
    return Person(sys.executable, "-m", "companion", "launch", "--simulate", "--ports", *ports)


def test_at_a_terminal_a_code_is_drawn_keys_are_read_and_ctrl_c_gives_the_terminal_back() -> None:
    person = at_a_terminal()
    found = person.modes()
    pids: set[int] = set()
    try:
        assert person.sees("Ctrl-C ends everything."), person.seen
        assert "▀" in person.seen
        eventually(lambda: person.modes() != found)  # keys come one by one, unechoed
        pids = family(person.pid)
        before = len(person.seen)
        person.types("t")
        assert within(180, lambda: "tlaloc" in person.read()[before:].lower()), person.seen
        person.types("\x03")
        assert within(180, lambda: person.ended() is not None), person.seen
        assert person.modes() == found
    finally:
        person.leaves(pids)
    assert person.ended() == 0
    assert not alive(pids)


def test_a_terminal_that_is_closed_ends_everything() -> None:
    person = at_a_terminal()
    assert person.sees("Ctrl-C ends everything."), person.seen
    eventually(lambda: len(family(person.pid)) == 3)
    pids = family(person.pid)
    os.close(person.screen)
    gone = within(180, lambda: not alive(pids | {person.pid}))
    kill(pids | {person.pid})
    os.waitpid(person.pid, 0)
    assert gone

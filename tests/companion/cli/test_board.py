"""A temple on a board of its own: the launcher prints what its set-up asks for, and that opens its topics alone."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from companion.cli.programs import broker, network
from companion.cli.programs.starting import without_settings
from tests.companion.cli.conftest import Started, family
from tests.waiting import eventually


class Starter(Started):
    """A launch for a board, without a terminal."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.web, self.broker = network.any_free_port(), network.any_free_port()
        ports = ("--ports", str(self.web), str(self.broker))
        super().__init__("launch", "--board", "--no-terminal", *ports, "--state", str(state))

    def answer(self, words: str) -> str:
        """What it prints for one question of the set-up."""
        (line,) = [each for each in self.lines if each.strip().startswith(words)]
        return line.strip().removeprefix(words).split()[0]

    def client(self) -> mqtt.Client:
        """Connect as the board would."""
        client = mqtt.Client(CallbackAPIVersion.VERSION2, "a-board", protocol=mqtt.MQTTv311)
        client.username_pw_set(self.answer("Broker's user"), self.answer("Broker's password"))
        client.connect("127.0.0.1", int(self.answer("Broker's port")))
        client.loop_start()
        return client


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    """A launch for a board, for all tests of this file."""
    started = Starter(tmp_path_factory.mktemp("board") / "state")
    try:
        started.ready()
        yield started
    finally:
        started.clear()


def test_it_starts_a_broker_and_a_companion_and_no_temple(starter: Starter) -> None:
    eventually(lambda: len(family(starter.process.pid)) == 2)
    assert starter.answer("Broker's port") == str(starter.broker)
    assert starter.answer("The temple's name") == "templo"


def test_a_temple_with_the_printed_answers_has_its_token_delivered(starter: Starter, tmp_path: Path) -> None:
    controller = [sys.executable, "-m", "controller"]
    state = ("--state", str(tmp_path))
    at = f"127.0.0.1:{starter.broker}"
    environment = without_settings() | {
        "TEMPLO_BROKER_USER": starter.answer("Broker's user"),
        "TEMPLO_BROKER_PASSWORD": starter.answer("Broker's password"),
    }
    name = starter.answer("The temple's name")
    temple = subprocess.Popen(
        [*controller, "run", "--simulate", "--temple", name, "--broker", at, *state], env=environment
    )

    def status(*words: str) -> str:
        done = subprocess.run([*controller, *words, *state], capture_output=True, text=True, check=False)
        return done.stdout

    try:
        eventually(lambda: "recorded" in status("drop", "tlaloc"))
        eventually(lambda: "1 token, 0 not yet delivered" in status("status"))
    finally:
        temple.terminate()
        temple.wait(60)


def test_its_user_reaches_no_other_temple(starter: Starter) -> None:
    board = starter.client()
    granted: list[int] = []
    board.on_subscribe = lambda client, data, mid, codes, properties: granted.extend(each.value for each in codes)
    try:
        eventually(board.is_connected)
        board.subscribe([("templo/templo/ack", 1), ("templo/attic/ack", 1), ("#", 1)])
        eventually(lambda: len(granted) == 3)
        assert granted == [1, 128, 128]
    finally:
        board.loop_stop()
        board.disconnect()


def test_the_password_stays_from_one_start_to_the_next_and_is_its_owners_alone(starter: Starter) -> None:
    folder = starter.state / "broker"
    assert broker.board(folder, "templo").password == starter.answer("Broker's password")
    assert stat.S_IMODE((folder / "temple-templo").stat().st_mode) == 0o600


def test_a_temple_is_simulated_or_a_board_and_not_both(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "companion", "launch", "--simulate", "--board", "--state", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "not allowed with argument --simulate" in done.stderr

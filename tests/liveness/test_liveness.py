"""The pulse, the supervisor and the feeder, one by one; both programs use the same."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from templo.liveness import START_S, Feeder, Pulse, Supervisor


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[socket.socket]:
    supervisor = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    supervisor.bind(str(tmp_path / "notify"))
    supervisor.setblocking(False)
    yield supervisor
    supervisor.close()


def received(supervisor: socket.socket) -> list[str]:
    words = []
    try:
        while True:
            words += supervisor.recv(4096).decode().split("\n")
    except BlockingIOError:
        return words


def test_a_stage_is_late_once_its_promise_is_over_and_no_more_once_it_beats(clock: Clock) -> None:
    pulse = Pulse(("a", "b"), clock)
    pulse.of("a")(5)
    pulse.of("b")(60)
    clock.now += 5
    assert pulse.late() == []
    clock.now += 0.1
    assert pulse.late() == ["a"]
    pulse.beat("a", 5)
    assert pulse.late() == []


def test_a_stage_that_never_beats_is_late_too(clock: Clock) -> None:
    pulse = Pulse(("a",), clock)
    assert not pulse.begun()
    clock.now += START_S + 1
    assert pulse.late() == ["a"]


def test_a_stage_that_joins_is_watched_and_one_that_rests_is_not(clock: Clock) -> None:
    pulse = Pulse((), clock)
    pulse.beat("visitor", 1)
    clock.now += 2
    assert pulse.late() == ["visitor"]
    pulse.rest("visitor")
    assert pulse.late() == []


def test_ready_is_sent_once_after_every_stage_began_and_the_watchdog_fed_only_while_none_is_late(
    clock: Clock, supervisor: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    pulse = Pulse(("a", "b"), clock)
    address = supervisor.getsockname()
    feeder = Feeder(pulse, Supervisor({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "6000000"}, 1))
    pulse.beat("a", 5)
    feeder.turn()
    assert received(supervisor) == []
    pulse.beat("b", 60)
    feeder.turn()
    feeder.turn()
    assert received(supervisor) == ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]
    clock.now += 6
    feeder.turn()
    assert received(supervisor) == ["STATUS=no progress from: a"]
    assert "no progress from: a" in caplog.text
    feeder.turn()
    assert received(supervisor) == []
    pulse.beat("a", 5)
    feeder.turn()
    assert received(supervisor) == ["STATUS=", "WATCHDOG=1"]
    feeder.stopping()
    feeder.turn()
    assert received(supervisor) == ["STOPPING=1"]


def test_the_feeder_turns_three_times_a_watchdog_and_often_until_it_is_ready(
    clock: Clock, supervisor: socket.socket
) -> None:
    pulse = Pulse(("a",), clock)
    feeder = Feeder(pulse, Supervisor({"NOTIFY_SOCKET": supervisor.getsockname(), "WATCHDOG_USEC": "3000000"}, 1))
    assert feeder.pause(2) < 0.1
    pulse.beat("a", 5)
    feeder.turn()
    assert feeder.pause(2) == 1
    assert feeder.pause(0.5) == 0.5


@pytest.mark.parametrize(
    "environ",
    [
        {"WATCHDOG_USEC": "6000000"},
        {"NOTIFY_SOCKET": "/nowhere"},
        {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "soon"},
        {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "0"},
        {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "6000000", "WATCHDOG_PID": "2"},
    ],
)
def test_no_watchdog_is_meant_for_us(environ: dict[str, str]) -> None:
    assert Supervisor(environ, 1).watchdog_s is None


def test_the_supervisor_takes_its_variables_away_so_that_no_child_speaks_in_our_name(
    supervisor: socket.socket,
) -> None:
    environ = {
        "NOTIFY_SOCKET": supervisor.getsockname(),
        "WATCHDOG_USEC": "6000000",
        "WATCHDOG_PID": "1",
        "HOME": "/",
    }
    assert Supervisor(environ, 1).watchdog_s == 6
    assert environ == {"HOME": "/"}


def test_an_abstract_socket_is_an_address_too(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(f"\0templo-{tmp_path.name}-{id(tmp_path)}")
        supervisor.setblocking(False)
        Supervisor({"NOTIFY_SOCKET": f"@templo-{tmp_path.name}-{id(tmp_path)}"}, 1).notify("READY=1")
        assert received(supervisor) == ["READY=1"]


def test_a_supervisor_that_is_gone_is_no_reason_to_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Supervisor({"NOTIFY_SOCKET": str(tmp_path / "gone")}, 1).notify("READY=1")
    assert "cannot be sent READY=1" in caplog.text
    Supervisor({}, 1).notify("READY=1")

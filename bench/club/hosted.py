"""What hosted clubs cost, each a companion that its socket starts: the first page of a sleeping one, and memory."""

from __future__ import annotations

import http.client
import socket
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from bench.tools import daemons
from bench.tools.figures import Chapter, Row
from bench.tools.programs import HOST, BenchError, Programs, Running
from bench.tools.readers import Readers

PHONES = 8
SETTLED_S = 3.0
REST_S = 10.0
PATIENCE_S = 120

AS_SYSTEMD = """
import os, sys
os.dup2(0, 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Passes the socket that it has as its input as systemd does, and becomes the companion."""


@dataclass(frozen=True, slots=True)
class _Club:
    """A club's socket, which is open whether its companion runs or not, and its number."""

    listening: socket.socket
    number: int

    @property
    def port(self) -> int:
        port: int = self.listening.getsockname()[1]
        return port

    def wake(self, programs: Programs, broker: int, *words: str) -> tuple[Running, float]:
        """Ask for the first page, start the companion, and return it with the seconds until the page was there."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE_S)
        began = time.monotonic()
        connection.request("GET", "/")
        state = programs.folder / f"club-{self.number}"
        companion = ("-m", "companion", "run", "--state", str(state), *words)
        command = [programs.tree.interpreter, "-c", AS_SYSTEMD, *companion]
        environment = {"TEMPLO_BROKER_PORT": str(broker), "TEMPLO_WEB_IDLE_S": "3600"}
        running = programs.start(f"club-{self.number}", command, environment, stdin=self.listening.fileno())
        with connection.getresponse() as answer:
            if answer.status != http.HTTPStatus.OK:
                raise BenchError(
                    f"the first page gave {answer.status}; expected 200; it said: {running.said()[-300:]}"
                )
            answer.read()
        connection.close()
        return running, time.monotonic() - began


def measure(programs: Programs, clubs: int) -> Chapter:
    """Measure so many clubs, one after the other and then all at once; raises `BenchError`."""
    broker = programs.mosquitto()
    with ExitStack() as scope:
        hosted = [_Club(scope.enter_context(socket.create_server((HOST, 0))), n) for n in range(clubs)]
        new, asleep, cpu = list[float](), list[float](), list[float]()
        for club in hosted:
            for found in (new, asleep):
                running, seconds = club.wake(programs, broker)
                found.append(seconds)
                cpu.append(running.cpu_s())
                running.end()
        awake = [club.wake(programs, broker)[0] for club in hosted]
        time.sleep(SETTLED_S)
        memory, rest = _memory(awake), _at_rest(awake)
        for each in awake:
            each.end()
        busy = [club.wake(programs, broker, "--demo-table", daemons.TEMPLE)[0] for club in hosted]
        for club, each in zip(hosted, busy, strict=True):
            table = each.wait_for("table").split()[1]
            scope.enter_context(Readers([(club.port, table)], PHONES)).wait_for_first()
        time.sleep(SETTLED_S)
        used = _memory(busy)
    rows = (
        Row("first page of a new club, median", "s", statistics.median(new)),
        Row("first page of a sleeping club, median", "s", statistics.median(asleep)),
        Row("the same, longest", "s", max(asleep)),
        Row("CPU until that page", "s", statistics.median(cpu)),
        Row("memory of each awake without a table (PSS)", "MiB", memory),
        Row("CPU of each awake with nothing to do", "ms/s", rest * 1000),
        Row(f"memory of each with a table and {PHONES} phones (PSS)", "MiB", used),
    )
    note = (
        f"{clubs} clubs, each a process of its own on SQLite, all at once for memory and rest. A sleeping club has no"
        " process: its socket is systemd's. The bench opens the sockets itself and starts a companion for the first"
        " connection, as systemd does."
    )
    return Chapter("Hosted clubs", rows, note)


def _memory(running: Sequence[Running]) -> float:
    return statistics.mean(each.memory()[0] for each in running)


def _at_rest(running: Sequence[Running]) -> float:
    """Return the seconds of processor time a second of each."""
    before = sum(each.cpu_s() for each in running)
    time.sleep(REST_S)
    return (sum(each.cpu_s() for each in running) - before) / REST_S / len(running)

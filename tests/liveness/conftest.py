"""A supervisor that only receives notifications, and programs that it starts."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.brokers import HOST, Broker, free_port, mosquitto
from tests.controller.program import ROOT, environment

WATCHDOG_S = 3.0

PATIENCE_S = 180.0
"""How long to wait for what must come: a busy machine makes a program slow, and not wrong."""


class Watched:
    """One of our programs under a supervisor that has a watchdog, and the notifications that it sent."""

    def __init__(self, folder: Path, name: str, words: list[str]) -> None:
        self.received: list[str] = []
        self._log = folder / f"{name}.log"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(folder / f"{name}.notify"))
        self._socket.settimeout(0.1)
        self._ended = threading.Event()
        self._receiver = threading.Thread(target=self._receive)
        self._receiver.start()
        environ = environment(
            NOTIFY_SOCKET=str(folder / f"{name}.notify"), WATCHDOG_USEC=str(round(WATCHDOG_S * 1e6))
        )
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *words], cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def _receive(self) -> None:
        """Receive all the time: what a full socket cannot take is dropped by its sender."""
        while not self._ended.is_set():
            with suppress(TimeoutError):
                self.received += self._socket.recv(4096).decode().split("\n")

    def listen(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Wait for so long, or until something is true; return whether it is."""
        end = time.monotonic() + seconds
        while not (done := until()) and time.monotonic() < end:
            time.sleep(0.05)
        return done

    def ready(self) -> None:
        """Wait until it notifies that it is ready."""
        assert self.listen(PATIENCE_S, lambda: "READY=1" in self.received or self.process.poll() is not None)
        assert self.process.poll() is None, self.log()

    def feeds(self, times: int) -> bool:
        """Wait until it has fed the watchdog so many times more; return whether it has."""
        least = self.received.count("WATCHDOG=1") + times
        return self.listen(PATIENCE_S, lambda: self.received.count("WATCHDOG=1") >= least)

    def finds(self, stage: str) -> bool:
        """Wait until its last status says that a stage makes no progress, or it has ended; return whether it has."""
        return self.listen(PATIENCE_S, lambda: stage in self._last_status() or self.process.poll() is not None)

    def fed_since_status(self) -> bool:
        """Return whether it fed the watchdog after its last status, as far as is known by now."""
        self.listen(0.3)
        backwards = self.received[::-1]  # a copy: more may come meanwhile
        status = next((n for n, each in enumerate(backwards) if each.startswith("STATUS=")), len(backwards))
        return "WATCHDOG=1" in backwards[:status]

    def _last_status(self) -> str:
        return next((each for each in reversed(self.received) if each.startswith("STATUS=")), "")

    def strike(self) -> None:
        """Let the sabotage happen."""
        self.process.send_signal(signal.SIGUSR1)

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._ended.set()
        self._receiver.join()
        self._socket.close()


class Bench:
    """Where programs are started, each beside a broker that runs."""

    def __init__(self, folder: Path, broker: Broker) -> None:
        self._folder = folder
        self.broker = broker
        self.watched: list[Watched] = []

    def state(self, name: str) -> Path:
        """Return a program's state directory."""
        return self._folder / name

    def words(self, program: str, name: str) -> list[str]:
        link = ["--broker", f"{HOST}:{self.broker.port}", "--state", str(self.state(name))]
        if program == "controller":
            return ["run", "--simulate", *link]
        return ["run", "--host", HOST, "--port", str(free_port()), *link]

    def start(self, program: str, name: str, *more: str) -> Watched:
        """Start a program as it is."""
        return self._started(name, ["-m", program, *self.words(program, name), *more])

    def strike_later(self, program: str, stage: str, how: str) -> Watched:
        """Start a program one of whose stages will be struck."""
        return self._sabotaged(program, stage, how, "later")

    def strike_at_once(self, program: str, stage: str) -> Watched:
        """Start a program one of whose stages freezes before its first beat."""
        return self._sabotaged(program, stage, "freeze", "at-once")

    def _sabotaged(self, program: str, stage: str, how: str, when: str) -> Watched:
        name = f"{program}-{stage}"
        words = self.words(program, name)
        if program == "controller":  # one broker for all: no two temples of one name
            words += ["--temple", stage]
        return self._started(name, ["-m", "tests.liveness.sabotage", stage, how, when, program, *words])

    def _started(self, name: str, words: list[str]) -> Watched:
        self.watched.append(Watched(self._folder, name, words))
        return self.watched[-1]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with mosquitto(tmp_path) as broker:
        bench = Bench(tmp_path, broker)
        yield bench
        for each in bench.watched:
            each.end()

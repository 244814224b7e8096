"""What the tests of a launch share: the real thing, started as a person would, and who belongs to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue

import pytest

from companion.cli.programs import network
from tests.waiting import eventually

READY = "Ctrl-C ends everything."


def family(pid: int) -> set[int]:
    """A process's descendants, by the kernel's own table."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: set[int] = set()
    newest = {pid}
    while newest := {child for child, parent in parents.items() if parent in newest}:
        found |= newest
    return found


def alive(pids: set[int]) -> set[int]:
    """Those that still run; a zombie that waits to be reaped does not."""
    running = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            running.add(pid)
    return running


def kill(pids: set[int]) -> None:
    """Kill those that are still there; one whose parent went first may end by itself meanwhile."""
    for pid in alive(pids):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Started:
    """A command that starts several programs, without a terminal, and the lines that it prints."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "companion", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []
        self._queue: Queue[str | None] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ready(self) -> None:
        while READY not in self.lines:
            try:
                line = self._queue.get(timeout=300)
            except Empty:
                line = None
            assert line is not None, (self.lines, self.process.stderr and self.process.stderr.read())
            self.lines.append(line)

    def output(self) -> list[str]:
        """Every line of its output so far."""
        while not self._queue.empty():
            if (line := self._queue.get()) is not None:
                self.lines.append(line)
        return self.lines

    def clear(self) -> None:
        kill(family(self.process.pid) | {self.process.pid})
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)


class Launched(Started):
    """A launch that runs without a terminal."""

    def __init__(self, state: Path, *flags: str) -> None:
        self.state = state
        self.web, self.broker = network.any_free_port(), network.any_free_port()
        ports = ("--ports", str(self.web), str(self.broker))
        super().__init__("launch", "--simulate", "--no-terminal", *ports, "--state", str(state), *flags)

    def ready(self) -> None:
        super().ready()
        eventually(lambda: len(family(self.process.pid)) == 3)

    def url(self) -> str:
        """The address of the table on this computer."""
        return next(line.split()[-1] for line in self.lines if "on this computer" in line)

    def ends(self, seconds: float = 180) -> tuple[int, str]:
        """Wait for the end; the exit code and what was said on standard error."""
        code = self.process.wait(seconds)
        assert self.process.stderr is not None
        return code, self.process.stderr.read()


@contextmanager
def launch(state: Path) -> Iterator[Launched]:
    """Run a launch that is up, with broker, companion and temple, while the context lasts."""
    started = Launched(state)
    try:
        started.ready()
        yield started
    finally:
        started.clear()


@pytest.fixture
def launched(tmp_path: Path) -> Iterator[Launched]:
    """A launch for one test, which may end it."""
    with launch(tmp_path / "state") as started:
        yield started


@pytest.fixture(scope="module")
def left_running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launched]:
    """A launch for all tests that only look at it."""
    with launch(tmp_path_factory.mktemp("launch") / "state") as started:
        yield started

"""Programs that a benchmark starts: on free ports, with their output in files, and stopped by process id."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
GRACE_S = 10.0
_PORTS = 2_000, 12_000
"""Below the ports of a club and of tests."""
_RANDOM = random.SystemRandom()
_CPUCLOCK_SCHED = 2
"""From the kernel's posix-timers.h: which of a process's clocks, in the lowest bits of the clock's number."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One version of the project on disk: what it is called among the figures, its folder, its interpreter."""

    name: str
    root: Path
    interpreter: str


THIS_TREE = Tree("this tree", ROOT, sys.executable)


class BenchError(Exception):
    """A measurement that cannot be taken; the message says what was missing or what a program said last."""


def free_port() -> int:
    """Return a port of the loopback that is free now, and that the kernel gives to no connection by itself."""
    while True:
        port = _RANDOM.randrange(*_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port


def figures_in(tree: Tree, program: str, count: int) -> list[float]:
    """Run a program of the bench, named by its file, in the folder of a tree; return the figures of its JSON.

    Raises `BenchError` if it fails.
    """
    command = [tree.interpreter, program, str(count)]
    ran = subprocess.run(command, cwd=tree.root, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise BenchError(
            f"{Path(program).name} ended with {ran.returncode}; expected 0; it said: {ran.stderr[-1500:]}"
        )
    figures: list[float] = json.loads(ran.stdout)
    return figures


def wait_until(true: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until a condition holds; raises `BenchError` if it does not in time."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise BenchError(f"waited {seconds:g} s for {what}; expected it by then")
        time.sleep(0.02)


def system_program(*names: str) -> str:
    """Return the path of a program of the system under one of its names; raises `BenchError`."""
    # Debian keeps daemons where an ordinary user's PATH does not look.
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
    for name in names:
        if found := shutil.which(name, path=path):
            return found
    raise BenchError(f"{' or '.join(names)} is not installed; expected it from the system's packages")


@dataclass(frozen=True, slots=True)
class Running:
    """One running program, and the file with its output."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    def said(self) -> str:
        """Return its output so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, word: str, seconds: float = 30) -> str:
        """Wait for a line that begins with a word and return the rest of it; raises `BenchError`."""
        deadline = time.monotonic() + seconds
        while True:
            for line in self.said().splitlines():
                if line.startswith(f"{word} "):
                    return line.removeprefix(word).strip()
            self.check()
            if time.monotonic() > deadline:
                raise BenchError(
                    f"{self.name} did not say {word!r} within {seconds:g} s; it said: {self.said()[-1500:]}"
                )
            time.sleep(0.02)

    def cpu_s(self) -> float:
        """Return the seconds that all its threads, those that have ended too, spent on a processor.

        It is the clock of `clock_getcpuclockid`, exact to the nanosecond; ticks in /proc/PID/stat are 10 ms.
        """
        return time.clock_gettime(~self.pid << 3 | _CPUCLOCK_SCHED)

    def memory(self) -> tuple[float, float]:
        """Return its proportional and its resident memory in MiB (PSS, RSS), from the kernel's own sums."""
        found = {}
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, _, rest = line.partition(":")
            found[name] = int(rest.split()[0]) / 1024
        return found["Pss"], found["Rss"]

    def written(self) -> int:
        """Return how many bytes it has given to file systems on a disk; one in memory does not count them."""
        fields = dict(line.split(": ") for line in Path(f"/proc/{self.pid}/io").read_text().splitlines())
        return int(fields["write_bytes"])

    def status(self, name: str) -> int:
        """Return a number of /proc/PID/status, such as ``VmRSS``, which costs less than `memory`; in KiB if a size.

        Raises `BenchError` where there is none, as of a program that has ended.
        """
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
        raise BenchError(f"{self.name} has no {name}; expected it to run")

    def check(self) -> None:
        """Raise `BenchError` if it has ended."""
        if self.process.poll() is not None:
            raise BenchError(f"{self.name} ended with {self.process.returncode}; it said: {self.said()[-1500:]}")

    def end(self) -> None:
        """Send SIGTERM and wait; kill it after a while. What it started and left in its process group is killed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


class Programs:
    """Everything that one measurement started, in a folder of its own; leaving it ends them, the youngest first.

    The programs are those of `tree`. `before` runs each Python program, as a tool that measures does; `patience` says
    how many times longer they may take then.
    """

    def __init__(
        self,
        folder: Path,
        tree: Tree = THIS_TREE,
        before: Sequence[str] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
        patience: float = 1,
    ) -> None:
        self.folder = folder
        self.tree = tree
        self.patience = patience
        self._before = before
        self._environment = environment
        self._running: list[Running] = []

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._running:
            self._running.pop().end()

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
        user: str | None = None,
    ) -> Running:
        """Start a program in the tree's folder, with its output in ``<name>.log``, as another user where named."""
        log = self.folder / f"{name}.log"
        # A developer's own TEMPLO_ settings must not reach the measured daemons.
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("TEMPLO_", "MQTT_IO_"))}
        with log.open("wb") as words:
            process = subprocess.Popen(
                list(command),
                cwd=self.tree.root,
                env={**inherited, "PYTHONUNBUFFERED": "1", **(environment or {})},
                stdin=stdin,
                stdout=words,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=user,
            )
        running = Running(name, process, log)
        self._running.append(running)
        return running

    def mosquitto(self) -> int:
        """Start a broker on the loopback as the temple's own configuration has it; return its port.

        Without ``set_tcp_nodelay`` mosquitto holds small packets back for the answer to the one before: 40 ms.
        """
        port = free_port()
        broker = self.start_mosquitto("mosquitto", port)
        wait_until(lambda: _listens(port), 10, f"mosquitto on port {port}")
        broker.check()
        return port

    def start_mosquitto(self, name: str, port: int, file: Sequence[str] = ("persistence false",)) -> Running:
        """Start a broker like `mosquitto` on a port, with its settings of a `file`; it may not listen yet."""
        configuration = self.folder / "mosquitto.conf"
        configuration.write_text(
            f"listener {port} {HOST}\nallow_anonymous true\nset_tcp_nodelay true\nmax_queued_messages 100000\n"
            + "\n".join(file)
        )
        return self.start(name, [system_program("mosquitto"), "-c", str(configuration)])

    def python(
        self,
        name: str,
        *arguments: str,
        interpreter: Path | str | None = None,
        **environment: str,
    ) -> Running:
        """Start a Python program, by the tree's interpreter where no other is named."""
        command = [*self._before, str(interpreter or self.tree.interpreter), *arguments]
        return self.start(name, command, {**self._environment, **environment})


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0

"""Child processes that must not outlive this one: started, watched and stopped without a thread."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import BinaryIO, Protocol, Self

from msgspec import Struct

GRACE = 5.0
"""Seconds that a program has to end before it is killed."""

MOST_LOGGED = 1_000_000
"""Bytes at which a log is rotated; the previous one is kept."""

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def end_with_parent(number: int, parent: int) -> None:
    """Have the kernel send this process a signal when its parent ends; Linux only.

    The signal is tied to the thread that forked: programs are started from the main thread.
    """
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:  # the parent ended before the call
            os.kill(os.getpid(), number)


class Program(Struct, frozen=True):
    """A program to run: its name for people, its command, and the folder of its logs.

    A program with the `terminal` shares it, including standard output, and receives its Ctrl-C; no other does.
    `ending` is the signal that ends it in order; it runs as `user` if given, in `folder`.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    logs: Path
    terminal: bool = False
    ending: signal.Signals = signal.SIGTERM
    user: str | None = None
    folder: Path | None = None

    @property
    def output(self) -> Path:
        """The file of its standard output."""
        return self.logs / f"{self.name}.out"

    @property
    def log(self) -> Path:
        """The file of its standard error, separate so that the two do not mix within a line."""
        return self.logs / f"{self.name}.log"


class Child:
    """A running program. If this process is killed, the kernel ends it too."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._read = 0
        # A program with the terminal gets SIGTERM, so that it can restore the terminal. Any other must survive being
        # killed anyway, so it gets SIGKILL.
        number, parent = signal.SIGTERM if program.terminal else signal.SIGKILL, os.getpid()
        for file in (program.output, program.log):
            _earlier(file).unlink(missing_ok=True)
        with _private(program.output) as output, _private(program.log) as log:
            self._process = subprocess.Popen(  # noqa: S603 - the command is this launcher's own
                program.command,
                stdin=None if program.terminal else subprocess.DEVNULL,
                stdout=None if program.terminal else output,
                stderr=log,
                env=dict(program.environment),
                start_new_session=not program.terminal,
                user=program.user,
                cwd=program.folder,
                preexec_fn=lambda: end_with_parent(number, parent),
            )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def ended(self) -> int | None:
        """The exit status, negative for a signal; none while it runs."""
        return self._process.poll()

    def printed_after(self, *words: str) -> list[str]:
        """Return the words that follow these on the newest line it said that begins with them, or none."""
        for line in reversed(self.program.output.read_text("utf-8", "replace").splitlines(keepends=True)):
            found = line.split()
            if line.endswith("\n") and tuple(found[: len(words)]) == words:
                return found[len(words) :]
        return []

    def news(self, *words: str) -> list[str]:
        """Return the new lines of its output that begin with one of some words, without that word."""
        with self.program.output.open("rb") as output:
            output.seek(self._read)
            lines = output.read().rpartition(b"\n")[0]
            self._read += len(lines) + bool(lines)
        parts = [line.partition(" ") for line in lines.decode("utf-8", "replace").split("\n")]
        return [rest for word, space, rest in parts if space and word in words]

    def last_lines(self, count: int = 12) -> list[str]:
        """Return the last lines of its log."""
        logs = [each for each in (_earlier(self.program.log), self.program.log) if each.exists()]
        return "".join(each.read_text("utf-8", "replace") for each in logs).splitlines()[-count:]

    def bound_logs(self) -> None:
        """Rotate its logs if they have grown too long; call it regularly.

        The program goes on writing to the same file, so what it writes between the copy and the cut is in neither.
        """
        for file in (self.program.output, self.program.log):
            if file.stat().st_size > MOST_LOGGED:
                with file.open("rb") as written, _private(_earlier(file)) as earlier:
                    written.seek(-MOST_LOGGED, os.SEEK_END)
                    shutil.copyfileobj(written, earlier)
                os.truncate(file, 0)
                if file == self.program.output:
                    self._read = 0

    def request_end(self) -> None:
        """Send it the signal to end."""
        if self.ended is None:
            self._process.send_signal(self.program.ending)

    def kill(self) -> None:
        """Kill it, and wait until it is gone."""
        if self.ended is None:
            self._process.kill()
        self._process.wait()


class HasFileno(Protocol):
    """A source that `select` can wait for."""

    def fileno(self) -> int:
        """Return its descriptor."""


class Signals:
    """The signals that end a launch, and those of ended children, as something to wait for."""

    ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})

    def __init__(self) -> None:
        self._here, self._there = socket.socketpair()
        self._previous: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}
        self.end_requested = False

    def __enter__(self) -> Self:
        self._here.setblocking(False)
        self._there.setblocking(False)
        self._wakeup = signal.set_wakeup_fd(self._there.fileno(), warn_on_full_buffer=False)
        for number in (*self.ENDING, signal.SIGCHLD):
            # Started by nohup, a closed terminal is meant not to matter.
            if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            self._previous[number] = signal.signal(number, lambda *_: None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        self._here.close()
        self._there.close()

    def wait(self, seconds: float | None, *sources: HasFileno) -> bool:
        """Wait for a signal, for a readable source, or for a timeout; return whether a signal to end has come."""
        select.select([self._here, *sources], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            came = set(self._here.recv(4096))
            if came & {int(number) for number in self.ENDING}:
                self.end_requested = True
                return True
        return False


def end(children: list[Child], signals: Signals, impatient: bool = False) -> bool:
    """End the programs one after another, the last one first: each may need those before it to end in order.

    One that does not end within `GRACE` is killed. A second signal, or `impatient`, kills all of them at once.
    Returns whether that happened.
    """
    while children:
        child = children.pop()
        child.request_end()
        deadline = time.monotonic() + GRACE
        while child.ended is None and not impatient and (left := deadline - time.monotonic()) > 0:
            impatient = signals.wait(left)
        child.kill()
    return impatient


def _earlier(file: Path) -> Path:
    """Return the path of the previous log."""
    return file.with_name(f"{file.name}.1")


def _private(file: Path) -> BinaryIO:
    """Open an empty file for appending, readable by its owner only."""
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600), "wb")

"""Counts the instructions of programs while they run, which a busy machine does not change as it changes times.

Valgrind runs an unmodified program and counts every instruction outside the kernel, of all its threads. Few virtual
machines let Linux's perf read a processor's counters, and QEMU's user emulation would need a plugin in C.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.tools.programs import BenchError, Programs, Running, system_program

SLOWER = 60.0
"""How many times longer a program may take under Valgrind, on a machine with other work."""

_OF_A_THREAD = re.compile(r"^events-\d+: (\d+)$", re.MULTILINE)
_AT_ITS_END = re.compile(r"Collected : (\d+)")


def counted_programs(programs: Programs) -> Programs:
    """Return programs of the same tree, in a folder within, of which each instruction is counted.

    Python hashes with a fixed seed there, else sets have another order in every run, and reads compiled modules
    whatever this environment says. Raises `BenchError` where Valgrind is not installed.
    """
    folder = programs.folder / "counted"
    before = (
        *(_valgrind(), "--tool=callgrind", "--callgrind-out-file=/dev/null"),
        *("--fair-sched=yes", f"--log-file={folder}/%p.count"),
    )
    return Programs(folder, programs.tree, before, {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}, SLOWER)


def instructions(running: Running) -> int:
    """Return how many instructions a counted program has executed so far; raises `BenchError`."""
    running.check()
    command = [system_program("vgdb"), f"--pid={running.pid}", "status", "internal"]
    asked = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if not (threads := _OF_A_THREAD.findall(asked.stdout)):
        raise BenchError(f"{running.name} does not say its instructions: {asked.stderr[-500:]}; expected Valgrind's")
    return sum(map(int, threads))


class Meter:
    """Counts what a program executes beyond what it does at rest meanwhile, which a busy machine stretches."""

    def __init__(self, running: Running, rest_s: float) -> None:
        """Let it rest for so many seconds, and count from there on."""
        self._running = running
        self._before, self._began = instructions(running), time.monotonic()
        time.sleep(rest_s)
        now = instructions(running)
        self.rest_per_s = (now - self._before) / (time.monotonic() - self._began)
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self._before, self._began = instructions(self._running), time.monotonic()

    def count(self) -> int:
        """Return the instructions since then; raises `BenchError`."""
        rest = self.rest_per_s * (time.monotonic() - self._began)
        return round(instructions(self._running) - self._before - rest)

    def median(self, times: int, act: Callable[[], object]) -> int:
        """Return the median of what each of so many acts takes, as a search for garbage falls into some of them."""
        counts = []
        for _ in range(times):
            self.begin()
            act()
            counts.append(self.count())
        return round(median(counts))


def instructions_to_the_end(programs: Programs, running: Running, seconds: float) -> int:
    """Wait for a counted program's end and return its instructions; raises `BenchError` if it failed."""
    if code := running.process.wait(seconds * programs.patience):
        raise BenchError(f"{running.name} ended with {code}; expected 0; it said: {running.said()[-1500:]}")
    if not (found := _AT_ITS_END.search(Path(f"{programs.folder}/{running.pid}.count").read_text(errors="replace"))):
        raise BenchError(f"{running.name} left no count; expected Valgrind's")
    return int(found[1])


def _valgrind() -> str:
    try:
        return system_program("valgrind")
    except BenchError as error:
        raise BenchError(f"{error}: sudo apt-get install --no-install-recommends valgrind") from error

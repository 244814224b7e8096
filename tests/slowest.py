"""A pytest plugin: `--slowest` lists what costs most processor time, by folder, file and test, programs included.

Elapsed time on a busy machine measures the machine rather than the test. Processor time does not, so it
decides the order; the seconds elapsed stand beside it, because a test that waits costs no processor time and is slow
all the same.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

_TICKS_S = os.sysconf("SC_CLK_TCK")
_FIRST_OF_STAT = 3
"""`/proc/PID/stat` is split behind the program's name, so the first field there is the third of proc(5)."""
_PROCESSOR_FIELDS = slice(14 - _FIRST_OF_STAT, 18 - _FIRST_OF_STAT)
"""utime, stime, and the same of children that ended and were waited for."""
_CPU = "cpu"


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process and all its descendants, those that ended included."""
    seconds = 0.0
    waiting = [pid]
    while waiting:
        process = Path(f"/proc/{waiting.pop()}")
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            threads = list(process.glob("task/*/children"))
        except OSError:  # it ended meanwhile, and its parent's figure holds its time
            continue
        seconds += sum(map(int, fields[_PROCESSOR_FIELDS])) / _TICKS_S
        for thread in threads:
            with suppress(OSError):  # a thread that ended has no children: another of its process has them now
                waiting += map(int, thread.read_text().split())
    return seconds


class Measured:
    """Adds to every report what its phase cost; a shared fixture counts for the first test that needs it."""

    def __init__(self) -> None:
        self._before = processor_seconds(os.getpid())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        now = processor_seconds(os.getpid())
        # A browser that ends is no ancestor of those of its processes that init reaps: their time is gone then.
        report.user_properties.append((_CPU, max(0.0, now - self._before)))
        self._before = now
        return report


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _folder_of(test: str) -> str:
    return _file_of(test).rpartition("/")[0]


def _summed(seconds: Mapping[str, float], name_of: Callable[[str], str]) -> Counter[str]:
    """Add up the seconds of all tests whose folder or file, by `name_of`, is the same."""
    total: Counter[str] = Counter()
    for test, each in seconds.items():
        total[name_of(test)] += each
    return total


class Summary:
    """Prints the slowest folders, files and tests at the end of a run."""

    def __init__(self, length: int) -> None:
        self._length = length

    def pytest_terminal_summary(self, terminalreporter) -> None:
        cpu: Counter[str] = Counter()
        elapsed: Counter[str] = Counter()
        for reports in terminalreporter.stats.values():
            for report in reports:
                if isinstance(report, pytest.TestReport):
                    elapsed[report.nodeid] += report.duration
                    cpu[report.nodeid] += dict(report.user_properties).get(_CPU, 0.0)
        for title, name_of in (("folders", _folder_of), ("files", _file_of), ("tests", str)):
            terminalreporter.section(f"slowest {title}: seconds of processor time, seconds elapsed")
            times = _summed(elapsed, name_of)
            for name, seconds in _summed(cpu, name_of).most_common(self._length):
                terminalreporter.line(f"{seconds:8.2f} {times[name]:8.2f}  {name}")
        terminalreporter.line(f"{cpu.total():8.2f} {elapsed.total():8.2f}  all {len(cpu)} tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slowest",
        type=int,
        nargs="?",
        const=40,
        metavar="N",
        help="list the N (40) folders, files and tests that cost most processor time",
    )


def pytest_configure(config: pytest.Config) -> None:
    if (length := config.getoption("--slowest")) is None:
        return
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Summary(length))
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Measured())

"""Programs that are started, read and ended."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.cli.programs import children
from companion.cli.programs.children import Child, Program, Signals, end
from tests.waiting import eventually

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"


@pytest.fixture
def signals() -> Iterator[Signals]:
    with Signals() as signals:
        yield signals


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Child]]:
    """Programs to be started; whatever still runs is ended with the test."""
    running: list[Child] = []
    yield running
    for child in running:
        child.kill()


def start(started: list[Child], folder: Path, code: str) -> Child:
    started.append(Child(Program("child", (sys.executable, "-uc", code), dict(os.environ), folder)))
    return started[-1]


def test_a_line_counts_only_when_it_is_finished(started: list[Child], tmp_path: Path) -> None:
    writes = "import sys; w = sys.stdout.write; w('ready one\\nready t'); input()"
    child = start(started, tmp_path, writes)
    eventually(lambda: "ready t" in child.program.output.read_text())
    assert child.printed_after("ready") == ["one"]
    assert child.printed_after("never") == []


def test_news_are_the_finished_lines_since_the_last_call(started: list[Child], tmp_path: Path) -> None:
    go = tmp_path / "go"
    code = f"""if True:
        import pathlib, sys, time
        sys.stdout.write('deck one\\nother\\ndeck t')
        while not pathlib.Path({str(go)!r}).exists():
            time.sleep(0.02)
        print('wo')
        time.sleep(60)
    """
    child = start(started, tmp_path, code)
    eventually(lambda: "deck t" in child.program.output.read_text())
    assert (child.news("deck"), child.news("deck")) == (["one"], [])
    go.touch()
    eventually(lambda: "two\n" in child.program.output.read_text())
    assert (child.news("deck"), child.news("deck")) == (["two"], [])


def test_standard_error_never_mixes_with_standard_output(started: list[Child], tmp_path: Path) -> None:
    child = start(
        started, tmp_path, "import sys; print('table', end=' '); print('oh', file=sys.stderr); print('here')"
    )
    eventually(lambda: child.ended == 0)
    assert child.printed_after("table") == ["here"]
    assert child.last_lines() == ["oh"]


def test_a_log_that_grew_too_long_is_begun_anew_and_the_one_before_it_is_kept(
    started: list[Child], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "MOST_LOGGED", 1000)
    stale = tmp_path / "child.log.1"
    stale.write_text("of another launch\n")
    code = """if True:
        import sys
        for n in range(10_000):
            print("complaint", n, file=sys.stderr)
        print("deck one")
        sys.stderr.flush()
        input_ = sys.stdout.write("x" * 2000 + "\\n")
        import time
        time.sleep(60)
    """
    child = start(started, tmp_path, code)
    assert not stale.exists()
    eventually(lambda: "x\n" in child.program.output.read_text())
    assert child.news("deck") == ["one"]
    child.bound_logs()
    assert [(tmp_path / f"child.{name}").stat().st_size for name in ("log", "log.1", "out", "out.1")] == [0, 1000] * 2
    assert child.last_lines(2) == ["complaint 9998", "complaint 9999"]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_a_log_that_was_begun_anew_is_written_from_its_beginning(
    started: list[Child], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "MOST_LOGGED", 10)
    go = tmp_path / "go"
    code = f"""if True:
        import pathlib, time
        print("deck number one", flush=True)
        while not pathlib.Path({str(go)!r}).exists():
            time.sleep(0.02)
        print("deck two", flush=True)
        time.sleep(60)
    """
    child = start(started, tmp_path, code)
    eventually(lambda: child.news("deck"))
    child.bound_logs()
    go.touch()
    eventually(lambda: child.program.output.read_bytes() == b"deck two\n")
    assert child.news("deck") == ["two"]


def test_a_program_that_will_not_end_is_killed_after_its_grace(
    started: list[Child], tmp_path: Path, signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "GRACE", 0.2)
    child = start(started, tmp_path, DEAF)
    eventually(lambda: child.printed_after("deaf") == [] and child.program.output.stat().st_size)
    end(started, signals)
    assert child.ended == -signal.SIGKILL
    assert not started


def test_a_second_request_to_end_kills_at_once(
    started: list[Child], tmp_path: Path, signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "GRACE", 90)
    several = [start(started, tmp_path, DEAF) for _ in range(2)]
    eventually(lambda: several[-1].program.output.stat().st_size)
    began = time.monotonic()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    end(started, signals)
    assert time.monotonic() - began < children.GRACE
    assert [child.ended is not None for child in several] == [True, True]


def test_the_end_of_a_child_is_waited_for_and_asks_nobody_to_end(
    started: list[Child], tmp_path: Path, signals: Signals
) -> None:
    child = start(started, tmp_path, "")
    eventually(lambda: not signals.wait(1) and child.ended == 0)
    assert not signals.end_requested

"""Instructions of programs are counted: the same on every run, of all threads, and growth is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.against.command_line import grown
from bench.against.comparison import Figure, compared
from bench.tools.instructions import counted_programs, instructions, instructions_to_the_end
from bench.tools.programs import BenchError, Programs, Running, Tree

LOOP = "sum(n * n for n in range({times}))"
THREAD = f"import threading; thread = threading.Thread(target=lambda: {LOOP}); thread.start(); thread.join()"


def test_a_program_that_ends_has_the_same_count_again_and_more_of_it_where_it_does_more(tmp_path: Path) -> None:
    few, again, many = (count_of(tmp_path / str(n), LOOP, times) for n, times in enumerate((100, 100, 60_000)))
    assert again == pytest.approx(few, rel=0.02)
    assert many - few > 59_900 * 50


def test_the_work_of_another_thread_counts_too(tmp_path: Path) -> None:
    few, many = (count_of(tmp_path / str(n), THREAD, times) for n, times in enumerate((100, 60_000)))
    assert many - few > 59_900 * 50


def test_a_running_program_says_what_it_executed_so_far_and_at_rest_that_stays(tmp_path: Path) -> None:
    with counted(tmp_path) as programs:
        waiting = "import sys, time; print('ready now', flush=True); time.sleep(600)"
        running = started(programs, waiting)
        running.wait_for("ready", 30 * programs.patience)
        first, second = instructions(running), instructions(running)
        assert first > 10_000_000
        assert second - first < 1_000_000


def test_a_program_that_fails_is_an_error_with_what_it_said(tmp_path: Path) -> None:
    with counted(tmp_path) as programs, pytest.raises(BenchError, match="no sacrifice"):
        instructions_to_the_end(programs, started(programs, "raise SystemExit('no sacrifice')"), 30)


def test_without_valgrind_the_bench_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.tools.instructions.system_program", missing)
    with pytest.raises(BenchError, match="sudo apt-get install --no-install-recommends valgrind"):
        counted(tmp_path)


def test_figures_that_grew_by_more_than_three_hundredths_are_named() -> None:
    token, page = Figure("a token", "million"), Figure("a page", "million")
    assert grown(compared([{token: 104, page: 103}], [{token: 100, page: 100}])) == "Grew by more than 3%: a token."
    assert grown(compared([{token: 90}], [{token: 100}])) == "Grew by more than 3%: none."


def counted(folder: Path) -> Programs:
    return counted_programs(Programs(folder, Tree("here", folder, sys.executable)))


def started(programs: Programs, code: str) -> Running:
    return programs.python("program", "-S", "-c", code)


def count_of(folder: Path, code: str, times: int) -> int:
    with counted(folder) as programs:
        return instructions_to_the_end(programs, started(programs, code.format(times=times)), 30)


def missing(*names: str) -> str:
    raise BenchError(f"{' or '.join(names)} is not installed")

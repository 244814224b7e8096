"""What a person sees: a code that a camera reads, and a terminal that may close at any time."""

from __future__ import annotations

import io
import os
import re

import pytest
import segno

from companion.cli.programs.terminal import Terminal

ADDRESS = "http://192.168.178.23:8000/j/ABCDEF"


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("wide")
def test_the_drawn_code_is_the_code_with_black_for_dark_on_any_terminal() -> None:
    lines = Terminal(io.StringIO(), keys=False, pictures=True).code(ADDRESS)
    assert all(line.startswith("\033[38;5;16;48;5;231m") and line.endswith("\033[0m") for line in lines)
    halves = [re.sub(r"\033\[[0-9;]*m", "", line) for line in lines]
    drawn = [[cell in ink for cell in line] for line in halves for ink in ("▀█", "▄█")]
    size = len(drawn[0])
    expected = segno.make(ADDRESS, error="l", boost_error=False, micro=False).matrix_iter(border=2)
    assert drawn[:size] == [[bool(cell) for cell in row] for row in expected]
    assert not any(any(row) for row in drawn[size:])


def test_a_code_that_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert Terminal(io.StringIO(), keys=False, pictures=True).code(ADDRESS) == []


def test_a_reader_that_has_gone_does_not_end_the_evening() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        terminal = Terminal(gone, keys=False, pictures=False)
        terminal.write("nothing reads this")
        terminal.write("nor this")

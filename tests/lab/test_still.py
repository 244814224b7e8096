"""A game that stands still: the report and the terminal say whether a move is missing or a player waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.command_line import main
from tests.games.your_own_game import written

LISTED = "listed=lambda state: THROW.all() + STOP.all() * bool(state.gathered),"
WITHOUT = "listed=lambda state: THROW.all() * (state.turn < 3) + STOP.all() * bool(state.gathered),"
FEW = ["--processes", "1", "--options", "0", "--habits", "0"]


def ran(folder: Path, tmp_path: Path, *more: str) -> str:
    page = tmp_path / "out.html"
    assert main(["run", "beans", "plain", "--folder", str(folder), *FEW, "--report", str(page), *more]) == 0
    return page.read_text("utf-8")


def test_a_seat_without_a_legal_move_is_named_with_the_move_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = ran(written(tmp_path, ((LISTED, WITHOUT),)), tmp_path, "--games", "4", "--strengths", "0")
    said = "No legal move for green after move "
    assert f"Watch: {said}" in capsys.readouterr().out
    assert said in report
    assert "Who leads is not known" in report
    assert "The lead changed" not in report


def test_a_bot_that_waits_for_ever_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path, (("    page=", "    bot=kit.Bot(decide=lambda *_: None),\n    page="),))
    ran(folder, tmp_path, "--games", "4", "--strengths", "0")
    assert "Watch: The player of red waits after move 0, seed 0; " in capsys.readouterr().out


def test_a_game_that_is_given_up_after_many_moves_has_a_legal_move(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(written(tmp_path), tmp_path, "--games", "4", "--strengths", "0", "--longest", "5")
    printed = capsys.readouterr().out
    assert "Watch: Games that did not end: 4 of 4." in printed
    assert "No legal move" not in printed
    assert "waits" not in printed

"""A game or player that cannot go on ends the lab with one sentence that says where, and with an exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.command_line import main
from tests.lab.coins import FOLDER

GAME = (Path(FOLDER) / "__init__.py").read_text("utf-8").replace('"coin"', '"broken"')

FAULTS = {
    "the bot finds no move that it would make": (
        'return Move("call")',
        'return next(move for move in moves if move.name == "shout")',
        ["--player", "never call"],
        "heads (never call) with no move yet, offered bluff, call, raises StopIteration (line 93 of __init__.py: ",
    ),
    "the bot plays a move that nobody has": (
        'return Move("call")',
        'return Move("fold")',
        [],
        "move 2: heads (app) with fold, offered bluff, call, is refused with ",
    ),
    "the rules raise at a move": (
        "replace(state, winner=side)",
        '{}["prize"]',
        [],
        "move 3: chance with toss heads raises KeyError: 'prize' (line ",
    ),
    "the rules raise when a game begins": (
        "return State(Chosen(**options))",
        'raise RuntimeError("no coin")',
        [],
        "move 0: nobody with no move yet raises RuntimeError: no coin (line ",
    ),
    "what the lab itself asks of a game raises": (
        'str(move.args[0]) if move.name == "draw" else ""',
        "str(move.args[9])",
        [],
        "move 1: chance with draw ",
    ),
}


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_game_is_one_sentence_with_game_seed_move_and_seat(
    fault: str, processes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, broken, players, words = FAULTS[fault]
    folder = tmp_path / "broken"
    folder.mkdir()
    assert code in GAME
    (folder / "__init__.py").write_text(GAME.replace(code, broken))
    arguments = ["run", "broken", "--folder", str(folder), "--first", "7", "--games", "20", "--processes", processes]
    assert main([*arguments, *players, "--report", str(tmp_path / "out.html")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("lab: broken classic, seed ")
    assert words in said
    assert said.count("\n") == 1


def test_a_fault_in_a_game_that_is_replayed_is_said_after_the_moves_before_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "__init__.py").write_text(GAME.replace("replace(state, winner=side)", '{}["prize"]'))
    assert main(["replay", "broken", "--folder", str(folder), "--seed", "7"]) == 2
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "2 heads call"
    assert printed.err.startswith("lab: broken classic, seed 7, move 3: chance with toss ")


def test_a_habit_does_not_stop_a_bot_that_looks_for_the_move_it_withholds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    picky = 'return next(move for move in moves if move.name == "call")'
    (folder / "__init__.py").write_text(GAME.replace('return Move("call")', picky))
    arguments = ["replay", "broken", "--folder", str(folder), "--seed", "7"]
    assert main([*arguments, "--player", "never call"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "2 heads bluff"


def test_a_folder_that_is_no_game_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["run", "coin"], ["balance", "coin"], ["all"], ["replay", "coin", "--seed", "1"]):
        assert main([*command, "--folder", str(tmp_path / "wrong")]) == 2
        said = capsys.readouterr().err
        assert said == f"lab: game folder {tmp_path}/wrong: expected a folder with an __init__.py that defines GAME\n"

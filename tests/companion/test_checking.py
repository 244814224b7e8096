"""Files checked from a terminal: line and reason, or what a sound file holds, and an exit code for scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.cli.command_line import main

MINE = '[day]\nday-dog-1 = { effect = "gain", tokens = 5 }\n[words.es]\nwar-1 = { title = "Una" }\n'


def written(folder: Path, name: str, text: str | bytes) -> str:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(folder / name)


def test_a_sound_deck_is_reported_by_pile_by_change_and_by_sign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = written(tmp_path, "mine.toml", MINE)
    assert main(["deck", "check", mine]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{mine}: nothing is wrong",
        "  260 Day cards",
        "  20 Week cards",
        "  40 War cards",
        "  40 Rain cards",
        "  1 card has another effect: day-dog-1",
        "  1 card has other texts: war-1",
        "  2 cards are the eagle",
        "  2 cards are the serpent",
        "  14 cards are the nopal",
    ]


def test_a_wrong_deck_is_reported_as_compilers_report_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = written(
        tmp_path, "wrong.toml", "[day]\nday-dog-1 = 3\n\n[war]\nwar-1 = { effect = 'walk', spaces = 1 }\n"
    )
    assert main(["deck", "check", wrong]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{wrong}:2: day-dog-1 is 3; expected {{ effect = ... }}",
        f"{wrong}:5: war-1: walk is not an effect of a war card",
    ]


def test_of_several_files_each_is_checked_and_the_worst_is_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [written(tmp_path, "wrong.toml", b"\n\xff"), written(tmp_path, "mine.toml", MINE)]
    assert main(["deck", "check", *files]) == 1
    said = capsys.readouterr().out
    assert f"{files[0]}:2: this is not text in UTF-8" in said
    assert f"{files[1]}: nothing is wrong" in said


def test_a_file_that_is_not_there_is_no_fault_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deck", "check", str(tmp_path / "none.toml")]) == 2
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["flood", "check", "x"], ["run", "check", "x"], ["deck", "check", "--game", "x", "y"]]
)
def test_a_file_that_no_game_takes_is_reported(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "no game takes such a file" in capsys.readouterr().err

"""Files checked from a terminal: line and reason, or what a sound file holds, and an exit code for scripts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from companion.cli.command_line import main
from companion.games.siege.rules import maps
from templo import __version__

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
        "  14 cards are the flower",
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


def test_a_file_that_no_game_takes_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deck", "check", "--game", "x", "y"]) == 2
    assert "no game takes such a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["deck", "chekc", "x"], "deck 'chekc' is no command; did you mean check?"),
        (["map", "show"], "map 'show' is no command; expected check or walls"),
        (["dekc", "check", "x"], "'dekc' is no command; did you mean deck?"),
        (["bakcup", "x"], "'bakcup' is no command; did you mean backup?"),
        (["moon"], "'moon' is no command; expected run or replay or "),
    ],
)
def test_the_word_that_is_wrong_is_named_with_the_one_that_was_meant(
    given: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(given) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("given", [["deck"], ["deck", "check"]])
def test_a_check_without_a_file_is_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(given)
    assert "the following arguments are required" in capsys.readouterr().err


def test_the_list_of_commands_holds_those_of_the_games(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "deck check files for the option deck of mexica: deck check FILE..." in said
    assert "map check files for the option map of siege: map check FILE..." in said


@pytest.mark.parametrize("program", ["companion", "controller", "lab"])
def test_every_program_says_its_version(program: str) -> None:
    said = subprocess.run([sys.executable, "-m", program, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"{__version__}\n"


def open_map(tmp_path: Path) -> tuple[str, set[tuple[int, int]]]:
    """Write our map without the walls around its city; return the file and those walls."""
    text = maps.SHIPPED["skirmish"]
    field = maps.field_of(text)
    around = {edge for edge in field.walls if (field.city >> edge[0] & 1) != (field.city >> edge[1] & 1)}
    draft = re.sub(r"(?m)^walls = \[[^]]*\]", 'walls = ["j6 e"] # kept', text, count=1)
    return written(tmp_path, "mine.toml", draft.replace('name = "', '# my map\nname = "')), around


def test_walls_that_are_missing_around_the_city_are_filled_in_by_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, around = open_map(tmp_path)
    assert main(["map", "walls", path]) == 0
    found = maps.drawn(Path(path).read_text("utf-8"))
    assert found is not None
    assert around <= found.walls
    assert "# my map" in Path(path).read_text("utf-8")
    assert main(["map", "walls", path]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{path}: changed", f"{path}: nothing to change"]
    assert "map_open_wall" not in {fault.code for fault in maps.faults(Path(path).read_text("utf-8"))}


def test_walls_between_two_terrains_are_filled_in(tmp_path: Path) -> None:
    path, _ = open_map(tmp_path)
    assert main(["map", "walls", path, "plots", "housing"]) == 0
    field = maps.drawn(Path(path).read_text("utf-8"))
    assert field is not None
    board = field.grid
    sides = {
        (a, b)
        for a in range(len(board))
        for b in board.beside[a]
        if b > a and {field.ground[a], field.ground[b]} == {"h", "p"}
    }
    assert sides
    assert sides <= field.walls | field.gates


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["housing"], "terrains are 'housing'; expected two of clear, road, housing"),
        (["housing", "housing"], "expected two of"),
        (["housing", "sand"], "expected two of"),
    ],
)
def test_words_that_are_no_two_terrains_change_nothing(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = open_map(tmp_path)
    before = Path(path).read_bytes()
    assert main(["map", "walls", path, *words]) == 2
    assert said in capsys.readouterr().err
    assert Path(path).read_bytes() == before


def test_a_file_that_is_no_map_is_not_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "mine.toml", "name = 3")
    assert main(["map", "walls", path]) == 2
    assert "it cannot be drawn; check it first" in capsys.readouterr().err

"""The lab's commands."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.command_line import main
from tests.lab.coins import FOLDER

FEW = ["--games", "20", "--folder", FOLDER, "--processes", "1", "--longest", "60"]


def test_run_writes_a_report_and_keeps_its_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, records = tmp_path / "new" / "out.html", tmp_path / "records.jsonl"
    arguments = ["run", "coin", *FEW, "--set", "tenths=3", "--player", "eager bluff"]
    arguments += ["--report", str(page), "--records", str(records)]
    assert main(arguments) == 0
    assert "Coin, classic" in page.read_text()
    assert "with tenths: 3, in the first seats eager bluff." in page.read_text()
    assert (
        "python -m lab run coin classic --seats 2 --set tenths=3 --player &#39;eager bluff&#39; --longest 60 "
        "--folder FOLDER --games 20 --first 0</code>" in page.read_text()
    )
    lines = records.read_text()
    assert main(arguments) == 0
    assert records.read_text() == lines
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if not line.startswith("Watch: ")] == [f"wrote {page}"] * 2


def test_compare_says_what_a_change_does_though_somebody_always_wins(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "coin", *FEW, "--games", "200", "--with", "tenths=3"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "heads: fewer wins, 43.5 % of the games instead of 77.0 %.",
        "tails: more wins, 56.5 % of the games instead of 23.0 %.",
    ]


def test_compare_says_how_little_is_known_where_nothing_differs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "coin", *FEW, "--with", "paint=silver"]) == 0
    verdict, *figures = capsys.readouterr().out.splitlines()
    assert verdict == (
        "No difference was found in 20 games. A seat may still win up to 13.9 points more or less often, and games "
        "may be up to 0.3 turns longer or shorter."
    )
    assert figures == [
        "",
        "turns a game: 2.0 and 2.0, +0.0 (-0.3 to +0.3)",
        "heads won, %: 70.0 and 70.0, +0.0 (-13.9 to +13.9)",
        "tails won, %: 30.0 and 30.0, +0.0 (-13.9 to +13.9)",
        "tossed, %: 100.0 and 100.0, +0.0 (-13.9 to +13.9)",
        "pairs of games: 20",
    ]


def test_strategy_lists_habits_the_best_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["strategy", "coin", *FEW, "--games", "200"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(("eager bluff", "never call"))


def test_replay_prints_every_move(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "coin", *FEW, "--seed", "4"]) == 0
    moves = capsys.readouterr().out.splitlines()
    assert [move.split()[:3] for move in moves][1] == ["2", "heads", "call"]
    assert len(moves) == 3
    assert main(["replay", "coin", *FEW, "--seed", "4", "--player", "eager bluff"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "2 heads bluff"


def test_a_deck_is_played_beside_the_games_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deck, page = tmp_path / "deck.toml", tmp_path / "out.html"
    deck.write_text('[day]\nday-crocodile-1 = { effect = "nothing" }\n')
    sizes = ["--options", "0", "--habits", "0", "--cards", "0", "--games", "2"]
    assert main(["deck", str(deck), "--preset", "century", "--processes", "1", *sizes, "--report", str(page)]) == 0
    assert "pairs of games: 2\n" in capsys.readouterr().out
    assert "Mexica, A long evening" in page.read_text()


def test_what_cannot_be_played_is_said_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "coin", *FEW, "--set", "tenths=12"]) == 2
    assert capsys.readouterr().err == "lab: option tenths is '12'; expected a whole number from 0 to 8\n"
    assert main(["run", "dice"]) == 2
    assert "game is 'dice'; expected" in capsys.readouterr().err
    for player, expected in (
        ("eager bluf", "one of its moves, call or bluff"),
        ("never draw", "one of its moves, call or bluff"),
        ("app strong", "one of its levels, practised"),
    ):
        assert main(["run", "coin", *FEW, "--player", player]) == 2
        assert capsys.readouterr().err == f"lab: player of coin is '{player}'; expected {expected}\n"


def test_of_a_deck_that_cannot_be_played_the_line_and_the_fault_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deck = tmp_path / "deck.toml"
    deck.write_text('[day]\nday-crocodile-1 = { effect = "gain", tokens = 99 }\n')
    assert main(["deck", str(deck), "--games", "1"]) == 2
    assert (
        "(line 2: value, card day-crocodile-1, effect gain, name tokens, found 99, allowed 1"
        in capsys.readouterr().err
    )


def test_an_attended_run_ends_when_its_starter_is_gone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lab", "run", "mexica", "--games", "2000", "--processes", "1", "--attended"]
    command += ["--progress", str(tmp_path / "progress"), "--report", str(tmp_path / "out.html")]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        while not (tmp_path / "progress").exists():
            assert process.poll() is None
            time.sleep(0.1)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 10
        process.stdin.close()
        assert process.wait(60) == 130
    assert not (tmp_path / "out.html").exists()


def test_all_presets_are_reported_in_bounded_time_and_a_later_run_goes_on(tmp_path: Path) -> None:
    few = ["--games", "1", "--options", "0", "--habits", "0", "--cards", "0", "--strengths", "0", "--processes", "1"]
    assert main(["all", *few, "--minutes", "0.001", "--into", str(tmp_path)]) == 0
    pages = {path.stem for path in tmp_path.glob("*.html")}
    assert pages >= {"market-classic", "mexica-evening", "moctezuma-open", "siege-long_retreat"}
    assert "mexica-temple_only" not in pages
    assert all((tmp_path / f"{name}.jsonl").stat().st_size for name in pages)

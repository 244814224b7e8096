"""The tutorial of a game of one's own: each of its steps is taken, in order, as it is written."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from companion.cli.command_line import main as companion
from companion.games.kit import TEMPLE, Move, TokenDrop
from lab.command_line import main as lab
from tests.companion.cli.conftest import Launched
from tests.docs.test_docs import ROOT
from tests.games import test_conformance
from tests.games.test_game_pages import conforms
from tests.games.your_own_game import opened
from tests.waiting import eventually

PAGE = (ROOT / "docs" / "your-own-game.md").read_text("utf-8")
_PIECE = re.compile(r"(?ms)^## (Step \d|A token)|<!-- (file|change): (\S+) -->\n```\w+\n(.*?)^```")


def steps() -> dict[int, list[tuple[str, str, str]]]:
    """Return for each step what it saves: whether a file or a change, its path, its text.

    The section on a token that does something is the seventh.
    """
    found: dict[int, list[tuple[str, str, str]]] = {}
    at = 0
    for step, kind, path, text in _PIECE.findall(PAGE):
        if step:
            at = 7 if step == "A token" else int(step[-1])
            found[at] = []
        else:
            found[at].append((kind, path, text))
    return found


def take(folder: Path, *wanted: int) -> Path:
    """Take steps in a folder, and return the game's."""
    for kind, name, text in [each for step in wanted for each in steps()[step]]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "change":
            lines = text.splitlines(keepends=True)
            was, is_ = ("".join(line[1:] or "\n" for line in lines if line[0] != sign) for sign in "+-")
            before = path.read_text("utf-8")
            assert before.count(was) == 1, f"{name} does not hold once:\n{was}"
            text = before.replace(was, is_)
        path.write_text(text, "utf-8")
    return folder / "milpa"


def test_the_page_has_steps_that_save_what_they_show() -> None:
    assert [len(saved) for saved in steps().values()] == [7, 0, 5, 1, 3, 0, 2]


def test_after_the_first_step_nothing_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = take(tmp_path, 1)
    assert companion(["game", "check", str(folder)]) == 0
    assert f"$ templo-companion game check milpa\n{capsys.readouterr().out}" in PAGE


@pytest.fixture
def launched(tmp_path: Path) -> Iterator[Launched]:
    started = Launched(tmp_path / "state", "--game", str(take(tmp_path, 1)))
    try:
        started.ready()
        yield started
    finally:
        started.clear()


def test_a_table_shows_what_is_saved_and_then_the_temple(launched: Launched, tmp_path: Path) -> None:
    def page(url: str) -> str:
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return str(answer.read().decode())
        except OSError:  # it is starting again
            return ""

    assert "Rain: 2" in page(launched.url())
    words = tmp_path / "milpa/texts/en.toml"
    words.write_text(words.read_text("utf-8").replace('"Rain: {n}"', '"Rain today: {n}"'), "utf-8")
    eventually(lambda: "Rain today: 2" in page(launched.url()))
    take(tmp_path, 3)
    said = eventually(lambda: next((line for line in launched.output() if "new table now" in line), ""))
    url = said.split()[-1]
    eventually(lambda: "Rain today: 2" in page(url))
    drop = [sys.executable, "-m", "controller", "drop", "tlaloc", "--state", str(launched.state)]
    subprocess.run(drop, check=True, capture_output=True)
    eventually(lambda: "Rain today: 3" in page(url))


def test_it_is_proved_with_the_temple_and_its_own_test_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_conformance, "STATES", 200)
    with opened(take(tmp_path, 1, 3, 4)) as game:
        conforms(game, tmp_path)
        own = [
            each for name, each in runpy.run_path(str(tmp_path / "milpa/test_game.py")).items() if name[:5] == "test_"
        ]
        assert len(own) == 1
        own[0]()


def test_the_bot_harvests_in_good_rain_and_the_lab_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = take(tmp_path, 1, 3, 4, 5)
    moves = [Move("harvest"), Move("plant")]
    with opened(folder) as game:
        for rows, chosen in ((1, "plant"), (2, "harvest")):
            view = {"on_turn": "red", "rain": 4, "left": 9, "fields": {"red": [rows, 0]}}
            assert game.decide(view, moves, Random(1).randrange) == Move(chosen)
    report = tmp_path / "milpa.html"
    few = ["--games", "12", "--processes", "1", "--options", "2", "--strengths", "2", "--habits", "2"]
    assert lab(["run", "milpa", "usual", "--folder", str(folder), *few, "--report", str(report)]) == 0
    *watched, last = capsys.readouterr().out.splitlines()
    assert last == f"wrote {report}"
    assert all(line.startswith("Watch: ") for line in watched)
    assert "milpa" in report.read_text("utf-8").lower()


def test_a_token_that_does_something_falls_or_is_tapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_conformance, "STATES", 200)
    with opened(take(tmp_path, 1, 3, 4, 5, 7)) as game:
        assert game.temple is not None
        state = game.rules.setup({"days": 6}, ("red", "blue"))
        state = game.rules.play(state, TEMPLE, game.temple.drop(state, TokenDrop("a", "tlaloc")))
        assert (state.rows, state.turn) == ((1, 0), 1)
        state = game.rules.play(state, "red", Move("give", ("tlaloc",)))
        assert (state.rows, state.turn, state.tokens.count()) == ((2, 0), 2, 2)
        conforms(game, tmp_path)


def test_every_other_piece_of_code_is_code() -> None:
    for language, text in re.findall(r"^```(python|toml)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        if language == "python":
            ast.parse(text)
        else:
            tomllib.loads(text)


def test_every_name_of_the_kit_exists() -> None:
    from companion.games import kit

    for name in set(re.findall(r"\bkit\.(?!md\b)([A-Za-z_]+)", PAGE)):
        assert hasattr(kit, name), name

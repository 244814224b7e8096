"""A new game runs at once, whatever it was asked to have: it passes the suite of all games and its own tests."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from itertools import combinations as subsets
from pathlib import Path
from typing import Any

import pytest

from companion.cli.command_line import main
from companion.cli.data.game import faults
from companion.cli.new_game.command_line import CHOICES
from companion.games import registry
from companion.games.kit import Game
from tests.games import test_conformance
from tests.games.test_game_pages import conforms
from tests.games.your_own_game import opened

EVERY = [chosen for n in range(len(CHOICES) + 1) for chosen in subsets(CHOICES, n)]


@pytest.fixture(params=EVERY, ids="+".join)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    flags = [f"--{choice}" for choice in request.param]
    assert main(["new-game", "maize", *flags, "--into", str(tmp_path / "games")]) == 0
    return tmp_path / "games" / "maize"


@pytest.fixture
def game(folder: Path) -> Iterator[Game[Any]]:
    with opened(folder) as game:
        yield game


def test_it_passes_the_suite_of_all_games(game: Game[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_conformance, "STATES", 200)
    conforms(game, tmp_path)


def test_its_own_tests_pass_and_its_files_have_no_fault(game: Game[Any]) -> None:
    folder = registry.folder(game)
    own = [each for name, each in runpy.run_path(str(folder / "test_game.py")).items() if name.startswith("test_")]
    assert len(own) > 1
    for test in own:
        test()
    assert list(faults([folder])) == []


@pytest.mark.parametrize("name", ["Maize", "2maize", "class", "mexica", "registry", "a b", "maíz", "../maize"])
def test_a_name_that_no_game_can_have_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["new-game", name, "--into", str(tmp_path)])
    refused = " ".join(capsys.readouterr().err.split())
    assert "expected lower-case letters" in refused
    assert "--into says in which folder" in refused
    assert not list(tmp_path.iterdir())


def test_nothing_that_is_there_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "maize").mkdir()
    assert main(["new-game", "maize", "--into", str(tmp_path)]) == 2
    assert "File exists; expected a new folder" in capsys.readouterr().err
    assert not list((tmp_path / "maize").iterdir())

"""The games of `docs/examples`: written from the tutorial alone, short, and held to the suite of all games."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random

import pytest

from companion.games.kit import CHANCE, TEMPLE, Move, TokenDrop, outcome
from lab.command_line import main as lab
from tests.games import test_conformance
from tests.games.test_game_pages import conforms
from tests.games.your_own_game import EXAMPLES, opened

GAMES = sorted(path.parent for path in EXAMPLES.glob("*/__init__.py"))
LINES = 150

every = pytest.mark.parametrize("folder", GAMES, ids=lambda folder: folder.name)


def test_there_are_games_with_dice_cards_and_the_temple() -> None:
    assert [folder.name for folder in GAMES] == ["beans", "feathers", "race"]


@every
def test_a_game_is_short_and_uses_the_kit_alone(folder: Path) -> None:
    text = (folder / "__init__.py").read_text("utf-8")
    assert len(text.splitlines()) <= LINES
    imported = {node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert imported == {"fractions", "companion.games"}


@every
def test_it_passes_the_suite_of_all_games(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_conformance, "STATES", 200)
    with opened(folder) as game:
        conforms(game, tmp_path)


@every
def test_the_app_plays_it_to_its_end(folder: Path, tmp_path: Path) -> None:
    report = tmp_path / "out.html"
    few = ["--games", "12", "--processes", "1", "--options", "2", "--strengths", "2", "--habits", "4"]
    with opened(folder) as game:
        preset = next(iter(game.presets))
    assert lab(["run", folder.name, preset, "--folder", str(folder), *few, "--report", str(report)]) == 0
    assert '<td>stood still</td><td class="n">0</td>' in report.read_text("utf-8")


def test_rain_makes_the_path_muddy_and_sun_dries_it() -> None:
    with opened(EXAMPLES / "race") as race:
        state = race.rules.setup({"goal": 30}, ("red", "blue"))
        random = Random(1).randrange
        while due := race.rules.chance(state):
            state = race.rules.play(state, CHANCE, outcome(due, random))
        assert race.temple is not None
        for token, god in (("a", "tlaloc"), ("b", "tlaloc"), ("c", "tlaloc"), ("d", "huitzilopochtli")):
            state = race.rules.play(state, TEMPLE, race.temple.drop(state, TokenDrop(token, god)))
        assert race.page.view(state, "red")["mud"] == 1
        state = race.rules.play(state, "red", Move("roll"))
        assert race.rules.play(state, CHANCE, Move("shows", (5,))).places == (4, 0)


def test_feathers_of_one_kind_and_tokens_of_ones_own_turns_are_points() -> None:
    with opened(EXAMPLES / "feathers") as feathers:
        state = feathers.rules.setup({"each": 3}, ("red", "blue"))
        random = Random(1).randrange
        assert feathers.temple is not None
        state = feathers.rules.play(state, TEMPLE, feathers.temple.drop(state, TokenDrop("a", "tlaloc")))
        while feathers.rules.on_turn(state):
            if due := feathers.rules.chance(state):
                state = feathers.rules.play(state, CHANCE, outcome(due, random))
            else:
                seat = feathers.rules.to_act(state)[0]
                move = feathers.decide(feathers.page.view(state, seat), feathers.rules.moves(state, seat), random)
                assert move is not None
                state = feathers.rules.play(state, seat, move)
        end = feathers.rules.result(state)
        counts = {
            seat: sum(hand.count(kind) ** 2 for kind in set(hand))
            for seat, hand in zip(state.seats, state.taken, strict=True)
        }
        assert end is not None
        assert dict(end.points) == {"red": counts["red"] + 1, "blue": counts["blue"]}

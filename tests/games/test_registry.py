"""The registry: game folders are found wherever they are, and a bad one is named with its fault."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import pytest

from companion.games import registry
from companion.games.registry import RegistryError

TOY = '''
"""A game of one move, outside the tree."""

from companion.games.kit import Game, Move, Option, Page, Refusal, Rules

from .words import WHO


def setup(options, seats):
    return options["length"]


def to_act(state):
    return (WHO,) if state else ()


def on_turn(state):
    return WHO if state else None


def turn(state):
    return 3 - state


def moves(state, seat):
    return [Move("step")] if state and seat == WHO else []


def play(state, seat, move):
    return state - 1 if move in moves(state, seat) else Refusal("no")


def view(state, seat):
    return {"left": state}


def regions(view):
    return {"left": view}


GAME = Game(
    "toy",
    rules_version=1,
    options=(Option("length", 1, "", (1, 2)),),
    presets={"plain": {}, "long": {"length": 2}},
    seatings={1: (WHO,)},
    rules=Rules(setup=setup, to_act=to_act, on_turn=on_turn, turn=turn, moves=moves, play=play),
    page=Page(view=view, regions=regions),
)
'''


@pytest.fixture(autouse=True)
def nothing_stays_imported() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("companion.games."):
            del sys.modules[name]


def toy(parent: Path, text: str = TOY, name: str = "toy") -> Path:
    folder = parent / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(text)
    (folder / "words.py").write_text('WHO = "me"\n')
    return folder


def test_the_folders_in_the_tree_are_games_under_their_names() -> None:
    games = registry.load()
    here = Path(registry.__file__).parent
    assert sorted(games) == sorted({path.parent.name for path in here.glob("*/__init__.py")} - {"kit"})
    for name, game in games.items():
        assert game.name == name
        assert registry.folder(game) == here / name


def test_a_folder_that_a_setting_names_is_a_game_too(tmp_path: Path) -> None:
    folder = toy(tmp_path)
    games = registry.load([str(folder)])
    assert set(games) == {*registry.load(), "toy"}
    assert games["toy"].rules.setup({"length": 2}, ("me",)) == 2
    assert registry.folder(games["toy"]) == folder


def test_loading_again_gives_the_same_game(tmp_path: Path) -> None:
    folder = toy(tmp_path)
    assert registry.load([folder])["toy"] is registry.load([folder])["toy"]


def test_a_game_that_nobody_loaded_has_no_folder(tmp_path: Path) -> None:
    game = registry.load([toy(tmp_path)])["toy"]
    with pytest.raises(RegistryError, match="not loaded from a folder"):
        registry.folder(copy(game))


@pytest.mark.parametrize(
    ("changed", "to", "fault"),
    [
        ("GAME = Game", "OTHER = Game", "it has no GAME"),
        ("GAME = Game", "GAME = 7 or Game", "GAME is 7; expected a kit.Game"),
        ("play=play", "", "cannot be imported: TypeError: .*play"),
        ("moves=moves, ", "", "TypeError: rules have neither moves nor listed; expected one of them"),
        ('"toy",', '"other",', "GAME.name is 'other'; expected 'toy'"),
        ("rules_version=1", "rules_version='1'", "rules_version is '1'"),
        ("rules_version=1", "rules_version=0", "rules_version is 0"),
        ('"length", 1, ""', '"length", 3, ""', "has the default 3"),
        ("(1, 2))", "(1, 2), high=2, reader=print)", "option 'length' has a range and a reader"),
        ('{"length": 2}', '{"length": 9}', "preset 'long' sets 'length' to 9"),
        ('{"length": 2}', '{"width": 2}', "preset 'long' sets 'width'"),
        ('{"plain": {}, "long": {"length": 2}}', "{}", "presets is empty"),
        ("{1: (WHO,)}", "{}", "seatings is empty"),
        ("{1: (WHO,)}", "{2: (WHO,)}", r"seatings\[2\]"),
        ("{1: (WHO,)}", '{1: ("temple",)}', "other than 'temple'"),
        ("{1: (WHO,)}", "{1: 5}", "not as kit.Game wants it"),
        ("from .words import WHO", "from .no_such import WHO", "cannot be imported: ModuleNotFoundError"),
        (
            "GAME = Game",
            "raise KeyError('x')\nGAME = Game",
            r"cannot be imported: KeyError: 'x' \(line 41 of __init__",
        ),
        ("def turn(state):", "def turn(:", "cannot be imported: SyntaxError"),
    ],
)
def test_a_folder_that_is_no_game_is_refused_by_name_and_fault(
    tmp_path: Path, changed: str, to: str, fault: str
) -> None:
    assert changed in TOY
    folder = toy(tmp_path, TOY.replace(changed, to, 1))
    with pytest.raises(RegistryError, match=fault) as caught:
        registry.load([folder])
    assert str(folder) in str(caught.value)


def test_a_folder_that_failed_can_be_mended_and_loaded(tmp_path: Path) -> None:
    folder = toy(tmp_path, "raise RuntimeError('not yet')")
    with pytest.raises(RegistryError, match="RuntimeError: not yet"):
        registry.load([folder])
    (folder / "__init__.py").write_text(TOY)
    assert registry.load([folder])["toy"].name == "toy"


def test_a_path_without_a_game_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "missing"):
        with pytest.raises(RegistryError, match="expected a folder with an __init__"):
            registry.load([path])


def test_a_folder_has_a_name_that_python_can_import(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="expected a Python name"):
        registry.load([toy(tmp_path, name="my-game")])


def test_no_game_is_called_as_what_games_are_made_of(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="the name 'kit' is taken"):
        registry.load([toy(tmp_path, name="kit")])


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    taken = next(iter(registry.load()))
    with pytest.raises(RegistryError, match=f"the name '{taken}' is taken"):
        registry.load([toy(tmp_path, name=taken)])
    with pytest.raises(RegistryError, match="the name 'toy' is taken"):
        registry.load([toy(tmp_path / "a"), toy(tmp_path / "b")])

"""The demo with a game of one's own: it is reloaded when it is saved, and the terminal says what is wrong with it."""

from __future__ import annotations

import logging
import runpy
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.cli.command_line import main
from companion.cli.demo import GameFaults
from companion.cli.programs.folders import FolderWatch
from companion.web.rendering.texts import MissingText
from tests.companion.cli.conftest import Launched
from tests.games.your_own_game import written
from tests.waiting import eventually


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "games")


@pytest.fixture
def launched(folder: Path, tmp_path: Path) -> Iterator[Launched]:
    started = Launched(tmp_path / "state", "--game", str(folder))
    try:
        started.ready()
        yield started
    finally:
        started.clear()


def page(launched: Launched) -> str:
    try:
        with urllib.request.urlopen(launched.url(), timeout=60) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return f"{error.code}"
    except OSError:  # it is starting again
        return ""


def saved(path: Path, was: str, is_: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert was in text
    path.write_text(text.replace(was, is_), encoding="utf-8")


def says(launched: Launched, words: str) -> bool:
    return any(words in line for line in launched.output())


def test_a_game_that_is_saved_is_reloaded_and_its_errors_are_printed(launched: Launched, folder: Path) -> None:
    assert any("a table of Beans is running" in line for line in launched.lines)
    assert "is on turn" in page(launched)
    board = folder / "templates/play/board.html"
    saved(board, "<h1>{% if", "<h1>{% iff")
    eventually(lambda: says(launched, f"{board}:1: Encountered unknown tag 'iff'"))
    assert says(launched, "The last version stays in play.")
    assert "is on turn" in page(launched)
    saved(board, "<h1>{% iff slice.on_turn", "<h1>{% if slice.on_turm")
    eventually(lambda: page(launched) == "500")
    eventually(lambda: says(launched, f"{board}:1: UndefinedError: "))
    saved(board, "slice.on_turm", "slice.on_turn")
    saved(folder / "texts/en.toml", "is on turn and", "throws now and")
    eventually(lambda: "throws now and" in page(launched))
    assert says(launched, "The game was saved and is reloaded.")
    assert not says(launched, "a new table now:")


def test_rules_by_which_a_table_does_not_go_on_begin_a_new_one(launched: Launched, folder: Path) -> None:
    saved(folder / "__init__.py", '2: ("red", "blue")', '2: ("red", "green")')
    saved(folder / "__init__.py", "(0,) * len(seats)", "(0,) * (1 + seats.index('green'))")
    eventually(lambda: says(launched, "a new table now: http://127.0.0.1"))


def test_the_check_of_a_game_without_a_fault_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["game", "check", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("nothing is wrong")


def test_the_check_names_every_file_that_cannot_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(folder / "templates/play/board.html", "{% endif %}", "")
    saved(folder / "texts/es.toml", "[seat]", "[seat")
    saved(folder / "__init__.py", "STOP.all()", "STOP.all(")
    assert main(["game", "check", str(folder)]) == 1
    code, texts, template = capsys.readouterr().out.splitlines()
    assert "SyntaxError" in code
    assert code.count("__init__.py") == 1
    assert f"texts {folder / 'texts/es.toml'} are Expected ']'" in texts
    assert template.startswith(f"{folder / 'templates/play/board.html'}:")


PLANTED = [
    ("texts/es.toml", "credit =", "credits =", "texts/en.toml:3: 'credit' has no words in 'es'"),
    ("texts/es.toml", 'one = "', 'few = "', "has other plural forms in 'es'"),
    ("templates/play/board.html", 't("board.over")', 't("board.ended")', "board.html:2: no words for 'board.ended'"),
    ("templates/play/board.html", "slice.scores", "slice.points", "board.html:3: UndefinedError: 'dict object' has"),
    ("templates/play/screen.html", 'region("log")', 'region("logs")', "screen.html:1: KeyError: 'logs'"),
    (
        "__init__.py",
        "THROW.all() + STOP.all() * bool(state.gathered)",
        "[]",
        "no legal move for red in turn 1, at the",
    ),
    ("__init__.py", "bool(state.gathered)", "state.gathered[1]", "__init__.py:45: TypeError: 'int' object is not"),
    (
        "__init__.py",
        "    page=",
        "    bot=kit.Bot(decide=lambda *_: None),\n    page=",
        "the bot waits for ever: it returns None",
    ),
    (
        "__init__.py",
        "    page=",
        "    bot=kit.Bot(decide=lambda *_: kit.Move('x')),\n    page=",
        "the bot chose Move(name='x'",
    ),
    (
        "__init__.py",
        "kit.Line(move.name",
        "kit.Line('x' + move.name",
        "texts/en.toml:1: no words for 'log.xthrow' in 'en'",
    ),
]


@pytest.mark.parametrize(("file", "was", "is_", "said"), PLANTED, ids=[each[3][-40:] for each in PLANTED])
def test_the_check_finds_what_only_play_and_words_show(
    folder: Path, capsys: pytest.CaptureFixture[str], file: str, was: str, is_: str, said: str
) -> None:
    saved(folder / file, was, is_)
    assert main(["game", "check", str(folder)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(said in line for line in lines), lines
    assert len(lines) == len({*lines}) <= 8


def test_the_words_of_an_end_that_several_win_name_no_seat(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for language in ("en", "es"):
        path = folder / f"texts/{language}.toml"
        path.write_text(path.read_text("utf-8") + '[ending.why]\ngoal = "{seat:who}!"\n', "utf-8")
    assert main(["game", "check", str(folder)]) == 0
    saved(folder / "__init__.py", "(s.seats[s.scores.index(max(s.scores))],)", "s.seats")
    for name in [name for name in sys.modules if name.startswith("companion.games.beans")]:
        del sys.modules[name]
    assert main(["game", "check", str(folder)]) == 1
    assert "'ending.why.goal' names {seat}, but " in capsys.readouterr().out


def test_a_folder_that_is_no_game_is_refused_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["launch", "--simulate", "--game", "/nowhere"])
    assert "folder is '/nowhere'; expected one of a game" in capsys.readouterr().err


def test_a_change_is_noticed_once_and_only_when_it_is_over(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1", encoding="utf-8")
    watch = FolderWatch([tmp_path])
    assert not watch.has_changed()
    (tmp_path / "a.py").write_text("22", encoding="utf-8")
    assert [watch.has_changed() for _ in range(3)] == [False, True, False]
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/a.pyc").write_text("1", encoding="utf-8")
    (tmp_path / ".a.swp").write_text("1", encoding="utf-8")
    assert [watch.has_changed() for _ in range(2)] == [False, False]
    (tmp_path / "b.py").write_text("1", encoding="utf-8")
    assert not watch.has_changed()
    time.sleep(0.01)
    (tmp_path / "b.py").write_text("333", encoding="utf-8")
    assert [watch.has_changed() for _ in range(2)] == [False, True]


def test_an_error_of_a_game_is_printed_with_its_line_and_any_other_is_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bot.py").write_text("def decide():\n    return {}['stop']\n", encoding="utf-8")
    log = logging.Logger("test")
    log.addHandler(GameFaults([str(folder)]))
    for work in (runpy.run_path(str(folder / "bot.py"))["decide"], lambda: {}["ours"]):
        try:
            work()
        except KeyError:
            log.exception("it failed")
    try:
        raise MissingText("no words for 'log.throw' in 'en'")
    except MissingText:
        log.exception("it failed")
    log.error("no exception")
    assert capsys.readouterr().out.splitlines() == [
        f"game {folder / 'bot.py'}:2: KeyError: 'stop'",
        f"game {folder / 'texts'}: MissingText: no words for 'log.throw' in 'en'",
    ]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--demo-table", "templo", "--game", "chess"], "--game is 'chess'; expected market or "),
        (["--demo-table", "templo", "--game", "market", "--deck"], "--deck is given with --game 'market'"),
        (["--game", "market"], "--game is given with 0 of --demo-table; expected one"),
    ],
)
def test_a_demo_of_a_game_that_cannot_be_is_refused(
    flags: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deck = tmp_path / "mine.toml"
    deck.write_text("", encoding="utf-8")
    given = [*flags, str(deck)] if flags[-1] == "--deck" else flags
    assert main(["run", "--state", str(tmp_path / "state"), *given]) == 2
    assert said in capsys.readouterr().err

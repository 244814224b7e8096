"""The report in Spanish says everything that it says in English."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import jinja2
import pytest
from jinja2.ext import extract_from_ast

from lab import names, report, studies
from lab.command_line import main
from lab.matches import Setup, games
from lab.sentences import LANGUAGES
from lab.studies import Sizes
from tests.lab.coins import coin
from tests.lab.coins import play as played

FOLDER = Path(report.__file__).parent
SPANISH = tomllib.loads((FOLDER / "report.es.toml").read_text("utf-8"))


BY_CODE = {"option", "card", "habit", "better", "worse", "random"}
"""What the page says by the name of a variable."""


def texts(module: str) -> set[str]:
    """Return all texts of a module of the lab but its docstrings."""
    tree = ast.parse((FOLDER / module).read_text("utf-8"))
    docs = {each.value for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    every = {each for each in ast.walk(tree) if isinstance(each, ast.Constant)} - docs
    return {each.value for each in every if isinstance(each.value, str)}


def test_every_sentence_of_the_page_has_its_spanish_one_with_the_same_facts() -> None:
    page = jinja2.Environment(autoescape=True).parse((FOLDER / "report.html").read_text("utf-8"))
    said = {text for _, _, text in extract_from_ast(page, ("_",)) if isinstance(text, str)}
    said |= {text[0] for _, _, text in extract_from_ast(page, ("_",)) if isinstance(text, tuple) and text[0]}
    said |= {text for text in texts("verdicts.py") if "%(" in text}
    assert len(said) > 60
    assert said <= SPANISH.keys()
    assert SPANISH.keys() <= said | texts("verdicts.py") | texts("report.py") | BY_CODE
    for english, spanish in SPANISH.items():
        assert sorted(re.findall(r"%\(\w+\)s|%%", english)) == sorted(re.findall(r"%\(\w+\)s|%%", spanish)), english


def test_a_report_in_spanish_has_every_chapter_and_no_english_heading() -> None:
    findings = studies.study(coin(), Sizes(60, 30, 30, 0, 30), played, beside=True)
    page = report.written(findings, language="es")
    assert '<html lang="es">' in page
    headings = re.findall("<h2>(.*?)</h2>", page)
    assert "Cómo acaban las partidas y cuánto duran" in headings
    assert set(headings) <= set(SPANISH.values())
    assert len(headings) == len(re.findall("<h2>", report.written(findings)))
    assert "victorias de quien la tiene" in page
    assert re.search(r"\d,\d %", page)
    assert not re.search(r"\d\.\d+( %|</td>)", page)


@pytest.mark.parametrize(("name", "preset", "counted"), [
    ("market", "short", "compras a un vendedor de ahí"), ("moctezuma", "swift", "investigadores que llegaron a pie"),
    ("siege", "skirmish", "unidades que cayeron ahí"), ("mexica", "evening", "tribus que llegaron ahí"),
])  # fmt: skip
def test_each_games_board_is_shown_in_spanish_too(name: str, preset: str, counted: str) -> None:
    findings = studies.study(Setup(game=name, preset=preset, seats=2), Sizes(1, 0, 0, 0, 0), played)
    page = report.written(findings, language="es")
    assert "<h2>El tablero</h2>" in page
    assert f"más {counted}" in page


def test_the_game_its_seats_and_ends_and_what_was_chosen_have_the_words_of_its_pages() -> None:
    setup = Setup(game="siege", preset="skirmish", seats=2, chosen={"bodyguard": 3})
    page = report.written(studies.study(setup, Sizes(2, 0, 0, 0, 0), played), language="es")
    for words in (
        "El sitio de Tenochtitlan, Escaramuza",
        "Los mexicas",
        "Guardia de Cuauhtémoc (una ventaja): −2 en",
    ):
        assert words in page
    assert "un caudillo perdido" in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_end_of_a_game_has_words(language: str) -> None:
    ends = {"market": ("points", "coins", "tokens", "level"), "mexica": ("settled", "flood", "war", "stillness"),
            "moctezuma": ("points", "cards", "level"), "siege": ("captured", "limit", "draw")}  # fmt: skip
    for game, kinds in ends.items():
        called = names.of(games()[game], language)
        assert all(called(f"ending.kind.{kind}", "") for kind in kinds)


def test_a_code_without_words_stands_for_itself() -> None:
    assert "<h1>Coin, classic</h1>" in report.written(studies.study(coin(), Sizes(4, 0, 0, 0, 0), played))


def test_a_language_that_no_report_is_written_in_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "siege", "skirmish", "--language", "nah"])
    assert "invalid choice: 'nah'" in capsys.readouterr().err

"""What people noticed at the table: numbers of one, a temple where none is used, printing, replaying, installing."""

from __future__ import annotations

import re

import pytest

from companion.web.rendering.texts import load
from companion.web.site import HERE
from tests.web.conftest import Browser, WebHome, text_of

COUNTED = re.compile(r"\{(n|points|turn|left|of)\} [a-z]+s\b")
NEVER_ONE = re.compile(r"players|lines|characters|minutes|seconds|hexes in a row|rows|chits|quarters|faults")
"""What is never counted down to one, or is a limit."""


def test_a_text_that_counts_has_words_for_one(home: WebHome) -> None:
    folders = [HERE / "texts", *(folder / "texts" for folder in home.app.extensions["site"].folders.values())]
    wrong = [
        text
        for folder in folders
        for text in load(folder)["en"].values()
        if isinstance(text, str) and COUNTED.search(text) and not NEVER_ONE.search(text)
    ]
    allowed = (
        "Week card {n} was issued",
        "{n} tokens to Tonantzin for a Day card",
        "{n} sacrifices call the gods",
        "{n} is not a number from {low} to {high}.",
        "The buyer of lane {n} has no coin.",
        "The buyer of lane {n} holds something else.",
    )
    assert [text for text in wrong if text not in allowed] == []


@pytest.mark.parametrize(("n", "said"), [(1, "1 jewel"), (2, "2 jewels")])
def test_one_jewel_is_one_jewel(home: WebHome, n: int, said: str) -> None:
    words = home.app.extensions["site"].painter.library.words("en", "market")
    assert words("market.goods", n=n, commodity="jewels") == said


def test_a_game_without_a_temple_says_nothing_of_one(home: WebHome) -> None:
    for game, said in (("market", False), ("mexica", True)):
        table = home.services.tables.open(game, "Sunday", 2, next(iter(home.games[game].presets)), {})
        home.services.seats.begin(table.id, table.code)
        assert ("No temple" in text_of(home.browser().get(f"/t/{table.id}/screen"))) == said


def test_a_page_for_the_printer_has_a_button_that_prints(phone: Browser) -> None:
    html = phone.get("/games/mexica/print/board").get_data(as_text=True)
    assert re.search(r"<button[^>]* data-print hidden>Print</button>", html)
    assert "print.js" in html


def test_every_page_names_what_a_browser_installs_it_by(phone: Browser) -> None:
    assert 'rel="manifest" href="/app.webmanifest"' in phone.get("/").get_data(as_text=True)
    answer = phone.get("/app.webmanifest")
    assert answer.mimetype == "application/manifest+json"
    manifest = answer.get_json(force=True)
    assert (manifest["display"], manifest["start_url"]) == ("standalone", "/")
    for icon in manifest["icons"]:
        assert phone.get(icon["src"]).status_code == 200


def test_a_new_table_starts_from_the_last_one_of_its_game(home: WebHome, phone: Browser) -> None:
    page = "/tables/new?game=mexica"
    fresh = phone.get(page).get_data(as_text=True)
    assert re.search(r'name="players" value="3" checked', fresh), "neither the fewest nor the most"
    home.services.tables.open("mexica", "Sunday", 2, "evening", {})
    again = phone.get(page).get_data(as_text=True)
    assert re.search(r'name="players" value="2" checked', again)
    assert re.search(r'name="preset" value="evening" checked', again)

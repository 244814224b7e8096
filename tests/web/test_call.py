"""Whose turn it is reaches people who are not looking: the title, the icon, and what the script calls out."""

from __future__ import annotations

import re

import pytest

from companion.games.kit import Move
from companion.model.table import Table
from tests.web.conftest import Browser, WebHome


@pytest.fixture
def seated(home: WebHome) -> tuple[Table, Browser, Browser]:
    table = home.services.tables.open("mexica", "Sunday", 2, "temple_only", {"apocalypse_tokens": 13})
    first, second = table.charter.seats
    ana, beto = home.browser(), home.browser()
    ana.sit(table, first, "Ana")
    beto.sit(table, second, "Beto")
    ana.post(f"/t/{table.id}/begin")
    return home.services.tables.get(table.id), ana, beto


def _head(phone: Browser, path: str) -> tuple[str, str]:
    html = phone.get(path).get_data(as_text=True)
    title, icon = re.search(r"(?s)<title>(.*?)</title>", html), re.search(r'id="icon" href="([^"]*)"', html)
    assert title
    assert icon
    return " ".join(title[1].split()), icon[1].rpartition("/")[2]


def test_the_title_and_the_icon_say_whose_turn_it_is(home: WebHome, seated: tuple[Table, Browser, Browser]) -> None:
    table, ana, beto = seated
    page = f"/t/{table.id}"
    assert _head(ana, page) == ("Your turn · Sunday", "icon-turn.svg")
    assert _head(beto, page) == ("Ana’s turn · Sunday", "icon.svg")
    assert _head(home.browser(), f"{page}/screen") == ("Ana’s turn · Sunday", "icon.svg")
    assert _head(home.browser(language="es"), page)[0] == "Turno de Ana · Sunday"
    ana.move(table, table.charter.seats[0], "end_turn", version=table.version)
    assert _head(ana, page)[0] == "Beto’s turn · Sunday"
    assert _head(beto, page)[0] == "Your turn · Sunday"


def test_the_title_says_that_a_game_is_over(home: WebHome, seated: tuple[Table, Browser, Browser]) -> None:
    table, ana, _ = seated
    first = table.charter.seats[0]
    ana.move(table, first, "settle", first, version=table.version)
    assert _head(ana, f"/t/{table.id}") == ("The game is over · Sunday", "icon.svg")


def test_a_phone_that_is_passed_round_names_the_player(home: WebHome) -> None:
    table = home.services.tables.open("market", "Sunday", 2, "classic", {})
    phone = home.browser()
    phone.post(f"/t/{table.id}/share", {"code": table.code, "name.south": "Ana", "name.east": "Beto"})
    phone.post(f"/t/{table.id}/begin")
    assert re.match("(Ana|Beto)’s turn · Sunday", _head(phone, f"/t/{table.id}")[0])


def test_the_coming_of_the_gods_is_a_great_moment(home: WebHome, seated: tuple[Table, Browser, Browser]) -> None:
    table, ana, _ = seated
    first, page = table.charter.seats[0], f"/t/{table.id}/screen"
    assert 'class="moment"' not in home.browser().get(page).get_data(as_text=True)
    for _ in range(2):
        now = home.services.tables.get(table.id)
        ana.move(table, first, *Move("sacrifice", ("tlaloc", 7)).to_json(), version=now.version)
    html = home.browser().get(page).get_data(as_text=True)
    moment = re.search(r'(?s)<div class="moment" data-great hidden>.*?</div>', html)
    assert moment
    assert "#tlaloc" in moment[0]
    assert "The apocalypse begins" in moment[0]

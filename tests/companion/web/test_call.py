"""Whose turn it is reaches people who are not looking: the title, the icon, and what the script calls out."""

from __future__ import annotations

import re

import pytest

from companion.games.kit import Move
from companion.model.table import Table
from tests.companion.web.conftest import Browser, WebHome
from tests.companion.web.test_ending import TABLES, over


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
    moment = re.search(r'(?s)<div class="moment" data-great[^>]*hidden>.*?</div>', html)
    assert moment
    assert "#tlaloc" in moment[0]
    assert "The apocalypse begins" in moment[0]


@pytest.mark.parametrize(("game", "preset"), TABLES)
def test_the_end_of_every_game_is_a_great_moment_which_names_who_won_and_why(
    home: WebHome, game: str, preset: str
) -> None:
    table, _ = over(home, game, preset)
    html = home.browser().get(f"/t/{table.id}/screen").get_data(as_text=True)
    moment = re.search(r'(?s)<div class="moment" data-great[^>]*hidden>.*?</div>', html)
    assert moment
    title, why = (re.search(f'(?s)class="{name}"[^>]*>(.*?)<', html) for name in ("ending-title", "ending-why"))
    assert title
    assert why
    assert moment[0].count('class="moment-picture') == 1
    assert f'<p class="moment-words">{title[1]}</p>' in moment[0]
    assert f'<p class="moment-why">{why[1]}</p>' in moment[0]


def test_a_table_that_was_closed_had_no_great_moment(home: WebHome, seated: tuple[Table, Browser, Browser]) -> None:
    table, ana, _ = seated
    ana.post(f"/t/{table.id}/close")
    html = home.browser().get(f"/t/{table.id}/screen").get_data(as_text=True)
    assert "data-over" in html
    assert 'class="moment"' not in html


def _wish(phone: Browser, path: str) -> set[str]:
    return set(re.findall('data-sounds="([^"]*)"', phone.get(path).get_data(as_text=True)))


def test_a_phone_with_a_seat_switches_the_sound_for_the_whole_table(
    home: WebHome, seated: tuple[Table, Browser, Browser]
) -> None:
    table, ana, beto = seated
    page = f"/t/{table.id}"
    assert "Sound on for the whole table" in ana.get(page).get_data(as_text=True)
    assert "for the whole table" not in home.browser().get(page).get_data(as_text=True)
    ana.post(f"{page}/sound", {"sound": "on"})
    for phone, path in ((beto, page), (home.browser(), page), (home.browser(), f"{page}/screen")):
        assert _wish(phone, path) == {"on"}
    assert "The table wants sound (Ana)" in beto.get(page).get_data(as_text=True)
    beto.post(f"{page}/sound", {"sound": "off"})
    assert _wish(ana, page) == {"off"}
    assert home.browser().post(f"{page}/sound", {"sound": "on"}).status_code == 403


def test_whoever_sets_a_table_says_whether_it_sounds_and_the_next_form_begins_with_that(home: WebHome) -> None:
    ana, form = home.browser(), {"game": "market", "title": "Sunday", "players": "2", "preset": "short"}
    ticked = 'name="sound" value="on" checked'
    for sound, wish, then in (({"sound": "on"}, "on", True), ({}, "off", False)):
        assert (ticked in ana.get("/tables/new").get_data(as_text=True)) is not then
        ana.post("/tables", {**form, **sound})
        home.clock.pass_(minutes=1)
        table = home.services.tables.all()[0]
        home.services.tables.open("market.bag", "Bag", 1, next(iter(home.games["market.bag"].presets)))
        assert _wish(ana, f"/t/{table.id}") == {wish}
        assert (ticked in ana.get("/tables/new").get_data(as_text=True)) is then
    assert ticked in ana.post("/tables/new", {**form, "sound": "on"}).get_data(as_text=True)
    ana.post("/tables", {**form, "sound": "on"})
    assert ticked not in ana.post("/tables/new", {**form, "title": ""}).get_data(as_text=True)

"""The page of past evenings, and what the list of tables says of those that are over."""

from __future__ import annotations

import re

import pytest

from companion.web.rendering.texts import LANGUAGES
from tests.companion.model.test_evenings import played
from tests.companion.web.conftest import WebHome

LONG = "Nezahualcoyotl Texcoco X"


def test_a_companion_without_a_past_game_leads_to_a_new_table(home: WebHome) -> None:
    page = home.browser().get("/evenings").get_data(as_text=True)
    assert "No game has been played to its end here yet" in page
    assert 'href="/tables/new"' in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_evening_says_who_played_who_won_and_leads_to_the_story(home: WebHome, language: str) -> None:
    table = played(home, LONG, "<Ben>", temple="templo", tokens=3)
    page = home.browser(language=language).get("/evenings").get_data(as_text=True)
    said = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page))
    for words in (LONG, "&lt;Ben&gt;", "2026", "54 min", "templo", "3 "):
        assert words in said
    assert f'href="/t/{table.id}/story"' in page
    assert re.search(r'<li class="won">[^/]*&lt;Ben&gt;', page)


def test_evenings_beyond_the_first_twelve_are_on_further_pages(home: WebHome) -> None:
    for _ in range(14):
        played(home, "Ana", "Ben")
        home.clock.pass_(days=1)
    first, second = (home.browser().get(f"/evenings?page={n}").get_data(as_text=True) for n in (1, 2))
    assert (first.count('class="panel evening"'), second.count('class="panel evening"')) == (12, 2)
    assert 'href="/evenings?page=2"' in first
    assert 'href="/evenings?page=1"' in second


@pytest.mark.parametrize("page", ["0", "99", "x", "-1", "1" * 400])
def test_a_page_that_does_not_exist_is_the_first(home: WebHome, page: str) -> None:
    played(home, "Ana", "Ben")
    assert 'class="panel evening"' in home.browser().get(f"/evenings?page={page}").get_data(as_text=True)


def test_the_list_of_tables_leads_back_to_ones_seat_and_says_who_won_and_when(home: WebHome) -> None:
    played(home, "Ana", "Ben")
    elsewhere, mine = home.table(2), home.table(2)
    phone = home.browser()
    phone.sit(mine, "east")
    page = phone.get("/tables").get_data(as_text=True)
    running, over = page.split('id="over-title"')
    assert running.index(mine.id) < running.index(elsewhere.id)
    assert re.search(rf'href="/t/{mine.id}">Back to your seat', running)
    assert re.search(rf'href="/t/{elsewhere.id}">Watch', running)
    assert re.findall(r'class="table-end">([^<]*)', over) == ["Ben settles"]
    assert "Nov 2" in over


def test_a_phone_remembers_the_name_that_somebody_sat_under_and_marks_it_among_the_records(home: WebHome) -> None:
    played(home, "Ana María", "Ben")
    phone, other = home.browser(), home.browser()
    phone.sit(home.lobby(), "east", " ana  maría")
    offered = phone.get(f"/j/{home.lobby().code}").get_data(as_text=True)
    assert re.search(r'autocomplete="nickname"\s+value=" ana  maría"', offered)
    you = re.findall(r'title="([^"]*)">[^/]*</span></span></bdi>\s*<small>\(you\)', phone.get("/evenings").text)
    assert you == ["Ana María"]
    assert "(you)" not in other.get("/evenings").get_data(as_text=True)


def test_a_phone_that_is_passed_round_remembers_the_first_name_and_offers_it_for_one_seat(home: WebHome) -> None:
    phone, table = home.browser(), home.lobby()
    names = {f"name.{seat}": name for seat, name in zip(table.charter.seats, ("Ana", "Ben"), strict=False)}
    phone.post(f"/t/{table.id}/share", {"code": table.code, **names})
    offered = phone.get(f"/j/{home.lobby().code}").get_data(as_text=True)
    assert re.findall(r'value="(Ana|Ben)"', offered) == ["Ana", "Ana"]
    assert re.findall(r'name="name.east"[^>]*value="([^"]*)"', offered) == ["Ana"]


@pytest.mark.parametrize("made_up", ["%FF%FE", "x" * 4000, "%3Cscript%3E", "", "%00"])
def test_a_name_that_a_browser_makes_up_is_no_error(home: WebHome, made_up: str) -> None:
    phone = home.browser()
    phone.client.set_cookie("name", made_up)
    for path in ("/evenings", f"/j/{home.lobby().code}"):
        answer = phone.get(path)
        assert answer.status_code == 200
        assert "<script>" not in answer.get_data(as_text=True)


def test_an_evening_with_a_temple_shows_how_the_lake_filled(home: WebHome) -> None:
    table = home.table(2, "templo")
    phone = home.seated(table, "east", "Ana")
    for n in range(1, 4):
        home.clock.pass_(minutes=5)
        home.services.temples.intake.receive([("templo", home.token(n))])
    assert home.play(table, phone, "east", "settle", "west").accepted
    page = home.browser().get("/evenings").get_data(as_text=True)
    assert 'aria-label="How the lake filled: 3 tokens over the game"' in page
    assert re.search(r'<path d="M0 24H0.0V24.0H[\d.]+V16.67H[\d.]+V9.33H[\d.]+V2.0H100.0V2.0V24Z"', page)

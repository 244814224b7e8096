"""The organiser's page of rounds: begun by a form, shown with its standings, and closed to everybody else."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest

from companion.model.table import Table
from companion.service.rounds import EventPage
from tests.companion.web.conftest import ORGANISER, Browser, WebHome, text_of

FORM = {"played": "mexica temple_only", "size": "2", "pairing": "swiss", "names": "Ana\n<b>Ben</b>", "temples": "on"}


@pytest.fixture
def organiser(home: WebHome) -> Browser:
    """A browser in which the organiser's code was typed."""
    browser = home.browser()
    assert browser.post("/organiser/code", {"code": ORGANISER.code}).status_code == 303
    return browser


def only_table(home: WebHome) -> Table:
    (table,) = home.services.tables.all()
    return table


def test_without_the_organiser_s_code_there_are_no_rounds(home: WebHome) -> None:
    stranger = home.browser()
    assert stranger.get("/organiser/rounds").status_code == 403
    for path in ("", "/next", "/end"):
        assert stranger.post(f"/organiser/rounds{path}", FORM).status_code == 403
    assert home.services.tables.all() == ()


def test_an_event_is_begun_played_and_ended(home: WebHome, organiser: Browser) -> None:
    assert "Begin an event" in text_of(organiser.get("/organiser/rounds"))
    assert organiser.post("/organiser/rounds", FORM).status_code == 303
    page = organiser.get("/organiser/rounds")
    assert "&lt;b&gt;Ben&lt;/b&gt;" in page.get_data(as_text=True)
    assert "1 table still plays." in text_of(page)
    assert organiser.post("/organiser/rounds/next", {"number": "2", "names": "Ana\nBen"}).status_code == 422
    table = only_table(home)
    assert table.title == "Round 1 · Table 1"
    seats = {chair.name or "": chair.seat for chair in table.chairs}
    token = home.services.seats.sit(table.id, table.code, seats["Ana"], "Ana")
    home.services.seats.begin(table.id, table.code)
    assert home.play(table, token, seats["Ana"], "settle", seats["Ana"]).accepted
    text = text_of(organiser.get("/organiser/rounds"))
    assert "1. Ana 1 0" in text
    assert "2. &lt;b&gt;Ben&lt;/b&gt; 0 1" in text
    assert "Ana (won)" in text
    assert organiser.post("/organiser/rounds/next", {"number": "2", "names": "Ana\nBen\nCleo"}).status_code == 303
    assert "Resting: " in text_of(organiser.get("/organiser/rounds"))
    assert organiser.post("/organiser/rounds/end").status_code == 303
    assert "Begin an event" in text_of(organiser.get("/organiser/rounds"))
    assert len(home.services.tables.all()) == 2


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"names": "Ana\nana\nBen"}, "is on the list twice"),
        ({"names": "Ana"}, "An event has 2 to 100 players; the list has 1."),
        ({"names": "Ana\n" + "x" * 25}, f"“{'x' * 25}” has 25 visible characters"),
        ({"size": "99"}, "This game is for 2 to 4 players, not 99."),
        ({"size": ""}, "not 0."),
        ({"pairing": "knockout"}, "Choose who meets."),
        ({"played": "mexica nonsense"}, "There is no such set of rules: nonsense."),
        ({"played": "chess open"}, "chess"),
    ],
)
def test_what_is_wrong_is_said_beside_what_was_typed(
    home: WebHome, organiser: Browser, changed: dict[str, str], words: str
) -> None:
    answer = organiser.post("/organiser/rounds", FORM | changed)
    assert answer.status_code == 422
    assert words in text_of(answer)
    assert (FORM | changed)["names"].splitlines()[0] in answer.get_data(as_text=True)
    assert home.services.tables.all() == ()


def test_a_phone_that_knows_its_name_gets_the_seat_that_is_kept_for_it(home: WebHome, organiser: Browser) -> None:
    organiser.post("/organiser/rounds", FORM | {"names": "Ana\nBen"})
    table = only_table(home)
    phone = home.browser()
    page = phone.get(f"/j/{table.code}")
    assert "kept for Ana" in text_of(page)
    assert "kept for Ben" in text_of(page)
    seats = {chair.name or "": chair.seat for chair in table.chairs}
    sat = {"code": table.code, "seat": seats["Ana"], "name": " "}
    assert phone.post(f"/t/{table.id}/sit", sat).status_code == 303
    assert home.services.tables.get(table.id).chair(seats["Ana"]).name == "Ana"
    phone = home.browser()
    phone.client.set_cookie("name", "Ben")
    assert 'value="Ben"' in phone.get(f"/j/{table.code}").get_data(as_text=True)
    assert phone.sit(table, "", "Ben").status_code == 303
    assert home.services.tables.get(table.id).chair(seats["Ben"]).taken


def test_an_event_of_a_game_that_is_gone_can_still_be_ended(home: WebHome, organiser: Browser) -> None:
    organiser.post("/organiser/rounds", FORM)
    home.store.close()
    stored = home.url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(stored)) as connection, connection:
        connection.execute(
            "UPDATE about SET value = replace(value, '\"mexica\"', '\"chess\"') WHERE key = 'note.event'"
        )
    home.restart()
    organiser = home.browser()
    organiser.post("/organiser/code", {"code": ORGANISER.code})
    assert "has no game “chess”" in text_of(organiser.get("/organiser/rounds"))
    assert organiser.post("/organiser/rounds/end").status_code == 303
    assert "Begin an event" in text_of(organiser.get("/organiser/rounds"))


def test_a_table_that_ends_while_the_page_is_made_is_over_on_the_next_page(
    home: WebHome, organiser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    organiser.post("/organiser/rounds", FORM | {"names": "Ana\nBen\nCleo\nDia"})
    read, running = home.services.rounds.page, [table.id for table in home.services.tables.all()]

    def page() -> EventPage | None:
        found = read()
        if running:
            home.services.tables.close_for_players(running.pop())
        return found

    monkeypatch.setattr(home.services.rounds, "page", page)
    while running:
        organiser.get("/organiser/rounds")
    assert "still plays" not in text_of(organiser.get("/organiser/rounds"))


def test_one_phone_for_a_whole_round_s_table_keeps_the_names_that_were_set(home: WebHome, organiser: Browser) -> None:
    organiser.post("/organiser/rounds", FORM | {"names": "Ana\nBen"})
    page = home.browser().get(f"/j/{only_table(home).code}").get_data(as_text=True)
    assert 'value="Ana"' in page
    assert 'value="Ben"' in page


def test_a_page_of_an_event_that_is_over_changes_nothing_of_a_newer_one(home: WebHome, organiser: Browser) -> None:
    def begin(names: str) -> str:
        organiser.post("/organiser/rounds", FORM | {"names": names})
        for table in home.services.tables.all():
            if table.phase != "over":
                home.services.tables.close_for_players(table.id)
        page = organiser.get("/organiser/rounds").get_data(as_text=True)
        (event,) = set(re.findall(r'name="event" value="(\w+)"', page))
        assert page.count(f'value="{event}"') == 2
        return str(event)

    first = begin("Ana\nBen")
    assert organiser.post("/organiser/rounds/end", {"event": first}).status_code == 303
    second = begin("Cleo\nDia")
    for path in ("next", "end"):
        answer = organiser.post(f"/organiser/rounds/{path}", {"event": first, "number": "2", "names": "Ana\nBen"})
        assert answer.status_code == 422
        assert "That event was ended, and another has begun since" in text_of(answer)
        assert "Ana" not in text_of(answer)
    assert organiser.post("/organiser/rounds/end", {"event": second}).status_code == 303
    assert "Begin an event" in text_of(organiser.get("/organiser/rounds"))

"""One rule for acting for another seat, on the pages of every game: disclosed, confirmed, announced, taken back."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from html import unescape

import pytest

from companion.games.kit import CHANCE, Move
from companion.model.table import Table
from tests.companion.web.conftest import Browser, WebHome, text_of

TABLES = [
    ("mexica", "temple_only"),
    ("mexica", "classic"),
    ("market", "classic"),
    ("moctezuma", "classic"),
    ("siege", "skirmish"),
]
PRIMARY = r'class="move[^"]*\bend-turn\b|class="button button-main|\bbutton-main-form\b'


def _seated(home: WebHome, game: str, preset: str) -> tuple[Table, dict[str, Browser]]:
    table = home.services.tables.open(game, "Sunday", 2, preset, {})
    phones = {}
    for chair in table.chairs:
        phones[chair.seat] = home.browser()
        phones[chair.seat].sit(table, chair.seat, chair.seat.title())
    home.services.seats.begin(table.id, table.code)
    return home.services.tables.get(table.id), phones


def _outside(html: str) -> str:
    """Return a page without what stands in a disclosure for another seat."""
    return re.sub(r'(?s)<details class="for-another".*?</details>', "", html)


def _forms(html: str) -> Iterator[tuple[str, dict[str, str]]]:
    for form in re.findall(r"(?s)<form.*?</form>", html):
        action = re.search(r'action="([^"]*)"', form)
        yield (
            action[1] if action else "",
            {name: unescape(value) for name, _, value in re.findall(r'name="([\w.]+)"\s+value=(["\'])(.*?)\2', form)},
        )


def _for_others(table: Table, seat: str, html: str) -> list[str]:
    """Return what a page offers in sight that is another seat's to do."""
    due, wrong = table.chance(), []
    of_another = due is not None and due.seat not in (None, seat)
    for action, fields in _forms(_outside(html)):
        if action.endswith("/chance") and of_another:
            wrong.append("the app's die")
        elif action.endswith("/play"):
            if fields["seat"] == CHANCE:
                wrong += ["a typed outcome"] if of_another else []
            elif fields["seat"] != seat:
                wrong.append(f"a move of {fields['seat']}")
            else:
                move = Move.from_json(json.loads(fields["move"]))
                wrong += [] if table.game.rules.acts_for(table.state, seat, move) == seat else [str(move)]
    return wrong


@pytest.mark.parametrize(("game", "preset"), TABLES)
def test_a_phone_offers_in_sight_what_is_its_own_to_do_and_nothing_else(
    home: WebHome, game: str, preset: str
) -> None:
    table, phones = _seated(home, game, preset)
    chance = random.Random(7)
    keys = {seat: phone.token_of(table) for seat, phone in phones.items()}
    for _ in range(25):
        table = home.services.tables.get(table.id)
        if table.phase == "over":
            break
        for seat, phone in phones.items():
            html = phone.get(f"/t/{table.id}").get_data(as_text=True)
            assert _for_others(table, seat, html) == []
            acts = seat in table.game.rules.to_act(table.state) or table.may_bring([seat])
            if not acts:
                assert not re.search(PRIMARY, _outside(html))
        actors = table.game.rules.to_act(table.state)
        seat = table.on_turn if table.on_turn in actors else actors[0]
        move = chance.choice(table.game.rules.moves(table.state, seat))
        by = keys.get(seat) or keys[table.on_turn or next(iter(keys))]
        request = f"r{next(home.requests)}"
        if seat == CHANCE:
            assert home.services.play.roll(table.id, by, table.version, request).accepted
        else:
            assert home.services.play.move(table.id, by, seat, move, table.version, request).accepted


@pytest.fixture
def mexica(home: WebHome) -> tuple[WebHome, Table, Browser, Browser]:
    table, phones = _seated(home, "mexica", "temple_only")
    first, second = table.charter.seats
    return home, table, phones[first], phones[second]


def test_the_end_of_anothers_turn_is_disclosed_by_name_and_confirmed(
    mexica: tuple[WebHome, Table, Browser, Browser],
) -> None:
    _, table, _, beto = mexica
    html = beto.get(f"/t/{table.id}").get_data(as_text=True)
    disclosed = re.findall(r'(?s)<details class="for-another" id="[^"]*" data-confirm>.*?</details>', html)
    assert any(f"Act for {table.charter.seats[0].title()}" in each and "end_turn" in each for each in disclosed)


def test_what_was_done_for_a_seat_is_announced_on_its_phone_which_takes_it_back(
    mexica: tuple[WebHome, Table, Browser, Browser],
) -> None:
    home, table, ana, beto = mexica
    first, second = table.charter.seats
    beto.move(table, second, "end_turn", version=table.version)
    announced = text_of(ana.get(f"/t/{table.id}"))
    assert f"{second.title()} acted for {first.title()}:" in announced
    assert "acted for" not in text_of(beto.get(f"/t/{table.id}"))
    version = str(home.services.tables.get(table.id).version)
    ana.post(f"/t/{table.id}/undo", {"seat": first, "version": version, "request": "back"})
    assert home.services.tables.get(table.id).on_turn == first
    assert "acted for" not in text_of(ana.get(f"/t/{table.id}"))


def test_an_absent_players_seat_has_a_page_of_its_own_on_other_phones(
    mexica: tuple[WebHome, Table, Browser, Browser],
) -> None:
    home, table, ana, beto = mexica
    first, _ = table.charter.seats
    page = f"/t/{table.id}/for/{first}"
    assert beto.get(page).status_code == 303, "nobody stands in for a player who is there"
    ana.post(f"/t/{table.id}/away", {"seat": first, "mode": "anyone"})
    assert f"{first.title()} is away, and anyone may act." in text_of(beto.get(f"/t/{table.id}"))
    shown = beto.get(page)
    assert f"You are acting for {first.title()}." in text_of(shown)
    forms = re.findall(r"(?s)<form class=\"move[^>]*>.*?</form>", shown.get_data(as_text=True))
    assert forms
    assert all("data-confirm" in form for form in forms)
    assert ana.get(page).status_code == 303, "the seat is this phone's own"
    assert home.browser().get(page).status_code == 303


def test_who_stands_in_neither_reads_nor_writes_over_a_players_own_notes(home: WebHome) -> None:
    table, phones = _seated(home, "moctezuma", "classic")
    red, blue = table.charter.seats
    assert phones[red].move(table, red, "note", 0, "Tizoc is safe", version=table.version).status_code == 303
    phones[blue].post(f"/t/{table.id}/away", {"seat": red, "mode": "anyone"})
    shown = phones[blue].get(f"/t/{table.id}/for/{red}").get_data(as_text=True)
    assert "Tizoc is safe" not in shown
    assert "book-row" in shown, "what was seen is needed to play on"
    assert "note-form" not in shown
    assert phones[blue].move(table, red, "note", 0, "Nobody is", version=table.version).status_code == 403
    assert "Tizoc is safe" in phones[red].get(f"/t/{table.id}").get_data(as_text=True)


def test_a_phone_is_shown_that_its_seat_was_handed_over_and_takes_it_back(
    mexica: tuple[WebHome, Table, Browser, Browser],
) -> None:
    home, table, ana, beto = mexica
    first, _ = table.charter.seats
    beto.post(f"/t/{table.id}/away", {"seat": first, "mode": "pass"})
    assert f"{first.title()} is skipped." in text_of(ana.get(f"/t/{table.id}"))
    ana.post(f"/t/{table.id}/away", {"seat": first, "mode": ""})
    assert home.services.tables.get(table.id).chair(first).away == ""


def test_who_is_away_is_said_at_the_foot_of_every_seated_phone_s_page(
    mexica: tuple[WebHome, Table, Browser, Browser],
) -> None:
    home, table, ana, beto = mexica
    first, second = table.charter.seats
    html = beto.get(f"/t/{table.id}").get_data(as_text=True)
    absent = re.search(r'(?s)<details class="absent".*?</details>', html)
    assert absent
    assert {fields["seat"] for _, fields in _forms(absent[0])} == {first}
    assert second.title() not in absent[0]
    assert 'class="absent"' not in home.browser().get(f"/t/{table.id}/screen").get_data(as_text=True)
    assert "Join with the code" in text_of(home.browser().get(f"/t/{table.id}"))
    assert "Join with the code" not in text_of(ana.get(f"/t/{table.id}"))


def test_a_phone_whose_seat_was_handed_over_says_so(mexica: tuple[WebHome, Table, Browser, Browser]) -> None:
    _, table, ana, beto = mexica
    beto.post(f"/t/{table.id}/free", {"seat": table.charter.seats[0]})
    assert "Your seat was handed over." in text_of(ana.get(f"/t/{table.id}"))
    assert "Your seat was handed over." not in text_of(beto.get(f"/t/{table.id}"))

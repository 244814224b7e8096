"""What a board asks of the server: choices level by level, numbers that were typed, draws that belong together."""

from __future__ import annotations

import json
import re
from urllib.parse import urlencode

import pytest

from companion.model.table import Table
from tests.companion.web.conftest import Browser, WebHome, text_of

SCRIPT = {"Accept": "application/json"}


@pytest.fixture
def market(home: WebHome, phone: Browser) -> Table:
    """A market that was dealt, with one phone for both seats, after both first coins."""
    table = home.services.tables.open("market", "Sunday", 2, "classic", {"setup": "random"})
    phone.post(f"/t/{table.id}/share", {"code": table.code})
    phone.post(f"/t/{table.id}/begin")
    for _ in range(2):
        now = home.services.tables.get(table.id)
        phone.move(table, now.on_turn or "", "coin", 0, version=now.version)
    return home.services.tables.get(table.id)


@pytest.fixture
def pad(home: WebHome, phone: Browser) -> Table:
    """The score pad of one phone."""
    path = phone.post("/games/market/aids/score").headers["Location"]
    return home.services.tables.get(path.rpartition("/")[2])


def test_a_level_of_choices_comes_as_forms_to_a_script_and_as_a_page_to_a_reader(
    market: Table, phone: Browser
) -> None:
    path = f'/t/{market.id}/picks?seat={market.on_turn}&picked=["shift"]'
    level = phone.get(path, **SCRIPT).get_json()
    assert len(level["choices"]) == 14  # every tile but the messenger
    cells = [re.search(r'data-element="(cell:\d+)"', each) for each in level["choices"]]
    assert len({each[1] for each in cells if each}) == 14
    assert text_of(phone.get(path)).count("lane") == 14


def test_a_level_of_another_seat_is_refused_to_a_script_in_words(market: Table, home: WebHome) -> None:
    answer = home.browser().get(f'/t/{market.id}/picks?seat=south&picked=["shift"]', **SCRIPT)
    assert answer.status_code == 403
    assert answer.get_json()["words"]


def test_a_page_of_a_game_holds_its_own_drawings_and_no_other_page_does(market: Table, phone: Browser) -> None:
    assert 'id="good-pottery"' in phone.get(f"/t/{market.id}").get_data(as_text=True)
    assert 'id="good-pottery"' not in phone.get("/").get_data(as_text=True)


def test_four_tokens_of_one_draw_come_with_one_tap(market: Table, home: WebHome, phone: Browser) -> None:
    phone.move(market, market.on_turn or "", "pass", version=market.version)
    now = home.services.tables.get(market.id)
    phone.post(f"/t/{market.id}/chance", {"version": str(now.version), "request": "one"})
    after = home.services.tables.get(market.id)
    assert len(after.state.drawn) == 4
    assert after.state.step == "shift"


def test_what_a_person_types_is_asked_for_token_by_token(market: Table, home: WebHome, phone: Browser) -> None:
    phone.move(market, market.on_turn or "", "pass", version=market.version)
    for n in range(1, 3):
        phone.move(market, "chance", "draw", "cloth", version=home.services.tables.get(market.id).version)
        assert len(home.services.tables.get(market.id).state.drawn) == n
    now = home.services.tables.get(market.id)
    phone.post(f"/t/{market.id}/chance", {"version": str(now.version), "request": "two"})
    assert len(home.services.tables.get(market.id).state.drawn) == 4, "the app draws the rest"


def _type(phone: Browser, pad: Table, typed: str) -> int:
    form = {"seat": "keeper", "move": '["king","cloth"]', "typed": typed, "version": str(pad.version), "request": "n"}
    return phone.post(f"/t/{pad.id}/play", {**form, "request": f"n{abs(hash(typed))}"}, **SCRIPT).status_code


@pytest.mark.parametrize(
    ("typed", "status"), [("4", 200), (" 7 ", 200), ("", 200), ("21", 409), ("-1", 400), ("x", 400)]
)
def test_a_number_that_was_typed_is_the_last_argument_of_its_move(
    home: WebHome, phone: Browser, pad: Table, typed: str, status: int
) -> None:
    assert _type(phone, pad, typed) == status
    assert home.services.tables.get(pad.id).state.king[1] == (int(typed or 0) if status == 200 else 0)


def asking(table: str, seat: str, *moves: list[str | int]) -> str:
    return f"/t/{table}/preview?{urlencode([('seat', seat), *(('move', json.dumps(move)) for move in moves)])}"


def test_each_move_is_answered_in_the_words_of_its_game(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    answer = phone.get(
        asking(table.id, "east", ["settle", "east"], ["sacrifice", "tlaloc", 3], ["fly"], ["withdraw"])
    )
    assert answer.get_json()["previews"] == [
        "Ana settles Tenochtitlan: the game ends, and Ana wins.",
        "Tlaloc: 0 → 3.\n257 more tokens bring the apocalypse.",
        "",
        "",
    ]
    spanish = home.browser(language="es")
    spanish.sit(table, "west", "Eva")
    answer = spanish.get(asking(table.id, "west", ["settle", "west"]))
    assert answer.get_json()["previews"] == ["Eva funda Tenochtitlan: la partida termina y gana Eva."]
    assert home.services.tables.get(table.id).on_turn == "east"


def test_only_the_phone_of_a_seat_learns_what_its_moves_would_change(home: WebHome, phone: Browser) -> None:
    table, lobby = home.table(), home.lobby()
    phone.sit(table, "east")
    phone.sit(lobby, "east")
    assert phone.get(asking(table.id, "north", ["end_turn"])).status_code == 403
    assert phone.get(asking(table.id, "chance", ["end_turn"])).status_code == 403
    assert home.browser().get(asking(table.id, "east", ["end_turn"])).status_code == 403
    assert phone.get(asking(lobby.id, "east", ["end_turn"])).status_code == 409
    assert phone.get(f"/t/{table.id}/preview?seat=east&move=nonsense").status_code == 400


def test_a_level_deeper_shows_below_each_choice_what_it_would_change(market: Table, phone: Browser) -> None:
    seat = market.on_turn or ""
    cell = next(move.args[0] for move in market.game.rules.moves(market.state, seat) if move.name == "shift")
    path = f'/t/{market.id}/picks?seat={seat}&picked=["shift",{cell}]'
    assert "Your coins: 1 → 0." in text_of(phone.get(path))

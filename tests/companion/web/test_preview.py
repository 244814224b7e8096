"""What a move would change, asked by a phone before it confirms: for its own seat alone, in its own language."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from tests.companion.web.conftest import Browser, WebHome, text_of


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


def test_a_level_deeper_shows_below_each_choice_what_it_would_change(home: WebHome, phone: Browser) -> None:
    table = home.services.tables.open("market", "Sunday", 2, "classic", {"setup": "random"})
    phone.post(f"/t/{table.id}/share", {"code": table.code})
    phone.post(f"/t/{table.id}/begin")
    for _ in range(2):
        now = home.services.tables.get(table.id)
        phone.move(table, now.on_turn or "", "coin", 0, version=now.version)
    table = home.services.tables.get(table.id)
    seat = table.on_turn or ""
    cell = next(move.args[0] for move in table.game.rules.moves(table.state, seat) if move.name == "shift")
    path = f'/t/{table.id}/picks?seat={seat}&picked=["shift",{cell}]'
    assert "Your coins: 1 → 0." in text_of(phone.get(path))

"""Joining in a breath: any free seat, a seat that was taken meanwhile, and a token that seats its phone."""

from __future__ import annotations

import re

import pytest
from werkzeug.test import TestResponse

from companion.model.entries import Sit
from companion.model.table import COMPANION, Table
from templo import contract
from tests.companion.web.conftest import Browser, WebHome, text_of


def scanned(home: WebHome, table: Table, address: str = "127.0.0.1") -> Browser:
    phone = home.browser(address)
    assert phone.get(f"/j/{table.code}").status_code == 200
    return phone


def follow(phone: Browser, answer: TestResponse) -> str:
    assert answer.status_code == 303, text_of(answer)
    return text_of(phone.get(answer.headers["Location"]))


def named(home: WebHome, table: Table) -> dict[str, str]:
    chairs = home.services.tables.get(table.id).chairs
    return {chair.seat: chair.name or "" for chair in chairs if chair.taken}


def expected(home: WebHome, temple: str) -> str:
    home.services.temples.expect(temple)
    return temple


def drop(home: WebHome, temple: str, seq: int, *flags: str, replayed: bool = False, source: str = "") -> None:
    token = home.token(seq, "tlaloc", *flags, source=source or temple[0] * 32, replayed=replayed)
    home.services.temples.intake.receive([(temple, token)])


def test_who_scans_gets_a_free_seat_without_choosing_one(home: WebHome) -> None:
    table = home.lobby()
    phones = [scanned(home, table) for _ in range(4)]
    for phone, name in zip(phones, ("Ana", "Ben", "Cam", "Dee"), strict=True):
        assert phone.sit(table, "", name).status_code == 303
    assert named(home, table) == {"east": "Ana", "west": "Ben", "north": "Cam", "south": "Dee"}


def test_a_second_tap_takes_no_second_seat(home: WebHome) -> None:
    table = home.lobby()
    phone = scanned(home, table)
    for _ in range(2):
        assert phone.sit(table, "").status_code == 303
    lost = scanned(home, table)
    cookies = lost.client.get_cookie("coming")
    assert cookies
    lost.sit(table, "", "Ben")
    again = home.browser()
    again.client.set_cookie("coming", cookies.value)
    again.sit(table, "", "Ben")
    assert named(home, table) == {"east": "Ana", "west": "Ben"}


def test_a_seat_that_was_taken_meanwhile_leads_back_to_those_that_are_free(home: WebHome) -> None:
    table = home.lobby()
    ana, ben = scanned(home, table), scanned(home, table)
    ana.sit(table, "east", "Ana")
    answer = ben.sit(table, "east", "Ben <b>")
    page = follow(ben, answer)
    assert "East was taken a moment ago" in page
    assert "Take any free seat, or choose another" in page
    html = ben.get(answer.headers["Location"]).get_data(as_text=True)
    assert 'value="Ben &lt;b&gt;"' in html
    assert re.findall(r'name="seat" value="(\w*)"', html) == ["", "north", "west", "south"]


def test_a_table_that_filled_up_meanwhile_says_so(home: WebHome) -> None:
    table = home.lobby()
    late = scanned(home, table)
    for _ in range(4):
        scanned(home, table).sit(table, "")
    assert "Every seat is taken" in follow(late, late.sit(table, "", "Eve"))


def test_a_reserved_seat_goes_to_its_name_and_to_others_last(home: WebHome) -> None:
    table = home.lobby()
    home.services.seats._workspace.run(
        lambda change: change.enter(table.id, COMPANION, Sit("east", "Ana")), tables=[table.id]
    )
    ben, ana = scanned(home, table), scanned(home, table)
    ben.sit(table, "", "Ben")
    ana.sit(table, "", "ana")
    assert named(home, table) == {"west": "Ben", "east": "ana"}


def test_a_seat_that_the_app_plays_is_taken_after_the_free_ones(home: WebHome) -> None:
    table = home.lobby()
    token = home.seated(table, "north", "Ana")
    home.services.seats.away(table.id, token, "east", "app")
    scanned(home, table).sit(table, "", "Ben")
    scanned(home, table).sit(table, "", "Cam")
    assert named(home, table) == {"north": "Ana", "west": "Ben", "south": "Cam"}
    scanned(home, table).sit(table, "", "Dee")
    assert named(home, table)["east"] == "Dee"


def test_the_seats_follow_live_on_the_page_of_who_chooses(home: WebHome) -> None:
    table = home.lobby()
    phone = scanned(home, table)
    html = phone.get(f"/j/{table.code}").get_data(as_text=True)
    found = re.search(r'data-stream="([^"]+)" data-seen="([^"]+)"', html)
    assert found
    home.seated(table, "north", "Ben")
    stream = phone.get(f"{found[1]}&seen={found[2]}".replace("&amp;", "&")).get_data(as_text=True)
    assert stream.startswith("retry")
    fresh = phone.get(f"/j/{table.code}").get_data(as_text=True)
    assert re.search(r'<section class="region region-places"(?s:.)*Ben', fresh)


def test_the_page_for_joining_shows_nothing_of_the_game(home: WebHome) -> None:
    table = home.table()
    html = scanned(home, table).get(f"/j/{table.code}").get_data(as_text=True)
    assert set(re.findall(r'id="region-(\w+)"', html)) == {"places"}
    assert "Drop a token" not in html.partition("</head>")[2]


@pytest.fixture
def lobby(home: WebHome) -> Table:
    return home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, expected(home, "table"))


def waiting(home: WebHome, table: Table, name: str) -> Browser:
    phone = scanned(home, table)
    answer = phone.post(f"/t/{table.id}/sit", {"code": table.code, "how": "drop", "name": name})
    assert "Drop one token" in follow(phone, answer)
    return phone


def test_a_token_in_the_lobby_seats_the_phone_that_waits_for_it_and_scores_nothing(
    home: WebHome, lobby: Table
) -> None:
    ana = waiting(home, lobby, "Ana")
    assert named(home, lobby) == {}
    drop(home, "table", 1)
    assert named(home, lobby) == {"east": "Ana"}
    assert ana.get(f"/t/{lobby.id}/drop").headers["Location"] == f"/t/{lobby.id}"
    page = text_of(ana.get(f"/t/{lobby.id}"))
    assert "you" in page
    assert "Begin the game" in page
    ana.post(f"/t/{lobby.id}/begin")
    assert home.services.tables.get(lobby.id).tokens == 0


def test_a_test_token_seats_a_phone_too(home: WebHome, lobby: Table) -> None:
    waiting(home, lobby, "Ana")
    drop(home, "table", 1, contract.Flag.TEST)
    assert named(home, lobby) == {"east": "Ana"}


def test_each_token_seats_one_phone_and_none_twice(home: WebHome, lobby: Table) -> None:
    waiting(home, lobby, "Ana")
    waiting(home, lobby, "Ben")
    drop(home, "table", 1)
    assert named(home, lobby) == {"east": "Ben"}
    drop(home, "table", 2)
    drop(home, "table", 3)
    assert named(home, lobby) == {"east": "Ben", "west": "Ana"}


def test_who_sat_down_otherwise_or_waited_long_is_not_seated_by_a_token(home: WebHome, lobby: Table) -> None:
    ana = waiting(home, lobby, "Ana")
    waiting(home, lobby, "Ben")
    ana.sit(lobby, "south", "Ana")
    home.clock.pass_(minutes=11)
    drop(home, "table", 1)
    assert named(home, lobby) == {"south": "Ana"}


def test_a_token_of_another_temple_or_counter_or_one_that_comes_late_seats_nobody(
    home: WebHome, lobby: Table
) -> None:
    waiting(home, lobby, "Ana")
    expected(home, "attic")
    drop(home, "attic", 1)
    drop(home, "table", 1, replayed=True)
    drop(home, "table", 1, source="f" * 32)
    assert named(home, lobby) == {}


def test_without_the_code_nobody_waits_for_a_token(home: WebHome, lobby: Table) -> None:
    phone = scanned(home, lobby)
    form = {"code": "AAAAAA", "how": "drop", "name": "Eve"}
    assert phone.post(f"/t/{lobby.id}/sit", form).status_code == 403
    drop(home, "table", 1)
    assert named(home, lobby) == {}


def test_a_token_is_offered_only_in_the_lobby_of_a_table_with_a_temple(home: WebHome, lobby: Table) -> None:
    without = home.lobby()
    assert "Drop a token" in text_of(scanned(home, lobby).get(f"/j/{lobby.code}"))
    assert "Drop a token" not in text_of(scanned(home, without).get(f"/j/{without.code}"))
    phone = scanned(home, without)
    form = {"code": without.code, "how": "drop", "name": "Ana"}
    assert phone.post(f"/t/{without.id}/sit", form).status_code == 422


def test_a_phone_that_no_longer_waits_chooses_again(home: WebHome, lobby: Table) -> None:
    phone = scanned(home, lobby)
    assert phone.get(f"/t/{lobby.id}/drop").headers["Location"] == f"/t/{lobby.id}"


def test_the_lobby_asks_once_what_happens_to_seats_that_nobody_has(home: WebHome) -> None:
    table = home.lobby()
    ana, ben = scanned(home, table), scanned(home, table)
    ana.sit(table, "north", "Ana")
    ben.sit(table, "south", "Ben")
    html = ana.get(f"/t/{table.id}").get_data(as_text=True)
    assert "Nobody sits at: East, West." in html
    assert '<select name="empty">' in html
    assert re.findall(r'<option value="(\w+)">', html)[:3] == ["left_out", "app", "anyone"]
    assert ana.post(f"/t/{table.id}/begin", {"empty": "left_out"}).status_code == 303
    assert named(home, table) == {"east": "Ana", "west": "Ben"}
    page = text_of(ben.get(f"/t/{table.id}"))
    assert "is left out" in page
    assert "North" not in page.partition("What happened")[0]


def test_a_lobby_where_all_sit_asks_nothing(home: WebHome) -> None:
    table = home.lobby()
    for name in ("Ana", "Ben", "Cam", "Dee"):
        phone = scanned(home, table)
        phone.sit(table, "", name)
    assert 'name="empty"' not in phone.get(f"/t/{table.id}").get_data(as_text=True)

"""Pages that are no table's know at which tables a phone sits, and cannot act for it there."""

from __future__ import annotations

from companion.model.table import Table
from companion.web.site import MOST_SEATED, SEATED, YEAR, site
from tests.companion.web.conftest import Browser, WebHome


def sits(home: WebHome, phone: Browser, table: Table) -> bool:
    """Return what `/tables` knows with the cookies that a browser sends there."""
    cookie = phone.client.get_cookie(SEATED)
    headers = {"Cookie": f"{SEATED}={cookie.value}"} if cookie else {}
    with home.app.test_request_context("/tables", headers=headers):
        return site().sits_at(home.services.tables.get(table.id))


def test_a_phone_that_took_a_seat_is_known_to_sit_there_and_nowhere_else(home: WebHome) -> None:
    phone, stranger = home.browser(), home.browser()
    table, other = home.lobby(), home.lobby()
    phone.sit(table, "east")
    stranger.sit(other, "east")
    assert sits(home, phone, table)
    assert not sits(home, phone, other)
    assert not sits(home, home.browser(), table)


def test_a_phone_whose_seat_was_handed_over_no_longer_sits_there(home: WebHome) -> None:
    phone = home.browser()
    table = home.lobby()
    phone.sit(table, "east")
    home.services.seats.free(table.id, table.code, "east")
    home.browser().sit(table, "east")
    assert not sits(home, phone, table)


def test_a_phone_remembers_the_tables_at_which_it_sat_last(home: WebHome) -> None:
    phone = home.browser()
    tables = [home.lobby() for _ in range(MOST_SEATED + 1)]
    for table in tables:
        phone.sit(table, "east")
    phone.sit(tables[1], "west", "Ben")
    assert [sits(home, phone, table) for table in tables] == [False] + [True] * MOST_SEATED


def test_what_a_browser_makes_up_about_its_seats_is_no_error_and_no_seat(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    phone.sit(table, "east")
    long_id = f"{'a' * 900}-01234567"
    for made_up in ("", ".", "-", "....", f"{table.id}-", table.id, f"{table.id}-00000000", "a-b-c." * 90, long_id):
        phone.client.set_cookie(SEATED, made_up)
        assert not sits(home, phone, table)
        assert phone.get("/tables").status_code == 200
        assert phone.sit(home.lobby(), "east").status_code == 303


def test_what_says_where_a_phone_sits_lets_nobody_act_for_it(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    answer = phone.sit(table, "east")
    cookie = next(line for line in answer.headers.getlist("Set-Cookie") if line.startswith(f"{SEATED}="))
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert phone.token_of(table) not in cookie
    thief, known = home.browser(), phone.client.get_cookie(SEATED)
    assert known is not None
    thief.client.set_cookie(SEATED, known.value)
    assert thief.post(f"/t/{table.id}/begin").status_code == 403
    assert home.services.tables.get(table.id).phase == "lobby"


def renewed(phone: Browser, path: str) -> dict[str, str]:
    """Return the cookies that a page sets for a year, with their values."""
    cookies = [each.split(";") for each in phone.get(path).headers.getlist("Set-Cookie")]
    return {
        name: value
        for pair, *rest in cookies
        for name, _, value in [pair.partition("=")]
        if f" Max-Age={YEAR}" in rest
    }


def test_a_long_game_s_phones_and_screens_keep_their_proofs_for_a_year_from_each_visit(home: WebHome) -> None:
    table = home.lobby()
    phone, screen, stranger = home.browser(), home.browser(), home.browser()
    phone.sit(table, "east")
    screen.post(f"/t/{table.id}/screen", {"code": table.code})
    key = phone.token_of(table)
    for page in ("", "/screen", "/seats"):
        assert renewed(phone, f"/t/{table.id}{page}")[f"seat-{table.id}"] == key
        assert f"screen-{table.id}" in renewed(screen, f"/t/{table.id}{page}")
        assert renewed(stranger, f"/t/{table.id}{page}") == {}
    home.services.seats.free(table.id, table.code, "east")
    assert renewed(phone, f"/t/{table.id}") == {}

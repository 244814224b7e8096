"""Pages of a game of one's own: dice rolled or typed on the page, absent players, and the same table once more."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.companion.web.conftest import Browser, WebHome, text_of


def _seated(home: WebHome) -> tuple[str, Browser, Browser]:
    table = home.services.tables.open("beans", "Kitchen", 2, "short")
    ana, beto = home.browser(), home.browser()
    ana.sit(table, "red", "Ana")
    beto.sit(table, "blue", "Beto")
    ana.post(f"/t/{table.id}/begin")
    return table.id, ana, beto


def _tap(phone: Browser, table: str, words: str, page: str = "") -> int:
    """Send the form whose button says these words, as a browser without a script does."""
    html = phone.get(f"/t/{table}{page}").get_data(as_text=True)
    form = next(form for form in re.findall(r"(?s)<form.*?</form>", html) if words in form)
    action = re.search(r'action="([^"]*)"', form)
    assert action
    fields = {name: unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}
    return phone.post(action[1], fields).status_code


def test_the_lobby_offers_a_game_from_elsewhere(beans: WebHome, phone: Browser) -> None:
    assert "Beans" in text_of(phone.get("/tables/new"))


def test_a_die_is_rolled_or_typed_from_the_page(beans: WebHome) -> None:
    table, ana, beto = _seated(beans)
    assert _tap(ana, table, "Throw the die") == 303
    assert "Let the app roll" in text_of(beto.get(f"/t/{table}"))
    assert _tap(ana, table, "The real die shows 6") == 303
    assert "Ana threw 6 (Ana)" in text_of(ana.get(f"/t/{table}"))
    _tap(ana, table, "Throw the die")
    assert _tap(beto, table, "Let the app roll") == 303
    assert "(the app)" in text_of(ana.get(f"/t/{table}"))


def test_a_watcher_is_offered_no_die(beans: WebHome, phone: Browser) -> None:
    table, ana, _ = _seated(beans)
    _tap(ana, table, "Throw the die")
    assert "Let the app roll" not in text_of(phone.get(f"/t/{table}"))


def test_an_absent_player_is_played_passed_or_helped_from_the_page(beans: WebHome) -> None:
    table, ana, beto = _seated(beans)
    assert _tap(ana, table, "Anyone acts, cards shown") == 303
    assert _tap(beto, table, "Throw the die", "/for/red") == 303
    assert _tap(ana, table, "Back again") == 303
    assert "is back" in text_of(ana.get(f"/t/{table}"))


def test_the_same_table_is_set_once_more_and_every_phone_follows(beans: WebHome) -> None:
    table, ana, beto = _seated(beans)
    for seat in ("red", "blue"):
        ana.post(f"/t/{table}/away", {"seat": seat, "mode": "app"})
    while beans.services.tables.get(table).phase != "over":
        ana.post(f"/t/{table}/rolls", {"by": "app"})
    assert _tap(ana, table, "Play again, same table") == 303
    following = beans.services.tables.get(table).again
    answer = beto.get(f"/t/{table}/again")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/t/{following}")
    assert "Begin the game" in text_of(beto.get(f"/t/{following}"))
    stranger = beans.browser()
    stranger.get(f"/t/{table}/again")
    assert "You are watching" in text_of(stranger.get(f"/t/{following}"))


@pytest.mark.parametrize(("path", "form"), [("away", {"seat": "red", "mode": "app"}), ("rolls", {"by": "app"})])
def test_strangers_change_nothing(beans: WebHome, phone: Browser, path: str, form: dict[str, str]) -> None:
    table, _, _ = _seated(beans)
    before = beans.services.tables.get(table)
    assert phone.post(f"/t/{table}/{path}", form).status_code == 403
    assert phone.post(f"/t/{table}/again").status_code == 403
    assert beans.services.tables.get(table) == before

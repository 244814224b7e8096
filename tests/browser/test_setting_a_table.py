"""Setting a table and coming to it on a phone: what is tapped next is in sight."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import PHONE, SCREEN, Companion, Device
from tests.browser.layout import too_full, too_small, too_wide

Make = Callable[..., Device]

LAPTOP: ViewportSize = {"width": 1366, "height": 768}


def test_the_code_and_join_are_in_sight_on_the_first_page(companion: Companion, device: Make) -> None:
    for size, language in ((PHONE, "en"), (PHONE, "es"), (LAPTOP, "es")):
        phone = device(size, language)
        phone.page.goto(companion.address)
        for part in ('.join-form input[name="code"]', ".join-form button"):
            expect(phone.page.locator(part)).to_be_in_viewport(ratio=1)


def test_the_table_screen_of_who_set_the_table_shows_its_code_at_once(companion: Companion, device: Make) -> None:
    screen, other = device(SCREEN), device(SCREEN)
    screen.page.goto(f"{companion.address}/tables/new?game=market")
    screen.page.click("#new-form .button-main")
    screen.page.get_by_role("button", name="Use as the table screen").click()
    screen.page.wait_for_url("**/screen")
    code = screen.page.locator("img.qr")
    expect(code).to_be_in_viewport(ratio=1)
    screen.page.wait_for_function("() => document.querySelector('img.qr').naturalWidth > 0")
    expect(screen.page.locator(".invite .code")).to_be_in_viewport(ratio=1)
    expect(screen.page.locator(".prove-form")).to_have_count(0)
    other.page.goto(screen.page.url)
    expect(other.page.locator(".prove-form")).to_be_visible()
    expect(other.page.locator("img.qr")).to_have_count(0)


def test_begin_is_in_sight_in_a_lobby_and_covers_no_chair(companion: Companion, device: Make) -> None:
    table = companion.home.lobby()
    phone = device(PHONE)
    phone.join(companion, table, "east", "Ana")
    expect(phone.page.locator(".begin-form button")).to_be_in_viewport(ratio=1)
    phone.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    bar = phone.page.locator(".begin-form").bounding_box()
    last = phone.page.locator(".layout-phone .live > .region").last.bounding_box()
    assert bar is not None
    assert last is not None
    assert last["y"] + last["height"] <= bar["y"] + 1
    phone.page.click(".begin-form button")
    expect(phone.page.locator(".turn-whose")).to_have_text("Your turn")


@pytest.mark.parametrize("game", ["mexica", "siege"])
def test_every_game_and_the_button_that_opens_a_table_are_in_sight(
    companion: Companion, device: Make, game: str
) -> None:
    for size, language in ((PHONE, "en"), (PHONE, "es"), ({"width": 360, "height": 640}, "es"), (LAPTOP, "en")):
        phone = device(size, language)
        phone.page.goto(f"{companion.address}/tables/new?game={game}")
        offers = phone.page.locator(".game-choice a")
        expect(offers).to_have_count(4)
        for offer in offers.all():
            expect(offer).to_be_in_viewport(ratio=1)
            expect(offer.locator("svg")).to_be_visible()
        expect(phone.page.locator("#new-form .button-main")).to_be_in_viewport(ratio=1)
        assert too_wide(phone.page) == []
        assert too_small(phone.page) == []
        assert too_full(phone.page) == []

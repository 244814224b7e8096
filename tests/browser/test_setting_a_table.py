"""Setting a table and coming to it on a phone: what is tapped next is in sight."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import PHONE, Companion, Device

Make = Callable[..., Device]

LAPTOP: ViewportSize = {"width": 1366, "height": 768}


def test_the_code_and_join_are_in_sight_on_the_first_page(companion: Companion, device: Make) -> None:
    for size, language in ((PHONE, "en"), (PHONE, "es"), (LAPTOP, "es")):
        phone = device(size, language)
        phone.page.goto(companion.address)
        for part in ('.join-form input[name="code"]', ".join-form button"):
            expect(phone.page.locator(part)).to_be_in_viewport(ratio=1)


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

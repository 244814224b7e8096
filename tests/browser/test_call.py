"""What reaches people who are not looking: title, icon, sound, a tremble, and the moment that fills a screen."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from companion.games.kit import Move
from companion.model.table import Table
from tests.browser.conftest import SCREEN, Companion, Device

Make = Callable[..., Device]

TREMBLES = "window.trembles = []; navigator.vibrate = pattern => window.trembles.push(pattern);"


def _play(companion: Companion, table: Table, key: str, *move: str | int) -> None:
    play, now = companion.home.services.play, companion.home.services.tables.get(table.id)
    seat = now.on_turn or ""
    assert play.move(table.id, key, seat, Move(str(move[0]), move[1:]), now.version, f"r{now.version}").accepted


@pytest.fixture
def table(companion: Companion) -> tuple[Table, str, str]:
    services = companion.home.services
    table = services.tables.open("mexica", "Sunday", 2, "temple_only", {"apocalypse_tokens": 13})
    keys = [services.seats.sit(table.id, table.code, seat, seat.title()) for seat in table.charter.seats]
    services.seats.begin(table.id, keys[0])
    return services.tables.get(table.id), keys[0], keys[1]


def _phone(companion: Companion, device: Make, table: Table, key: str) -> Device:
    phone = device()
    phone.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
    phone.page.add_init_script(TREMBLES)
    phone.watch(companion, table)
    return phone


def test_a_turn_that_comes_shows_in_the_title_and_the_icon_of_a_page_in_the_background(
    companion: Companion, device: Make, table: tuple[Table, str, str]
) -> None:
    now, first, second = table
    phone = _phone(companion, device, now, second)
    expect(phone.page).to_have_title(f"{now.charter.seats[0].title()}’s turn · Sunday")
    _play(companion, now, first, "end_turn")
    expect(phone.page).to_have_title("Your turn · Sunday")
    expect(phone.page.locator("#icon")).to_have_attribute("href", re.compile(r"/static/icon-turn\.svg$"))


def test_a_device_sounds_and_trembles_once_somebody_wants_it_and_remembers_that(
    companion: Companion, device: Make, table: tuple[Table, str, str]
) -> None:
    now, first, second = table
    phone = _phone(companion, device, now, second)
    switch = phone.page.locator("[data-sound].sound")
    expect(switch).to_have_attribute("aria-pressed", "false")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    phone.page.reload()
    phone.listening()
    expect(switch).to_have_attribute("aria-pressed", "true")
    phone.page.click("h1")
    _play(companion, now, first, "sacrifice", "tlaloc", 2)
    expect(switch).to_have_attribute("data-played", "token")
    _play(companion, now, first, "end_turn")
    expect(switch).to_have_attribute("data-played", "turn")
    assert phone.page.evaluate("window.trembles.length") == 1
    switch.click()
    _play(companion, now, second, "end_turn")
    _play(companion, now, first, "end_turn")
    expect(phone.page).to_have_title("Your turn · Sunday")
    assert phone.page.evaluate("window.trembles.length") == 1


def test_the_coming_of_the_gods_fills_the_table_screen_for_some_seconds(
    companion: Companion, device: Make, table: tuple[Table, str, str]
) -> None:
    now, first, second = table
    screen, phone = device(SCREEN), _phone(companion, device, now, second)
    screen.page.clock.install()
    screen.watch(companion, now, "/screen")
    for _ in range(2):
        _play(companion, now, first, "sacrifice", "tlaloc", 7)
    moment = screen.page.locator("body > .moment")
    expect(moment).to_contain_text("The apocalypse begins")
    box = moment.bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (SCREEN["width"], SCREEN["height"])
    expect(phone.page.locator(".log")).to_contain_text("The apocalypse begins")
    expect(phone.page.locator("body > .moment")).to_have_count(0)
    screen.page.clock.fast_forward(8_000)
    expect(moment).to_have_count(0)
    screen.watch(companion, now, "/screen")
    expect(moment).to_have_count(0)

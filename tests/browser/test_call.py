"""What reaches people who are not looking: title, icon, sound, a tremble, and the moment that fills a screen."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from companion.games.kit import Move
from companion.model.table import Table
from companion.service.tables import Opening
from tests.browser.conftest import SCREEN, Companion, Device
from tests.browser.rooms import LONG

Make = Callable[..., Device]

TREMBLES = "window.trembles = []; navigator.vibrate = pattern => window.trembles.push(pattern);"


LINES = "(words, name) => words.querySelector(`[title='${name}']`).getClientRects().length"
"""Returns on how many lines a name stands."""


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


def _phone(companion: Companion, device: Make, table: Table, key: str, script: str = "") -> Device:
    phone = device()
    if script:
        phone.page.add_init_script(script)
    phone.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
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
    phone = _phone(companion, device, now, second, TREMBLES)
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
    screen.hold_clock()
    box = moment.bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (SCREEN["width"], SCREEN["height"])
    expect(phone.page.locator(".log")).to_contain_text("The apocalypse begins")
    expect(phone.page.locator("body > .moment")).to_have_count(0)
    screen.page.clock.fast_forward(8_000)
    expect(moment).to_have_count(0)
    screen.watch(companion, now, "/screen")
    expect(moment).to_have_count(0)


def _let_it_sound(companion: Companion, table: Table, key: str, on: bool) -> None:
    companion.home.services.play.set_sound(table.id, key, on)


def test_a_device_where_nobody_chose_follows_the_table_and_its_own_mute_outlasts_that(
    companion: Companion, device: Make, table: tuple[Table, str, str]
) -> None:
    now, first, second = table
    phone = _phone(companion, device, now, second)
    mute = phone.page.locator("[data-sound].sound")
    expect(mute).to_have_attribute("aria-pressed", "false")
    _let_it_sound(companion, now, first, True)
    expect(mute).to_have_attribute("aria-pressed", "true")
    phone.page.click("h1")
    _play(companion, now, first, "sacrifice", "tlaloc", 2)
    expect(mute).to_have_attribute("data-played", "token")
    _let_it_sound(companion, now, first, False)
    expect(mute).to_have_attribute("aria-pressed", "false")
    _let_it_sound(companion, now, first, True)
    expect(mute).to_have_attribute("aria-pressed", "true")
    mute.click()
    expect(mute).to_have_attribute("aria-pressed", "false")
    _let_it_sound(companion, now, first, False)
    _let_it_sound(companion, now, first, True)
    phone.page.reload()
    phone.listening()
    expect(phone.page.locator("[data-call]")).to_have_attribute("data-sounds", "on")
    expect(mute).to_have_attribute("aria-pressed", "false")


def test_a_table_screen_that_nobody_touched_shows_that_it_waits_and_a_touch_does_not_mute_it(
    companion: Companion, device: Make, table: tuple[Table, str, str]
) -> None:
    now, first, _ = table
    _let_it_sound(companion, now, first, True)
    screen = device(SCREEN)
    screen.watch(companion, now, "/screen")
    mute = screen.page.locator("[data-sound].sound")
    expect(mute).to_have_attribute("data-waits", "")
    expect(mute).to_have_css("opacity", "1")
    mute.click()
    expect(mute).not_to_have_attribute("data-waits", "")
    expect(mute).to_have_attribute("aria-pressed", "true")
    expect(mute).to_have_attribute("data-played", "turn")


def test_a_victory_fills_the_table_screen_for_some_seconds_and_then_the_ending_is_there(
    companion: Companion, device: Make
) -> None:
    services = companion.home.services
    table = services.tables.open("mexica", "Sunday", 2, "temple_only", {"apocalypse_tokens": 13})
    key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, LONG, strict=False)))
    services.seats.begin(table.id, key)
    screen, phone = device(SCREEN), _phone(companion, device, table, key)
    screen.page.clock.install()
    screen.watch(companion, table, "/screen")
    _play(companion, table, key, "settle", table.charter.seats[0])
    moment = screen.page.locator("body > .moment")
    expect(moment.locator(".moment-words")).to_contain_text(LONG[0])
    screen.hold_clock()
    for width, height in ((820, 1180), (1366, 768), (1920, 1080)):
        screen.page.set_viewport_size({"width": width, "height": height})
        assert moment.evaluate("each => [each.clientWidth, each.clientHeight]") == [width, height]
        assert moment.evaluate(
            "each => [each.scrollWidth - each.clientWidth, each.scrollHeight - each.clientHeight]"
        ) == [0, 0]
        assert moment.locator(".moment-words").evaluate(LINES, LONG[0]) == 1
    spoken = screen.page.locator("#spoken")
    screen.page.clock.run_for(1_000)
    expect(spoken).to_contain_text(LONG[0])
    assert (spoken.inner_text().count(f"{LONG[0]} settles"), moment.get_attribute("aria-hidden")) == (1, "true")
    expect(phone.page.locator(".ending")).to_be_visible()
    expect(phone.page.locator("body > .moment")).to_have_count(0)
    screen.page.clock.fast_forward(8_000)
    expect(moment).to_have_count(0)
    expect(screen.page.locator(".ending-title")).to_be_visible()
    screen.watch(companion, table, "/screen")
    expect(screen.page.locator(".ending-title")).to_be_visible()
    expect(moment).to_have_count(0)


def test_a_great_moment_is_spoken_and_goes_at_a_tap(
    companion: Companion, device: Make, table: tuple[Table, str, str]
) -> None:
    now, first, _ = table
    screen = device(SCREEN)
    screen.watch(companion, now, "/screen")
    for _ in range(2):
        _play(companion, now, first, "sacrifice", "tlaloc", 7)
    moment = screen.page.locator("body > .moment")
    expect(moment).to_be_visible()
    expect(screen.page.locator("#spoken")).to_contain_text("The apocalypse begins")
    moment.click()
    expect(moment).to_have_count(0)


@pytest.mark.parametrize(("motion", "animated"), [("reduce", "none"), ("no-preference", "moment-rises")])
def test_a_great_moment_stands_still_where_motion_is_reduced(
    companion: Companion, device: Make, table: tuple[Table, str, str], motion: str, animated: str
) -> None:
    now, first, _ = table
    screen = device(SCREEN)
    screen.page.emulate_media(reduced_motion="reduce" if motion == "reduce" else "no-preference")
    screen.watch(companion, now, "/screen")
    _play(companion, now, first, "settle", now.charter.seats[0])
    picture = screen.page.locator("body > .moment .moment-picture")
    expect(picture).to_have_css("animation-name", animated)


def test_in_a_lobby_the_mute_covers_nothing(companion: Companion, device: Make) -> None:
    services = companion.home.services
    table = services.tables.open("mexica", "Sunday", 2, "temple_only", opening=Opening(sounds=True))
    phone = _phone(companion, device, table, services.seats.sit(table.id, table.code, "east", "Ana"))
    expect(phone.page.locator("[data-sound].sound")).to_have_attribute("aria-pressed", "true")
    phone.page.locator(".language button").click(trial=True)


def test_a_browser_without_sound_stays_silent_at_a_table_that_wants_it(
    companion: Companion, device: Make, table: tuple[Table, str, str]
) -> None:
    now, first, second = table
    _let_it_sound(companion, now, first, True)
    phone = device()
    phone.context.add_cookies([{"name": f"seat-{now.id}", "value": second, "url": companion.address}])
    phone.page.add_init_script("delete window.AudioContext")
    phone.watch(companion, now)
    faults: list[str] = []
    phone.page.on("pageerror", lambda error: faults.append(str(error)))
    expect(phone.page.locator("html")).to_have_attribute("data-sound", "off")
    phone.page.click("h1")
    _play(companion, now, first, "sacrifice", "tlaloc", 2)
    expect(phone.page.locator("html")).to_have_attribute("data-sound", "off")
    assert not faults

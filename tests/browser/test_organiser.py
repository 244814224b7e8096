"""The organiser's message on the pages of real browsers: it appears, is spoken, cuts nothing, and goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import PHONE, Companion, Device
from tests.browser.layout import READ_FROM_AFAR, measured, too_wide
from tests.web.conftest import ORGANISER

MESSAGE = "The second round begins at half past four in the small hall: finish your turns, bring your tokens."
TELEVISION: ViewportSize = {"width": 1920, "height": 1080}
GAMES = (
    ("mexica", "temple_only"),
    ("mexica", "classic"),
    ("market", "short"),
    ("moctezuma", "swift"),
    ("siege", "skirmish"),
)


@pytest.mark.parametrize(("game", "preset"), GAMES)
def test_a_message_is_spoken_and_cuts_nothing_of_a_table_s_pages(
    companion: Companion, device: Callable[..., Device], game: str, preset: str
) -> None:
    services = companion.home.services
    table = services.tables.open(game, "Sunday", 2, preset, {})
    services.seats.begin(table.id, table.code)
    page = device().page
    for path, window, least in (("", PHONE, 0), ("/screen", TELEVISION, READ_FROM_AFAR)):
        page.set_viewport_size(window)
        page.goto(f"{companion.address}/t/{table.id}{path}")
        services.messages.send(MESSAGE, 10)
        expect(page.locator("#spoken")).to_contain_text(MESSAGE, timeout=60_000)
        assert not too_wide(page)
        assert measured(page, least=least, whole=least > 0).wrong == ()
        services.messages.take_back()
        expect(page.locator(".message")).to_have_count(0, timeout=60_000)


def _organiser(companion: Companion, device: Callable[..., Device], path: str) -> Page:
    page = device().page
    page.goto(f"{companion.address}/organiser")
    page.fill('.join-form input[name="code"]', ORGANISER.code)
    page.click(".join-form button")
    expect(page.locator("#tables-title")).to_be_visible()
    page.goto(f"{companion.address}{path}")
    return page


def test_the_page_of_an_event_follows_its_last_table_to_the_next_round(
    companion: Companion, device: Callable[..., Device]
) -> None:
    services = companion.home.services
    services.rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen", lambda *numbers: f"Table {numbers}")
    (table,) = services.tables.all()
    seat = next(chair.seat for chair in table.chairs if chair.name == "Ana")
    ana = services.seats.sit(table.id, table.code, seat, "Ana")
    page = _organiser(companion, device, "/organiser/rounds")
    expect(page.locator("#next")).to_contain_text("1 table still plays.")
    services.tables.close_for_players(table.id)
    expect(page.locator("#next textarea")).to_have_value("Ana\nBen")
    expect(page.locator("#round .organiser-facts")).to_contain_text("over")
    page.fill("#next textarea", "Ana\nBen\nCleo")
    services.tables.rename(table.id, ana, "The small hall")
    expect(page.locator("#round h3")).to_have_text("The small hall")
    expect(page.locator("#next textarea")).to_have_value("Ana\nBen\nCleo")


def test_what_is_open_on_the_organiser_s_page_stays_with_its_table(
    companion: Companion, device: Callable[..., Device]
) -> None:
    tables = companion.home.services.tables
    first, second = (tables.open("mexica", title, 2, "temple_only") for title in ("Anemone", "Begonia"))
    page = _organiser(companion, device, "/organiser")
    page.locator("#tables li", has_text="Begonia").locator("summary").click()
    tables.close_for_players(first.id)
    expect(page.locator("#tables li")).to_have_count(1)
    expect(page.locator("#tables li form")).to_have_attribute("action", f"/organiser/tables/{second.id}/close")
    expect(page.locator("#tables li form")).to_be_visible()

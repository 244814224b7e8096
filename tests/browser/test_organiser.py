"""The organiser's message on the pages of real browsers: it appears, is spoken, cuts nothing, and goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import PHONE, Companion, Device
from tests.browser.layout import READ_FROM_AFAR, measured, too_wide
from tests.companion.web.conftest import ORGANISER

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


def test_an_organiser_sees_what_changes_and_keeps_what_was_opened_and_typed(
    companion: Companion, device: Callable[..., Device]
) -> None:
    services, organiser = companion.home.services, device()
    organiser.context.add_cookies(
        [{"name": "organiser", "value": ORGANISER.proof, "domain": "localhost", "path": "/organiser"}]
    )
    page = organiser.page
    services.rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen", lambda n, table: f"R{n} T{table}")
    (table,) = services.tables.all()
    page.goto(f"{companion.address}/organiser")
    page.locator(f"#close-{table.id} summary").click()
    other = services.tables.open("market", "Another", 2, "short", {})
    expect(page.get_by_role("link", name="Another")).to_be_visible(timeout=60_000)
    expect(page.locator(f"#close-{table.id}")).to_have_attribute("open", "")
    assert page.locator("details[open]").count() == 1

    page.goto(f"{companion.address}/organiser/rounds")
    assert page.locator("textarea").count() == 0
    services.tables.close_for_players(table.id)
    names = page.locator("textarea")
    expect(names).to_have_value("Ana\nBen", timeout=60_000)
    names.fill("Ana\nBen\nEve")
    services.tables.close_for_players(other.id)
    expect(page.locator("#region-round")).to_contain_text("over", timeout=60_000)
    expect(names).to_have_value("Ana\nBen\nEve")

"""What happens is spoken through one polite live region, and what is tapped is large enough for a thumb."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from companion.games.kit import Move
from companion.model.table import Table
from tests.browser.conftest import PHONE, SCREEN, Companion, Device
from tests.browser.layout import BUTTONS, too_small

Make = Callable[..., Device]

LIVE = "[aria-live], [role=status], [role=alert], [role=log], output"
GAMES = [
    ("mexica", "temple_only"),
    ("mexica", "classic"),
    ("market", "classic"),
    ("moctezuma", "classic"),
    ("siege", "skirmish"),
]


def opened(companion: Companion, game: str, preset: str, **options: str | int) -> Table:
    home = companion.home
    table = home.services.tables.open(game, "Sunday", 2, preset, options)
    return home.services.seats.begin(table.id, table.code)


@pytest.mark.parametrize(("layout", "size"), [("", PHONE), ("/screen", SCREEN)])
def test_a_page_of_any_game_has_one_polite_live_region(
    companion: Companion, device: Make, layout: str, size: ViewportSize
) -> None:
    page = device(size)
    live = page.page.locator(LIVE)
    for game, preset in GAMES:
        table = opened(companion, game, preset)
        page.hold(companion, table)
        page.watch(companion, table, layout)
        expect(live).to_have_count(1)
        expect(live).to_have_attribute("aria-live", "polite")
        expect(live).to_have_text("")


def test_a_token_a_turn_the_countdown_and_the_end_are_spoken_and_nothing_else(
    companion: Companion, device: Make
) -> None:
    table = companion.table(2, apocalypse_tokens=13)
    phone, other = device(), device()
    other.join(companion, table, "west", "Walt")
    phone.join(companion, table, "east", "Ana")
    spoken = phone.page.locator("#spoken")
    companion.drop("tlaloc", 3)
    expect(spoken).to_have_text("War 0, rain 3")
    phone.page.evaluate("document.getElementById('spoken').textContent = ''")
    phone.page.locator(".end-turn button").click()
    expect(spoken).to_contain_text("Walt’s turn")
    assert "rain" not in spoken.inner_text(), "the lake is as it was"
    companion.drop("tlaloc", 10)
    expect(spoken).to_contain_text("13")
    expect(phone.page.locator(".ring[data-speak]")).to_have_count(1)
    now, token = (
        companion.home.services.tables.get(table.id),
        next(each["value"] for each in phone.context.cookies() if table.id in each["name"]),
    )
    companion.home.services.play.move(table.id, token, "east", Move("settle", ("east",)), now.version, "end")
    expect(spoken).to_contain_text("The game is over")


def test_whatever_is_tapped_on_a_phone_is_44_px_high_and_wide(companion: Companion, device: Make) -> None:
    phone = device(guide=True)
    for game, preset in GAMES:
        table = opened(companion, game, preset)
        phone.hold(companion, table)
        phone.watch(companion, table)
        phone.page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
        assert too_small(phone.page, f"{BUTTONS}, a[href], select") == [], (game, preset)

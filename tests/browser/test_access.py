"""Accessibility: axe finds nothing, by day on a phone and by night in a wide window; keys and thumbs suffice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]  # it ships no types
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import PHONE, SCREEN, Companion, Device, narrow_then_wide
from tests.browser.layout import DRAWN, too_small

Make = Callable[..., Device]

LOADED = "typeof axe === 'object'"
VIOLATIONS = """async (rules) => {
  const wanted = { resultTypes: ["violations"], preload: false, ...(rules && { runOnly: rules }) };
  const { violations } = await axe.run(wanted);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}"""
"""What passes is not described, and what is wrong in few words: Playwright copies every value of an answer thrice.

Without its preload axe does not fetch the style sheets again; it needs them for a rule that is off, and the length of
sounds and films, of which no page has one.
"""


CONTRAST = ("color-contrast",)
"""What a colour scheme changes of what axe looks at."""


def violations(device: Device, rules: Sequence[str] | None = None) -> list[str]:
    """Return what axe complains of on a page, by all of its rules or by some."""
    if not device.page.evaluate(LOADED):
        device.page.evaluate(AXE_SCRIPT)
    found: list[str] = device.page.evaluate(VIOLATIONS, rules)
    return found


def violations_by_day_and_night(
    device: Device, night_size: ViewportSize = SCREEN, rules: Sequence[str] | None = CONTRAST
) -> list[str]:
    """Return what axe complains of on a page by day, and by night in another size of window.

    By night it asks for the colours only, unless a page shows other things in that size: `rules` says which it asks
    for, None stands for all.
    """
    page = device.page
    found, day_size = violations(device), page.viewport_size or PHONE
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(night_size)
    page.evaluate(DRAWN)
    found += violations(device, rules)
    page.set_viewport_size(day_size)
    page.emulate_media(color_scheme="light")
    return found


OPENED = "document.querySelectorAll('details').forEach(details => details.open = true)"


def test_axe_complains_of_a_picture_without_words(device: Make) -> None:
    phone = device()
    phone.page.goto("about:blank")  # a page of the companion's would refuse what is written into it
    phone.page.set_content("<html lang=en><title>A page</title><main><h1>A page</h1><img src='data:,'></main>")
    assert violations(phone) == ['image-alt: <img src="data:,">']


def test_axe_complains_by_night_of_letters_that_only_the_night_hides(device: Make) -> None:
    phone = device()
    phone.page.goto("about:blank")  # a page of the companion's would refuse what is written into it
    phone.page.set_content(
        "<html lang=en><title>A page</title><style>@media (prefers-color-scheme: dark) { p { color: #eee } }</style>"
        "<main><h1>A page</h1><p>Texts</p></main>"
    )
    assert violations_by_day_and_night(phone) == ["color-contrast: <p>Texts</p>"]


def test_axe_finds_nothing(companion: Companion, device: Make) -> None:
    table = companion.table(apocalypse_tokens=13)
    lobby = companion.home.lobby()
    reader = device(PHONE, "en")
    reader.join(companion, lobby, "east", "Ana")
    reader.join(companion, table, "east", "Ana")
    companion.drop("tlaloc", 8)
    companion.drop("huitzilopochtli", 3)
    paths = ["/", "/tables", "/tables/new", "/join", f"/j/{lobby.code}", f"/t/{lobby.id}", f"/t/{lobby.id}/screen",
             f"/t/{table.id}", f"/t/{table.id}/screen", "/temples", "/temples/table", "/games", "/games/mexica",
             "/games/mexica/rules", f"/t/{table.id}/rules", "/games/mexica/print/tallies", "/setup/step/name",
             "/setup/step/network", "/setup/step/beams", "/setup/step/table", "/trust"]  # fmt: skip
    found = {}
    for path in paths:
        reader.page.goto(companion.address + path)
        reader.page.evaluate(OPENED)
        rules = None if path.startswith("/t/") and not path.endswith("/rules") else CONTRAST
        if problems := violations_by_day_and_night(reader, rules=rules):
            found[path] = problems
    companion.drop("tlaloc", 4)
    reader.page.goto(f"{companion.address}/t/{table.id}")
    if problems := violations_by_day_and_night(reader, rules=None):
        found["countdown"] = problems
    assert found == {}


def test_every_button_on_a_phone_is_large_enough_for_a_thumb(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device(font="both")
    phone.join(companion, table, "east", "Ana")
    for page in narrow_then_wide(phone.page):
        assert too_small(page) == []


def test_a_keyboard_reaches_the_page_and_ends_the_turn(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device()
    phone.join(companion, table, "east", "Ana")
    phone.page.keyboard.press("Tab")
    assert phone.page.evaluate("document.activeElement.className") == "skip-link"
    phone.page.keyboard.press("Tab")  # the site's name stands below the game, and follows it
    assert phone.page.evaluate("Boolean(document.activeElement.closest('main'))")
    phone.page.locator(".end-turn button").focus()
    phone.page.keyboard.press("Enter")
    phone.page.wait_for_selector("text=Ana ended the turn")


@pytest.mark.parametrize(("name", "language"), [("Ana", "en"), ("Xochiquetzal Moctezuma X", "es")])
def test_a_phone_on_its_side_shows_both_numbers_above_its_button(
    companion: Companion, device: Make, name: str, language: str
) -> None:
    table = companion.table()
    phone, other = device({"width": 780, "height": 360}, language, font="both"), device()
    other.join(companion, table, "west", "Walt")
    phone.join(companion, table, "east", name)
    companion.drop("tlaloc", 3)
    for page in narrow_then_wide(phone.page):
        count = page.locator('[data-piece="count-tlaloc"]').first
        expect(count).to_have_text("3")
        action = page.locator(".region-action :is(.end-turn button, summary)")
        number, button = count.bounding_box(), action.bounding_box()
        assert number
        assert button
        assert number["y"] + number["height"] <= button["y"] + 8  # the line's own room below a digit

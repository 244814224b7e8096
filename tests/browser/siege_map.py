"""How a test's finger finds its hex on the siege's map, and how it rolls a real die."""

from __future__ import annotations

from playwright.sync_api import Page

SLIP = 650
"""Milliseconds after which a tap is no slip of the one before, whatever stands under the finger now."""

WHERE = """name => {
  const sheet = document.querySelector(".siege-pieces");
  const [, letters, row] = name.match(/^([a-z]+)(\\d+)$/);
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 96, 0) - 1;
  const [x, y] = [12 + 20 * column + ((row - 1) % 2) * 10 + 10, 12 + 17.32 * (row - 1) + 11.55];
  const point = new DOMPoint(x, y).matrixTransform(sheet.getScreenCTM());
  return [point.x, point.y];
}"""


def tap_hex(page: Page, name: str) -> None:
    """Tap a hex of the map; where it is out of sight, on the whole map."""
    page.locator(".siege-sheets").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, 0)")
    x, y = page.evaluate(WHERE, name)
    place = page.locator(".siege-sheets").bounding_box()
    assert place is not None
    if not (0 < x - place["x"] < place["width"] and 0 < y - place["y"] < place["height"]):
        page.click('[data-siege="whole"]')
        x, y = page.evaluate(WHERE, name)
    page.mouse.click(x, y)


def deed(page: Page, name: str) -> None:
    """Tap one of the buttons of a phase."""
    page.locator(f".deed-{name} button").wait_for()
    page.wait_for_timeout(SLIP)
    page.click(f".deed-{name} button")


def die(page: Page, n: int) -> None:
    """Type what a real die showed."""
    page.wait_for_selector(f'.siege-face button:text-is("{n}")')
    page.wait_for_timeout(SLIP)
    page.click(f'.siege-face button:text-is("{n}")')

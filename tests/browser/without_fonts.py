"""A page in the fonts that it brings, and then without them: as `in_both_fonts`, where no copy is needed."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Page

from tests.browser.layout import DRAWN, WITHOUT_FONTS


def with_and_without_fonts(page: Page) -> Iterator[None]:
    """Show a page of a device whose font is "both" in its own fonts, then in the wide one, until it loads anew."""
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    page.evaluate(f"document.fonts.ready.then({DRAWN})")
    assert page.evaluate("[...document.fonts].some(font => font.status === 'loaded')"), "no web font is loaded"
    yield
    page.evaluate(WITHOUT_FONTS)
    page.evaluate(DRAWN)
    yield

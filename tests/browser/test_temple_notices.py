"""The pages of what does not count by itself, in a real browser: tokens held apart, old tokens, notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from companion.model.table import Table
from tests.browser.conftest import PHONE, Companion, Device, narrow_then_wide
from tests.browser.layout import DRAWN, too_full, too_small, too_wide
from tests.browser.test_access import violations_by_day_and_night
from tests.pictures import temple_page

Make = Callable[..., Device]

LAPTOP: ViewportSize = {"width": 1366, "height": 768}


def wrong(page: Page) -> list[str]:
    """Return what is wrong with the boxes of a page: they are looked at in the state that a test brought it to."""
    return [*too_wide(page), *too_small(page, both=False), *too_full(page)]


@pytest.fixture
def table(companion: Companion) -> Table:
    """A running table whose temple holds four tokens apart."""
    return temple_page.held(companion.home)


def restored(companion: Companion) -> None:
    """Bring about a temple with old tokens and two notices."""
    temple_page.old_tokens(companion.home)
    temple_page.came_back(companion.home, "ledger_restored", "ledger_cloned")


def test_the_pages_of_held_tokens_fit_and_axe_finds_nothing(companion: Companion, device: Make, table: Table) -> None:
    reader = device(PHONE, "es", font="both")
    reader.join(companion, table, "west", "Nezahualcoyotl Texcoco")
    found: dict[str, Any] = {}
    for path in (f"/t/{table.id}/held", f"/temples/{temple_page.NAME}/held", f"/temples/{temple_page.NAME}"):
        reader.page.goto(companion.address + path)
        found[path] = violations_by_day_and_night(reader, LAPTOP, rules=None)
        for page in narrow_then_wide(reader.page):
            for size in (PHONE, LAPTOP):
                page.set_viewport_size(size)
                page.evaluate(DRAWN)
                found[path] += wrong(page)
    assert [problem for problems in found.values() for problem in problems] == []


def test_the_question_of_old_tokens_and_the_notices_fit_and_axe_finds_nothing(
    companion: Companion, device: Make
) -> None:
    restored(companion)
    reader = device(PHONE, "es", font="both")
    found: dict[str, Any] = {}
    for path in (f"/temples/{temple_page.NAME}", "/temples", "/"):
        reader.page.goto(companion.address + path)
        found[path] = violations_by_day_and_night(reader, LAPTOP)
        for page in narrow_then_wide(reader.page):
            for size in (PHONE, LAPTOP):
                page.set_viewport_size(size)
                page.evaluate(DRAWN)
                found[path] += wrong(page)
    assert [problem for problems in found.values() for problem in problems] == []


def test_marked_tokens_go_to_a_seat_with_one_tap(companion: Companion, device: Make, table: Table) -> None:
    phone = device(PHONE)
    phone.join(companion, table, "east", "Ana")
    phone.page.goto(f"{companion.address}/t/{table.id}/held")
    phone.page.locator(".asked-what").first.click()
    bar = phone.page.locator(".sort-to")
    expect(bar).to_be_in_viewport()
    bar.get_by_role("button").first.click()
    expect(phone.page.locator(".decided li")).to_have_count(1)
    expect(phone.page.locator(".asked-token")).to_have_count(3)


def test_without_a_script_a_person_chooses_what_becomes_of_old_tokens(companion: Companion, device: Make) -> None:
    restored(companion)
    phone = device(PHONE, java_script_enabled=False)
    phone.page.goto(f"{companion.address}/temples/{temple_page.NAME}")
    phone.page.locator('.todo-form button[value="history"]').click()
    expect(phone.page.locator('.todo-form button[value="history"]')).to_have_count(0)
    expect(phone.page.locator(".old-choice")).to_be_visible()


def test_a_tap_chooses_what_becomes_of_old_tokens(companion: Companion, device: Make) -> None:
    restored(companion)
    phone = device(PHONE)
    phone.page.goto(f"{companion.address}/temples/{temple_page.NAME}")
    phone.listening()
    phone.page.locator('.todo-form button[value="history"]').click()
    expect(phone.page.locator('.todo-form button[value="history"]')).to_have_count(0)
    expect(phone.page.locator(".old-choice")).to_be_visible()

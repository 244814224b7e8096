"""Acting for another seat in a browser: opened, tapped twice, announced on that seat's phone and taken back there."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Companion, Device
from tests.browser.driving import confirm

Make = Callable[..., Device]

SLIP_MS = 700
"""Milliseconds after which a tap on another button is no slip of the finger."""


def test_a_single_tap_never_ends_another_seats_turn_and_that_seat_can_take_it_back(
    companion: Companion, device: Make
) -> None:
    table = companion.table(2, temple=None)
    first, second = table.charter.seats
    ana, beto = device(), device()
    ana.join(companion, table, first, "Ana")
    beto.join(companion, table, second, "Beto")

    def now() -> str | None:
        return companion.home.services.tables.get(table.id).on_turn

    beto.page.click(".region-action .for-another summary")
    button = beto.page.locator(".region-action .for-another button")
    button.click()
    expect(button).to_have_attribute("data-hint", "End Ana’s turn\nTap again to confirm")
    assert now() == first, "the first tap asks whether one is sure"
    confirm(button, lambda: now() == second)
    expect(ana.page.locator(".region-yours")).to_contain_text("Beto acted for Ana:")
    ana.page.click(".region-yours button")
    expect(ana.page.locator(".region-yours")).to_be_hidden()
    assert now() == first


def test_a_page_that_stands_in_confirms_what_it_does_and_leads_back(companion: Companion, device: Make) -> None:
    table = companion.table(2, temple=None)
    first, second = table.charter.seats
    ana, beto = device(), device()
    ana.join(companion, table, first, "Ana")
    beto.join(companion, table, second, "Beto")
    token = next(each["value"] for each in ana.context.cookies() if each["name"].startswith("seat-"))
    companion.home.services.seats.away(table.id, token, first, "anyone")
    beto.page.locator(".region-yours a").click()
    beto.listening()
    button = beto.page.locator(".end-turn button")
    confirm(button, lambda: companion.home.services.tables.get(table.id).on_turn == second)
    beto.page.locator(".region-yours a").click()
    beto.listening()
    expect(beto.page.locator(".turn-whose")).to_have_text("Your turn")


def test_a_tap_on_one_thing_to_do_about_a_seat_does_not_confirm_another(companion: Companion, device: Make) -> None:
    table = companion.table(2, temple=None)
    first, second = table.charter.seats
    ana, beto = device(), device()
    ana.join(companion, table, first, "Ana")
    beto.join(companion, table, second, "Beto")
    beto.page.locator("#absent summary").click()
    passes, anyone = (
        beto.page.locator(f'#absent form:has(input[value="{mode}"]) button') for mode in ("pass", "anyone")
    )
    passes.click()
    expect(passes).to_have_attribute("data-hint", re.compile("Tap again to confirm$"))
    assert beto.page.locator("#absent button[data-armed]").count() == 1
    beto.page.wait_for_timeout(SLIP_MS)
    anyone.click()
    expect(anyone).to_have_attribute("data-hint", re.compile("Tap again to confirm$"))
    expect(passes).not_to_have_attribute("data-hint", re.compile(""))
    assert companion.home.services.tables.get(table.id).chair(first).away == ""
    confirm(anyone, lambda: companion.home.services.tables.get(table.id).chair(first).away == "anyone")

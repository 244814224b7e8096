"""Absent players, latecomers and lost seats: what a phone shows at once, or within one tap."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Companion, Device
from tests.browser.test_guide import opened

Make = Callable[..., Device]


def test_a_phone_learns_at_once_that_its_seat_was_handed_over(companion: Companion, device: Make) -> None:
    ana, ben = device(), device()
    table = opened(companion, "mexica", "temple_only")
    ana.join(companion, table, "east", "Ana")
    ben.join(companion, table, "west", "Ben")
    ben.page.evaluate(
        """async path => { await fetch(path, {method: 'POST', headers: {Accept: 'application/json'},
        body: new URLSearchParams({seat: 'east'})}); }""",
        f"/t/{table.id}/free",
    )
    expect(ana.page.locator(".lost-seat")).to_contain_text("Your seat was handed over")
    expect(ana.page.locator(".lost-seat a")).to_be_visible()


def test_a_latecomer_joins_and_an_absent_player_is_named_within_one_tap(companion: Companion, device: Make) -> None:
    ana, late = device(), device()
    table = opened(companion, "market", "classic")
    ana.join(companion, table, "south", "Ana")
    late.watch(companion, table, "")
    expect(late.page.get_by_role("link", name="Join with the code").first).to_be_visible()
    ana.page.locator("#absent summary").click()
    expect(ana.page.locator("#absent form button").first).to_be_visible()

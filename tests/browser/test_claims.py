"""A token that nobody is credited with asks in the action bar, in sight without scrolling."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import Companion, Device

Make = Callable[..., Device]


@pytest.mark.parametrize("size", [(360, 640), (360, 780), (820, 1180)])
def test_who_gave_a_token_is_asked_in_the_action_bar_of_every_seated_phone(
    companion: Companion, device: Make, size: tuple[int, int]
) -> None:
    table = companion.table()
    viewport = ViewportSize(width=size[0], height=size[1])
    ana, beto, watcher = device(viewport), device(viewport), device(viewport)
    ana.join(companion, table, "east", "Maximilian Alexander")
    beto.join(companion, table, "north", "Beto")
    watcher.watch(companion, table)
    companion.home.services.temples.intake.receive([("table", companion.home.token(1, "tlaloc", "jam"))])
    for phone in (ana, beto):
        question = phone.page.locator(".doing .ask")
        expect(question).to_contain_text("Who gave this to Tlaloc?")
        expect(question).to_be_in_viewport(ratio=1)
        assert phone.page.evaluate("scrollY") == 0
    expect(ana.page.locator(".doing .end-turn button")).to_be_in_viewport(ratio=1)
    expect(watcher.page.locator(".ask")).to_be_visible()
    ana.page.locator(".doing .claim button").first.click()
    expect(beto.page.locator(".doing .ask")).to_have_count(0)

"""The whole way to the screen: a token that falls through a beam appears on a phone's page by itself."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.brokers import mosquitto
from tests.browser.conftest import PHONE
from tests.path.conftest import Way
from tests.waiting import eventually


def test_tokens_that_fall_through_both_slots_are_seen_on_a_phone(tmp_path: Path, chromium: Browser) -> None:
    with mosquitto(tmp_path) as broker:
        way = Way(tmp_path, broker)
        context = chromium.new_context(viewport=PHONE)
        try:
            way.start()
            page = context.new_page()
            page.goto(way.table()[1])
            fallen = {"tlaloc": 3, "huitzilopochtli": 2}
            for god, number in fallen.items():
                way.drop(god, number)
            for god, number in fallen.items():
                count = page.locator(f'[data-piece="count-{god}"]').first
                expect(count).to_have_text(str(number), timeout=60_000)
        finally:
            context.close()
            way.end()


FLICKER = """
v = 1
title = "50 flashes a second for ten seconds"
[[event]]
at_ms = 20000
do = "flicker"
god = "tlaloc"
per_s = 50
for_ms = 10000
"""


def test_a_lamp_that_flickers_for_ten_seconds_scores_at_most_eight_and_one_tap_dismisses_the_rest(
    tmp_path: Path, chromium: Browser
) -> None:
    scenario = tmp_path / "flicker.toml"
    scenario.write_text(FLICKER)
    with mosquitto(tmp_path) as broker:
        way = Way(tmp_path, broker, scenario=scenario)
        context = chromium.new_context(viewport=PHONE)
        try:
            way.start()
            page = context.new_page()
            joining, table = way.table()
            page.goto(joining)
            page.fill('.sit-form input[name="name"]', "Ana")
            page.click(".sit-form button")
            page.wait_for_url(table)
            eventually(lambda: len(way.ledger()) == 431, what="the lamp has flickered")
            way.settled()
            eventually(lambda: len(way.doubted()) == len(way.ledger()), what="all are doubted")
            count = page.locator('[data-piece="count-tlaloc"]').first
            eventually(lambda: int(count.inner_text()) <= 8, what="at most eight are scored")
            yours = page.locator(".region-yours")
            expect(yours).to_contain_text("431", timeout=60_000)  # the tap is about the tokens that the page shows
            doubts = yours.get_by_role("button", name="None of them was a token")
            doubts.click()
            expect(doubts).to_have_count(0, timeout=60_000)
            eventually(lambda: count.inner_text() == "0", what="nothing is scored")
        finally:
            context.close()
            way.end()

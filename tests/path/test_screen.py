"""The whole way to the screen: a token that falls through a beam appears on a phone's page by itself."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.brokers import HOST, mosquitto
from tests.browser.conftest import PHONE
from tests.path.conftest import Way


def test_tokens_that_fall_through_both_slots_are_seen_on_a_phone(tmp_path: Path, chromium: Browser) -> None:
    with mosquitto(tmp_path) as broker:
        way = Way(tmp_path, broker)
        context = chromium.new_context(viewport=PHONE)
        try:
            way.start()
            found = re.search(r"^table \S+ (\S+)$", way.companion.log.read_text(), re.MULTILINE)
            assert found
            page = context.new_page()
            page.goto(f"http://{HOST}:{way.web_port}{found[1]}")
            fallen = {"tlaloc": 3, "huitzilopochtli": 2}
            for god, number in fallen.items():
                way.drop(god, number)
            for god, number in fallen.items():
                count = page.locator(f'[data-piece="count-{god}"]').first
                expect(count).to_have_text(str(number), timeout=60_000)
        finally:
            context.close()
            way.end()

"""Measures how soon a page is seen and can be used on a slow phone, and what a first visit moves.

``python -m tests.browser.first_paint`` opens pages in a new browser each, whose processor is slowed four times and
whose network gives 400 kbit/s, and prints a table: the bytes, the first paint, and when taps are answered, which is
when the page's script runs or, without one, when the page is read. A busy machine makes the times longer: of several
visits the quickest counts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests import fonts
from tests.browser.conftest import PATIENCE_MS, PHONE, Companion
from tests.browser.first_taps import SLOWED
from tests.browser.test_weight import begun
from tests.companion.web.conftest import WebHome
from tests.conftest import ARGUMENTS, chromium_path

BYTES_A_SECOND = 50_000
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
GAMES = ("mexica", "market", "siege", "moctezuma")


def visit(browser: Browser, address: str) -> tuple[int, float, float]:
    """Return the bytes of a first visit, and the seconds until the page is seen and until it can be used."""
    context = browser.new_context(viewport=PHONE, locale="en", reduced_motion="reduce", has_touch=True)
    context.set_default_timeout(PATIENCE_MS)
    try:
        page, moved = context.new_page(), []
        session = context.new_cdp_session(page)
        session.on("Network.loadingFinished", lambda answer: moved.append(int(answer["encodedDataLength"])))
        session.send("Network.enable")
        limits = {"downloadThroughput": BYTES_A_SECOND, "uploadThroughput": BYTES_A_SECOND}
        session.send("Network.emulateNetworkConditions", {"offline": False, "latency": 0, **limits})
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
        page.goto(address, wait_until="domcontentloaded")
        if page.locator("#live").count():
            page.wait_for_selector("html[data-scripted]", state="attached")
        usable = float(page.evaluate("performance.now()"))
        page.wait_for_function(PAINTED)
        page.wait_for_load_state("load")
        page.evaluate("document.fonts.ready.then(() => {})")
        return sum(moved), page.evaluate(PAINTED) / 1000, usable / 1000
    finally:
        context.close()


def main() -> int:
    """Measure the pages on the way from a code to a first turn, and print the table."""
    asked = argparse.ArgumentParser(prog="python -m tests.browser.first_paint", description=__doc__.splitlines()[0])
    asked.add_argument("--visits", type=int, default=5, help="how often each page is opened (%(default)s)")
    visits = asked.parse_args().visits
    with tempfile.TemporaryDirectory(prefix="paint-") as folder, sync_playwright() as driver:
        environment = fonts.environment("narrow", Path(folder))
        browser = driver.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS, env=environment)
        companion = Companion.started(WebHome(f"sqlite:///{folder}/companion.sqlite"))
        try:
            lobby = companion.table(4)
            pages = {"the first page": "/", "by a code": f"/j/{lobby.code}", "a lobby": f"/t/{lobby.id}"}
            pages |= {f"a game of {game}": f"/t/{begun(companion, game).id}" for game in GAMES}
            print("| page | kB | first paint, s | usable, s |\n| --- | --: | --: | --: |")
            for name, path in pages.items():
                seen = [visit(browser, companion.address + path) for _ in range(visits)]
                moved, painted, usable = (min(each) for each in zip(*seen, strict=True))
                print(f"| {name} | {moved / 1000:.0f} | {painted:.1f} | {usable:.1f} |", flush=True)
        finally:
            companion.stop()
            companion.home.store.close()
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

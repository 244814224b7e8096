"""Counts taps and seconds from the QR code to a seat and from "Set a table" to the first move, and sizes of text.

``python -m tests.browser.first_taps`` drives a phone in Chromium through all four games as their guide of a first
turn leads, and prints two tables. Seconds are those that a person waits for pages on a phone whose processor is four
times slower than this machine's; reading, deciding and typing take a person longer than all of them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

from tests import fonts
from tests.browser.conftest import PATIENCE_MS, PHONE, SCREEN, Companion
from tests.companion.web.conftest import WebHome
from tests.conftest import ARGUMENTS, chromium_path

SLOWED = 4
NAME = "Ana"
SLIP_MS = 700
"""The time in which a second tap is taken for a slip."""

WORDS_A_SECOND = 3.0
"""How fast an adult reads a sentence that is new, 180 words a minute."""

DECIDING_S = 1.35 + 1.1
"""To make up one's mind and point at something, of the keystroke-level model (Card, Moran and Newell, 1983)."""

GAMES = ("mexica", "market", "siege", "moctezuma")

SIZES = """() => {
  const sizes = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const of = node.parentElement;
    if (!node.data.trim() || !of.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (of.closest(".for-reader, .skip-link, .sound, .siege-spoken, .table-header")) continue;
    if (of.closest("symbol, defs, script, style, title")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue;
    const scale = of.closest("svg") ? (of.getScreenCTM?.()?.a ?? 1) : 1;
    sizes.push(parseFloat(getComputedStyle(of).fontSize) * scale);
  }
  return sizes;
}"""


@dataclass
class Way:
    """A person's taps on a way, and how long the pages kept that person waiting."""

    taps: int = 0
    letters: int = 0
    seconds: float = 0.0
    guided: int = 0
    """The taps to which the guide led."""
    words: int = 0
    """The words that the guide said before them."""

    @property
    def guide_s(self) -> float:
        """How long the guide takes before the first move: reading it, and deciding on and making each tap."""
        return self.words / WORDS_A_SECOND + self.guided * DECIDING_S

    def tap(self, what: Locator) -> None:
        """Tap, and let the page that follows load."""
        self.taps += 1
        self.timed(what.click)

    def timed(self, do: Callable[[], object]) -> None:
        """Do something that a person waits for."""
        began = time.perf_counter()
        do()
        self.seconds += time.perf_counter() - began

    def sit(self, page: Page) -> None:
        """Type a name and take the first free seat."""
        self.tap(page.locator('.sit-form input[name="name"]'))
        page.keyboard.type(NAME)
        self.letters += len(NAME)
        self.tap(page.locator(".sit-form .button-main"))
        self.timed(lambda: page.wait_for_selector("html[data-scripted] .page-table", state="attached"))


def from_code_to_seat(companion: Companion, context: BrowserContext, game: str, slowed: int = SLOWED) -> Way:
    """Scan the code of a table that somebody set, and take a seat."""
    preset = next(iter(companion.home.games[game].presets))
    table = companion.home.services.tables.open(game, "Sunday", 2, preset, {})
    way, page = Way(), _phone(context, slowed)
    way.timed(lambda: page.goto(f"{companion.address}/j/{table.code}"))
    way.sit(page)
    page.close()
    return way


def from_setting_to_move(companion: Companion, context: BrowserContext, game: str, slowed: int = SLOWED) -> Way:
    """Set a table from the first page, begin, and make the move to which the game's guide of a first turn leads."""
    way, page = Way(), _phone(context, slowed)
    page.goto(companion.address)
    way.tap(page.locator('a.button-main[href^="/tables/new"]'))
    chosen = page.locator(f'.game-choice a[href$="game={game}"]')
    if chosen.get_attribute("aria-current") is None:
        way.tap(chosen)
    way.tap(page.locator("#new-form button.button-main"))
    way.timed(lambda: page.wait_for_selector(".sit-form, .begin-form"))
    if page.locator(".sit-form").count():
        way.sit(page)
    way.tap(page.locator(".begin-form button"))
    way.timed(lambda: page.wait_for_selector(".phase-running", state="attached"))
    table = page.url.rpartition("/")[2]
    running = companion.home.services.tables.get(table)
    if running.on_turn and not running.chair(running.on_turn).taken:  # an empty seat was drawn to begin
        page.close()
        return from_setting_to_move(companion, context, game, slowed)
    begun = running.version
    way.timed(lambda: page.wait_for_selector("[data-guided-to]"))
    said = ""
    while companion.home.services.tables.get(table).version == begun:
        assert way.taps < 20, f"{game}: no tap of {way.taps} made a move"
        level, lit = page.locator(".levels-list button, .levels-list a"), page.locator("[data-guided-to]")
        on_map = lit.first.get_attribute("data-guide-at") == "map"
        before = _stand(companion, page, table)
        words = page.locator("[data-guide]").inner_text()
        if words != said:
            way.words += len(words.split())
            said = words
        way.guided += 1
        way.tap(level.first if level.count() else page.locator(".doing button").first if on_map else lit.first)
        way.timed(lambda before=before: _await(companion, page, table, before))
        page.wait_for_timeout(SLIP_MS)
    page.close()
    return way


def _stand(companion: Companion, page: Page, table: str) -> tuple[int, str]:
    """Return the table's version and what is lit; that a tap is on its way changes neither."""
    lit = page.locator("[data-guided-to], .levels-list").evaluate_all(
        "found => found.map(each => each.outerHTML.replaceAll(/ aria-disabled=\"true\"/g, ''))"
    )
    return companion.home.services.tables.get(table).version, "".join(lit)


def _await(companion: Companion, page: Page, table: str, before: tuple[int, str]) -> None:
    """Wait until a tap has moved the table, opened a level or lit something else."""
    for _ in range(1500):
        if _stand(companion, page, table) != before:
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"a tap did nothing in 30 s on {page.url}")


def sizes_on_screen(companion: Companion, page: Page, game: str) -> list[float]:
    """Return the size in px of every text on the table screen of a game that was begun; its page is 1920 by 1080."""
    services = companion.home.services
    preset = next(iter(companion.home.games[game].presets))
    table = services.tables.open(game, "Sunday", 2, preset, {})
    services.seats.begin(table.id, table.code)
    page.goto(f"{companion.address}/t/{table.id}/screen")
    page.wait_for_selector("html[data-scripted]", state="attached")
    found: list[float] = page.evaluate(SIZES)
    return found


def _phone(context: BrowserContext, slowed: int) -> Page:
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    return page


def phone(browser: Browser) -> BrowserContext:
    """Return a new phone."""
    context = browser.new_context(viewport=PHONE, locale="en", reduced_motion="reduce", has_touch=True)
    context.set_default_timeout(PATIENCE_MS)
    return context


def main() -> int:
    """Measure all games and print the tables."""
    with tempfile.TemporaryDirectory(prefix="taps-") as folder, sync_playwright() as driver:
        environment = fonts.environment("wide", Path(folder))
        browser = driver.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS, env=environment)
        companion = Companion.started(WebHome(f"sqlite:///{folder}/companion.sqlite"))
        try:
            print(
                "| game | QR to seat: taps | letters | waiting, s | set to first move: taps | letters | waiting, s "
                "| guide: words | taps | s |"
            )
            print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
            for game in GAMES:
                ways = [walk(companion, phone(browser), game) for walk in (from_code_to_seat, from_setting_to_move)]
                cells = [f"{way.taps} | {way.letters} | {way.seconds:.1f}" for way in ways]
                guide = ways[1]
                cells += [f"{guide.words} | {guide.guided} | {guide.guide_s:.0f}"]
                print(f"| {game} | {' | '.join(cells)} |")
            print("\n| table screen | texts | smallest, px | median, px | largest, px |")
            print("| --- | --: | --: | --: | --: |")
            screen = browser.new_page(viewport=SCREEN, locale="en", reduced_motion="reduce")
            for game in GAMES:
                sizes = sizes_on_screen(companion, screen, game)
                figures = " | ".join(f"{each:.0f}" for each in (min(sizes), median(sizes), max(sizes)))
                print(f"| {game} | {len(sizes)} | {figures} |")
        finally:
            companion.stop()
            companion.home.store.close()
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

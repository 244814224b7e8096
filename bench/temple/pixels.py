"""How long it takes from a beam to a changed pixel on a phone, with forty phones at the table."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from playwright.sync_api import Browser, Page, sync_playwright

from bench.tools import daemons
from bench.tools.figures import Chapter, Row, spread
from bench.tools.programs import BenchError, Programs, system_program, wait_until
from bench.tools.readers import Readers

DARK_MS = 12
PHONE = {"width": 360, "height": 780}

WATCH = """
() => {
  window.benched = [];
  const now = () => performance.timeOrigin + performance.now();
  new MutationObserver(() => {
    const changed = now();
    requestAnimationFrame(() => {
      const framed = now();
      // A message is taken after the frame has been drawn.
      const after = new MessageChannel();
      after.port1.onmessage = () => window.benched.push([changed, framed, now()]);
      after.port2.postMessage(0);
    });
  }).observe(document.querySelector('[data-region=tally]'), {subtree: true, childList: true});
}
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the page, in milliseconds after its beam was clear."""

    dom: float
    frame: float
    drawn: float


def clock_offset(page: Page) -> tuple[float, float]:
    """Return by how many milliseconds the page's clock leads this process's, and how far off that may be."""
    best = (float("inf"), 0.0)
    for _ in range(50):
        before = time.time_ns()
        there = page.evaluate("performance.timeOrigin + performance.now()")
        after = time.time_ns()
        best = min(best, ((after - before) / 2e6, there - (before + after) / 2e6))
    return best[1], best[0]


def measure(programs: Programs, tokens: int, phones: int) -> Chapter:
    """Drop tokens one by one while `phones` streams are open, one of them Chromium's; raises `BenchError`."""
    port = programs.mosquitto()
    companion = daemons.start_companion(programs, port, daemons.CROWD)
    controller = daemons.start_controller(programs, port)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=system_program("chromium", "chromium-browser", "chromium-headless-shell")
        )
        try:
            with Readers([(companion.port, companion.table)], phones - 1) as readers:
                readers.wait_for_first()
                changes, reading, uncertain = _watched(browser, companion, controller, readers, tokens)
        finally:
            browser.close()
    drawn = spread(change.drawn for change in changes)
    framed = spread(change.frame for change in changes)
    dom = spread(change.dom for change in changes)
    last = spread(reading)
    return Chapter(
        f"Beam to pixel, {phones} phones",
        (
            Row("beam clear to the frame drawn, median", "ms", drawn.median, target=50),
            Row("beam clear to the frame drawn, p99", "ms", drawn.p99, target=150),
            Row("beam clear to requestAnimationFrame, median", "ms", framed.median),
            Row("beam clear to requestAnimationFrame, p99", "ms", framed.p99),
            Row("beam clear to the page changed, median", "ms", dom.median),
            Row("beam clear to the last of the other phones, median", "ms", last.median),
            Row("beam clear to the last of the other phones, p99", "ms", last.p99),
        ),
        f"{len(changes)} tokens, {DARK_MS} ms dark, about three a second; {phones - 1} simple readers of the same"
        " event stream and one page in Chromium (360x780, headless, software rendering), all on this machine. A frame"
        " counts as drawn at the first message after the animation frame that follows the change. The page's clock"
        f" and ours agree to within {uncertain:.2f} ms and are aligned by the middle of the quickest exchange.",
    )


def _watched(
    browser: Browser, companion: daemons.Companion, controller: daemons.Controller, readers: Readers, tokens: int
) -> tuple[list[Change], list[float], float]:
    page = browser.new_page(viewport=PHONE, device_scale_factor=2, has_touch=True)  # type: ignore[arg-type]
    page.goto(companion.address + companion.table)
    page.wait_for_selector("[data-region=tally]")
    time.sleep(2)
    page.evaluate(WATCH)
    beams = controller.breaks()
    whims = random.Random(1)
    changes: list[Change] = []
    reading: list[float] = []
    uncertain = 0.0
    for n in range(-5, tokens):
        if n % 50 == 0:
            offset, uncertain = clock_offset(page)
        page.evaluate("() => { window.benched = []; }")
        del readers.arrivals[:]
        driven = beams.drop(daemons.PINS[n % 2], DARK_MS)
        # Both clocks of this process, read together: the stamp of the beam as wall-clock time.
        clear_ms = (time.time_ns() - time.monotonic_ns() + driven.clear_ns) / 1e6
        time.sleep(0.25 + whims.uniform(0, 0.1))  # not in step with the display's frame rate
        seen = page.evaluate("window.benched")
        if not seen:
            try:
                wait_until(lambda: bool(page.evaluate("window.benched.length")), 5, f"token {n} on the page")
            except BenchError:
                raise BenchError(f"token {n} changed nothing on the page; expected the tally to change") from None
            seen = page.evaluate("window.benched")
        if n < 0:
            continue
        first = seen[0]
        changes.append(Change(*(stamp - offset - clear_ms for stamp in first)))
        arrivals = {who: at for at, who in readers.arrivals}
        if len(arrivals) != len(readers.events):
            raise BenchError(f"token {n} reached {len(arrivals)} of {len(readers.events)} streams; expected all")
        reading.append((max(arrivals.values()) - driven.clear_ns) / 1e6)
    page.close()
    return changes, reading, uncertain

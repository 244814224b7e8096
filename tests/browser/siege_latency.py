"""From a tap to the painted map of the full siege, slowed six times: ``python -m tests.browser.siege_latency``.

A march is rolled for with one tap and gone with the next, each with a finger that touches the glass for a while. Two
times run from the moment it leaves the glass: until the frame in which the hex shows the tap has been drawn,
and until the frame has been that shows the answer: posted, rolled for by the app, stored, painted by the companion
and put into the page. Nobody asks the page anything meanwhile. The companion and the browser share this machine, so
whatever else runs on it is in the figures; ``chrt -r 1`` before the command lets it wait for little else.
"""

from __future__ import annotations

import sys
import tempfile
from math import ceil
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from companion.games.kit import Move
from tests.browser.conftest import PHONE, Companion, Device
from tests.browser.siege_map import WHERE
from tests.companion.web.conftest import WebHome
from tests.conftest import ARGUMENTS

SLOWED = 6
TOUCHED = 60
"""How long a finger stays on the glass, in milliseconds."""
ANSWERED = 500
"""How long the page is left alone after a tap before it is asked what it took, and again until it knows."""

MEASURE = """() => {
  const map = document.querySelector(".siege-sheets");
  const marks = document.getElementById("region-marks");
  window.taken = { tapped: 0, answer: 0 };
  let began = 0;
  map.addEventListener("pointerup", event => { began = event.timeStamp; }, { once: true, capture: true });
  const frame = name => requestAnimationFrame(() => setTimeout(() => { taken[name] = performance.now() - began; }));
  const seen = { tapped: false, answer: false };
  new MutationObserver((changes, watching) => {
    for (const change of began ? changes : []) {
      const name = marks.contains(change.target) ? "answer" : "tapped";
      if (!seen[name]) frame(name);
      seen[name] = true;
    }
    if (seen.answer) watching.disconnect();
  }).observe(map, { childList: true, subtree: true, attributes: true });
}"""


def main(taps: int = 60) -> None:
    """Print median, 95th percentile and worst of some taps."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = WebHome(f"sqlite:///{Path(folder) / 'companion.sqlite'}")
        companion = Companion.started(home)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        try:
            tapped, times, kinds, size = _measured(companion, browser, taps)
        finally:
            browser.close()
            companion.stop()
            home.store.close()
    reach, moved = ([took for took, kind in zip(times, kinds, strict=True) if kind == of] for of in ("march", "go"))
    for name, figures in (
        ("the tapped hex", sorted(tapped)),
        ("where a unit can go, its die rolled by the app", sorted(reach)),
        ("a move that was made", sorted(moved)),
        ("either", sorted(times)),
    ):
        p95 = figures[ceil(0.95 * len(figures)) - 1]
        print(
            f"tap to paint of {name}, full map, slowed {SLOWED} times: median {median(figures):.0f} ms,"
            f" p95 {p95:.0f} ms, worst {figures[-1]:.0f} ms of {len(figures)} taps"
        )
    print(f"the painted pieces have {size / 1000:.1f} kB")


def _measured(companion: Companion, browser: Any, taps: int) -> tuple[list[float], list[float], list[str], int]:
    services = companion.home.services
    table = services.tables.open("siege", "Siege", 2, "classic", {})
    context = browser.new_context(viewport=PHONE, reduced_motion="reduce")
    device = Device(context, context.new_page())
    device.share(companion, table)
    token = next(cookie["value"] for cookie in context.cookies() if table.id in cookie["name"])
    services.seats.begin(table.id, token)
    services.play.let_app_roll(table.id, token, True)
    random, game, asked = Random("latency"), services.tables.get(table.id).game, 0

    def play(seat: str, move: Move) -> None:
        nonlocal asked
        asked += 1
        played = services.play.move(
            table.id, token, seat, move, services.tables.get(table.id).version, f"latency{asked}"
        )
        assert played.accepted, move

    while services.tables.get(table.id).state.stage != "move":
        state = services.tables.get(table.id).state
        moves = game.rules.moves(state, seat := game.rules.to_act(state)[0])
        play(seat, next((move for name in ("rest", "ready") for move in moves if move.name == name), moves[0]))
    page = device.page
    page.locator(".siege-pieces").wait_for(state="attached")
    page.wait_for_timeout(500)
    page.goto(f"{companion.address}/t/{table.id}")
    device.listening()
    page.click('[data-siege="whole"]')
    tools = context.new_cdp_session(page)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    tapped: list[float] = []
    times: list[float] = []
    kinds: list[str] = []
    while len(times) < taps:
        state = services.tables.get(table.id).state
        names = state.field.grid.names
        moves = game.rules.moves(state, "spaniards")
        steps = [move for move in moves if move.name == "go"]
        kind = "go" if steps and len(times) % 2 else "march"
        if kind == "go":
            where = str(random.choice(steps).args[0])
        else:
            fresh = [int(move.args[0]) for move in moves if move.name == "march"]
            if not fresh:
                break
            where = names[state.at[random.choice(fresh)]]
        page.evaluate(MEASURE)
        x, y = page.evaluate(WHERE, where)
        tools.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        page.wait_for_timeout(TOUCHED)
        tools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        for _ in range(20):
            page.wait_for_timeout(ANSWERED)
            if (taken := page.evaluate("window.taken"))["answer"]:
                times.append(taken["answer"])
                kinds.append(kind)
                tapped.append(taken["tapped"])
                break
    size = len(page.locator("#region-pieces").inner_html().encode())
    context.close()
    return tapped, times, kinds, size


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]))

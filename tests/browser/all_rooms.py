"""Measures every table page in every room, and prints a table of what was looked at and what was wrong.

``make layout`` looks at every game with two and with most players, with names of one and of 24 letters, in English
and Spanish, in both fonts and at every size of window, at every stage that a table comes through. Each processor
plays tables of its own before a browser of its own. A page is loaded once for both fonts and all windows.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests import fonts
from tests.browser.conftest import PATIENCE_MS, Companion
from tests.browser.rooms import ROOMS, SIZES, Found, Room, View, look
from tests.companion.web.conftest import WebHome
from tests.conftest import launched

ROW = "| {:<12} | {:<6} | {:>12} | {:>6} | {:>6} | {:>7} | {:>7} | {:>6} |"


def measure(room: Room, views: Sequence[View], every: int, sizes: Sequence[tuple[int, int]]) -> dict[View, Found]:
    """Play a room's table and measure its views."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rooms-"))
        driver = stack.enter_context(sync_playwright())

        browser = launched(driver, "both", Path(folder))
        stack.callback(browser.close)
        home = WebHome(f"sqlite:///{folder}/companion.sqlite")
        stack.callback(home.store.close)
        companion = Companion.started(home)
        stack.callback(companion.stop)
        pages = {
            (layout, language): stack.enter_context(_page(browser, language))
            for layout, language in dict.fromkeys((view.layout, view.language) for view in views)
        }
        windows = {layout: [each for each in sizes if each in made] or made for layout, made in SIZES.items()}
        return look(companion, pages, room, views, every=every, windows=windows)


@contextmanager
def _page(browser: Browser, language: str) -> Iterator[Page]:
    context = browser.new_context(locale=language, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    try:
        yield context.new_page()
    finally:
        context.close()


def main() -> int:
    """Look at the rooms that were asked for; returns 1 where anything is wrong."""
    asked = argparse.ArgumentParser(prog="make layout", description=__doc__.splitlines()[0])
    asked.add_argument("--only", default="", help="a room's name begins with this, as in mexica-evening-4")
    asked.add_argument("--every", type=int, default=1, help="look at every so manyth stage")
    asked.add_argument("--layouts", nargs="*", default=list(SIZES), choices=list(SIZES))
    asked.add_argument("--languages", nargs="*", default=["en", "es"])
    asked.add_argument("--fonts", nargs="*", default=list(fonts.FAMILIES), choices=list(fonts.FAMILIES))
    asked.add_argument("--sizes", nargs="*", default=[], help="as in 820x1180")
    asked.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many tables are played at a time")
    args = asked.parse_args()
    sizes = [(int(width), int(height)) for width, height in (each.split("x") for each in args.sizes)]
    rooms = [room for room in ROOMS if str(room).startswith(args.only)]
    views = list(itertools.starmap(View, itertools.product(args.layouts, args.languages, args.fonts)))
    sums: dict[tuple[str, str], list[Found]] = {(room.game, layout): [] for room in rooms for layout in args.layouts}
    began = time.monotonic()
    with ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as processes:
        waiting = {processes.submit(measure, room, views, args.every, sizes): room for room in rooms}
        for done in as_completed(waiting):
            room, seconds = waiting[done], time.monotonic() - began
            print(f"{room} is done after {seconds:.0f} s", file=sys.stderr, flush=True)
            for view, found in done.result().items():
                sums[room.game, view.layout].append(found)
                for words, where in found.wrong.items():
                    print(f"{room} {view.layout} {view.language} {view.font}: {words} ({where})", flush=True)
    print(ROW.format("game", "page", "combinations", "stages", "pages", "regions", "texts", "faults"))
    print("|---" * 8 + "|")
    for (game, layout), every in sums.items():
        counts = [sum(getattr(each, name) for each in every) for name in ("stages", "pages", "regions", "texts")]
        print(ROW.format(game, layout, len(every), *counts, sum(len(each.wrong) for each in every)))
    print(f"{time.monotonic() - began:.0f} s with {args.jobs} tables at a time")
    return int(any(each.wrong for every in sums.values() for each in every))


if __name__ == "__main__":
    sys.exit(main())

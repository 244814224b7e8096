"""Measures every table page in every room, and prints a table of what was looked at and what was wrong.

``make layout`` looks at every game with two and with most players, with names of one and of 24 letters, in English
and Spanish, in both fonts and at every size of window, at every stage that a table comes through.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests import fonts
from tests.browser.conftest import Companion
from tests.browser.rooms import ROOMS, SIZES, Found, look
from tests.conftest import ARGUMENTS, chromium_path
from tests.web.conftest import WebHome

ROW = "| {:<12} | {:<6} | {:>12} | {:>6} | {:>6} | {:>7} | {:>7} | {:>6} |"


def main() -> int:
    """Look at the rooms that were asked for; returns 1 where anything is wrong."""
    asked = argparse.ArgumentParser(prog="make layout", description=__doc__.splitlines()[0])
    asked.add_argument("--only", default="", help="a room's name begins with this, as in mexica-evening-4")
    asked.add_argument("--every", type=int, default=1, help="look at every so manyth stage")
    asked.add_argument("--layouts", nargs="*", default=list(SIZES), choices=list(SIZES))
    asked.add_argument("--languages", nargs="*", default=["en", "es"])
    asked.add_argument("--fonts", nargs="*", default=list(fonts.FAMILIES), choices=list(fonts.FAMILIES))
    asked.add_argument("--sizes", nargs="*", default=[], help="as in 820x1180")
    args = asked.parse_args()
    windows = [(int(width), int(height)) for width, height in (each.split("x") for each in args.sizes)]
    sums: dict[tuple[str, str], list[Found]] = {}
    with tempfile.TemporaryDirectory(prefix="rooms-") as folder, sync_playwright() as driver:
        for font in args.fonts:
            environment = fonts.environment(font, Path(folder))
            browser = driver.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS, env=environment)
            rooms = [room for room in ROOMS if str(room).startswith(args.only)]
            for room, language, layout in itertools.product(rooms, args.languages, args.layouts):
                with tempfile.TemporaryDirectory(dir=folder) as own:
                    home = WebHome(f"sqlite:///{own}/companion.sqlite")
                    companion = Companion.started(home)
                    try:
                        found = look(
                            companion,
                            browser,
                            room,
                            layout=layout,
                            language=language,
                            every=args.every,
                            sizes=[each for each in windows if each in SIZES[layout]] or SIZES[layout],
                        )
                    finally:
                        companion.stop()
                        home.store.close()
                sums.setdefault((room.game, layout), []).append(found)
                for words, where in found.wrong.items():
                    print(f"{room} {layout} {language} {font}: {words} ({where})", flush=True)
            browser.close()
    print(ROW.format("game", "page", "combinations", "stages", "pages", "regions", "texts", "faults"))
    print("|---" * 8 + "|")
    for (game, layout), every in sums.items():
        counts = [sum(getattr(each, name) for each in every) for name in ("stages", "pages", "regions", "texts")]
        print(ROW.format(game, layout, len(every), *counts, sum(len(each.wrong) for each in every)))
    return int(any(each.wrong for every in sums.values() for each in every))


if __name__ == "__main__":
    sys.exit(main())

"""Lets Lighthouse judge five pages on a phone's first visit: ``python -m tests.browser.lighthouse`` prints scores.

It comes from npm, needs node, and slows processor and network down by its own throttling; a busy machine costs
performance, so of several visits the best counts. What costs another score something is named.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.browser.conftest import Companion
from tests.browser.test_weight import begun
from tests.companion.web.conftest import WebHome
from tests.conftest import chromium_path

LIGHTHOUSE = "lighthouse@12.8.2"
JUDGED = ("performance", "accessibility", "best-practices", "seo")


def judged(address: str, folder: Path) -> Mapping[str, Any]:
    """Return Lighthouse's report of a page; raises `CalledProcessError`."""
    report = folder / "report.json"
    flags = ["--quiet", "--output=json", f"--output-path={report}", "--chrome-flags=--headless --no-sandbox"]
    command = ["npx", "--yes", LIGHTHOUSE, address, *flags]
    subprocess.run(command, check=True, env={**os.environ, "CHROME_PATH": str(chromium_path())})
    found: Mapping[str, Any] = json.loads(report.read_text("utf-8"))
    return found


def faults(report: Mapping[str, Any]) -> set[str]:
    """Return what costs a page something that no busy machine explains."""
    refs = [each for name in JUDGED[1:] for each in report["categories"][name]["auditRefs"] if each["weight"]]
    audits = [report["audits"][each["id"]] for each in refs]
    return {each["title"] for each in audits if each["score"] is not None and each["score"] < 1}


def main() -> int:
    """Judge the pages, and print the table; returns 1 where one falls short of 90 or 100."""
    asked = argparse.ArgumentParser(prog="python -m tests.browser.lighthouse", description=__doc__.splitlines()[0])
    asked.add_argument("--visits", type=int, default=3, help="how often each page is opened (%(default)s)")
    visits, short = asked.parse_args().visits, False
    with tempfile.TemporaryDirectory(prefix="lighthouse-") as folder:
        companion = Companion.started(WebHome(f"sqlite:///{folder}/companion.sqlite"))
        try:
            lobby = companion.table(4)
            pages = {"the first page": "/", "all games": "/games", "by a code": f"/j/{lobby.code}"}
            pages |= {"a lobby": f"/t/{lobby.id}", "a game": f"/t/{begun(companion, 'mexica').id}"}
            print(f"| page | {' | '.join(JUDGED)} |\n| --- |{' --: |' * len(JUDGED)}")
            for page, path in pages.items():
                reports = [judged(companion.address + path, Path(folder)) for _ in range(visits)]
                best = {
                    name: max(round(100 * each["categories"][name]["score"]) for each in reports) for name in JUDGED
                }
                print(f"| {page} | {' | '.join(map(str, best.values()))} |", flush=True)
                for fault in sorted(set.intersection(*map(faults, reports))):
                    print(f"{page}: {fault}", file=sys.stderr)
                short |= best["performance"] < 90 or any(best[name] < 100 for name in JUDGED[1:])
        finally:
            companion.stop()
            companion.home.store.close()
    return int(short)


if __name__ == "__main__":
    sys.exit(main())

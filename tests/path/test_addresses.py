"""Where a companion invites to: the address that it listens on."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import HTTPCookieProcessor, Request, build_opener

from tests.brokers import HOST, free_port
from tests.controller.program import ROOT, environment
from tests.waiting import eventually


@contextmanager
def companion(folder: Path, *words: str) -> Iterator[str]:
    """Run a companion with a table, and give what it has printed once it is ready."""
    log = folder / "companion.log"
    command = [sys.executable, "-m", "companion", "run", "--state", str(folder / "state"), "--demo-table", "templo"]
    with (
        log.open("w") as file,
        subprocess.Popen([*command, *words], cwd=ROOT, env=environment(), stdout=file, stderr=file) as running,
    ):
        try:
            eventually(lambda: "table " in log.read_text() or running.poll() is not None)
            yield log.read_text()
        finally:
            running.terminate()


def test_a_companion_of_one_address_prints_it_and_invites_to_it(tmp_path: Path) -> None:
    port = free_port()
    with companion(tmp_path, "--host", HOST, "--port", str(port), "--broker", f"{HOST}:1") as printed:
        address = f"http://{HOST}:{port}"
        assert f"ready {address}\n" in printed
        table = re.search(r"^table (\w+) (/t/\w+)$", printed, re.MULTILINE)
        assert table
        browser = build_opener(HTTPCookieProcessor())
        code = Request(f"{address}{table[2]}/screen", f"code={table[1]}".encode(), {"Origin": address})
        with browser.open(code, timeout=60), browser.open(f"{address}{table[2]}/seats", timeout=60) as page:
            assert f"{address}/join" in page.read().decode()

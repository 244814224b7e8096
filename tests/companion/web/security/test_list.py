"""The list itself: `SECURITY.md` says how to report, and every promise of it names tests that there are."""

from __future__ import annotations

import re

from tests.companion.web.security.routes import ROOT

# -- `SECURITY.md` says how to report, and where each promise is tested --


def test_every_promise_of_security_md_names_tests_that_there_are() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    assert "## Reporting" in text
    promises = [line for line in text.splitlines() if line.startswith("| ") and "| `tests/" in line]
    assert len(promises) > 12
    for promise in promises:
        for file, names in re.findall(r"`(tests/[^:`]+)`: ((?:`\w+`(?:, )?)+)", promise):
            source = (ROOT / file).read_text("utf-8")
            for test in re.findall(r"`(\w+)`", names):
                assert re.search(rf"^def test_{test}\(", source, re.MULTILINE), f"{file} has no test_{test}"
        assert re.search(r"`tests/[^:`]+`: `\w+`", promise), promise

"""What a token costs the companion at a full table: storing it, and painting every page that it changes."""

from __future__ import annotations

import json
import subprocess

from bench.figures import Chapter, Row
from bench.full_table import LAKE
from bench.programs import ROOT, THIS_TREE, BenchError, Tree

AIM_MS = 12.0


def measure(tokens: int) -> Chapter:
    """Measure some tokens that the seat on turn gives; raises `BenchError`."""
    stored, painted = timed(THIS_TREE, tokens)
    return Chapter(
        "A token at a full table",
        (
            Row("mexica classic for four: storing it, CPU", "ms", stored),
            Row("painting four phones and a table screen, CPU", "ms", painted),
            Row("together", "ms", stored + painted, target=AIM_MS),
        ),
        f"Medians of {tokens} tokens that app players on turn give, from the {LAKE}th on; seed 1, SQLite.",
    )


def timed(tree: Tree, tokens: int) -> tuple[float, float]:
    """Return the milliseconds of CPU that storing and painting take in a tree; raises `BenchError`."""
    command = [tree.interpreter, str(ROOT / "bench" / "full_table.py"), str(tokens)]
    ran = subprocess.run(command, cwd=tree.root, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise BenchError(f"the table ended with {ran.returncode}; expected 0; it said: {ran.stderr[-1500:]}")
    stored, painted = json.loads(ran.stdout)
    return stored, painted

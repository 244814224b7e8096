"""What a token costs the companion at a full table: storing it, and painting every page that it changes."""

from __future__ import annotations

from bench.games import full_table
from bench.tools.figures import Chapter, Row
from bench.tools.programs import THIS_TREE, Tree, figures_in

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
        f"Medians of {tokens} tokens that app players on turn give, from the {full_table.LAKE}th on; seed 1, SQLite.",
    )


def timed(tree: Tree, tokens: int) -> tuple[float, float]:
    """Return the milliseconds of CPU that storing and painting take in a tree; raises `BenchError`."""
    stored, painted = figures_in(tree, full_table.__file__, tokens)
    return stored, painted

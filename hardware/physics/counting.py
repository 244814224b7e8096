"""Plays the beams that tokens broke through the real controller as a scenario, and calibrates from them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from controller.core import learned_limits
from controller.core.counting import MS, Limits
from controller.simulation.fast import Outcome, play_fast
from controller.simulation.parser import read
from hardware.physics.drops import Batch
from templo.contract import God

PAUSE_MS = 2000
"""Time between two batches, so that none affects the next."""


def scenario(batches: Sequence[Batch], title: str = "Tokens that fell on paper") -> str:
    """Return the batches as a scenario file: the two chutes in turn, each dark spell where and as long as it was.

    What it expects is one token for each that was let go, whatever the beam saw.
    """
    lines = ["v = 1", f'title = "{title}"', ""]
    at_ms = 1000.0
    fell = dict.fromkeys(God, 0)
    for n, batch in enumerate(batches):
        god = tuple(God)[n % 2]
        fell[god] += batch.dropped
        for spell in batch.spells:
            lines += [
                "[[event]]", 'do = "drop"', f"at_ms = {at_ms + spell.at_ms:.3f}", f'god = "{god}"',
                f"width_ms = {spell.width_ms:.3f}", "",
            ]  # fmt: skip
        at_ms += batch.lasted_ms + PAUSE_MS
    tokens = ", ".join(f"{god} = {fell[god]}" for god in God)
    return "\n".join([*lines, "[expect]", f"tokens = {{ {tokens} }}", ""])


def count_tokens(text: str, limits: Limits) -> Outcome:
    """Rehearse a scenario with a new ledger, and return what the controller made of it."""
    numbers = count(1)
    with tempfile.TemporaryDirectory() as folder:
        script = read(text.encode(), "physics")
        return play_fast(script, limits, Path(folder) / "ledger.db", lambda: f"{next(numbers):032x}")


def counted(outcome: Outcome) -> int:
    """Return how many tokens were recorded in both slots together."""
    return sum(outcome.counted(god) for god in God)


def measured(batches: Sequence[Batch]) -> learned_limits.Measured:
    """Return what `calibrate` would learn from the spells of single drops: what is too short for a token is none."""
    widths = [round(spell.width_ms * MS) for batch in batches for spell in batch.spells]
    return learned_limits.measured([width for width in widths if width >= Limits().min_break])


def band(batches: Sequence[Batch]) -> Limits:
    """Return the limits that a temple calibrated with these tokens counts by."""
    return learned_limits.limits(Limits(), frozenset(), {God.TLALOC: measured(batches)})

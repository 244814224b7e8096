"""Writes what tokens do on paper as scenarios: whatever judges light must take none of it for light.

They are the controller's own, in `controller/simulation/scenarios/controls/`; the files beside them, which have other
names, are written by hand. Each expects what the controller counts of it when it is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, inf
from pathlib import Path

import numpy as np

from controller.core.counting import MS, Limits
from hardware.parameters import Temple, Token
from hardware.physics.bowl import Hand, Offering, offering
from hardware.physics.counting import count_tokens
from hardware.physics.drops import Batch, handful, seen, singles
from hardware.physics.optics import EASY, WORST
from templo.contract import God

FOLDER = Path(__file__).resolve().parents[2] / "controller" / "simulation" / "scenarios" / "controls"
FRICTIONS = (0.2, 0.3, 0.4, 0.5)
SIZES = (3, 5, 7, 12)
SEED = 391_000
"""Not used in choosing any dimension or limit."""
SWEPT = 12
"""Tokens of a hand in the bowl."""
SPEEDS = (180.0, 400.0)
"""Of the finger that sweeps them, in millimetres a second, from one friction to the next in turn."""
RATES_MS = (400, 80)
"""From one single token to the next, at least."""
ALONE = 16
"""Single tokens in a row."""
APART_MS = 4000
"""From one hand to the next in a slot, unless it lasts longer than that less `QUIET_MS`."""
QUIET_MS = 1000
STEP_MS = 0.5
LATER_MS = 1000
"""At most so much later what falls into Tlaloc's slot begins than what falls into the other."""

Falls = Sequence[tuple[str, Batch]]
"""What fell, with words that say how."""


def scenarios(temple: Temple) -> Iterator[tuple[str, str]]:
    """Yield every file's name and text; what one simulates depends on the temple and on `SEED` alone."""
    for kind in temple.tokens:
        name = f"hands-{kind.name.replace(' ', '-')}"
        yield name, text(f"Hands of {kind.name}, let go over a slot", temple, _hands(temple, kind))
    yield "bowls", text(f"Hands of {SWEPT} that a finger sweeps out of a bowl", temple, _bowls(temple))
    yield "singles", text("Tokens one by one", temple, _singles(temple))


def write(temple: Temple) -> Iterator[Path]:
    """Write every file, and yield its path."""
    FOLDER.mkdir(exist_ok=True)
    for name, scenario in scenarios(temple):
        path = FOLDER / f"{name}.toml"
        path.write_text(scenario, "utf-8")
        yield path


def text(title: str, temple: Temple, falls: Falls) -> str:
    """Return a scenario in which each fall comes twice.

    The worst receiver sees it in Huitzilopochtli's slot. One that is barely driven sees it in Tlaloc's, half of the
    falls later, so that different tokens fall into both slots at the same time. How much later they begin there is
    drawn: no two people let go in the same millisecond.
    """
    draw = np.random.default_rng(SEED)
    lines = [
        '# What tokens did on paper; by `make physics ARGS="--controls"`. No print and no sensor was measured.',
        "# In Huitzilopochtli's slot the worst receiver sees them, in Tlaloc's one that is barely driven.",
        "v = 1",
        f'title = "{title}"',
    ]
    at_ms = 1000
    half = len(falls) // 2
    for one, other in zip(falls, [*falls[half:], *falls[:half]], strict=True):
        later_ms = int(draw.integers(LATER_MS))
        for god, receiver, begin_ms, (words, batch) in (
            (God.HUITZILOPOCHTLI, WORST, at_ms, one),
            (God.TLALOC, EASY, at_ms + later_ms, other),
        ):
            lines += ["", f"[[event]] # {words}", *_train(begin_ms, god, seen(temple, batch, receiver))]
        lasted_ms = max(one[1].lasted_ms, other[1].lasted_ms + later_ms)
        at_ms += max(APART_MS, ceil((lasted_ms + QUIET_MS) / 500) * 500)
    return "\n".join([*lines, "", *_expected("\n".join(lines)), ""])


def _train(at_ms: int, god: God, batch: Batch) -> Iterator[str]:
    spells = ", ".join(f"[{_decimal(start)}, {_decimal(width)}]" for start, width in _apart(batch))
    yield f"at_ms = {at_ms}"
    yield 'do = "train"'
    yield f'god = "{god}"'
    yield f"spells_ms = [{spells}]"
    yield f"tokens = {batch.dropped}"


def _apart(batch: Batch) -> Iterator[tuple[float, float]]:
    """Yield the start and width of each spell; one, or a gap, at the very limit is half a step of the model longer.

    The model's steps are as coarse as half a millisecond, and no two clocks agree on what is exactly the limit.
    """
    clear_ms, dark_ms, end_ms = Limits().min_clear / MS, Limits().min_break / MS, -inf
    for each in batch.spells:
        start_ms = float(each.at_ms)
        later_ms = STEP_MS / 2 if abs(start_ms - end_ms - clear_ms) < STEP_MS / 2 else 0.0
        width_ms = float(each.width_ms) - later_ms
        yield start_ms + later_ms, width_ms + (STEP_MS / 2 if abs(width_ms - dark_ms) < STEP_MS / 2 else 0.0)
        end_ms = start_ms + float(each.width_ms)


def _decimal(ms: float) -> str:
    return f"{ms:.3f}".rstrip("0").rstrip(".")


def _expected(scenario: str) -> Iterator[str]:
    outcome = count_tokens(scenario, Limits())
    codes = {god: sorted({str(each["code"]) for each in outcome.findings(god)}) for god in God}
    fell = ", ".join(f"{god} = {outcome.fell[god]}" for god in God)
    yield f"[expect] # fell: {fell}"
    yield f"tokens = {{ {', '.join(f'{god} = {outcome.counted(god)}' for god in God)} }}"
    yield f"findings = {{ {', '.join(f'{god} = {json.dumps(codes[god])}' for god in God)} }}"


def _hands(temple: Temple, kind: Token) -> Falls:
    return [
        (f"{size}, friction {friction:g}", handful(temple, kind, SEED + 10 * size, size, friction))
        for size in SIZES
        for friction in FRICTIONS
    ]


def _bowls(temple: Temple) -> Falls:
    return [
        (
            f"{kind.name}, friction {friction:g}, {speed:g} mm/s",
            _fallen(offering(temple, kind, SEED, SWEPT, friction, Hand(speed))),
        )
        for kind in temple.tokens
        for friction, speed in zip(FRICTIONS, SPEEDS * 2, strict=True)
    ]


def _fallen(swept: Offering) -> Batch:
    """Return what fell into the hole; what stayed in the bowl or flew over its wall met no beam."""
    return replace(swept.batch, dropped=swept.batch.dropped - swept.left - swept.out)


def _singles(temple: Temple) -> Falls:
    return [
        (f"{kind.name}, {every_ms} ms and more apart", singles(temple, kind, SEED + n, ALONE, every_ms))
        for n, kind in enumerate(temple.tokens)
        for every_ms in RATES_MS
    ]

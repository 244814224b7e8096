"""Tokens of the model at a slot with two beams: how long they take from one to the other, and which are doubted.

Both beams have a receiver each, and either may be the worst or barely driven: tokens that merge in one may be apart
in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil

from controller.core.counting import Limits
from controller.simulation.parser import APART
from hardware.parameters import Temple
from hardware.physics.counting import count_tokens, counted
from hardware.physics.drops import Batch, handful, seen, seen_below, singles
from hardware.physics.optics import EASY, WORST, Receiver, Spell
from templo.contract import God

FRICTIONS = (0.2, 0.3, 0.4, 0.5)
SIZES = (3, 5, 7)
SEED = 97_000
"""Not used in choosing any dimension or limit."""
ALONE = 16
"""Single tokens in a batch."""
PAUSE_MS = 10_000
"""No hand drops more than 260 tokens a minute into a slot for long, and all batches are counted in one run."""
RECEIVERS = {"worst": WORST, "barely driven": EASY}


def rows(temple: Temple, number: int) -> Iterator[str]:
    """Yield a table: for each receiver, alone and over each other one, how many tokens were counted and doubted.

    The last columns are of single tokens at the worst receivers: from the first beam's darkness to the second's, and
    from when the first is clear, in milliseconds, lowest and highest.
    """
    pairs = [f"{one} over {other}" if other else one for one, other in product(RECEIVERS, ("", *RECEIVERS))]
    yield f"| token | friction | fell | {' | '.join(pairs)} | dark to dark | clear to dark |"
    yield "|---|---:|---:|" + "---:|" * (len(pairs) + 2)
    for kind in temple.tokens:
        for friction in FRICTIONS:
            alone = [singles(temple, kind, SEED + n, ALONE, friction=friction, below=True) for n in range(number)]
            hands = [
                handful(temple, kind, SEED + 10 * size + n, size, friction, below=True)
                for size in SIZES
                for n in range(number)
            ]
            cells = [
                _doubted(temple, [*alone, *hands], one, other)
                for one, other in product(RECEIVERS.values(), (None, *RECEIVERS.values()))
            ]
            fell = sum(batch.dropped for batch in (*alone, *hands))
            yield f"| {kind.name} | {friction:g} | {fell} | {' | '.join([*cells, *_times(temple, alone)])} |"


def _doubted(temple: Temple, batches: Sequence[Batch], first: Receiver, second: Receiver | None) -> str:
    """Count batches by the limits that a counter starts with; return how many tokens, and how many were doubted."""
    lines, at_ms = ["v = 1", *([f'below = "{APART}"'] if second else [])], 1000
    for batch in batches:
        lines += [
            "[[event]]", f"at_ms = {at_ms}", 'do = "train"', f'god = "{God.TLALOC}"', f"tokens = {batch.dropped}",
            f"spells_ms = {_train(seen(temple, batch, first).spells)}",
        ]  # fmt: skip
        if second:
            lines.append(f"below_ms = {_train(seen_below(temple, batch, second))}")
        at_ms += ceil(batch.lasted_ms) + PAUSE_MS
    outcome = count_tokens("\n".join(lines), Limits())
    return f"{counted(outcome)}, {len(outcome.doubted)} doubted"


def _train(spells: Sequence[Spell]) -> list[list[float]]:
    return [[float(each.at_ms), float(each.width_ms)] for each in spells]


def _times(temple: Temple, batches: Sequence[Batch]) -> tuple[str, str]:
    """Return the lowest and the highest time between the beams, of batches where both saw as many spells."""
    pairs = [
        pair
        for batch in batches
        if len(batch.spells) == len(below := seen_below(temple, batch, WORST))
        for pair in zip(batch.spells, below, strict=True)
    ]
    dark = [float(after.at_ms - before.at_ms) for before, after in pairs]
    clear = [float(after.at_ms - before.at_ms - before.width_ms) for before, after in pairs]
    return _range(dark), _range(clear)


def _range(times: Sequence[float]) -> str:
    return f"{min(times):g} to {max(times):g}" if times else "-"

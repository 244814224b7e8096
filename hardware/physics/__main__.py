"""`make physics`: drops tokens of every kind, counts them with the real controller, writes down what it measured."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import monotonic

from controller.counting import MS, Limits
from controller.learned import shown
from hardware.making import BUILD
from hardware.parameters import TEMPLE, Temple, Token
from hardware.physics.counting import band, count_tokens, counted, measured, scenario
from hardware.physics.drops import Batch, handful, singles
from hardware.rules import require

MEASURED = Path(__file__).with_name("measured.toml")
BATCH = 25
HANDS = 12
HAND = 5


def main() -> int:
    """Run it; returns 1 if a single drop was not counted exactly once."""
    parser = argparse.ArgumentParser(prog="make physics", description=__doc__)
    parser.add_argument("--tokens", type=int, default=125, help="of each kind, in batches of 25 (%(default)s)")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument(
        "--every", type=float, default=300, help="milliseconds from one drop to the next (%(default)g)"
    )
    parser.add_argument("--write", action="store_true", help=f"write {MEASURED.name} beside this program")
    given = parser.parse_args()
    temple = require(TEMPLE)
    begun = monotonic()
    alone = {kind: _singles(temple, kind, given) for kind in temple.tokens}
    every = [batch for batches in alone.values() for batch in batches]
    text = scenario(every, f"Single drops at least {given.every:g} ms apart")
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "single-drops.toml").write_text(text, "utf-8")
    outcome = count_tokens(text, Limits())
    dropped = sum(batch.dropped for batch in every)
    print(f"Single drops, {given.every:g} ms and more apart: {dropped} dropped, {counted(outcome)} counted")
    for kind, batches in alone.items():
        print("  " + _line(kind, batches))
    for complaint in outcome.complaints:
        print(f"  {complaint}")
    print(f"Handfuls of {HAND}, which no program can take apart:")
    hands = {kind: [handful(temple, kind, given.seed + n, HAND) for n in range(HANDS)] for kind in temple.tokens}
    for kind, batches in hands.items():
        total = counted(count_tokens(scenario(batches, "Handfuls"), band(alone[kind])))
        through = sum(batch.through for batch in batches)
        print(f"  {kind.name:<9} {HAND * HANDS} dropped, {through} came out, {total} counted")
    limits = band(every)
    learnt = ", ".join(f"{name} {value:g}" for name, value in shown(limits).items() if value)
    print(f"What calibrate would learn of all four kinds: {learnt}")
    print(f"It took {monotonic() - begun:.0f} s. Nothing here has been printed or measured with a real sensor yet.")
    if given.write:
        MEASURED.write_text("\n".join(_measured(given, alone, hands, limits)), "utf-8")
    return int(counted(outcome) != dropped or bool(outcome.complaints))


def _singles(temple: Temple, kind: Token, given: argparse.Namespace) -> list[Batch]:
    wanted = given.tokens
    batches: list[Batch] = []
    while wanted > 0:
        batches.append(singles(temple, kind, given.seed + len(batches), min(BATCH, wanted), given.every))
        wanted -= BATCH
    return batches


def _line(kind: Token, batches: list[Batch]) -> str:
    known = measured(batches)
    spells = sum(len(batch.spells) for batch in batches)
    dropped, through = sum(b.dropped for b in batches), sum(b.through for b in batches)
    return (
        f"{kind.name:<9} {dropped} dropped, {through} came out, {spells} dark spells of "
        f"{known.low_ns / MS:g} to {known.high_ns / MS:g} ms"
    )


def closest(batches: list[Batch]) -> float:
    """Return the least time that a beam was clear between two spells of one batch, in milliseconds."""
    return min(b.at_ms - a.at_ms - a.width_ms for batch in batches for a, b in pairwise(batch.spells))


def _measured(
    given: argparse.Namespace, alone: dict[Token, list[Batch]], hands: dict[Token, list[Batch]], limits: Limits
) -> Iterator[str]:
    yield "# What tokens did on paper in the default temple's chute; no print and no sensor has been measured yet."
    words = f"--tokens {given.tokens} --seed {given.seed} --every {given.every:g} --write"
    yield f'# Made by: make physics ARGS="{words}"'
    for kind, batches in alone.items():
        known = measured(batches)
        yield ""
        yield f'[kinds."{kind.name}"]'
        yield f"dropped = {sum(batch.dropped for batch in batches)}"
        yield f"spells = {sum(len(batch.spells) for batch in batches)}"
        yield f"low_ms = {known.low_ns / MS:g}"
        yield f"high_ms = {known.high_ns / MS:g}"
        yield f"clear_ms = {closest(batches):.1f} # the shortest between two tokens"
        yield f"handfuls = {{ dropped = {HAND * HANDS}, spells = {sum(len(b.spells) for b in hands[kind])} }}"
    yield ""
    yield "[limits] # what calibrate proposes for all four kinds together"
    for name, value in shown(limits).items():
        yield f"{name} = {value:g}"
    yield ""


if __name__ == "__main__":
    sys.exit(main())

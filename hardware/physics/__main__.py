"""`make physics`: drops tokens of every kind, counts them with the real controller, and records the measurements."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import nan
from time import monotonic

from controller.core.counting import MS, Limits
from controller.core.learned_limits import to_dict
from hardware import choices
from hardware.making import BUILD
from hardware.parameters import Temple, Token
from hardware.physics import below, controls, report, sensors
from hardware.physics.bowl import Hand, Offering, dropped, offering
from hardware.physics.counting import band, count_tokens, counted, scenario
from hardware.physics.drops import Batch, handful, seen, singles
from hardware.physics.heap import called_for, pour
from hardware.physics.optics import EASY
from hardware.rules import BrokenRulesError, require

BATCH = 25
HANDS = 12
HAND = 5
SIZES = (1, 3, 5, 7)
ALONE = 20
"""So many are dropped one by one through the bowl, with each seed."""
FRICTIONS = (0.2, 0.3, 0.4, 0.5)
SHORT_CLEAR = 2 * MS
"""What `min_clear` may be where no light falls through a token."""
HAND_SEEDS = (71_000, 72_000, 73_000)
BOWL_SEEDS = (99_000, 99_100, 99_200)
BEAD_10 = Token("bead 10", (10, 10, 10))
"""Heaps of it are measured too; in the chute it lies between the two other beads."""
HEAP_SEEDS = (84_000, 85_000, 86_000, 87_000, 88_000)
"""Not used in choosing any dimension."""
SLOW, QUICK, CARELESS = Hand(speed=100), Hand(speed=250), Hand(speed=400, off=8)
WANTED = 0.995
"""The share of single drops of a run that must be counted, by the worst receiver."""
NEXT_RUN = 1000
"""Between the seeds of two runs: more than a run has batches."""


def main() -> int:
    """Run it; returns 1 if fewer single drops were counted than `WANTED` says, or more than fell."""
    parser = _parser()
    given = parser.parse_args()
    if (given.write or given.controls) and choices.label(given):
        parser.error("what is kept is of the default temple")
    try:
        temple = require(choices.temple(given))
    except (BrokenRulesError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    if given.controls:
        return _print_rows(map(str, controls.write(temple)))
    if given.below is not None:
        return _print_rows(below.rows(temple, given.below))
    if given.sensors is not None:
        return _print_rows(sensors.rows(temple, given.sensors))
    if given.heaps is not None:
        words = f"--heaps {given.heaps}{' --level' * given.level}"
        name = "heaps-levelled.txt" if given.level else "heaps.txt"
        return _print_rows(_heaps(temple, given.heaps, level=given.level), words, name if given.write else "")
    if given.hands is not None:
        return _print_rows(_hands(temple, given.hands))
    if given.bowls is not None:
        words = f"--bowls {given.bowls}"
        return _print_rows(_bowls(temple, given.bowls), words, "bowls.txt" if given.write else "")
    begun = monotonic()
    tallies, alone = _runs(temple, given)
    hands = _handfuls(temple, alone, given.seed)
    _print_limits(
        temple, alone, "all four kinds" if given.bead is None else " and ".join(kind.name for kind in alone)
    )
    print(f"It took {monotonic() - begun:.0f} s. Nothing here has been printed or measured with a real sensor yet.")
    if given.write:
        command = f"--tokens {given.tokens} --seed {given.seed} --runs {given.runs} --every {given.every:g} --write"
        report.write(temple, command, tallies, alone, hands)
    return int(any(not WANTED * tally.dropped <= tally.counted <= tally.dropped for tally in tallies))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make physics", description=__doc__)
    parser.add_argument("--tokens", type=_number, default=125, help="of each kind, in batches of 25 (%(default)s)")
    parser.add_argument("--seed", type=partial(_number, least=0), default=20261122)
    parser.add_argument("--runs", type=_number, default=1, help="so many times, each with other seeds (%(default)s)")
    parser.add_argument(
        "--every",
        type=_milliseconds,
        default=80,
        help="milliseconds from one drop to the next, and up to a quarter more",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"write {report.MEASURED.name} beside this program, and docs/measurements/{report.RECORD.name}; with "
        "--heaps or --bowls keep that table alone, likewise in docs/measurements",
    )
    parser.add_argument(
        "--hands",
        type=_number,
        metavar="N",
        help="print only a table of handfuls, N of each size, kind, friction and seed",
    )
    parser.add_argument(
        "--bowls",
        type=_number,
        metavar="N",
        help="print only a table of hands that a finger sweeps out of a bowl over the shrine, N of each, as --hands, "
        f"and of {ALONE} tokens dropped through it one by one with each seed",
    )
    parser.add_argument(
        "--sensors",
        type=_number,
        metavar="N",
        help="print only tables of the sensors for modulated light: their light, and the limits by N of each kind",
    )
    parser.add_argument(
        "--heaps", type=_number, metavar="N", help="print only a table of how many of N fall on one side before a jam"
    )
    parser.add_argument(
        "--level",
        action="store_true",
        help="with --heaps: a finger pushes a heap to the back as often as the companion calls for it",
    )
    parser.add_argument(
        "--below",
        type=_number,
        metavar="N",
        help="print only a table of what a second beam follows and doubts: N batches of single tokens and N hands of "
        "each size, for each kind and friction",
    )
    parser.add_argument(
        "--controls",
        action="store_true",
        help="write hands, bowls and single tokens as scenarios that come with the controller",
    )
    choices.add_to(parser)
    return parser


def _number(text: str, least: int = 1) -> int:
    """Return the whole number that an argument gives; raises `ArgumentTypeError` for one under the least."""
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"it is {text!r}; expected a whole number from {least}")
    return int(text)


def _milliseconds(text: str) -> float:
    """Return the time that an argument gives; raises `ArgumentTypeError` unless it is from 1 to 10000."""
    try:
        found = float(text)
    except ValueError:
        found = nan
    if not 1 <= found <= 10_000:
        raise argparse.ArgumentTypeError(f"it is {text!r}; expected milliseconds from 1 to 10000")
    return found


def _print_rows(rows: Iterator[str], words: str = "", record: str = "") -> int:
    """Print rows as they come; with the name of a record, keep them there too once all are known."""
    found = []
    for row in rows:
        print(row, flush=True)
        found.append(row)
    if record:
        path = report.RECORD.with_name(record)
        path.write_text("\n".join([f'make physics ARGS="{words} --write"', "", *found, ""]), "utf-8")
    return 0


def _runs(temple: Temple, given: argparse.Namespace) -> tuple[list[report.Tally], dict[Token, list[Batch]]]:
    """Drop tokens one by one in every run; return what became of each run, and the batches of each kind."""
    tallies: list[report.Tally] = []
    alone: dict[Token, list[Batch]] = {kind: [] for kind in temple.tokens}
    for seed in range(given.seed, given.seed + NEXT_RUN * given.runs, NEXT_RUN):
        run = {kind: _singles(temple, kind, seed, given) for kind in temple.tokens}
        tallies.append(_tally(run, seed, given.every))
        for kind, batches in run.items():
            alone[kind] += batches
    for kind, batches in alone.items():
        print("  " + report.line(kind, batches))
    return tallies, alone


def _handfuls(temple: Temple, alone: report.Alone, seed: int) -> dict[Token, report.Hands]:
    """Let handfuls go, and count each kind by the limits that its single drops teach."""
    print(f"Handfuls of {HAND}, which no program can take apart:")
    hands: dict[Token, report.Hands] = {}
    for kind in temple.tokens:
        batches = [handful(temple, kind, seed + n, HAND) for n in range(HANDS)]
        total = counted(count_tokens(scenario(batches, "Handfuls"), band(alone[kind])))
        through = sum(batch.through for batch in batches)
        hands[kind] = report.Hands(HAND * HANDS, through, total)
        print(f"  {kind.name:<9} {HAND * HANDS} dropped, {through} came out, {total} counted")
    return hands


def _print_limits(temple: Temple, alone: report.Alone, taught: str) -> None:
    learnt = to_dict(band([batch for batches in alone.values() for batch in batches]))
    words = ", ".join(f"{name} {value:g}" for name, value in learnt.items() if value)
    print(f"What calibrate would learn of {taught}: {words}")
    for name, window in report.windows(temple, alone).items():
        print(f"  {name} may be {window}; the counter starts with {to_dict(Limits())[name]:g}")


def _hands(temple: Temple, number: int) -> Iterator[str]:
    """Yield a table of the share of tokens that is counted when handfuls of them are let go at once."""
    largest = SIZES[-1]
    yield (
        f"| token | friction | {' | '.join(f'handfuls of {size}' for size in SIZES)} "
        f"| of {largest}, {SHORT_CLEAR / MS:g} ms clear "
        f"| of {largest}, barely driven | barely driven, {SHORT_CLEAR / MS:g} ms clear | stood still |"
    )
    yield "|---|---:|" + "---:|" * (len(SIZES) + 4)
    for kind in temple.tokens:
        for friction in FRICTIONS:
            cells, still = [], 0
            for size in SIZES:
                batches = [
                    handful(temple, kind, seed + n, size, friction) for seed in HAND_SEEDS for n in range(number)
                ]
                of = f"of {size * len(batches)}"
                cells.append(f"{counted(count_tokens(scenario(batches), Limits()))} {of}")
                still += sum(batch.through < batch.dropped for batch in batches)
            short = replace(Limits(), min_clear=SHORT_CLEAR)
            easy = [seen(temple, batch, EASY) for batch in batches]
            for drops, limits in ((batches, short), (easy, Limits()), (easy, short)):
                cells.append(f"{counted(count_tokens(scenario(drops), limits))} {of}")
            cells.append(f"{still} of {number * len(HAND_SEEDS) * len(SIZES)} handfuls")
            yield f"| {kind.name} | {friction:g} | {' | '.join(cells)} |"


def _bowls(temple: Temple, number: int) -> Iterator[str]:
    """Yield a table of the tokens that are counted when a finger sweeps hands of them out of the bowl."""
    others = {f"{hand.speed:g} mm/s": hand for hand in (SLOW, QUICK, CARELESS)}
    yield (
        f"| token | friction | {' | '.join(f'hands of {size}' for size in SIZES)} | of {SIZES[-1]}, barely driven "
        f"| fell by themselves | left in the bowl | over its wall | s "
        f"| {' | '.join(others)} | dropped one by one | came out |"
    )
    yield "|---|---:|" + "---:|" * (len(SIZES) + 7 + len(others))
    for kind in temple.tokens:
        for friction in FRICTIONS:

            def sweep(size: int, hand: Hand, kind: Token = kind, friction: float = friction) -> list[Offering]:
                seeds = [seed + n for seed in BOWL_SEEDS for n in range(number)]
                return [offering(temple, kind, seed, size, friction, hand) for seed in seeds]

            cells = []
            for size in SIZES:
                hands = sweep(size, Hand())
                cells.append(_counted([each.batch for each in hands]))
            cells.append(_counted([seen(temple, each.batch, EASY) for each in hands]))
            cells += [str(sum(getattr(each, name) for each in hands)) for name in ("rolled", "left", "out")]
            cells.append(f"{sum(each.lasted_s for each in hands) / len(hands):.1f}")
            cells += [_counted([each.batch for each in sweep(SIZES[-1], hand)]) for hand in others.values()]
            alone = [dropped(temple, kind, seed, ALONE, friction) for seed in BOWL_SEEDS]
            cells += [_counted(alone), str(sum(batch.through for batch in alone))]
            yield f"| {kind.name} | {friction:g} | {' | '.join(cells)} |"


def _counted(batches: list[Batch]) -> str:
    """Return how many of how many tokens the counter counts by the limits that it starts with."""
    return f"{counted(count_tokens(scenario(batches), Limits()))} of {sum(batch.dropped for batch in batches)}"


def _heaps(temple: Temple, number: int, *, level: bool) -> Iterator[str]:
    """Yield a table of how many tokens one half of the lake takes before one stands in the chute."""
    seeds = " | ".join(f"seed {seed}" for seed in HEAP_SEEDS)
    yield f"| token | friction | levelled after | {seeds} | level, half the lake holds |"
    yield "|---|---:|---:|" + "---:|" * (len(HEAP_SEEDS) + 1)
    kinds = temple.tokens if len(temple.tokens) == 1 else (*temple.tokens, BEAD_10)
    for kind in kinds:
        for friction in FRICTIONS:
            every = called_for(kind) if level else None
            heaps = [pour(temple, kind, seed, number, friction, every) for seed in HEAP_SEEDS]
            cells = " | ".join(map(str, heaps))
            yield f"| {kind.name} | {friction:g} | {every or 'never'} | {cells} | {temple.holds(kind) // 2} |"


def _singles(temple: Temple, kind: Token, seed: int, given: argparse.Namespace) -> list[Batch]:
    wanted = given.tokens
    batches: list[Batch] = []
    while wanted > 0:
        batches.append(singles(temple, kind, seed + len(batches), min(BATCH, wanted), given.every))
        wanted -= BATCH
    return batches


def _tally(run: dict[Token, list[Batch]], seed: int, every: float) -> report.Tally:
    """Count one run with the controller, keep its scenario, and say what became of it."""
    batches = [batch for kind in run.values() for batch in kind]
    text = scenario(batches, f"Single drops at least {every:g} ms apart, seed {seed}")
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / f"single-drops-{every:g}-ms-{seed}.toml"
    path.write_text(text, "utf-8")
    outcome = count_tokens(text, Limits())
    dropped, total = sum(batch.dropped for batch in batches), counted(outcome)
    print(f"Single drops, {every:g} ms and more apart, seed {seed}: {dropped} dropped, {total} counted", flush=True)
    for complaint in outcome.complaints:
        print(f"  {complaint}")
    return report.Tally(seed, dropped, total, len(outcome.complaints))


if __name__ == "__main__":
    sys.exit(main())

"""Compares this tree with the tree of a git revision, alternating in one run: how much faster or slower it is.

``python -m bench against REVISION``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.against.comparison import Comparison, Sample, compared
from bench.against.measurements import Drive, Instructions, Measurement, Playouts, Posts, Repaint, Sittings, Sustained
from bench.tools import trees
from bench.tools.figures import table
from bench.tools.programs import THIS_TREE, BenchError, Programs, Tree


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the comparison: what measures it, the flag that says how much of it, and what its figures mean."""

    measurement: Callable[[Programs, ExitStack, Any], Measurement]
    flag: str
    note: str
    rounds: int | None = None
    """How many are enough, where the command line does not matter."""


PARTS: Mapping[str, Part] = {
    "drive": Part(
        Drive,
        "tokens",
        "Drive to subscriber: unchanged controllers over mock pins, each with a mosquitto of its own.",
    ),
    "sustained": Part(
        Sustained, "burst", "Sustained: from the first edge until the companion has acknowledged the last token."
    ),
    "posts": Part(Posts, "posts", "Posts: one phone with all four seats of a Mexica table ends turn after turn."),
    "playouts": Part(
        Playouts,
        "playouts",
        "Playouts: random moves at the largest table, dice and cards among them, with the same seed.",
    ),
    "repaint": Part(
        Repaint, "repaint", "A token at a full table: stored, and painted for four phones and a table screen."
    ),
    "sittings": Part(
        Sittings, "sittings", "Sittings: whole games of the classic preset, the same seeds on both sides."
    ),
    "instructions": Part(
        Instructions, "rest", "Instructions: what the programs execute, counted by Valgrind in one round.", rounds=1
    ),
}
USUAL = tuple(name for name in PARTS if name != "instructions")
"""Counting takes many minutes: it is done when it is named."""

GROWTH = 1.03
"""Instructions grew where there are more than so many times the other tree's."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 2 where a measurement could not be taken."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if unknown := [part for part in arguments.parts if part not in PARTS]:
        parser.error(f"part is {unknown[0]!r}; expected {', '.join(PARTS)}")
    check_sizes(parser, arguments)
    found: dict[str, list[Comparison]] = {}
    failed = False
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            other = trees.of_revision(arguments.revision, Path(folder) / "tree")
            for name in arguments.parts or USUAL:
                print(f"measuring {name} ...", flush=True)
                part = PARTS[name]
                size = getattr(arguments, part.flag)
                try:
                    found[name] = _alternated(part, size, other, Path(folder) / name, part.rounds or arguments.rounds)
                except BenchError as error:
                    failed = True
                    print(f"bench: {name} cannot be measured: {error}", file=sys.stderr)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if not found:
        return 2
    _print_table(found, other, arguments.rounds)
    return 2 if failed else 0


def check_sizes(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """End with a usage error if a flag asks for none of what it counts."""
    for name, given in vars(arguments).items():
        for size in given if isinstance(given, list | tuple) else [given]:
            if isinstance(size, int | float) and size is not False and not size > 0:
                parser.error(f"--{name} is {size:g}; expected more than 0")


def _print_table(found: Mapping[str, Sequence[Comparison]], other: Tree, rounds: int) -> None:
    head = ("figure", "unit", THIS_TREE.name, other.name, "ratio", "of single rounds", "better")
    print(f"\n{table(head, [each.cells for part in found.values() for each in part], left=(0, 1, 6))}\n")
    print(f"Medians of {rounds} rounds by turns; the ratio is this tree to {other.name}, round by round.")
    print("\n".join(PARTS[name].note for name in found))
    if "instructions" in found:
        print(grown(found["instructions"]))


def grown(figures: Sequence[Comparison]) -> str:
    """Return a sentence that names the figures of instructions that grew."""
    names = [each.figure.what for each in figures if each.ours > GROWTH * each.theirs]
    return f"Grew by more than {GROWTH - 1:.0%}: {'; '.join(names) or 'none'}."


def _alternated(part: Part, size: float, other: Tree, folder: Path, rounds: int) -> list[Comparison]:
    """Start the programs of both trees and measure them alternately; each round begins with the other tree."""
    samples: dict[str, list[Sample]] = {"ours": [], "theirs": []}
    with ExitStack() as scope:
        sides: dict[str, Measurement] = {}
        for side, tree in (("ours", THIS_TREE), ("theirs", other)):
            programs = scope.enter_context(Programs(folder / side, tree))
            sides[side] = part.measurement(programs, scope, size)
        for order in _orders(rounds):
            for side in order:
                samples[side].append(sides[side].round())
    return compared(samples["ours"], samples["theirs"])


def _orders(rounds: int) -> Iterator[Sequence[str]]:
    for n in range(rounds):
        yield ("theirs", "ours") if n % 2 else ("ours", "theirs")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make bench ARGS=against",
        description="Compares this tree with that of a git revision, alternating in one run.",
    )
    parser.add_argument("revision", metavar="REVISION", help="a commit, tag or branch of this clone")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"which parts, by default all of {', '.join(USUAL)}; or instructions"
    )
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each part (%(default)s)")
    parser.add_argument("--tokens", type=int, default=60, help="drive: tokens a side and round (%(default)s)")
    parser.add_argument("--burst", type=int, default=1500, help="sustained: tokens a side and round (%(default)s)")
    parser.add_argument("--posts", type=int, default=100, help="posts: moves a side and round (%(default)s)")
    parser.add_argument(
        "--playouts", type=float, default=0.2, help="playouts: CPU seconds a side, round and preset (%(default)s)"
    )
    parser.add_argument("--repaint", type=int, default=40, help="repaint: tokens a side and round (%(default)s)")
    parser.add_argument("--sittings", type=int, default=40, help="sittings: games a side and round (%(default)s)")
    parser.add_argument(
        "--rest", type=float, default=30, metavar="S", help="instructions: seconds without tokens (%(default)s)"
    )
    parser.add_argument(
        "--starts", action="store_const", const=None, dest="rest", help="instructions: those of starts alone"
    )
    return parser

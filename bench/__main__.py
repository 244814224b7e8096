"""The benchmarks' command line: takes the measurements one after another and prints them in one table."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.against import command_line as against
from bench.club import hosted, scale, start
from bench.counted import instructions
from bench.games import players, playouts, repaint, seer, sittings
from bench.temple import backlog, card, footprint, latency, outage, pixels, throughput
from bench.tools.figures import Chapter, written
from bench.tools.programs import BenchError, Programs
from bench.web import hostile, pages, spectators

PARTS = (
    "latency",
    "throughput",
    "outage",
    "backlog",
    "pages",
    "pixels",
    "rest",
    "playouts",
    "repaint",
    "sittings",
    "spectators",
    "start",
    "card",
)
RECORDS = Path(__file__).resolve().parents[1] / "docs" / "measurements"
"""Where `record` writes what a run printed: a file for each part, of its latest run."""

ASKED_FOR = ("players", "seer", "hosted", "hostile", "scale", "instructions")
"""Measurements that take minutes; they run only when they are named."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 2 where a measurement could not be taken. A missed target is shown, no error."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["against"]:
        return against.main(argv[1:])
    records = argv[:1] == ["record"]
    parser = _parser()
    arguments = parser.parse_args(argv[records:])
    if unknown := [part for part in arguments.parts if part not in (*PARTS, *ASKED_FOR)]:
        parser.error(f"part is {unknown[0]!r}; expected {', '.join((*PARTS, *ASKED_FOR))}")
    against.check_sizes(parser, arguments)
    if (least := min(arguments.past)) < len(start.GAMES):
        parser.error(f"--past is {least}; expected {len(start.GAMES)} or more, one of each game")
    if arguments.clubs < 1:
        parser.error(f"--clubs is {arguments.clubs}; expected 1 or more")
    if not 0 < arguments.tables <= scale.MOST_TABLES:
        parser.error(f"--tables is {arguments.tables}; expected 1 to {scale.MOST_TABLES}")
    if not 0 < arguments.temples <= arguments.drained or arguments.drained < scale.LONE_SHARE:
        parser.error(
            f"--drained is {arguments.drained} with --temples {arguments.temples}; expected a token for each temple,"
            f" and {scale.LONE_SHARE} or more"
        )
    measures = _measures(arguments)
    chapters = []
    began = time.monotonic()
    try:
        for part in arguments.parts or PARTS:
            print(f"measuring {part} ...", flush=True)
            with tempfile.TemporaryDirectory(prefix="bench-") as folder, Programs(Path(folder)) as programs:
                chapters.append(measures[part](programs))
            if records:
                print(f"wrote {record(part, argv[1:], chapters[-1])}", flush=True)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(f"\n{_machine()}; {time.monotonic() - began:.0f} s\n")
    print(written(chapters))
    return 0


def record(part: str, given: Sequence[str], chapter: Chapter) -> Path:
    """Write what a part measured into its file among the documents, in place of what was there; return the file."""
    flags = [word for word in given if word not in (*PARTS, *ASKED_FOR)]
    command = f'make bench ARGS="{" ".join([part, *flags])}"'
    file = RECORDS / f"{part}.txt"
    file.write_text(f"{command}\n{_machine()}\n\n{written([chapter])}\n", "utf-8")
    return file


def _measures(arguments: argparse.Namespace) -> dict[str, Callable[[Programs], Chapter]]:
    """Return what takes each measurement, of the size that the flags say."""
    return {
        "latency": lambda programs: latency.measure(programs, arguments.rounds, arguments.tokens),
        "throughput": lambda programs: throughput.measure(programs, arguments.burst, arguments.sustained),
        "outage": outage.measure,
        "backlog": lambda programs: backlog.measure(programs, arguments.backlog),
        "pages": lambda programs: pages.measure(programs, arguments.pages),
        "pixels": lambda programs: pixels.measure(programs, arguments.changes, arguments.phones),
        "rest": lambda programs: footprint.measure(programs, arguments.rest, arguments.phones),
        "card": lambda programs: card.measure(programs, arguments.rest),
        "hostile": lambda programs: hostile.measure(programs, arguments.attack),
        "hosted": lambda programs: hosted.measure(programs, arguments.clubs),
        "playouts": lambda _: playouts.measure(arguments.playouts),
        "spectators": lambda programs: spectators.measure(programs, arguments.streams),
        "start": lambda _: start.measure(arguments.past),
        "repaint": lambda _: repaint.measure(arguments.repaint),
        "sittings": lambda _: sittings.measure(arguments.sittings),
        "scale": lambda programs: scale.measure(
            programs,
            scale.Size(arguments.tables, arguments.posts, arguments.drained, arguments.temples),
            arguments.only or scale.PARTS,
        ),
        "instructions": lambda programs: instructions.measure(programs, None if arguments.starts else arguments.rest),
        "players": lambda _: players.measure(arguments.games, arguments.preset or players.PRESETS),
        "seer": lambda _: seer.measure(arguments.games, arguments.preset or players.PRESETS),
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make bench",
        description="Measures the temple beside comparable programs.",
        epilog="'record' before the parts also writes what is printed into docs/measurements, in place of the last."
        " 'against REVISION' compares it with an earlier version of itself; see 'against --help'."
        " 'python -m bench.counted.flames' draws where the time of a companion goes.",
    )
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"which parts, by default all of {', '.join(PARTS)}; or {', '.join(ASKED_FOR)}",
    )
    parser.add_argument("--rounds", type=int, default=10, help="latency: rounds of turns (%(default)s)")
    parser.add_argument("--tokens", type=int, default=50, help="latency: tokens a side and round (%(default)s)")
    parser.add_argument("--burst", type=int, default=5000, help="throughput: tokens at once (%(default)s)")
    parser.add_argument("--sustained", type=float, default=10, help="throughput: steady seconds (%(default)s)")
    parser.add_argument("--backlog", type=int, default=100_000, help="backlog: tokens that waited (%(default)s)")
    parser.add_argument("--pages", type=int, default=100, help="pages: requests of a round (%(default)s)")
    parser.add_argument("--changes", type=int, default=200, help="pixels: tokens (%(default)s)")
    parser.add_argument("--phones", type=int, default=40, help="pixels, rest: phones (%(default)s)")
    parser.add_argument(
        "--rest", type=float, default=30, help="rest, card, instructions: seconds without tokens (%(default)s)"
    )
    parser.add_argument("--starts", action="store_true", help="instructions: those of starts alone")
    parser.add_argument("--playouts", type=float, default=2, help="playouts: seconds a side and game (%(default)s)")
    parser.add_argument(
        "--streams",
        type=int,
        nargs="+",
        default=(40, 500, 2_000),
        metavar="N",
        help="spectators (40 500 2000)",
    )
    parser.add_argument(
        "--past", type=int, nargs="+", default=(200, 2_000), metavar="N", help="start: games over (200 2000)"
    )
    parser.add_argument("--repaint", type=int, default=60, help="repaint: tokens given (%(default)s)")
    parser.add_argument("--sittings", type=int, default=1000, help="sittings: games of app players (%(default)s)")
    parser.add_argument("--attack", type=float, default=15, help="hostile: seconds of each attack (%(default)s)")
    parser.add_argument("--clubs", type=int, default=8, help="hosted: clubs on one machine (%(default)s)")
    parser.add_argument("--only", action="append", choices=scale.PARTS, help="scale: one part, may be repeated")
    parser.add_argument("--tables", type=int, default=100, help="scale: tables that are posted at (%(default)s)")
    parser.add_argument("--posts", type=int, default=1_000, help="scale: posts over them (%(default)s)")
    parser.add_argument(
        "--temples", type=int, default=50, help="scale: temples with a backlog or phones (%(default)s)"
    )
    parser.add_argument("--drained", type=int, default=20_000, help="scale: tokens that waited (%(default)s)")
    parser.add_argument("--games", type=int, default=500, help="players, seer: games with each preset (%(default)s)")
    parser.add_argument(
        "--preset",
        action="append",
        choices=players.PRESETS,
        help="players, seer: a preset, may be repeated (all of them)",
    )
    return parser


def _machine() -> str:
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith(("model name", "Model"))
        ),
        platform.machine(),
    )
    load = os.getloadavg()[0]
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {os.cpu_count()} cores of {model}, Linux {platform.release()},"
        f" Python {platform.python_version()}, load {load:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())

"""The weight and printing time of each part, from a real run of PrusaSlicer, and the table of parts."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hardware.catalogue import BLACK, COLOURS, Piece
from hardware.making import Workshop

PRICE = 22.0
"""Euros for a kilogram of PLA: roughly, in 2026."""
WASTE = 0.1
KILOGRAM, SMALL = 1000.0, 250.0
"""Grams on the spools that are sold."""
MANY = 10.0
"""Hours of a sum that needs no tenths."""
PROFILE = {
    "layer-height": "0.2",
    "first-layer-height": "0.2",
    "nozzle-diameter": "0.4",
    "filament-diameter": "1.75",
    "filament-density": "1.24",
    "perimeters": "2",
    "fill-density": "12%",
    "fill-pattern": "gyroid",
    "top-solid-layers": "4",
    "bottom-solid-layers": "4",
    "perimeter-speed": "50",
    "external-perimeter-speed": "35",
    "infill-speed": "70",
    "solid-infill-speed": "60",
    "travel-speed": "130",
    "bed-shape": "0x0,220x0,220x220,0x220",
    "temperature": "210",
    "bed-temperature": "60",
    "skirts": "1",
    "center": "110,110",
}
"""An ordinary printer with an ordinary profile; nothing in it is fast."""
FAST = PROFILE | {
    "gcode-flavor": "marlin2",
    "perimeter-speed": "200",
    "external-perimeter-speed": "150",
    "infill-speed": "270",
    "solid-infill-speed": "220",
    "top-solid-infill-speed": "150",
    "gap-fill-speed": "150",
    "bridge-speed": "50",
    "travel-speed": "400",
    "max-volumetric-speed": "20",
    "slowdown-below-layer-time": "6",
    "default-acceleration": "5000",
    "machine-max-acceleration-extruding": "10000",
    "machine-max-acceleration-travel": "10000",
    "machine-max-acceleration-x": "10000",
    "machine-max-acceleration-y": "10000",
    "machine-max-feedrate-x": "500",
    "machine-max-feedrate-y": "500",
}
"""The same plastic on a printer of the fast kind: such as its makers' profiles for 0.2 mm.

PrusaSlicer heeds a machine's limits only for a firmware that has them: with its default all would accelerate alike.
"""
_HEAD = (
    "| part | copies | colour | grams | hours | hours, fast | cost | files |",
    "|---|---:|---|---:|---:|---:|---:|---|",
)
_GRAMS = re.compile(r"^; total filament used \[g\] = ([\d.]+)", re.MULTILINE)
_LITRES = re.compile(r"^; filament used \[cm3\] = ([\d.]+)", re.MULTILINE)
_TIME = re.compile(r"^; estimated printing time \(normal mode\) = (.+)$", re.MULTILINE)
_UNITS = {"d": 24.0, "h": 1.0, "m": 1 / 60, "s": 1 / 3600}


class SlicerError(Exception):
    """The slicer is missing or failed."""


@dataclass(frozen=True)
class Slice:
    """One copy of a part: grams of PLA and hours on the printer, an ordinary one or a fast one."""

    grams: float
    hours: float
    fast: float = 0.0


def both(workshop: Workshop, piece: Piece) -> Slice:
    """Slice a part for an ordinary printer and for a fast one."""
    stl, gcode = workshop.stl(piece), workshop.folder / "gcode"
    slow = cut(stl, gcode / f"{piece.name}.gcode")
    fast = cut(stl, gcode / f"{piece.name}-fast.gcode", FAST)
    return Slice(slow.grams, slow.hours, fast.hours)


def cut(stl: Path, gcode: Path, profile: Mapping[str, str] = PROFILE) -> Slice:
    """Slice one file; raises `SlicerError` with the end of the slicer's output."""
    program = shutil.which("prusa-slicer")
    if program is None:
        raise SlicerError("prusa-slicer is not there: tests/system-packages hardware brings it")
    gcode.parent.mkdir(parents=True, exist_ok=True)
    options = [word for key, value in profile.items() for word in (f"--{key}", value)]
    done = subprocess.run(
        [program, "--export-gcode", *options, "--output", str(gcode), str(stl)],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=900,
        check=False,
    )
    if done.returncode or not gcode.exists():
        raise SlicerError(f"{stl.name}: {(done.stderr or done.stdout).strip()[-300:]}")
    return read(gcode.read_text("utf-8", errors="replace"))


def read(text: str) -> Slice:
    """Return what the slicer wrote into its G-code."""
    volume, time = _LITRES.search(text), _TIME.search(text)
    if not volume or not time:
        raise SlicerError("the G-code does not say how much filament and how long")
    return Slice(float(volume[1]) * float(PROFILE["filament-density"]), hours(time[1]))


def hours(words: str) -> float:
    """Return ``1d 2h 3m 4s`` in hours."""
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([dhms])", words))


def table(workshop: Workshop, kit: Iterable[Piece]) -> Iterator[str]:
    """Slice every part, and yield the table in Markdown; choices come after what everybody prints."""
    kit = list(kit)
    slices = []
    by_colour: dict[str, float] = {}
    yield from _HEAD
    for piece in kit:
        if not piece.chosen:
            continue
        one = both(workshop, piece)
        slices.append(times(one, piece.number))
        by_colour[piece.colour] = by_colour.get(piece.colour, 0.0) + one.grams * piece.number
        yield _row(piece, one)
    grams, time, fast = (
        sum(each) for each in zip(*((one.grams, one.hours, one.fast) for one in slices), strict=True)
    )
    cost = grams * PRICE / 1000
    yield f"| **all** | | | **{grams:.0f}** | **{_hours(time)}** | **{_hours(fast)}** | **{cost:.2f}** | |"
    for title, others in (
        (
            "Alternatives to chute, coupon and tray above, by your sensors and controller, and holders for sensors:",
            [piece for piece in kit if not piece.chosen and not piece.optional],
        ),
        (
            "Optional, not in the sums: racks, and [a bowl for each shrine](build.md#bowls-for-handfuls):",
            [piece for piece in kit if piece.optional],
        ),
    ):
        if not others:
            continue
        yield from ("", title, "", *_HEAD)
        for piece in others:
            yield _row(piece, both(workshop, piece))
    yield from spools(by_colour)


def spools(grams: Mapping[str, float]) -> Iterator[str]:
    """Yield what filament to buy, by colour, with what is lost to skirts, purging and a part that fails."""
    yield from (
        "",
        f"Filament by colour, with {WASTE * 100:.0f} % more for skirts, purging and a part that fails:",
        "",
    )
    yield from ("| colour | grams | spools |", "|---|---:|---|")
    names = {COLOURS[colour]: weight * (1 + WASTE) for colour, weight in grams.items()}
    for name, weight in names.items():
        yield f"| {name} | {weight:.0f} | {_spool(weight)} |"
    black = COLOURS[BLACK]
    rest = sum(weight for name, weight in names.items() if name != black)
    yield ""
    yield (
        f"That is {len(names)} colours, and most of the filament is left over. In two, matt black for chutes and "
        f"coupon and one for everything else, it takes {_spool(names.get(black, 0.0))} of the first, "
        f"and {_spool(rest)} of the other."
    )


def _hours(time: float) -> str:
    """Return hours as a sum says them: whole where they are many.

    >>> _hours(3.72), _hours(38.6)
    ('3.7', '39')
    """
    return f"{time:.0f}" if time >= MANY else f"{time:.1f}"


def _spool(grams: float) -> str:
    whole, left = divmod(grams, KILOGRAM)
    if 0 < left <= SMALL:
        return " and ".join([*([f"{whole:.0f} of 1 kg"] if whole else []), f"one of {SMALL:.0f} g"])
    return f"{whole + (left > 0):.0f} of 1 kg" if whole + (left > 0) > 1 else "one of 1 kg"


def times(one: Slice, number: int) -> Slice:
    """Return what so many copies take."""
    return Slice(one.grams * number, one.hours * number, one.fast * number)


def _row(piece: Piece, one: Slice) -> str:
    all_ = times(one, piece.number)
    return (
        f"| {piece.name.replace('_', ' ')} | {piece.number} | {COLOURS[piece.colour]} | {all_.grams:.0f} "
        f"| {all_.hours:.1f} | {all_.fast:.1f} | {all_.grams * PRICE / 1000:.2f} | `{piece.name}` |"
    )

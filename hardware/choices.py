"""The choices that a maker gives on the command line, and the temple that follows from them."""

from __future__ import annotations

import argparse
from dataclasses import fields, is_dataclass, replace
from math import isfinite
from typing import Any, TypeVar

from hardware.parameters import (
    BEADS,
    CONTROLLERS,
    SENSORS,
    TEMPLE,
    Temple,
    deep,
    fitting,
    lowered,
    on_feet,
    see_through,
)

Value = TypeVar("Value")


def add_to(parser: argparse.ArgumentParser) -> None:
    """Give a parser the options that choose a temple."""
    parser.add_argument(
        "--deep",
        action="store_true",
        help="a deep lake: 260 tokens may fall on one side without a hand that levels them; with --bead as deep as "
        "those beads need",
    )
    parser.add_argument(
        "--feet",
        action="store_true",
        help="for a board that stands on feet of 24 mm, so that the lake lies lower in it",
    )
    parser.add_argument(
        "--clear", action="store_true", help="a low shore with a groove, for a strip of clear foil on it"
    )
    parser.add_argument(
        "--bead",
        type=int,
        choices=BEADS,
        metavar="MM",
        help=f"a temple for round beads of {BEADS[0]} to {BEADS[-1]} mm, all of one size, and no others; it is lower "
        "where their heap lets it",
    )
    parser.add_argument("--sensor", choices=SENSORS, help="the kind of light barrier in the chutes")
    parser.add_argument(
        "--controller", choices=[each.name for each in CONTROLLERS], help="what the tray holds beside the strip"
    )
    parser.add_argument("--bed", metavar="XxY[xZ]", help="the printer's room, such as 180x180 or 250x210x210")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a size by its name in hardware/parameters.py, such as --set slope=28, --set bowl.rim=20, "
        "--set sensor.length=22 or --set slot=17.4,17; may be given again and again",
    )


def temple(given: argparse.Namespace) -> Temple:
    """Return the temple of these choices; raises `ValueError` for a bed or a size that cannot be read."""
    found = TEMPLE
    if given.deep:
        found = deep(found, given.bead)
    elif given.bead:
        found = lowered(found, given.bead)
    if given.feet:
        found = on_feet(found)
    if given.clear:
        found = see_through(found)
    found = fitting(given.bead, found)
    if given.sensor:
        found = replace(found, sensor=SENSORS[given.sensor])
    if given.controller:
        found = replace(found, controller=given.controller)
    if given.bed:
        found = replace(found, bed=replace(found.bed, **_bed(given.bed)))
    for words in given.set:
        name, equals, value = words.partition("=")
        if not equals:
            raise ValueError(f"--set: it is {words!r}; expected NAME=VALUE")
        found = changed(found, name.strip(), value.strip())
    return found


def label(given: argparse.Namespace) -> str:
    """Return the choices as the name of a folder, empty for the default temple."""
    words = ["deep"] * given.deep + ["feet"] * given.feet + ["clear"] * given.clear
    words += [f"bead-{given.bead}"] if given.bead else []
    words += [each for each in (given.sensor, given.controller, given.bed) if each]
    words += [each.replace("=", "-").replace("/", "") for each in given.set]
    return "-".join(words)


def changed(value: Value, name: str, text: str, whole: str = "") -> Value:
    """Return a value with another size; raises `ValueError` for a name or a size that is not one.

    >>> changed(TEMPLE, "bowl.rim", "20").bowl.rim
    20.0
    """
    whole = whole or name
    first, _, rest = name.partition(".")
    sizes = {each.name: getattr(value, each.name) for each in fields(value) if _is_size(getattr(value, each.name))}  # type: ignore[arg-type]
    if first not in sizes or bool(rest) != is_dataclass(sizes[first]):
        raise ValueError(f"--set {whole}: there is no such size; expected one of {', '.join(sorted(sizes))}")
    old = sizes[first]
    new = changed(old, rest, text, whole) if rest else _read(old, text, whole)
    return replace(value, **{first: new})  # type: ignore[type-var]


def _is_size(value: object) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(isinstance(each, int | float) for each in value)
    return is_dataclass(value) or (isinstance(value, int | float) and not isinstance(value, bool))


def _read(old: Any, text: str, name: str) -> Any:
    """Return a size like an old one: a number, or as many numbers."""
    try:
        numbers = tuple(float(each) for each in text.split(","))
    except ValueError:
        numbers = ()
    count = len(old) if isinstance(old, tuple) else 1
    if len(numbers) != count or not all(map(isfinite, numbers)):
        raise ValueError(f"--set {name}: it is {text!r}; expected {count} number{'s' * (count > 1)}")
    if isinstance(old, tuple):
        return numbers
    if isinstance(old, int) and not numbers[0].is_integer():
        raise ValueError(f"--set {name}: it is {text!r}; expected a whole number")
    return int(numbers[0]) if isinstance(old, int) and not isinstance(old, float) else numbers[0]


def _bed(text: str) -> dict[str, float]:
    try:
        sizes = [float(each) for each in text.lower().split("x")]
    except ValueError:
        sizes = []
    if len(sizes) not in (2, 3) or not all(isfinite(size) and size > 0 for size in sizes):
        raise ValueError(f"--bed: it is {text!r}; expected 180x180 or 250x210x210, in millimetres")
    return dict(zip("xyz", sizes, strict=False))

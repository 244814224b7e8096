"""The starter's breadboard: which lead, resistor and wire goes into which hole, by the wiring of a Pico W.

The Pico stands over the ravine in columns c and h, its USB plug beyond row 1. The rails on its left are 5 V and
ground, those on its right 3.3 V and ground.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hardware.wiring.boards import BOARDS
from hardware.wiring.joins import GODS, GUARD, HALVES, NAMES, PULL_UP, Wiring, wiring

PINS = 20
"""On each side of a Pico: 1 to 20 down its left side, 21 to 40 up its right side."""
ROWS = 30
STRONG, LOGIC = "left +", "right +"
GROUNDS = ("left −", "right −")
FREE = {GODS[0]: (22, 25), GODS[1]: (26, 29)}
"""The rows beyond the Pico on which each god's signal comes from the board, and where the receiver's goes in."""
KINDS = {"lead": "lead", "guard": f"resistor, {GUARD}", "pull": f"resistor, {PULL_UP}", "sensor": "sensor's wire"}
_COLOURS = {
    "BK": "#231815", "RD": "#b0202a", "OG": "#d9752b", "YE": "#d9a92b", "BU": "#2f7f9e", "WH": "#9a9da3"
}  # fmt: skip


@dataclass(frozen=True)
class Link:
    """What joins two holes, or a sensor's wire and a hole: its kind, both ends and a colour."""

    kind: str
    start: str
    end: str
    what: str
    colour: str


def row(pin: str) -> int:
    """Return the row of a pin on the Pico's right side, by its name on the board.

    >>> row("pin 40 (VBUS, 5 V)"), row("pin 21 (GP16)")
    (1, 20)
    """
    number = int(re.match(r"pin (\d+)", pin)[1])  # type: ignore[index]  # every pin of a Pico is named so
    if not PINS < number <= 2 * PINS:
        raise ValueError(f"pin is {pin!r}; expected one on the Pico's right side, {PINS + 1} to {2 * PINS}")
    return 2 * PINS + 1 - number


def links(joined: Wiring | None = None) -> Iterator[Link]:
    """Yield everything that is plugged in: six leads, four resistors, and the sensors' wires."""
    joined = joined or wiring(BOARDS["pico"])
    board = joined.board
    yield Link("lead", f"j{row(board.strong)}", STRONG, board.strong, "RD")
    yield Link("lead", f"j{row(board.logic)}", LOGIC, board.logic, "OG")
    yield Link("lead", f"j{row(board.ground)}", GROUNDS[1], board.ground, "BK")
    yield Link("lead", GROUNDS[1], GROUNDS[0], "ground", "BK")
    for god, colour in zip(GODS, ("BU", "YE"), strict=True):
        near, _ = FREE[god]
        pin = board.numbers[joined.signals[god]]
        yield Link("lead", f"j{row(pin)}", f"j{near}", f"{pin}, {NAMES[god]}", colour)
    for god in GODS:
        near, far = FREE[god]
        yield Link("guard", f"g{near}", f"g{far}", NAMES[god], "WH")
        yield Link("pull", f"i{far}", LOGIC, NAMES[god], "WH")
    rails = {"5 V": STRONG, "3.3 V": LOGIC}
    for god in GODS:
        for half in HALVES:
            ground = GROUNDS[half == "receiver"]
            for wire in joined.to(god, half):
                end = rails.get(wire.start[1], ground if wire.start[1] == "ground" else f"f{FREE[god][1]}")
                yield Link("sensor", f"{wire.end[0]}, {wire.end[1]}", end, "", wire.colour)


def table() -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| what | from | to | for |"
    yield "|---|---|---|---|"
    for each in links():
        yield f"| {KINDS[each.kind]} | {each.start} | {each.end} | {each.what} |"


PITCH = 12.0
"""Of the holes, in the drawing."""
_COLUMNS = {name: n + (2 if n > 4 else 0) for n, name in enumerate("abcdefghij")}
_RAILS = {"left −": -3.5, "left +": -2.5, "right +": 13.5, "right −": 14.5}


def draw(folder: Path) -> Path:
    """Write the breadboard, as seen from above with the USB plug at the top, as SVG, and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "breadboard-pico.svg"
    path.write_text("\n".join(_drawn()) + "\n", encoding="utf-8")
    return path


def _at(column: float, row: float) -> tuple[float, float]:
    return 150 + column * PITCH, 40 + row * PITCH


def _drawn() -> Iterator[str]:
    yield (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-65 0 615 460" font-family="sans-serif" font-size="10" '
        'role="img"><title>The breadboard from above, the USB plug at the top</title>'
    )
    yield '<rect x="-65" width="615" height="460" fill="#ffffff"/>'
    left, top = _at(-4.5, 0)
    right, low = _at(15.5, ROWS + 1)
    yield f'<rect x="{left}" y="{top}" width="{right - left}" height="{low - top}" rx="6" fill="#f1ece0"/>'
    for name, column in _RAILS.items():
        x, _ = _at(column, 0)
        colour = _COLOURS["RD" if "+" in name else "BU"]
        yield f'<path d="M{x} {top + 8}V{low - 8}" stroke="{colour}" stroke-opacity="0.35" stroke-width="7"/>'
    for number in range(1, ROWS + 1):
        for column in (*_COLUMNS.values(), *_RAILS.values()):
            x, y = _at(column, number)
            yield f'<circle cx="{x}" cy="{y}" r="2" fill="#8d8677"/>'
        if number == 1 or number % 5 == 0:
            for column in (-1, 12):
                x, y = _at(column, number)
                yield f'<text x="{x}" y="{y + 3.5}" text-anchor="middle" fill="#6b6456">{number}</text>'
    for name, column in _COLUMNS.items():
        x, y = _at(column, ROWS + 1)
        yield f'<text x="{x}" y="{y + 12}" text-anchor="middle" fill="#6b6456">{name}</text>'
    for name, column, volts in (("+", -2.5, "5 V"), ("−", -3.5, ""), ("+", 13.5, "3.3 V"), ("−", 14.5, "")):
        x, y = _at(column, 0)
        yield f'<text x="{x}" y="{y - 6}" text-anchor="middle" fill="#231815">{name}</text>'
        if volts:
            yield f'<text x="{x}" y="{y - 18}" text-anchor="middle" font-weight="700" fill="#231815">{volts}</text>'
    x, y = _at(2, 1)
    wide = 7 * PITCH + 12
    yield f'<rect x="{x - 6}" y="{y - 8}" width="{wide}" height="{19 * PITCH + 16}" rx="3" fill="#3f7a4a"/>'
    yield f'<rect x="{x + wide / 2 - 20}" y="{y - 20}" width="28" height="20" fill="#9a9da3"/>'
    middle = x + wide / 2 - 6
    yield f'<text x="{middle}" y="{y + 110}" fill="#ffffff" font-size="14" text-anchor="middle">Pico WH</text>'
    for each in links():
        yield from _link(each)
    yield "</svg>"


def _spot(hole: str, beside: float) -> tuple[float, float]:
    if hole in _RAILS:
        return _at(_RAILS[hole], beside)
    return _at(_COLUMNS[hole[0]], int(hole[1:]))


def _link(each: Link) -> Iterator[str]:
    colour = _COLOURS[each.colour]
    if each.kind == "sensor":
        yield from _sensor(each)
        return
    beside = float(each.start[1:]) if each.start[1:].isdigit() else float(ROWS)
    x1, y1 = _spot(each.start, beside)
    x2, y2 = _spot(each.end, beside)
    if each.kind == "lead":
        bow = f"Q{max(x1, x2) + 22} {(y1 + y2) / 2} {x2} {y2}" if each.end.startswith("j") else f"L{x2} {y2}"
        yield f'<path d="M{x1} {y1}{bow}" fill="none" stroke="{colour}" stroke-width="3.4" stroke-linecap="round"/>'
    else:
        yield f'<path d="M{x1} {y1}L{x2} {y2}" stroke="#6b6456" stroke-width="1.6"/>'
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
        flat = abs(x1 - x2) > abs(y1 - y2)
        wide, high = (20, 8) if flat else (8, 20)
        yield (
            f'<rect x="{x - wide / 2}" y="{y - high / 2}" width="{wide}" height="{high}" rx="3" fill="#d9c49a" '
            f'stroke="#231815" stroke-width="0.7"/>'
        )
    for x, y in ((x1, y1), (x2, y2)):
        yield f'<circle cx="{x}" cy="{y}" r="3" fill="{colour if each.kind == "lead" else "#6b6456"}"/>'


_PLACES = {
    "Tlaloc's emitter": 6,
    "Huitzilopochtli's emitter": 13,
    "Tlaloc's receiver": 8,
    "Huitzilopochtli's receiver": 15,
}
"""The rows at which the drawing shows each half's plus; the rails are the same all along."""


def _sensor(each: Link) -> Iterator[str]:
    half, _, wire = each.start.rpartition(", ")
    signal = wire == "signal"
    row = int(each.end[1:]) if signal else _PLACES[half] + (wire == "−")
    left = signal or half.endswith("emitter")
    x1, y1 = _at(-6 if left else 17.5, row)
    x2, y2 = _spot(each.end, row)
    colour, anchor, x = _COLOURS[each.colour], "end" if left else "start", x1 + (-4 if left else 4)
    yield f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{colour}" stroke-width="2" stroke-dasharray="5 2"/>'
    yield f'<circle cx="{x2}" cy="{y2}" r="3" fill="{colour}"/>'
    yield f'<text x="{x}" y="{y1 + 3.5}" text-anchor="{anchor}" fill="#231815">{half} {wire}</text>'

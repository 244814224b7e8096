"""The geometry of the map: hexes as paths, walls along their sides, and the middle of each hex.

A hex is 20 wide and stands on its point; the drawing's unit is a twentieth of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from companion.games.kit import Json
from companion.games.siege.rules.field import Field
from companion.games.siege.rules.geometry import SIDES, Grid, grid

WIDE = 20.0
ROW = 17.32
POINT = 11.55
"""From the middle of a hex to its point."""

MARGIN = 12.0
"""Room round the map for the letters of its columns and the numbers of its rows."""

LETTER = 0.62
"""The width of a letter in its own size, in the mean of a bold name."""

_HEX = "l10 5.78v11.54l-10 5.78-10-5.78v-11.54z"

_CORNERS = ((10.0, -5.77), (10.0, 5.77), (0.0, 11.55), (-10.0, 5.77), (-10.0, -5.77), (0.0, -11.55))
"""The corners clockwise; side `n` is between corner `n` and the next."""

_MARKS: Mapping[str, str] = {
    "h": "m-5-4h4v4h-4zm6 4h4v4h-4zm0-5h3v3h-3z",
    "p": "m-6-4h12m-12 4h12m-12 4h12",
    "j": "m-4 4v-5m-3 1l3-4 3 4m2 5v-7m-3 2l3-5 3 5",
    "t": "m-7 5h14v-3h-2v-3h-2v-3h-6v3h-2v3h-2z",
    "w": "m-6 0q2-3 4 0t4 0 4 0",
}
"""What distinguishes the terrains without colour, drawn round the middle of a hex."""


def middle(board: Grid, hexagon: int) -> tuple[float, float]:
    """Return the middle of a hex."""
    return _middle(board.width, hexagon)


@lru_cache(maxsize=8192)
def _middle(across: int, hexagon: int) -> tuple[float, float]:
    row, column = divmod(hexagon, across)
    return round(MARGIN + WIDE * column + WIDE / 2 * (row % 2) + WIDE / 2, 2), round(MARGIN + ROW * row + POINT, 2)


def size(board: Grid) -> tuple[float, float]:
    """Return width and height of a drawn map."""
    return round(2 * MARGIN + WIDE * (board.width + 0.5), 1), round(
        2 * MARGIN + ROW * (board.height - 1) + 2 * POINT, 1
    )


def outline(board: Grid, names: Iterable[str]) -> str:
    """Return one path round each of some hexes."""
    return "".join(
        f"M{_n(x)} {_n(y - POINT)}{_HEX}" for x, y in (middle(board, board.numbers[each]) for each in names)
    )


def marks(board: Grid, names: Iterable[str], mark: str) -> str:
    """Return one path with a mark in each of some hexes."""
    return "".join(f"M{_n(x)} {_n(y)}{mark}" for x, y in (middle(board, board.numbers[each]) for each in names))


@lru_cache(maxsize=8192)
def point(x: float, y: float) -> str:
    """Return a point of a line."""
    return f"{_n(x)},{_n(y)}"


def line(points: Sequence[str]) -> str:
    """Return the points of a line that is not seen: at each of them one and the same mark is drawn.

    One element stands for all counters of a people. A line of one point has that point twice, since not every browser
    marks the point of a line that goes nowhere.
    """
    return " ".join([*points, *points] if len(points) == 1 else points)


FLAME = "m0 7c-6 0-6-6-2-9 0 3 2 3 2 1 0-3-1-4 0-7 1 3 6 6 5 11-1 3-3 4-5 4z"


def drawing(view: Mapping[str, Any]) -> Mapping[str, Json]:
    """Return a map as paths: each kind of ground, its marks, walls, gates, the names on it and round it."""
    return _drawing(
        tuple(view["ground"]),
        tuple(tuple(edge) for edge in view["walls"]),
        tuple(tuple(edge) for edge in view["gates"]),
        tuple(view["places"].items()),
        tuple(view["zones"]),
    )


@lru_cache(maxsize=16)
def _drawing(
    ground: tuple[str, ...],
    walls: tuple[tuple[str, str], ...],
    gates: tuple[tuple[str, str], ...],
    places: tuple[tuple[str, str], ...],
    zones: tuple[str, ...],
) -> Mapping[str, Json]:
    board = grid(len(ground[0]), len(ground))
    letters, zoned = "".join(ground), "".join(zones)
    width, height = size(board)
    size_of_letters = round(max(width / 37, height / 29), 1)
    return {
        "width": width,
        "height": height,
        "letters": size_of_letters,
        **_paths(board, zip(board.names, letters, strict=True), walls, gates),
        "city": outline(board, (name for name, zone in zip(board.names, zoned, strict=True) if zone not in ".s")),
        "places": _named(board, places, size_of_letters, width),
        "columns": [
            {"name": board.names[n].rstrip("0123456789"), "x": middle(board, n)[0]} for n in range(board.width)
        ],
        "rows": [{"name": n + 1, "y": middle(board, n * board.width)[1]} for n in range(board.height)],
    }


def _named(board: Grid, places: Iterable[tuple[str, str]], letters: float, width: float) -> list[Json]:
    """Return the positions of place names; of two that would touch, the second is above its hex."""
    named: list[Json] = []
    last = ("", 0.0, 0.0)
    for hexagon, label in sorted(places, key=lambda place: middle(board, board.numbers[place[0]])[::-1]):
        spot = _under(board, hexagon, width)
        x, y = spot["x"], spot["y"]
        if y == last[2] and x - last[1] < LETTER * letters * (len(label) + len(last[0])) / 2:
            y = round(y - ROW, 2)
        last = (label, x, y)
        named.append({"name": label, "x": x, "y": y, "side": spot["side"]})
    return named


def _under(board: Grid, name: str, width: float) -> dict[str, Any]:
    """Return the middle of the name of a hex, and for one at a side of the map from which side it is written.

    It lies between two rows of counters, so that it covers as little as possible of either.
    """
    x, y = middle(board, board.numbers[name])
    below = round(y + ROW / 2, 2)
    if x < width / 10:
        return {"x": max(x - WIDE / 2, MARGIN), "y": below, "side": "left"}
    if x > width * 9 / 10:
        return {"x": min(x + WIDE / 2, width - 1), "y": below, "side": "right"}
    return {"x": x, "y": below, "side": ""}


def _sides(board: Grid, edges: Sequence[Sequence[str]], part: float) -> str:
    """Return one path along some sides; of a gate only its two posts."""
    found = []
    for one, other in edges:
        here = board.numbers[one]
        side = board.beside[here].index(board.numbers[other])
        assert 0 <= side < len(SIDES)
        x, y = middle(board, here)
        (ax, ay), (bx, by) = _CORNERS[side], _CORNERS[(side + 1) % 6]
        a, b = (x + ax, y + ay), (x + bx, y + by)
        if part == 1.0:
            found.append(f"M{_n(a[0])} {_n(a[1])}L{_n(b[0])} {_n(b[1])}")
        else:
            for (px, py), (qx, qy) in ((a, b), (b, a)):
                found.append(f"M{_n(px)} {_n(py)}L{_n(px + (qx - px) * part)} {_n(py + (qy - py) * part)}")
    return "".join(found)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def parts(
    field: Field, names: Sequence[str], walls: Sequence[Sequence[str]], gates: Sequence[Sequence[str]]
) -> dict[str, Json]:
    """Return the paths of some hexes of a map, and of some of its walls and gates."""
    cells = field.grid
    return _paths(cells, ((name, field.ground[cells.numbers[name]]) for name in names), walls, gates)


def _paths(
    board: Grid,
    ground: Iterable[tuple[str, str]],
    walls: Sequence[Sequence[str]],
    gates: Sequence[Sequence[str]],
) -> dict[str, Json]:
    """Return hexes, each with its letter, by their kinds of ground as paths, and their marks, walls and gates."""
    of: dict[str, list[str]] = {}
    for name, letter in ground:
        of.setdefault(letter, []).append(name)
    return {
        "grounds": [{"letter": letter, "hexes": outline(board, of[letter])} for letter in sorted(of)],
        "marks": [
            {"letter": each, "path": marks(board, of[each], _MARKS[each])} for each in sorted(of) if each in _MARKS
        ],
        "walls": _sides(board, walls, 1.0),
        "gates": _sides(board, gates, 0.3),
    }


def tapping(board: Grid, seat: str, paint: str) -> dict[str, Json]:
    """Return what a tap means on a map that is drawn, for the script: every hex paints, or every side does."""
    return {
        "seat": seat,
        "columns": board.width,
        "rows": board.height,
        "taps": {},
        "attacks": [],
        "since": [],
        "paint": paint,
    }

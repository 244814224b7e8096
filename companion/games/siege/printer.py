"""What the siege's printable pages show: maps in tiles of true size, counters, and the card of odds.

A hex is 20 mm wide, so that one unit of a drawing in `board` is a millimetre; a counter has 16 mm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import ceil

from companion.games.kit import Board, Json, Piece, Pieces
from companion.games.siege.page import board
from companion.games.siege.page.view import map_of, odds_table
from companion.games.siege.rules import maps
from companion.games.siege.rules.field import COSTS, TERRAINS, WALL_COST, Field
from companion.games.siege.rules.roster import ALLIES, FULL, LEADERS, ROSTERS, SIDES, THIRD, People

MAPS: Mapping[str, str] = {f"map_{name}": name for name in maps.SHIPPED}
WHOLE: Mapping[str, str] = {f"whole_{name}": name for name in maps.SHIPPED}
SHEETS: tuple[str, ...] = (*MAPS, "counters", "forces", "odds")

TILE = (186, 258)
"""Millimetres of a tile: what both papers have room for within their margins."""

REACH = 12.0
"""How far a hex reaches from its middle."""

COUNTER = 16
FIRES = 20


def sheet(name: str, language: str) -> Mapping[str, Json]:
    """Return the slice of one page for the printer; raises `KeyError` for a name that it does not know."""
    if name in MAPS:
        return map_sheet(maps.field_of(MAPS[name]))
    if name in WHOLE:
        return map_sheet(maps.field_of(WHOLE[name]), whole=True)
    return {"counters": _counters, "forces": _forces, "odds": _odds}[name]()


def map_sheet(field: Field, whole: bool = False) -> Mapping[str, Json]:
    """Return a map in tiles, or whole in one."""
    width, height = board.size(field.grid)
    across, down = (ceil(width), ceil(height)) if whole else TILE
    columns, rows = (1, 1) if whole else (-(-int(width) // across), -(-int(height) // down))
    tiles: list[Json] = [
        _tile(field, column, row, min(across, width - column * across), min(down, height - row * down))
        for row in range(rows)
        for column in range(columns)
    ]
    return {"name": field.name, "columns": columns, "rows": rows, "tiles": tiles, "whole": whole}


def _tile(field: Field, column: int, row: int, width: float, height: float) -> Mapping[str, Json]:
    """Return one tile: the part of every path that is on it, or reaches into it."""
    cells = field.grid
    left, top = column * TILE[0], row * TILE[1]

    def within(x: float, y: float, reach: float = REACH) -> bool:
        return left - reach < x < left + width + reach and top - reach < y < top + height + reach

    near = [name for h, name in enumerate(cells.names) if within(*board.middle(cells, h))]
    drawn = board.drawing(map_of(field))

    def beside(edges: Iterable[tuple[int, int]]) -> list[list[str]]:
        names = [[cells.names[a], cells.names[b]] for a, b in sorted(edges)]
        return [edge for edge in names if edge[0] in near or edge[1] in near]

    return {
        "column": column + 1,
        "row": row + 1,
        "left": left,
        "top": top,
        "width": round(width, 1),
        "height": round(height, 1),
        **board.parts(field, near, beside(field.walls), beside(field.gates)),
        "places": [each for each in _list(drawn["places"]) if within(each["x"], each["y"], 40)],
        "edge": [
            *({"name": each["name"], "x": each["x"], "y": 8} for each in _list(drawn["columns"]) if top == 0),
            *({"name": each["name"], "x": 5, "y": each["y"] + 3} for each in _list(drawn["rows"]) if left == 0),
        ],
    }


def _list(value: Json) -> list[dict[str, float]]:
    assert isinstance(value, list)
    return value


def _counters() -> Mapping[str, Json]:
    counters = [*_units(), *[("fire", 0)] * FIRES]
    return {"size": COUNTER, "counters": [{"face": face, "no": no} for face, no in counters]}


def _units() -> Iterator[tuple[People, int]]:
    """Yield every unit's people and its number among them; of a leader there is one, without a number."""
    full = ROSTERS[FULL]
    for people, no in zip(full.people, full.number, strict=True):
        yield people, no if full.count(people) > 1 else 0


def _forces() -> Mapping[str, Json]:
    """Return who fights with how many units, and what each people may do that others may not."""
    full, third = ROSTERS[FULL], ROSTERS[THIRD]
    peoples: list[Json] = [
        {
            "people": people,
            "side": SIDES[full.side[full.people.index(people)]],
            "full": full.count(people),
            "third": third.count(people),
            "notes": list(_notes(people)),
        }
        for people in dict.fromkeys(full.people)
    ]
    totals: list[Json] = [{"side": side, "full": len(full.of(side)), "third": len(third.of(side))} for side in SIDES]
    return {"peoples": peoples, "totals": totals}


def _notes(people: People) -> Iterator[str]:
    """Yield the notes on a people in the table of forces."""
    if people in LEADERS:
        yield "leader"
    if people == "conquistador":
        yield "conquistador"
    if people in ("cortez", "conquistador"):
        yield "armour"
    if people == "warrior":
        yield "starves_aztec"
    if people in ALLIES:
        yield "starves_ally"
    if people == "boat":
        yield "boat"


def _odds() -> Mapping[str, Json]:
    return {
        "table": odds_table(False),
        "costs": {TERRAINS[letter]: cost for letter, cost in COSTS.items()} | {"water": 1},
        "wall": WALL_COST,
    }


def _counter_faces(language: str) -> list[Piece]:
    found = [
        Piece(f"{people}-{no}", "sheet.unit", {"people": people, "no": no})
        if no
        else Piece(people, f"people.{people}")
        for people, no in _units()
    ]
    return [*found, *[Piece("fire", "sheet.fire")] * FIRES]


PIECES: Mapping[str, Pieces] = {
    "counters": Pieces(width=COUNTER, height=COUNTER, inset=1.6, pieces=_counter_faces, backs=True)
}


def boards() -> Mapping[str, Board]:
    """Return the sheets that show a whole map."""
    return {
        sheet: Board(*board.size(maps.field_of(name).grid), f"sheet.map_{name}.name") for sheet, name in WHOLE.items()
    }

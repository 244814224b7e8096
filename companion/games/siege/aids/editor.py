"""The aid that draws a map: grounds, zones, walls and gates by tapping, checked all the while, written out as a file.

The names of the map, its quarters and its places stand in the file and are changed there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

from companion.games.kernel import CHANCE, Arg, Choice, Json, Move, Seat, changed
from companion.games.siege import board, maps
from companion.games.siege.aids.aid import Aid
from companion.games.siege.rules.field import TERRAINS, Field
from companion.games.siege.rules.geometry import LARGEST, SIDES, Grid, grid

GROUNDS = tuple(TERRAINS)
QUARTERS: Mapping[str, str] = MappingProxyType(
    {"l": "Tlatelolco", "u": "Cuepopan", "a": "Atzacualco", "m": "Moyotlan", "e": "Teopan"}
)
ZONES = (".", "s", "+", *QUARTERS)
EDGES = ("wall", "gate")
BRUSHES = (*(f"ground_{TERRAINS[letter]}" for letter in GROUNDS), *(f"zone_{n}" for n in range(len(ZONES))), *EDGES)
"""What a tap paints, in the order of their numbers."""

STARTS = ("skirmish", "full", "blank")
_FIRST_ZONE, _WALL, _GATE = len(GROUNDS), len(BRUSHES) - 2, len(BRUSHES) - 1
_CITY = {ZONES.index(letter) for letter in ("+", *QUARTERS)}


@dataclass(frozen=True)
class Draft:
    """A map that is being drawn: for each hex the numbers of its ground and its zone, for each edge its two hexes."""

    base: int
    width: int
    height: int
    ground: tuple[int, ...]
    zones: tuple[int, ...]
    walls: tuple[int, ...]
    """Sides with a wall: the lower hex times six and the side's number."""
    gates: tuple[int, ...]
    brush: int = 0


def _drafted(base: int) -> Draft:
    """Return a draft of a map that ships, or of clear land beside a lake."""
    name = STARTS[base]
    if name == "blank":
        width, height = 16, 13
        ground = tuple(GROUNDS.index("w") if h % width > 11 else 0 for h in range(width * height))
        return Draft(base, width, height, ground, (0,) * (width * height), (), ())
    field = maps.field_of(name)
    return Draft(
        base,
        field.grid.width,
        field.grid.height,
        tuple(GROUNDS.index(letter) for letter in field.ground),
        tuple(ZONES.index(letter) for letter in field.zones),
        _numbered(field.grid, field.walls),
        _numbered(field.grid, field.gates),
    )


def _numbered(cells: Grid, edges: frozenset[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(sorted(a * 6 + cells.beside[a].index(b) for a, b in edges))


class Editor(Aid[Draft]):
    """A map drawn by tapping."""

    name: str = "siege.editor"
    start: ClassVar[Any] = _drafted(0)
    sure: ClassVar[tuple[str, ...]] = ("begin", "enclose")

    def listed(self, state: Draft) -> list[Move]:
        """Return every brush, every hex or side that the brush in hand paints, and the larger strokes."""
        cells = grid(state.width, state.height)
        moves = [Move("brush", (each,)) for n, each in enumerate(BRUSHES) if n != state.brush]
        moves += [Move("begin", (each,)) for each in STARTS]
        moves.append(Move("enclose"))
        if state.brush < _WALL:
            return [*moves, *(Move("paint", (name,)) for name in cells.names)]
        sides = [
            Move("side", (name, SIDES[side]))
            for here, name in enumerate(cells.names)
            for side, to in enumerate(cells.beside[here])
            if to >= 0
        ]
        return [*moves, *sides]

    def choices(self, state: Draft, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return brushes and large strokes at once, hexes and sides a level deeper."""
        listed = self.moves(state, seat)
        match picked:
            case ():
                small = [move for move in listed if move.name not in ("paint", "side")]
                name = "paint" if state.brush < _WALL else "side"
                deeper = [Choice(f"{name}_any", {"pick": name}, name)] if seat != CHANCE and listed else []
                return [
                    *(
                        Choice(move.name, self.facts(move), "", move, move.name, move.name in self.sure)
                        for move in small
                    ),
                    *deeper,
                ]
            case ("side",):
                names = dict.fromkeys(str(move.args[0]) for move in listed if move.name == "side")
                return [Choice("side_of", {"hex": name, "pick": name}, f"hex:{name}") for name in names]
            case ("paint",) | ("side", str()):
                own = [move for move in listed if move.to_json()[: len(picked)] == list(picked)]
                return [Choice(move.name, self.facts(move), f"hex:{move.args[0]}", move) for move in own]
        return []

    def facts(self, move: Move) -> Mapping[str, Arg]:
        """Return what the words of a move need."""
        match move.name, move.args:
            case "brush" | "begin", (what,):
                return {"what": what}
            case "paint", (where,):
                return {"hex": where}
            case "side", (where, side):
                return {"hex": where, "side": side}
        return {}

    def done(self, state: Draft, move: Move) -> Draft:
        """Return the draft after a tap; a wall or a gate that is painted again goes away."""
        cells = grid(state.width, state.height)
        match move.name, move.args:
            case "brush", (str(what),):
                return changed(state, brush=BRUSHES.index(what))
            case "begin", (str(what),):
                return changed(_drafted(STARTS.index(what)), brush=state.brush)
            case "paint", (str(where),):
                key = "ground" if state.brush < _FIRST_ZONE else "zones"
                value = state.brush if key == "ground" else state.brush - _FIRST_ZONE
                painted = list(getattr(state, key))
                painted[cells.numbers[where]] = value
                return changed(state, **{key: tuple(painted)})
            case "side", (str(where), str(side)):
                here, n = cells.numbers[where], SIDES.index(side)
                there = cells.beside[here][n]
                edge = here * 6 + n if here < there else there * 6 + (n + 3) % 6
                own, other = ("walls", "gates") if state.brush == _WALL else ("gates", "walls")
                mine = set(getattr(state, own)) ^ {edge}
                return changed(
                    state, **{own: tuple(sorted(mine)), other: tuple(e for e in getattr(state, other) if e != edge)}
                )
        return changed(state, walls=_enclosed(state, cells))

    def sound(self, state: Draft) -> bool:
        """Return whether every number has a meaning on a map of that size."""
        if not (3 <= state.width <= LARGEST and 3 <= state.height <= LARGEST) or state.base >= len(STARTS):
            return False
        cells = grid(state.width, state.height)
        if len(state.ground) != len(cells) or len(state.zones) != len(cells) or state.brush >= len(BRUSHES):
            return False
        edges = (*state.walls, *state.gates)
        whole = all(e < 6 * len(cells) and cells.beside[e // 6][e % 6] > e // 6 for e in edges)
        ordered = all(list(each) == sorted(set(each)) for each in (state.walls, state.gates))
        known = max(state.ground) < len(GROUNDS) and max(state.zones) < len(ZONES)
        return whole and ordered and known and len(set(edges)) == len(edges)

    def view(self, state: Draft, seat: Seat | None) -> Mapping[str, Json]:
        """Return the draft as a map, as a file, and what is wrong with it."""
        text = written(state)
        faults: list[Json] = [
            {"line": fault.line, "code": fault.code, "facts": dict(fault.facts)} for fault in _faults(text)
        ]
        return {"brush": BRUSHES[state.brush], "map": _map(state), "text": text, "faults": faults}

    def regions(self, view: Mapping[str, Any]) -> Mapping[str, Mapping[str, Json]]:
        """Return the drawn map, the brushes, and the check with the file."""
        drawn = dict(board.drawing(view["map"]))
        cells = grid(view["map"]["width"], view["map"]["height"])
        brush = str(view["brush"])
        zoned = "".join(view["map"]["zones"])
        letters: list[Json] = [
            {"letter": zoned[h], "x": x, "y": y}
            for h in range(len(cells))
            if brush.startswith("zone") and zoned[h] != "."
            for x, y in [board.middle(cells, h)]
        ]
        choices = view.get("choices") or []
        state = board.tapping(cells, str(view.get("acting") or ""), "side" if brush in EDGES else "paint")
        return {
            "canvas": {**drawn, "columns_n": cells.width, "rows_n": cells.height, "letters": letters, "state": state}
            | {"name": view["map"]["name"]},
            "brushes": {"brush": brush, "brushes": list(BRUSHES), "choices": choices},
            "checks": {"faults": view["faults"], "text": view["text"]},
        }


def _map(state: Draft) -> dict[str, Json]:
    field = _field(state)
    cells = field.grid
    rows = range(0, len(cells), cells.width)
    return {
        "name": field.name,
        "width": cells.width,
        "height": cells.height,
        "ground": [field.ground[at : at + cells.width] for at in rows],
        "zones": [field.zones[at : at + cells.width] for at in rows],
        "walls": [[cells.names[a], cells.names[b]] for a, b in sorted(field.walls)],
        "gates": [[cells.names[a], cells.names[b]] for a, b in sorted(field.gates)],
        "places": {cells.names[h]: name for h, name in field.places.items()},
    }


@lru_cache(maxsize=8)
def _field(state: Draft) -> Field:
    cells = grid(state.width, state.height)
    base = None if STARTS[state.base] == "blank" else maps.field_of(STARTS[state.base])
    zones = "".join(ZONES[n] for n in state.zones)

    def edges(numbers: tuple[int, ...]) -> frozenset[tuple[int, int]]:
        return frozenset((e // 6, cells.beside[e // 6][e % 6]) for e in numbers)

    quarters = {letter: name for letter, name in QUARTERS.items() if letter in zones}
    return Field(
        base.name if base else "Altepetl",
        cells,
        "".join(GROUNDS[n] for n in state.ground),
        zones,
        quarters,
        dict(base.places) if base else {},
        edges(state.walls),
        edges(state.gates),
    )


def written(state: Draft) -> str:
    """Return a draft as the file that a table may play on."""
    return maps.written(_field(state))


@lru_cache(maxsize=8)
def _faults(text: str) -> tuple[Any, ...]:
    return maps.faults(text)


def _enclosed(state: Draft, cells: Grid) -> tuple[int, ...]:
    """Return the walls with one more wherever the city has land outside beside it and no gate."""
    water = GROUNDS.index("w")
    found = set(state.walls)
    for here in range(len(cells)):
        for side, to in enumerate(cells.beside[here][:3]):
            if to < 0 or (state.zones[here] in _CITY) == (state.zones[to] in _CITY):
                continue
            edge = here * 6 + side if here < to else to * 6 + (side + 3) % 6
            outside = to if state.zones[here] in _CITY else here
            if state.ground[outside] != water and edge not in state.gates:
                found.add(edge)
    return tuple(sorted(found))

"""The tool that draws a map by tapping: ground, zones, walls, gates and names. It checks the map constantly.

It begins with one of our maps, with one that somebody brings, faults included, or with clear land of any size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, ClassVar

from companion.games.kit import (
    CHANCE,
    Arg,
    Choice,
    Json,
    Kind,
    Move,
    MoveType,
    Option,
    Refusal,
    Seat,
    Value,
    number,
    one_of,
    replace,
    text,
)
from companion.games.siege.page import board
from companion.games.siege.page.view import map_of
from companion.games.siege.printer import map_sheet
from companion.games.siege.rules import maps
from companion.games.siege.rules.field import TERRAINS
from companion.games.siege.rules.geometry import LARGEST, SIDES, grid
from companion.games.siege.tools import draft as drafts
from companion.games.siege.tools.draft import GROUNDS, QUARTERS, STARTS, ZONES, Draft
from companion.games.siege.tools.tool import SiegeTool

EDGES = ("wall", "gate")
BRUSHES = (
    *(f"ground_{TERRAINS[letter]}" for letter in GROUNDS),
    *(f"zone_{n}" for n in range(len(ZONES))),
    *EDGES,
    "name",
)
"""What a tap paints, in the order of their numbers."""

_FIRST_ZONE, _WALL, _NAME = len(GROUNDS), BRUSHES.index("wall"), BRUSHES.index("name")
_FIRST_QUARTER = len(ZONES) - len(QUARTERS)
_SIZES = range(drafts.LEAST, LARGEST + 1)
_TYPED = ("width_any", "height_any")
_BETWEEN = [Move("between", pair) for pair in combinations(TERRAINS.values(), 2)]
_LEVELS = ("paint", "side", "mark", "width", "height", "between")
"""What is tapped on the map or typed, and else found in a list of its own."""


class Editor(SiegeTool[Draft]):
    """A map drawn by tapping."""

    name: str = "siege.editor"
    options: tuple[Option, ...] = (Option("map", STARTS[0], "S1", STARTS, reader=maps.DRAFT_READER),)
    makes: str = "map"
    own_sheets: tuple[str, ...] = ("map",)
    sure: ClassVar[tuple[str, ...]] = ("begin", "enclose")

    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> Draft:
        """Return the map that the editor begins with."""
        return drafts.begun(str(options.get("map", STARTS[0])))

    def listed(self, state: Draft) -> list[Move]:
        """Return every brush, every hex or side that the brush in hand paints, every size, and the larger strokes."""
        moves = [Move("brush", (each,)) for n, each in enumerate(BRUSHES) if n != state.brush]
        moves += [Move("begin", (each,)) for each in STARTS]
        moves.append(Move("enclose"))
        moves += _BETWEEN
        moves += [Move("width", (n,)) for n in _SIZES if n != state.width]
        moves += [Move("height", (n,)) for n in _SIZES if n != state.height]
        return [*moves, *_strokes(_stroke(state), state.width, state.height)]

    def choices(self, state: Draft, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return brushes and large strokes at once; hexes, sides and sizes a level deeper."""
        listed = self.moves(state, seat)
        match picked:
            case ():
                small = [move for move in listed if move.name not in _LEVELS]
                levels = [_stroke(state), "width", "height", "between"] if seat != CHANCE and listed else []
                return [
                    *(
                        Choice(_key(move), self._facts(state, move), "", move, move.name, move.name in self.sure)
                        for move in small
                    ),
                    *(Choice(f"{name}_any", {"pick": name}, name) for name in levels),
                ]
            case ("side",):
                names = dict.fromkeys(str(move.args[0]) for move in listed if move.name == "side")
                return [Choice("side_of", {"hex": name, "pick": name}, f"hex:{name}") for name in names]
            case (str(name),) | (str(name), str()) if name in _LEVELS:
                own = [move for move in listed if move.to_json()[: len(picked)] == list(picked)]
                sure = name == "between"
                return [Choice(name, self._facts(state, move), f"hex:{move.args[0]}", move, "", sure) for move in own]
        return []

    def _facts(self, state: Draft, move: Move) -> Mapping[str, Arg]:
        if _key(move) == "brush_quarter":
            letter = ZONES[int(str(move.args[0]).removeprefix("zone_"))]
            return {"name": state.named()[f"quarter.{letter}"], "letter": letter}
        return self.facts(move)

    def aside(self, move: Move) -> bool:
        """Return whether a move gives a name: names may be written at any time, and no undo takes them back."""
        return move.name == "name"

    def declared(self) -> Sequence[MoveType[Draft]]:
        """Return every stroke, and the move that gives a name."""
        hexagon, size = Kind("hex", grid(LARGEST, LARGEST).numbers), {"n": number(_SIZES[0], _SIZES[-1], "bad_size")}
        return (
            MoveType(
                "brush", lambda state, what: replace(state, brush=BRUSHES.index(what)), {"what": one_of(*BRUSHES)}
            ),
            MoveType("begin", _begun, {"what": one_of(*STARTS)}),
            MoveType("paint", _paint, {"hex": hexagon}),
            MoveType(
                "mark", lambda state, where: replace(state, marked=state.cells.numbers[where]), {"hex": hexagon}
            ),
            MoveType("side", _side, {"hex": hexagon, "side": one_of(*SIDES)}),
            MoveType("width", lambda state, n: drafts.resized(state, n, state.height), size),
            MoveType("height", lambda state, n: drafts.resized(state, state.width, n), size),
            MoveType("enclose", drafts.enclosed),
            MoveType("between", drafts.enclosed, {name: one_of(*TERRAINS.values()) for name in ("one", "other")}),
            MoveType("name", _named, {"what": text(), "words": text()}),
        )

    def sound(self, state: Draft) -> bool:
        """Return whether every number and every name has a meaning on a map of that size."""
        return state.brush < len(BRUSHES) and drafts.sound(state)

    def written(self, state: Draft) -> str:
        """Return the map as a file."""
        return drafts.written(state)

    def own_sheet(self, state: Draft, name: str, language: str) -> Mapping[str, Json]:
        """Return the map in tiles of true size."""
        return map_sheet(drafts.field(state))

    def view(self, state: Draft, seat: Seat | None) -> Mapping[str, Json]:
        """Return the draft as a map, as a file, and what is wrong with it."""
        file = drafts.written(state)
        faults: list[Json] = [
            {"line": fault.line, "code": fault.code, "facts": dict(fault.facts)} for fault in _faults(file)
        ]
        return {
            "brush": BRUSHES[state.brush],
            "map": map_of(drafts.field(state)),
            "marked": state.cells.names[state.marked],
            "text": file,
            "faults": faults,
        }

    def regions(self, view: Mapping[str, Any]) -> Mapping[str, Mapping[str, Json]]:
        """Return the drawn map, the brushes, the names, and the check with the file."""
        drawn = dict(board.drawing(view["map"]))
        cells = grid(view["map"]["width"], view["map"]["height"])
        brush, acting = str(view["brush"]), str(view.get("acting") or "")
        zoned = "".join(view["map"]["zones"])
        zones: list[Json] = [
            {"letter": zoned[h], "x": x, "y": y}
            for h in range(len(cells))
            if brush.startswith("zone") and zoned[h] != "."
            for x, y in [board.middle(cells, h)]
        ]
        stroke = "side" if brush in EDGES else "mark" if brush == "name" else "paint"
        marked = board.outline(cells, [view["marked"]]) if brush == "name" else ""
        quarters, places = view["map"]["quarters"], view["map"]["places"]
        choices: list[dict[str, Json]] = list(view.get("choices") or [])
        zone = ZONES[int(brush.removeprefix("zone_"))] if brush.startswith("zone_") else ""
        return {
            "canvas": {**drawn, "columns_n": cells.width, "rows_n": cells.height, "zones": zones}
            | {"name": view["map"]["name"], "marked": marked, "state": board.tapping(cells, acting, stroke)},
            "brushes": {"brush": brush, "zone": zone, "quarter": quarters.get(zone, QUARTERS.get(zone, ""))}
            | {"palette": _palette(choices), "width": cells.width, "height": cells.height}
            | {"strokes": [each for each in choices if each["group"] != "brush" and each["key"] not in _TYPED]},
            "names": {"acting": acting, "name": view["map"]["name"], "quarters": dict(quarters)}
            | {"places": dict(places), "marked": view["marked"] if brush == "name" else ""},
            "checks": {"faults": view["faults"], "text": view["text"], "name": view["map"]["name"]},
        }


def _begun(state: Draft, start: str) -> Draft:
    begun = drafts.blank(state.width, state.height) if start == "blank" else drafts.begun(start)
    return replace(begun, brush=state.brush)


def _paint(state: Draft, where: str) -> Draft:
    key, first = ("ground", 0) if state.brush < _FIRST_ZONE else ("zones", _FIRST_ZONE)
    return drafts.painted(state, key, state.cells.numbers[where], state.brush - first)


def _side(state: Draft, where: str, side: str) -> Draft:
    """Paint a wall or a gate; one that is painted again goes away."""
    return drafts.sided(state, f"{BRUSHES[state.brush]}s", state.cells.numbers[where], SIDES.index(side))


def _named(state: Draft, what: str, name: str) -> Draft | Refusal:
    if not drafts.bears_name(what):
        return Refusal("not_now", {"move": "name"})
    cleaned = drafts.clean(name[: LARGEST * maps.LONGEST_NAME])
    if len(cleaned) > maps.LONGEST_NAME:
        return Refusal("long_name", {"longest": maps.LONGEST_NAME})
    return drafts.renamed(state, what, cleaned)


def _palette(choices: Sequence[Mapping[str, Any]]) -> Json:
    """Return the brushes in their order: grounds, then zones, then what is painted on sides and names."""
    of = {each["move"][1]: each for each in choices if each["group"] == "brush"}
    parts = (BRUSHES[:_FIRST_ZONE], BRUSHES[_FIRST_ZONE:_WALL], BRUSHES[_WALL:])
    found: list[Json] = [[{**of[name], "brush": name} for name in part if name in of] for part in parts]
    return found


def _stroke(state: Draft) -> str:
    """Return the move that a tap on the map makes with the brush in hand."""
    return "side" if BRUSHES[state.brush] in EDGES else "mark" if state.brush == _NAME else "paint"


@lru_cache(maxsize=8)
def _strokes(name: str, width: int, height: int) -> tuple[Move, ...]:
    """Return thousands of moves: what a brush can paint on a map of a size, whatever is drawn there."""
    cells = grid(width, height)
    if name != "side":
        return tuple(Move(name, (each,)) for each in sorted(cells.names))
    sides = ((h, SIDES[side]) for h, beside in enumerate(cells.beside) for side, to in enumerate(beside) if to >= 0)
    return tuple(sorted(Move(name, (cells.names[h], side)) for h, side in sides))


def _key(move: Move) -> str:
    quarter = move.name == "brush" and BRUSHES.index(str(move.args[0])) in range(_FIRST_ZONE + _FIRST_QUARTER, _WALL)
    return "brush_quarter" if quarter else move.name


@lru_cache(maxsize=8)
def _faults(text: str) -> tuple[Any, ...]:
    return maps.faults(text)

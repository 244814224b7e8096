"""A map that is being drawn: one frozen value of whole numbers and names, the strokes that change it, and its file.

Whether a table can play on it is checked by `maps`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

from companion.games.kit import Struct, replace
from companion.games.siege.rules import maps
from companion.games.siege.rules.field import BESIEGERS, NO_QUARTER, OUTSIDE, TERRAINS, WATER, Field
from companion.games.siege.rules.geometry import LARGEST, Grid, grid

GROUNDS = tuple(TERRAINS)
QUARTERS: Mapping[str, str] = MappingProxyType(
    {"l": "Tlatelolco", "u": "Cuepopan", "a": "Atzacualco", "m": "Moyotlan", "e": "Teopan"}
)
"""The quarters that a draft can have, by their letters, with the names that they bear at first."""
ZONES = (OUTSIDE, BESIEGERS, NO_QUARTER, *QUARTERS)

STARTS = ("skirmish", "full", "blank")
BLANK_SIZE = (16, 13)
LEAST = 3
"""Hexes that a map has in a row at least, and rows."""

WHOLE = "map"
"""What bears a name beside quarters and places: the map itself."""

_LAKE = 4
"""Of a blank map every fourth column, in the east, is lake."""

_DEFAULTS = {WHOLE: "Altepetl", **{f"quarter.{letter}": name for letter, name in QUARTERS.items()}}


class Draft(Struct, frozen=True):
    """A map that is being drawn: for each hex the numbers of its ground and its zone, for each edge its two hexes.

    `names` pairs, sorted, what bears a name with it: ``map``, ``quarter.l``, and for places their hexes.
    """

    width: int
    height: int
    ground: tuple[int, ...]
    zones: tuple[int, ...]
    walls: tuple[int, ...]
    """Sides with a wall: the lower hex times six and the side's number."""
    gates: tuple[int, ...]
    names: tuple[tuple[str, str], ...]
    brush: int = 0
    marked: int = 0
    """The hex that is to be named."""

    @property
    def cells(self) -> Grid:
        """The hexes."""
        return grid(self.width, self.height)

    def named(self) -> dict[str, str]:
        """Return the names by what bears them."""
        return dict(self.names)


def begun(start: str) -> Draft:
    """Return a draft of a map that ships, of a map's text, or of clear land beside a lake."""
    if start == "blank":
        return blank(*BLANK_SIZE)
    field = maps.drawn(start)
    if field is None:
        raise ValueError(f"map is {ascii(start)[:60]}; expected one that can be drawn")
    letters = _letters(field.quarters)
    known = {OUTSIDE: OUTSIDE, BESIEGERS: BESIEGERS, NO_QUARTER: NO_QUARTER, **letters}
    names = {WHOLE: field.name}
    names |= {f"quarter.{letters[letter]}": name for letter, name in field.quarters.items()}
    names |= {field.grid.names[h]: name for h, name in field.places.items()}
    return Draft(
        field.grid.width,
        field.grid.height,
        tuple(GROUNDS.index(letter) for letter in field.ground),
        tuple(ZONES.index(known[letter]) for letter in field.zones),
        _numbered(field.grid, field.walls),
        _numbered(field.grid, field.gates),
        _sorted({**_DEFAULTS, **names}),
    )


def _letters(quarters: Mapping[str, str]) -> dict[str, str]:
    """Return for each quarter's letter the one that a draft has for it: the same where it can be."""
    free = [letter for letter in QUARTERS if letter not in quarters]
    return {letter: letter if letter in QUARTERS else free.pop(0) for letter in quarters}


def blank(width: int, height: int) -> Draft:
    """Return clear land with a lake in the east."""
    shore = width - max(1, width // _LAKE)
    ground = tuple(GROUNDS.index(WATER) if h % width >= shore else 0 for h in range(width * height))
    return Draft(width, height, ground, (0,) * (width * height), (), (), _sorted(_DEFAULTS))


def resized(draft: Draft, width: int, height: int) -> Draft:
    """Return a draft cut to another size in the east and the south, or grown there by what stands at its edge."""
    cells = grid(width, height)
    from_ = [
        min(h // width, draft.height - 1) * draft.width + min(h % width, draft.width - 1) for h in range(len(cells))
    ]

    def inside(edges: tuple[int, ...]) -> tuple[int, ...]:
        found = []
        for edge in edges:
            row, column = divmod(edge // 6, draft.width)
            if row < height and column < width and cells.beside[row * width + column][edge % 6] >= 0:
                found.append((row * width + column) * 6 + edge % 6)
        return tuple(sorted(found))

    off = set(draft.cells.names) - set(cells.names)
    return replace(
        draft,
        width=width,
        height=height,
        ground=tuple(draft.ground[h] for h in from_),
        zones=tuple(draft.zones[h] for h in from_),
        walls=inside(draft.walls),
        gates=inside(draft.gates),
        names=tuple(pair for pair in draft.names if pair[0] not in off),
        marked=min(draft.marked, len(cells) - 1),
    )


def painted(draft: Draft, key: str, hexagon: int, number: int) -> Draft:
    """Return a draft with another ground or zone in a hex."""
    numbers = list(getattr(draft, key))
    numbers[hexagon] = number
    return replace(draft, **{key: tuple(numbers)})


def sided(draft: Draft, key: str, hexagon: int, side: int) -> Draft:
    """Return a draft with a wall or a gate on a side, instead of what stood there; one painted again goes away."""
    there = draft.cells.beside[hexagon][side]
    edge = hexagon * 6 + side if hexagon < there else there * 6 + (side + 3) % 6
    other = "gates" if key == "walls" else "walls"
    mine = set(getattr(draft, key)) ^ {edge}
    rest = tuple(each for each in getattr(draft, other) if each != edge)
    return replace(draft, **{key: tuple(sorted(mine)), other: rest})


def enclosed(draft: Draft, *terrains: str) -> Draft:
    """Return a draft with a wall wherever none stands between two terrains, or without them around the city."""
    grounds = frozenset(letter for letter, name in TERRAINS.items() if name in terrains)
    missing = _numbered(draft.cells, maps.missing_walls(field(draft), grounds))
    return replace(draft, walls=tuple(sorted((*draft.walls, *missing))))


def bears_name(what: str) -> bool:
    """Return whether something can bear a name: the map, a quarter, a hex of a map of any size."""
    return what in _DEFAULTS or what in grid(LARGEST, LARGEST).numbers


def clean(name: str) -> str:
    """Return a name as a file can hold it: blanks single, nothing that does not show."""
    visible = (
        sign if unicodedata.category(sign)[0] not in "CZ" else " " for sign in unicodedata.normalize("NFC", name)
    )
    return " ".join("".join(visible).split())


def renamed(draft: Draft, what: str, name: str) -> Draft:
    """Return a draft with another name; a place without one is none, the map and its quarters have their old one."""
    names = draft.named()
    name = name or _DEFAULTS.get(what, "")
    if what not in _DEFAULTS and what not in draft.cells.numbers:
        return draft
    if name:
        names[what] = name
    else:
        names.pop(what, None)
    return replace(draft, names=_sorted(names))


def sound(draft: Draft) -> bool:
    """Return whether every number and every name has a meaning on a map of that size."""
    if not (LEAST <= draft.width <= LARGEST and LEAST <= draft.height <= LARGEST):
        return False
    cells = draft.cells
    if len(draft.ground) != len(cells) or len(draft.zones) != len(cells) or draft.marked >= len(cells):
        return False
    edges = (*draft.walls, *draft.gates)
    whole = all(e < 6 * len(cells) and cells.beside[e // 6][e % 6] > e // 6 for e in edges)
    ordered = all(list(each) == sorted(set(each)) for each in (draft.walls, draft.gates))
    known = max(draft.ground) < len(GROUNDS) and max(draft.zones) < len(ZONES)
    names = draft.named()
    called = draft.names == _sorted(names) and set(_DEFAULTS) <= names.keys() <= {*_DEFAULTS, *cells.names}
    legible = all(name and name == clean(name) and len(name) <= maps.LONGEST_NAME for name in names.values())
    return whole and ordered and known and called and legible and len(set(edges)) == len(edges)


@lru_cache(maxsize=8)
def field(draft: Draft) -> Field:
    """Return a draft as a map."""
    cells, names = draft.cells, draft.named()
    zones = "".join(ZONES[n] for n in draft.zones)

    def edges(numbers: tuple[int, ...]) -> frozenset[tuple[int, int]]:
        return frozenset((e // 6, cells.beside[e // 6][e % 6]) for e in numbers)

    return Field(
        names[WHOLE],
        cells,
        "".join(GROUNDS[n] for n in draft.ground),
        zones,
        {letter: names[f"quarter.{letter}"] for letter in QUARTERS if letter in zones},
        {cells.numbers[what]: name for what, name in draft.names if what in cells.numbers},
        edges(draft.walls),
        edges(draft.gates),
    )


def written(draft: Draft) -> str:
    """Return a draft as the file that a table may play on."""
    return maps.written(field(draft))


def _numbered(cells: Grid, edges: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(sorted(a * 6 + cells.beside[a].index(b) for a, b in edges))


def _sorted(names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(names.items()))

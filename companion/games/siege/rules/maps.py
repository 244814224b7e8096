"""Reads a map of hexes from TOML, checks it whole and says which line is wrong and why. It plays nothing.

A map holds a name, two blocks of letters with a row of hexes on each line (every second row is shifted to the
right), its walls and gates, the names of its quarters, and names for places::

    name = "Tenochtitlan"
    ground = \"\"\"
    . r h w
     j h p w
    \"\"\"
    zones = \"\"\"
    s m m .
     s m + s
    \"\"\"
    walls = ["b1 sw", "a2 e ne"]
    gates = ["a1 e"]
    [quarters]
    m = "Moyotlan"
    [places]
    b2 = "Templo Mayor"

Ground: ``.`` clear, ``r`` road, ``h`` housing, ``p`` plots, ``j`` jungle, ``t`` temple, ``w`` water. Zones: ``.``
nobody begins here, ``s`` the besiegers do, on the water their boats; ``+`` is city of no quarter, any other small
letter city of the quarter that bears it. A wall or a gate names a hex and the sides of it, each side of the map once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from companion.games.kit import Arg, Facts, Fault, Reader, data_file, toml
from companion.games.siege.rules.field import BESIEGERS, NO_QUARTER, OUTSIDE, TERRAINS, WATER, Field
from companion.games.siege.rules.geometry import LARGEST, SIDES, Grid, bits, grid
from companion.games.siege.rules.roster import ROSTERS, THIRD

LEAST_GARRISON = 3
"""Units that each quarter of the city begins with (ruling S3)."""

MOST_QUARTERS = (len(ROSTERS[THIRD].of("aztecs")) - 1) // LEAST_GARRISON
"""Quarters that a third of the forces can garrison, the leader left free."""

LONGEST_NAME = 40
LONGEST_FILE = 60_000
MOST_FAULTS = 200
"""Where a map has more, the rest is not looked for: each costs a search of the whole text."""

_KEYS = {"name": str, "ground": str, "zones": str, "walls": list, "gates": list, "quarters": dict, "places": dict}


class MapError(ValueError):
    """A map that cannot be played on; the message names the first line that is wrong."""


class _TooManyFaultsError(Exception):
    """A map has as many faults as are looked for."""


@lru_cache(maxsize=64)
def field_of(text: str) -> Field:
    """Return the map that a text holds, or that ships under its name; raises `MapError`. Each text is read once."""
    found, faults = _read(SHIPPED.get(text, text))
    if found is None or faults:
        first = faults[0]
        raise MapError(f"map is wrong in line {first.line}: {first.code} {dict(first.facts)}; {len(faults)} faults")
    return found


def drawn(text: str) -> Field | None:
    """Return the map that a text holds, or that ships under its name, fit to play on or not; else none."""
    return _read(SHIPPED.get(text, text))[0]


def illegible(text: str) -> tuple[Fault, ...]:
    """Return why a text is no map at all; one that can be drawn may still be unplayable."""
    field, found = _read(text)
    if field is None:
        return tuple(sorted(found, key=lambda fault: fault.line))
    if len(field.quarters) > MOST_QUARTERS:
        return tuple(fault for fault in found if fault.code == "map_many_quarters")
    return ()


def faults(text: str) -> tuple[Fault, ...]:
    """Return everything that is wrong with a map, in the order of its lines; an empty list is a map to play on."""
    return tuple(sorted(_read(text)[1], key=lambda fault: fault.line))


def contents(text: str) -> tuple[tuple[str, Facts], ...]:
    """Return what a map without faults holds: its size, the room it has, its quarters."""
    field = field_of(text)
    inside, outside, afloat = field.room()
    return (
        ("map", {"name": field.name, "width": field.grid.width, "height": field.grid.height}),
        ("room", {"inside": inside, "outside": outside, "afloat": afloat}),
        ("quarters", {"n": len(field.quarters), "names": ", ".join(field.quarters.values())}),
    )


def missing_walls(field: Field, grounds: frozenset[str] = frozenset()) -> frozenset[tuple[int, int]]:
    """Return the sides without a wall or a gate between two grounds, or else between the city and land outside it."""
    board, found = field.grid, set()
    for here in range(len(board)):
        for to in board.beside[here][:3]:
            edge = (min(here, to), max(here, to))
            if to < 0 or edge in field.walls or edge in field.gates:
                continue
            if grounds:
                wanted = {field.ground[here], field.ground[to]} == grounds
            else:
                outside = to if field.city >> here & 1 else here
                wanted = (field.city >> here & 1) != (field.city >> to & 1) and not field.water >> outside & 1
            if wanted:
                found.add(edge)
    return frozenset(found)


def with_walls(text: str, words: Sequence[str]) -> str:
    """Return a map with a wall wherever one is missing between two terrains, or without words around the city.

    Raises `ValueError` for other words, or a text that is not a map.
    """
    letters = {name: letter for letter, name in TERRAINS.items()}
    grounds = frozenset(letters[word] for word in words if word in letters)
    if words and (len(words), len(grounds)) != (2, 2):
        raise ValueError(
            f"terrains are {' '.join(words)!r}; expected two of {', '.join(letters)}, or none for the city"
        )
    field = drawn(text)
    if field is None:
        raise ValueError("it cannot be drawn; check it first")
    wanted = field.walls | missing_walls(field, grounds)
    if wanted == field.walls:
        return text
    changed = toml.with_list(text, "walls", _edge_list(field.grid, wanted))
    after = drawn(changed)
    if after is None or after.walls != wanted:
        raise ValueError("its walls are not one list under walls = [...]; expected that")
    return changed


def _read(text: str) -> tuple[Field | None, list[Fault]]:
    if len(text) > LONGEST_FILE:
        return None, [Fault(1, "map_long", {"length": len(text), "longest": LONGEST_FILE})]
    try:
        sheet = _Sheet(toml.read(text))
    except toml.TomlLimitError as error:
        return None, [error.fault]
    except toml.TomlError as error:
        return None, [Fault(error.line, "map_toml", {}, error.column)]
    try:
        field = sheet.field()
    except _TooManyFaultsError:
        field = None
    if field is not None and not sheet.faults:
        sheet.faults += _Inspection(field, sheet).faults()
    return field, sheet.faults


class _Sheet:
    """A map's text while it is read: its parts, where they stand, and what is wrong with them."""

    def __init__(self, document: toml.Document) -> None:
        self.document, self.tree = document, document.tree
        self.line = document.line
        self.faults: list[Fault] = []

    def wrong(self, path: toml.Path, code: str, **facts: Arg) -> None:
        """Note what is wrong with a key or an item."""
        self._note(self.document.fault(path, code, **facts))

    def wrong_row(self, key: str, row: int, code: str, **facts: Arg) -> None:
        """Note what is wrong with a row of a block of letters, from 0."""
        self._note(Fault(self.line(key) + 1 + row, code, facts))

    def _note(self, fault: Fault) -> None:
        self.faults.append(fault)
        if len(self.faults) >= MOST_FAULTS:
            raise _TooManyFaultsError

    def field(self) -> Field | None:
        for key, kind in _KEYS.items():
            if key not in self.tree:
                if key != "places":
                    self._note(Fault(self.document.text.count("\n") + 1, "map_missing", {"key": key}))
            elif not isinstance(self.tree[key], kind):
                self.wrong((key,), "map_kind", key=key)
        for key in self.tree:
            if key not in _KEYS:
                self.wrong((key,), "map_key", key=_excerpt(key))
        if self.faults:
            return None
        rows = self._block("ground", tuple(TERRAINS))
        quarters = self._names("quarters")
        zones = self._block("zones", (OUTSIDE, BESIEGERS, NO_QUARTER, *quarters))
        for letter in quarters:
            if len(letter) != 1 or not "a" <= letter <= "z" or letter == BESIEGERS:
                self.wrong(("quarters", letter), "map_quarter_letter", letter=_excerpt(letter))
        if not 1 <= len(self.tree["name"].strip()) <= LONGEST_NAME:
            self.wrong(("name",), "map_name", longest=LONGEST_NAME)
        if self.faults:
            return None
        board = grid(len(rows[0]), len(rows))
        if [len(row) for row in zones] != [len(row) for row in rows]:
            self.wrong(("zones",), "map_size", width=board.width, height=board.height)
            return None
        walls, gates = self._edges("walls", board), self._edges("gates", board)
        for edge in sorted(walls.keys() & gates.keys()):
            self.wrong(("gates", gates[edge]), "map_gate_in_wall", hex=board.name(edge[0]), other=board.name(edge[1]))
        places = {}
        for name, words in self._names("places").items():
            try:
                places[board.hexagon(name)] = words
            except ValueError:
                self.wrong(("places", name), "map_hex", hex=_excerpt(name))
        if self.faults:
            return None
        joined = ("".join(row) for row in (*rows,)), ("".join(row) for row in (*zones,))
        ground, zoned = ("".join(each) for each in joined)
        name = self.tree["name"].strip()
        return Field(name, board, ground, zoned, quarters, places, frozenset(walls), frozenset(gates))

    def _block(self, key: str, letters: Sequence[str]) -> list[list[str]]:
        rows = [row.split() for row in self.tree[key].strip("\n").split("\n")]
        if not 3 <= len(rows) <= LARGEST or not 3 <= len(rows[0]) <= LARGEST:
            self.wrong_row(key, 0, "map_too_large", largest=LARGEST)
        for n, row in enumerate(rows):
            if len(row) != len(rows[0]):
                self.wrong_row(key, n, "map_row", n=len(row), expected=len(rows[0]))
            for letter in row:
                if letter not in letters:
                    self.wrong_row(key, n, f"map_{key}", letter=_excerpt(letter))
        return rows

    def _names(self, key: str) -> dict[str, str]:
        names = {}
        for name, text in self.tree.get(key, {}).items():
            if isinstance(text, str) and 1 <= len(text.strip()) <= LONGEST_NAME:
                names[name] = text.strip()
            else:
                self.wrong((key, name), "map_name", longest=LONGEST_NAME)
        return names

    def _edges(self, key: str, board: Grid) -> dict[tuple[int, int], int]:
        """Return the edges of a list, each with the place of its item in the list."""
        edges: dict[tuple[int, int], int] = {}
        for n, item in enumerate(self.tree[key]):
            try:
                here, *sides = item.split()
                hexagon = board.hexagon(here)
                towards = [board.beside[hexagon][SIDES.index(side)] for side in sides]
            except (AttributeError, ValueError):
                self.wrong((key, n), "map_edge", edge=_excerpt(item))
                continue
            if not towards or -1 in towards:
                self.wrong((key, n), "map_edge_off", edge=_excerpt(item))
                continue
            for other in towards:
                edge = (min(hexagon, other), max(hexagon, other))
                if edge in edges:
                    self.wrong((key, n), "map_edge_twice", hex=board.name(edge[0]), other=board.name(edge[1]))
                edges[edge] = n
        return edges


class _Inspection:
    """What ruling S1 asks of a map that can be read."""

    def __init__(self, field: Field, sheet: _Sheet) -> None:
        self.field = field
        self.zones = sheet.line("zones")
        self.ground = sheet.line("ground")
        self.walls = sheet.line("walls")
        self.quarters = sheet.line("quarters")

    def faults(self) -> Iterator[Fault]:
        yield from self._lake()
        yield from self._city()
        yield from self._walls()
        yield from self._room()
        yield from self._reach()

    def _lake(self) -> Iterator[Fault]:
        field, board = self.field, self.field.grid
        w, n = board.width, len(board)
        edges = (range(w), range(n - w, n), range(0, n, w), range(w - 1, n, w))
        shores = [edge for edge in edges if all(field.ground[h] == WATER for h in edge)]
        if not shores:
            yield Fault(self.ground, "map_no_lake", {})
        elif not any(
            board.grown(field.spread(1 << edge[0], field.water)) & field.city & ~field.water for edge in shores
        ):
            yield Fault(self.ground, "map_lake_far", {})
        for h in bits(field.water & field.city):
            yield Fault(self._row(self.zones, h), "map_city_in_water", {"hex": board.name(h)})

    def _city(self) -> Iterator[Fault]:
        field, board = self.field, self.field.grid
        if not field.city:
            yield Fault(self.zones, "map_no_city", {})
            return
        if apart := field.city & ~field.spread(1 << field.first(field.city), field.city):
            yield Fault(
                self._row(self.zones, field.first(apart)), "map_city_apart", {"hex": board.name(field.first(apart))}
            )
        if not field.quarters:
            yield Fault(self.quarters, "map_no_quarter", {})
        if len(field.quarters) > MOST_QUARTERS:
            yield Fault(self.quarters, "map_many_quarters", {"n": len(field.quarters), "most": MOST_QUARTERS})
        for letter, hexes in field.quarter_hexes.items():
            if hexes.bit_count() < LEAST_GARRISON:
                yield Fault(
                    self.quarters, "map_small_quarter", {"name": field.quarters[letter], "least": LEAST_GARRISON}
                )

    def _walls(self) -> Iterator[Fault]:
        field, board = self.field, self.field.grid
        for here in bits(field.city):
            for to in bits(board.around[here] & ~field.city & ~field.water):
                edge = (min(here, to), max(here, to))
                if edge not in field.walls and edge not in field.gates:
                    facts = {"hex": board.name(here), "other": board.name(to)}
                    yield Fault(self._row(self.zones, here), "map_open_wall", facts)
        if not any(field.city >> a & field.city >> b & 1 for a, b in field.walls):
            yield Fault(self.walls, "map_no_inner_wall", {})

    def _room(self) -> Iterator[Fault]:
        least = ROSTERS[THIRD]
        wanted = {
            "inside": len(least.of("aztecs")),
            "outside": len(least.of("spaniards")),
            "afloat": len(least.boats),
        }
        wanted["inside"] = max(wanted["inside"], LEAST_GARRISON * len(self.field.quarters) + 1)
        for (where, needed), room in zip(wanted.items(), self.field.room(), strict=True):
            if room < needed:
                yield Fault(self.zones, f"map_room_{where}", {"n": room, "needed": needed})

    def _reach(self) -> Iterator[Fault]:
        field, board = self.field, self.field.grid
        for hexes, code in ((((1 << len(board)) - 1) & ~field.water, "map_cut_off"), (field.water, "map_pond")):
            rest, largest = hexes, 0
            while rest:
                part = field.spread(1 << field.first(rest), hexes)
                rest &= ~part
                largest = max(largest, part, key=int.bit_count)
            if apart := hexes & ~largest:
                h = field.first(apart)
                yield Fault(self._row(self.ground, h), code, {"hex": board.name(h), "n": apart.bit_count()})

    def _row(self, first: int, hexagon: int) -> int:
        return first + 1 + hexagon // self.field.grid.width


def written(field: Field) -> str:
    """Return a map as a file; ``field_of(written(field))`` is the same map again."""
    board = field.grid
    blocks = {
        key: _block(letters, board.width) for key, letters in (("ground", field.ground), ("zones", field.zones))
    }
    parts = [f"name = {_quoted(field.name)}"]
    parts += [f'{key} = """\n{block}\n"""' for key, block in blocks.items()]
    parts += [
        f"{key} = {_edge_list(board, edges)}" for key, edges in (("walls", field.walls), ("gates", field.gates))
    ]
    parts.append("\n".join(["[quarters]", *(f"{key} = {_quoted(words)}" for key, words in field.quarters.items())]))
    places = sorted(field.places.items())
    parts.append("\n".join(["[places]", *(f"{board.name(h)} = {_quoted(words)}" for h, words in places)]))
    return "\n\n".join(parts) + "\n"


def _block(letters: str, width: int) -> str:
    rows = (letters[at : at + width] for at in range(0, len(letters), width))
    return "\n".join(" " * (n % 2) + " ".join(row) for n, row in enumerate(rows))


def _edge_list(board: Grid, edges: frozenset[tuple[int, int]]) -> str:
    of: dict[int, list[str]] = {}
    for here, other in sorted(edges):
        of.setdefault(here, []).append(SIDES[board.beside[here].index(other)])
    return "".join(("[\n", *(f'    "{board.name(h)} {" ".join(sides)}",\n' for h, sides in of.items()), "]"))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _excerpt(value: object) -> str:
    return ascii(value if isinstance(value, str) else type(value).__name__)[1:41].rstrip("'\"")


READER = Reader(faults, contents, {"walls": with_walls})
"""How a table's own map is read (ruling S1)."""

DRAFT_READER = Reader(illegible, lambda _text: ())
"""How the editor reads a map that somebody is still drawing."""

SHIPPED = {name: data_file("siege", f"{name}.toml") for name in ("full", "skirmish")}
"""The maps that come with the game."""

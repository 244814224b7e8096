"""The siege's maps: those that ship, their format, and every fault that is found, on its line (ruling S1)."""

from __future__ import annotations

import pytest

from companion.games.siege.rules import maps
from companion.games.siege.rules.geometry import SIDES, bits, grid
from companion.games.siege.rules.maps import SHIPPED, MapError, faults, field_of, written
from companion.games.siege.rules.roster import FULL, ROSTERS

SKIRMISH = SHIPPED["skirmish"]

shipped = pytest.mark.parametrize("name", SHIPPED)


@shipped
def test_a_map_that_ships_has_no_fault(name: str) -> None:
    """Ruling S1."""
    assert faults(SHIPPED[name]) == ()


@shipped
def test_a_map_that_ships_has_room_for_all_46_on_either_side_and_13_boats(name: str) -> None:
    """Ruling S1: also the skirmish map takes the full forces, where a table wants them."""
    inside, outside, afloat = field_of(name).room()
    assert inside >= len(ROSTERS[FULL].land[0]) == 46
    assert outside >= len(ROSTERS[FULL].land[1]) == 46
    assert afloat >= len(ROSTERS[FULL].boats) == 13


@shipped
def test_a_map_that_ships_has_the_four_campan_and_tlatelolco(name: str) -> None:
    """Ruling S3."""
    assert set(field_of(name).quarters.values()) == {"Tlatelolco", "Cuepopan", "Atzacualco", "Moyotlan", "Teopan"}


@shipped
def test_no_wall_of_a_map_that_ships_stands_at_the_water(name: str) -> None:
    field = field_of(name)
    assert not [edge for edge in field.walls if not (field.dry(edge[0]) and field.dry(edge[1]))]


@shipped
def test_the_whole_city_is_walled_but_for_water_and_gates(name: str) -> None:
    field = field_of(name)
    open_sides = {
        (min(a, b), max(a, b))
        for a in bits(field.city)
        for b in bits(field.grid.around[a] & ~field.city & ~field.water)
    } - field.walls
    assert open_sides <= field.gates


@shipped
def test_a_map_has_a_templo_mayor_on_a_temple_hex(name: str) -> None:
    field = field_of(name)
    (where,) = [h for h, place in field.places.items() if place == "Templo Mayor"]
    assert field.ground[where] == "t"


@shipped
def test_a_map_written_out_is_the_same_map(name: str) -> None:
    field, again = field_of(name), field_of(written(field_of(name)))
    assert vars(again) == vars(field) | {"grid": again.grid}


def test_the_full_map_has_three_causeways_that_end_in_gates() -> None:
    field = field_of("full")
    assert {"Tepeyac", "Tlacopan", "Iztapalapan"} <= set(field.places.values())
    outer = [edge for edge in field.gates if (field.city >> edge[0] & 1) != (field.city >> edge[1] & 1)]
    assert len(outer) >= 3


def test_neighbours_are_mutual_and_one_step_apart() -> None:
    board = grid(7, 6)
    for here in range(len(board)):
        for side, to in enumerate(board.beside[here]):
            if to >= 0:
                assert board.beside[to][(side + 3) % 6] == here
                assert board.distance(here, to) == 1
                assert board.around[here] >> to & 1


def test_the_28th_column_is_ab() -> None:
    board = grid(30, 3)
    assert board.name(27) == "ab1"
    assert board.hexagon("ab1") == 27


def line_of(text: str, words: str) -> int:
    return next(n for n, line in enumerate(text.split("\n"), 1) if words in line)


@pytest.mark.parametrize(
    ("old", "new", "code", "at"),
    [
        ('name = "Huey teocalli"', 'name = ""', "map_name", "name ="),
        ('name = "Huey teocalli"', 'name = 4', "map_kind", "name ="),
        ('name = "Huey teocalli"', 'nam = "x"', "map_key", "nam ="),
        ('name = "Huey teocalli"', "name = ", "map_toml", "name ="),
        ("h . h h r h . p", "h . h q r h . p", "map_ground", "h q r"),
        ("h . h h r h . p", "h . h h r h .", "map_row", "h . h h r h . w"),
        ("s s s . l l l l l l l l . s s s\n s", "s s s . z l l l l l l l . s s s\n s", "map_zones", "z l l"),
        ("l = \"Tlatelolco\"", "ll = \"Tlatelolco\"", "map_quarter_letter", "ll ="),
        ("m = \"Moyotlan\"", "m = \"\"", "map_name", "m = \"\""),
        ('"d3 e"', '"d3 up"', "map_edge", "d3 up"),
        ('"d3 e"', '"z99 e"', "map_edge", "z99 e"),
        ('"d3 e"', '"d3 e", "a1 w"', "map_edge_off", "a1 w"),
        ('"d3 e"', '"d3 e", "e3 w"', "map_edge_twice", "e3 w"),
        ('"d3 e"', '"d3 e", "d7 e"', "map_gate_in_wall", "d7 e"),
        ("j6 = \"Templo Mayor\"", "j66 = \"Templo Mayor\"", "map_hex", "j66"),
        ('"d3 e"', '"a1 e"', "map_open_wall", "s s s . l l l l l l l l . s s s"),
    ],
)  # fmt: skip
def test_a_fault_is_found_on_its_line(old: str, new: str, code: str, at: str) -> None:
    text = SKIRMISH.replace(old, new, 1)
    assert text != SKIRMISH, "the map has changed under this test"
    found = {fault.code: fault.line for fault in faults(text)}
    assert code in found
    assert at in text.split("\n")[found[code] - 1]


def codes(text: str) -> set[str]:
    return {fault.code for fault in faults(text)}


def test_a_map_without_a_lake_along_one_side_is_refused() -> None:
    assert "map_no_lake" in codes(SKIRMISH.replace(" w w w w\n", " w w w .\n", 1))


def test_a_pond_is_refused() -> None:
    assert "map_pond" in codes(SKIRMISH.replace(". j . . . . . .", ". w . . . . . .", 1))


def test_land_that_nobody_reaches_is_refused() -> None:
    """Everything must be reachable: an island in the lake is not."""
    rows = SKIRMISH.split("\n")
    row = line_of(SKIRMISH, "r r r r r r r r r t r r w w w w") - 1
    rows[row] = rows[row].replace("w w w w", "w w . w")
    assert "map_cut_off" in codes("\n".join(rows))


def test_a_city_without_inner_walls_is_refused() -> None:
    field = field_of("skirmish")
    inner = {(a, b) for a, b in field.walls if field.city >> a & 1 and field.city >> b & 1}
    assert "map_no_inner_wall" in codes(_with_walls(field.walls - inner))


def _with_walls(walls: frozenset[tuple[int, int]]) -> str:
    field = field_of("skirmish")
    board = field.grid
    start, end = SKIRMISH.index("walls = ["), SKIRMISH.index("gates = [")
    items = ", ".join(f'"{board.name(a)} {SIDES[board.beside[a].index(b)]}"' for a, b in sorted(walls))
    return f"{SKIRMISH[:start]}walls = [{items}]\n\n{SKIRMISH[end:]}"


def test_a_wall_at_the_lake_may_be_drawn_on_a_map_of_ones_own() -> None:
    """The attack table's -2 exists only there."""
    field = field_of("skirmish")
    shore = next((a, b) for a in bits(field.city) for b in bits(field.grid.around[a] & field.water))
    assert codes(_with_walls(field.walls | {(min(shore), max(shore))})) == set()


def test_a_city_with_too_little_room_is_refused() -> None:
    text = SKIRMISH
    for letter in "s":
        text = text.replace(f"\n{letter} {letter} {letter} .", "\n. . . .").replace(
            f"\n {letter} {letter} {letter} .", "\n . . . ."
        )
    text = text.replace("s s s s s s s s s . . . . s s s", ". . . . . . . . . . . . . s s s")
    assert "map_room_outside" in codes(text)
    assert "map_room_afloat" in codes(SKIRMISH.replace(". s s s\n", ". . . .\n"))


def test_a_quarter_too_small_for_its_garrison_and_one_more_than_the_forces_can_garrison_are_refused() -> None:
    """Ruling S3: or no array could ever stand."""
    text = SKIRMISH.replace("[quarters]", '[quarters]\nq = "Xochimilco"')
    assert {"map_small_quarter", "map_many_quarters"} <= {*codes(text)}


def test_junk_is_a_fault_and_never_an_exception() -> None:
    for text in ("", "x", "=" * 100, "a = [" * 2000, 'ground = """\n"""', "\0", "é" * 70_000, *_mangled()):
        assert faults(text)
        with pytest.raises(MapError):
            field_of(text)


def _mangled() -> list[str]:
    keys = ("name", "ground", "zones", "walls", "gates", "quarters")
    shapes = ("7", '"x"', "[]", "[[1]]", "[7]", "{}", "{ a = 7 }", "true")
    return [f'name = "x"\nground = "{"w w w" if key != "ground" else ""}"\n{key}_ = 1\n' for key in keys] + [
        "\n".join(f"{each} = {shape if each == key else good}" for each, good in _GOOD.items())
        for key in keys
        for shape in shapes
    ]


_GOOD = {
    "name": '"x"',
    "ground": '"""\nw . r\n w . r\nw . r\n"""',
    "zones": '"""\ns a s\n s a s\ns a s\n"""',
    "walls": '["b1 e"]',
    "gates": "[]",
    "quarters": '{ a = "A" }',
}


def test_the_same_text_is_read_once() -> None:
    assert field_of("full") is field_of("full")
    assert maps.field_of(SKIRMISH) is maps.field_of(SKIRMISH)

"""The map editor's value and strokes: sizes, names, files that are not fit to play on yet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from companion.games.kit import USER, Move, Refusal
from companion.games.siege import GAME
from companion.games.siege.page import board
from companion.games.siege.rules import maps
from companion.games.siege.rules.field import TERRAINS
from companion.games.siege.rules.geometry import SIDES
from companion.games.siege.tools import draft as drafts
from tests.games.playouts import check_value

EDITOR = GAME.tools["editor"]
OPTION = EDITOR.options[0]


def opened(start: str = "skirmish") -> Any:
    return EDITOR.rules.setup({"map": start}, (USER,))


def after(state: Any, *moves: Move) -> Any:
    for move in moves:
        state = EDITOR.rules.play(state, USER, move)
        assert not isinstance(state, Refusal), move
    return state


def name(what: str, words: str) -> Move:
    return Move("name", (what, words))


def test_names_on_a_drawn_map_are_as_large_as_at_a_table_whatever_is_painted() -> None:
    for painted in ("ground_road", "zone_1"):
        view = EDITOR.page.view(after(opened(), Move("brush", (painted,))), USER)
        assert EDITOR.page.regions(view)["canvas"]["letters"] == board.drawing(view["map"])["letters"]


def test_map_quarters_and_places_take_names_that_stand_in_the_file() -> None:
    state = after(opened(), name("map", " Mi  ciudad "), name("quarter.l", "Norte"), name("b2", "Casa"))
    field = maps.field_of(EDITOR.written(state))
    assert (field.name, field.quarters["l"]) == ("Mi ciudad", "Norte")
    assert field.places[field.grid.numbers["b2"]] == "Casa"
    check_value(EDITOR, state)


def test_an_empty_name_takes_a_place_off_and_gives_the_others_their_old_one() -> None:
    state = after(opened(), name("j6", ""), name("quarter.m", "Sur"), name("quarter.m", " "), name("map", "\u202e"))
    assert "j6" not in state.named()
    assert (state.named()["quarter.m"], state.named()["map"]) == ("Moyotlan", "Altepetl")


def test_names_are_cleaned_and_may_hold_quotes_and_every_script() -> None:
    words = 'a "b" \\ ~ á 山 <i>'
    state = after(opened(), name("c3", words + "\n\0\u202e"))
    assert state.named()["c3"] == words
    assert maps.field_of(EDITOR.written(state)).places[state.cells.numbers["c3"]] == words
    check_value(EDITOR, state)


@pytest.mark.parametrize(
    "move",
    [name("zz9", "x"), name("quarter.x", "x"), name("map", "x" * 41), Move("name", ("map",)), Move("name", (3, "x"))],
    ids=str,
)
def test_a_name_that_nothing_bears_or_that_is_too_long_is_refused(move: Move) -> None:
    assert isinstance(EDITOR.rules.play(opened(), USER, move), Refusal)


def test_a_name_for_a_hex_that_a_smaller_map_lacks_changes_nothing_there() -> None:
    """An aside is written into every state that may be returned to, whatever its size."""
    state = after(opened(), Move("width", (5,)))
    assert EDITOR.rules.play(state, USER, name("p13", "Far")) == state


def test_a_map_is_cut_and_grown_in_the_east_and_the_south() -> None:
    small = after(opened(), Move("width", (12,)), Move("height", (10,)))
    field = drafts.field(small)
    assert (field.grid.width, field.grid.height) == (12, 10)
    assert all(max(edge) < 120 for edge in (*field.walls, *field.gates))
    assert "o7" not in small.named()
    large = after(small, Move("width", (20,)), Move("height", (14,)))
    assert [large.ground[20 * 3 + c] for c in range(12)] == [small.ground[12 * 3 + c] for c in range(12)]
    check_value(EDITOR, large)


@pytest.mark.parametrize("side", ["width", "height"])
@pytest.mark.parametrize("n", [0, 2, 41, 99])
def test_a_size_that_no_map_has_is_refused_with_the_sizes_that_maps_have(side: str, n: int) -> None:
    refusal = EDITOR.rules.play(opened(), USER, Move(side, (n,)))
    assert refusal == Refusal("bad_size", {"n": str(n), "low": 3, "high": 40})


def test_a_map_of_any_size_can_be_begun_with_clear_land_and_a_lake() -> None:
    state = after(opened(), Move("width", (30,)), Move("height", (40,)), Move("begin", ("blank",)))
    field = drafts.field(state)
    assert (field.grid.width, field.grid.height) == (30, 40)
    assert field.water.bit_count() == 40 * 7
    assert field.walls == frozenset()


def test_a_file_that_is_not_fit_to_play_on_can_be_opened_and_mended() -> None:
    broken = after(opened(), Move("brush", ("ground_water",)), Move("paint", ("b2",)))
    text = EDITOR.written(broken)
    assert [fault.code for fault in maps.faults(text)] == ["map_pond"]
    assert OPTION.accepts(text)
    mended = after(opened(text), Move("paint", ("b2",)))
    assert maps.faults(EDITOR.written(mended)) == ()


def test_a_file_that_is_no_map_cannot_be_opened() -> None:
    assert {fault.code for fault in OPTION.faults("name = 3")} == {"map_kind", "map_missing"}
    assert not OPTION.accepts("[")


def test_quarters_under_other_letters_keep_their_names() -> None:
    text = maps.SHIPPED["skirmish"]
    cut = text.index("zones")
    head, zones = text[:cut], text[cut:]
    start, end = zones.index('"""'), zones.rindex('"""')
    renamed = head + zones[:start] + zones[start:end].replace("u", "k") + zones[end:].replace('u = "C', 'k = "C')
    assert maps.faults(renamed) == ()
    field = maps.field_of(EDITOR.written(opened(renamed)))
    assert sorted(field.quarters.values()) == sorted(maps.field_of("skirmish").quarters.values())


def test_every_map_that_ships_comes_out_of_the_editor_as_it_went_in() -> None:
    for shipped in maps.SHIPPED:
        field, again = maps.field_of(shipped), maps.field_of(EDITOR.written(opened(shipped)))
        assert (again.ground, again.zones, again.walls, again.gates) == (
            field.ground, field.zones, field.walls, field.gates,
        )  # fmt: skip
        assert (again.name, again.quarters, again.places) == (field.name, field.quarters, field.places)


GUIDE = Path(maps.__file__).parents[4] / "docs" / "your-own-map.md"


def test_the_page_on_ones_own_map_names_every_key_and_letter_and_its_example_can_be_opened() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    example = text.partition("```toml\n")[2].partition("```")[0]
    assert maps.illegible(example) == ()
    assert maps.faults(example) != ()
    for word in (*TERRAINS, *SIDES, "name", "ground", "zones", "walls", "gates"):
        assert re.search(rf"`([^`]* )?{re.escape(word)}( [^`]*)?`", text), word


def test_walls_between_two_terrains_are_filled_in_at_once_and_gates_stay() -> None:
    state = after(opened(), Move("between", ("housing", "plots")))
    field = drafts.field(state)
    for a, beside in enumerate(field.grid.beside):
        for b in beside:
            if b > a and {field.ground[a], field.ground[b]} == {"h", "p"}:
                assert (a, b) in field.walls | field.gates
    assert drafts.field(opened()).gates == field.gates
    assert after(state, Move("between", ("housing", "plots"))) == state
    level = EDITOR.rules.choices(state, USER, ("between",))
    assert len(level) == len(TERRAINS) * (len(TERRAINS) - 1) // 2
    assert isinstance(EDITOR.rules.play(state, USER, Move("between", ("plots", "plots"))), Refusal)

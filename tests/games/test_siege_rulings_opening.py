"""The siege's rulings on set-up and events, one test or more for each, by its id; options beside their defaults."""

from __future__ import annotations

import pytest

from companion.games import balance
from companion.games.kit import replace
from companion.games.siege import GAME
from companion.games.siege.rules.state import Outcome
from tests.games.battlefield import (
    AZTEC,
    CHOLULAS,
    CORTEZ,
    CUAUHTEMOC,
    ROGUES,
    SPANISH,
    B,
    C,
    T,
    W,
    at,
    dice,
    do,
    due,
    goes,
    marched,
    moves,
    scene,
)
from tests.games.texts import LIBRARY


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_skirmish_takes_as_long_as_its_turns_and_its_pace_give_at_most(language: str) -> None:
    minutes = GAME.page.minutes["skirmish"]
    assert minutes == int(GAME.presets["skirmish"]["turn_limit"]) * GAME.playtest.paces["skirmish"] // 60 == 133
    assert round(minutes / 60) == 2
    hours = {"en": "about two hours", "es": "unas dos horas"}[language]
    assert hours in LIBRARY.words(language, "siege")("preset.skirmish.about")


@pytest.mark.parametrize("language", ["en", "es"])
def test_s42_the_figures_of_both_readings_stand_beside_the_option(language: str) -> None:
    about = LIBRARY.words(language, "siege")("option.roll_bonus.about")
    (measured,) = [each for each in balance.of(GAME) if each.preset == "classic" and not each.chosen]
    assert about.count(str(measured.won["aztecs"])) == 2
    assert str(measured.games) in about


def opened(preset: str = "skirmish", **chosen: str | int):
    options = {option.key: option.default for option in GAME.options} | dict(GAME.presets[preset]) | chosen
    return GAME.rules.setup(options, ("aztecs", "spaniards"))


def test_clear_ground_costs_one_point() -> None:
    """Ruling S2."""
    beside = ("a5", "c5", "a4", "b4", "a6", "b6")
    assert goes(marched(scene(AZTEC["move"], {W[0]: "b5"}), W[0], 1)) == dict.fromkeys(beside, 1)


def test_each_quarter_begins_with_three_aztec_units() -> None:
    """Ruling S3."""
    state = do(opened(), "rest")
    assert "ready" in {move.name for move in moves(state)}
    quarters = state.field.quarter_hexes
    assert all((state.held[0] & hexes).bit_count() >= 3 for hexes in quarters.values())
    lean = next(name for name in moves(state, "lift") if _in_a_lean_quarter(state, name))
    without = do(state, "lift", lean)
    target = next(name for name in moves(without, "place") if _quarter(without, name) != _quarter(without, lean))
    assert "ready" not in {move.name for move in moves(do(without, "place", target))}


def _quarter(state, name: str) -> str:
    return state.field.quarter_of[state.field.grid.numbers[name]]


def _in_a_lean_quarter(state, name: str) -> bool:
    quarter = _quarter(state, name)
    return bool(quarter) and (state.held[0] & state.field.quarter_hexes[quarter]).bit_count() == 3


def test_a_standing_garrison_keeps_three_in_each_quarter() -> None:
    """Ruling S3, `garrison` always."""
    units = {W[0]: "g5", W[1]: "g1", W[2]: "g9"}
    assert "f5" in goes(marched(scene(AZTEC["move"], units), W[0], 4))
    assert "f5" not in goes(marched(scene(AZTEC["move"], units, garrison="always"), W[0], 4))
    assert "f5" in goes(marched(scene(AZTEC["move"], units | {W[3]: "k9"}, garrison="always"), W[0], 4))


def test_without_a_garrison_any_array_will_do() -> None:
    """Ruling S3, `garrison` off."""
    state = opened(garrison="off")
    while moves(state, "place"):
        state = do(state, "place", moves(state, "place")[0])
    assert "ready" in {move.name for move in moves(state)}


def test_the_aztecs_place_first_in_the_city_then_the_others_outside_it() -> None:
    """Ruling S31."""
    state = opened()
    assert GAME.rules.to_act(state) == ("aztecs",)
    names = state.field.grid.names
    assert set(moves(state, "place")) == {names[h] for h in range(len(names)) if state.field.city >> h & 1}
    state = do(do(state, "rest"), "ready")
    assert GAME.rules.to_act(state) == ("spaniards",)
    assert not any(state.field.city >> state.field.grid.numbers[name] & 1 for name in moves(state, "place"))


def test_the_spaniards_may_place_first() -> None:
    """Ruling S31, `setup_order` spaniards_first."""
    state = opened(setup_order="spaniards_first")
    assert GAME.rules.to_act(state) == ("spaniards",)
    assert GAME.rules.to_act(do(do(state, "rest"), "ready")) == ("aztecs",)


def test_boats_begin_on_the_water_and_may_carry_riders() -> None:
    """Ruling S31."""
    state = do(opened(setup_order="spaniards_first"), "take", "boat")
    harbour = moves(state, "place")
    assert all(not state.field.dry(state.field.grid.numbers[name]) for name in harbour)
    state = do(do(state, "place", harbour[0]), "take", "rogue")
    assert harbour[0] in moves(state, "place")
    assert harbour[1] not in moves(state, "place")


def test_the_app_places_the_rest_so_that_a_side_can_begin() -> None:
    for preset in GAME.presets:
        state = do(do(do(do(opened(preset), "rest"), "ready"), "rest"), "ready")
        assert due(state) == "event"
        assert all(here >= 0 for here in state.at)


def event(n: int, units, **options):
    return dice(replace(scene(SPANISH["event"], units, **options), agenda=(("event",), ("event",))), n)


def test_two_rolls_a_turn_each_take_one_unit_that_its_owner_picks() -> None:
    """Ruling S5."""
    units = {CUAUHTEMOC: "k9", W[0]: "g1", W[1]: "g3", CORTEZ: "a1", C[0]: "a2", T[0]: "a3"}
    units |= {CHOLULAS[0]: "a4", ROGUES[0]: "a5", B[0]: "n1"}
    for n in (1, 2, 3):
        state = event(n, units)
        assert GAME.rules.to_act(state) == ("aztecs",)
        assert moves(state, "succumb") == [W[0], W[1]]
    for n in (4, 5, 6):
        state = event(n, units)
        assert GAME.rules.to_act(state) == ("spaniards",)
        assert moves(state, "succumb") == [T[0], CHOLULAS[0]]
    state = do(state, "succumb", T[0])
    assert at(state, T[0]) == "dead"
    assert due(state) == "event"


def test_rogue_aztecs_may_count_as_allies() -> None:
    """Ruling S5, `rogues_are_allies`."""
    assert moves(event(6, {T[0]: "a3", ROGUES[0]: "a5"}, rogues_are_allies="on"), "succumb") == [T[0], ROGUES[0]]


def test_leaders_do_not_die_of_disease_unless_the_table_wants_it() -> None:
    """Ruling S5, `leader_immune`."""
    assert due(event(1, {CUAUHTEMOC: "k9", CORTEZ: "a1"})) == "event"
    mortal = event(1, {CUAUHTEMOC: "k9", CORTEZ: "a1"}, leader_immune="off")
    assert moves(mortal, "succumb") == [CUAUHTEMOC]
    assert do(mortal, "succumb", CUAUHTEMOC).outcome == Outcome("captured", "spaniards")


def test_where_nobody_is_left_to_die_nothing_happens() -> None:
    """Ruling S5."""
    assert due(event(6, {CUAUHTEMOC: "k9", CORTEZ: "a1", C[0]: "a2"})) == "event"

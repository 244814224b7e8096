"""The siege's rulings, one test or more for each, by its id; options beside their defaults."""

from __future__ import annotations

from fractions import Fraction

import pytest

from companion.games.kernel import CHANCE, Move, Refusal, changed
from companion.games.siege import GAME
from companion.games.siege.rules import fighting
from companion.games.siege.rules.state import Outcome
from tests.games.battlefield import (
    AZTEC,
    BOATS,
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
    is_routed,
    marched,
    moves,
    plain,
    scene,
)


def opened(preset: str = "skirmish", **chosen: str | int):
    options = {option.key: option.default for option in GAME.options} | dict(GAME.presets[preset]) | chosen
    return GAME.setup(options, ("aztecs", "spaniards"))


def fought(*rolls: int, **options: str | int):
    """A warrior on c5 attacks a Totonac on d5 in the open; the dice fall as told."""
    state = scene(AZTEC["attack"], {W[0]: "c5", T[0]: "d5", CUAUHTEMOC: "k9", CORTEZ: "a1"}, **options)
    return dice(do(state, "attack", W[0], "d5"), *rolls)


# Set-up.


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
    assert GAME.to_act(state) == ("aztecs",)
    names = state.field.grid.names
    assert set(moves(state, "place")) == {names[h] for h in range(len(names)) if state.field.city >> h & 1}
    state = do(do(state, "rest"), "ready")
    assert GAME.to_act(state) == ("spaniards",)
    assert not any(state.field.city >> state.field.grid.numbers[name] & 1 for name in moves(state, "place"))


def test_the_spaniards_may_place_first() -> None:
    """Ruling S31, `setup_order` spaniards_first."""
    state = opened(setup_order="spaniards_first")
    assert GAME.to_act(state) == ("spaniards",)
    assert GAME.to_act(do(do(state, "rest"), "ready")) == ("aztecs",)


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


# Events.


def event(n: int, units, **options):
    return dice(changed(scene(SPANISH["event"], units, **options), agenda=(("event",), ("event",))), n)


def test_two_rolls_a_turn_each_take_one_unit_that_its_owner_picks() -> None:
    """Ruling S5."""
    units = {CUAUHTEMOC: "k9", W[0]: "g1", W[1]: "g3", CORTEZ: "a1", C[0]: "a2", T[0]: "a3"}
    units |= {CHOLULAS[0]: "a4", ROGUES[0]: "a5", B[0]: "n1"}
    for n in (1, 2, 3):
        state = event(n, units)
        assert GAME.to_act(state) == ("aztecs",)
        assert moves(state, "succumb") == [W[0], W[1]]
    for n in (4, 5, 6):
        state = event(n, units)
        assert GAME.to_act(state) == ("spaniards",)
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


# Movement.


def test_a_march_is_declared_then_rolled_with_one_die_or_two() -> None:
    """Ruling S6."""
    state = scene(SPANISH["move"], {T[0]: "c5", W[0]: "k9"})
    assert set(GAME.chance(do(state, "march", T[0])).outcomes.values()) == {Fraction(1, 6)}
    forced = GAME.chance(do(state, "force", T[0])).outcomes
    assert forced[Move("pace", (7,))] == Fraction(1, 6)
    assert forced[Move("pace", (2,))] == Fraction(1, 36)
    assert sum(forced.values()) == 1


def test_who_marched_by_force_does_not_attack() -> None:
    """Ruling S6."""
    state = scene(SPANISH["move"], {T[0]: "c5", T[1]: "c7", W[0]: "e5", W[1]: "d7"})
    state = do(dice(do(state, "force", T[0]), 2), "go", "d5")
    assert {unit for unit, _ in moves(do(state, "done"), "attack")} == {T[1]}


def test_all_that_have_not_rolled_can_be_rolled_for_one_after_another() -> None:
    """Ruling S6."""
    state = scene(SPANISH["move"], {T[0]: "c5", T[1]: "c7", B[0]: "n5", W[0]: "k9"})
    state = dice(do(state, "all"), 2, 6, 4)
    assert [state.purse[u] for u in (T[0], T[1], B[0])] == [2, 6, 4]
    assert "a7" in goes(do(state, "walk", T[1]))


def test_a_routed_unit_may_march_too() -> None:
    """Ruling S6."""
    state = scene(SPANISH["move"], {T[0]: "c5", W[0]: "k9"}, routed=(T[0],))
    assert T[0] in moves(state, "force")


def test_where_points_do_not_suffice_a_unit_cannot_enter() -> None:
    """Ruling S7."""
    board = plain("t:d5 h:c5")
    state = marched(scene(AZTEC["move"], {W[0]: "c5", T[0]: "a1"}, board=board), W[0], 2)
    assert "d5" not in goes(state)
    freed = marched(scene(AZTEC["move"], {W[0]: "c5", T[0]: "a1"}, board=board, min_one_hex="on"), W[0], 2)
    assert goes(freed)["d5"] == 2


def test_a_wall_costs_two_points_beside_the_ground_and_a_gate_nothing() -> None:
    """Rulings S8 and S9."""
    board = plain("h:g5", gates="f3-g3")
    state = marched(scene(SPANISH["move"], {T[0]: "f5", T[1]: "f3"}, board=board), T[0], 4)
    assert goes(state)["g5"] == 4
    assert goes(marched(state, T[1], 1))["g3"] == 1


@pytest.mark.parametrize(("letter", "cost"), [(".", 1), ("r", 1), ("h", 2), ("p", 2), ("t", 3), ("j", 3)])
def test_each_ground_has_its_cost(letter: str, cost: int) -> None:
    """Ruling S2 and the table of the rules."""
    board = plain(f"{letter}:d5" if letter != "." else "")
    assert goes(marched(scene(AZTEC["move"], {W[0]: "c5"}, board=board), W[0], 6))["d5"] == cost


def test_friends_are_passed_but_not_shared_enemies_and_fire_not_even_passed() -> None:
    """Rulings S10, S17 and S29."""
    corridor = plain("j:c4,c6,d4,d6,b4,b6")
    free = marched(scene(AZTEC["move"], {W[0]: "b5", W[1]: "c5"}, board=corridor), W[0], 2)
    assert "c5" not in goes(free)
    assert goes(free)["d5"] == 2
    assert "d5" not in goes(marched(scene(AZTEC["move"], {W[0]: "b5", T[0]: "c5"}, board=corridor), W[0], 2))
    assert "d5" not in goes(marched(scene(AZTEC["move"], {W[0]: "b5"}, fires=("c5",), board=corridor), W[0], 2))


def test_a_boat_carries_one_rider() -> None:
    """Ruling S10, `boat_capacity`."""
    units = {T[0]: "k5", T[1]: "l5", B[0]: "l5", W[0]: "a1"}
    assert "l5" not in goes(marched(scene(SPANISH["move"], units), T[0], 3))
    assert goes(marched(scene(SPANISH["move"], units, boat_capacity=2), T[0], 3))["l5"] == 1


def test_boarding_costs_a_point_landing_the_ground_and_both_leave_what_remains() -> None:
    """Ruling S11."""
    board = plain("h:k7")
    state = marched(scene(SPANISH["move"], {T[0]: "k5", B[0]: "l5", W[0]: "a1"}, board=board), T[0], 6)
    assert goes(state)["l5"] == 1
    state = do(state, "go", "l5")
    assert state.purse[T[0]] == 5
    state = do(state, "go", "l7")
    assert at(state, B[0]) == at(state, T[0]) == "l7"
    assert goes(state)["k7"] == 2
    ashore = do(state, "go", "k7")
    assert (at(ashore, T[0]), at(ashore, B[0])) == ("k7", "l7")
    assert ashore.purse[T[0]] == 1


def test_boarding_may_take_a_whole_move() -> None:
    """Ruling S11, `boarding` whole_move."""
    units = {T[0]: "k5", B[0]: "l5", W[0]: "a1"}
    state = marched(scene(SPANISH["move"], units, boarding="whole_move"), T[0], 6)
    assert goes(state)["l5"] == 6
    assert "l5" not in goes(do(state, "go", "j5"))
    aboard = scene(SPANISH["move"], {T[0]: "l5", B[0]: "l5", W[0]: "a1"}, boarding="whole_move")
    assert goes(marched(aboard, T[0], 5))["k5"] == 5
    assert "k5" not in goes(do(marched(aboard, T[0], 5), "go", "m5"))


def test_an_empty_boat_moves_cannot_attack_and_sinks_when_it_is_defeated() -> None:
    """Ruling S12."""
    units = {B[0]: "l5", W[0]: "k5", T[0]: "a1", CORTEZ: "a2", CUAUHTEMOC: "g9"}
    assert goes(marched(scene(SPANISH["move"], units), B[0], 2))["n5"] == 2
    assert due(do(scene(SPANISH["move"], units), "done")) == ""
    assert moves(scene(SPANISH["attack"], units), "attack") == []
    state = dice(do(scene(AZTEC["attack"], units), "attack", W[0], "l5"), 6)
    assert at(state, B[0]) == "dead"


def test_empty_boats_may_count_as_units() -> None:
    """Ruling S12, `empty_boats` unit."""
    units = {B[0]: "l5", W[0]: "k5", T[0]: "a1", CORTEZ: "a2", CUAUHTEMOC: "g9"}
    assert moves(scene(SPANISH["attack"], units, empty_boats="unit"), "attack") == [(B[0], "k5")]
    state = dice(do(scene(AZTEC["attack"], units, empty_boats="unit"), "attack", W[0], "l5"), 6)
    assert due(state) == "fate"


def test_aztecs_use_no_boats() -> None:
    """Ruling S12."""
    assert "l5" not in goes(marched(scene(AZTEC["move"], {W[0]: "k5", B[0]: "l5"}), W[0], 6))


def test_boat_and_rider_are_destroyed_together_and_routed_together() -> None:
    """Ruling S13."""
    units = {B[0]: "l5", T[0]: "l5", W[0]: "k5", CORTEZ: "a2", CUAUHTEMOC: "g9"}
    struck = dice(do(scene(AZTEC["attack"], units), "attack", W[0], "l5"), 6)
    lost = dice(struck, 2)
    assert (at(lost, B[0]), at(lost, T[0])) == ("dead", "dead")
    fled = dice(struck, 3, 1)
    assert due(fled) == "retreat"
    fled = do(fled, "retreat", moves(fled, "retreat")[0])
    assert at(fled, B[0]) == at(fled, T[0]) != "l5"
    assert is_routed(fled, T[0])


# Attacks.


@pytest.mark.parametrize(
    ("modifier", "win", "nothing", "lose"),
    [(-2, 0, 3, 3), (-1, 1, 3, 2), (0, 2, 3, 1), (1, 3, 2, 1), (2, 4, 1, 1), (3, 5, 0, 1)],
)
def test_the_attack_table_is_the_enumerated_one(modifier: int, win: int, nothing: int, lose: int) -> None:
    """Rulings S20 and S34."""
    assert fighting.odds(modifier) == (Fraction(win, 6), Fraction(nothing, 6), Fraction(lose, 6))


def test_a_natural_one_and_a_modified_one_lose() -> None:
    """Ruling S20."""
    assert fighting.verdict(1, 3) == "attacker"
    assert fighting.verdict(3, -2) == "attacker"
    assert fighting.verdict(2, 0) == "nothing"


def test_a_natural_five_may_always_hit() -> None:
    """Ruling S34, `natural_hit`."""
    assert fighting.verdict(5, -2) == "nothing"
    assert fighting.verdict(5, -2, natural_hit=True) == "defender"


def reasons(units, unit: int, target: str, phase: int, **more) -> dict[str, int]:
    state = scene(phase, units, **more)
    return fighting.modifiers(state, unit, state.field.grid.numbers[target])


SA, AA = SPANISH["attack"], AZTEC["attack"]


def test_all_modifiers_add_up() -> None:
    """Ruling S21."""
    units = {C[0]: "c5", CORTEZ: "b5", W[0]: "d5"}
    assert reasons(units, C[0], "d5", SA, routed=(W[0],)) == {"conquistador": 1, "leader": 1, "routed": 1}
    assert reasons({CORTEZ: "c5", W[0]: "d5"}, CORTEZ, "d5", SA) == {"leader": 1}
    assert reasons({CORTEZ: "c5", W[0]: "d5"}, W[0], "c5", AA) == {"against_conquistador": -1}
    assert reasons({C[0]: "c5", W[0]: "d5"}, W[0], "c5", AA) == {"against_conquistador": -1}


def test_cortez_may_count_as_a_conquistador() -> None:
    """Ruling S21, `cortez_conquistador`."""
    units = {CORTEZ: "c5", W[0]: "d5"}
    assert reasons(units, CORTEZ, "d5", SA, cortez_conquistador="on") == {"conquistador": 1, "leader": 1}


def test_a_routed_leader_inspires_nobody() -> None:
    """Ruling S22."""
    units = {T[0]: "c5", CORTEZ: "b5", W[0]: "d5"}
    assert reasons(units, T[0], "d5", SA) == {"leader": 1}
    assert reasons(units, T[0], "d5", SA, routed=(CORTEZ,)) == {}


def test_a_wall_between_helps_the_aztecs_against_every_unit_of_the_other_side() -> None:
    """Ruling S23."""
    board = plain(walls="h5-i5", gates="f3-g3")
    assert reasons({T[0]: "f5", W[0]: "g5"}, T[0], "g5", SA, board=board) == {"wall": -1}
    assert reasons({T[0]: "f3", W[0]: "g3"}, T[0], "g3", SA, board=board) == {}
    assert reasons({T[0]: "f5", W[0]: "g5"}, W[0], "f5", AA, board=board) == {}
    inner = {T[0]: "h5", W[0]: "i5"}
    assert reasons(inner, T[0], "i5", SA, board=board) == {"wall": -1}
    assert reasons(inner, T[0], "i5", SA, board=board, inner_walls="off") == {}


def test_on_a_boat_attack_and_rally_suffer_but_not_movement() -> None:
    """Ruling S24."""
    units = {T[0]: "l5", B[0]: "l5", W[0]: "k5"}
    assert reasons(units, T[0], "k5", SA) == {"boat": -1}
    rally = scene(SPANISH["rally"], units | {W[0]: "a1"}, routed=(T[0],))
    assert is_routed(dice(rally, 5), T[0])
    assert not is_routed(dice(rally, 6), T[0])
    assert goes(marched(scene(SPANISH["move"], units), T[0], 2))["n5"] == 2


def test_a_boat_against_a_wall_at_the_lake_cannot_win() -> None:
    board = plain(walls="k5-l5")
    units = {T[0]: "l5", B[0]: "l5", W[0]: "k5"}
    assert reasons(units, T[0], "k5", SA, board=board) == {"wall": -1, "boat": -1}
    assert fighting.odds(-2).defender == 0


def test_to_be_beside_is_enough_even_over_the_shore() -> None:
    """Ruling S33."""
    assert moves(scene(AA, {W[0]: "k5", T[0]: "l5", B[0]: "l5"}), "attack") == [(W[0], "l5")]


def test_routed_units_do_not_attack() -> None:
    state = scene(AA, {W[0]: "c5", W[1]: "d6", T[0]: "d5"}, routed=(W[1],), rout_contact="next_move")
    assert {unit for unit, _ in moves(state, "attack")} == {W[0]}


# What comes of it.


def test_a_leader_is_captured_when_destroyed() -> None:
    """Ruling S4."""
    state = scene(AA, {W[0]: "c5", CORTEZ: "d5", CUAUHTEMOC: "k9"})
    struck = dice(do(state, "attack", W[0], "d5"), 6)
    assert struck.outcome is None
    assert dice(struck, 1).outcome == Outcome("captured", "aztecs")
    assert dice(struck, 3).outcome is None


def test_a_leader_may_be_captured_by_any_defeat() -> None:
    """Ruling S4, `capture` defeated."""
    state = scene(SA, {T[0]: "c5", CUAUHTEMOC: "d5", CORTEZ: "a1"}, capture="defeated")
    assert dice(do(state, "attack", T[0], "d5"), 5).outcome == Outcome("captured", "spaniards")


def test_a_leader_that_cannot_retreat_is_captured() -> None:
    """Ruling S4."""
    board = plain("j:a2")
    state = scene(AA, {W[0]: "b1", CORTEZ: "a1", CUAUHTEMOC: "k9"}, board=board)
    assert dice(do(state, "attack", W[0], "a1"), 6, 4, 1).outcome == Outcome("captured", "aztecs")


def test_one_or_two_destroys_and_more_routs() -> None:
    for n in (1, 2):
        assert at(fought(6, n), T[0]) == "dead"
    for n in (3, 6):
        assert is_routed(fought(6, n), T[0])


def test_no_step_of_a_routed_unit_comes_nearer_to_the_nearest_enemy() -> None:
    """Ruling S14."""
    units = {T[0]: "c5", W[0]: "e5", W[1]: "a1"}
    state = marched(scene(SPANISH["move"], units, routed=(T[0],)), T[0], 6)
    distance = state.field.grid.distance
    numbers = state.field.grid.numbers
    foes = [numbers["e5"], numbers["a1"]]
    assert goes(state)
    assert all(min(distance(numbers[name], foe) for foe in foes) >= 2 for name in goes(state))
    strict = marched(scene(SPANISH["move"], units, routed=(T[0],), rout_measure="any"), T[0], 6)
    assert set(goes(strict)) < set(goes(state))
    here = numbers["c5"]
    assert all(distance(numbers[name], foe) >= distance(here, foe) for name in goes(strict) for foe in foes)


def test_a_routed_unit_that_an_enemy_comes_up_to_flees_at_once() -> None:
    """Ruling S15."""
    state = marched(scene(AZTEC["move"], {W[0]: "f5", T[0]: "c5", CORTEZ: "a1"}, routed=(T[0],)), W[0], 2)
    state = do(state, "go", "d5")
    assert due(state) == "flight"
    assert GAME.chance(state).seat == "spaniards"
    after = dice(state, 1)
    assert GAME.to_act(after) == ("spaniards",)
    after = do(after, "retreat", moves(after, "retreat")[0])
    assert GAME.to_act(after) == ("aztecs",)
    assert not after.agenda


def test_contact_may_wait_for_the_units_own_move() -> None:
    """Ruling S15, `rout_contact` next_move."""
    units = {W[0]: "f5", T[0]: "c5", T[1]: "a5", CORTEZ: "a1"}
    state = scene(AZTEC["move"], units, routed=(T[0],), rout_contact="next_move")
    state = do(marched(state, W[0], 2), "go", "d5")
    assert due(state) == ""
    own = scene(SPANISH["move"], units | {W[0]: "d5"}, routed=(T[0],), rout_contact="next_move")
    assert at(do(own, "done"), T[0]) == "dead"
    saved = do(marched(own, T[0], 2), "go", "a4")
    assert at(do(saved, "done"), T[0]) == "a4"


def test_a_retreat_spends_exactly_its_points_and_ends_farther_from_the_victor() -> None:
    """Ruling S16."""
    state = fought(6, 3, 2)
    numbers, distance = state.field.grid.numbers, state.field.grid.distance
    ends = moves(state, "retreat")
    assert {distance(numbers[name], numbers["c5"]) for name in ends} == {2, 3}
    assert {distance(numbers[name], numbers["d5"]) for name in ends} == {1, 2}, "two points may lead round a corner"
    one = moves(fought(6, 3, 1), "retreat")
    assert {distance(numbers[name], numbers["d5"]) for name in one} == {1}


def housed(n: int, **options):
    homes = "h:" + ",".join(f"{c}{r}" for c in "abcdef" for r in range(1, 10))
    units = {W[0]: "c5", T[0]: "d5", CUAUHTEMOC: "k9", CORTEZ: "a1"}
    state = scene(AA, units, board=plain(homes), **options)
    return dice(do(state, "attack", W[0], "d5"), 6, 4, n)


def test_among_houses_only_a_two_saves_a_routed_unit() -> None:
    """Ruling S16: an exact spend, which an odd number of points cannot make there."""
    assert at(housed(1), T[0]) == "dead"
    assert at(housed(3), T[0]) == "dead"
    assert at(housed(2), T[0]) != "dead"


def test_a_retreat_may_be_of_at_most_its_points_or_of_hexes() -> None:
    """Ruling S16, `rout_move`."""
    assert at(housed(3, rout_move="at_most"), T[0]) != "dead"
    assert at(housed(1, rout_move="at_most"), T[0]) == "dead"
    assert at(housed(1, rout_move="hexes"), T[0]) != "dead"


def test_a_retreat_passes_friends_but_neither_fire_nor_the_edge_of_the_map() -> None:
    """Ruling S17."""
    units = {W[0]: "c1", T[0]: "b1", T[1]: "a1", CUAUHTEMOC: "k9", CORTEZ: "n9", B[0]: "n9"}
    state = dice(do(scene(AA, units, board=plain("j:a2,b2")), "attack", W[0], "b1"), 6, 4, 1)
    assert at(state, T[0]) == "dead", "a friend stands on the only hex one point away"
    burning = scene(AA, {k: v for k, v in units.items() if k != T[1]}, fires=("a1",), board=plain("j:a2,b2"))
    assert at(dice(do(burning, "attack", W[0], "b1"), 6, 4, 1), T[0]) == "dead"
    free = scene(AA, {k: v for k, v in units.items() if k != T[1]}, board=plain("j:a2,b2"))
    assert at(dice(do(free, "attack", W[0], "b1"), 6, 4, 1), T[0]) == "a1"


PACKED = {T[0]: "d5", T[1]: "e5", CHOLULAS[0]: "f5", W[0]: "c5", CUAUHTEMOC: "k9", CORTEZ: "a9"}


def panicking(**options):
    """The Totonac on d5 routs and goes; the one beside it on e5 is asked, whose neighbour on f5 may be."""
    state = dice(do(scene(AA, PACKED, **options), "attack", W[0], "d5"), 6, 4, 2)
    return do(state, "retreat", moves(state, "retreat")[0]) if due(state) == "retreat" else state


def test_the_neighbours_of_the_defeated_unit_are_asked_once_where_it_stood() -> None:
    """Ruling S18."""
    state = panicking()
    assert state.agenda[0][:2] == ("panic", T[1])
    calm = dice(state, 3)
    assert not is_routed(calm, T[1])
    wild = dice(state, 2)
    assert is_routed(wild, T[1])
    assert not [task for task in wild.agenda if task[0] == "panic"]


def test_panic_may_run_on() -> None:
    """Ruling S18, `panic` chain: each unit is asked once."""
    state = dice(panicking(panic="chain"), 2)
    asked = [task[1] for task in state.agenda if task[0] == "panic"]
    assert asked == [CHOLULAS[0]]


def test_an_attacker_that_loses_spreads_panic_and_a_destroyed_unit_does_not() -> None:
    """Ruling S19."""
    units = {W[0]: "c5", W[1]: "b5", T[0]: "d5", CUAUHTEMOC: "k9", CORTEZ: "a9"}
    lost = dice(do(scene(AA, units), "attack", W[0], "d5"), 1, 4)
    assert [task[:2] for task in lost.agenda if task[0] == "panic"] == [("panic", W[1])]
    dead = dice(do(scene(AA, units), "attack", W[0], "d5"), 1, 1)
    assert not [task for task in dead.agenda if task[0] == "panic"]


def test_each_unit_attacks_once_and_a_victor_may_step_on_and_attack_again() -> None:
    """Ruling S25."""
    units = {W[0]: "c5", W[1]: "a9", T[0]: "d5", T[1]: "e5", CUAUHTEMOC: "k9", CORTEZ: "a1"}
    state = do(scene(AA, units), "attack", W[0], "d5")
    assert not [unit for unit, _ in moves(dice(state, 3), "attack") if unit == W[0]]
    won = dice(state, 6, 1)
    assert due(won) == "victory"
    again = do(won, "advance", "d5")
    assert (W[0], "e5") in moves(again, "attack")
    assert W[0] not in [unit for unit, _ in moves(do(won, "hold"), "attack")]
    third = dice(do(again, "attack", W[0], "e5"), 6, 1)
    assert due(third) == "victory"


def test_a_victor_may_be_held_to_one_advance() -> None:
    """Ruling S25, `advance` once."""
    units = {W[0]: "c5", T[0]: "d5", T[1]: "e5", TLAX: "a9", CUAUHTEMOC: "k9", CORTEZ: "a1"}
    won = dice(do(scene(AA, units, advance="once"), "attack", W[0], "d5"), 6, 1)
    state = dice(do(do(won, "advance", "d5"), "attack", W[0], "e5"), 6, 1)
    assert due(state) != "victory"


TLAX = 21


def test_a_victor_steps_over_walls_and_any_ground_but_not_into_fire_water_or_units() -> None:
    """Ruling S25."""
    board = plain("t:h5 h:f5")
    units = {W[0]: "g5", W[1]: "f4", T[0]: "f5", CUAUHTEMOC: "k9", CORTEZ: "a1"}
    won = dice(do(scene(AA, units, board=board), "attack", W[0], "f5"), 6, 1)
    assert set(moves(won, "advance")) == {"h5", "g6", "f6", "g4"}, "f5 burns, on f4 stands a friend, h5 is a temple"


def test_a_defender_that_wins_does_not_advance() -> None:
    """Ruling S26."""
    assert due(fought(1, 1)) != "victory"


def test_a_routed_unit_that_is_defeated_again_dies_or_routs_again() -> None:
    """Ruling S27."""
    units = {W[0]: "c5", T[0]: "d5", CUAUHTEMOC: "k9", CORTEZ: "a1"}
    state = scene(AA, units, routed=(T[0],), rout_contact="next_move")
    struck = dice(do(state, "attack", W[0], "d5"), 4)
    assert due(struck) == "fate"
    assert at(dice(struck, 2), T[0]) == "dead"
    assert due(dice(struck, 3)) == "flight"


def test_a_defeated_units_house_burns_the_attackers_too_but_panic_burns_nothing() -> None:
    """Rulings S28 and S38."""
    units = {W[0]: "c5", W[1]: "b5", T[0]: "d5", CUAUHTEMOC: "k9", CORTEZ: "a9"}
    board = plain("h:c5,b5")
    lost = dice(do(scene(AA, units, board=board), "attack", W[0], "d5"), 1, 4, 2)
    lost = do(lost, "retreat", moves(lost, "retreat")[0]) if due(lost) == "retreat" else lost
    burning = {lost.field.grid.names[h] for h in range(len(lost.field.grid)) if lost.fires >> h & 1}
    assert burning == {"c5"}
    panicked = dice(lost, 1, 2)
    panicked = do(panicked, "retreat", moves(panicked, "retreat")[0]) if due(panicked) == "retreat" else panicked
    assert not panicked.fires >> panicked.field.grid.numbers["b5"] & 1


def test_the_victor_does_not_advance_into_the_fire_it_made() -> None:
    """Ruling S38."""
    board = plain("h:d5")
    state = scene(AA, {W[0]: "c5", T[0]: "d5", CUAUHTEMOC: "k9", CORTEZ: "a1"}, board=board)
    won = dice(do(state, "attack", W[0], "d5"), 6, 1)
    assert due(won) == "victory"
    assert "d5" not in moves(won, "advance")


def test_fire_goes_out_on_one_or_two_and_does_not_spread() -> None:
    """Ruling S29."""
    state = scene(AZTEC["fire"], {CUAUHTEMOC: "k9", CORTEZ: "a1"}, fires=("c5", "d5"))
    after = dice(state, 2, 3)
    names = after.field.grid.names
    assert {names[h] for h in range(len(names)) if after.fires >> h & 1} == {"d5"}


def test_a_unit_rallies_on_five_beside_its_leader_on_four_the_leader_without_a_bonus() -> None:
    """Ruling S30."""
    alone = scene(AZTEC["rally"], {W[0]: "c5", CUAUHTEMOC: "k9", T[0]: "a1"}, routed=(W[0],))
    assert is_routed(dice(alone, 4), W[0])
    assert not is_routed(dice(alone, 5), W[0])
    led = scene(AZTEC["rally"], {W[0]: "c5", CUAUHTEMOC: "d5", T[0]: "a1"}, routed=(W[0],))
    assert not is_routed(dice(led, 4), W[0])
    leader = scene(AZTEC["rally"], {CUAUHTEMOC: "d5", T[0]: "a1"}, routed=(CUAUHTEMOC,))
    assert is_routed(dice(leader, 4), CUAUHTEMOC)


def test_beside_an_enemy_nobody_rallies() -> None:
    near = scene(AZTEC["rally"], {W[0]: "c5", T[0]: "d5"}, routed=(W[0],), rout_contact="next_move")
    assert not [task for task in near.agenda if task[0] == "rally"]


def test_the_siege_has_no_end_of_its_own_but_a_turn_limit_is_an_aztec_win() -> None:
    """Ruling S32."""
    units = {CUAUHTEMOC: "k9", CORTEZ: "a1"}
    last = scene(AZTEC["move"], units, turn=20, turn_limit=20)
    assert do(last, "done").outcome == Outcome("limit", "aztecs")
    assert do(scene(AZTEC["move"], units, turn=20), "done").outcome is None


def test_a_panicked_unit_retreats_or_only_turns_over() -> None:
    """Ruling S35, `panic_move`."""
    assert due(dice(panicking(), 2)) == "flight"
    stays = dice(panicking(panic_move="off", rout_contact="next_move"), 2)
    assert is_routed(stays, T[1])
    assert at(stays, T[1]) == "e5"


def test_the_nearest_to_the_victor_is_asked_first() -> None:
    """Ruling S35."""
    units = PACKED | {CHOLULAS[0]: "c6", T[1]: "e5"}
    state = dice(do(scene(AA, units), "attack", W[0], "d5"), 6, 4)
    asked = [int(task[1]) for task in state.agenda if task[0] == "panic"]
    distance, c5 = state.field.grid.distance, state.field.grid.numbers["c5"]
    assert [distance(state.at[u], c5) for u in asked] == sorted(distance(state.at[u], c5) for u in asked)
    assert asked == [CHOLULAS[0], T[1]]


def test_a_routed_attacker_flees_from_its_defender() -> None:
    """Ruling S36."""
    state = fought(1, 4, 1)
    numbers, distance = state.field.grid.numbers, state.field.grid.distance
    assert GAME.to_act(state) == ("aztecs",)
    assert all(distance(numbers[name], numbers["d5"]) == 2 for name in moves(state, "retreat"))


def test_still_beside_an_enemy_a_routed_unit_flees_once_more_and_then_is_lost() -> None:
    """Ruling S37."""
    units = {W[0]: "c5", W[1]: "f5", T[0]: "d5", CUAUHTEMOC: "k9", CORTEZ: "a1"}
    state = dice(do(scene(AA, units), "attack", W[0], "d5"), 6, 4, 1)
    state = do(state, "retreat", "e5") if due(state) == "retreat" else state
    assert at(state, T[0]) == "e5"
    assert state.agenda[0][0] == "flight"
    assert state.agenda[0][3] == 0, "its last try"
    again = dice(state, 1)
    if due(again) == "retreat":
        again = do(again, "retreat", moves(again, "retreat")[0])
    beside = at(again, T[0]) != "dead" and any(
        again.field.grid.distance(again.at[T[0]], again.at[w]) == 1 for w in W[:2]
    )
    assert not beside


def test_a_victor_on_a_boat_advances_over_water_only() -> None:
    """Ruling S39."""
    units = {T[0]: "l5", B[0]: "l5", W[0]: "k5", CUAUHTEMOC: "g9", CORTEZ: "a1"}
    won = dice(do(scene(SA, units), "attack", T[0], "k5"), 6, 1)
    numbers, dry = won.field.grid.numbers, won.field.dry
    assert moves(won, "advance")
    assert not [name for name in moves(won, "advance") if dry(numbers[name])]
    gone = do(won, "advance", moves(won, "advance")[0])
    assert at(gone, T[0]) == at(gone, B[0])


def test_cortez_may_go_afloat_unless_the_table_forbids_it() -> None:
    """Ruling S40, `cortez_afloat`."""
    units = {CORTEZ: "k5", BOATS[0]: "l5", W[0]: "a1"}
    assert "l5" in goes(marched(scene(SPANISH["move"], units), CORTEZ, 2))
    assert "l5" not in goes(marched(scene(SPANISH["move"], units, cortez_afloat="off"), CORTEZ, 2))


def test_after_ten_quiet_turns_a_draw_may_be_claimed_and_after_twenty_it_is_one() -> None:
    """Ruling S41."""
    units = {CUAUHTEMOC: "k9", CORTEZ: "a1"}

    def quiet(turn: int, **options):
        return changed(scene(AZTEC["move"], units, turn=turn, **options), last_attack=0)

    names = {move.name for move in moves(quiet(10))}
    assert "claim" not in names
    assert "claim" in {move.name for move in moves(quiet(11))}
    assert do(quiet(11), "claim").outcome == Outcome("draw")
    assert do(quiet(20), "done").outcome == Outcome("draw")
    assert do(quiet(19), "done").outcome is None
    assert "claim" not in {move.name for move in moves(quiet(30, quiet_limit="off"))}
    assert do(quiet(30, quiet_limit="off"), "done").outcome is None


def test_a_turn_has_eight_phases_in_their_order() -> None:
    state = scene(SPANISH["move"], {CUAUHTEMOC: "g5", W[0]: "f5", T[0]: "e5", CORTEZ: "a1"})
    seen = []
    while state.turn == 1:
        seen.append((state.stage, state.mover))
        state = do(state, "done")
    assert seen == [("move", "spaniards"), ("attack", "spaniards"), ("move", "aztecs"), ("attack", "aztecs")]
    assert due(state) == "event"


def test_nobody_moves_out_of_turn() -> None:
    state = scene(SPANISH["move"], {W[0]: "g5", T[0]: "e5"})
    refusal = GAME.play(state, "aztecs", Move("march", (W[0],)))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "not_yours"
    assert isinstance(GAME.play(state, CHANCE, Move("pace", (3,))), Refusal)

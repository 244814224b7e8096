"""The siege's rulings on movement and boats, one test or more for each, by its id; options beside their defaults."""

from __future__ import annotations

from fractions import Fraction

import pytest

from companion.games.kit import Move
from companion.games.siege import GAME
from tests.games.battlefield import (
    AZTEC,
    CORTEZ,
    CUAUHTEMOC,
    SPANISH,
    B,
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


def test_a_march_is_declared_then_rolled_with_one_die_or_two() -> None:
    """Ruling S6."""
    state = scene(SPANISH["move"], {T[0]: "c5", W[0]: "k9"})
    assert set(GAME.rules.chance(do(state, "march", T[0])).outcomes.values()) == {Fraction(1, 6)}
    forced = GAME.rules.chance(do(state, "force", T[0])).outcomes
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


def test_a_unit_boards_in_passing_next_to_a_hex_that_it_cannot_end_on() -> None:
    """Ruling S45."""
    units, fires = {T[0]: "j5", T[1]: "k5", B[0]: "l5", W[0]: "a1"}, ("k4", "k6")
    state = marched(scene(SPANISH["move"], units, fires=fires), T[0], 2)
    assert "k5" not in goes(state)
    assert goes(state)["l5"] == 2
    state = do(state, "go", "l5")
    assert (at(state, T[0]), at(state, T[1]), at(state, B[0])) == ("l5", "k5", "l5")
    assert "l5" not in goes(marched(scene(SPANISH["move"], units, fires=fires), T[0], 1))


def test_a_rider_passes_a_friend_ashore_to_another_boat() -> None:
    """Ruling S45."""
    units = {T[0]: "l5", B[0]: "l5", T[1]: "k6", B[1]: "l7", W[0]: "a1"}
    state = marched(scene(SPANISH["move"], units), T[0], 2)
    assert "k6" not in goes(state)
    state = do(state, "go", "l7")
    assert (at(state, T[0]), at(state, B[0])) == ("l7", "l5")


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

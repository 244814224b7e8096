"""The siege's rulings on attacks and odds, one test or more for each, by its id; options beside their defaults."""

from __future__ import annotations

from fractions import Fraction

import pytest

from companion.games.siege.rules import fighting
from tests.games.battlefield import (
    AZTEC,
    CORTEZ,
    CUAUHTEMOC,
    SPANISH,
    B,
    C,
    T,
    W,
    dice,
    goes,
    is_routed,
    marched,
    moves,
    plain,
    scene,
)


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


def test_on_a_boat_attacks_suffer_but_not_movement() -> None:
    """Ruling S24."""
    units = {T[0]: "l5", B[0]: "l5", W[0]: "k5"}
    assert reasons(units, T[0], "k5", SA) == {"boat": -1}
    assert goes(marched(scene(SPANISH["move"], units), T[0], 2))["n5"] == 2


def rallies_from(units: dict[int, str], unit: int, **options: str) -> int:
    """Return the lowest die with which a routed unit rallies."""
    rally = scene(SPANISH["rally"], units | {W[0]: "a1"}, routed=(unit,), **options)
    return next(n for n in range(1, 7) if not is_routed(dice(rally, n), unit))


def test_neither_the_boat_s_nor_the_conquistador_s_bonus_applies_to_a_rally() -> None:
    """Ruling S42."""
    assert rallies_from({T[0]: "l5", B[0]: "l5"}, T[0]) == 5
    assert rallies_from({C[0]: "l5", B[0]: "l5"}, C[0]) == 5
    assert rallies_from({C[0]: "e5"}, C[0]) == 5
    assert rallies_from({C[0]: "e5", CORTEZ: "d5"}, C[0]) == 4


def test_by_a_house_rule_both_bonuses_of_attacks_apply_to_rallies() -> None:
    """Ruling S42, `roll_bonus` all."""
    assert rallies_from({T[0]: "l5", B[0]: "l5"}, T[0], roll_bonus="all") == 6
    assert rallies_from({C[0]: "l5", B[0]: "l5"}, C[0], roll_bonus="all") == 5
    assert rallies_from({C[0]: "e5"}, C[0], roll_bonus="all") == 4


def test_where_only_the_outer_wall_helps_it_does_not_help_those_outside() -> None:
    """Ruling S43."""
    outward, inward = {T[0]: "g5", W[0]: "f5"}, {T[0]: "f5", W[0]: "g5"}
    assert reasons(inward, T[0], "g5", SA, inner_walls="off") == {"wall": -1}
    assert reasons(outward, T[0], "f5", SA, inner_walls="off") == {}
    assert reasons(outward, T[0], "f5", SA) == {"wall": -1}


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


@pytest.mark.parametrize(("turn", "found"), [(3, {"bodyguard_fresh": -2}), (4, {"bodyguard": -1})])
def test_a_bodyguard_makes_attacks_on_cuauhtemoc_harder_most_in_the_first_turns(
    turn: int, found: dict[str, int]
) -> None:
    """Ruling S44, `bodyguard`."""
    units = {T[0]: "c5", CUAUHTEMOC: "d5", W[0]: "c6"}
    assert reasons(units, T[0], "d5", SA, turn=turn, bodyguard=3) == found
    assert reasons(units, T[0], "c6", SA, turn=turn, bodyguard=3) == {}
    assert reasons(units, T[0], "d5", SA, turn=turn) == {}


@pytest.mark.parametrize(("turn", "found"), [(4, {"bodyguard_fresh": -2}), (5, {})])
def test_a_bodyguard_of_the_first_four_turns_is_gone_afterwards(turn: int, found: dict[str, int]) -> None:
    """Ruling S44, `bodyguard` first_4."""
    assert reasons({T[0]: "c5", CUAUHTEMOC: "d5"}, T[0], "d5", SA, turn=turn, bodyguard="first_4") == found

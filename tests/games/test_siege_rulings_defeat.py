"""The siege's rulings on what comes of a defeat and how it ends, one test or more for each, by its id."""

from __future__ import annotations

from companion.games.kit import CHANCE, Move, Refusal, replace
from companion.games.siege import GAME
from companion.games.siege.rules.state import Outcome
from tests.games.battlefield import (
    AZTEC,
    BOATS,
    CHOLULAS,
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

SA, AA = SPANISH["attack"], AZTEC["attack"]


def fought(*rolls: int, **options: str | int):
    """A warrior on c5 attacks a Totonac on d5 in the open; the dice fall as given."""
    state = scene(AZTEC["attack"], {W[0]: "c5", T[0]: "d5", CUAUHTEMOC: "k9", CORTEZ: "a1"}, **options)
    return dice(do(state, "attack", W[0], "d5"), *rolls)


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
    assert GAME.rules.chance(state).seat == "spaniards"
    after = dice(state, 1)
    assert GAME.rules.to_act(after) == ("spaniards",)
    after = do(after, "retreat", moves(after, "retreat")[0])
    assert GAME.rules.to_act(after) == ("aztecs",)
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
    assert GAME.rules.to_act(state) == ("aztecs",)
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
        return replace(scene(AZTEC["move"], units, turn=turn, **options), last_attack=0)

    names = {move.name for move in moves(quiet(10))}
    assert "claim" not in names
    assert "claim" in {move.name for move in moves(quiet(11))}
    drawn = do(quiet(11), "claim")
    assert drawn.outcome == Outcome("draw")
    assert GAME.rules.result(drawn).picture == "temple-front", "the picture of a draw is of neither leader"
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
    refusal = GAME.rules.play(state, "aztecs", Move("march", (W[0],)))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "not_yours"
    assert isinstance(GAME.rules.play(state, CHANCE, Move("pace", (3,))), Refusal)

"""Rulings of the full game about the board: turns, walking, collecting, week cards, tribute, flood and war."""

from __future__ import annotations

import pytest

from companion.games.kit import CHANCE
from companion.games.mexica.rules.calendar import SIGNS, apart, walk
from tests.games.full_sitting import RAIN_GOD, WAR_GOD, Full


def quiet(players: int = 2, **chosen: int | str) -> Full:
    """Return a sitting in which landing on a fresh space draws no Day card."""
    return Full(players, first_landing="none", **chosen)


# The calendar, M31, M32


def test_the_calendar_runs_from_crocodile_to_flower_as_the_board_is_walked() -> None:
    assert SIGNS[:2] == ("crocodile", "wind")
    assert SIGNS[19] == "flower"
    assert (walk(20, 1), walk(1, -1), walk(18, 5)) == (1, 20, 3)
    assert (apart(1, 20), apart(5, 15), apart(3, 9)) == (1, 10, 6)


def test_m31_tribes_start_on_the_last_space_of_their_quadrant() -> None:
    view = Full(4).view
    assert {seat: tribe["place"] for seat, tribe in view["tribes"].items()} == {
        "east": "flower", "north": "serpent", "west": "dog", "south": "eagle",
    }  # fmt: skip


def test_m31_a_first_roll_of_5_lands_on_the_next_tribes_start() -> None:
    sitting = quiet(4).roll(5)
    assert sitting.view["battle"]["sides"] == ["east", "north"]


def test_m31_a_table_may_start_all_on_crocodile() -> None:
    view = Full(3, starts="all_crocodile").view
    assert {tribe["place"] for tribe in view["tribes"].values()} == {"crocodile"}


def test_m32_nothing_is_collected_and_nobody_fights_at_the_start() -> None:
    sitting = Full(4, starts="all_crocodile")
    assert sitting.due == ("roll", "east")
    assert sitting.board.spaces == (13,) * 20
    assert all(tribe.tokens == 0 for tribe in sitting.board.tribes)


# M5: the turn


def test_m5_one_rolls_and_walks_then_collects_then_sacrifices_then_plays_cards() -> None:
    sitting = quiet().lay("east", hand=("war-1",))
    assert sitting.due == ("roll", "east")
    assert sitting.roll(3).due == ("sacrifice", "east")
    assert sitting.tribe("east").place == 3
    assert sitting.tokens("east") == 1
    assert sitting.do("pass").due == ("cards", "east")
    assert sitting.do("end_turn").due == ("roll", "west")


def test_m5_by_the_flower_war_one_fights_first_and_sacrifices_last() -> None:
    sitting = quiet(turn_order="flower_war").lay("west", place=3).lay("east", hand=("war-1",))
    sitting.roll(3)
    assert sitting.due == ("arm", "east")
    assert sitting.tokens("east") == 0
    sitting.do("pass").roll(2, 2).do("pass")
    assert sitting.tokens("east") == 1
    assert sitting.due == ("cards", "east")
    assert sitting.do("pass").due == ("sacrifice", "east")
    assert sitting.do("end_turn").due == ("roll", "west")


def test_m5_by_the_authors_tester_one_collects_where_one_stands_before_the_roll() -> None:
    sitting = quiet(turn_order="tester").roll(3)
    assert sitting.tokens("east") == 0
    sitting.finish_turn().roll(2).finish_turn()
    assert sitting.tokens("east") == 1
    assert sitting.board.spaces[3 - 1] == 12
    assert sitting.due == ("roll", "east")


# M6, M7: day counts, week cards, refills


def test_m6_each_landing_takes_one_token_and_the_13th_issues_the_week_card_and_resets_the_count() -> None:
    sitting = quiet().space(3, 1).land(3)
    assert sitting.board.holders[3 - 1] == "east"
    assert sitting.board.spaces[3 - 1] == 13
    assert "week_card" in sitting.codes
    assert sitting.state.week_cards == 1


def test_m7_a_short_reserve_refills_what_it_has_and_the_card_still_comes_on_the_last_token() -> None:
    sitting = quiet().space(3, 1)
    sitting.lay(reserve=4, lost=sitting.board.reserve - 4).land(3)
    assert sitting.board.spaces[3 - 1] == 4
    assert sitting.board.reserve == 0
    sitting.finish_turn().space(3, 1).lay(reserve=0, lost=sitting.board.lost + 3).land(3)
    assert sitting.board.holders[3 - 1] == "west"


def test_m7_with_no_reserve_left_the_space_is_bare_and_gives_neither_token_nor_day_card() -> None:
    sitting = Full().space(3, 1)
    sitting.lay(reserve=0, lost=sitting.board.reserve).land(3)
    assert sitting.board.spaces[3 - 1] == 0
    sitting.finish_turn().hold(3, "east").lay("east", place=9).land(3)
    assert sitting.tokens("west") == 0
    assert sitting.due == ("cards", "west")


def test_m7_on_a_bare_space_tribute_is_paid_all_the_same() -> None:
    sitting = quiet().space(3, 0).hold(3, "west").lay("east", tokens=2).land(3)
    assert (sitting.tokens("east"), sitting.tokens("west")) == (1, 1)


def test_m7_tonantzins_pile_joins_the_reserve_only_by_option() -> None:
    for refill, spaces, pile in (("reserve", 0, 30), ("recycle_mary", 13, 0)):
        sitting = quiet(refill=refill).space(3, 1)
        sitting.lay(reserve=0, pile=30, lost=sitting.board.reserve - 30).land(3)
        assert (sitting.board.spaces[3 - 1], sitting.board.pile) == (spaces, pile)


def test_m7_a_table_may_refill_without_limit() -> None:
    sitting = quiet(refill="unlimited").space(3, 1)
    sitting.lay(reserve=0, lost=sitting.board.reserve).land(3)
    assert sitting.board.spaces[3 - 1] == 13


# M8: the week card passes on


def test_m8_who_takes_the_last_token_again_gets_the_card_from_its_holder() -> None:
    sitting = quiet().hold(3, "west").space(3, 1).land(3)
    assert sitting.board.holders[3 - 1] == "east"
    assert sitting.state.week_cards == 1


def test_m8_the_holder_that_takes_it_itself_keeps_the_card() -> None:
    sitting = quiet().hold(3, "east").space(3, 1).land(3)
    assert sitting.board.holders[3 - 1] == "east"
    assert sitting.board.spaces[3 - 1] == 13


@pytest.mark.parametrize(("dice", "holder"), [((6, 2), "east"), ((2, 6), "west"), ((4, 4), "west")])
def test_m8_by_the_authors_later_notes_the_two_battle_for_it(dice: tuple[int, int], holder: str) -> None:
    sitting = quiet(disc_transfer="battle").hold(3, "west").space(3, 1).lay("west", tokens=5).land(3)
    assert sitting.view["battle"]["stake"] == "house"
    sitting.roll(*dice)
    assert sitting.board.holders[3 - 1] == holder
    assert sitting.tokens("west") == 5 + (holder == "west")  # the tribute, and no loot


# M9: the Day card of a landing


def test_m9_a_day_card_comes_with_a_space_whose_day_count_is_zero() -> None:
    assert Full().land(3).due == ("draw", "east")
    assert Full().space(3, 12).land(3).due == ("sacrifice", "east")


@pytest.mark.parametrize(
    ("option", "drawn"),
    [("full", [True, False, True]), ("ever", [True, False, False]), ("per_player", [True, True, False]),
     ("none", [False, False, False])],
)  # fmt: skip
def test_m9_a_table_may_count_first_landings_otherwise(option: str, drawn: list[bool]) -> None:
    sitting = Full(first_landing=option)
    found = [sitting.land(3).due[0] == "draw"]
    sitting.draw("day-flower-1") if found[0] else None
    sitting.finish_turn()
    sitting.lay("east", place=9)
    found.append(sitting.land(3).due[0] == "draw")
    sitting.draw("day-flower-2") if found[1] else None
    sitting.finish_turn()
    sitting.space(3, 13)
    sitting.lay("west", place=9)
    found.append(sitting.land(3).due[0] == "draw")
    assert found == drawn


# M10, M11: tribute


def test_m10_one_collects_first_and_then_pays_one_token_of_tribute() -> None:
    sitting = quiet().hold(3, "west").land(3)
    assert (sitting.tokens("east"), sitting.tokens("west")) == (0, 1)


def test_m10_there_is_no_tribute_to_oneself() -> None:
    assert quiet().hold(3, "east").land(3).tokens("east") == 1


def test_m10_tribute_is_paid_even_if_a_battle_follows() -> None:
    sitting = quiet().hold(3, "west").lay("west", place=3).land(3)
    assert sitting.tokens("west") == 1
    assert sitting.due == ("die", "east")


def test_m10_who_has_nothing_owes_nothing_unless_the_table_wants_debts() -> None:
    for debt, owed in (("off", ()), ("on", (("east", "west"),))):
        sitting = quiet(tribute_debt=debt).hold(3, "west").space(3, 0).land(3)
        assert sitting.board.debts == owed
        assert sitting.tokens("west") == 0
    sitting.finish_turn().lay("west", place=13).roll(1).finish_turn()
    sitting.lay("east", tokens=2).land(9)
    assert sitting.board.debts == ()
    assert (sitting.tokens("east"), sitting.tokens("west")) == (2, 2)


def test_m11_each_week_card_is_one_of_its_kind_so_tribute_goes_to_one_holder() -> None:
    sitting = quiet(4).hold(3, "west").lay("east", tokens=5).land(3)
    assert [sitting.tokens(seat) for seat in sitting.seats] == [5, 0, 1, 0]


# M28, M29, M34, M41, M42: flood and war on the board


def test_m28_in_a_flood_nobody_collects_while_tribute_and_battles_go_on() -> None:
    sitting = Full().bite(RAIN_GOD).hold(3, "west").lay("west", place=3).lay("east", tokens=2).land(3)
    assert sitting.board.spaces[3 - 1] == 13
    assert (sitting.tokens("east"), sitting.tokens("west")) == (1, 1)
    assert sitting.due == ("die", "east")


def test_m29_in_war_one_more_token_is_lost_from_the_space() -> None:
    sitting = quiet().bite(WAR_GOD).land(3)
    assert sitting.tokens("east") == 1
    assert (sitting.board.spaces[3 - 1], sitting.board.lost) == (11, 1)


def test_m29_where_the_lost_token_is_the_13th_the_lander_still_gets_the_card() -> None:
    sitting = quiet().bite(WAR_GOD).space(3, 2).land(3)
    assert sitting.board.holders[3 - 1] == "east"
    assert (sitting.board.spaces[3 - 1], sitting.board.lost) == (13, 1)


def test_m29_a_table_may_let_war_take_the_very_token_that_was_collected() -> None:
    sitting = quiet(war="netzero").bite(WAR_GOD).land(3)
    assert (sitting.tokens("east"), sitting.board.spaces[3 - 1], sitting.board.lost) == (0, 12, 1)


@pytest.mark.parametrize(("die", "lost"), [(2, 2), (5, 0), (6, 0)])
def test_m29_by_the_authors_later_edition_one_fights_cortez_who_always_rolls_five(die: int, lost: int) -> None:
    sitting = quiet(war="cortez5").bite(WAR_GOD).lay("east", tokens=9).land(3)
    assert sitting.view["battle"]["sides"] == ["east", "cortez"]
    sitting.roll(die)
    assert sitting.board.lost == lost
    assert sitting.tokens("east") == 10 - lost
    assert sitting.board.spaces[3 - 1] == 12


def test_m34_flood_and_war_bite_only_at_doom_where_a_table_wants_it_so() -> None:
    sitting = quiet(doom_effects="doom").bite(RAIN_GOD).land(3)
    assert sitting.tokens("east") == 1


@pytest.mark.parametrize(("option", "due"), [("off", "cards"), ("on", "draw")])
def test_m41_a_flooded_full_space_gives_a_day_card_only_by_option(option: str, due: str) -> None:
    assert Full(flood_day_card=option).bite(RAIN_GOD).land(3).due == (due, "east")


def test_m42_where_the_taken_token_is_the_13th_war_takes_no_further_one() -> None:
    sitting = quiet().bite(WAR_GOD).space(3, 1).land(3)
    assert sitting.board.holders[3 - 1] == "east"
    assert (sitting.board.spaces[3 - 1], sitting.board.lost) == (13, 0)


# M23, M24, M25, M35, M43: the clock of a full game


def test_m23_the_20th_week_card_triggers_the_apocalypse() -> None:
    sitting = quiet(week_signs="off")
    for place in range(1, 21):
        if place != 3:
            sitting.hold(place, "west")
    sitting.space(3, 1).land(3)
    assert sitting.state.clock is not None
    assert sitting.state.clock.cause == "week_cards"


@pytest.mark.parametrize(("option", "runs"), [("off", False), ("on", True)])
def test_m24_tonantzins_tokens_count_for_the_trigger_only_by_option(option: str, runs: bool) -> None:
    sitting = quiet(mary_counts=option, apocalypse_tokens=13).lay("east", tokens=13, fed=6).land(3)
    sitting.do("tonantzin")
    assert (sitting.state.clock is not None) == runs


def test_m25_by_rounds_the_clock_ticks_at_the_turns_of_the_tribe_that_triggered() -> None:
    sitting = quiet(3, apocalypse_tokens=13, countdown="rounds13", god_card_cost=13).lay("east", tokens=13).land(3)
    sitting.do("sacrifice", WAR_GOD, 13).draw("war-1").finish_turn()
    left = []
    for _ in range(4):
        sitting.finish_turn() if sitting.due[0] != "roll" else sitting.roll(1).finish_turn()
        left.append(sitting.state.clock.left if sitting.state.clock else None)
    assert left == [13, 13, 12, 12]


def test_m35_once_all_spaces_are_bare_even_ticks_count_and_even_at_zero_nobody_wins() -> None:
    sitting = quiet(apocalypse_tokens=14, god_card_cost=13).lay("east", tokens=14).land(3)
    sitting.do("sacrifice", WAR_GOD, 7).do("sacrifice", RAIN_GOD, 7)
    assert sitting.view["countdown"]["forestalled"]
    board = sitting.board
    sitting.lay(spaces=(0,) * 20, lost=board.lost + sum(board.spaces))
    sitting.space(9, 1).lay(reserve=0, lost=sitting.board.lost + sitting.board.reserve)
    sitting.finish_turn().land(9)
    assert not sitting.view["countdown"]["forestalled"]
    for _ in range(40):
        sitting.finish_turn() if sitting.due[0] != "roll" else sitting.roll(1)
        if sitting.state.over:
            break
    assert sitting.view["outcome"] == {"kind": "stillness", "seat": None}


def test_m35_a_table_may_let_the_gods_be_forestalled_for_ever() -> None:
    sitting = quiet(forestall="forever", apocalypse_tokens=14, god_card_cost=13).lay("east", tokens=14).land(3)
    sitting.do("sacrifice", WAR_GOD, 7).do("sacrifice", RAIN_GOD, 7)
    sitting.lay(spaces=(0,) * 20, lost=sum(sitting.board.spaces))
    sitting.finish_turn()
    assert sitting.view["countdown"]["forestalled"]


def test_m43_an_extra_turn_is_a_turn_of_its_own_and_ticks() -> None:
    sitting = quiet(3).bite(WAR_GOD).lay(again=("east",))
    sitting.roll(1).finish_turn()
    assert (sitting.state.seat, sitting.state.turn) == ("east", 5)
    assert sitting.state.clock is not None
    assert sitting.state.clock.left == 12
    sitting.roll(1).finish_turn()
    assert (sitting.state.seat, sitting.state.clock and sitting.state.clock.left) == ("north", 11)


def test_nobody_but_chance_rolls_and_only_numbers_that_a_die_has() -> None:
    sitting = Full()
    assert sitting.refused("roll", 3, by="east") == "not_yours"
    for n in (0, 7, True, "3"):
        assert sitting.refused("roll", n, by=CHANCE) == "misfit"
    assert sitting.refused("end_turn", by="east") == "not_yours"

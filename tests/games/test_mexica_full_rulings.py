"""Rulings of the full game about what the rule text leaves open between its parts (M44 to M55)."""

from __future__ import annotations

import pytest

from companion.games.kit import Move, preview
from companion.games.mexica import GAME
from companion.games.mexica.rules.board import Boost
from companion.games.mexica.rules.calendar import SIGNS
from companion.games.mexica.rules.cards.effects import Boost as Raise
from companion.games.mexica.rules.cards.effects import GoTo, Reroll, ReturnCard
from tests.games.full_sitting import DECK, EAGLE, PLAIN_WAR, RAIN_GOD, WAR_GOD, Full, fighting, find, quiet

TO_A_DAY, WALK_TWO = "rain-32", "day-crocodile-2"
REROLL_THEIRS = find(Reroll, "war", whose="theirs")
DEER, RABBIT, SERPENT_DAY = 7, 8, 5
GATHER = find(Raise, "rain", what="gather")
BARE, SPACE = 0, 3


def _beaten(**chosen: int | str) -> Full:
    """Return a sitting in which West, which has neither tokens nor a hand, is about to lose to East."""
    return fighting(west=0, **chosen)


# -- M44 --


def test_m44_a_loser_without_tokens_may_give_a_week_card() -> None:
    sitting = _beaten().hold(DEER, "west").roll(6, 1)
    assert sitting.due == ("forfeit", "west")
    assert sitting.can("give") == [("week-deer",)]
    sitting.do("give", "week-deer")
    assert sitting.board.holders[DEER - 1] == "east"


def test_m44_a_week_card_stands_beside_the_cards_of_the_hand() -> None:
    sitting = fighting(west=0, hand=(PLAIN_WAR,)).hold(DEER, "west").do("pass").roll(6, 1).do("pass")
    assert sitting.can("give") == [(PLAIN_WAR,), ("week-deer",)]


def test_m44_the_week_cards_that_are_signs_are_protected_as_such() -> None:
    sitting = _beaten().hold(DEER, "west").hold(SERPENT_DAY, "west").roll(6, 1)
    assert sitting.can("give") == [("week-deer",)]


def test_m44_a_sign_is_given_where_there_is_nothing_else() -> None:
    assert _beaten().hold(SERPENT_DAY, "west").roll(6, 1).can("give") == [("week-serpent",)]


def test_m44_signs_stand_last_among_what_may_be_given_where_none_is_protected() -> None:
    sitting = (
        fighting(west=0, hand=(EAGLE,), signs_protected="off").hold(DEER, "west").do("pass").roll(6, 1).do("pass")
    )
    given = [choice.facts["card"] for choice in GAME.rules.choices(sitting.state, "west") if choice.key == "give"]
    assert given == ["week-deer", EAGLE]


def test_m44_by_a_house_rule_only_the_hand_pays() -> None:
    assert _beaten(week_cards_pay="off").hold(DEER, "west").roll(6, 1).due == ("draw", "east")


# -- M45 to M47 --


def test_m45_a_card_that_may_move_the_tribe_is_offered_after_the_collecting() -> None:
    sitting = quiet().lay("east", hand=(TO_A_DAY,)).land(3)
    assert sitting.due == ("bless", "east")
    assert sitting.can("play") == []
    sitting.do("pass")
    assert (sitting.due, sitting.tokens("east")) == (("seek", "east"), 1)
    assert sitting.can("play") == [(TO_A_DAY,)]


def test_m45_no_space_is_resolved_twice_when_a_card_moves_the_tribe_on() -> None:
    sitting = quiet(3).lay("east", tokens=5, hand=(TO_A_DAY,)).lay("north", place=3).lay("west", place=5, tokens=3)
    sitting.hold(3, "north").hold(5, "west").land(3)
    sitting.do("pass").do("play", TO_A_DAY).draw(WALK_TWO)
    assert sitting.tribe("east").place == 5
    assert (sitting.board.spaces[2], sitting.board.spaces[4]) == (12, 12)
    assert (sitting.tokens("north"), sitting.tokens("west")) == (1, 4)
    assert [task.name for task in sitting.board.agenda if task.name in ("meet", "battles")] == []
    assert sitting.board.battle is not None
    assert sitting.board.battle.sides == ("east", "west")
    sitting.roll(2, 2)
    assert sitting.board.battle is None
    assert sitting.due == ("sacrifice", "east")


def test_m45_the_day_card_of_a_space_lapses_when_the_tribe_leaves_it() -> None:
    sitting = Full().space(5, 9).lay("east", hand=(TO_A_DAY,)).land(3).do("pass")
    sitting.do("play", TO_A_DAY).draw(WALK_TWO)
    assert sitting.due == ("sacrifice", "east")


def test_m46_a_battle_lapses_when_the_tribes_no_longer_share_a_space() -> None:
    sitting = quiet(3).lay("north", place=3).lay("west", place=3, tokens=1).lay("east", tokens=4).land(3)
    sitting.roll(6, 1).draw(WALK_TWO)  # North has nothing to pay with: East draws, and walks away from West
    assert sitting.tribe("east").place == 5
    assert sitting.due == ("sacrifice", "east")


def test_m46_a_battle_over_a_range_needs_no_common_space() -> None:
    sitting = quiet().lay("west", place=4, tokens=2)
    for place, card in enumerate(DECK.week, 1):
        if getattr(card.effect, "what", "") == "range":
            sitting.hold(place, "east")
    sitting.land(3).do("attack", "west")
    assert sitting.due == ("die", "east")


def test_m47_a_fourth_forced_move_is_not_made_and_brings_no_bonus() -> None:
    card = next(each for each in DECK.day if isinstance(each.effect, GoTo) and each.effect.bonus)
    sitting = quiet().lay("east", hand=(TO_A_DAY,)).land(3).do("pass").lay(forced=3)
    sitting.do("play", TO_A_DAY).draw(card.id)
    assert (sitting.tribe("east").place, sitting.tokens("east")) == (3, 1)


def test_m47_a_card_that_can_move_nobody_any_more_says_so_before_it_is_played() -> None:
    sitting = quiet(card_timing="hold_all").lay("east", hand=(WALK_TWO,)).land(3).do("pass")
    assert sitting.due == ("cards", "east")
    offered = {choice.key for choice in GAME.rules.choices(sitting.state, "east")}
    late = {choice.key for choice in GAME.rules.choices(sitting.lay(forced=3).state, "east")}
    assert ("play" in offered, "play_in_vain" in offered) == (True, False)
    assert ("play" in late, "play_in_vain" in late) == (False, True)


# -- M48 and M49 --


@pytest.mark.parametrize("gather_from", ["reserve", "space"])
def test_m48_in_the_flood_a_gather_card_pays_from_the_reserve(gather_from: str) -> None:
    sitting = quiet(gather_from=gather_from).bite(RAIN_GOD).lay("east", boosts=(Boost("gather", 2),))
    reserve = sitting.board.reserve
    sitting.land(3)
    assert (sitting.tokens("east"), sitting.board.spaces[2]) == (2, 13)
    assert (sitting.board.reserve, sitting.tribe("east").boosts) == (reserve - 2, ())


def test_m48_by_a_house_rule_a_gather_card_is_not_offered_in_the_flood() -> None:
    rain = find(Raise, "rain", what="gather")
    flooded = quiet(flood_gather="off").bite(RAIN_GOD).lay("east", hand=(rain,)).land(3)
    assert flooded.due == ("bless", "east")
    assert flooded.can("play") == []
    assert quiet(flood_gather="off").lay("east", hand=(rain,)).land(3).can("play") == [(rain,)]


def test_m49_the_extra_tokens_come_from_the_reserve_and_the_day_count_moves_by_one() -> None:
    sitting = quiet().lay("east", boosts=(Boost("gather", 2),)).land(3)
    assert (sitting.tokens("east"), sitting.board.spaces[2], sitting.board.reserve) == (3, 12, 98)


def test_m49_by_a_house_rule_the_extra_tokens_come_from_the_space() -> None:
    sitting = quiet(gather_from="space").lay("east", boosts=(Boost("gather", 2),)).land(3)
    assert (sitting.tokens("east"), sitting.board.spaces[2], sitting.board.reserve) == (3, 10, 100)


def test_m49_from_the_space_a_tribe_takes_no_more_than_lie_there_and_the_week_card_with_the_last() -> None:
    sitting = quiet(gather_from="space").space(3, 2).lay("east", boosts=(Boost("gather", 4),)).land(3)
    assert (sitting.tokens("east"), sitting.board.spaces[2]) == (2, 13)
    assert sitting.board.holders[2] == "east"


# -- M50 --


def _rerolling(*wards: str, **chosen: int | str) -> Full:
    """Return a sitting in which East may have West, which holds wards, roll its die again."""
    sitting = quiet(**chosen).lay("west", place=3, tokens=5, wards=wards)
    sitting.lay("east", tokens=4, hand=(REROLL_THEIRS,)).land(3)
    return sitting.do("pass").roll(2, 6)


def test_m50_a_ward_holds_off_a_second_roll_of_its_holders_die() -> None:
    sitting = _rerolling("war").do("play", REROLL_THEIRS)
    assert sitting.tribe("west").wards == ()
    assert sitting.board.battle is None  # judged by the dice that lay
    assert sitting.tribe("west").wins == 1


def test_m50_the_narrowest_ward_that_fits_is_used_first() -> None:
    assert _rerolling("any", "rain", "war").do("play", REROLL_THEIRS).tribe("west").wards == ("any", "rain")


def test_m50_a_card_that_a_tribe_plays_on_itself_uses_no_ward_of_others() -> None:
    weapon = find(Raise, "war", what="attack")
    sitting = quiet().lay("west", place=3, tokens=5, wards=("war", "any"))
    sitting.lay("east", tokens=4, hand=(weapon,)).land(3).do("play", weapon)
    assert sitting.tribe("west").wards == ("war", "any")
    assert sitting.tribe("east").boosts != ()


# -- M51 and M52 --


def _returning(**chosen: int | str) -> Full:
    """Return a sitting in which all but the last week card are held, and East returns one."""
    sitting = quiet(**chosen)
    for place in range(1, 20):
        sitting.hold(place, "east" if place in (1, 3) else "west")
    card = find(ReturnCard, pile="week")
    sitting.lay("west", hand=(TO_A_DAY,), tokens=1)
    sitting.land(19).finish_turn()
    sitting.land(19).do("pass").do("play", TO_A_DAY).draw(card)
    return sitting.do("return", "week-crocodile")


def test_m51_a_week_card_that_came_back_still_counts_as_issued() -> None:
    sitting = _returning()
    assert (sitting.board.holders[0], sitting.state.week_cards, sitting.state.clock) == ("", 19, None)
    assert "returned=1" in GAME.rules.notation(sitting.state)
    sitting.space(20, 1).finish_turn().land(20)
    assert (sitting.state.week_cards, sitting.state.clock is not None) == (20, True)


def test_m51_a_card_that_came_back_and_is_issued_again_counts_once() -> None:
    sitting = _returning().hold(1, "west")
    assert sitting.state.week_cards == 19


def test_m51_by_a_house_rule_only_the_cards_in_hands_count() -> None:
    assert _returning(weeks_issued="out").state.week_cards == 18


@pytest.mark.parametrize("by", [-3, -5])
def test_m52_a_roll_of_nothing_or_less_leaves_the_tribe_where_it_is_without_a_landing(by: int) -> None:
    sitting = quiet().lay("east", place=3, boosts=(Boost("movement", by),)).roll(3)
    assert (sitting.tribe("east").place, sitting.tokens("east")) == (3, 0)
    assert (sitting.board.spaces[2], sitting.due[0]) == (13, "cards")


# -- M53 --


def test_m53_a_second_turn_collects_first_though_it_is_in_round_one() -> None:
    sitting = quiet(turn_order="tester").lay(again=("east",)).roll(3).finish_turn()
    assert (sitting.state.turn, sitting.state.round, sitting.state.seat) == (2, 1, "east")
    assert sitting.tokens("east") == 1


def test_m53_the_first_turn_of_a_tribe_does_not_collect_though_it_is_an_extra_one() -> None:
    sitting = quiet(turn_order="tester").lay(again=("west",)).roll(3).finish_turn()
    assert (sitting.state.turn, sitting.state.seat, sitting.tokens("west")) == (2, "west", 0)
    sitting.roll(2).finish_turn()
    assert (sitting.state.turn, sitting.state.seat, sitting.tokens("west")) == (3, "west", 1)


# -- M54 --


@pytest.mark.parametrize("gather_from", ["reserve", "space"])
def test_m54_on_a_bare_space_a_gather_card_pays_from_the_reserve(gather_from: str) -> None:
    sitting = quiet(gather_from=gather_from).space(SPACE, BARE).lay("east", boosts=(Boost("gather", 3),))
    reserve = sitting.board.reserve
    sitting.land(SPACE)
    assert (sitting.tokens("east"), sitting.board.reserve) == (3, reserve - 3)
    assert (sitting.board.spaces[SPACE - 1], sitting.tribe("east").boosts) == (BARE, ())


@pytest.mark.parametrize(("there", "was"), [(13, 1), (BARE, 0)])
def test_m54_the_preview_of_a_gather_card_says_how_many_tokens_it_brings(there: int, was: int) -> None:
    sitting = quiet().space(SPACE, there).lay("east", hand=(GATHER, TO_A_DAY)).land(SPACE)
    effect = sitting.state.rules.cards.card(GATHER).effect
    assert isinstance(effect, Raise)
    by = effect.by
    (line,) = preview(GAME, sitting.state, "east", Move("play", (GATHER,))).certain
    assert (line.code, line.facts) == ("collects", {"seat": "east", "was": was, "n": was + by})
    assert sitting.do("play", GATHER).do("pass").tokens("east") == was + by


def test_m54_the_preview_counts_no_more_tokens_than_the_reserve_holds() -> None:
    sitting = quiet().space(SPACE, BARE).lay("east", hand=(GATHER,)).lay("west", tokens=112).land(SPACE)
    assert sitting.board.reserve == 1
    (line,) = preview(GAME, sitting.state, "east", Move("play", (GATHER,))).certain
    assert line.facts["n"] == 1


def test_m54_a_bare_space_gives_no_day_card_in_the_flood_either() -> None:
    sitting = Full(first_landing="per_player", flood_day_card="on").space(SPACE, BARE).bite(RAIN_GOD).land(SPACE)
    assert sitting.due == ("cards", "east")


# -- M55 --


def _moved_by_a_prize(forced_landing: str) -> Full:
    """Return a sitting in war in which East beat West and its Day card took it two spaces on."""
    sitting = (
        quiet(war="cortez5", forced_landing=forced_landing)
        .bite(WAR_GOD)
        .lay("west", place=SPACE)
        .lay("east", tokens=9)
    )
    return sitting.land(SPACE).roll(6, 1).draw(WALK_TWO)


@pytest.mark.parametrize("forced_landing", ["all", "battle_only"])
def test_m55_cortez_is_fought_once_where_a_battles_prize_took_the_tribe(forced_landing: str) -> None:
    sitting = _moved_by_a_prize(forced_landing)
    assert sitting.tribe("east").place == SPACE + 2
    assert sitting.view["battle"]["sides"] == ["east", "cortez"]
    sitting.roll(6)
    assert (sitting.board.battle, sitting.due) == (None, ("sacrifice", "east"))


def test_m55_cortez_is_fought_after_the_tribes_that_were_met() -> None:
    sitting = quiet(war="cortez5").bite(WAR_GOD).lay("west", place=SPACE, tokens=5).lay("east", tokens=9).land(SPACE)
    assert sitting.view["battle"]["sides"] == ["east", "west"]
    assert sitting.roll(6, 1).view["battle"]["sides"] == ["east", "cortez"]
    assert sitting.roll(6).due == ("sacrifice", "east")


def test_the_signs_are_those_of_the_calendar() -> None:
    assert (SIGNS[DEER - 1], SIGNS[SERPENT_DAY - 1]) == ("deer", "serpent")

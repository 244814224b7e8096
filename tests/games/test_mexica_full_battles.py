"""Rulings of the full game about battle."""

from __future__ import annotations

import pytest

from companion.games.mexica.rules.board import Boost as Waiting
from companion.games.mexica.rules.calendar import place_of
from companion.games.mexica.rules.cards.effects import Boost, Reroll, Standing, Walk, Ward
from tests.games.full_sitting import DECK, FLOWER, PLAIN_WAR, Full, fighting, find, quiet


def test_m12_the_winner_takes_the_lower_die_from_the_loser() -> None:
    sitting = fighting().roll(6, 2)
    assert (sitting.tokens("east"), sitting.tokens("west")) == (7, 3)
    sitting = fighting().roll(1, 4)
    assert (sitting.tokens("east"), sitting.tokens("west")) == (4, 6)


@pytest.mark.parametrize(("option", "loot"), [("lower", 2), ("difference", 4), ("one", 1)])
def test_m12_a_table_may_loot_the_difference_or_one(option: str, loot: int) -> None:
    assert fighting(battle_loot=option).roll(6, 2).tokens("west") == 5 - loot


def test_m13_a_tie_is_nothing_a_new_throw_or_the_occupants() -> None:
    assert fighting().roll(3, 3).due == ("sacrifice", "east")
    assert fighting().roll(3, 3).tokens("east") == 5
    again = fighting(battle_tie="reroll").roll(3, 3)
    assert again.due == ("die", "east")
    assert again.roll(1, 2).tokens("west") == 6
    assert fighting(battle_tie="occupant").roll(3, 3).tokens("west") == 8


def test_m14_the_arriving_tribe_fights_each_occupant_in_turn_order() -> None:
    sitting = quiet(4).lay("west", place=3).lay("north", place=3).land(3)
    assert sitting.view["battle"]["sides"] == ["east", "north"]
    sitting.roll(2, 2)
    assert sitting.view["battle"]["sides"] == ["east", "west"]
    assert sitting.roll(2, 2).due == ("sacrifice", "east")


def test_m14_a_table_may_fight_the_first_alone_or_all_at_once() -> None:
    first = quiet(4, melee="first").lay("west", place=3).lay("north", place=3).land(3).roll(2, 2)
    assert first.due == ("sacrifice", "east")
    melee = quiet(4, melee="all").lay("west", place=3, tokens=5).lay("north", place=3, tokens=5).land(3)
    assert melee.view["battle"]["sides"] == ["east", "north", "west"]
    melee.roll(2, 6, 3)
    assert [melee.tokens(seat) for seat in ("east", "north", "west")] == [0, 9, 2]


def test_m15_a_tribe_that_a_card_moved_fights_where_it_arrives() -> None:
    card = find(Walk, spaces=1)
    sitting = Full().lay("west", place=8).land(7)
    assert sitting.draw(card).due == ("die", "east")
    assert sitting.tribe("east").place == 8


def test_m16_a_loser_short_of_tokens_pays_all_it_has_and_no_card() -> None:
    sitting = fighting(west=1, hand=(PLAIN_WAR,)).do("pass").roll(6, 5).do("pass")
    assert sitting.tokens("west") == 0
    assert sitting.due == ("sacrifice", "east")


def test_m16_a_loser_without_tokens_may_give_a_card_of_its_choice_or_refuse() -> None:
    sitting = fighting(west=0, hand=(FLOWER, PLAIN_WAR)).do("pass").roll(6, 5).do("pass")
    assert sitting.due == ("forfeit", "west")
    assert sitting.can("give") == [(PLAIN_WAR,)]
    assert sitting.can("pass")
    assert sitting.do("give", PLAIN_WAR).tribe("east").hand == (PLAIN_WAR,)


def test_m16_a_table_may_force_the_card_and_leave_signs_unprotected() -> None:
    sitting = fighting(west=0, hand=(FLOWER, PLAIN_WAR), card_payment="must", signs_protected="off")
    sitting.do("pass").roll(6, 5).do("pass")
    assert sitting.refused("pass") == "first_comes"
    assert sitting.can("give") == [(FLOWER,), (PLAIN_WAR,)]


def test_m16_a_sign_is_given_only_where_there_is_nothing_else() -> None:
    sitting = fighting(west=0, hand=(FLOWER,)).roll(6, 5)
    assert sitting.can("give") == [(FLOWER,)]


def test_m17_a_loser_with_neither_tokens_nor_cards_draws_a_day_card_for_the_winner() -> None:
    sitting = fighting(west=0).roll(6, 5)
    assert sitting.due == ("draw", "east")
    assert sitting.draw(FLOWER).tribe("east").hand == (FLOWER,)


def test_m17_a_pile_that_has_run_out_takes_back_its_discards_or_gives_nothing() -> None:
    plain = tuple(sorted(card.id for card in DECK.day if card.sign is None))
    flowers = tuple(card.id for card in DECK.day if card.sign)
    for option, due in (("on", "draw"), ("off", "sacrifice")):
        sitting = quiet(reshuffle=option).lay("west", hand=flowers).lay("east", tokens=13).lay(discards=plain)
        sitting.land(3).do("tonantzin")
        assert sitting.due == (due, "east")
        assert sitting.board.discards == (() if option == "on" else plain)


def test_m39_a_bonus_decides_who_wins_and_the_loot_is_the_losers_natural_die() -> None:
    for option, left in (("natural", 1), ("modified", 1)):
        sitting = fighting(loot_die=option).lay("east", boosts=(Waiting("attack", 3),)).roll(2, 4)
        assert sitting.tokens("west") == left
    for option, left in (("natural", 2), ("modified", 1)):
        sitting = fighting(loot_die=option).lay("west", boosts=(Waiting("defence", 1),)).roll(6, 3)
        assert sitting.tokens("west") == left
        assert sitting.tribe("west").boosts == ()


def test_week_cards_add_to_the_dice_for_as_long_as_they_are_held() -> None:
    space = next(c.space for c in DECK.week if c.effect == Standing("attack", 1))
    assert space
    sitting = fighting().hold(place_of(space), "east").roll(3, 3)
    assert sitting.tokens("west") == 2


def test_a_week_card_of_range_lets_a_tribe_attack_the_next_space() -> None:
    space = next(c.space for c in DECK.week if c.effect == Standing("range", 1))
    assert space
    sitting = quiet().hold(place_of(space), "east").lay("west", place=4, tokens=5).land(3)
    assert sitting.due == ("challenge", "east")
    assert sitting.do("attack", "west").roll(6, 4).tokens("west") == 1


def test_war_cards_are_played_before_the_dice_by_attacker_and_defender() -> None:
    attack, defence = find(Boost, "war", what="attack"), find(Boost, "war", what="defence")
    sitting = quiet().lay("west", place=3, tokens=5).lay("east", hand=(attack, defence)).land(3)
    assert sitting.can("play") == [(attack,)]
    sitting.do("play", attack).do("pass").roll(4, 4)
    assert sitting.due == ("reroll", "east")
    sitting.do("pass")
    assert sitting.tokens("west") == 1
    assert sitting.tribe("east").boosts == ()
    assert attack in sitting.board.discards


def test_a_second_throw_stands() -> None:
    card = find(Reroll, "war", whose="mine")
    sitting = quiet().lay("west", place=3, tokens=5).lay("east", hand=(card,)).land(3)
    sitting.do("pass").roll(1, 4).do("play", card).roll(6)
    assert sitting.tokens("west") == 1


def test_a_ward_against_attack_ends_the_battle_before_the_dice() -> None:
    card = find(Ward, "war", against="attack")
    sitting = quiet().lay("west", place=3, tokens=5, hand=(card,)).land(3)
    assert sitting.due == ("arm", "west")
    sitting.do("play", card)
    assert sitting.due == ("sacrifice", "east")
    assert sitting.board.battle is None

"""Rulings of the full game about sacrifice, cards and the win."""

from __future__ import annotations

import pytest

from companion.games.kit import TEMPLE, Move
from companion.games.mexica import GAME
from companion.games.mexica.rules.board import Boost as Waiting
from companion.games.mexica.rules.calendar import place_of
from companion.games.mexica.rules.cards.effects import (
    AnotherTurn,
    Attack,
    Boost,
    Demand,
    Gain,
    GoTo,
    Lose,
    Pay,
    ReturnCard,
    Standing,
    TakeWeek,
    Walk,
)
from tests.games.full_sitting import (
    DECK,
    EAGLE,
    FLOWER,
    PLAIN_WAR,
    RAIN_GOD,
    SERPENT,
    WAR_GOD,
    Full,
    fighting,
    find,
    full_options,
    quiet,
)


def drawing(card: str, players: int = 2, **chosen: int | str) -> Full:
    """Return a sitting in which East, with ten tokens, draws a Day card after it landed on Deer 7."""
    sitting = Full(players, **chosen).lay("east", tokens=9)
    return sitting.land(7).draw(card)


# M1 to M4, M33, M36, M37: sacrifice


def offering(tokens: int, **chosen: int | str) -> Full:
    """Return a sitting in East's sacrifice step, with so many tokens in hand."""
    return quiet(**chosen).lay("east", tokens=tokens - 1).land(3)


@pytest.mark.parametrize("cost", [7, 13])
def test_m1_m2_a_day_card_costs_seven_tokens_to_tonantzin(cost: int) -> None:
    sitting = offering(cost, day_card_cost=cost)
    sitting.do("tonantzin")
    assert sitting.due == ("draw", "east")
    assert (sitting.tokens("east"), sitting.board.pile, sitting.state.tallies.total) == (0, cost, 0)
    assert offering(cost - 1, day_card_cost=cost).refused("tonantzin") == "first_comes"


@pytest.mark.parametrize(("god", "pile"), [(WAR_GOD, "war"), (RAIN_GOD, "rain")])
@pytest.mark.parametrize("cost", [1, 7, 13])
def test_m3_a_gods_card_costs_seven_tokens_to_the_god(god: str, pile: str, cost: int) -> None:
    sitting = offering(13, god_card_cost=cost).do("sacrifice", god, cost)
    assert sitting.due == ("draw", "east")
    assert {args[0] for args in sitting.can("draw")} == {pile}
    assert sitting.state.tallies.of(god) == cost


def test_m4_what_does_not_reach_the_price_in_one_step_is_an_offering() -> None:
    for option, due in (("off", "sacrifice"), ("on", "draw")):
        sitting = offering(8, sacrifice_credit=option).do("sacrifice", WAR_GOD, 4).finish_turn().roll(1).finish_turn()
        assert sitting.land(9).do("sacrifice", WAR_GOD, 3).due == (due, "east")


def test_m33_a_token_through_the_temple_is_the_tribes_in_its_sacrifice_step() -> None:
    sitting = offering(8)
    for _ in range(7):
        sitting.falls(RAIN_GOD)
    assert sitting.tokens("east") == 1
    assert sitting.due == ("draw", "east")
    sitting.falls(RAIN_GOD)  # while the card of the seventh is still to be drawn
    assert (sitting.tokens("east"), sitting.state.tallies.of(RAIN_GOD)) == (0, 8)


@pytest.mark.parametrize(
    ("option", "value"), [("cards_per_step", "one"), ("sacrifice_credit", "on"), ("mary_exclusive", "off")]
)
@pytest.mark.parametrize("held", [1, 9, 40])
def test_m33_of_a_burst_a_tribe_gives_what_it_holds_and_the_rest_waits(held: int, option: str, value: str) -> None:
    """A lamp flickers 431 times: in the step, while cards that it seems to earn are due, and after it."""
    sitting = offering(held, **{option: value}).lay("west", tokens=5)
    for n in range(431):
        sitting.falls(RAIN_GOD if n % 3 else WAR_GOD)
    assert (sitting.tokens("east"), sitting.state.tallies.total) == (0, held)
    sitting.finish_turn().falls(WAR_GOD)
    assert (sitting.tokens("west"), sitting.state.tallies.total) == (5, held)
    waiting = [each["id"] for each in sitting.view["unclaimed"]]
    assert len(waiting) == 432 - held
    for _ in range(5):
        sitting.do("claim", waiting.pop(), "west", by="east")
    assert sitting.refused("claim", waiting.pop(), "west", by="east") == "no_tokens"
    assert sitting.refused("claim", waiting.pop(), "east", by="west") == "no_tokens"


def test_m33_a_token_at_another_moment_waits_unclaimed_and_is_paid_by_whoever_claims_it() -> None:
    sitting = quiet().lay("west", tokens=1)
    token = sitting.falls(WAR_GOD)
    assert sitting.view["unclaimed"] == [{"id": token, "god": WAR_GOD, "doubt": "outside", "suggested": "east"}]
    assert sitting.refused("claim", token, "east", by="west") == "no_tokens"
    sitting.do("claim", token, "west", by="east")
    assert (sitting.tokens("west"), sitting.state.tallies.of(WAR_GOD)) == (0, 1)


def test_m33_a_correction_moves_tokens_between_hand_and_lake() -> None:
    sitting = offering(5).do("sacrifice", WAR_GOD, 3)
    sitting.do("propose", "east", WAR_GOD, -2, by="east").do("confirm", by="west")
    assert (sitting.tokens("east"), sitting.state.tallies.of(WAR_GOD)) == (4, 1)
    assert sitting.refused("propose", "west", WAR_GOD, 1, by="east") == "no_tokens"
    assert sitting.refused("propose", "east", WAR_GOD, 1, by="west") == "first_comes"


@pytest.mark.parametrize(("option", "both"), [("on", False), ("off", True)])
def test_m36_one_step_goes_to_the_temple_or_to_tonantzin(option: str, both: bool) -> None:
    sitting = offering(13, mary_exclusive=option).do("sacrifice", WAR_GOD, 1)
    assert bool(sitting.can("tonantzin")) == both
    sitting = offering(13, mary_exclusive=option).do("tonantzin").draw(FLOWER)
    assert bool(sitting.can("sacrifice")) == both
    sitting.falls(WAR_GOD)
    assert bool(sitting.state.unclaimed) != both


@pytest.mark.parametrize(("option", "cards"), [("many", 2), ("one", 1)])
def test_m37_fourteen_tokens_to_a_god_are_a_card_for_each_seven(option: str, cards: int) -> None:
    sitting = offering(20, cards_per_step=option).do("sacrifice", WAR_GOD, 13).draw("war-1")
    sitting.do("sacrifice", WAR_GOD, 1)
    assert (sitting.due[0] == "draw") == (cards == 2)


def test_a_price_can_fall_by_a_week_card_and_by_a_boost_but_never_below_one() -> None:
    space = next(c.space for c in DECK.week if c.effect == Standing("price", -1))
    assert space
    sitting = offering(6).hold(place_of(space), "east")
    assert sitting.do("sacrifice", WAR_GOD, 6).due == ("draw", "east")
    cheap = offering(6).lay("east", boosts=(Waiting("price", -6), Waiting("price", -6)))
    assert cheap.do("tonantzin").tokens("east") == 5
    assert cheap.tribe("east").boosts == ()


# M18 to M22: signs and the win


@pytest.mark.parametrize("copies", [1, 13, 39, 65])
def test_m18_the_nopal_is_on_so_many_day_cards(copies: int) -> None:
    known = Full(flower_copies=copies).state.rules.cards
    assert sum(1 for card in known.day if card.sign == "flower") == copies
    assert len(known.day) == 260


@pytest.mark.parametrize("copies", [1, 5, 10])
def test_m19_eagle_and_serpent_are_in_their_gods_decks_and_in_the_day_deck_by_option(copies: int) -> None:
    known = Full(sign_copies=copies).state.rules.cards
    assert [sum(1 for card in pile if card.sign) for pile in (known.war, known.rain)] == [copies, copies]
    assert {card.sign for card in known.day} == {None, "flower"}
    known = Full(day_signs="all").state.rules.cards
    assert {card.sign for card in known.day} == {None, "flower", "eagle", "serpent"}


def test_m20_a_deck_of_ones_own_is_not_yet_accepted() -> None:
    with pytest.raises(ValueError, match="option deck"):
        GAME.rules.setup(full_options(deck="mine.toml"), ("east", "west"))


def test_m21_hands_are_hidden_but_for_their_number_unless_a_table_plays_openly() -> None:
    sitting = quiet().lay("east", hand=(PLAIN_WAR,))
    assert GAME.page.view(sitting.state, "east")["hands"] == {"east": [PLAIN_WAR]}
    assert GAME.page.view(sitting.state, "west")["hands"] == {"west": []}
    assert sitting.view["hands"] == {}
    assert sitting.view["tribes"]["east"]["cards"] == {"day": 0, "war": 1, "rain": 0}
    sitting = quiet(open_hands="on").lay("east", hand=(PLAIN_WAR,))
    assert GAME.page.view(sitting.state, "west")["hands"]["east"] == [PLAIN_WAR]


def test_m22_eagle_serpent_and_flower_win_at_once() -> None:
    sitting = offering(7).lay("east", hand=(FLOWER, SERPENT)).do("sacrifice", WAR_GOD, 7)
    sitting.draw(EAGLE)
    assert sitting.view["outcome"] == {"kind": "settled", "seat": "east"}
    assert "settled" in sitting.codes
    assert GAME.rules.to_act(sitting.state) == ()


def test_m22_a_tribe_wins_in_anothers_turn_too() -> None:
    sitting = fighting(hand=(SERPENT, EAGLE)).lay("east", tokens=0).do("pass").roll(2, 6).do("pass").draw(FLOWER)
    assert sitting.view["outcome"] == {"kind": "settled", "seat": "west"}


@pytest.mark.parametrize(("option", "won"), [("on", True), ("off", False)])
def test_m19_week_cards_of_serpent_eagle_and_flower_count_as_the_signs(option: str, won: bool) -> None:
    sitting = quiet(week_signs=option)
    for space in ("serpent", "eagle"):
        sitting.hold(place_of(space), "east")
    sitting.lay("east", hand=(FLOWER,)).land(3)
    assert sitting.state.over == won


# M20, M38, M40: what cards do


def test_m38_the_event_of_a_day_card_comes_at_once_and_the_card_is_discarded() -> None:
    card = find(Gain)
    sitting = drawing(card)
    assert sitting.tokens("east") == 10 + DECK.card(card).effect.tokens  # type: ignore[union-attr]
    assert sitting.board.discards == (card,)
    assert sitting.tribe("east").hand == ()


def test_m38_a_table_may_hold_all_cards_and_play_them_in_the_card_step() -> None:
    card = find(Gain)
    sitting = drawing(card, card_timing="hold_all")
    assert sitting.tribe("east").hand == (card,)
    sitting.do("pass").do("play", card)
    assert sitting.board.discards == (card,)


def test_m40_a_landing_that_a_card_caused_is_a_whole_one_at_most_three_times_a_turn() -> None:
    card = find(Walk, spaces=1)
    sitting = Full().land(7).draw(card)
    assert (sitting.tribe("east").place, sitting.tokens("east")) == (8, 2)
    assert sitting.due == ("draw", "east")
    sitting.lay(forced=3, discards=()).draw(card)
    assert sitting.tribe("east").place == 8


def test_m40_a_table_may_let_forced_landings_only_fight() -> None:
    sitting = Full(forced_landing="battle_only").lay("west", place=8).land(7).draw(find(Walk, spaces=1))
    assert (sitting.tokens("east"), sitting.due) == (1, ("die", "east"))


def test_row_1_a_bonus_waits_on_a_named_space_and_a_battle_won_there_doubles_it() -> None:
    card = next(c for c in DECK.day if isinstance(c.effect, GoTo) and c.effect.bonus and c.sign is None)
    effect = card.effect
    assert isinstance(effect, GoTo)
    there = place_of(effect.space)
    elsewhere = 9 if there == 7 else 7
    sitting = Full().lay("east", tokens=9).space(there, 5).land(elsewhere).draw(card.id)
    assert (sitting.tribe("east").place, sitting.tokens("east")) == (there, 9 + 1 + 1 + effect.bonus)
    sitting = Full().lay("east", tokens=9).lay("west", place=there, tokens=6).space(there, 5)
    sitting.land(elsewhere).draw(card.id)
    assert sitting.due == ("die", "east")
    assert sitting.roll(6, 1).tokens("east") == 9 + 1 + 1 + 1 + 2 * effect.bonus


def test_row_4_another_turn_follows_this_one() -> None:
    sitting = drawing(find(AnotherTurn)).finish_turn()
    assert (sitting.state.turn, sitting.state.seat) == (2, "east")
    assert sitting.roll(1).finish_turn().state.seat == "west"


def test_rows_6_to_9_tokens_are_lost_paid_and_demanded_as_far_as_there_are_any() -> None:
    lose = drawing(find(Lose))
    assert lose.tokens("east") == 10 - DECK.card(find(Lose)).effect.tokens  # type: ignore[union-attr]
    each = find(Pay, to="each")
    n = DECK.card(each).effect.tokens  # type: ignore[union-attr]
    assert drawing(each, 3).tokens("north") == n
    one = drawing(find(Pay, to="one"), 3)
    assert one.due == ("choose", "east")
    assert one.do("choose", "west").tokens("west") > 0
    demand = Full().lay("west", tokens=1).land(7).draw(find(Demand, to="me"))
    assert (demand.tokens("east"), demand.tokens("west")) == (2, 0)
    forced = Full().lay("west", tokens=1).land(7).draw(find(Demand, to=RAIN_GOD))
    assert (forced.tokens("west"), forced.state.tallies.of(RAIN_GOD)) == (0, 1)


def test_row_13_a_week_card_that_lies_at_its_space_is_taken_and_counts_as_issued() -> None:
    assert drawing(find(TakeWeek, which="here")).board.holders[7 - 1] == "east"
    sitting = drawing(find(TakeWeek, which="any"))
    assert sitting.due == ("take", "east")
    sitting.do("take", "jaguar")
    assert (sitting.board.holders[14 - 1], sitting.state.week_cards) == ("east", 1)


def test_rows_14_to_18_a_card_attacks_the_nearest_or_a_direction_that_is_played() -> None:
    sitting = drawing(find(Attack, whom="nearest"))
    assert sitting.view["battle"]["sides"] == ["east", "west"]
    assert drawing(find(Attack, whom="west")).view["battle"] is not None
    assert drawing(find(Attack, whom="south")).view["battle"] is None


def test_row_26_a_tribe_returns_a_card_that_it_picks() -> None:
    sitting = Full().hold(3, "west").lay("west", hand=(PLAIN_WAR,)).land(7).draw(find(ReturnCard, pile="any"))
    assert sitting.due == ("return", "west")
    assert sitting.can("return") == [(PLAIN_WAR,), ("week-house",)]
    sitting.do("return", "week-house")
    assert (sitting.board.holders[3 - 1], sitting.state.week_cards) == ("", 1)  # it was issued (ruling M51)


def test_rows_27_and_28_a_ward_holds_off_the_next_attack_or_the_next_card_turned_on_one() -> None:
    sitting = Full().lay("west", wards=("attack",), place=3).land(3)
    assert sitting.view["battle"] is None
    assert sitting.tribe("west").wards == ()
    assert Full().lay("west", wards=("any",), place=3).land(3).view["battle"] is not None
    sitting = Full().lay("west", wards=("day",), tokens=4).land(7).draw(find(Demand, to="me"))
    assert sitting.tokens("west") == 4
    assert sitting.tribe("west").wards == ()


def test_rows_29_to_33_a_boost_waits_for_the_next_time_its_number_matters() -> None:
    mine = find(Boost, what="movement", whose="mine")
    by = DECK.card(mine).effect.by  # type: ignore[union-attr]
    sitting = drawing(mine).finish_turn().roll(1).finish_turn()
    here = sitting.tribe("east").place
    sitting.roll(6)
    assert sitting.tribe("east").place == (here + 6 + by - 1) % 20 + 1
    assert "movement" not in {boost.what for boost in sitting.tribe("east").boosts}
    other = drawing(find(Boost, what="gather", whose="other"))
    assert [boost.what for boost in other.tribe("west").boosts] == ["gather"]


def test_rain_cards_are_played_as_one_lands() -> None:
    gather = find(Boost, "rain", what="gather")
    by = DECK.card(gather).effect.by  # type: ignore[union-attr]
    sitting = quiet().lay("east", hand=(gather,)).land(3)
    assert sitting.due == ("bless", "east")
    sitting.do("play", gather)
    assert sitting.tokens("east") == 1 + by
    assert sitting.board.spaces[3 - 1] == 12


# Undo


def test_own_choices_may_be_taken_back_but_no_card_shown_no_die_and_no_token() -> None:
    state = offering(8).state
    for name, args, undoable in (("sacrifice", (WAR_GOD, 1), True), ("tonantzin", (), True), ("pass", (), True)):
        assert GAME.rules.undoable(state, "east", Move(name, args)) == undoable
    for name in ("play", "give", "return"):
        assert not GAME.rules.undoable(state, "east", Move(name, (PLAIN_WAR,)))
    assert not GAME.rules.undoable(state, "chance", Move("roll", (3,)))
    assert not GAME.rules.undoable(state, TEMPLE, Move("token", ("a1", WAR_GOD, "")))

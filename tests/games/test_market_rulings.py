"""Each ruling of The Aztec Market, as in the guide, and each option that settles one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from companion.games.kit import CHANCE, Move
from companion.games.market import GAME
from companion.games.market.rules.board import LANES
from companion.games.market.rules.result import holdings
from companion.games.market.rules.scoring import EQUAL, PARTNER, Holding, score
from tests.games.market_sitting import Sitting


def test_east_buys_along_the_rows_of_the_grid_and_south_along_its_columns() -> None:
    """A1: each player's lanes run away from their own side of the table."""
    assert LANES["south"][0] == (12, 8, 4, 0)
    assert LANES["east"][0] == (15, 14, 13, 12)
    assert LANES["north"][3] == (0, 4, 8, 12)
    assert LANES["west"][1] == (4, 5, 6, 7)


def test_partners_look_into_the_same_lanes_from_opposite_ends() -> None:
    """A1."""
    for lane in range(4):
        assert LANES["south"][lane] == LANES["north"][3 - lane][::-1]
        assert LANES["west"][lane] == LANES["east"][3 - lane][::-1]


def test_two_players_sit_beside_each_other() -> None:
    """A2."""
    assert GAME.seatings[2] == ("south", "east")
    sitting = Sitting("p12c/j3h4/xyuv/amk.", vendors="2,0,0,0", buyers={"south": "o,o,o,o", "east": "o,o,o,o"})
    assert Move("buy", (0, 3)) in sitting.moves


def test_any_tile_may_move_into_the_hole_and_its_tokens_ride_along() -> None:
    """A3."""
    sitting = Sitting(vendors="3,0,0,0", buyers={"south": "o,o,-,-"})
    assert {move.args[0] for move in sitting.moves if move.name == "shift"} == {*range(15)} - {13}
    sitting.do("shift", 0, 1)
    assert sitting.view["market"][15] == "pottery"
    assert sitting.view["vendors"]["pottery"] == 3


def test_in_a_sliding_puzzle_only_neighbours_of_the_hole_move() -> None:
    """A3, option `slide`."""
    sitting = Sitting(buyers={"south": "o,-,-,-"}, slide="adjacent")
    assert {move.args for move in sitting.moves if move.name == "shift"} == {(11, 0), (14, 0)}
    assert sitting.refused("shift", 0, 0) == "not_beside_hole"
    assert sitting.refused("messenger") == "not_beside_hole"


def test_a_pass_moves_two_different_tiles() -> None:
    """A4."""
    sitting = Sitting(step="shift:south:2").do("shift", 0)
    assert sitting.refused("shift", 15) == "same_tile"
    assert len(sitting.moves) == 14


def test_a_table_may_let_a_pass_move_one_tile_out_and_back() -> None:
    """A4, option `pass_moves_distinct`."""
    sitting = Sitting(step="shift:south:2", pass_moves_distinct="off").do("shift", 0).do("shift", 15)
    assert sitting.view["market"][0] == "pottery"


def test_players_lay_any_tile_on_any_free_cell_and_the_last_free_cell_is_the_hole() -> None:
    """A5."""
    sitting = Sitting.fresh(3).do("start", "west", by=CHANCE)
    assert len(sitting.moves) == 10 * 16
    sitting.do("lay", "king", 5)
    assert sitting.refused("lay", "king", 6) == "none_left"
    assert sitting.refused("lay", "crowd", 5) == "taken"
    while sitting.state.step == "lay":
        sitting.do(*sitting.moves[-1].to_json())  # type: ignore[arg-type]
    assert sitting.view["market"].count(None) == 1
    assert sitting.state.step == "coin"


def test_a_table_may_have_the_market_dealt() -> None:
    """A5, option `setup`: each cell's tile is drawn from those that are left, the hole among them."""
    sitting = Sitting.fresh(setup="random").do("start", "south", by=CHANCE)
    due = GAME.rules.chance(sitting.state)
    assert due is not None
    assert due.outcomes[Move("deal", ("crowd",))] == Fraction(4, 16)
    assert due.outcomes[Move("deal", ("hole",))] == Fraction(1, 16)
    sitting.do("deal", "hole", by=CHANCE)
    assert sitting.refused("deal", "hole", by=CHANCE) == "none_left"
    while sitting.state.step == "deal":
        sitting.do(*sitting.moves[0].to_json(), by=CHANCE)  # type: ignore[arg-type]
    assert sitting.view["market"][0] is None
    assert sitting.state.step == "coin"


def test_whoever_begins_lays_the_first_tile_too() -> None:
    """A6."""
    sitting = Sitting.fresh(4).do("start", "north", by=CHANCE)
    assert GAME.rules.to_act(sitting.state) == ("north",)
    sitting.do("lay", "king", 0)
    assert GAME.rules.to_act(sitting.state) == ("east",)


def test_everybody_chooses_a_buyer_for_the_first_coin_clockwise() -> None:
    """A7."""
    sitting = Sitting(step="coin:east:0", start="east")
    assert sitting.moves == [Move("coin", (lane,)) for lane in range(4)]
    sitting.do("coin", 2).do("coin", 0)
    assert sitting.buyer("east", 2) == (True, "", 0)
    assert (sitting.state.step, GAME.rules.to_act(sitting.state)) == ("turn", ("east",))


@pytest.mark.parametrize("removed", range(0, 41, 4))
def test_tokens_set_aside_blind_are_not_in_the_bag_but_among_the_unseen(removed: int) -> None:
    """A8, option `removed`."""
    state = Sitting.fresh(removed=removed).state
    assert (state.bag, sum(state.unseen), state.aside) == (80 - removed, 80, removed)


def test_tokens_set_aside_equally_are_known() -> None:
    """A8, option `removed_mode`."""
    state = Sitting.fresh(removed=40, removed_mode="equal").state
    assert (state.bag, state.unseen, state.aside) == (40, (10, 10, 10, 10), 0)


def test_the_odds_of_a_draw_are_those_of_all_that_nobody_has_seen() -> None:
    """A8: what was set aside unseen is as likely of one commodity as what is in the bag."""
    sitting = Sitting(king="4,0,0,0").do("pass")
    due = GAME.rules.chance(sitting.state)
    assert due is not None
    assert due.outcomes[Move("draw", ("pottery",))] == Fraction(16, 76)
    assert due.outcomes[Move("draw", ("herbs",))] == Fraction(20, 76)


def test_the_messenger_is_free_in_a_play_and_counts_as_a_move_in_a_pass() -> None:
    """A9."""
    sitting = Sitting(buyers={"south": "o,-,-,-"})
    sitting.do("messenger").do("messenger").do("messenger")
    assert sitting.buyer("south", 0)[0]
    assert sitting.refused("shift", 15, 0) == "messenger_is_free"
    passing = Sitting(step="shift:south:2").do("shift", 13)
    assert passing.state.left == 1


def test_a_play_needs_a_purchase_before_it_can_be_closed() -> None:
    """A10."""
    sitting = Sitting("p12c/j3h4/xyuv/amk.", vendors="2,0,0,0", buyers={"south": "o,o,-,-"})
    assert "commit" not in sitting.names
    assert sitting.refused("commit") == "nothing_bought"
    sitting.do("shift", 5, 1)
    assert sitting.refused("commit") == "nothing_bought"
    sitting.do("buy", 0, 3).do("commit")
    assert GAME.rules.on_turn(sitting.state) == "east"


def test_a_play_can_be_taken_back_until_it_is_closed() -> None:
    """A10."""
    sitting = Sitting("p12c/j3h4/xyuv/amk.", vendors="2,0,0,0", buyers={"south": "o,o,-,-"})
    before = sitting.state
    assert sitting.refused("rollback") == "nothing_played"
    sitting.do("shift", 5, 1).do("messenger").do("buy", 0, 3)
    assert sitting.refused("pass") == "playing"
    assert GAME.rules.undoable(before, "south", Move("buy", (0, 3)))
    assert not GAME.rules.undoable(before, "south", Move("commit"))
    assert sitting.do("rollback").state == before


def test_an_empty_vendor_sells_nothing() -> None:
    """A11."""
    sitting = Sitting("p12c/j3h4/xyuv/mak.", buyers={"south": "o,-,-,-"})
    assert sitting.refused("buy", 0, 3) == "empty_vendor"


TOLLS = "pc1j/xh23/u4yv/mak."
"""In South's first lane, from the buyer: messenger, governor, porter, pottery."""


def test_porters_and_governors_in_between_act_once_each() -> None:
    """A12."""
    sitting = Sitting(TOLLS, vendors="5,0,0,0", buyers={"south": "o,-,-,-"}).do("buy", 0, 3)
    assert sitting.buyer("south", 0) == (False, "pottery", 3)
    assert sitting.view["vendors"]["pottery"] == 1
    assert sitting.view["king"]["pottery"] == 1


def test_what_stands_nearest_to_the_vendor_takes_first() -> None:
    """A12: with one token the porter has it, and the governor gets none."""
    sitting = Sitting(TOLLS, vendors="1,0,0,0", buyers={"south": "o,-,-,-"}).do("buy", 0, 3)
    assert sitting.view["vendors"]["pottery"] == 1
    assert sitting.view["king"]["pottery"] == 0
    turned = Sitting("pc1j/uh23/x4yv/mak.", vendors="1,0,0,0", buyers={"south": "o,-,-,-"}).do("buy", 0, 3)
    assert turned.view["king"]["pottery"] == 1


def test_a_purchase_that_brings_nothing_asks_twice() -> None:
    """A12."""
    sitting = Sitting(TOLLS, vendors="2,0,0,0", buyers={"south": "o,-,-,-"})
    (choice,) = [each for each in GAME.rules.choices(sitting.state, "south") if each.move == Move("buy", (0, 3))]
    assert choice.confirm
    assert choice.facts["n"] == 0


def test_the_buyer_may_choose_who_takes_where_the_table_wants_it() -> None:
    """A12, option `toll_order`."""
    sitting = Sitting(TOLLS, vendors="1,0,0,0", buyers={"south": "o,-,-,-"}, toll_order="choice")
    assert [move.args for move in sitting.moves if move.name == "buy"] == [(0, 3, 0), (0, 3, 1)]
    assert sitting.refused("buy", 0, 3) == "no_such_toll"
    assert sitting.do("buy", 0, 3, 1).view["king"]["pottery"] == 1
    plenty = Sitting(TOLLS, vendors="2,0,0,0", buyers={"south": "o,-,-,-"}, toll_order="choice")
    assert [move.args for move in plenty.moves if move.name == "buy"] == [(0, 3)]


def test_one_of_each_kind_may_be_enough() -> None:
    """A12, option `toll_stack`."""
    two = "pc1j/xh23/y4uv/mak."
    each = Sitting(two, vendors="5,0,0,0", buyers={"south": "o,-,-,-"}).do("buy", 0, 3)
    assert each.buyer("south", 0) == (False, "pottery", 3)
    once = Sitting(two, vendors="5,0,0,0", buyers={"south": "o,-,-,-"}, toll_stack="once_per_kind").do("buy", 0, 3)
    assert once.buyer("south", 0) == (False, "pottery", 4)


def test_past_the_ambassador_the_coin_stays_and_the_buyer_may_buy_again() -> None:
    """A13."""
    sitting = Sitting("pc1j/ah23/x4yv/muk.", vendors="3,0,0,0", buyers={"south": "o,-,-,-"}).do("buy", 0, 3)
    assert sitting.buyer("south", 0) == (True, "pottery", 2)
    assert sitting.view["vendors"]["pottery"] == 1
    assert sitting.refused("buy", 0, 3) == "changes_nothing"


def test_a_purchase_that_changes_nothing_at_all_is_refused() -> None:
    """A13: the coin kept, and every token back on the vendor."""
    both = Sitting("pc1j/xh23/y4uv/amk.", vendors="2,0,0,0", buyers={"south": "o,-,-,-"})
    assert both.refused("buy", 0, 3) == "changes_nothing"
    paid = Sitting("pc1j/xh23/y4uv/mak.", vendors="2,0,0,0", buyers={"south": "o,-,-,-"})
    assert Move("buy", (0, 3)) in paid.moves


def test_only_crowds_block() -> None:
    """A14: vendors, king, messenger and the hole stand in nobody's way."""
    sitting = Sitting("p12c/j3h4/m.uv/kaxy", vendors="1,0,0,0", buyers={"south": "o,-,-,-"})
    assert Move("buy", (0, 3)) in sitting.moves
    blocked = Sitting("p12c/4jh3/m.uv/kaxy", vendors="1,0,0,0", buyers={"south": "o,-,-,-"})
    assert blocked.refused("buy", 0, 3) == "crowd"


def test_the_king_may_be_given_a_token_from_his_row_or_column_past_crowds() -> None:
    """A15."""
    sitting = Sitting("p1kc/h23j/x4yu/va.m", vendors="1,0,2,1", step="shift:south:2", buyers={"south": "o,o,o,o"})
    sitting.do("shift", 15).do("shift", 13)
    assert sitting.moves == [Move("leave"), Move("take", ("pottery",))]
    assert sitting.refused("take", "jewels") == "out_of_reach"
    sitting.do("take", "pottery")
    assert (sitting.view["king"]["pottery"], sitting.view["vendors"]["pottery"]) == (1, 0)


def test_the_king_may_be_left_alone() -> None:
    """A15: giving is optional."""
    sitting = Sitting("p1kc/h23j/x4yu/va.m", vendors="1,0,2,1", step="king:south:0").do("leave")
    assert sitting.view["king"] == {"pottery": 0, "cloth": 0, "jewels": 0, "herbs": 0}
    assert GAME.rules.on_turn(sitting.state) == "east"


def test_a_pass_gives_a_coin_unless_all_four_buyers_have_one() -> None:
    """A16."""
    three = Sitting(step="shift:south:2", buyers={"south": "o,o,-,o"}).do("shift", 0).do("shift", 1)
    assert three.moves == [Move("coin", (2,))]
    four = Sitting(step="shift:south:2", buyers={"south": "o,o,o,o"}).do("shift", 0).do("shift", 1)
    assert GAME.rules.on_turn(four.state) == "east"


LAST = {"unseen": "1,1,1,1", "king": "19,19,19,19"}


def test_the_game_ends_with_the_round_in_which_the_bag_is_empty() -> None:
    """A17: the tokens set aside do not count."""
    sitting = Sitting(**LAST, step="shift:south:2", buyers={"south": "o,o,o,o", "east": "o,o,o,o"})
    sitting.do("shift", 0).do("shift", 1)
    assert GAME.rules.on_turn(sitting.state) == "east"
    sitting.do("pass").do("shift", 0).do("shift", 2)
    assert sitting.state.over
    assert GAME.rules.to_act(sitting.state) == ()


def test_an_empty_bag_is_not_drawn_from() -> None:
    """A17: the first step of a Pass falls away."""
    assert Sitting(**LAST).do("pass").state.step == "shift"


def test_nineteen_passes_empty_the_bag() -> None:
    """A17."""
    assert Sitting.fresh().state.bag // 4 == 19


ALIKE = [Holding((4, 0, 0, 0)), Holding((0, 0, 0, 0)), Holding((4, 0, 0, 0)), Holding((0, 0, 0, 0))]
PAIRS = [(0, 2), (1, 3)]


@pytest.mark.parametrize(("partner_tie", "points"), [("once", 12), ("none", 0), ("both", 24)])
def test_partners_with_equally_many_score_as_the_table_has_it(partner_tie: str, points: int) -> None:
    """A18, option `partner_tie`."""
    result = score(ALIKE, (3, 0, 0, 0), PAIRS, partner_tie)
    assert result.points == (points, 0)
    left_out = [line[0].counts == EQUAL for line in result.lines]
    assert left_out == [partner_tie == "none", False, partner_tie != "both", False]


def test_a_tie_goes_to_the_partnership_of_the_one_player_with_most_coins() -> None:
    """A19: not to the partnership with more together, but by the option `tie_sum`."""
    held = [Holding((0,) * 4, coins) for coins in (2, 3, 2, 0)]
    assert score(held, (0,) * 4, PAIRS).winners == (1,)
    assert score(held, (0,) * 4, PAIRS, tie_sum=True).winners == (0,)


def test_then_the_player_with_most_tokens_and_then_the_win_is_shared() -> None:
    """A19."""
    held = [Holding((0, 0, 2, 0), 1), Holding((3, 0, 0, 0), 1), Holding((0, 2, 0, 0)), Holding((0,) * 4)]
    assert (score(held, (0,) * 4, PAIRS).winners, score(held, (0,) * 4, PAIRS).decided) == ((1,), "tokens")
    assert score(held, (0,) * 4, PAIRS, tie_sum=True).winners == (0,)
    nothing = [Holding((0,) * 4)] * 4
    assert (score(nothing, (0,) * 4, PAIRS).winners, score(nothing, (0,) * 4, PAIRS).decided) == ((0, 1), "shared")


def test_two_or_three_players_score_each_for_themselves() -> None:
    """A20."""
    held = [Holding((2, 0, 0, 0)), Holding((2, 1, 0, 0)), Holding((0, 0, 5, 0))]
    assert score(held, (3, 2, 0, 0), [(0,), (1,), (2,)]).points == (6, 8, 0)


def test_everything_is_open_to_everybody() -> None:
    """A21: partners may talk, for nobody knows what another does not."""
    sitting = Sitting(players=4, vendors="2,0,0,0", buyers={"south": "o,2j,-,-"})
    views = [dict(GAME.page.view(sitting.state, seat)) for seat in (*GAME.seatings[4], None)]
    assert all({**view, "me": None} == views[-1] for view in views)


def test_any_own_buyer_pays_for_a_tile() -> None:
    """A22."""
    sitting = Sitting(buyers={"south": "o,-,o3j,-"})
    assert {move.args[1] for move in sitting.moves if move.name == "shift"} == {0, 2}
    assert sitting.refused("shift", 0, 1) == "no_coin"
    assert sitting.do("shift", 0, 2).buyer("south", 2) == (False, "jewels", 3)


def test_three_players_take_their_turns_clockwise() -> None:
    """A23; which side is empty is a matter of turning the market (see the rotation property)."""
    assert GAME.seatings[3] == ("south", "west", "north")
    sitting = Sitting(players=3, step="shift:north:2", buyers={"north": "o,o,o,o"}).do("shift", 0).do("shift", 1)
    assert GAME.rules.on_turn(sitting.state) == "south"


def test_the_start_marker_is_drawn() -> None:
    """A24."""
    due = GAME.rules.chance(Sitting.fresh(3).state)
    assert due is not None
    assert set(due.outcomes.values()) == {Fraction(1, 3)}


def test_a_table_may_say_who_begins() -> None:
    """A24, option `start`: any of its phones."""
    sitting = Sitting.fresh(3, start="host")
    assert GAME.rules.to_act(sitting.state) == GAME.seatings[3]
    sitting.do("start", "north", by="west")
    assert GAME.rules.to_act(sitting.state) == ("north",)


def test_a_purchase_that_brings_nothing_is_a_purchase() -> None:
    """A25: it pays its coin, and the Play can be closed."""
    sitting = Sitting(TOLLS, vendors="1,0,0,0", buyers={"south": "o,-,-,-"}).do("buy", 0, 3)
    assert sitting.buyer("south", 0) == (False, "", 0)
    sitting.do("commit")
    assert GAME.rules.on_turn(sitting.state) == "east"


def test_the_king_is_given_one_token_as_the_last_step_of_a_pass() -> None:
    """A26."""
    sitting = Sitting("p1kc/h23j/x4yu/va.m", vendors="2,0,0,0", step="king:south:0").do("take", "pottery")
    assert sitting.view["vendors"]["pottery"] == 1
    assert GAME.rules.on_turn(sitting.state) == "east"
    play = Sitting("p1kc/h23j/x4yu/va.m", vendors="2,0,0,0", buyers={"south": "o,o,o,o"})
    assert "take" not in play.names


def test_ties_between_players_alone_go_by_coins_then_tokens_then_are_shared() -> None:
    """A27."""
    alone = [(0,), (1,)]
    coins = [Holding((0,) * 4, 1), Holding((0,) * 4, 2)]
    tokens = [Holding((1, 0, 0, 0)), Holding((0, 3, 0, 0))]
    assert score(coins, (0,) * 4, alone).decided == "coins"
    assert score(tokens, (0,) * 4, alone).winners == (1,)
    assert score(tokens[:1] * 2, (0,) * 4, alone).winners == (0, 1)


def test_the_rulebooks_example_comes_out_53_to_60() -> None:
    """The golden scoring: Yolanda and Victor against Laura and Raquel; in pottery, cloth, jewels, herbs."""
    held = [Holding((9, 0, 0, 6)), Holding((3, 6, 4, 4)), Holding((5, 5, 3, 0)), Holding((0, 0, 8, 6))]
    result = score(held, (2, 4, 3, 1), PAIRS)
    assert result.totals == (24, 30, 29, 30)
    assert result.points == (53, 60)
    assert result.winners == (1,)
    assert [[cell.counts == PARTNER for cell in line] for line in result.lines] == [
        [False, True, True, False],
        [False, False, True, True],
        [True, False, False, True],
        [True, True, False, False],
    ]


def test_two_buyers_of_one_player_may_hold_the_same_commodity() -> None:
    """A28: what they hold is added up in the score."""
    sitting = Sitting("pc1j/uh23/x4yv/mak.", vendors="3,0,0,0", buyers={"south": "o,2p,-,-"}).do("buy", 0, 3)
    held = [sitting.buyer("south", lane) for lane in (0, 1)]
    assert [goods for _, goods, _ in held] == ["pottery", "pottery"]
    assert holdings(sitting.state)[0].tokens[0] == sum(n for _, _, n in held) > 2

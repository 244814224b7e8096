"""The market's tools: the score pad, the bag, the turn card and the purchase checker keep every law of a game."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.games.kit import CHANCE, USER, Arg, Game, Move, Refusal
from companion.games.market import GAME
from companion.games.market.rules.board import KIND_OF
from tests.games.market_sitting import PLAIN
from tests.games.playouts import accepted, check_value, combinations, fuzzed, is_arg, leaves, playout

TOOLS = GAME.tools

every = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))


def made(name: str, *moves: tuple[Arg, ...]) -> Any:
    """Return a tool's state after some moves by whoever may make them."""
    tool = TOOLS[name]
    state = tool.rules.setup({}, (USER,))
    for move, *args in moves:
        each = Move(str(move), tuple(args))
        state = accepted(tool.rules.play(state, tool.rules.to_act(state)[0], each), each)
    return state


def seen(name: str, *moves: tuple[Arg, ...]) -> Any:
    """Return what the tool's user sees after some moves."""
    return TOOLS[name].page.view(made(name, *moves), USER)


@every
def test_random_taps_keep_every_law_of_a_game(tool: Game[Any]) -> None:
    (here,) = combinations([tool])
    random = Random(tool.name)
    for n, step in enumerate(playout(tool, tool.rules.setup(here.options(), here.seats), random, 150)):
        state = step.after
        seat = tool.rules.to_act(state)[0]
        moves = tool.rules.moves(state, seat)
        assert moves == sorted(set(moves))
        check_value(tool, state)
        assert n % 10 or set(leaves(tool, state, seat)) == set(moves)
        for move in [fuzzed(moves, random) for _ in range(6)]:
            if not (all(is_arg(arg) for arg in move.args) and move in moves):
                assert isinstance(tool.rules.play(state, seat, move), Refusal)
        due = tool.rules.chance(state)
        assert due is None or sum(due.outcomes.values()) == 1
        tool.page.regions(tool.page.view(state, USER))


EXAMPLE: list[tuple[Arg, ...]] = [
    ("king", "pottery", 2), ("king", "cloth", 4), ("king", "jewels", 3), ("king", "herbs", 1),
    ("tokens", "one", "pottery", 9), ("tokens", "one", "herbs", 6),
    ("tokens", "two", "pottery", 5), ("tokens", "two", "cloth", 5), ("tokens", "two", "jewels", 3),
    ("tokens", "three", "pottery", 3), ("tokens", "three", "cloth", 6), ("tokens", "three", "jewels", 4),
    ("tokens", "three", "herbs", 4), ("tokens", "four", "jewels", 8), ("tokens", "four", "herbs", 6),
]  # fmt: skip


def test_the_rulebooks_example_comes_out_53_to_60_on_the_pad() -> None:
    view = seen("score", *EXAMPLE)
    assert [group["points"] for group in view["groups"]] == [53, 60]
    assert [row["points"] for group in view["groups"] for row in group["rows"]] == [24, 29, 30, 30]
    assert [group["leads"] for group in view["groups"]] == [False, True]
    assert view["groups"][0]["rows"][1]["cells"][0]["counts"] == "partner"


def test_the_pad_takes_no_more_tokens_than_there_are() -> None:
    state = made("score", ("king", "pottery", 15))
    assert isinstance(TOOLS["score"].rules.play(state, USER, Move("tokens", ("one", "pottery", 6))), Refusal)
    assert not isinstance(TOOLS["score"].rules.play(state, USER, Move("tokens", ("one", "pottery", 5))), Refusal)


def test_a_number_that_is_not_possible_is_refused_with_those_that_are() -> None:
    tool = TOOLS["score"]
    state = made("score", ("king", "cloth", 9), ("tokens", "one", "cloth", 4))
    for move, high in (
        (Move("tokens", ("two", "cloth", 8)), 7),
        (Move("tokens", ("one", "cloth", 21)), 11),
        (Move("coins", ("one", 5)), 4),
        (Move("coins", ("one", 10**9)), 4),
    ):
        refused = tool.rules.play(state, USER, move)
        assert isinstance(refused, Refusal)
        assert (refused.code, refused.facts) == ("cannot", {"low": 0, "high": high})


def test_with_fewer_players_each_scores_alone_and_a_row_that_falls_away_is_blank() -> None:
    view = seen("score", *EXAMPLE, ("players", 3), ("players", 4))
    assert view["groups"][1]["rows"][1]["points"] == 0
    assert [group["points"] for group in seen("score", *EXAMPLE, ("players", 3))["groups"]] == [24, 39, 46]


def test_four_tokens_come_out_of_the_bag_and_are_no_longer_in_it() -> None:
    view = seen("bag", ("draw",), *[("came", name) for name in ("pottery", "pottery", "herbs", "cloth")])
    assert (view["bag"], view["aside"], view["drawn"]) == (72, 4, ["pottery", "pottery", "herbs", "cloth"])
    assert [good["n"] for good in view["goods"]] == [18, 19, 20, 19]


def test_tokens_are_entered_in_the_order_in_which_the_bag_counts_them() -> None:
    tool, state = TOOLS["bag"], made("bag", ("draw",))
    entered = [choice.move.args[0] for choice in tool.rules.choices(state, CHANCE) if choice.move]
    assert entered == [good["commodity"] for good in tool.page.view(state, None)["goods"]]  # type: ignore[index,union-attr,call-overload]


def test_the_bag_says_how_likely_one_of_four_is() -> None:
    """80 unseen of which 20 are cloth: 1 - (60 choose 4) / (80 choose 4) is 69 %."""
    assert {round(100 * good["one_of_four"]) for good in seen("bag")["goods"]} == {69}


def test_the_bag_is_empty_when_only_what_was_set_aside_is_left() -> None:
    tool = TOOLS["bag"]
    state, random = made("bag", ("aside", 40, "blind")), Random(1)
    while tool.rules.moves(state, USER) != [Move("refill")]:
        state = accepted(tool.rules.play(state, USER, Move("draw")), Move("draw"))
        while (due := tool.rules.chance(state)) is not None:
            move = random.choice(sorted(due.outcomes))
            state = accepted(tool.rules.play(state, CHANCE, move), move)
    assert sum(state.unseen) == 40


def test_the_turn_card_goes_through_the_four_steps_of_a_pass() -> None:
    view = seen("turn", ("pass",), ("next",), ("next",))
    assert [step["step"] for step in view["steps"] if step["now"]] == ["money"]
    assert seen("turn", ("pass",), ("next",), ("next",), ("next",), ("next",))["seat"] == "west"


def test_an_empty_bag_leaves_the_first_step_out_and_ends_the_game_with_the_round() -> None:
    first = seen("turn", ("empty",), ("pass",))
    assert [step["step"] for step in first["steps"] if step["now"]] == ["shift"]
    assert seen("turn", ("empty",), *[("play",), ("close",)] * 4)["doing"] == "over"
    assert seen("turn", ("players", 2), *[("play",), ("close",)] * 2)["doing"] == "choose"


def test_the_purchase_checker_says_what_each_purchase_brings_and_why_there_is_none() -> None:
    laid = [("lay", cell, KIND_OF["pcjh1234xyuvamk.".index(each)]) for cell, each in enumerate(PLAIN.replace("/", ""))
            if each != "."]  # fmt: skip
    view = seen("lanes", *laid, ("vendor", "pottery", 3), ("lift", 4), ("coin", 1))
    first, second = view["buyers"][0]["answers"][0], view["buyers"][1]["answers"][0]
    assert (first["brings"], first["returned"], first["king"], first["keeps_coin"]) == (2, 1, 0, True)
    assert second["why_not"] == "no_coin"
    assert view["buyers"][2]["answers"][0]["why_not"] == "crowd"
    assert view["lit"] == [0, 4, 8, 12]


def test_the_score_pad_takes_an_unchanged_number_as_nothing_to_do() -> None:
    tool = GAME.tools["score"]
    pad = tool.rules.setup({}, (USER,))
    for move in (Move("king", ("pottery", 3)), Move("tokens", ("one", "cloth", 5)), Move("coins", ("two", 1))):
        pad = tool.rules.play(pad, USER, move)
        assert tool.rules.play(pad, USER, move) == pad


def test_the_score_pad_knows_how_a_tie_is_broken() -> None:
    """A19: the better single player, or by a house rule what both hold together."""
    tool = GAME.tools["score"]
    pad = tool.rules.setup({}, (USER,))
    for row, coins in (("one", 2), ("three", 1), ("four", 2)):
        pad = tool.rules.play(pad, USER, Move("coins", (row, coins)))
    assert [group["leads"] for group in tool.page.view(pad, None)["groups"]] == [True, True]
    pad = tool.rules.play(pad, USER, Move("tie_sum", ("on",)))
    assert [group["leads"] for group in tool.page.view(pad, None)["groups"]] == [False, True]
    assert tool.rules.notation(pad).endswith('"tie_sum":"on"}')


def test_the_end_of_a_turn_with_purchases_asks_for_a_second_tap() -> None:
    random, game = Random(5), GAME
    state = game.rules.setup({option.key: option.default for option in game.options}, game.seatings[2])
    for _ in range(400):
        seat = game.rules.to_act(state)[0]
        found = [choice for choice in game.rules.choices(state, seat) if choice.key == "commit"]
        if found:
            assert found[0].confirm
            return
        moves = game.rules.moves(state, seat)
        buying = [move for move in moves if move.name in ("buy", "commit")]
        state = game.rules.play(state, seat, random.choice(buying or moves))
    raise AssertionError("nobody bought anything")

"""The app as a player of Moctezuma's Revenge: what it makes of what it knows."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.games.kit import Move, outcome
from companion.games.moctezuma import GAME
from companion.games.moctezuma.bot import known
from companion.games.moctezuma.page.view import knowledge
from companion.games.moctezuma.rules.state import POINTS
from tests.games.moctezuma_duels import duel
from tests.games.moctezuma_sitting import Sitting, all_options, played_out


def decided(table: Sitting) -> Move | None:
    """Return what the app would play for the seat on turn."""
    seat = table.state.seat
    return GAME.decide(table.view(seat), table.moves(), Random(1).randrange)


def test_it_beats_a_random_player_in_more_than_three_games_of_four() -> None:
    shares = [duel(seed)[0] for seed in range(16)]
    assert sum(shares) >= 0.75 * len(shares)


@pytest.mark.parametrize("house", [{"bottom": "choose", "keep": "may"}, {"board": "custom"}, {"deduction": "off"}])
def test_it_plays_by_every_house_rule_to_the_end(house: dict[str, str]) -> None:
    assert duel(3, flip="turn", **house)[0] in (0.0, 0.5, 1.0)


def test_it_knows_what_its_seat_knows() -> None:
    for state, _, _ in played_out(3, "knows", until=250)[::25]:
        for at, seat in enumerate(state.seats):
            assert known(GAME.page.view(state, seat)) == knowledge(state, at)


def test_it_keeps_the_least_of_a_cursed_temple_and_the_best_of_a_safe_one() -> None:
    cursed = Sitting().rounds(4).rounds(1, "cursed").put(5).do("explore", 2).dealt("tizoc", 1)
    assert decided(cursed) == Move("keep", (1,))
    bad = Sitting().rounds(4).rounds(1, "cursed").put(5).do("explore", 5).dealt("tizoc", 1, 5, 3, 1)
    assert decided(bad) == Move("keep", (1,))
    good = Sitting(curse_rule="all").rounds(5).put(5).do("explore", 5).dealt("tizoc", 1, 5, 3, 1)
    assert decided(good) == Move("keep", (5,))


def test_it_leaves_cursed_treasure_where_it_may() -> None:
    table = Sitting(keep="may").rounds(4).rounds(1, "cursed").put(5).do("explore", 5).dealt("tizoc", 1, 5, 3, 1)
    assert decided(table) == Move("leave")


def test_it_looks_at_what_it_does_not_know() -> None:
    table = Sitting().peek(0, 1, faces="ss").do("study", 5)
    for _ in range(5):
        move = decided(table)
        assert move
        assert move.name == "peek"
        assert str(move.args[0]) not in table.notebook("red")["chits"]
        table.do("peek", *move.args).dealt("safe")


def test_it_still_has_something_to_do_late_in_the_game() -> None:
    """It let 22 of 100 turns pass whole when a name was worth too little to it from round 10 on."""
    turns = passed = 0
    for seed in range(5):
        random = Random(seed)
        state: Any = GAME.rules.setup(all_options(), GAME.seatings[4])
        while acting := GAME.rules.to_act(state):
            due, moves = GAME.rules.chance(state), GAME.rules.moves(state, acting[0])
            view = GAME.page.view(state, acting[0])
            decided = outcome(due, random.randrange) if due else GAME.decide(view, moves, random.randrange)
            assert decided is not None
            if decided.name == "end_turn":
                turns, passed = turns + 1, passed + (view["points"] == POINTS)
            state = GAME.rules.play(state, acting[0], decided)
    assert passed / turns < 0.15


def test_ties_are_broken_by_chance_and_not_by_order() -> None:
    found = set()
    for seed in range(4):
        bag, below = Random(0), Random(seed).randrange  # what is drawn is the same, whatever the players toss up
        state: Any = GAME.rules.setup(all_options(), GAME.seatings[2])
        moves: list[Move] = []
        while len(moves) < 60:
            seat, due = GAME.rules.to_act(state)[0], GAME.rules.chance(state)
            view = GAME.page.view(state, seat)
            move = outcome(due, bag.randrange) if due else GAME.decide(view, GAME.rules.moves(state, seat), below)
            assert move is not None
            moves.append(move)
            state = GAME.rules.play(state, seat, move)
        found.add(tuple(moves))
    assert len(found) > 1

"""The app as a player of The Aztec Market: from what its seat sees, well enough, and never in circles."""

from __future__ import annotations

from random import Random

import pytest

from companion.games.kit import CHANCE, replace
from companion.games.market import GAME
from companion.games.market.bot import position
from companion.games.market.rules.state import TURN
from lab.matches import Setup, play
from tests.games.market_duels import won
from tests.games.market_sitting import all_options
from tests.games.playouts import accepted


def test_the_app_beats_random_play_in_four_of_five_games() -> None:
    """A short share of ``python -m tests.games.market_duels``, which plays 500."""
    assert sum(won(seed) for seed in range(10)) >= 8


@pytest.mark.parametrize("players", GAME.seatings)
def test_the_app_brings_a_game_to_its_end_against_itself(players: int) -> None:
    random = Random(players)
    rules = {option.key: random.choice(option.values) for option in GAME.options} | {"removed": 36}
    state, plies = GAME.rules.setup(all_options(**rules), GAME.seatings[players]), 0
    while not state.over:
        seat = GAME.rules.to_act(state)[0]
        moves = GAME.rules.moves(state, seat)
        if seat == CHANCE:
            move = random.choice(moves)
        else:
            seen = GAME.page.view(state, seat)
            assert position(seen) == replace(state, played=(), origin=None)
            decided = GAME.decide(seen, moves, random.randrange)
            assert decided in moves
            move = decided
        state = accepted(GAME.rules.play(state, seat, move), move)
        plies += 1
    assert plies < 600
    outcome = GAME.page.view(state, None)["outcome"]
    assert isinstance(outcome, dict)
    assert outcome["winners"]


@pytest.mark.parametrize("players", GAME.seatings)
def test_the_strong_player_makes_a_purchase_of_every_tile_that_it_moves(players: int) -> None:
    random = Random(players)
    state = GAME.rules.setup(all_options(removed=36), GAME.seatings[players])
    moved = False
    for _ in range(70):
        seat = GAME.rules.to_act(state)[0]
        moves = GAME.rules.moves(state, seat)
        move = random.choice(moves)
        if seat != CHANCE:
            chosen = GAME.decide(GAME.page.view(state, seat), moves, random.randrange, "strong")
            assert chosen in moves
            move = chosen
            assert not moved or move.name == "buy"
            moved = state.step == TURN and move.name in ("shift", "messenger")
        state = accepted(GAME.rules.play(state, seat, move), move)


def test_the_strong_player_beats_the_practised_one() -> None:
    """A short share of what `lab duel` plays."""
    setup = Setup(game="market", preset="short", seats=2, habits=("app strong", "app"), rotating=True)
    won = [play(setup, "", seed) for seed in range(4)]
    assert sum(each.players[seat] == "app strong" for each in won for seat in each.winners) >= 3


def test_a_seat_that_is_passed_takes_an_unfinished_play_back_and_passes() -> None:
    random = Random(5)
    state = GAME.rules.setup(all_options(setup="random"), GAME.seatings[2])
    names: set[str] = set()
    for _ in range(900):
        if state.over:
            break
        seat = GAME.rules.to_act(state)[0]
        moves = GAME.rules.moves(state, seat)
        move = random.choice(moves) if seat != "south" else GAME.bot.idle(moves)
        assert move is not None
        names |= {move.name} if seat == "south" else set()
        state = accepted(GAME.rules.play(state, seat, move), move)
    assert {"pass", "shift", "coin"} <= names
    assert not {"buy", "take", "commit"} & names

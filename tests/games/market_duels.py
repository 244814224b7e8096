"""The app against random play: ``python -m tests.games.market_duels [GAMES] [PLAYERS]`` prints how often it wins.

The app takes each seat in turn; whoever is not the app draws from the legal moves, each as likely as the others.
"""

from __future__ import annotations

import sys
from random import Random

from companion.games.kit import CHANCE
from companion.games.market import GAME
from tests.games.market_sitting import all_options
from tests.games.playouts import accepted


def won(seed: int, players: int = 2) -> bool:
    """Play one seeded game out and return whether the app's seat is among the winners, alone or with its partner."""
    random, seats = Random(seed), GAME.seatings[players]
    state, own = GAME.rules.setup(all_options(), seats), seats[seed % players]
    while not state.over:
        seat = GAME.rules.to_act(state)[0]
        moves = GAME.rules.moves(state, seat)
        if seat == CHANCE:
            due = GAME.rules.chance(state)
            assert due is not None
            move = random.choices(moves, [float(due.outcomes[each]) for each in moves])[0]
        elif seat == own:
            decided = GAME.decide(GAME.page.view(state, seat), moves, random.randrange)
            assert decided in moves
            move = decided
        else:
            move = random.choice(moves)
        state = accepted(GAME.rules.play(state, seat, move), move)
    outcome = GAME.page.view(state, None)["outcome"]
    assert isinstance(outcome, dict)
    winners = outcome["winners"]
    assert isinstance(winners, list)
    return own in winners and len(winners) < players


if __name__ == "__main__":
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    seated = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    wins = sum(won(seed, seated) for seed in range(games))
    print(
        f"the app won {wins} of {games} games against random play with {seated} players: {100 * wins / games:.1f} %"
    )

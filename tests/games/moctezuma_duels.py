"""The app's player against one that plays at random.

``python -m tests.games.moctezuma_duels [GAMES]`` prints how often it wins; without a number, of 500 games.
A shared victory counts half. Every duel has its own seed, and the two change seats from one to the next.
"""

from __future__ import annotations

import sys
from random import Random

from companion.games.kit import Refusal, Value, outcome
from companion.games.moctezuma import GAME
from companion.games.moctezuma.page.view import totals
from tests.games.moctezuma_sitting import all_options


def duel(seed: int, **chosen: Value) -> tuple[float, int, int]:
    """Play one game; return 1, 0.5 or 0 for the player of the app, its points and the other's."""
    random = Random(f"duel {seed}")
    app = seed % 2
    state = GAME.rules.setup(all_options(**chosen), GAME.seatings[2])
    while acting := GAME.rules.to_act(state):
        seat = acting[0]
        due = GAME.rules.chance(state)
        moves = GAME.rules.moves(state, seat)
        move = outcome(due, random.randrange) if due else random.choice(moves)
        if not due and seat == state.seats[app]:
            decided = GAME.decide(GAME.page.view(state, seat), moves, random.randrange)
            assert decided in moves
            move = decided
        after = GAME.rules.play(state, seat, move)
        assert not isinstance(after, Refusal)
        state = after
    won, scores = totals(state)
    share = 1 / len(won) if app in won else 0.0
    return share, scores[app].total, scores[1 - app].total


if __name__ == "__main__":
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    results = [duel(seed) for seed in range(games)]
    shares, own, other = (sum(column) / games for column in zip(*results, strict=True))
    print(f"the app's player won {shares:.1%} of {games} games; {own:.1f} points to {other:.1f} on the average")

"""Skirmishes of the app against a random player: ``python -m tests.games.siege_matches [GAMES]`` prints who won."""

from __future__ import annotations

import sys
from random import Random

from companion.games.kit import CHANCE
from companion.games.siege import GAME
from tests.games.playouts import accepted

MOVES = 20_000


def match(seed: int, app: str, preset: str = "skirmish") -> str | None:
    """Return who won a game in which the app plays one side and chance the other."""
    random = Random(f"siege {app} {seed}")
    options = {option.key: option.default for option in GAME.options} | dict(GAME.presets[preset])
    state = GAME.rules.setup(options, ("aztecs", "spaniards"))
    for _ in range(MOVES):
        if state.outcome:
            return state.outcome.winner
        seat = GAME.rules.to_act(state)[0]
        moves = GAME.rules.moves(state, seat)
        if seat == CHANCE:
            due = GAME.rules.chance(state)
            assert due is not None
            outcomes = sorted(due.outcomes)
            move = random.choices(outcomes, [float(due.outcomes[each]) for each in outcomes])[0]
        elif seat == app:
            decided = GAME.decide(GAME.page.view(state, seat), moves, random.randrange)
            assert decided in moves, f"the app wants {decided}, which is not legal"
            move = decided
        else:
            move = random.choice(moves)
        state = accepted(GAME.rules.play(state, seat, move), move)
    raise AssertionError(f"a game was not over after {MOVES} moves")


def won(app: str, games: int) -> int:
    """Return how many of some games the app wins on a side."""
    return sum(match(seed, app) == app for seed in range(games))


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for side in ("aztecs", "spaniards"):
        print(f"the app as {side} against chance: {won(side, n)} of {n} skirmishes won", flush=True)

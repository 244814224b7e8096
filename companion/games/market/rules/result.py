"""The score of a game as it stands, at its end or before. It counts, and leaves the arithmetic to `scoring`."""

from __future__ import annotations

from companion.games.market.rules.scoring import Holding, Score, score
from companion.games.market.rules.state import State


def holdings(state: State) -> list[Holding]:
    """Return what each seat's buyers hold, in turn order."""
    held = []
    for seat in range(len(state.seats)):
        tokens = [0, 0, 0, 0]
        for buyer in range(4 * seat, 4 * seat + 4):
            tokens[state.goods[buyer]] += state.counts[buyer]
        held.append(Holding(tuple(tokens), sum(state.coins[4 * seat : 4 * seat + 4])))
    return held


def result(state: State) -> Score:
    """Return the score as it stands, by the table's rules for ties (rulings A18, A19)."""
    rules = state.rules
    return score(holdings(state), state.king, state.partners, rules.partner_tie, rules.tie_sum == "on")

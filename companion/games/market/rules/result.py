"""The score of a running game, and its result at the end."""

from __future__ import annotations

from companion.games.kit import Result
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


def standing(state: State) -> Score:
    """Return the score as it stands, by the table's rules for ties (rulings A18, A19)."""
    rules = state.rules
    return score(holdings(state), state.king, state.partners, rules.partner_tie, rules.tie_sum == "on")


def result(state: State) -> Result | None:
    """Return who won with how many points, partners as many as each other, or none before the end."""
    if not state.over:
        return None
    found = standing(state)
    points = {state.seats[n]: found.points[at] for at, group in enumerate(state.partners) for n in group}
    winners = tuple(state.seats[n] for won in found.winners for n in state.partners[won])
    return Result(found.decided if len(found.winners) == 1 else "level", winners, points, "tile-king")

"""The score of a running game, and its result at the end."""

from __future__ import annotations

from collections.abc import Sequence

from companion.games.kit import Line, Result, Seat
from companion.games.market.rules.board import COMMODITIES
from companion.games.market.rules.scoring import COINS, TOKENS, Holding, Score, score
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
    kind = found.decided if len(found.winners) == 1 else "level"
    return Result(kind, winners, points, "tile-king", _because(state, found, kind, winners))


def _because(state: State, found: Score, kind: str, winners: Sequence[Seat]) -> Line:
    """Return the sentence of who won, by how much and why: of points, the commodity that made most of it."""
    best, *_ = found.winners
    if kind == "level":
        return Line("level", {"n": found.points[best]})
    who = dict(zip(("seat", "other"), winners, strict=False))
    code = f"{kind}_pair" if winners[1:] else kind
    rest = [at for at in range(len(state.partners)) if at != best]
    held = holdings(state)
    if kind in (COINS, TOKENS):
        together = sum if state.rules.tie_sum == "on" else max
        has = [
            together(held[n].coins if kind == COINS else sum(held[n].tokens) for n in group)
            for group in state.partners
        ]
        level = [at for at in rest if found.points[at] == found.points[best]]
        if kind == TOKENS:
            coins = [together(held[n].coins for n in group) for group in state.partners]
            level = [at for at in level if coins[at] == coins[best]]
        return Line(code, {**who, "n": has[best] - max(has[at] for at in level)})
    second = max(rest, key=lambda at: found.points[at])
    gains = [
        sum(found.lines[n][which].points for n in state.partners[best])
        - sum(found.lines[n][which].points for n in state.partners[second])
        for which in range(len(COMMODITIES))
    ]
    commodity = COMMODITIES[gains.index(max(gains))]
    return Line(code, {**who, "n": found.points[best] - found.points[second], "commodity": commodity})

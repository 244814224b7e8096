"""Scores a game line by line, and decides who wins, for the game and for the score pad.

For each commodity a partnership multiplies what the partner with more holds by what the king holds of it; of two
partners with equally many one scores, none or both (ruling A18). A player alone is a partnership of one (A20).
"""

from __future__ import annotations

from collections.abc import Sequence

from companion.games.kit import Struct
from companion.games.market.rules.board import COMMODITIES

SCORES, PARTNER, EQUAL = "scores", "partner", "equal"
"""How a holding counts: it scores; the partner holds more; both hold as much and this one is left out."""

POINTS, COINS, TOKENS, SHARED = "points", "coins", "tokens", "shared"
"""What may decide a game, in this order."""


class Holding(Struct, frozen=True):
    """What a player has at the end: tokens by commodity, and coins on buyers."""

    tokens: tuple[int, ...]
    coins: int = 0


class Cell(Struct, frozen=True):
    """One player's holding of one commodity: how many, how it counts, and the points."""

    tokens: int
    counts: str
    points: int


class Score(Struct, frozen=True):
    """A game's score: a line of cells for each player, their sums, each partnership's total, and the winner.

    `winners` are partnerships by their place; several share a win. `decided` says what decided between the best.
    """

    lines: tuple[tuple[Cell, ...], ...]
    totals: tuple[int, ...]
    points: tuple[int, ...]
    winners: tuple[int, ...]
    decided: str


def score(
    holdings: Sequence[Holding],
    king: Sequence[int],
    partners: Sequence[Sequence[int]],
    partner_tie: str = "once",
    tie_sum: bool = False,
) -> Score:
    """Score what players hold; `partners` names each partnership's players by their place in `holdings`."""
    lines: list[tuple[Cell, ...]] = [() for _ in holdings]
    for group in partners:
        for one in group:
            lines[one] = tuple(
                _cell(holdings, king, group, one, which, partner_tie) for which in range(len(COMMODITIES))
            )
    totals = tuple(sum(cell.points for cell in line) for line in lines)
    points = tuple(sum(totals[one] for one in group) for group in partners)
    winners, decided = _winners(holdings, partners, points, tie_sum)
    return Score(tuple(lines), totals, points, winners, decided)


def _cell(
    holdings: Sequence[Holding], king: Sequence[int], group: Sequence[int], one: int, which: int, partner_tie: str
) -> Cell:
    own = holdings[one].tokens[which]
    others = [holdings[other].tokens[which] for other in group if other != one]
    counts = SCORES
    if own < max(others, default=0):
        counts = PARTNER
    elif own and own in others and (partner_tie == "none" or (partner_tie == "once" and one != group[0])):
        counts = EQUAL
    return Cell(own, counts, own * king[which] if counts == SCORES else 0)


def _winners(
    holdings: Sequence[Holding], partners: Sequence[Sequence[int]], points: Sequence[int], tie_sum: bool
) -> tuple[tuple[int, ...], str]:
    """Return who is best by points, then coins, then tokens (rulings A19, A27); who is equal in all shares."""
    together = sum if tie_sum else max
    coins = [together(holdings[one].coins for one in group) for group in partners]
    tokens = [together(sum(holdings[one].tokens) for one in group) for group in partners]
    best = list(range(len(partners)))
    for decided, measure in ((POINTS, points), (COINS, coins), (TOKENS, tokens)):
        highest = max(measure[each] for each in best)
        best = [each for each in best if measure[each] == highest]
        if len(best) == 1:
            return (best[0],), decided
    return tuple(best), SHARED

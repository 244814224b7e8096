"""What a move would change, as lines that the player reads before confirming it."""

from __future__ import annotations

from collections.abc import Iterator

from companion.games.kit import Line, Move, Seat
from companion.games.market.log import ending, seats_of
from companion.games.market.rules.board import COMMODITIES
from companion.games.market.rules.result import holdings, standing
from companion.games.market.rules.state import State


def changes(before: State, seat: Seat, move: Move, after: State) -> Iterator[Line]:
    """Yield what a player's turn has changed since it began, or a purchase since the move before it."""
    if move.name not in ("buy", "commit", "shift"):
        return
    base = before.origin if move.name == "commit" and before.origin else before
    at = base.seat
    held, holds = holdings(base)[at], holdings(after)[at]
    for which, commodity in enumerate(COMMODITIES):
        if held.tokens[which] != holds.tokens[which]:
            yield Line("holds", {"commodity": commodity, "was": held.tokens[which], "n": holds.tokens[which]})
    if held.coins != holds.coins:
        yield Line("coins", {"was": held.coins, "n": holds.coins})
    for which, commodity in enumerate(COMMODITIES):
        if base.king[which] != after.king[which]:
            yield Line("king", {"commodity": commodity, "was": base.king[which], "n": after.king[which]})
    was, now = standing(base), standing(after)
    for group, points, then in zip(after.partners, now.points, was.points, strict=True):
        if points != then:
            code = "points" if at in group else "points_of_both" if group[1:] else "points_of"
            yield Line(code, {**seats_of(after, group), "was": then, "n": points})
    if after.over:
        won = ending(after)
        yield Line(f"ends_{won.code}", won.facts)
    elif move.name == "commit":
        yield Line("next", {"seat": after.seats[after.seat]})

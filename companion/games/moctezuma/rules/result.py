"""The winner, and every seat's score, once all names are revealed."""

from __future__ import annotations

from companion.games.kit import Result
from companion.games.moctezuma.rules.scoring import Score, cursed_kings, score, winners
from companion.games.moctezuma.rules.state import State


def totals(state: State) -> tuple[tuple[int, ...], list[Score]]:
    """Return who won, by place, and every seat's count; only when all names are open."""
    cursed = cursed_kings(state.chits, state.rules.curse_rule, state.rules.third_chit)
    scores = [
        score([(trip.temple, trip.kept) for trip in own if trip.kept], state.names, cursed) for own in state.trips
    ]
    return winners(scores), scores


def result(state: State) -> Result | None:
    """Return who won with how many points, or none before the end."""
    if not state.over:
        return None
    won, scores = totals(state)
    points = {seat: count.total for seat, count in zip(state.seats, scores, strict=True)}
    most = max(points.values())
    level = sum(each == most for each in points.values()) > 1
    kind = "level" if len(won) > 1 else "cards" if level else "points"
    return Result(kind, tuple(state.seats[n] for n in won), points, "name-clue")

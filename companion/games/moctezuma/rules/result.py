"""The winner, and every seat's score, once all names are revealed."""

from __future__ import annotations

from companion.games.kit import Line, Result
from companion.games.moctezuma.rules.pieces import NAMES
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
    winners = tuple(state.seats[n] for n in won)
    return Result(kind, winners, points, "name-clue", _because(state, kind, won, scores))


def _because(state: State, kind: str, won: tuple[int, ...], scores: list[Score]) -> Line:
    """Return the sentence of who won, by how much and why: of points, the treasure that made most of it."""
    best, seat = scores[won[0]], state.seats[won[0]]
    if kind == "level":
        return Line("level", {"n": best.total})
    others = [each for n, each in enumerate(scores) if n not in won]
    if kind == "cards":
        level = max(each.cards for each in others if each.total == best.total)
        return Line("cards", {"seat": seat, "n": best.cards - level})
    second = max(others, key=lambda each: each.total)
    by = best.total - second.total
    richest = max(best.lines, key=lambda line: line.score, default=None)
    if best.gold and not second.gold:
        return Line("gold", {"seat": seat, "n": by})
    if richest is None or richest.score <= 0:
        return Line("spared", {"seat": seat, "n": by})
    return Line("points", {"seat": seat, "n": by, "name": NAMES[state.names[richest.temple - 1]]})

"""How a game went, seen from its end, where all names and chits are open: points, walks, treasure, and curses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from companion.games.kit import (
    Curve,
    Feat,
    Played,
    Recap,
    Seat,
    awarded,
    counted,
    leads,
    leaps,
    turn_ends,
    turning_line,
)
from companion.games.moctezuma.rules.result import totals
from companion.games.moctezuma.rules.scoring import cursed_kings, score
from companion.games.moctezuma.rules.state import State

LABELS = ("walked", "kept", "cursed")


def recap(line: Sequence[Played]) -> Recap:
    """Return a game that is over."""
    if not line:
        return Recap()
    end: State = line[-1].after
    cursed = cursed_kings(end.chits, end.rules.curse_rule, end.rules.third_chit)

    def points(state: State, n: int) -> int:
        kept = [(trip.temple, trip.kept) for trip in state.trips[n] if trip.kept]
        return score(kept, end.names, cursed).total

    states: list[State] = list(turn_ends(line))
    curves = tuple(Curve(tuple(points(state, n) for state in states), (seat,)) for n, seat in enumerate(end.seats))
    walked = counted(end.seats, line, _moves("walk"))
    lines = {seat: count.lines for seat, count in zip(end.seats, totals(end)[1], strict=True)}
    kept = {seat: sum(len(each.cards) for each in lines[seat]) for seat in end.seats}
    bad = {seat: sum(len(each.cards) for each in lines[seat] if each.factor < 0) for seat in end.seats}
    deeds = {seat: (walked[seat], kept[seat], bad[seat]) for seat in end.seats}
    feats = [
        Feat("richest", {seat: max((each.score for each in lines[seat]), default=0) for seat in end.seats}),
        Feat("cursed", bad),
        Feat("studied", counted(end.seats, line, _moves("study"))),
        Feat("explored", counted(end.seats, line, _moves("explore"))),
        Feat("walked", walked),
        Feat("kept", kept),
        leads(curves),
        leaps(curves),
        Feat("spared", bad, least=True),
        Feat("resting", walked, least=True),
        Feat("trusting", counted(end.seats, line, _moves("study")), least=True),
    ]
    return Recap(curves, turning_line(curves), deeds, awarded(end.seats, feats, line), LABELS)


def _moves(name: str) -> Callable[[Played, Seat], int]:
    return lambda played, seat: played.move.name == name and played.seat == seat

"""How a siege went, seen from its end: the units of both sides, who was lost, who attacked and marched."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from companion.games.kit import Curve, Feat, Line, Played, Recap, Seat, awarded, counted, turn_ends, turning_line
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import DEAD, State

LABELS = ("lost", "beaten", "attacks")


def because(state: State) -> Line | None:
    """Return the sentence of who won, by how much and why; None before the end."""
    end = state.outcome
    if end is None:
        return None
    winner = end.winner or SIDES[0]
    other = SIDES[1 - SIDES.index(winner)]
    code = end.kind if end.winner or end.kind == "draw" else "draw"
    facts = {"seat": winner, "other": other, "n": left(state, winner), "less": left(state, other)}
    leader = state.roster.people[state.roster.leader[SIDES.index(other)]]
    return Line(code, {**facts, "people": leader, "turn": state.turn})


def left(state: State, side: Seat) -> int:
    """Return how many walking units of a side are not lost."""
    return sum(state.at[unit] != DEAD for unit in state.roster.land[SIDES.index(side)])


def recap(line: Sequence[Played]) -> Recap:
    """Return a siege that is over."""
    if not line:
        return Recap()
    end: State = line[-1].after
    states: list[State] = list(turn_ends(line))
    curves = tuple(
        Curve(tuple(left(state, side) for state in states), (side,), start=left(line[0].before, side))
        for side in SIDES
    )
    lost = {side: left(line[0].before, side) - left(end, side) for side in SIDES}
    attacks = counted(SIDES, line, _moves("attack"))
    deeds: dict[Seat, tuple[int, int, int]] = {
        side: (lost[side], lost[SIDES[1 - n]], attacks[side]) for n, side in enumerate(SIDES)
    }
    feats = [
        Feat("attacks", attacks),
        Feat("forced", counted(SIDES, line, _moves("force"))),
        Feat("advanced", counted(SIDES, line, _moves("advance"))),
        Feat("marched", counted(SIDES, line, _moves("go"))),
    ]
    return Recap(curves, turning_line(curves), deeds, awarded(SIDES, feats, line), LABELS)


def _moves(name: str) -> Callable[[Played, Seat], int]:
    return lambda played, seat: played.move.name == name and played.seat == seat

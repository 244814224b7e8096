"""How an age went, seen from its end: who won and by how much, both tallies or all signs, gifts and awards."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from companion.games.kit import (
    LEFT_TO_RIGHT,
    Curve,
    Feat,
    Line,
    Played,
    Recap,
    Seat,
    awarded,
    counted,
    turn_ends,
    turning_line,
)
from companion.games.mexica.rules import apocalypse, hands
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import EVEN, GODS, God


def because(state: State) -> Line | None:
    """Return the sentence of who won, by how much and why; None before the end."""
    end = state.outcome
    if end is None:
        return None
    if end.seat:
        return _settled(state, end.seat)
    if end.kind == apocalypse.STILLNESS:
        return Line("stillness", {"n": state.tallies.of(GODS[0])})
    god, leader = apocalypse.GOD_OF[end.kind], state.tallies.leader
    if leader == EVEN:
        return Line("fixed", {"god": god, "n": state.tallies.of(god)})
    most = max(state.seats, key=lambda seat: given(state, seat, leader))
    return Line(
        "led" if god == leader else "outdone",
        {
            "god": god,
            "other": next(each for each in GODS if each != god),
            "n": state.tallies.of(leader),
            "by": 2 * state.tallies.of(leader) - state.tallies.total,
            "seat": most,
            "gifts": given(state, most, leader),
        },
    )


def _settled(state: State, seat: Seat) -> Line:
    if state.board is None:
        return Line("settled", {"seat": seat, "n": sum(given(state, seat, god) for god in GODS), "turn": state.turn})
    held = {each: len(hands.signs(state, each)) for each in state.seats}
    return Line("signs", {"seat": seat, "n": held[seat], "next": max(held[each] for each in state.others(seat))})


def given(state: State, seat: Seat, god: God) -> int:
    """Return what counts of a tribe's gifts to a god."""
    return state.tallies.tribes[state.index(seat)].given(god)


def recap(line: Sequence[Played]) -> Recap:
    """Return an age that is over."""
    if not line:
        return Recap()
    end: State = line[-1].after
    curves = _curves(line, end)
    deeds, labels = (_by_gifts(line, end), GIFTS) if end.board is None else (_in_full(line, end), FULL)
    return Recap(curves, turning_line(curves), deeds, awarded(end.seats, _feats(line, end), line), labels)


GIFTS = ("given", "turned", "fed_leader")
FULL = ("given", "cards", "attacks")


def _curves(line: Sequence[Played], end: State) -> tuple[Curve, ...]:
    """Return how many signs each tribe held, if one settled with a board; else what each god was given."""
    states: list[State] = list(turn_ends(line))
    if end.board is not None and end.outcome and end.outcome.seat:
        return tuple(Curve(tuple(len(hands.signs(at, seat)) for at in states), (seat,)) for seat in end.seats)
    return tuple(Curve(tuple(at.tallies.of(god) for at in states), god=god) for god in LEFT_TO_RIGHT)


def _gift(played: Played, seat: Seat, god: God) -> int:
    if played.before.tallies is played.after.tallies:
        return 0
    return given(played.after, seat, god) - given(played.before, seat, god)


def _to_any(played: Played, seat: Seat) -> int:
    return sum(_gift(played, seat, god) for god in GODS)


def _by_gifts(line: Sequence[Played], end: State) -> dict[Seat, tuple[int, int, int]]:
    gave, turned, fed = (counted(end.seats, line, count) for count in (_to_any, _turned, _to_leader))
    return {seat: (gave[seat], turned[seat], fed[seat]) for seat in end.seats}


def _turned(played: Played, seat: Seat) -> int:
    leader = played.after.tallies.leader
    return int(_to_any(played, seat) > 0 and leader not in (EVEN, played.before.tallies.leader))


def _to_leader(played: Played, seat: Seat) -> int:
    leader = played.before.tallies.leader
    return 0 if leader == EVEN else max(0, _gift(played, seat, leader))


def _behind(played: Played, seat: Seat) -> int:
    leader = played.before.tallies.leader
    return 0 if leader == EVEN else sum(max(0, _gift(played, seat, god)) for god in GODS if god != leader)


def _in_full(line: Sequence[Played], end: State) -> dict[Seat, tuple[int, int, int]]:
    attacks = counted(end.seats, line, lambda played, seat: played.move.name == "attack" and played.seat == seat)
    tribes = dict(zip(end.seats, end.laid.tribes, strict=True))
    return {
        seat: (
            sum(given(end, seat, god) for god in GODS) + tribes[seat].fed,
            sum(holder == seat for holder in end.laid.holders),
            attacks[seat],
        )
        for seat in end.seats
    }


def _feats(line: Sequence[Played], end: State) -> list[Feat]:
    """Return what an award may be for, the rarest first."""
    fatal = {seat: sum(_to_any(each, seat) > 0 for each in line if _triggers(each)) for seat in end.seats}
    at_once = {seat: max(_in_turns(line, seat), default=0) for seat in end.seats}
    feats = [
        Feat("fatal", fatal),
        *(Feat(god, {seat: given(end, seat, god) for seat in end.seats}, {"god": god}) for god in LEFT_TO_RIGHT),
        Feat("without", {seat: _longest_without(line, end, seat) for seat in end.seats}),
        Feat("at_once", at_once),
        Feat("behind", counted(end.seats, line, _behind)),
        Feat("turned", counted(end.seats, line, _turned)),
        Feat("saved", counted(end.seats, line, _to_any), least=True),
    ]
    if end.board is not None:
        tribes = dict(zip(end.seats, end.laid.tribes, strict=True))
        feats.insert(1, Feat("wins", {seat: tribe.wins for seat, tribe in tribes.items()}))
        feats.insert(2, Feat("fed", {seat: tribe.fed for seat, tribe in tribes.items()}))
    return feats


def _triggers(played: Played) -> bool:
    return played.before.clock is None and played.after.clock is not None


def _in_turns(line: Sequence[Played], seat: Seat) -> list[int]:
    return [sum(_to_any(each, seat) for each in moves) for _, moves in groupby(line, key=lambda each: each.turn)]


def _longest_without(line: Sequence[Played], end: State, seat: Seat) -> int:
    """Return the most turns of its own that a tribe let pass in a row without a gift."""
    gave = {each.turn for each in line if _to_any(each, seat) > 0}
    longest = running = 0
    for turn in range(1, end.turn + 1):
        if end.seat_at(turn) == seat:
            running = 0 if turn in gave else running + 1
            longest = max(longest, running)
    return longest

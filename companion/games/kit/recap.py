"""What a game that is over looks like from its end: its course as curves, what each did, and an award for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec import Struct, field

from companion.games.kit.log import Line
from companion.games.kit.moves import Move, Seat


class Played(NamedTuple):
    """A move that was played and not taken back, with the turn in which it was made and the states around it."""

    turn: int
    """The turn in which it was made."""
    seat: Seat
    """Who made it."""
    move: Move
    """What was done."""
    before: Any
    """The state before it."""
    after: Any
    """The state after it."""


class Curve(NamedTuple):
    """How far somebody was at the end of each turn, and at the start: a god, or the seats that win together."""

    values: tuple[float, ...]
    """How far it was at the end of each turn."""
    seats: tuple[Seat, ...] = ()
    """The seats that win together, where it is theirs."""
    god: str = ""
    """The god, where it is a god's."""
    start: float = 0
    """How far it was before the first turn."""


class Feat(NamedTuple):
    """Something that may be worth an award.

    Those at its `top` have the most of it and more than nothing, or with `least` the least of it, but not all of
    them.
    """

    code: str
    """Its text is ``recap.award.<code>``, which counts ``n``."""
    of: Mapping[Seat, int]
    """How much of it each seat did."""
    facts: Mapping[str, str] = {}
    """What its text needs beside ``n``."""
    least: bool = False
    """Whether the award is for the least of it."""

    @property
    def top(self) -> list[Seat]:
        """The seats that did it most, or least; none where all are level."""
        best = (min if self.least else max)(self.of.values(), default=0)
        found = [seat for seat, n in self.of.items() if n == best and (n or self.least)]
        return found if len(found) < len(self.of) or len(found) == 1 else []


class Recap(Struct, frozen=True):
    """A whole game, seen from its end. Everything in it is open by then."""

    curves: tuple[Curve, ...] = ()
    """How far each was at the end of each turn."""
    turning: Line | None = None
    """The turning point, with a text ``recap.turning.<code>`` and the fact ``n``, its turn."""
    deeds: Mapping[Seat, tuple[int, int, int]] = field(default_factory=dict)
    """For each seat what it gave, took and risked."""
    awards: Mapping[Seat, Line] = field(default_factory=dict)
    """For each seat a line with a text ``recap.award.<code>``."""
    labels: tuple[str, str, str] = ("gave", "took", "risked")
    """The texts ``recap.<label>`` of the three deeds."""


def turn_ends(line: Sequence[Played]) -> Iterator[Any]:
    """Yield the state at the end of each turn, the last one last.

    >>> roll = Move("roll")
    >>> [*turn_ends([Played(1, "east", roll, 0, 4), Played(1, "east", roll, 4, 6), Played(2, "west", roll, 6, 7)])]
    [6, 7]
    """
    for n, each in enumerate(line):
        if n + 1 == len(line) or line[n + 1].turn != each.turn:
            yield each.after


def turning(curves: Sequence[Curve]) -> int:
    """Return the turn, counted from 1, since which the one that is ahead at the end has been ahead; 0 if nobody is.

    >>> turning([Curve((1, 2, 5)), Curve((2, 3, 4))])
    3
    """
    if len(curves) < 2 or not curves[0].values:
        return 0
    since = len(curves[0].values)
    best = _ahead(curves, since - 1)
    if best is None:
        return 0
    while since > 1 and _ahead(curves, since - 2) == best:
        since -= 1
    return since


def _ahead(curves: Sequence[Curve], at: int) -> int | None:
    values = [curve.values[at] for curve in curves]
    most = max(values)
    return values.index(most) if values.count(most) == 1 else None


def turning_line(curves: Sequence[Curve]) -> Line | None:
    """Return the line of the turning point: since when the one that is ahead at the end has been ahead.

    >>> turning_line([Curve((1, 2, 5), ("east",)), Curve((2, 3, 4), ("west",))])
    Line(code='seat', facts={'n': 3, 'seat': 'east'}, mark='', adds='', picture='')
    """
    since = turning(curves)
    if not since:
        return None
    ahead = max(curves, key=lambda curve: curve.values[-1])
    if ahead.god:
        return Line("god", {"n": since, "god": ahead.god})
    code = "pair" if ahead.seats[1:] else "seat"
    return Line(code, {"n": since, **dict(zip(("seat", "other"), ahead.seats, strict=False))})


def awarded(seats: Sequence[Seat], feats: Iterable[Feat], line: Sequence[Played]) -> Mapping[Seat, Line]:
    """Return one award for each seat, all different: a feat in which no other seat did more.

    As many seats as possible have one of the feats, the first ones before the others. A seat that is nowhere at the
    top has one for the turns in which it made moves.

    >>> feats = [Feat("gave", {"east": 3, "west": 1}), Feat("took", {"east": 2, "west": 2})]
    >>> {seat: (award.code, award.facts["n"]) for seat, award in awarded(["east", "west"], feats, []).items()}
    {'east': ('gave', 3), 'west': ('there', 0)}
    """
    holders: dict[Seat, Feat] = {}
    for feat in feats:
        _give(feat, holders, set())
    awards = {seat: Line(feat.code, {**feat.facts, "n": feat.of[seat]}) for seat, feat in holders.items()}
    turns = {seat: len({each.turn for each in line if each.seat == seat}) for seat in seats}
    return {seat: awards.get(seat) or Line("there", {"n": turns[seat]}) for seat in seats}


def _give(feat: Feat, holders: dict[Seat, Feat], asked: set[Seat]) -> bool:
    """Give a feat to a seat at its top; one that has an award already keeps it, unless it can take another."""
    for seat in feat.top:
        if seat not in asked:
            asked.add(seat)
            if seat not in holders or _give(holders[seat], holders, asked):
                holders[seat] = feat
                return True
    return False


def leads(curves: Sequence[Curve]) -> Feat:
    """Return for how many turns each seat was ahead alone.

    >>> leads([Curve((1, 5, 5), ("east",)), Curve((2, 3, 4), ("west",))]).of
    {'east': 2, 'west': 1}
    """
    ahead = [_ahead(curves, at) for at in range(len(curves[0].values))] if len(curves) > 1 else []
    return Feat("ahead", {seat: ahead.count(n) for n, curve in enumerate(curves) for seat in curve.seats})


def leaps(curves: Sequence[Curve]) -> Feat:
    """Return the most that each seat won in one turn, whole units of its curve.

    >>> leaps([Curve((1, 5, 5), ("east",)), Curve((2, 3, 4), ("west",))]).of
    {'east': 4, 'west': 2}
    """
    steps = [[after - before for before, after in pairwise((each.start, *each.values))] for each in curves]
    return Feat(
        "leap", {seat: int(max(own)) for own, curve in zip(steps, curves, strict=True) for seat in curve.seats}
    )


def counted(seats: Iterable[Seat], line: Sequence[Played], count: Callable[[Played, Seat], int]) -> dict[Seat, int]:
    """Return for each seat the sum of a count over all moves.

    >>> line = [Played(1, "east", Move("roll"), 0, 4), Played(2, "west", Move("roll"), 4, 5)]
    >>> counted(["east", "west"], line, lambda each, seat: (each.after - each.before) * (each.seat == seat))
    {'east': 4, 'west': 1}
    """
    return {seat: sum(count(each, seat) for each in line) for seat in seats}

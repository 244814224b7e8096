"""How a market day went, seen from its end: everybody's points, what went to the king, what was bought and spent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

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
from companion.games.market.rules.board import COMMODITIES
from companion.games.market.rules.result import holdings, standing
from companion.games.market.rules.state import State

LABELS = ("to_king", "bought", "spent")


def recap(line: Sequence[Played]) -> Recap:
    """Return a game that is over."""
    if not line:
        return Recap()
    end: State = line[-1].after
    scores = [standing(state) for state in turn_ends(line)]
    curves = tuple(
        Curve(tuple(each.points[at] for each in scores), tuple(end.seats[n] for n in group))
        for at, group in enumerate(end.partners)
    )
    king, bought, spent = (counted(end.seats, line, count) for count in (_to_king, _bought, _spent))
    deeds = {seat: (king[seat], bought[seat], spent[seat]) for seat in end.seats}
    return Recap(
        curves,
        turning_line(curves),
        deeds,
        awarded(end.seats, [*_feats(line, end), leads(curves), leaps(curves)], line),
        LABELS,
    )


def _own(numbers: Sequence[int], state: State, seat: Seat) -> int:
    first = 4 * state.seats.index(seat)
    return sum(numbers[first : first + 4])


def _to_king(played: Played, seat: Seat) -> int:
    return sum(played.after.king) - sum(played.before.king) if played.seat == seat else 0


def _bought(played: Played, seat: Seat) -> int:
    return _own(played.after.counts, played.after, seat) - _own(played.before.counts, played.before, seat)


def _spent(played: Played, seat: Seat) -> int:
    if played.move.name == "coin":
        return 0
    return _own(played.before.coins, played.before, seat) - _own(played.after.coins, played.after, seat)


def _feats(line: Sequence[Played], end: State) -> list[Feat]:
    """Return what an award may be for, the rarest first."""
    held = dict(zip(end.seats, holdings(end), strict=True))
    largest = {
        seat: max(
            (sum(_bought(each, seat) for each in moves) for _, moves in groupby(line, key=lambda each: each.turn)),
            default=0,
        )
        for seat in end.seats
    }
    return [
        Feat("largest", largest),
        Feat("king", counted(end.seats, line, _to_king)),
        *(
            Feat("most", {seat: own.tokens[which] for seat, own in held.items()}, {"commodity": name})
            for which, name in enumerate(COMMODITIES)
        ),
        Feat("coins", {seat: own.coins for seat, own in held.items()}),
        Feat("spent", counted(end.seats, line, _spent)),
        Feat("saved", counted(end.seats, line, _spent), least=True),
    ]

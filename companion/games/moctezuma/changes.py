"""What a move would change, as lines that the player reads before confirming it."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

from companion.games.kit import Line, Move, Seat
from companion.games.moctezuma.rules.knowledge import knowledge, untouched
from companion.games.moctezuma.rules.pieces import CURSED, FRESH, KINGS, SPACES, UNSEEN, chits, king_of
from companion.games.moctezuma.rules.state import State


def changes(before: State, seat: Seat, move: Move, after: State) -> Iterator[Line]:
    """Yield what a move costs and brings, with the odds as this seat can know them."""
    match move.name:
        case "study":
            yield Line("points", {"was": before.points, "n": after.points})
            yield Line("looks", {"n": after.looking or len(after.queue), "of": SPACES - before.shown})
        case "explore":
            yield Line("points", {"was": before.points, "n": after.points})
            yield from _drawn(before, seat, after.drawing)
        case "end_turn":
            if before.points:
                yield Line("unspent", {"n": before.points})
            if after.flipping:
                yield from _turned(before, seat)
            elif after.seat != seat:
                yield Line("next", {"seat": after.seat})
        case "leave":
            yield Line("leaves", {"n": len(before.hand)})
        case "ready":
            yield Line("begins")


def _drawn(before: State, seat: Seat, n: int) -> Iterator[Line]:
    """Yield how many cards of a deck are drawn, and how likely its name is among them if the table calculates."""
    at, temple = before.seats.index(seat), before.places[before.current]
    size = before.decks[temple - 1].size
    yield Line("draws", {"n": n, "of": size})
    if before.rules.deduction == "off":
        return
    explored = any(trip.temple == temple for own in before.trips for trip in own)
    fresh = untouched(before, at, temple) if explored else FRESH
    if fresh is None or not fresh[0] or n > sum(fresh):
        return
    missed = comb(sum(fresh) - fresh[0], n) / comb(sum(fresh), n)
    yield Line("name_among", {"percent": _percent(1 - missed)})


def _turned(before: State, seat: Seat) -> Iterator[Line]:
    """Yield the chit that is turned next, and its face or how likely it is cursed if the table calculates."""
    known = knowledge(before, before.seats.index(seat)).chits
    king = {"king": KINGS[king_of(before.shown, before.rules.third_chit)]}
    if known[before.shown] != UNSEEN:
        yield Line("turns_cursed" if known[before.shown] == CURSED else "turns_safe", king)
        return
    if before.rules.deduction == "off":
        yield Line("turns_unknown", king)
        return
    bag = chits(before.rules.curse_rule)
    unseen = bag.all - SPACES + known.count(UNSEEN)
    yield Line("turns", {**king, "percent": _percent((bag.cursed - known.count(CURSED)) / unseen)})


def _percent(share: float) -> int:
    return min(99, max(1, round(100 * share))) if 0 < share < 1 else round(100 * share)

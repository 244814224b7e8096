"""What a seat may know of a game of Moctezuma's Revenge, as JSON: secrets are stripped here and nowhere else.

Everybody sees pawns, chits that lie open, how many cards lie where and from where treasure was kept (ruling Z14).
What a seat has looked at stands in its own notebook (ruling Z25), with what follows from it if the table wants that.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from companion.games.kit import CHANCE, Json, Move, Seat
from companion.games.moctezuma.rules.deduction import Knowledge, Temple, deduce
from companion.games.moctezuma.rules.knowledge import knowledge, untouched
from companion.games.moctezuma.rules.pieces import (
    CARDS,
    CURSED,
    FACES,
    KINGS,
    NAMES,
    SAFE,
    SPACES,
    TEMPLES,
    UNSEEN,
    chits,
    king_of,
)
from companion.games.moctezuma.rules.play import NOTE
from companion.games.moctezuma.rules.result import totals
from companion.games.moctezuma.rules.scoring import cursed_kings, score
from companion.games.moctezuma.rules.state import FIRST, LAYING, OVER, REVEAL, State


def view(state: State, seat: Seat | None) -> dict[str, Json]:
    """Return what a seat, or with none a spectator, may know."""
    at = state.seats.index(seat) if seat in state.seats else None
    rules = state.rules
    return {
        "rules": dict(rules.chosen()),
        "me": None if at is None else seat,
        "seats": list(state.seats),
        "stage": state.stage,
        "turn": state.turn,
        "round": state.round,
        "on_turn": None if state.over else state.seat,
        "points": state.points if state.stage not in (LAYING, FIRST) else 0,
        "places": dict(zip(state.seats, state.places, strict=True)),
        "ways": [list(each) for each in state.ways],
        "doing": _doing(state),
        "shown": state.shown,
        "chits": [
            {
                "king": KINGS[king_of(space, rules.third_chit)],
                "face": FACES[state.chits[space]] if space < state.shown else None,
            }
            for space in range(SPACES)
        ],
        "peeked": {each: _set(bits) for each, bits in zip(state.seats, state.seen, strict=True)}
        if rules.peek_target_public == "on"
        else None,
        "decks": [deck.size for deck in state.decks],
        "names": [NAMES[name] if n < state.revealed else None for n, name in enumerate(state.names)],
        "treasure": {each: _treasure(state, n) for n, each in enumerate(state.seats)},
        "reckoning": _reckoning(state),
        "notebook": None if at is None else _notebook(state, at),
    }


def for_stand_in(seen: Mapping[str, Any]) -> Mapping[str, Json]:
    """Return a seat's view without its notes: who acts for it needs what it has seen, not what it thought."""
    return {**seen, "notebook": seen["notebook"] and {**seen["notebook"], "notes": None}}


def known(before: State, by: Seat, move: Move, seat: Seat | None) -> Move:
    """Return a move as a seat, or with none a spectator, may know it; a bare name where the rest is another's secret.

    A card that is seen is ``card`` to others, whether a treasure or the name (ruling Z12); a note says nothing.
    """
    if move.name == NOTE:
        return move if seat == by else Move(NOTE, (0, ""))
    if seat == before.seat:
        return move
    if by == CHANCE:
        if before.queue:
            return Move("chit")
        return Move("card") if before.drawing else move
    if (move.name == "keep" and before.rules.open_treasure == "off") or move.name == "put":
        return Move(move.name)
    if move.name == "peek" and before.rules.peek_target_public == "off":
        return Move("peek")
    return move


def _doing(state: State) -> dict[str, Json]:
    """Return what the seat on turn is about, as everybody sees its hands move."""
    if state.stage != "playing":
        return {"kind": state.stage, "left": 0}
    if state.flipping:
        return {"kind": "flip", "left": 0}
    if state.looking or state.queue:
        return {"kind": "study", "left": state.looking + len(state.queue)}
    if state.spare:
        return {"kind": "put", "left": len(state.spare)}
    if state.drawing or state.hand:
        return {"kind": "explore", "left": state.drawing, "drawn": len(state.hand)}
    return {"kind": "turn", "left": 0}


def _treasure(state: State, at: int) -> list[Json]:
    """Return what a seat has kept, in order: the temple for all to see, the worth when it is open (Z14, Z24)."""
    open_ = state.rules.open_treasure == "on"
    return [
        {"temple": trip.temple, "worth": trip.kept if open_ or trip.temple <= state.revealed else None}
        for trip in state.trips[at]
        if trip.kept
    ]


def _reckoning(state: State) -> Json:
    """Return the count at the end as far as temples have shown their names, and what was left of the chits (Z2)."""
    if state.stage not in (REVEAL, OVER):
        return None
    cursed = cursed_kings(state.chits, state.rules.curse_rule, state.rules.third_chit)
    names = [name if n < state.revealed else UNSEEN for n, name in enumerate(state.names)]
    bag = chits(state.rules.curse_rule)
    scores: dict[str, Json] = {}
    for seat, own in zip(state.seats, state.trips, strict=True):
        count = score(
            [(trip.temple, trip.kept) for trip in own if trip.kept and trip.temple <= state.revealed], names, cursed
        )
        scores[seat] = {
            "lines": [
                {"temple": line.temple, "cards": list(line.cards), "factor": line.factor, "score": line.score}
                for line in count.lines
            ],
            "gold": count.gold,
            "total": count.total,
            "cards": sum(1 for trip in own if trip.kept),
        }
    return {
        "cursed": {king: cursed[n] for n, king in enumerate(KINGS)},
        "out": {"cursed": bag.cursed - state.chits.count(CURSED), "safe": bag.safe - state.chits.count(SAFE)},
        "revealed": state.revealed,
        "scores": scores,
        "winners": [state.seats[n] for n in totals(state)[0]] if state.over else [],
    }


def _notebook(state: State, at: int) -> dict[str, Json]:
    """Return what one seat has seen, kept and written down: its own, for ever (ruling Z25)."""
    known_, mine = knowledge(state, at), at == state.current
    return {
        "chits": {str(space): FACES[state.chits[space]] for space in _set(state.seen[at])},
        "names": {str(temple + 1): NAMES[state.names[temple]] for temple in _set(state.read[at])},
        "trips": [{"temple": trip.temple, "cards": list(trip.cards), "kept": trip.kept} for trip in state.trips[at]],
        "under": {str(n + 1): found for n in range(TEMPLES) if (found := _under(state, n, at))},
        "hand": list(state.hand) if mine else [],
        "spare": list(state.spare) if mine else [],
        "looked": _set(state.looked) if mine else [],
        "notes": list(state.notes[at]),
        "deduction": _deduction(known_) | {"decks": _decks(state, at)} if state.rules.deduction == "on" else None,
    }


def _decks(state: State, at: int) -> Mapping[str, Json]:
    """Return what is left of decks that only this seat drew from: for each temple the cards nobody has drawn."""
    decks = {str(n): untouched(state, at, n) for n in range(1, TEMPLES + 1)}
    return {
        temple: [{"worth": card, "n": n} for card, n in zip(CARDS, left, strict=True) if n]
        for temple, left in decks.items()
        if left is not None
    }


def _under(state: State, temple: int, at: int) -> list[Json]:
    """Return the cards that a seat put under a deck, how many of them are left, and how many are above them.

    Of cards that were shuffled the seat does not know which another has drawn since.
    """
    above, found = sum(state.decks[temple].fresh), []
    for lower in state.decks[temple].below:
        if lower.owner == at:
            found.append({"above": above, "cards": list(lower.known), "left": len(lower.cards)})
        above += len(lower.cards)
    return found  # type: ignore[return-value]  # a list of JSON objects


@lru_cache(maxsize=256)
def _deduction(known_: Knowledge) -> dict[str, Json]:
    found = deduce(known_)
    unseen = next((each for name, each in zip(known_.names, found.temples, strict=True) if name == UNSEEN), None)
    return {
        "kings": {king: _number(found.kings[n]) for n, king in enumerate(KINGS)},
        "unread": unseen and _temple(unseen),
        "read": {str(n + 1): _temple(found.temples[n]) for n, name in enumerate(known_.names) if name != UNSEEN},
    }


def _temple(chances: Temple) -> dict[str, Json]:
    """Return what may be said of a temple; it is the same for all whose names this seat has not seen."""
    return {
        "names": {NAMES[n]: _number(chance) for n, chance in enumerate(chances.names) if chance},
        "cursed": _number(chances.cursed),
        "worth": _number(chances.worth),
    }


def _number(exact: Fraction) -> dict[str, Json]:
    """Return a fraction as it is, and rounded for the eye, but to 0 or 1 only where it is certain (ruling Z28)."""
    about = round(float(exact), 4)
    return {"exact": str(exact), "about": float(exact) if about in (0, 1) else about}


def _set(bits: int) -> list[int]:
    return [n for n in range(bits.bit_length()) if bits >> n & 1]

"""What one seat knows of a game, and the states that look the same to it."""

from __future__ import annotations

from collections.abc import Sequence

from companion.games.kit import Below, Seat, put, replace, shuffled
from companion.games.moctezuma.rules.deduction import Knowledge
from companion.games.moctezuma.rules.pieces import CARDS, COPIES, CURSED, FRESH, NAME, SAFE, UNSEEN, chits
from companion.games.moctezuma.rules.state import Deck, Lower, State, Trip


def knowledge(state: State, at: int) -> Knowledge:
    """Return what a seat, by its place, knows of chits and names: what is open and what it looked at."""
    seen, read = state.seen[at], state.read[at]
    return Knowledge(
        tuple(face if n < state.shown or seen >> n & 1 else UNSEEN for n, face in enumerate(state.chits)),
        tuple(name if n < state.revealed or read >> n & 1 else UNSEEN for n, name in enumerate(state.names)),
        state.rules.curse_rule,
        state.rules.third_chit,
    )


def untouched(state: State, at: int, temple: int) -> tuple[int, ...] | None:
    """Return how many of each of `CARDS` are left in a temple's deck, if a seat can know it.

    It can if it has drawn there and nobody else has; everybody sees who explores where. A temple is counted from 1.
    """
    others = [trip for n, own in enumerate(state.trips) if n != at for trip in own]
    in_another_hand = state.current != at and state.places[state.current] == temple and (state.drawing or state.hand)
    if in_another_hand or any(trip.temple == temple for trip in others):
        return None
    mine = any(trip.temple == temple for trip in state.trips[at])
    return state.decks[temple - 1].fresh if mine else None


def resample(state: State, seat: Seat, below: Below) -> State:
    """Return a state that looks to a seat like this one: what only others have seen is drawn again.

    That is chits and names, and of a temple whose untouched cards are not all drawn, the treasures of others.
    Nobody else has written a note in it.
    """
    at = state.seats.index(seat)
    known, bag = knowledge(state, at), chits(state.rules.curse_rule)
    faces = [SAFE] * (bag.safe - known.chits.count(SAFE)) + [CURSED] * (bag.cursed - known.chits.count(CURSED))
    names = [name for name, n in enumerate(COPIES) for _ in range(n - known.names.count(name))]
    found = replace(
        state,
        chits=_drawn_anew(state.chits, known.chits, shuffled(faces, below)),
        names=_drawn_anew(state.names, known.names, shuffled(names, below)),
        notes=tuple(notes if n == at else () for n, notes in enumerate(state.notes)),
    )
    if state.rules.open_treasure == "off":
        for temple in range(state.revealed, len(state.decks)):
            found = _with_treasure(found, at, temple + 1, below)
    return found


def _drawn_anew(drawn: Sequence[int], known: Sequence[int], left: list[int]) -> tuple[int, ...]:
    """Return chits or names in which those that one seat does not know are others, as far as somebody knows them."""
    return tuple(left.pop() if now != UNSEEN == mine else now for now, mine in zip(drawn, known, strict=True))


def _with_treasure(state: State, at: int, temple: int, below: Below) -> State:
    """Return a state in which others drew other treasures of a temple, all of them from its untouched cards."""
    deck, unfinished = state.decks[temple - 1], state.spare and state.current
    if not any(deck.fresh):
        return state
    pool = [card for card, n in zip(CARDS[1:], deck.fresh[1:], strict=True) for _ in range(n)]
    theirs = [
        (n, k)
        for n, own in enumerate(state.trips)
        for k, trip in enumerate(own)
        if n != at and trip.temple == temple and not (state.spare and n == unfinished and k == len(own) - 1)
    ]
    pool = shuffled([*pool, *(c for n, k in theirs for c in state.trips[n][k].cards if c != NAME)], below)
    trips, lowers = state.trips, list(deck.below)
    # While untouched cards are left, all that a seat put under the deck lies there, in the order of its trips.
    put_under = [
        iter([place for place, lower in enumerate(lowers) if lower.owner == n]) for n in range(len(state.seats))
    ]
    for n, k in theirs:
        trip = trips[n][k]
        cards = tuple(card if card == NAME else pool.pop() for card in trip.cards)
        changed = list(zip(trip.cards, cards, strict=True))
        treasure = _taken(changed, trip.kept) if trip.kept else 0
        trips = put(trips, n, put(trips[n], k, Trip(temple, cards, treasure)))
        while changed:
            place = next(put_under[n])
            under = tuple(sorted(_taken(changed, each) for each in lowers[place].cards))
            lowers[place] = Lower(n, under, under)
    fresh = (deck.fresh[0], *(pool.count(card) for card in CARDS[1:]))
    assert sum(fresh) == sum(deck.fresh) <= sum(FRESH)
    return replace(state, trips=trips, decks=put(state.decks, temple - 1, Deck(fresh, tuple(lowers))))


def _taken(changed: list[tuple[int, int]], was: int) -> int:
    place = next(n for n, (each, _) in enumerate(changed) if each == was)
    return changed.pop(place)[1]

"""The invariants of Moctezuma's Revenge, which the conformance suite checks after every random move."""

from __future__ import annotations

from companion.games.moctezuma.rules.boards import LIBRARY, PLACES, whole
from companion.games.moctezuma.rules.options import COLOURS
from companion.games.moctezuma.rules.pieces import (
    CARDS,
    COPIES,
    CURSED,
    DECK,
    FRESH,
    LAST,
    NAMES,
    SAFE,
    SPACES,
    TEMPLES,
    UNSEEN,
    chits,
)
from companion.games.moctezuma.rules.play import NOTE_LENGTH, NOTES
from companion.games.moctezuma.rules.state import COSTS, FIRST, LAYING, OVER, PLAYING, POINTS, REVEAL, STAGES, State


def laws(state: State) -> dict[str, bool]:
    """Return the invariants of the game, each with whether this state satisfies it."""
    players, bag = len(state.seats), chits(state.rules.curse_rule)
    return {
        "the first two to six colours as seats": 2 <= players <= len(COLOURS) and state.seats == COLOURS[:players],
        "a stage of the game": state.stage in STAGES,
        "a seat that begins": 0 <= state.first < players,
        "turns from 1": state.turn >= 1,
        f"points up to {POINTS}": state.points <= POINTS,
        "a place of each seat": len(state.places) == players and max(state.places) < PLACES,
        "seats' own things for each": {players}
        == {len(each) for each in (state.seen, state.read, state.trips, state.notes)},
        f"{SPACES} chits and {TEMPLES} names": (len(state.chits), len(state.names), len(state.decks))
        == (SPACES, TEMPLES, TEMPLES),
        "chits of the bag": state.chits.count(CURSED) <= bag.cursed and state.chits.count(SAFE) <= bag.safe,
        "names that there are": all(name < len(NAMES) for name in state.names)
        and all(state.names.count(name) <= copies for name, copies in enumerate(COPIES)),
        "whole decks": _decks_whole(state) if len(state.decks) == TEMPLES else True,
        "what was seen and shown to be known": _known(state) if len(state.chits) == SPACES else True,
        "one thing due at a time": _due(state),
        "a whole board to play on": whole(state.ways) or state.stage == LAYING,
        "its own board for a table that lays it": state.stage != LAYING or state.rules.board == "custom",
        "notes that can be written": all(
            len(own) <= NOTES and all(0 < len(line) <= NOTE_LENGTH and line == line.strip() for line in own)
            for own in state.notes
        ),
    }


def _decks_whole(state: State) -> bool:
    """Return whether each deck with all that was kept of it, and all in hand, is the twelve cards of a temple."""
    out: list[list[int]] = [[] for _ in range(TEMPLES)]
    for own in state.trips:
        for trip in own:
            if (
                not 1 <= trip.temple <= TEMPLES
                or (trip.kept and trip.kept not in trip.cards)
                or trip.kept not in CARDS
            ):
                return False
            if trip.kept:
                out[trip.temple - 1].append(trip.kept)
    held = (*state.spare, *state.put) if state.spare else state.hand
    place = state.places[state.current]
    if held:
        if place == LIBRARY:
            return False
        out[place - 1] += held
    for deck, away in zip(state.decks, out, strict=True):
        cards = [card for card, left in zip(CARDS, deck.fresh, strict=True) for _ in range(left)]
        cards += [card for lower in deck.below for card in lower.cards] + away
        if len(cards) != DECK or any(cards.count(card) != n for card, n in zip(CARDS, FRESH, strict=True)):
            return False
        for lower in deck.below:
            within = all(lower.known.count(card) >= lower.cards.count(card) for card in CARDS)
            if lower.owner >= len(state.seats) or not lower.cards or not within:
                return False
    return True


def _known(state: State) -> bool:
    """Return whether what a seat saw, and what all see, has a face; and what nobody saw has none."""
    seen, read = 0, 0
    for bits in state.seen:
        seen |= bits
    for bits in state.read:
        read |= bits
    faces = all((face != UNSEEN) == (n < state.shown or bool(seen >> n & 1)) for n, face in enumerate(state.chits))
    names = all((name != UNSEEN) == (n < state.revealed or bool(read >> n & 1)) for n, name in enumerate(state.names))
    return faces and names and seen >> SPACES == 0 and read >> TEMPLES == 0


def _due(state: State) -> bool:
    busy = [state.flipping, bool(state.looking or state.queue), bool(state.drawing or state.hand), bool(state.spare)]
    ended = state.stage in (REVEAL, OVER)
    return (
        sum(busy) <= (1 if state.stage == PLAYING else 0)
        and state.looking <= max(COSTS)
        and state.drawing + len(state.hand) <= max(COSTS)
        and (state.shown == SPACES) == ended
        and all(state.shown <= space <= LAST for space in state.queue)
        and (state.drawing == 0 or state.places[state.current] != LIBRARY)
        and (state.drawing == 0 or state.drawing <= state.decks[state.places[state.current] - 1].size)
        and (0 <= state.revealed <= TEMPLES)
        and (state.revealed == 0 or ended)
        and (state.revealed == TEMPLES) == (state.stage == OVER)
        and (state.stage not in (LAYING, FIRST) or state.turn == 1)
    )

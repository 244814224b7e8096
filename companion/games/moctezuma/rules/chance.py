"""What chance decides: who begins, a chit's face, a card, a temple's name. Each is drawn only when it is seen.

Weights are whole numbers over their sum. Something that somebody has already seen has only one outcome, but still
takes a move, so that the number of moves reveals to nobody what others know.
"""

from __future__ import annotations

from fractions import Fraction

from companion.games.kit import Chance, Move
from companion.games.moctezuma.rules.pieces import CARDS, COPIES, CURSED, FACES, NAME, NAMES, SAFE, UNSEEN, chits
from companion.games.moctezuma.rules.state import FIRST, REVEAL, Deck, Lower, State

CHIT_MOVES = tuple(Move("chit", (face,)) for face in FACES)
NAME_MOVES = tuple(Move("name", (name,)) for name in NAMES)
CARD_MOVES = {worth: Move("treasure", (worth,)) for worth in CARDS}

Weights = dict[Move, int]


def due(state: State) -> bool:
    """Return whether something has to come before anybody may go on."""
    return bool(state.queue or state.drawing or state.flipping or state.stage == FIRST or state.stage == REVEAL)


def weights(state: State) -> Weights:
    """Return every outcome that may come now with its weight; none if nothing is due."""
    if state.queue:
        return _chit(state, state.queue[0])
    if state.drawing:
        return _card(state, state.places[state.current] - 1)
    if state.flipping:
        return _chit(state, state.shown)
    if state.stage == REVEAL:
        return _name(state, state.revealed)
    if state.stage == FIRST:
        return {Move("first", (seat,)): 1 for seat in state.seats}
    return {}


def moves(state: State) -> list[Move]:
    """Return the outcomes that may come now, sorted."""
    return sorted(weights(state))


def chance(state: State) -> Chance | None:
    """Return what is due. What one seat sees is its secret; who begins and the names at the end are asked for."""
    if not due(state):
        return None
    found = weights(state)
    total = sum(found.values())
    outcomes = {move: Fraction(weight, total) for move, weight in found.items()}
    if state.queue:
        return Chance("peek", outcomes, state.seat, secret=True, automatic=True)
    if state.drawing:
        return Chance("draw", outcomes, state.seat, {"n": state.drawing}, secret=True, automatic=True)
    if state.flipping:
        return Chance("flip", outcomes, automatic=True)
    if state.stage == REVEAL:
        return Chance("reveal", outcomes, facts={"temple": state.revealed + 1})
    return Chance("first", outcomes)


def names_left(state: State) -> list[int]:
    """Return how many name cards of each name nobody has seen."""
    left = list(COPIES)
    for name in state.names:
        if name != UNSEEN:
            left[name] -= 1
    return left


def _chit(state: State, space: int) -> Weights:
    face = state.chits[space]
    if face != UNSEEN:
        return {CHIT_MOVES[face]: 1}
    bag = chits(state.rules.curse_rule)
    left = (bag.safe - state.chits.count(SAFE), bag.cursed - state.chits.count(CURSED))
    return {CHIT_MOVES[face]: n for face, n in zip((SAFE, CURSED), left, strict=True) if n}


def _name(state: State, temple: int) -> Weights:
    name = state.names[temple]
    if name != UNSEEN:
        return {NAME_MOVES[name]: 1}
    return {NAME_MOVES[name]: n for name, n in enumerate(names_left(state)) if n}


def _card(state: State, temple: int) -> Weights:
    deck = state.decks[temple]
    if any(deck.fresh):
        unnamed = sum(names_left(state)) if deck.fresh[0] else 1
        found = {CARD_MOVES[CARDS[n]]: left * unnamed for n, left in enumerate(deck.fresh) if left and n}
        if deck.fresh[0]:
            found |= _name(state, temple)
        return found
    found = {}
    for card in deck.below[0].cards:
        move = NAME_MOVES[state.names[temple]] if card == NAME else CARD_MOVES[card]
        found[move] = found.get(move, 0) + 1
    return found


def without(deck: Deck, card: int, by: int) -> Deck:
    """Return a deck whose top card was drawn by the seat at a place in turn order, and is this one."""
    if any(deck.fresh):
        at = CARDS.index(card)
        return deck._replace(fresh=(*deck.fresh[:at], deck.fresh[at] - 1, *deck.fresh[at + 1 :]))
    top, *others = deck.below
    left = _less(top.cards, card)
    known = _less(top.known, card) if by == top.owner else top.known
    return deck._replace(below=(Lower(top.owner, left, known), *others) if left else tuple(others))


def _less(cards: tuple[int, ...], card: int) -> tuple[int, ...]:
    at = cards.index(card)
    return cards[:at] + cards[at + 1 :]

"""Cards in hands, in piles and among the discards, and the three signs that win. It plays no card.

No order of a pile is ever stored: what may be drawn is whatever nobody has seen, each card as likely as another.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import cast

from companion.games.kernel import Seat, changed
from companion.games.mexica.cards import played
from companion.games.mexica.cards.deck import Card, Deck, Pile, ids
from companion.games.mexica.cards.effects import SignName
from companion.games.mexica.options import HouseRules
from companion.games.mexica.rules.state import State

DRAWN: tuple[Pile, ...] = ("day", "rain", "war")
"""The piles that are drawn from; week cards lie at their spaces."""

ALL_SIGNS: tuple[SignName, ...] = ("eagle", "serpent", "flower")
"""The rarest first, as they are looked for."""

_IN_ORDER: dict[Pile, tuple[str, ...]] = {pile: tuple(sorted(ids(pile))) for pile in DRAWN}


def deck(rules: HouseRules) -> Deck:
    """Return the deck of a table, with as many signs in it as its options want (rulings M18 to M20)."""
    return played(rules.deck, rules.flower_copies, rules.sign_copies, rules.day_signs)


def card(state: State, card_id: str) -> Card:
    """Return a card as this table plays it."""
    return deck(state.rules).card(card_id)


def pile_of(card_id: str) -> Pile:
    """Return the pile that a card belongs to."""
    return cast("Pile", card_id.partition("-")[0])


def among(cards: tuple[str, ...], pile: str) -> tuple[str, ...]:
    """Return the cards of one pile among sorted ones, where they lie together as their ids begin alike."""
    return cards[bisect_left(cards, f"{pile}-") : bisect_left(cards, f"{pile}.")]  # a full stop follows a hyphen


def count(hand: tuple[str, ...], pile: str) -> int:
    """Return how many cards of one pile a hand holds; their backs tell everybody."""
    return len(among(hand, pile)) if hand else 0


def unseen(state: State, pile: Pile) -> list[str]:
    """Return the cards that may be drawn from a pile, sorted."""
    gone = {*among(state.laid.discards, pile)}
    for tribe in state.laid.tribes:
        gone.update(among(tribe.hand, pile))
    return [each for each in _IN_ORDER[pile] if each not in gone]


def hidden(state: State, card_id: str) -> bool:
    """Return whether a card of a pile may be drawn: it lies in nobody's hand and not among the discards."""
    board = state.laid
    return card_id not in board.discards and not any(card_id in tribe.hand for tribe in board.tribes)


def undiscarded(state: State, pile: Pile) -> list[str]:
    """Return the cards of a pile that do not lie open among the discards, sorted."""
    gone = {*among(state.laid.discards, pile)}
    return [each for each in _IN_ORDER[pile] if each not in gone]


def left(state: State, pile: Pile) -> int:
    """Return how many cards a pile holds."""
    board = state.laid
    gone = count(board.discards, pile) + sum(count(tribe.hand, pile) for tribe in board.tribes)
    return len(_IN_ORDER[pile]) - gone


def replenish(state: State, pile: Pile) -> State:
    """Return the state with the discards shuffled back into a pile that has run out (ruling M17)."""
    board = state.laid
    if state.rules.reshuffle == "off" or left(state, pile):
        return state
    kept = tuple(each for each in board.discards if pile_of(each) != pile)
    return changed(state, board=changed(board, discards=kept))


def signs(state: State, seat: Seat) -> frozenset[str]:
    """Return the signs that a tribe holds, in its hand or as week cards (ruling M19)."""
    return frozenset(sign for sign in ALL_SIGNS if seat in _bearers(state, sign))


def settler(state: State) -> Seat | None:
    """Return the tribe that holds eagle, serpent and flower, the one on turn before others (ruling M22)."""
    able = _bearers(state, ALL_SIGNS[0])
    for sign in ALL_SIGNS[1:]:
        if not able:
            return None
        bearers = _bearers(state, sign)
        able = [seat for seat in able if seat in bearers]
    if len(able) > 1:
        able.sort(key=(state.seat, *state.others(state.seat)).index)
    return able[0] if able else None


def _bearers(state: State, sign: SignName) -> list[Seat]:
    """Return the tribes that hold a sign; one that holds it twice may be there twice."""
    known, board = deck(state.rules), state.laid
    cards = known.signs[sign]
    found = [seat for seat, tribe in zip(state.seats, board.tribes, strict=True) if not cards.isdisjoint(tribe.hand)]
    if state.rules.week_signs == "on":
        found += [holder for place in known.week_signs[sign] if (holder := board.holders[place])]
    return found

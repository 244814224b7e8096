"""Cards in hands, in piles and among the discards, and the three signs that win. It plays no card.

No order of a pile is ever stored: what may be drawn is whatever nobody has seen, each card as likely as another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import cast

from companion.games.kernel import Seat
from companion.games.mexica.cards import played
from companion.games.mexica.cards.deck import Card, Deck, Pile
from companion.games.mexica.options import HouseRules
from companion.games.mexica.rules.calendar import SIGNS
from companion.games.mexica.rules.state import State

DRAWN: tuple[Pile, ...] = ("day", "rain", "war")
"""The piles that are drawn from; week cards lie at their spaces."""

ALL_SIGNS = frozenset({"eagle", "serpent", "flower"})


def deck(rules: HouseRules) -> Deck:
    """Return the deck of a table, with as many signs in it as its options want (rulings M18, M19)."""
    return played(rules.deck, rules.flower_copies, rules.sign_copies, rules.day_signs)


def card(state: State, card_id: str) -> Card:
    """Return a card as this table plays it."""
    return deck(state.rules).card(card_id)


def pile_of(card_id: str) -> Pile:
    """Return the pile that a card belongs to."""
    return cast("Pile", card_id.partition("-")[0])


def count(hand: tuple[str, ...], pile: str) -> int:
    """Return how many cards of one pile a hand holds; their backs tell everybody."""
    return sum(1 for each in hand if pile_of(each) == pile)


def unseen(state: State, pile: Pile) -> list[str]:
    """Return the cards that may be drawn from a pile, sorted."""
    board = state.laid
    gone = {*board.discards, *(each for tribe in board.tribes for each in tribe.hand)}
    return sorted(each.id for each in deck(state.rules).pile(pile) if each.id not in gone)


def undiscarded(state: State, pile: Pile) -> list[str]:
    """Return the cards of a pile that do not lie open among the discards, sorted."""
    gone = set(state.laid.discards)
    return sorted(each.id for each in deck(state.rules).pile(pile) if each.id not in gone)


def left(state: State, pile: Pile) -> int:
    """Return how many cards a pile holds."""
    board = state.laid
    gone = count(board.discards, pile) + sum(count(tribe.hand, pile) for tribe in board.tribes)
    return len(deck(state.rules).pile(pile)) - gone


def replenish(state: State, pile: Pile) -> State:
    """Return the state with the discards shuffled back into a pile that has run out (ruling M17)."""
    board = state.laid
    if state.rules.reshuffle == "off" or left(state, pile):
        return state
    kept = tuple(each for each in board.discards if pile_of(each) != pile)
    return replace(state, board=replace(board, discards=kept))


def signs(state: State, seat: Seat) -> frozenset[str]:
    """Return the signs that a tribe holds, in its hand or as week cards (ruling M19)."""
    rules, board = state.rules, state.laid
    known, weeks = _signs(rules.deck, rules.flower_copies, rules.sign_copies, rules.day_signs)
    held = {known[each] for each in board.tribes[state.index(seat)].hand if each in known}
    if rules.week_signs == "on":
        held |= {sign for n, sign in weeks if board.holders[n] == seat}
    return frozenset(held)


@lru_cache(maxsize=128)
def _signs(
    text: str, flowers: int, copies: int, day_signs: str
) -> tuple[Mapping[str, str], tuple[tuple[int, str], ...]]:
    """Return the sign of each card that is one, and the week cards that count as one by their place."""
    known = played(text, flowers, copies, day_signs)
    cards: dict[str, str] = {each.id: each.sign for each in known if each.sign and each.pile != "week"}
    weeks: tuple[tuple[int, str], ...] = tuple(
        (n, sign) for n, name in enumerate(SIGNS) if (sign := known.card(f"week-{name}").sign)
    )
    return cards, weeks


def settler(state: State) -> Seat | None:
    """Return the tribe that holds eagle, serpent and flower, the one on turn before others (ruling M22)."""
    for seat in (state.seat, *state.others(state.seat)):
        if signs(state, seat) >= ALL_SIGNS:
            return seat
    return None

"""Cards in hands, in piles and among the discards, and the three signs that win.

The order of a pile is never stored: the next card is any that nobody has seen, each equally likely.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import TypeVar, cast

from companion.games.kit import Below, Seat, replace, shuffled
from companion.games.mexica.rules.calendar import SIGNS
from companion.games.mexica.rules.cards.deck import PILES, Bearers, Card, Pile, ids
from companion.games.mexica.rules.state import State

_T = TypeVar("_T")

_TRIES = 50
"""How often hands are dealt again until nobody holds the three signs."""

DRAWN: tuple[Pile, ...] = ("day", "rain", "war")
"""The piles that are drawn from; week cards are at their spaces."""

IN_ORDER: dict[Pile, tuple[str, ...]] = {pile: tuple(sorted(ids(pile))) for pile in DRAWN}
"""The cards of each pile, sorted."""

_PLACES: dict[str, int] = {each: n for pile in DRAWN for n, each in enumerate(IN_ORDER[pile])}
"""Where each card has its place in the sorted list of its pile."""

_ENDS: dict[str, tuple[str, str]] = {pile: (f"{pile}-", f"{pile}.") for pile in PILES}
"""The bounds of a pile's ids among sorted ones: a full stop sorts after a hyphen."""


def card(state: State, card_id: str) -> Card:
    """Return a card as this table plays it."""
    return state.rules.cards.card(card_id)


def pile_of(card_id: str) -> Pile:
    """Return the pile that a card belongs to."""
    return cast("Pile", card_id.partition("-")[0])


def among(cards: tuple[str, ...], pile: str) -> tuple[str, ...]:
    """Return the cards of one pile among sorted ones, where they are adjacent because their ids begin alike."""
    first, end = _ENDS[pile]
    return cards[bisect_left(cards, first) : bisect_left(cards, end)]


def count(hand: tuple[str, ...], pile: str) -> int:
    """Return how many cards of one pile a hand holds; everybody sees their backs."""
    if not hand:
        return 0
    first, end = _ENDS[pile]
    return bisect_left(hand, end) - bisect_left(hand, first)


def any_of(hand: tuple[str, ...], pile: str) -> bool:
    """Return whether a hand holds a card of one pile."""
    if not hand:
        return False
    first, end = _ENDS[pile]
    at = bisect_left(hand, first)
    return at < len(hand) and hand[at] < end


def unseen(state: State, pile: Pile) -> list[str]:
    """Return the cards that may be drawn from a pile, sorted."""
    return of_unseen(state, pile, IN_ORDER[pile])


def of_unseen(state: State, pile: Pile, things: Sequence[_T]) -> list[_T]:
    """Return those of some things, one for each card of a pile in order, whose card may be drawn."""
    there, board = bytearray(b"\1") * len(things), state.laid
    for gone in (board.discards, *[tribe.hand for tribe in board.tribes if tribe.hand]):
        for place in map(_PLACES.__getitem__, among(gone, pile)):
            there[place] = 0
    return list(compress(things, there))


def hidden(state: State, card_id: str) -> bool:
    """Return whether a card of a pile may be drawn: it is in nobody's hand and not among the discards."""
    board = state.laid
    for cards in (board.discards, *[tribe.hand for tribe in board.tribes]):
        at = bisect_left(cards, card_id)
        if at < len(cards) and cards[at] == card_id:
            return False
    return True


def undiscarded(state: State, pile: Pile) -> list[str]:
    """Return the cards of a pile that are not among the discards, sorted."""
    gone = {*among(state.laid.discards, pile)}
    return [each for each in IN_ORDER[pile] if each not in gone]


def left(state: State, pile: Pile) -> int:
    """Return how many cards a pile holds."""
    board = state.laid
    gone = count(board.discards, pile) + sum([count(tribe.hand, pile) for tribe in board.tribes if tribe.hand])
    return len(IN_ORDER[pile]) - gone


def any_left(state: State, pile: Pile) -> bool:
    """Return whether a pile holds a card; as a rule so few are in hands and among the discards that it must."""
    board = state.laid
    gone = count(board.discards, pile) + sum([len(tribe.hand) for tribe in board.tribes])
    return gone < len(IN_ORDER[pile]) or left(state, pile) > 0


def replenished(state: State, pile: Pile) -> State | None:
    """Return the state with the discards shuffled back into a pile that has run out (M17), or None if none are."""
    board = state.laid
    if state.rules.reshuffle == "off" or not any_of(board.discards, pile):
        return None
    others = tuple([each for each in board.discards if pile_of(each) != pile])
    return replace(state, board=replace(board, discards=others))


def signs(state: State, seat: Seat) -> frozenset[str]:
    """Return the signs that a tribe holds, in its hand or as week cards (ruling M19)."""
    board, hand = state.laid, state.laid.tribes[state.index(seat)].hand
    return frozenset(
        sign
        for sign, (cards, places) in zip(state.rules.cards.signs, _bearers(state), strict=True)
        if not cards.isdisjoint(hand) or seat in [board.holders[place] for place in places]
    )


def weeks_of(state: State, seat: Seat) -> list[str]:
    """Return the ids of the week cards that a tribe holds, sorted."""
    return sorted(f"week-{sign}" for sign, holder in zip(SIGNS, state.laid.holders, strict=True) if holder == seat)


def is_sign(state: State, card_id: str) -> bool:
    """Return whether a card counts as one of the three signs at this table (ruling M19)."""
    if pile_of(card_id) == "week" and state.rules.week_signs == "off":
        return False
    return card(state, card_id).sign is not None


def settler(state: State) -> Seat | None:
    """Return the tribe that holds eagle, serpent and flower, the one on turn before others (ruling M22)."""
    board = state.laid
    able = _with_all(state.seats, tuple([tribe.hand for tribe in board.tribes]), board.holders, _bearers(state))
    if len(able) < 2:
        return able[0] if able else None
    return min(able, key=(state.seat, *state.others(state.seat)).index)


def _bearers(state: State) -> tuple[Bearers, ...]:
    """Return what counts as each sign at this table."""
    cards = state.rules.cards
    return cards.bearers if state.rules.week_signs == "on" else cards.hand_bearers


@lru_cache(maxsize=512)
def _with_all(
    seats: tuple[Seat, ...],
    hands: tuple[tuple[str, ...], ...],
    holders: tuple[Seat, ...],
    bearers: tuple[Bearers, ...],
) -> list[Seat]:
    """Return the tribes that hold all three signs; cached, because few moves change who holds what."""
    return [
        seat
        for seat, hand in zip(seats, hands, strict=True)
        if all(
            not cards.isdisjoint(hand) or seat in [holders[place] for place in places] for cards, places in bearers
        )
    ]


def resample(state: State, seat: Seat, below: Below) -> State:
    """Return a state that looks to a tribe like this one: what others hold is drawn again, as many of each pile.

    Nobody but who holds the three signs now holds them in it, as a tribe would have settled with them (ruling M22).
    """
    if state.board is None or state.over or state.rules.open_hands == "on":
        return state
    own, tribes = state.index(seat), state.laid.tribes
    for _ in range(_TRIES):
        hands: list[list[str]] = [[] for _ in tribes]
        for pile in DRAWN:
            gone = {*tribes[own].hand, *state.laid.discards}
            cards = shuffled([each for each in IN_ORDER[pile] if each not in gone], below)
            for n, tribe in enumerate(tribes):
                hands[n] += [cards.pop() for _ in range(count(tribe.hand, pile))] if n != own else []
        dealt = tuple(
            tribe if n == own else replace(tribe, hand=tuple(sorted(hands[n]))) for n, tribe in enumerate(tribes)
        )
        found = replace(state, board=replace(state.laid, tribes=dealt))
        if settler(found) is None:
            return found
    return state

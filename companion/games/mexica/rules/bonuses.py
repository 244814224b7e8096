"""Bonuses and penalties on a tribe's numbers: week cards while they are held, and boosts that are used up."""

from __future__ import annotations

from collections.abc import Callable

from companion.games.kit import Seat, replace
from companion.games.mexica.rules.board import Boost
from companion.games.mexica.rules.hands import pile_of
from companion.games.mexica.rules.state import State

IN_BATTLE = frozenset({"attack", "defence", "battle", "loot", "ransom"})


def standing(state: State, seat: Seat, what: str) -> int:
    """Return what the week cards of a tribe add to a number."""
    if not state.week_cards:
        return 0
    total, holders = 0, state.laid.holders
    for place, by in state.rules.cards.standing.get(what, ()):
        if holders[place] == seat:
            total += by
    return total


def waiting(state: State, seat: Seat, *whats: str) -> int:
    """Return what a tribe's waiting boosts add to a number."""
    return raised(state.laid.tribes[state.index(seat)].boosts, *whats)


def raised(boosts: tuple[Boost, ...], *whats: str) -> int:
    """Return what some boosts add to a number."""
    return sum([by for what, by, _ in boosts if what in whats]) if boosts else 0


def spend(state: State, seat: Seat, *whats: str) -> State:
    """Return the state after the boosts of these numbers had their moment."""
    n = state.index(seat)
    boosts = state.laid.tribes[n].boosts
    left = unspent(boosts, *whats)
    return state if left is boosts else replace(state, board=state.laid.tribe(n, boosts=left))


def unspent(boosts: tuple[Boost, ...], *whats: str) -> tuple[Boost, ...]:
    """Return the boosts that still wait after those of some numbers had their moment, the same where none had."""
    if not boosts:
        return boosts
    left = [each for each in boosts if each[0] not in whats]
    return boosts if len(left) == len(boosts) else tuple(left)


def boosted(state: State, seat: Seat, boost: Boost) -> State:
    """Return the state with one more boost waiting for its moment."""
    n = state.index(seat)
    boosts = (*state.laid.tribes[n].boosts, boost)
    return replace(state, board=state.laid.tribe(n, boosts=boosts))


def after_battle(state: State) -> State:
    """Return the state without what was played for the battle that is over."""
    return _with_boosts_that(state, lambda each: not each.now or each.what not in IN_BATTLE)


def after_turn(state: State) -> State:
    """Return the state without what was played for the landings of the turn that is over."""
    for n, tribe in enumerate(state.laid.tribes):
        if tribe.boosts and True in [each.now for each in tribe.boosts]:
            left = tuple([each for each in tribe.boosts if not each.now])
            state = replace(state, board=state.laid.tribe(n, boosts=left))
    return state


def warded(state: State, seat: Seat, *against: str) -> State | None:
    """Return the state after a ward of a tribe held one of these off and is spent; None if it has no such ward.

    What it is held off by is named from the narrowest ward that fits to the widest, used in this order (M50).
    """
    n = state.index(seat)
    wards = state.laid.tribes[n].wards
    ward = next((each for each in against if each in wards), None)
    if ward is None:
        return None
    at = wards.index(ward)
    return replace(state, board=state.laid.tribe(n, wards=wards[:at] + wards[at + 1 :]))


def wards_off_card(state: State, seat: Seat, card_id: str) -> State | None:
    """Return the state after a tribe's ward held a card off that another turned on it (row 28)."""
    return warded(state, seat, pile_of(card_id), "any")


def wards_off_attack(state: State, seat: Seat, card_id: str) -> State | None:
    """Return the state after a tribe's ward held the attack of a card off, the one against attacks first (M50)."""
    return warded(state, seat, "attack", pile_of(card_id), "any")


def _with_boosts_that(state: State, condition: Callable[[Boost], bool]) -> State:
    """Return the state in which every tribe keeps only the boosts that satisfy a condition."""
    for n, tribe in enumerate(state.laid.tribes):
        if tribe.boosts and (left := tuple(filter(condition, tribe.boosts))) != tribe.boosts:
            state = replace(state, board=state.laid.tribe(n, boosts=left))
    return state

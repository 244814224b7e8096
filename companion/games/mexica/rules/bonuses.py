"""What raises or lowers a tribe's numbers: week cards while they are held, and boosts that wait for their moment.

It reads and spends them; what the numbers are for is other rules' business.
"""

from __future__ import annotations

from collections.abc import Callable

from companion.games.kernel import Seat, changed
from companion.games.mexica.rules.board import Boost
from companion.games.mexica.rules.hands import deck, pile_of
from companion.games.mexica.rules.state import State

IN_BATTLE = frozenset({"attack", "defence", "battle", "loot", "ransom"})


def standing(state: State, seat: Seat, what: str) -> int:
    """Return what the week cards of a tribe add to a number."""
    total, holders = 0, state.laid.holders
    for place, by in deck(state.rules).standing.get(what, ()):
        if holders[place] == seat:
            total += by
    return total


def waiting(state: State, seat: Seat, *whats: str) -> int:
    """Return what a tribe's waiting boosts add to a number."""
    boosts = state.laid.tribes[state.index(seat)].boosts
    return sum(each.by for each in boosts if each.what in whats) if boosts else 0


def spend(state: State, seat: Seat, *whats: str) -> State:
    """Return the state after the boosts of these numbers had their moment."""
    return _keep(state, seat, lambda each: each.what not in whats)


def boosted(state: State, seat: Seat, boost: Boost) -> State:
    """Return the state with one more boost waiting for its moment."""
    n = state.index(seat)
    boosts = (*state.laid.tribes[n].boosts, boost)
    return changed(state, board=state.laid.tribe(n, boosts=boosts))


def after_battle(state: State) -> State:
    """Return the state without what was played for the battle that is over."""
    for seat in state.seats:
        state = _keep(state, seat, lambda each: not each.now or each.what not in IN_BATTLE)
    return state


def after_turn(state: State) -> State:
    """Return the state without what was played for the landings of the turn that is over."""
    for seat in state.seats:
        state = _keep(state, seat, lambda each: not each.now)
    return state


def warded(state: State, seat: Seat, *against: str) -> State | None:
    """Return the state after a ward of a tribe held one of these off and is spent; none where it has no such ward."""
    n = state.index(seat)
    wards = state.laid.tribes[n].wards
    ward = next((each for each in wards if each in against), None)
    if ward is None:
        return None
    at = wards.index(ward)
    return changed(state, board=state.laid.tribe(n, wards=wards[:at] + wards[at + 1 :]))


def wards_off_card(state: State, seat: Seat, card_id: str) -> State | None:
    """Return the state after a tribe's ward held a card off that another turned on it (row 28)."""
    return warded(state, seat, pile_of(card_id), "any")


def _keep(state: State, seat: Seat, keep: Callable[[Boost], bool]) -> State:
    n = state.index(seat)
    boosts = state.laid.tribes[n].boosts
    if not boosts:
        return state
    kept = tuple(filter(keep, boosts))
    return state if kept == boosts else changed(state, board=state.laid.tribe(n, boosts=kept))

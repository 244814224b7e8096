"""The sacrifice step of the full game: what tokens to the temple and to Tonantzin earn (rulings M1 to M4, M36, M37).

It takes tokens from hands and puts cards on the agenda; who may act, and when, is the course's.
"""

from __future__ import annotations

from companion.games.kernel import Seat, changed
from companion.games.mexica.rules import apocalypse
from companion.games.mexica.rules.board import Step, Task
from companion.games.mexica.rules.bonuses import spend, standing, waiting
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import HUITZILOPOCHTLI, NOTHING, God

_NOTHING_YET = Step()

PILE_OF: dict[God, str] = {HUITZILOPOCHTLI: "war", "tlaloc": "rain"}


def stepping(state: State) -> Seat | None:
    """Return the tribe whose sacrifice step runs, cards that it has just earned still to be drawn; or none."""
    if state.board is None or state.over:
        return None
    for task in state.board.agenda:
        if task.name == "sacrifice":
            return task.seat
        if task.name != "draw" or task.seat != state.seat:
            return None
    return None


def begins(state: State) -> bool:
    """Return whether the step before this one left anything behind."""
    return state.laid.step != _NOTHING_YET


def begun(state: State) -> State:
    """Return the state at the start of a sacrifice step."""
    return changed(state, board=changed(state.laid, step=_NOTHING_YET))


def ended(state: State, seat: Seat) -> State:
    """Return the state after a sacrifice step; what did not reach a price is an offering, unless it is kept (M4)."""
    n = state.index(seat)
    if state.rules.sacrifice_credit == "on" or state.laid.tribes[n].toward == NOTHING:
        return state
    return changed(state, board=state.laid.tribe(n, toward=NOTHING))


def price(state: State, seat: Seat, base: int) -> int:
    """Return what a drawn card costs a tribe now, at least one token."""
    return max(1, base + standing(state, seat, "price") + waiting(state, seat, "price"))


def temple_open(state: State) -> bool:
    """Return whether the step may still go to the temple (ruling M36)."""
    return state.rules.mary_exclusive == "off" or not state.laid.step.tonantzin


def tonantzin_open(state: State, seat: Seat) -> bool:
    """Return whether a tribe may buy a Day card of Tonantzin now (rulings M1, M36, M37)."""
    step = state.laid.step
    if (state.rules.mary_exclusive == "on" and step.temple) or (state.rules.cards_per_step == "one" and step.days):
        return False
    return state.laid.tribes[state.index(seat)].tokens >= price(state, seat, state.rules.day_card_cost)


def to_temple(state: State, seat: Seat, god: God, tokens: int) -> State:
    """Return the state after a tribe gave tokens of its hand in its sacrifice step, with the cards earned due."""
    n = state.index(seat)
    board = state.laid
    tribe, step = board.tribes[n], board.step
    tribes = board.tribes_with(n, tokens=tribe.tokens - tokens, toward=tribe.toward.plus(god, tokens))
    board = changed(board, tribes=tribes, step=changed(step, temple=step.temple + tokens))
    state = changed(state, board=board, tallies=state.tallies.credit(n, god, tokens))
    return apocalypse.reckon(_earn(state, seat, god))


def to_tonantzin(state: State, seat: Seat) -> State:
    """Return the state after a tribe paid Tonantzin for a Day card; her tokens leave play (rulings M1, M2, M24)."""
    n, cost = state.index(seat), price(state, seat, state.rules.day_card_cost)
    board = spend(state, seat, "price").laid
    tribe, step = board.tribes[n], board.step
    tribes = board.tribes_with(n, tokens=tribe.tokens - cost, fed=tribe.fed + cost)
    step = changed(step, tonantzin=step.tonantzin + cost, days=step.days + 1)
    board = changed(board, tribes=tribes, pile=board.pile + cost, step=step)
    return apocalypse.reckon(changed(state, board=board.due(Task("draw", seat, ("day",)))))


def _earn(state: State, seat: Seat, god: God) -> State:
    """Return the state with a card due for each full price that was given (rulings M3, M37)."""
    n = state.index(seat)
    while True:
        board, cost = state.laid, price(state, seat, state.rules.god_card_cost)
        tribe, step = board.tribes[n], board.step
        if tribe.toward.to(god) < cost or (state.rules.cards_per_step == "one" and step.cards.to(god)):
            return state
        tribes = board.tribes_with(n, toward=tribe.toward.plus(god, -cost))
        board = changed(board, tribes=tribes, step=changed(step, cards=step.cards.plus(god, 1)))
        state = spend(changed(state, board=board.due(Task("draw", seat, (PILE_OF[god],)))), seat, "price")

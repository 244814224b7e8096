"""The sacrifice step of the full game: what tokens for the temple and Tonantzin earn (rulings M1 to M4, M36, M37)."""

from __future__ import annotations

from functools import lru_cache

from companion.games.kit import Seat, replace
from companion.games.mexica.rules import apocalypse
from companion.games.mexica.rules.board import NO_STEP, Step, Task, draw
from companion.games.mexica.rules.bonuses import raised, standing, unspent
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import HUITZILOPOCHTLI, NOTHING, God

_step = lru_cache(maxsize=4096)(Step)
"""Makes what a step has seen; cached, because there are few."""

PILE_OF: dict[God, str] = {HUITZILOPOCHTLI: "war", "tlaloc": "rain"}


def stepping(state: State) -> Seat | None:
    """Return the tribe whose sacrifice step runs, cards that it has just earned still to be drawn; or None."""
    if state.board is None or state.over:
        return None
    for task in state.board.agenda:
        if task.name == "sacrifice":
            return task.seat
        if task.name != "draw" or task.seat != state.seat:
            return None
    return None


def begun(state: State, _task: Task, at: int) -> State:
    """Return the state at the start of a sacrifice step, the same where the one before left nothing behind."""
    board = state.laid
    if board.step == NO_STEP:
        return state
    return replace(state, board=replace(board, step=NO_STEP, agenda=board.agenda[at + 1 :]))


def ended(state: State, task: Task, at: int) -> State:
    """Return the state after a sacrifice step; what did not reach a price is an offering, unless it is kept (M4)."""
    n, board = state.seats.index(task.seat), state.laid
    tribes = board.tribes
    if tribes[n].toward != NOTHING and state.rules.sacrifice_credit == "off":
        tribes = board.tribes_with(n, toward=NOTHING)
    return replace(state, board=replace(board, tribes=tribes, agenda=board.agenda[at + 1 :]))


def price(state: State, seat: Seat, base: int) -> int:
    """Return what a drawn card costs a tribe now, at least one token."""
    boosts = state.laid.tribes[state.seats.index(seat)].boosts
    return max(1, base + standing(state, seat, "price") + (raised(boosts, "price") if boosts else 0))


def temple_open(state: State) -> bool:
    """Return whether the step may still go to the temple (ruling M36)."""
    return not state.laid.step.tonantzin or state.rules.mary_exclusive == "off"


def tonantzin_open(state: State, seat: Seat) -> bool:
    """Return whether a tribe may buy a Day card of Tonantzin now (rulings M1, M36, M37)."""
    board, rules = state.laid, state.rules
    temple, _, _, days = board.step
    if (temple and rules.mary_exclusive == "on") or (days and rules.cards_per_step == "one"):
        return False
    tokens = board.tribes[state.seats.index(seat)].tokens
    return tokens > 0 and tokens >= price(state, seat, rules.day_card_cost)


def to_temple(state: State, seat: Seat, god: God, tokens: int) -> State:
    """Return the state after a tribe gave tokens of its hand in its sacrifice step, with the cards earned due."""
    n, board, rules = state.seats.index(seat), state.laid, state.rules
    tribe = board.tribes[n]
    temple, tonantzin, cards, days = board.step
    toward, boosts, agenda = tribe.toward.plus(god, tokens), tribe.boosts, board.agenda
    usual = rules.god_card_cost + standing(state, seat, "price")
    # A card is earned for each full price (ruling M3), or by a house rule once a step (M37).
    while toward.to(god) >= (cost := max(1, usual + raised(boosts, "price") if boosts else usual)):
        if rules.cards_per_step == "one" and cards.to(god):
            break
        toward, cards = toward.plus(god, -cost), cards.plus(god, 1)
        boosts, agenda = unspent(boosts, "price"), (draw(seat, PILE_OF[god]), *agenda)
    tribes = board.tribes_with(n, tokens=tribe.tokens - tokens, toward=toward, boosts=boosts)
    board = replace(board, tribes=tribes, step=_step(temple + tokens, tonantzin, cards, days), agenda=agenda)
    return apocalypse.update(replace(state, board=board, tallies=state.tallies.credit(n, god, tokens)))


def to_tonantzin(state: State, seat: Seat) -> State:
    """Return the state after a tribe paid Tonantzin for a Day card; her tokens leave play (rulings M1, M2, M24)."""
    n, cost = state.index(seat), price(state, seat, state.rules.day_card_cost)
    board = state.laid
    tribe, step = board.tribes[n], board.step
    boosts = unspent(tribe.boosts, "price")
    tribes = board.tribes_with(n, tokens=tribe.tokens - cost, fed=tribe.fed + cost, boosts=boosts)
    step = Step(step.temple, step.tonantzin + cost, step.cards, step.days + 1)
    agenda = (draw(seat, "day"), *board.agenda)
    board = replace(board, tribes=tribes, pile=board.pile + cost, step=step, agenda=agenda)
    return apocalypse.update(replace(state, board=board))

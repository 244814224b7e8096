"""The turns of a game, the week cards that are issued, and the tribe that settles.

A table with a real board and real cards enters only these. `apocalypse` runs the countdown.
"""

from __future__ import annotations

from companion.games.kit import Refusal, Seat, replace
from companion.games.mexica.rules import apocalypse
from companion.games.mexica.rules.apocalypse import WEEK_CARDS
from companion.games.mexica.rules.state import Outcome, State

SETTLED = "settled"


def end_turn(state: State) -> State:
    """Return the state after the running turn: the clock ticks where it is due, then the next tribe is on turn."""
    state = apocalypse.tick(state)
    return state if state.over else replace(state, turn=state.turn + 1)


def issue(state: State) -> State | Refusal:
    """Return the state after one more week card was issued; there are 20."""
    if state.week_cards == WEEK_CARDS:
        return Refusal("all_issued", {"n": WEEK_CARDS})
    return apocalypse.update(replace(state, week_cards=state.week_cards + 1))


def bare(state: State) -> State | Refusal:
    """Return the state in which no space holds a token any more, so that even ticks count too (ruling M35)."""
    if state.rules.forestall == "forever":
        return Refusal("forestalled_forever")
    if state.clock is None or not apocalypse.forestalled(state):
        return Refusal("not_forestalled")
    return replace(state, clock=replace(state.clock, bare=True))


def settle(state: State, seat: Seat) -> State:
    """Return the state in which a tribe showed eagle, serpent and flower: it wins at once, on any turn (M22)."""
    return apocalypse.finish(state, Outcome(SETTLED, seat))

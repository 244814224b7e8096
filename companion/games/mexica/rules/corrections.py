"""Corrections of a tally: one seat proposes, another confirms. The log itself is never rewritten."""

from __future__ import annotations

from functools import lru_cache

from companion.games.kit import Refusal, Seat, replace
from companion.games.mexica.rules import apocalypse
from companion.games.mexica.rules.sacrifice import MOST_AT_ONCE
from companion.games.mexica.rules.state import Proposal, State
from companion.games.mexica.rules.tallies import God


def propose(state: State, by: Seat, seat: Seat, god: God, delta: int) -> State | Refusal:
    """Return the state with a correction proposed; one at a time, and no tally below nothing."""
    if state.proposal:
        return Refusal("correction_open", {"by": state.proposal.by})
    if delta < 0 and (given := given_by(state, seat, god)) + delta < 0:
        return Refusal("below_nothing", {"seat": seat, "god": god, "given": given})
    if delta > 0 and delta > held_by(state, seat):
        return Refusal("no_tokens", {"seat": seat})
    return replace(state, proposal=_proposal(by, seat, god, delta))


@lru_cache(maxsize=1024)
def _proposal(by: Seat, seat: Seat, god: God, delta: int) -> Proposal:
    """Return a proposal; cached, because there are few and they are made often."""
    return Proposal(by, seat, god, delta)


def confirm(state: State, by: Seat) -> State | Refusal:
    """Return the state with the open correction made. Since it was proposed its tally can only have grown."""
    proposal = state.proposal
    if proposal is None:
        return Refusal("no_correction")
    if proposal.by == by:
        return Refusal("own_correction", {"by": by})
    n, delta, board = state.seats.index(proposal.seat), proposal.delta, state.board
    if board is not None:
        held = board.tribes[n].tokens
        if delta > held:
            return Refusal("no_tokens", {"seat": proposal.seat})
        board = board.tribe(n, tokens=held - delta)
    tallies = state.tallies.correct(n, proposal.god, delta)
    return apocalypse.update(replace(state, board=board, tallies=tallies, proposal=None))


def withdraw(state: State) -> State | Refusal:
    """Return the state without the open correction; any seat may withdraw it."""
    if state.proposal is None:
        return Refusal("no_correction")
    return replace(state, proposal=None)


def given_by(state: State, seat: Seat, god: God) -> int:
    """Return what counts of one seat's sacrifices to one god."""
    return state.tallies.tribes[state.seats.index(seat)].given(god)


def held_by(state: State, seat: Seat) -> int:
    """Return how many tokens a correction may still count for a seat: in the full game, those of its hand."""
    return state.board.tribes[state.index(seat)].tokens if state.board else MOST_AT_ONCE

"""Tokens for the gods: entered by a tap, counted by the temple, claimed or dismissed."""

from __future__ import annotations

from companion.games.kit import Refusal, Seat, printable, replace
from companion.games.mexica.rules import apocalypse, offerings
from companion.games.mexica.rules.state import State, Unclaimed
from companion.games.mexica.rules.tallies import God

MOST_AT_ONCE = 13
"""Tokens in one tap or one correction: a full week."""

OVER = "over"
"""The doubt of a token that fell after the end."""

OUTSIDE = "outside"
"""The doubt of a token that fell while no tribe may give one, as the app's board has it (ruling M33)."""


def tap(state: State, god: God, n: int) -> State:
    """Return the state after the tribe on turn gave `n` tokens that no temple counted."""
    return _credit(state, state.seat, god, n)


def fallen(state: State, token: str, god: God, doubt: str) -> State | Refusal:
    """Return the state after a token fell: credited to the seat on turn, or unclaimed where there is doubt (M33).

    No state refuses a token; only one that is here already is turned away, so that it never counts twice.
    """
    if token in state.counted or token in state.dismissed or any(token == each.id for each in state.unclaimed):
        return Refusal("known_token", {"token": token})
    if not doubt and state.over:
        doubt = OVER
    if not doubt and state.board and not _may_give(state):
        doubt = OUTSIDE
    if doubt:
        waiting = Unclaimed(token, god, doubt, _suggested(state, doubt))
        return replace(state, unclaimed=(*state.unclaimed, waiting))
    return _credit(replace(state, counted=(*state.counted, token)), state.seat, god, 1)


def claim(state: State, token: str, seat: Seat) -> State | Refusal:
    """Return the state after an unclaimed token was counted for a seat. After the end it changes tallies only."""
    waiting = _waiting(state, token)
    if isinstance(waiting, Refusal):
        return waiting
    if not may_have_given(state, seat):
        return Refusal("no_tokens", {"seat": seat})
    return _credit(
        replace(state, unclaimed=_without(state, waiting), counted=(*state.counted, waiting.id)), seat, waiting.god, 1
    )


def dismiss(state: State, token: str) -> State | Refusal:
    """Return the state after an unclaimed token was found to be no sacrifice. It stays known, as dismissed."""
    waiting = _waiting(state, token)
    if isinstance(waiting, Refusal):
        return waiting
    return replace(state, unclaimed=_without(state, waiting), dismissed=(*state.dismissed, waiting.id))


def may_have_given(state: State, seat: Seat) -> bool:
    """Return whether a token may be a seat's: in the full game, where it still holds one."""
    return state.board is None or state.board.tribes[state.index(seat)].tokens > 0


def _may_give(state: State) -> bool:
    seat = offerings.stepping(state)
    return seat is not None and may_have_given(state, seat) and offerings.temple_open(state)


def _credit(state: State, seat: Seat, god: God, n: int) -> State:
    """Return the state with tokens counted; in the full game they come out of the tribe's hand.

    In the tribe's own sacrifice step they earn cards, at any other moment they are offerings (ruling M33).
    """
    if state.board:
        if offerings.stepping(state) == seat and offerings.temple_open(state):
            return offerings.to_temple(state, seat, god, n)
        state = replace(state, board=state.board.receive(state.index(seat), -n))
    tallies = state.tallies.credit(state.seats.index(seat), god, n)
    return apocalypse.update(replace(state, tallies=tallies))


def _waiting(state: State, token: str) -> Unclaimed | Refusal:
    for each in state.unclaimed:
        if each.id == token:
            return each
    return Refusal("unknown_token", {"token": printable(token)})


def _without(state: State, token: Unclaimed) -> tuple[Unclaimed, ...]:
    return tuple(each for each in state.unclaimed if each is not token)


def _suggested(state: State, doubt: str) -> Seat | None:
    """Return whose token it may be: one from before this turn the last tribe's, a jam the tribe's on turn."""
    if state.over:
        return None
    if doubt in ("jam", OUTSIDE):
        return state.seat
    if doubt == "earlier" and state.turn > 1:
        return state.seat_at(state.turn - 1)
    return None

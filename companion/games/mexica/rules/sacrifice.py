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


_FROM_ELSEWHERE = frozenset({"earlier", "elsewhere", "stranger", "held", "old"})
"""The doubts about tokens that did not fall for this turn."""

CLAIMED = "-"
"""Stands among the givers for a person's decision."""


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
    counted, givers = (*state.counted, token), f"{state.givers}{state.index(state.seat)}"
    return _credit(replace(state, counted=counted, givers=givers), state.seat, god, 1)


def may_be_doubted(state: State, token: str) -> bool:
    """Return whether a token counts and no person has said whose it was."""
    return token in state.counted and state.givers[state.counted.index(token)] != CLAIMED


def take_out(state: State, token: str, god: God, doubt: str) -> State | Refusal:
    """Return the state after a token that counted was taken out of the score; it waits for a person.

    In the full game the tribe holds it again, and it no longer counts towards a card; cards that were drawn stay.
    A clock that only such tokens started stops. After the end tallies change, never the outcome.
    """
    if not may_be_doubted(state, token):
        return Refusal("unknown_token", {"token": printable(token)})
    at = state.counted.index(token)
    n = int(state.givers[at])
    gave = state.tallies.tribes[n].given(god) > 0
    seat, board, clock, proposal = state.seats[n], state.board, state.clock, state.proposal
    tallies = state.tallies.take_out(n, god)
    if board and gave:
        tribe = board.tribes[n]
        toward = tribe.toward.plus(god, -min(1, tribe.toward.to(god)))
        board = replace(board, tribes=board.tribes_with(n, tokens=tribe.tokens + 1, toward=toward))
    if proposal and tallies.tribes[state.index(proposal.seat)].given(proposal.god) + proposal.delta < 0:
        proposal = None
    after = replace(
        state,
        board=board,
        tallies=tallies,
        proposal=proposal,
        counted=(*state.counted[:at], *state.counted[at + 1 :]),
        givers=state.givers[:at] + state.givers[at + 1 :],
        unclaimed=(*state.unclaimed, Unclaimed(token, god, doubt, seat)),
    )
    if clock and not state.over and clock.cause == apocalypse.TOKENS and apocalypse.tokens_left(after):
        after = replace(after, clock=None)
    return apocalypse.update(after)


def claim(state: State, token: str, seat: Seat) -> State | Refusal:
    """Return the state after an unclaimed token was counted for a seat. After the end it changes tallies only."""
    waiting = _waiting(state, token)
    if isinstance(waiting, Refusal):
        return waiting
    if not may_have_given(state, seat):
        return Refusal("no_tokens", {"seat": seat})
    counted, givers = (*state.counted, waiting.id), f"{state.givers}{CLAIMED}"
    claimed = replace(state, unclaimed=_without(state, waiting), counted=counted, givers=givers)
    return _credit(claimed, seat, waiting.god, 1)


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
    """Return whose token it may be: one from before this turn the last tribe's.

    One that has just fallen, and is a jam or doubted by its temple, is the tribe's on turn.
    """
    if state.over:
        return None
    if doubt not in _FROM_ELSEWHERE:
        return state.seat
    if doubt == "earlier" and state.turn > 1:
        return state.seat_at(state.turn - 1)
    return None

"""The entry point of the rules: who may act, and each move by its name. An illegal move gives a `Refusal`."""

from __future__ import annotations

from operator import attrgetter
from typing import TypeAlias

from companion.games.kit import (
    CHANCE,
    TEMPLE,
    Move,
    MoveTable,
    MoveType,
    Refusal,
    Seat,
    TokenDrop,
    a_seat,
    one_of,
    replace,
    text,
)
from companion.games.mexica.rules import corrections, course, decisions, legal, sacrifice, turn
from companion.games.mexica.rules.options import FULL, TEMPLE_ONLY
from companion.games.mexica.rules.state import State

Result: TypeAlias = State | Refusal

AFTER_THE_END = frozenset({"token", "doubt", "claim", "dismiss"})
"""What may still fall, or be made straight, when the game is over: it changes tallies, never the outcome."""

TAKEN_BACK = frozenset({"sacrifice", "issue", "bare", "settle", "end_turn"})
"""Own taps that a slip makes wrong and that nobody else had a part in.

A token and what becomes of it is a fact; a proposal is withdrawn, in sight of all; a confirmation is two seats'.
"""


CHORES = frozenset({"claim", "dismiss", "propose", "confirm", "withdraw"})
"""What the table sets right at any time, in the full game too; the rest of that is in `decisions`."""


def to_act(state: State) -> tuple[Seat, ...]:
    """Return the seats that have a move: all of them, since anyone acts for an absent tribe; at last none.

    In the full game a hand is its tribe's own: one seat decides, or chance; the others join for what the whole
    table has to set right.
    """
    if state.board is None:
        return state.seats if not state.over or state.unclaimed else ()
    seat = course.decider(state)
    if state.proposal is None and not state.unclaimed:
        return (seat,) if seat is not None else ()
    return (*state.seats, CHANCE) if seat == CHANCE else state.seats


def entering(state: State, fall: TokenDrop) -> Move:
    """Return the move by which the temple enters a token that fell."""
    return Move("token", (fall.id, fall.god, fall.doubt or (sacrifice.OVER if state.over else "")))


def doubting(state: State, drop: TokenDrop) -> Move | None:
    """Return the move by which the temple doubts a token that counts, or None if nothing changes."""
    return Move("doubt", (drop.id, drop.god, drop.doubt)) if sacrifice.may_be_doubted(state, drop.id) else None


def undoable(before: State, seat: Seat, move: Move) -> bool:
    """Return whether a seat may take back its own move while nobody has acted since."""
    taken_back = decisions.TAKEN_BACK if before.board else TAKEN_BACK
    return seat in before.seats and move.name in taken_back


def play(state: State, seat: Seat, move: Move) -> Result:
    """Return the state after a seat's move, and after all that then happens by itself, or why it cannot be made."""
    board, result = state.board, MOVES.play(state, seat, move)
    # What happens by itself follows from the board alone, and from the end of the game.
    if board is None or isinstance(result, Refusal):
        return result
    unchanged = result.board is board and result.outcome is state.outcome
    return result if unchanged else course.advance(result)


def _scope(state: State) -> str:
    return TEMPLE_ONLY if state.board is None else FULL


def _gate(state: State, seat: Seat, move: Move) -> Refusal | None:
    if seat == CHANCE and state.board is None:
        return Refusal("not_seated", {"seat": seat})
    if state.over:
        return None if move.name in AFTER_THE_END else Refusal("over")
    if state.board and move.name in decisions.NAMES and course.due_from(state, seat) is None:
        return Refusal("not_yours", {"seat": course.decider(state) or ""})
    return None


def _legal(state: State, seat: Seat, move: Move) -> Refusal | None:
    """Return why a move of the full game that is well formed cannot be made, or None."""
    if state.board is None:
        return None
    if move.name in decisions.NAMES:
        return decisions.refused(state, state.board.agenda[0], move)
    if move.name == "propose" and not state.proposal and not legal.proposes(course.due(state), seat):
        return Refusal("first_comes", {"move": "propose", "due": "sacrifice"})
    return None


_SEAT, _TOKEN = a_seat(), text(".*", "a token's id", "unknown_token")
_CHANGES = (n for n in range(-sacrifice.MOST_AT_ONCE, sacrifice.MOST_AT_ONCE + 1) if n)

MOVES: MoveTable[State] = MoveTable(
    MoveType(
        "token",
        sacrifice.fallen,
        {
            "token": text("[0-9A-Za-z][0-9A-Za-z_-]{0,63}", "a token's id", "bad_token"),
            "god": decisions.GIFT["god"],
            "doubt": text("([a-z][a-z0-9_]{0,31})?", "a reason", "bad_doubt"),
        },
        TEMPLE,
    ),
    MoveType(
        "doubt",
        sacrifice.take_out,
        {
            "token": _TOKEN,
            "god": decisions.GIFT["god"],
            "doubt": text("[a-z][a-z0-9_]{0,31}", "a reason", "bad_doubt"),
        },
        TEMPLE,
    ),
    MoveType("claim", sacrifice.claim, {"token": _TOKEN, "seat": _SEAT}),
    MoveType("dismiss", sacrifice.dismiss, {"token": _TOKEN}),
    MoveType(
        "propose",
        corrections.propose,
        {
            "seat": _SEAT,
            "god": decisions.GIFT["god"],
            "delta": one_of(*_CHANGES, code="bad_delta", most=sacrifice.MOST_AT_ONCE),
        },
        names_seat=True,
    ),
    MoveType("confirm", corrections.confirm, names_seat=True),
    MoveType("withdraw", corrections.withdraw),
    MoveType("sacrifice", sacrifice.tap, decisions.GIFT, during=(TEMPLE_ONLY,), token=True),
    MoveType("end_turn", turn.end_turn, during=(TEMPLE_ONLY,)),
    MoveType("issue", turn.issue, during=(TEMPLE_ONLY,)),
    MoveType("bare", turn.bare, during=(TEMPLE_ONLY,)),
    MoveType("settle", turn.settle, {"seat": _SEAT}, during=(TEMPLE_ONLY,)),
    *(replace(each, during=(FULL,)) for each in decisions.TYPES),
    seats=attrgetter("seats"),
    stage=_scope,
    gate=_gate,
    legal=_legal,
)
"""Every move: what the table sets right at any time, the temple's scope, and what a full game decides."""

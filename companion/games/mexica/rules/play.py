"""One door to the rules: who may act, and each move by its name. Illegal is a value, for arguments of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from companion.games.kit import CHANCE, TEMPLE, Arg, Move, Refusal, Seat, TokenDrop
from companion.games.mexica.rules import corrections, course, decisions, legal, sacrifice, turn
from companion.games.mexica.rules.refusals import a_god, a_number, a_seat, shown, wrong_length
from companion.games.mexica.rules.state import State

Result: TypeAlias = State | Refusal

AFTER_THE_END = frozenset({"claim", "dismiss"})
"""What may still be made straight when the game is over: it changes tallies, never the outcome."""

TAKEN_BACK = frozenset({"sacrifice", "issue", "bare", "settle", "end_turn"})
"""Own taps that a slip makes wrong and that nobody else had a part in.

A token and what becomes of it is a fact; a proposal is withdrawn, in sight of all; a confirmation is two seats'.
"""


CHORES = frozenset({"claim", "dismiss", "propose", "confirm", "withdraw"})
"""What the table sets right at any time, in the full game too; the rest of that is in `decisions`."""

_FULL = decisions.NAMES | CHORES | {"token"}


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


def play(state: State, seat: Seat, move: Move) -> Result:
    """Return the state after a seat's move, and after all that then happens by itself, or why it cannot be made."""
    board = state.board
    if board is None:
        return _of_temple(state, seat, move)
    name = move.name
    task = course.due_from(state, seat) if isinstance(name, str) and name in decisions.NAMES else None
    result = decisions.carry_out(state, task, move) if task is not None else _beside(state, seat, move)
    # What happens by itself follows from the board alone, and from the end of the game.
    if isinstance(result, Refusal) or (result.board is board and result.outcome is state.outcome):
        return result
    return course.advance(result)


def _of_temple(state: State, seat: Seat, move: Move) -> Result:
    """Return the state after a move in the temple's scope, or why it cannot be made."""
    name = move.name
    if not isinstance(seat, str) or seat not in (*state.seats, TEMPLE):
        return Refusal("not_seated", {"seat": shown(seat)})
    rule = _MOVES.get(name) if isinstance(name, str) else None
    if rule is None:
        return Refusal("unknown_move", {"move": shown(name)})
    if rule.by_temple != (seat == TEMPLE):
        return Refusal("temple_only" if rule.by_temple else "players_only", {"move": name})
    if state.over and not rule.by_temple and name not in AFTER_THE_END:
        return Refusal("over")
    return wrong_length(name, move.args, rule.length) or rule.carry_out(state, seat, move.args)


def _beside(state: State, seat: Seat, move: Move) -> Result:
    """Return the state after a token fell or the table set something right, or why a move cannot be made."""
    name, args = move.name, move.args
    chore = isinstance(name, str) and name in CHORES and seat in state.seats and not state.outcome
    if not chore and (refusal := _unfit(state, seat, name)):
        return refusal
    if name == "propose" and not state.proposal and not legal.proposes(course.due(state), seat):
        return Refusal("not_now", {"move": name, "due": "sacrifice"})
    length, carry_out, _ = _MOVES[name]
    return wrong_length(name, args, length) or carry_out(state, seat, args)


def _unfit(state: State, seat: Seat, name: str) -> Refusal | None:
    """Return why no move of that name by that seat can be made in the full game, but the one that is due, or none."""
    if not isinstance(seat, str) or (seat not in state.seats and seat not in (TEMPLE, CHANCE)):
        return Refusal("not_seated", {"seat": shown(seat)})
    if not isinstance(name, str) or name not in _FULL:
        return Refusal("unknown_move", {"move": shown(name)})
    if (name == "token") != (seat == TEMPLE):
        return Refusal("temple_only" if name == "token" else "players_only", {"move": name})
    if state.outcome and name != "token" and name not in AFTER_THE_END:
        return Refusal("over")
    if name in decisions.NAMES:
        return Refusal("not_yours", {"seat": course.decider(state) or ""})
    return Refusal("players_only", {"move": name}) if seat == CHANCE else None


def entering(state: State, fall: TokenDrop) -> Move:
    """Return the move by which the temple enters a token that fell."""
    return Move("token", (fall.id, fall.god, fall.doubt or (sacrifice.OVER if state.over else "")))


def undoable(before: State, seat: Seat, move: Move) -> bool:
    """Return whether a seat may take back its own move while nobody has acted since."""
    taken_back = decisions.TAKEN_BACK if before.board else TAKEN_BACK
    return seat in before.seats and move.name in taken_back


def _end_turn(state: State, _by: Seat, _args: tuple[Arg, ...]) -> Result:
    return turn.end_turn(state)


def _sacrifice(state: State, _by: Seat, args: tuple[Arg, ...]) -> Result:
    if isinstance(god := a_god(args[0]), Refusal):
        return god
    n = a_number(args[1], 1, sacrifice.MOST_AT_ONCE)
    return n if isinstance(n, Refusal) else sacrifice.tap(state, god, n)


def _token(state: State, _by: Seat, args: tuple[Arg, ...]) -> Result:
    god = a_god(args[1])
    return god if isinstance(god, Refusal) else sacrifice.fallen(state, args[0], god, args[2])


def _claim(state: State, _by: Seat, args: tuple[Arg, ...]) -> Result:
    seat = a_seat(state, args[1])
    return seat if isinstance(seat, Refusal) else sacrifice.claim(state, args[0], seat)


def _dismiss(state: State, _by: Seat, args: tuple[Arg, ...]) -> Result:
    return sacrifice.dismiss(state, args[0])


def _propose(state: State, by: Seat, args: tuple[Arg, ...]) -> Result:
    if isinstance(seat := a_seat(state, args[0]), Refusal):
        return seat
    god = a_god(args[1])
    return god if isinstance(god, Refusal) else corrections.propose(state, by, seat, god, args[2])


def _confirm(state: State, by: Seat, _args: tuple[Arg, ...]) -> Result:
    return corrections.confirm(state, by)


def _withdraw(state: State, _by: Seat, _args: tuple[Arg, ...]) -> Result:
    return corrections.withdraw(state)


def _issue(state: State, _by: Seat, _args: tuple[Arg, ...]) -> Result:
    return turn.issue(state)


def _bare(state: State, _by: Seat, _args: tuple[Arg, ...]) -> Result:
    return turn.bare(state)


def _settle(state: State, _by: Seat, args: tuple[Arg, ...]) -> Result:
    seat = a_seat(state, args[0])
    return seat if isinstance(seat, Refusal) else turn.settle(state, seat)


class _Rule(NamedTuple):
    length: int
    carry_out: Callable[[State, Seat, tuple[Arg, ...]], Result]
    by_temple: bool = False


_MOVES: Mapping[str, _Rule] = {
    "bare": _Rule(0, _bare),
    "claim": _Rule(2, _claim),
    "confirm": _Rule(0, _confirm),
    "dismiss": _Rule(1, _dismiss),
    "end_turn": _Rule(0, _end_turn),
    "issue": _Rule(0, _issue),
    "propose": _Rule(3, _propose),
    "sacrifice": _Rule(2, _sacrifice),
    "settle": _Rule(1, _settle),
    "token": _Rule(3, _token, by_temple=True),
    "withdraw": _Rule(0, _withdraw),
}

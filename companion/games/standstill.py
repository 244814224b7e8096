"""Names a position in which a game stands still: a seat is on turn, and nobody has a legal move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from companion.games.kit import Game, Move

SHOWN = 4
"""How many of the last moves are named."""


def standstill(game: Game[Any], state: Any, moves: Sequence[Move]) -> str:
    """Return whose turn it is without a legal move, and the last of the moves that led there; else nothing.

    Moves that only set right what happened at the table do not count: no app player makes them.
    """
    seat, acting = game.rules.on_turn(state), game.rules.to_act(state)
    if seat is None or any(move.name not in game.chores for each in acting for move in game.rules.moves(state, each)):
        return ""
    return f"no legal move for {' or '.join(acting[:1]) or seat} in turn {game.rules.turn(state)}, {led_by(moves)}"


def led_by(moves: Sequence[Move]) -> str:
    """Return after how many moves something is, and the last of them.

    >>> led_by([Move("roll"), Move("shows", (3,))])
    'after move 2: roll, shows 3'
    """
    last = ", ".join(" ".join(map(str, move.to_json())) for move in moves[-SHOWN:])
    return f"after move {len(moves)}: {last}" if last else "at the start"

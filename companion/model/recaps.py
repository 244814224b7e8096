"""Folds a finished game once more, for what its end page says of the whole of it."""

from __future__ import annotations

from collections.abc import Iterable

from companion.games.kit import Curve, Move, Played, Recap, awarded, turn_ends, turning_line
from companion.model.entries import Undo
from companion.model.history import ReplayStep
from companion.model.table import Table


def played(steps: Iterable[ReplayStep]) -> list[Played]:
    """Return the moves of a game that were not taken back, in order."""
    line: list[Played] = []
    for entry, before, after in steps:
        if isinstance(entry.action, Undo):
            line.pop()
        elif isinstance(entry.action, Move) and before.steps and before.state is not after.state:
            turn = before.game.rules.turn(before.state)
            line.append(Played(turn, entry.by, entry.action, before.state, after.state))
    return line


def recap_of(table: Table, line: list[Played]) -> Recap:
    """Return how a game that is over went; of one that was closed before its end nothing, as its secrets stay."""
    if table.is_closed or table.phase != "over" or not line:
        return Recap()
    own = table.game.page.recap(line)
    return own if own.awards else _plain(table, line)


def _plain(table: Table, line: list[Played]) -> Recap:
    """Return what can be said of any game: how far each seat was, and an award for each."""
    seats, standing = table.charter.seats, table.game.playtest.standing
    states = [standing(state) for state in turn_ends(line)]
    known = [seat for seat in seats if all(seat in at for at in states)]
    curves = tuple(Curve(tuple(at[seat] for at in states), (seat,)) for seat in known)
    return Recap(curves, turning_line(curves), awards=awarded(seats, (), line))

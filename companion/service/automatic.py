"""Makes the moves that nobody is asked for at a table: dice that the app rolls, and the moves of absent players."""

from __future__ import annotations

import logging

from companion.games.kit import CHANCE, Below, Refusal
from companion.model.entries import APP, PACES
from companion.model.table import Table
from companion.service.change import Change

log = logging.getLogger(__name__)

AT_ONCE = 400
"""The most moves that the app makes in one go; the pacer continues a table of absent players."""


def play_on(change: Change, table_id: str, below: Below, rolled: bool = False, due: bool = False) -> Table:
    """Make all moves that the app makes by itself now; return the table after them.

    `rolled` says that the last entry is a roll of the app. If moves for absent players are paced, they wait for the
    pacer, except the first one if it is `due`.
    """
    for _ in range(AT_ONCE):
        table = change.table(table_id)
        if change.paced and PACES[table.pace] and not due and table.awaits_app:
            break
        found = table.automatic(below, rolled)
        if found is None:
            break
        seat, move = found
        after = change.extend(table_id, seat, move, hand=APP)
        if isinstance(after, Refusal):
            log.error("table %r: the app's %s for %s is refused: %s", table.title, move, seat, after)
            break
        rolled = seat == CHANCE
        due = due and rolled
    return change.table(table_id)

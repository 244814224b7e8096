"""What a table publishes for readers that know no game: a score for each god, and the mood."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from companion.model.ports import StoredToken
from companion.model.table import Table
from templo import contract


def score_of(table: Table | None, tokens_of: Callable[[str], Sequence[StoredToken]]) -> contract.Score:
    """Return a table's score: from its game's audit of tokens, taps and corrections, else the tokens of the table.

    Without a table, or before its game has begun, the score is empty. `tokens_of` returns the tokens of a table by
    its id; it is called only if the game does not audit them, because they may be many.
    """
    totals = dict.fromkeys(contract.God, 0)
    if table is None or table.began_at is None:
        return contract.Score(table.id if table else None, totals)
    audit = table.audit
    if audit is None:
        for stored in tokens_of(table.id):
            totals[stored.token.god] += 1
        return contract.Score(table.id, totals)
    for god in contract.God:
        corrected = sum(delta for _, its, delta in audit.corrected if its == god)
        totals[god] = max(0, audit.credited.get(god, 0) + corrected)
    return contract.Score(table.id, totals)


def mood_of(table: Table | None, hotspot: bool = False) -> contract.Mood:
    """Return the mood for a temple's lamps: the signals of its table's game, and an open hotspot.

    Without a table, or before its game begins, there are no signals of a game.
    """
    own = ("hotspot",) if hotspot else ()
    if table is None or table.state is None or table.is_closed or table.game.temple is None:
        return contract.Mood(table.id if table else None, own)
    mood = table.game.temple.mood(table.state)
    return contract.Mood(table.id, (*own, *mood.signals), mood.left)

"""What a table publishes for readers that know no game: a score for each god, and the mood."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from companion.model.ports import StoredToken
from companion.model.table import Table
from companion.model.temples import Temple
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


def mood_of(table: Table | None, temple: Temple, hotspot: bool = False) -> contract.Mood:
    """Return the mood for a temple's lamps: an open hotspot, heaps to be levelled, and its game's signals.

    Without a table, or before its game begins, there is an open hotspot alone.
    """
    is_running = table is not None and table.phase == "running"
    own = (*(["hotspot"] if hotspot else []), *(f"level_{god}" for god in temple.to_level if is_running))
    if table is None or table.state is None or table.is_closed or table.game.temple is None:
        return contract.Mood(table.id if table else None, own)
    mood = table.game.temple.mood(table.state)
    return contract.Mood(table.id, (*own, *mood.signals), mood.left)

"""What a handful of arriving tokens changes: the tables they fall on and the temples they come from.

It works on frozen snapshots and on a change that has begun; nothing is visible until the house swaps it in.
"""

from __future__ import annotations

import logging
from collections.abc import Container
from dataclasses import replace
from datetime import datetime

from companion.games.kernel import TEMPLE, Refusal
from companion.model.ports import ARRIVED, COUNTED, Decision, OldTokens, StoredToken, Transaction
from companion.model.table import OLD, Table
from companion.model.temples import Temple
from templo import contract

log = logging.getLogger(__name__)


class Batch:
    """What a handful of arriving tokens changes, before it is durable."""

    def __init__(self, now: datetime, tables: dict[str, Table], temples: dict[str, Temple]) -> None:
        self._now = now
        self.tables = tables
        self.temples = temples
        self.changed: set[str] = set()
        self.kept: list[StoredToken] = []
        self.resent: list[contract.Token] = []
        self.arrived: list[Decision] = []
        self._clashing: list[StoredToken] = []

    def take(
        self, change: Transaction, name: str, token: contract.Token, old: OldTokens | None, verdict: str | None
    ) -> None:
        """Keep a token, and enter it at the table that its temple serves.

        `old` are the old tokens of its source, `verdict` what became of it where it was held apart under another
        number, empty while it waits.
        """
        temple = self._temple(name, token)
        if verdict == "":
            self.arrived.append(Decision(StoredToken(name, token, self._now), ARRIVED, self._now, TEMPLE))
            self.temples[name] = replace(temple, quarantined=temple.quarantined - 1)
        is_old = old is not None and old.holds(token)
        if verdict or (is_old and old and old.choice != COUNTED):
            self.kept.append(StoredToken(name, token, self._now))
            return
        table = self.tables.get((old.table_id if is_old and old else temple.table_id) or "")
        plays = table is not None and table.began_at is not None and table.game.uses_temple
        if table is None or not plays or contract.Flag.TEST in token.flags:
            self.kept.append(StoredToken(name, token, self._now))
            return
        move = table.fall(token, stranger=token.source != temple.source, doubt=OLD if is_old else "")
        entry = table.entry(self._now, TEMPLE, move)
        after = table.extended(entry)
        if isinstance(after, Refusal):
            log.error("table %r refused token %d of %r: %s", table.title, token.seq, name, after.code)
            self.kept.append(StoredToken(name, token, self._now))
            return
        change.append(table.id, entry)
        self.tables[table.id] = after
        self.changed.add(table.id)
        self.kept.append(StoredToken(name, token, self._now, table.id))

    def take_again(self, name: str, token: contract.Token) -> None:
        """Enter a further number of a token that is stored: it counts nowhere a second time."""
        self._temple(name, token)
        self.resent.append(token)

    def clash(self, name: str, token: contract.Token) -> None:
        """Hold a token apart."""
        self.temples.setdefault(name, Temple(name))
        self._clashing.append(StoredToken(name, token, self._now))

    def held_apart(self, stored: Container[str]) -> dict[str, list[StoredToken]]:
        """Return the tokens to hold apart, by temple: none of those that are stored, be it under another number."""
        apart: dict[str, list[StoredToken]] = {}
        for kept in self._clashing:
            if kept.token.token not in stored:
                apart.setdefault(kept.temple, []).append(kept)
        return apart

    def _temple(self, name: str, token: contract.Token) -> Temple:
        temple = self.temples.get(name) or Temple(name)
        if temple.source is None:
            temple = replace(temple, source=token.source)
        self.temples[name] = temple
        return temple

"""Takes in the temples' doubts about tokens that they have counted; each is stored once."""

from __future__ import annotations

import logging

from msgspec.structs import replace

from companion.games.kit import TEMPLE, Refusal
from companion.model.temples import Source
from companion.service.change import Change
from companion.service.workspace import Workspace
from templo import contract

log = logging.getLogger(__name__)


class DoubtIntake:
    """Takes in the temples' doubts."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def receive(self, name: str, doubt: contract.Doubt) -> None:
        """Store a temple's doubt if it is the next of its source; any other changes nothing.

        A temple sends its doubts again, in order, until they are acknowledged. If the store fails, its error is
        raised and nothing has changed.
        """
        self._workspace.run(lambda change: self._take(change, name, doubt), temples=[name])

    def _take(self, change: Change, name: str, doubt: contract.Doubt) -> None:
        source = change.source(doubt.source) or Source(doubt.source, name, unsure=True)
        if doubt.number != source.mark.doubts + 1:
            return
        change.put_source(replace(source, mark=replace(source.mark, doubts=doubt.number)))
        self._enter(change, name, doubt)
        change.also(lambda store: store.add_doubt(name, doubt))

    def _enter(self, change: Change, name: str, doubt: contract.Doubt) -> None:
        """Take the tokens that count at a table, and about which no person has decided, out of its score."""
        find = self._workspace.tables.find
        counted = {
            stored.token: table.id
            for stored in self._workspace.store.tokens(doubt.tokens)
            if stored.temple == name and (table := find(stored.table_id))
        }
        change.lock_tables(*{*counted.values()})
        for token, table_id in counted.items():
            move = change.table(table_id).doubted(token, doubt.reason)
            if move is not None and isinstance(after := change.extend(table_id, TEMPLE, move), Refusal):
                log.error("table %r refused the doubt about token %d: %s", table_id, token.seq, after.code)

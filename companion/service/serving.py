"""Which table a temple serves, and who may change that. A table that is in use holds its temple."""

from __future__ import annotations

from msgspec.structs import replace

from companion.model.entries import Serve
from companion.model.seating import proved, require_seats
from companion.model.table import COMPANION, ServiceError, Table
from companion.service.change import ABANDONED, Change
from companion.service.requests import TempleRequests
from companion.service.workspace import Workspace


class Serving:
    """Assigns temples to tables; that ends a running calibration."""

    def __init__(self, workspace: Workspace, requests: TempleRequests) -> None:
        self._workspace = workspace
        self.requests = requests

    def serve(self, table_id: str, temple: str | None) -> Table:
        """Let a temple serve a table without checking who wants it."""
        before = self._workspace.tables.get(table_id).temple

        def work(change: Change) -> Table:
            change.lock_with_temple(table_id, temple)
            return move_temple(change, table_id, temple)

        table = self._workspace.run(work)
        if temple and temple != before:
            self.requests.end_calibration(temple)
        return table

    def attach(self, table_id: str, token: str, temple: str | None, leave: str = "") -> Table:
        """Let a temple serve this table, or with none let its temple go; anyone seated may.

        A temple serves one table at a time: it leaves the table that it served. If that table is its `holder`,
        `leave` is needed: the token of a phone there, or its code. Raises `ServiceError` ``temple_held`` without.
        """
        before = self._workspace.tables.get(table_id).temple

        def work(change: Change) -> Table:
            table = change.lock_with_temple(table_id, temple)
            require_seats(table, token)
            if temple != table.temple:
                self.check_leave(temple, leave)
            return move_temple(change, table_id, temple)

        table = self._workspace.run(work)
        if temple and temple != before:
            self.requests.end_calibration(temple)
        return table

    def holder(self, temple: str | None) -> Table | None:
        """Return the table that a temple may not be taken from without its code or a seat there, or None.

        A game that is over holds no temple, nor does a lobby in which nobody sits, nor a table that is `ABANDONED`.
        """
        known = self._workspace.temples.find(temple or "")
        table = self._workspace.tables.find(known.table_id) if known else None
        if table is None or table.phase == "over" or self._workspace.clock() - table.last_at >= ABANDONED:
            return None
        return table if table.phase == "running" or any(chair.taken for chair in table.chairs) else None

    def check_leave(self, temple: str | None, leave: str) -> None:
        """Raise `ServiceError` if a temple is unknown, or is held by a table that `leave` does not belong to."""
        if temple:
            self._workspace.temples.get(temple)
        if (table := self.holder(temple)) is None:
            return
        try:
            proved(table, leave)
        except ServiceError:
            raise ServiceError("temple_held", temple=temple or "", table=table.title) from None


def move_temple(change: Change, table_id: str, temple: str | None) -> Table:
    """Let a temple serve a table within a change that has locked both, and the table that the temple leaves."""
    table = change.table(table_id)
    if table.temple == temple:
        return table
    if table.temple:
        change.put(replace(change.temple(table.temple), table_id=None))
    if temple:
        arriving = change.temple(temple)
        if arriving.table_id in change.locked_tables:
            change.enter(arriving.table_id, COMPANION, Serve(""))
        change.put(replace(arriving, table_id=table_id))
    return change.enter(table_id, COMPANION, Serve(temple or ""))

"""Pairing: the organiser is shown a code for a temple and its table, and who types it at that temple uses it up."""

from __future__ import annotations

import logging
from collections.abc import Callable

from companion.model.pairing import NOTE, PairingCode, decode, encode, find, new_code, with_code, with_used
from companion.model.table import ServiceError, Table
from companion.service.temples import TempleService
from companion.service.workspace import Workspace

log = logging.getLogger(__name__)


class PairingService:
    """The codes of new temples. Every companion of an installation reads them in the store."""

    def __init__(self, workspace: Workspace, temples: TempleService) -> None:
        self._workspace = workspace
        self._temples = temples

    def issue(self, temple: str, table_id: str) -> str:
        """Return a code for a temple that will serve a table, or none where `table_id` is empty.

        It replaces an earlier one of that temple. Raises `ServiceError` ``unknown_table``, also for a table at which
        no temple counts or whose game is over.
        """
        if table_id and self._open_table(table_id) is None:
            raise ServiceError("unknown_table")
        code = new_code(self._workspace.entropy)
        self._change(lambda codes: with_code(codes, code, temple, table_id, self._workspace.clock()))
        return code

    def find(self, typed: str) -> PairingCode:
        """Return what a code is for; raises `ServiceError` as `companion.model.pairing.find` does."""
        return find(decode(self._workspace.notes.get(NOTE)), typed, self._workspace.clock())

    def use(self, typed: str) -> Table | None:
        """Use a code up, and let its temple serve its table, which is returned if it is still open.

        Raises `ServiceError` as `find` does: of two who use one code at once, one does. A table that the temple
        cannot serve is left out.
        """
        found = [self.find(typed)]
        self._temples.expect(found[0].temple)

        def used(codes: tuple[PairingCode, ...]) -> tuple[PairingCode, ...]:
            found[:] = [find(codes, typed, self._workspace.clock())]
            return with_used(codes, found[0])

        self._change(used)
        (code,) = found
        table = self._open_table(code.table_id)
        try:
            return self._temples.serving.serve(table.id, code.temple) if table else None
        except ServiceError as error:  # the code is used up: the temple must get its reply all the same
            log.warning("the temple %s is paired, and does not serve its table: %s", code.temple, error)
            return None

    def _open_table(self, table_id: str) -> Table | None:
        table = self._workspace.tables.find(table_id)
        return table if table and table.phase != "over" and table.game.temple else None

    def _change(self, after: Callable[[tuple[PairingCode, ...]], tuple[PairingCode, ...]]) -> None:
        self._workspace.run(
            lambda change: change.set_note(NOTE, encode(after(decode(change.note(NOTE))))), notes=[NOTE]
        )

"""Watches a file while its designer edits it, and switches one table to each version of it that has no faults.

What a file may contain is up to the option that reads it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from companion.adapters.background import Background
from companion.games.kit import Fault, Option
from companion.model.lobby import read_text
from companion.model.table import ServiceError
from companion.service.services import Services

log = logging.getLogger(__name__)

EVERY = 0.5
"""Seconds between two checks. A file is read when two in a row found it unchanged: editors write in parts."""


class Draft(Background):
    """Keeps one table's option equal to a file; while the file has faults, its last good version stays in play.

    `on_version` is called from this thread with the faults of each version; one without faults is in play.
    """

    def __init__(
        self,
        services: Services,
        table_id: str,
        option: Option,
        path: Path,
        on_version: Callable[[Sequence[Fault]], None],
    ) -> None:
        super().__init__("draft")
        self._services = services
        self._table_id = table_id
        self._option = option
        self._path = path
        self._on_version = on_version
        self._seen: object = self
        self._taken: object = self

    def start(self) -> None:
        """Start to follow the file, and show that on the table's pages."""
        self._services.tables.set_draft(self._table_id, ())
        super().start()

    def look(self) -> None:
        """Check the file once, and apply it if it has changed and is no longer being written."""
        try:
            found = self._path.read_bytes()
        except OSError:
            found = None
        if found == self._seen != self._taken:
            self._taken = found
            self._take(found)
        self._seen = found

    def _take(self, data: bytes | None) -> None:
        text, faults = ("", (Fault(1, "no_file"),)) if data is None else read_text(data)
        faults = faults or self._option.faults(text)
        try:
            if not faults:
                self._services.tables.amend(self._table_id, self._option.key, text)
        except ServiceError:
            log.exception("a sound file could not be taken into play")
            return
        self._services.tables.set_draft(self._table_id, faults)
        self._on_version(faults)

    def _run(self) -> None:
        while not self._ending.wait(EVERY):
            self.look()

"""The first start: the name of the place, and whether somebody has completed the setup."""

from __future__ import annotations

from companion.model.lobby import clean_name
from companion.model.ports import Transaction
from companion.service.workspace import Workspace

NAME, FINISHED = "place", "set_up"
"""The names of the store's notes."""

SETUP = "setup"
"""The topic of both."""


class SetupService:
    """What the owner sets at the first start, and may change later."""

    def __init__(self, workspace: Workspace) -> None:
        """Read what is stored, now and whenever another companion has changed it."""
        self._workspace = workspace
        self._marked = False
        self.name = ""
        """The name of the place where the temple stands; empty if it has none."""
        self.read()
        workspace.readers[SETUP] = self.read

    @property
    def finished(self) -> bool:
        """Whether somebody has finished the setup, or begun to play without it; then only the owner may change it."""
        return self._marked or bool(self._workspace.tables.as_read())

    def read(self) -> None:
        """Read what is stored; raises `ServiceError` ``store_failing``."""
        self._marked = bool(self._workspace.store.note(FINISHED))
        self.name = self._workspace.store.note(NAME)

    def rename(self, name: str) -> None:
        """Name the place, or remove its name with a blank one; raises `ServiceError` ``bad_name``."""
        cleaned = clean_name(name) if name.strip() else ""
        self._note(NAME, cleaned)
        self.name = cleaned

    def finish(self) -> None:
        """End the first start, permanently: also if every table is removed later."""
        if not self._marked:
            self._note(FINISHED, "yes")
            self._marked = True

    def _note(self, name: str, value: str) -> None:
        def write(transaction: Transaction) -> None:
            transaction.set_note(name, value)
            if self._workspace.origin:
                transaction.announce(self._workspace.origin, [SETUP])

        self._workspace.run(lambda change: change.also(write))

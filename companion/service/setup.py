"""The first start: the name of the place, and whether somebody has completed the setup."""

from __future__ import annotations

from companion.model.lobby import clean_name
from companion.service.workspace import Workspace

NAME, FINISHED = "place", "set_up"
"""The names of the store's notes."""


class SetupService:
    """What the owner sets at the first start, and may change later."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def name(self) -> str:
        """The name of the place where the temple stands; empty if it has none."""
        return self._workspace.notes.get(NAME)

    @property
    def finished(self) -> bool:
        """Whether somebody has finished the setup, or begun to play without it; then only the owner may change it."""
        return bool(self._workspace.notes.get(FINISHED) or self._workspace.tables.as_read())

    def rename(self, name: str) -> None:
        """Name the place, or remove its name with a blank one; raises `ServiceError` ``bad_name``."""
        cleaned = clean_name(name) if name.strip() else ""
        self._note(NAME, cleaned)

    def finish(self) -> None:
        """End the first start, permanently: also if every table is removed later."""
        if not self._workspace.notes.get(FINISHED):
            self._note(FINISHED, "yes")

    def _note(self, name: str, value: str) -> None:
        self._workspace.run(lambda change: change.set_note(name, value), notes=[name])

"""The first start: what the place is called, and whether somebody has set it up."""

from __future__ import annotations

from companion.model.lobby import clean_name
from companion.service.workspace import Workspace

NAME, FINISHED = "place", "set_up"
"""The notes of the store."""


class SetupService:
    """What an owner says once, and may change later."""

    def __init__(self, workspace: Workspace) -> None:
        """Read what is stored."""
        self._workspace = workspace
        self._marked = bool(workspace.store.note(FINISHED))
        self.name = workspace.store.note(NAME)
        """What the place is called where the temple stands; empty while nobody has said."""

    @property
    def finished(self) -> bool:
        """Whether it was set up, or people play without that; from then on not everybody may change it."""
        return self._marked or bool(self._workspace.tables.as_read())

    def rename(self, name: str) -> None:
        """Call the place by a name, or by none where it is blank; raises `ServiceError` ``bad_name``."""
        cleaned = clean_name(name) if name.strip() else ""
        self._note(NAME, cleaned)
        self.name = cleaned

    def finish(self) -> None:
        """End the first start, for good: also when every table is forgotten later."""
        if not self._marked:
            self._note(FINISHED, "yes")
            self._marked = True

    def _note(self, name: str, value: str) -> None:
        self._workspace.run(lambda change: change.also(lambda store: store.set_note(name, value)))

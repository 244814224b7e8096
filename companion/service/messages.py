"""The organiser's message to everybody: one at a time, on every table's page until it ends or is taken back."""

from __future__ import annotations

import json
import unicodedata
from datetime import datetime, timedelta

from companion.model.ports import Transaction
from companion.model.table import ServiceError
from companion.service.workspace import MESSAGE, Workspace

NOTE = "message"
"""The store's note."""

LONGEST = 100
"""Signs of a message: it is one line of a table screen, read across a room."""

MINUTES = (2, 10, 60)
"""How long a message may be shown."""


class MessageService:
    """What the organiser says to every table of an installation."""

    def __init__(self, workspace: Workspace) -> None:
        """Read what is stored."""
        self._workspace = workspace
        self.read()

    @property
    def text(self) -> str:
        """The message that is shown now, or nothing."""
        return self._text if self.seconds_left > 0 else ""

    @property
    def seconds_left(self) -> float:
        """For how long it is shown yet; 0 or less where none is."""
        return (self._until - self._workspace.clock()).total_seconds() if self._until else 0.0

    def send(self, text: str, minutes: int) -> None:
        """Show a message for so long, instead of the one before.

        Raises `ServiceError` ``bad_message`` where it is empty or longer than `LONGEST`, ``bad_minutes`` where
        nobody may choose that time.
        """
        cleaned = " ".join("".join(" " if _is_control(sign) else sign for sign in text).split())
        if not 1 <= len(cleaned) <= LONGEST:
            raise ServiceError("bad_message", most=LONGEST)
        if minutes not in MINUTES:
            raise ServiceError("bad_minutes")
        until = self._workspace.clock() + timedelta(minutes=minutes)
        self._store(json.dumps({"text": cleaned, "until": until.isoformat()}))

    def take_back(self) -> None:
        """Show no message any more."""
        self._store("")

    def read(self) -> None:
        """Read it again: another companion of the installation may have changed it."""
        stored = self._workspace.store.note(NOTE)
        found = json.loads(stored) if stored else {}
        self._text: str = found.get("text", "")
        self._until = datetime.fromisoformat(found["until"]) if found else None

    def _store(self, value: str) -> None:
        def write(transaction: Transaction) -> None:
            transaction.set_note(NOTE, value)
            if self._workspace.shared:
                transaction.announce(self._workspace.origin, [MESSAGE])

        self._workspace.run(lambda change: change.also(write))
        self.read()
        self._workspace.on_change(MESSAGE)


def _is_control(sign: str) -> bool:
    """Return whether a sign is no letter but an instruction, such as a new line or a change of direction."""
    return unicodedata.category(sign).startswith("C")

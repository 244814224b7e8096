"""The organiser's message to all tables: one at a time, on every page until it expires or is withdrawn."""

from __future__ import annotations

import json
import unicodedata
from datetime import datetime, timedelta

from msgspec import Struct

from companion.model.lobby import JOINER, is_inked
from companion.model.table import ServiceError
from companion.service.workspace import Workspace

NOTE = "message"
"""The store's note."""

TOPIC = f"note:{NOTE}"
"""The topic of its changes."""

LONGEST = 100
"""The most characters in a message, which must be readable across a room on a table screen."""

MINUTES = (2, 10, 60)
"""How long a message may be shown."""


class _Message(Struct, frozen=True):
    """A message, and when it expires."""

    text: str
    until: datetime


class MessageService:
    """The organiser's message to every table of an installation."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def text(self) -> str:
        """The current message, or an empty string."""
        message = self._message()
        return message.text if message and self._left_of(message) > 0 else ""

    @property
    def seconds_left(self) -> float:
        """How much longer it is shown; 0 or less if there is none."""
        message = self._message()
        return self._left_of(message) if message else 0.0

    def send(self, text: str, minutes: int) -> None:
        """Show a message for a number of minutes, replacing the former one.

        Raises `ServiceError` ``bad_message`` if it is empty or longer than `LONGEST`, ``bad_minutes`` if nobody may
        choose that time.
        """
        cleaned = " ".join("".join(" " if _is_control(each) else each for each in text).split()).strip(JOINER)
        if len(cleaned) > LONGEST or not any(map(is_inked, cleaned)):
            raise ServiceError("bad_message", most=LONGEST)
        if minutes not in MINUTES:
            raise ServiceError("bad_minutes")
        until = self._workspace.clock() + timedelta(minutes=minutes)
        self._store(json.dumps({"text": cleaned, "until": until.isoformat()}))

    def take_back(self) -> None:
        """Withdraw the message."""
        self._store("")

    def _message(self) -> _Message | None:
        stored = self._workspace.notes.get(NOTE)
        if not stored:
            return None
        found = json.loads(stored)
        return _Message(found["text"], datetime.fromisoformat(found["until"]))

    def _store(self, value: str) -> None:
        self._workspace.run(lambda change: change.set_note(NOTE, value), notes=[NOTE])

    def _left_of(self, message: _Message) -> float:
        return (message.until - self._workspace.clock()).total_seconds()


def _is_control(character: str) -> bool:
    """Return whether a character is a control character, such as a new line or a change of direction."""
    return character != JOINER and unicodedata.category(character).startswith("C")

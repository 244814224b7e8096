"""The organiser's message to all tables: one at a time, on every page until it expires or is withdrawn."""

from __future__ import annotations

import json
import threading
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta

from companion.model.lobby import JOINER, is_inked
from companion.model.ports import Transaction
from companion.model.table import ServiceError
from companion.service.workspace import MESSAGE, Workspace

NOTE = "message"
"""The store's note."""

LONGEST = 100
"""The most characters in a message, which must be readable across a room on a table screen."""

MINUTES = (2, 10, 60)
"""How long a message may be shown."""


@dataclass(frozen=True, slots=True)
class _Message:
    """A message, replaced as a whole, so that concurrent readers see the old one or the new one."""

    text: str
    until: datetime


class MessageService:
    """The organiser's message to every table of an installation."""

    def __init__(self, workspace: Workspace) -> None:
        """Read what is stored, now and whenever another companion has changed it."""
        self._workspace = workspace
        self._sending = threading.Lock()
        self._replacing = threading.Lock()
        self._begun = 0
        self._applied = 0
        self._message: _Message | None = None
        self.read()
        workspace.readers[MESSAGE] = self.read

    @property
    def text(self) -> str:
        """The current message, or an empty string."""
        message = self._message
        return message.text if message and self._left_of(message) > 0 else ""

    @property
    def seconds_left(self) -> float:
        """How much longer it is shown; 0 or less if there is none."""
        message = self._message
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
        self._store(_Message(cleaned, self._workspace.clock() + timedelta(minutes=minutes)))

    def take_back(self) -> None:
        """Withdraw the message."""
        self._store(None)

    def read(self) -> None:
        """Read what is stored; raises `ServiceError` ``store_failing``.

        Every change is followed by a read, so of two reads at once the one that began later knows all changes.
        """
        number = self._begin()
        stored = self._workspace.store.note(NOTE)
        found = json.loads(stored) if stored else None
        message = _Message(found["text"], datetime.fromisoformat(found["until"])) if found else None
        with self._replacing:
            if number > self._applied:
                self._applied, self._message = number, message

    def _begin(self) -> int:
        """Return the number of a read or a change that begins now."""
        with self._replacing:
            self._begun += 1
            return self._begun

    def _store(self, message: _Message | None) -> None:
        value = json.dumps({"text": message.text, "until": message.until.isoformat()}) if message else ""

        def write(transaction: Transaction) -> None:
            transaction.set_note(NOTE, value)
            if self._workspace.origin:
                transaction.announce(self._workspace.origin, [MESSAGE])

        with self._sending:  # nobody else waits: a read may begin, and end, before the commit
            number = self._begin()
            self._workspace.run(lambda change: change.also(write))
            with self._replacing:
                is_last = self._begun == number
                if is_last:
                    self._applied, self._message = number, message
        if not is_last:
            self.read()
        self._workspace.on_change(MESSAGE)

    def _left_of(self, message: _Message) -> float:
        return (message.until - self._workspace.clock()).total_seconds()


def _is_control(character: str) -> bool:
    """Return whether a character is a control character, such as a new line or a change of direction."""
    return character != JOINER and unicodedata.category(character).startswith("C")

"""The phones in lobbies that a token is to seat.

They are in memory alone: who waited when the companion stopped asks again.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from msgspec import Struct

from companion.model.seating import own_seats
from companion.model.table import Table

PATIENCE = timedelta(minutes=10)
"""How long a phone waits for its token."""

MOST = 20
"""The most phones that wait at one table."""


class WaitingPhone(Struct, frozen=True):
    """A phone that a token is to seat: the token that will prove its seat, and its player's name."""

    token: str
    name: str
    since: datetime


class Waiting:
    """The phones that wait, for each table; any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._phones: dict[str, list[WaitingPhone]] = {}

    def add(self, table_id: str, token: str, name: str, now: datetime) -> None:
        """Let a phone wait, as the next; asking again renews its time."""
        with self._lock:
            others = [each for each in self._phones.get(table_id, []) if each.token != token]
            recent = [each for each in others if now - each.since < PATIENCE]
            self._phones = {
                table: phones for table, phones in self._phones.items() if now - phones[-1].since < PATIENCE
            }
            self._phones[table_id] = [*recent[1 - MOST :], WaitingPhone(token, name, now)]

    def next(self, table: Table, now: datetime) -> WaitingPhone | None:
        """Return the phone that the next token seats: the last that asked, and has no seat yet."""
        with self._lock:
            phones = self._phones.get(table.id, [])[::-1]
        return next(
            (each for each in phones if now - each.since < PATIENCE and not own_seats(table, each.token)), None
        )

    def has(self, table: Table, token: str, now: datetime) -> bool:
        """Return whether a phone waits."""
        with self._lock:
            phones = self._phones.get(table.id, [])
        return any(each.token == token and now - each.since < PATIENCE for each in phones)

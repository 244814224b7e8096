"""Moves at every table, on top of seats, temples and tables: what phones and the application may do.

Results are frozen values; what cannot be done raises `ServiceError`. Time and randomness come in as arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from companion.games.kernel import CHANCE, Move, Refusal, Seat
from companion.model.chance import outcome
from companion.model.table import APP, UNDO, Entry, ServiceError, Table
from companion.service.decisions import Deciding


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a post: the table as it is now, and why not, where the move was not made."""

    table: Table
    accepted: bool
    refusal: Refusal | None = None
    stale: bool = False


class House(Deciding):
    """All tables, chairs and temples, and what is played at them; the one writer of its store."""

    def play(self, table_id: str, token: str, seat: Seat, move: Move, version: int, request: str) -> Played:
        """Make a seat's move, made against a version of the table, once for each request id.

        A post older than the last thing a person did is stale and changes nothing; tokens that fell since do
        not make it so. Raises `ServiceError` ``unknown_table``, ``not_seated``.
        """
        if move.name.startswith("@"):
            return Played(self.table(table_id), False, Refusal("unknown_move", {"move": move.name[:24]}))
        return self._played(table_id, token, seat, move, version, request)

    def play_all(
        self, table_id: str, token: str, seat: Seat, moves: Sequence[Move], version: int, request: str
    ) -> Played:
        """Make several moves of a seat as one: all of them, or none where one is refused.

        Raises `ServiceError` as `play` does, and ``bad_move`` for no move at all.
        """
        if not moves or any(move.name.startswith("@") for move in moves):
            raise ServiceError("bad_move")
        with self._lock:
            table, own = self.table(table_id), self._seated(self.table(table_id), token)
            if seat not in self.seats_held(table_id, token):
                raise ServiceError("not_your_seat", seat=seat[:24])
            if request and request in table.requests:
                return Played(table, True)
            if version < table.basis:
                return Played(table, False, stale=True)
            now, after = self._clock(), table
            entries: list[Entry] = []
            for move in moves:
                entry = after.entry(now, seat, move, "" if entries else request, "" if seat in own else own[0])
                extended = after.extended(entry)
                if isinstance(extended, Refusal):
                    return Played(table, False, extended)
                entries.append(entry)
                after = extended
            with self._store.transaction() as change:
                for entry in entries:
                    change.append(table.id, entry)
                after = self._run(change, after)
            self._swap(after)
            return Played(after, True)

    def undo(self, table_id: str, token: str, seat: Seat, version: int, request: str) -> Played:
        """Take back a seat's last move, where nothing has happened since."""
        return self._played(table_id, token, seat, Move(UNDO), version, request)

    def bring(self, table_id: str, token: str, version: int, request: str) -> Played:
        """Let the app roll or draw what chance has to bring now."""
        return self._played(table_id, token, CHANCE, None, version, request)

    def _played(self, table_id: str, token: str, seat: Seat, move: Move | None, version: int, request: str) -> Played:
        with self._lock:
            table = self.table(table_id)
            own, held = self._seated(table, token), self.seats_held(table_id, token)
            if seat != CHANCE and seat not in held:
                raise ServiceError("not_your_seat", seat=seat[:24])
            if request and request in table.requests:
                return Played(table, True)
            if version < table.basis and not (move and table.game.aside(move)):
                return Played(table, False, stale=True)
            if seat == CHANCE and not table.may_bring(held):
                return Played(table, False, Refusal("no_chance"))
            hand = own[0] if seat not in own else ""
            if move is None:
                due = table.chance()
                assert due is not None  # or it could not be brought
                move, hand = outcome(due, self._below), APP
            entry = table.entry(self._clock(), seat, move, request, hand)
            after = table.extended(entry)
            if isinstance(after, Refusal):
                return Played(table, False, after)
            with self._store.transaction() as change:
                change.append(table.id, entry)
                after = self._run(change, after, brought=hand == APP)
            self._swap(after)
            return Played(after, True)

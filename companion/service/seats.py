"""Seats: they are taken, handed over, freed and played for, and games are begun."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from companion.games.kit import Seat
from companion.model.entries import Away, Begin, Free, Sit, away_modes, is_away_mode
from companion.model.lobby import clean_name, digest
from companion.model.seating import is_code, own_seats, proved, require_seats, seats_held
from companion.model.table import ServiceError, Table
from companion.service.automatic import play_on
from companion.service.change import Change
from companion.service.requests import TempleRequests
from companion.service.workspace import Workspace

_DIGITS = 32
"""Hexadecimal digits of a token or a signature: 128 bits."""


class SeatService:
    """The seats of all tables, and the phones that hold them."""

    def __init__(self, workspace: Workspace, requests: TempleRequests) -> None:
        self._workspace = workspace
        self._requests = requests
        self._key = b""

    def held(self, table_id: str, token: str) -> tuple[Seat, ...]:
        """Return the seats that a phone's token acts for, as `seats_held` does."""
        return seats_held(self._workspace.tables.get(table_id), token)

    def own(self, table_id: str, token: str) -> tuple[Seat, ...]:
        """Return the seats that a phone holds itself, as `own_seats` does."""
        return own_seats(self._workspace.tables.get(table_id), token)

    def sit(self, table_id: str, code: str, seat: Seat, name: str, token: str = "", pending: str = "") -> str:
        """Give a free seat to a phone; returns the token that proves it, the same one where it held a seat already.

        A phone that holds none gets `pending`, or a new token. Asking for a seat again with the token that holds it
        changes nothing: the first answer was lost.

        Raises `ServiceError` ``wrong_code``, ``unknown_seat``, ``seat_taken``, ``bad_name``.
        """
        return self._workspace.run(
            lambda change: self._take(change, table_id, code, {seat: name}, token, pending), tables=[table_id]
        )

    def share(self, table_id: str, code: str, names: Mapping[Seat, str], token: str = "", pending: str = "") -> str:
        """Give every free seat to one phone that is passed round; returns its token, as `sit` does."""

        def work(change: Change) -> str:
            table = change.table(table_id)
            free = [chair.seat for chair in table.chairs if not chair.taken]
            if not free and not own_seats(table, token) and not own_seats(table, pending):
                raise ServiceError("table_full")
            taken = {seat: names.get(seat, "") for seat in free}
            return self._take(change, table_id, code, taken, token, pending)

        return self._workspace.run(work, tables=[table_id])

    def _take(
        self, change: Change, table_id: str, code: str, names: Mapping[Seat, str], token: str, pending: str
    ) -> str:
        table = change.table(table_id)
        if not is_code(table, code):
            raise ServiceError("wrong_code")
        if not token or not seats_held(table, token):
            token = pending or self._workspace.entropy(16).hex()
        if names.keys() <= {*own_seats(table, token)}:
            return token
        for seat, name in names.items():
            if table.chair(seat).taken:
                raise ServiceError("seat_taken", seat=seat)
            change.enter(table_id, seat, Sit(seat, clean_name(name) if name.strip() else ""))
        play_on(change, table_id, self._workspace.below)
        change.set_keys(table_id, {**table.keys, **dict.fromkeys(names, digest(token))})
        return token

    def free(self, table_id: str, proof: str, seat: Seat) -> Table:
        """Free a lost seat: its phone loses it, and anybody with the code may take it.

        `proof` is the token of any phone at the table, or the join code.
        """

        def work(change: Change) -> Table:
            table = change.table(table_id)
            change.enter(table_id, proved(table, proof), Free(seat))
            play_on(change, table_id, self._workspace.below)
            return change.set_keys(table_id, {held: key for held, key in table.keys.items() if held != seat})

        return self._workspace.run(work, tables=[table_id])

    def begin(self, table_id: str, proof: str) -> Table:
        """Begin the game; seats still empty can be taken later.

        `proof` is the token of any phone at the table, or the join code, which the table screen shows.
        """

        def work(change: Change) -> Table:
            by = proved(change.table(table_id), proof)
            change.enter(table_id, by, Begin())
            return play_on(change, table_id, self._workspace.below)

        table = self._workspace.run(work, tables=[table_id])
        if table.temple:
            self._requests.end_calibration(table.temple)
        return table

    def away(self, table_id: str, token: str, seat: Seat, mode: str) -> Table:
        """Set the absence mode of a seat, one of `AWAY_MODES`, or with no mode that its player is back.

        Anyone seated may. Raises `ServiceError` ``not_seated``, ``unknown_seat``, ``unknown_mode``.
        """

        def work(change: Change) -> Table:
            table = change.table(table_id)
            by = require_seats(table, token)[0]
            if not is_away_mode(mode) or mode not in (*away_modes(table.game.bot.levels), ""):
                raise ServiceError("unknown_mode", mode=mode[:24])
            if table.chair(seat).away == mode:
                return table
            change.enter(table_id, by, Away(seat, mode))
            return play_on(change, table_id, self._workspace.below)

        return self._workspace.run(work, tables=[table_id])

    def screen_pass(self, table_id: str) -> str:
        """Return a pass for a screen that was given a table's code: 128 bits, where a code has 30.

        It cannot be guessed, so a screen is never locked out together with somebody who guesses codes.
        """
        return self._signed("screen", table_id, self._workspace.tables.get(table_id).code)

    def is_screen_pass(self, table_id: str, proof: str) -> bool:
        """Return whether this is a table's screen pass."""
        return bool(proof) and hmac.compare_digest(self.screen_pass(table_id).encode(), proof.encode())

    def coming_pass(self) -> str:
        """Return a pass for a phone that is about to sit down, from which the tokens follow that it will get."""
        drawn = self._workspace.entropy(16).hex()
        return drawn + self._signed("coming", drawn)

    def pending_token(self, table_id: str, coming: str) -> str:
        """Return the token that a phone will have at a table, the same one whenever it asks for a seat there.

        It is empty if `coming` is no pass that this companion has made.
        """
        drawn, signature = coming[:_DIGITS], coming[_DIGITS:]
        genuine = hmac.compare_digest(self._signed("coming", drawn).encode(), signature.encode())
        return self._signed("seat", drawn, table_id) if genuine else ""

    def _signed(self, *words: str) -> str:
        self._key = self._key or self._workspace.store.signing_key()
        return hmac.new(self._key, " ".join(words).encode(), "sha256").hexdigest()[:_DIGITS]

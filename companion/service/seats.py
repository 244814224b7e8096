"""Seats: they are taken, handed over, freed and played for, and games are begun."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from companion.games.kit import Seat
from companion.model.entries import (
    ANYONE,
    APP,
    LEVEL_OF,
    Away,
    AwayMode,
    Begin,
    Free,
    LeaveOut,
    Sit,
    away_modes,
    is_away_mode,
)
from companion.model.lobby import clean_name, digest
from companion.model.seating import (
    empty_seats,
    free_seat,
    is_code,
    own_seats,
    places_without_empty,
    proved,
    require_seats,
    seats_held,
    seats_without_empty,
)
from companion.model.table import ServiceError, Table
from companion.service.automatic import play_on
from companion.service.change import Change
from companion.service.requests import TempleRequests
from companion.service.waiting import Waiting
from companion.service.workspace import Workspace

LEFT_OUT = "left_out"
_DIGITS = 32
"""Hexadecimal digits of a token or a signature: 128 bits."""


class SeatService:
    """The seats of all tables, and the phones that hold them."""

    def __init__(self, workspace: Workspace, requests: TempleRequests, waiting: Waiting) -> None:
        self._workspace = workspace
        self._requests = requests
        self._waiting = waiting
        self._key = b""

    def held(self, table_id: str, token: str) -> tuple[Seat, ...]:
        """Return the seats that a phone's token acts for, as `seats_held` does."""
        return seats_held(self._workspace.tables.get(table_id), token)

    def own(self, table_id: str, token: str) -> tuple[Seat, ...]:
        """Return the seats that a phone holds itself, as `own_seats` does."""
        return own_seats(self._workspace.tables.get(table_id), token)

    def sit(self, table_id: str, code: str, seat: Seat, name: str, token: str = "", pending: str = "") -> str:
        """Give a free seat to a phone; returns the token that proves it, the same one where it held a seat already.

        With no seat it is any that is free (`free_seat`), and none for a phone that holds one. A phone that holds
        none gets `pending`, or a new token. Asking for a seat again with the token that holds it changes nothing: the
        first answer was lost.

        Raises `ServiceError` ``wrong_code``, ``unknown_seat``, ``seat_taken``, ``table_full``, ``bad_name``.
        """

        def work(change: Change) -> str:
            table = change.table(table_id)
            if seat:
                return self._take(change, table_id, code, {seat: name}, token, pending)
            for known in (token, pending):
                if known and own_seats(table, known):
                    return known
            return self._take(change, table_id, code, {free_seat(table, name): name}, token, pending)

        return self._workspace.run(work, tables=[table_id])

    def wait_for_token(self, table_id: str, code: str, name: str, token: str) -> None:
        """Let the next token that falls into the table's temple seat a phone under a name, in the lobby.

        The last who asked is the next: who asked before and went away keeps nobody waiting. Raises `ServiceError`
        ``wrong_code``, ``bad_name``, and ``no_temple`` where no token can seat anybody.
        """
        table = self._workspace.tables.get(table_id)
        if not is_code(table, code):
            raise ServiceError("wrong_code")
        if not table.temple or table.phase != "lobby":
            raise ServiceError("no_temple")
        self._waiting.add(table_id, token, clean_name(name), self._workspace.clock())

    def waits(self, table_id: str, token: str) -> bool:
        """Return whether a phone waits for a token at a table."""
        return self._waiting.has(self._workspace.tables.get(table_id), token, self._workspace.clock())

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
        for seat in names:
            if table.chair(seat).taken:
                raise ServiceError("seat_taken", seat=seat)
        cleaned = {seat: clean_name(name) if name.strip() else "" for seat, name in names.items()}
        change.sit(table_id, cleaned, digest(token))
        play_on(change, table_id, self._workspace.below)
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

    def begin(self, table_id: str, proof: str, empty: str = "") -> Table:
        """Begin the game; seats still empty can be taken later, unless they are left out. One that runs goes on.

        `proof` is the token of any phone at the table, or the join code, which the table screen shows. `empty` says
        what happens to the seats that nobody has (`empty_choices`); nothing where it is empty.

        Raises `ServiceError` ``not_seated``, ``unknown_mode``, and ``bad_players`` where no seat can be left out.
        """

        def work(change: Change) -> Table:
            table = change.lock_with_temple(table_id)
            by = proved(table, proof)
            if table.phase == "running":  # it was asked twice: by two phones, or by one whose answer was lost
                return table
            if table.phase == "lobby" and empty:
                self._settle_empty(change, table, by, empty)
            change.enter(table_id, by, Begin())
            if table.temple:  # The tokens are in the players' hands now.
                change.put(change.temple(table.temple).levelled())
            return play_on(change, table_id, self._workspace.below)

        table = self._workspace.run(work)
        if table.temple:
            self._requests.end_calibration(table.temple)
        return table

    def _settle_empty(self, change: Change, table: Table, by: Seat, choice: str) -> None:
        """Leave the empty seats of a lobby out, or let the app or anyone play for them."""
        empty = empty_seats(table)
        if choice != LEFT_OUT:
            if not is_away_mode(choice) or choice not in empty_choices(table):
                raise ServiceError("unknown_mode", mode=choice[:24])
            for seat in empty:
                change.enter(table.id, by, Away(seat, choice))
            return
        keys = dict(table.keys)
        for old, new in places_without_empty(table).items():
            chair = table.chair(old)
            change.enter(table.id, by, Away(new, _mode(chair.away)) if chair.away else Sit(new, chair.name or ""))
            if old in keys:
                keys[new] = keys.pop(old)
        for seat in table.seats:
            if seat not in seats_without_empty(table):
                change.enter(table.id, by, LeaveOut(seat))
        change.set_keys(table.id, keys)

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


def empty_choices(table: Table) -> tuple[str, ...]:
    """Return what may happen to the seats of a lobby that nobody has, the usual first; nothing where all are taken.

    They are left out, the app plays for them, or anyone at the table moves for them.
    """
    if not empty_seats(table):
        return ()
    levels = [mode for mode in away_modes(table.game.bot.levels) if mode in LEVEL_OF]
    app = APP if APP in levels else next(iter(levels), "")
    return tuple(choice for choice in (LEFT_OUT if seats_without_empty(table) else "", app, ANYONE) if choice)


def _mode(word: str) -> AwayMode:
    return word if is_away_mode(word) else ""

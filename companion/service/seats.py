"""Who sits where: tables are set, chairs taken, lent and handed over, games begun and set once more.

It makes no move in a game.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

from companion.games.kernel import Move, Seat, Value
from companion.model.lobby import clean_name, complete_options, digest, new_code, normal_code
from companion.model.table import (
    AGAIN,
    APP,
    AWAY,
    AWAY_MODES,
    BEGIN,
    FREE,
    HOUSE,
    OPTION,
    ROLLS,
    SIT,
    Charter,
    ServiceError,
    Table,
)
from companion.service.requests import Asking

SCREEN_KEY = "screen_key"
"""The secret that the proofs of table screens are made with."""

ABANDONED = timedelta(days=1)
"""After so long without a move, a token or a new player a table no longer holds its temple against others."""


class Seating(Asking):
    """The chairs of all tables, and the phones that hold them."""

    _screen_key = ""

    def open_table(
        self,
        game: str,
        title: str,
        players: int,
        preset: str,
        options: Mapping[str, Value] = MappingProxyType({}),
        temple: str | None = None,
        leave: str = "",
    ) -> Table:
        """Open the lobby of a new table; `options` are what differs from the preset.

        `leave` is needed where another table holds the temple: the token of a phone at that table, or its code.

        Raises `ServiceError` with what was wrong, and has opened nothing then: ``unknown_game``, ``unknown_preset``,
        ``unknown_option``, ``bad_option``, ``bad_players``, ``bad_name``, ``unknown_temple``, ``temple_held``.
        """
        rules = self._game(game)
        if players not in rules.seatings:
            raise ServiceError("bad_players", players=players, fewest=min(rules.seatings), most=max(rules.seatings))
        chosen = complete_options(rules, preset, options)
        title = clean_name(title)
        with self._lock:
            self._check_leave(temple, leave)
            now = self._clock()
            charter = Charter(
                id=self._entropy(16).hex(),
                code=new_code(self._entropy, {table.code for table in self._tables.values()}),
                title=title,
                game=game,
                rules=rules.rules_version,
                preset=preset,
                options=chosen,
                seats=rules.seatings[players],
                opened_at=now,
            )
            table = Table.opened(charter, rules)
            with self._store.transaction() as change:
                change.add_table(charter)
            self._tables[table.id] = table
            self._on_change("tables")
            return self.serve(table.id, temple) if temple else table

    def sit(self, table_id: str, code: str, seat: Seat, name: str, token: str = "") -> str:
        """Give a free chair to a phone; returns the token that proves it, the same one where it held a chair already.

        Raises `ServiceError` ``wrong_code``, ``unknown_seat``, ``seat_taken``, ``bad_name``.
        """
        return self._seat(table_id, code, {seat: name}, token)

    def share(self, table_id: str, code: str, names: Mapping[Seat, str], token: str = "") -> str:
        """Give every free chair to one phone that is passed round; returns its token."""
        with self._lock:
            free = [chair.seat for chair in self.table(table_id).chairs if not chair.taken]
            if not free:
                raise ServiceError("table_full")
            return self._seat(table_id, code, {seat: names.get(seat, "") for seat in free}, token)

    def _seat(self, table_id: str, code: str, names: Mapping[Seat, str], token: str) -> str:
        with self._lock:
            table = self.table(table_id)
            if not hmac.compare_digest(table.code.encode(), normal_code(code).encode()):
                raise ServiceError("wrong_code")
            if not token or not self.seats_held(table_id, token):
                token = self._entropy(16).hex()
            entries = []
            for seat, name in names.items():
                if table.chair(seat).taken:
                    raise ServiceError("seat_taken", seat=seat)
                entries.append((seat, Move(SIT, (seat, clean_name(name) if name.strip() else ""))))
            keys = {**table.keys, **dict.fromkeys(names, digest(token))}
            self._change(table, entries, keys=keys)
            return token

    def seats_held(self, table_id: str, token: str) -> tuple[Seat, ...]:
        """Return the seats that a phone's token acts for, in turn order; none for a token that is not the table's.

        They are those it holds, and those whose absent players it may stand in for.
        """
        table = self.table(table_id)
        own = _own(table, token)
        return tuple(seat for seat in table.charter.seats if seat in own or (own and seat in table.lent()))

    def free(self, table_id: str, proof: str, seat: Seat) -> Table:
        """Hand a lost seat over: its phone loses it, anybody with the code may take it.

        `proof` is the token of any phone at the table, or the join code.
        """
        with self._lock:
            table = self.table(table_id)
            by = self._proved(table, proof)
            table.chair(seat)
            keys = {held: key for held, key in table.keys.items() if held != seat}
            return self._change(table, [(by, Move(FREE, (seat,)))], keys=keys)

    def _proved(self, table: Table, proof: str) -> Seat:
        if own := _own(table, proof):
            return own[0]
        if not hmac.compare_digest(table.code.encode(), normal_code(proof).encode()):
            raise ServiceError("not_seated")
        return HOUSE

    def screen_pass(self, table_id: str) -> str:
        """Return what proves from now on that a screen was given a table's code: of 128 bits, where a code has 30.

        Whoever guesses codes gets nowhere with guessing these, so that a screen is never locked out with them.
        """
        with self._lock:
            if not self._key_of_screens():
                key = self._entropy(32).hex()
                with self._store.transaction() as change:
                    change.set_secret(SCREEN_KEY, key)
                self._screen_key = key
            return self._pass_of(self.table(table_id))

    def is_screen_pass(self, table_id: str, proof: str) -> bool:
        """Return whether `screen_pass` gave this for a table."""
        if not proof or not self._key_of_screens():
            return False
        return hmac.compare_digest(self._pass_of(self.table(table_id)).encode(), proof.encode())

    def _key_of_screens(self) -> str:
        self._screen_key = self._screen_key or self._store.secret(SCREEN_KEY)
        return self._screen_key

    def _pass_of(self, table: Table) -> str:
        return hmac.new(bytes.fromhex(self._screen_key), f"{table.id} {table.code}".encode(), "sha256").hexdigest()[
            :32
        ]

    def begin(self, table_id: str, proof: str) -> Table:
        """Begin the game; chairs still empty can be taken later.

        `proof` is the token of any phone at the table, or the join code, which the table screen shows.
        """
        with self._lock:
            table = self.table(table_id)
            by = self._proved(table, proof)
            if table.phase != "lobby":
                raise ServiceError("begun_already")
            table = self._change(table, [(by, Move(BEGIN))])
            if table.temple:
                self.end_calibration(table.temple)
            return table

    def away(self, table_id: str, token: str, seat: Seat, mode: str) -> Table:
        """Say what becomes of a seat whose player is away, one of `AWAY_MODES`, or with no mode that it is back.

        Anyone seated may. Raises `ServiceError` ``not_seated``, ``unknown_seat``, ``unknown_mode``.
        """
        with self._lock:
            table = self.table(table_id)
            by = self._seated(table, token)[0]
            if mode not in (*AWAY_MODES, ""):
                raise ServiceError("unknown_mode", mode=mode[:24])
            if table.chair(seat).away == mode:
                return table
            return self._change(table, [(by, Move(AWAY, (seat, mode)))])

    def rolls(self, table_id: str, token: str, by_itself: bool) -> Table:
        """Let the app roll and draw by itself, or leave it to people; anyone seated may."""
        with self._lock:
            table = self.table(table_id)
            by = self._seated(table, token)[0]
            return self._change(table, [(by, Move(ROLLS, (APP if by_itself else "",)))])

    def again(self, table_id: str, token: str) -> Table:
        """Open the lobby of a game with the same players and rules, once for each table that is over.

        Every phone keeps its seat: the token that it holds for the old table holds it at the new one.
        """
        with self._lock:
            table = self.table(table_id)
            by = self._seated(table, token)[0]
            if table.phase != "over":
                raise ServiceError("not_over")
            if table.again in self._tables:
                return self.table(table.again)
            charter = replace(
                table.charter,
                id=self._entropy(16).hex(),
                code=new_code(self._entropy, {each.code for each in self._tables.values()}),
                rules=table.game.rules_version,
                options=table.options,
                opened_at=self._clock(),
            )
            following = Table.opened(charter, table.game)
            sitting = [
                (chair.seat, Move(SIT, (chair.seat, chair.name or ""))) for chair in table.chairs if chair.taken
            ]
            with self._store.transaction() as change:
                change.add_table(charter)
                following = self._extended(change, following, sitting)
                change.set_keys(charter.id, table.keys)
                following = following.with_keys(table.keys)
                table = self._extended(change, table, [(by, Move(AGAIN, (charter.id,)))])
            self._tables[following.id] = following
            self._swap(table)
            self._on_change("tables")
            return self.serve(following.id, table.temple) if table.temple else following

    def amend(self, table_id: str, key: str, value: Value) -> Table:
        """Change an option of a table on which its designer tries it out; nobody at a table can ask for this.

        Raises `ServiceError` ``unknown_table``, ``bad_option``, or what the game refuses it with.
        """
        with self._lock:
            table = self.table(table_id)
            if table.options.get(key) == value:
                return table
            return self._change(table, [(HOUSE, Move(OPTION, (key, value)))])

    def attach(self, table_id: str, token: str, temple: str | None, leave: str = "") -> Table:
        """Let a temple serve this table, or with none let its temple go; anyone seated may.

        A temple serves one table at a time: it leaves the table that it served. Where that table is its `holder`,
        `leave` is needed: the token of a phone there, or its code. Raises `ServiceError` ``temple_held`` without.
        """
        with self._lock:
            table = self.table(table_id)
            self._seated(table, token)
            if temple != table.temple:
                self._check_leave(temple, leave)
            return self.serve(table_id, temple)

    def holder(self, temple: str | None) -> Table | None:
        """Return the table that a temple may not be taken from without a seat or the code of it, or none.

        A game that is over holds no temple, nor does a lobby in which nobody sits, nor a table that is `ABANDONED`.
        """
        serving = self._temples[temple].table_id if temple in self._temples else None
        table = self._tables.get(serving or "")
        if table is None or table.phase == "over" or self._clock() - table.last_at >= ABANDONED:
            return None
        return table if table.phase == "running" or any(chair.taken for chair in table.chairs) else None

    def _check_leave(self, temple: str | None, leave: str) -> None:
        """Raise `ServiceError` where a temple is not known, or is held by a table that `leave` does not belong to."""
        if temple:
            self.temple(temple)
        if (table := self.holder(temple)) is None:
            return
        try:
            self._proved(table, leave)
        except ServiceError:
            raise ServiceError("temple_held", temple=temple or "", table=table.title) from None

    def _seated(self, table: Table, token: str) -> tuple[Seat, ...]:
        """Return the seats that a phone holds itself; raises `ServiceError` ``not_seated`` where it holds none."""
        if own := _own(table, token):
            return own
        raise ServiceError("not_seated")


def _own(table: Table, token: str) -> tuple[Seat, ...]:
    mine = digest(token).encode()
    return tuple(seat for seat in table.charter.seats if hmac.compare_digest(table.keys.get(seat, "").encode(), mine))

"""The house: every table and every temple of this companion, changed under one lock and durable before it is seen.

What it returns is frozen; what it cannot do is a `HouseError`. It reads no clock and makes no randomness of its own,
knows no rule of any game, and never touches the network.
"""

from __future__ import annotations

import hmac
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from companion.arrivals import Batch
from companion.chance import below_from, outcome
from companion.games.kernel import CHANCE, Fault, Game, Move, Refusal, Seat, Value
from companion.lobby import clean_name, complete_options, digest, new_code, normal_code
from companion.table import (
    AGAIN,
    APP,
    AWAY,
    AWAY_MODES,
    BEGIN,
    FREE,
    HOUSE,
    OPTION,
    ROLLS,
    SERVED,
    SIT,
    UNDO,
    Charter,
    Entry,
    HouseError,
    KeptToken,
    Store,
    Table,
    Transaction,
)
from companion.telling import folded
from companion.temples import RECENT, Mark, Receipt, Temple
from controller import wire

log = logging.getLogger(__name__)

AT_ONCE = 400
"""Moves that the app makes by itself after one post, at most: a table of absent players goes on at the next."""


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a post: the table as it is now, and why not, where the move was not made."""

    table: Table
    accepted: bool
    refusal: Refusal | None = None
    stale: bool = False


class House:
    """All tables and temples; the one writer of its store."""

    def __init__(
        self,
        store: Store,
        games: Mapping[str, Game[Any]],
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        on_change: Callable[[str], None] = lambda topic: None,
    ) -> None:
        """Take over what the store holds.

        `clock` gives aware times in UTC, `entropy` that many random bytes. `on_change` is told a topic,
        ``table:<id>``, ``temple:<name>`` or ``tables``, after each change that is durable.
        """
        self._store = store
        self.games = MappingProxyType(dict(games))
        self._clock = clock
        self._entropy = entropy
        self._below = below_from(entropy)
        self._on_change = on_change
        self._lock = threading.RLock()
        self._tables: dict[str, Table] = {}
        self.unreadable: list[tuple[str, str]] = []
        """Title and reason of each stored table that this software cannot replay; it is left as it is."""
        for record in store.tables():
            try:
                table = self._replayed(record.charter, record.entries)
            except (HouseError, ValueError) as error:
                log.error("table %r stays closed: %s", record.charter.title, error)
                self.unreadable.append((record.charter.title, str(error)))
            else:
                self._tables[table.id] = table.with_keys(record.keys)
        self._drafts: dict[str, tuple[Fault, ...]] = {}
        self._reachable = True
        self._temples = {
            record.name: Temple(
                record.name,
                record.source,
                record.table_id,
                recent=store.recent(record.name, RECENT),
                totals=store.totals(record.name),
                quarantined=store.quarantined(record.name),
            )
            for record in store.temples()
        }
        self._counts: dict[str, wire.Count] = {}
        self._marks = {source: Mark(seq, ahead) for source, (seq, ahead) in store.marks().items()}

    def _replayed(self, charter: Charter, entries: Iterable[Entry]) -> Table:
        game = self._game(charter.game)
        table = Table.opened(charter, game)
        for stage in folded(charter, game, entries):
            table = stage.after
        return table

    def _game(self, name: str) -> Game[Any]:
        try:
            return self.games[name]
        except KeyError:
            raise HouseError("unknown_game", game=name[:32]) from None

    # Tables

    def tables(self) -> tuple[Table, ...]:
        """Return every table, the newest first."""
        return tuple(sorted(self._tables.values(), key=lambda table: table.charter.opened_at, reverse=True))

    def table(self, table_id: str) -> Table:
        """Return a table by its id; raises `HouseError` ``unknown_table``."""
        try:
            return self._tables[table_id]
        except KeyError:
            raise HouseError("unknown_table") from None

    def table_by_code(self, code: str) -> Table:
        """Return a table by its join code, however it was typed; raises `HouseError` ``wrong_code``.

        Every table's code is compared, each in constant time.
        """
        wanted = normal_code(code)
        found = [
            table for table in self._tables.values() if hmac.compare_digest(table.code.encode(), wanted.encode())
        ]
        if not found:
            raise HouseError("wrong_code")
        return found[0]

    def open_table(
        self,
        game: str,
        title: str,
        players: int,
        preset: str,
        options: Mapping[str, Value] = MappingProxyType({}),
        temple: str | None = None,
    ) -> Table:
        """Open the lobby of a new table; `options` are what differs from the preset.

        Raises `HouseError` with what was wrong: ``unknown_game``, ``unknown_preset``, ``unknown_option``,
        ``bad_option``, ``bad_players``, ``bad_name``, ``unknown_temple``.
        """
        rules = self._game(game)
        if players not in rules.seatings:
            raise HouseError("bad_players", players=players, fewest=min(rules.seatings), most=max(rules.seatings))
        chosen = complete_options(rules, preset, options)
        title = clean_name(title)
        with self._lock:
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

    # Seats

    def sit(self, table_id: str, code: str, seat: Seat, name: str, token: str = "") -> str:
        """Give a free chair to a phone; returns the token that proves it, the same one where it held a chair already.

        Raises `HouseError` ``wrong_code``, ``unknown_seat``, ``seat_taken``, ``bad_name``.
        """
        return self._seat(table_id, code, {seat: name}, token)

    def share(self, table_id: str, code: str, names: Mapping[Seat, str], token: str = "") -> str:
        """Give every free chair to one phone that is passed round; returns its token."""
        with self._lock:
            free = [chair.seat for chair in self.table(table_id).chairs if not chair.taken]
            if not free:
                raise HouseError("table_full")
            return self._seat(table_id, code, {seat: names.get(seat, "") for seat in free}, token)

    def _seat(self, table_id: str, code: str, names: Mapping[Seat, str], token: str) -> str:
        with self._lock:
            table = self.table(table_id)
            if not hmac.compare_digest(table.code.encode(), normal_code(code).encode()):
                raise HouseError("wrong_code")
            if not token or not self.seats_held(table_id, token):
                token = self._entropy(16).hex()
            entries = []
            for seat, name in names.items():
                if table.chair(seat).taken:
                    raise HouseError("seat_taken", seat=seat)
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
            raise HouseError("not_seated")
        return HOUSE

    def begin(self, table_id: str, proof: str) -> Table:
        """Begin the game; chairs still empty can be taken later.

        `proof` is the token of any phone at the table, or the join code, which the table screen shows.
        """
        with self._lock:
            table = self.table(table_id)
            by = self._proved(table, proof)
            if table.phase != "lobby":
                raise HouseError("begun_already")
            return self._change(table, [(by, Move(BEGIN))])

    def away(self, table_id: str, token: str, seat: Seat, mode: str) -> Table:
        """Say what becomes of a seat whose player is away, one of `AWAY_MODES`, or with no mode that it is back.

        Anyone seated may. Raises `HouseError` ``not_seated``, ``unknown_seat``, ``unknown_mode``.
        """
        with self._lock:
            table = self.table(table_id)
            by = self._seated(table, token)[0]
            if mode not in (*AWAY_MODES, ""):
                raise HouseError("unknown_mode", mode=mode[:24])
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
                raise HouseError("not_over")
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

        Raises `HouseError` ``unknown_table``, ``bad_option``, or what the game refuses it with.
        """
        with self._lock:
            table = self.table(table_id)
            if table.options.get(key) == value:
                return table
            return self._change(table, [(HOUSE, Move(OPTION, (key, value)))])

    def draft(self, table_id: str) -> tuple[Fault, ...] | None:
        """Return what is wrong in the file that a table follows, or none where it follows no file."""
        return self._drafts.get(table_id)

    def set_draft(self, table_id: str, faults: Sequence[Fault]) -> None:
        """Say what is wrong in the file that a table follows; its pages show it until it is mended."""
        with self._lock:
            before, self._drafts[table_id] = self._drafts.get(table_id), tuple(faults)
            if before != self._drafts[table_id]:
                self._on_change(f"table:{table_id}")

    def _seated(self, table: Table, token: str) -> tuple[Seat, ...]:
        """Return the seats that a phone holds itself; raises `HouseError` ``not_seated`` where it holds none."""
        if own := _own(table, token):
            return own
        raise HouseError("not_seated")

    # Play

    def play(self, table_id: str, token: str, seat: Seat, move: Move, version: int, request: str) -> Played:
        """Make a seat's move, made against a version of the table, once for each request id.

        A post older than the last thing a person did is stale and changes nothing; tokens that fell since do
        not make it so. Raises `HouseError` ``unknown_table``, ``not_seated``.
        """
        if move.name.startswith("@"):
            return Played(self.table(table_id), False, Refusal("unknown_move", {"move": move.name[:24]}))
        return self._played(table_id, token, seat, move, version, request)

    def play_all(
        self, table_id: str, token: str, seat: Seat, moves: Sequence[Move], version: int, request: str
    ) -> Played:
        """Make several moves of a seat as one: all of them, or none where one is refused.

        Raises `HouseError` as `play` does, and ``bad_move`` for no move at all.
        """
        if not moves or any(move.name.startswith("@") for move in moves):
            raise HouseError("bad_move")
        with self._lock:
            table, own = self.table(table_id), self._seated(self.table(table_id), token)
            if seat not in self.seats_held(table_id, token):
                raise HouseError("not_your_seat", seat=seat[:24])
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
                raise HouseError("not_your_seat", seat=seat[:24])
            if request and request in table.requests:
                return Played(table, True)
            if version < table.basis:
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
                after = self._run(change, after)
            self._swap(after)
            return Played(after, True)

    def _run(self, change: Transaction, table: Table) -> Table:
        """Return the table after all that the app does by itself, entered in the same change."""
        for _ in range(AT_ONCE):
            due = table.automatic(self._below)
            if due is None:
                return table
            seat, move = due
            entry = table.entry(self._clock(), seat, move, hand=APP)
            after = table.extended(entry)
            if isinstance(after, Refusal):
                log.error("table %r: the app's %s for %s is refused: %s", table.title, move, seat, after)
                return table
            change.append(table.id, entry)
            table = after
        return table

    def entries(self, table_id: str) -> Sequence[Entry]:
        """Return a table's whole log; raises `HouseError` ``unknown_table``."""
        return self._store.entries(self.table(table_id).id)

    def _change(
        self, table: Table, moves: Sequence[tuple[Seat, Move]], *, keys: Mapping[Seat, str] | None = None
    ) -> Table:
        with self._store.transaction() as change:
            table = self._run(change, self._extended(change, table, moves))
            if keys is not None:
                change.set_keys(table.id, keys)
                table = table.with_keys(keys)
        self._swap(table)
        return table

    def _extended(self, change: Transaction, table: Table, moves: Iterable[tuple[Seat, Move]]) -> Table:
        now = self._clock()
        for by, move in moves:
            entry = table.entry(now, by, move)
            after = table.extended(entry)
            if isinstance(after, Refusal):
                raise HouseError(after.code, **after.facts)
            change.append(table.id, entry)
            table = after
        return table

    def _swap(self, *tables: Table) -> None:
        for table in tables:
            phase = self._tables[table.id].phase
            self._tables[table.id] = table
            self._on_change(f"table:{table.id}")
            if table.phase != phase:
                self._on_change("tables")

    # Temples

    def temples(self) -> tuple[Temple, ...]:
        """Return every temple that was ever heard of, by name."""
        return tuple(sorted(self._temples.values(), key=lambda temple: temple.name))

    def temple(self, name: str) -> Temple:
        """Return a temple; raises `HouseError` ``unknown_temple``."""
        try:
            return self._temples[name]
        except KeyError:
            raise HouseError("unknown_temple", temple=name[:32]) from None

    def attach(self, table_id: str, token: str, temple: str | None) -> Table:
        """Let a temple serve this table, or with none let its temple go; anyone seated may.

        A temple serves one table at a time: it leaves the table that it served.
        """
        with self._lock:
            self._seated(self.table(table_id), token)
            return self.serve(table_id, temple)

    def expect(self, name: str) -> Temple:
        """Return a temple by its name, entering it where it was never heard of."""
        with self._lock:
            if name not in self._temples:
                temple = Temple(wire.temple_name(name), reachable=self._reachable)
                with self._store.transaction() as change:
                    change.set_temple(temple.stored())
                self._put(temple)
            return self._temples[name]

    def serve(self, table_id: str, temple: str | None) -> Table:
        """Let a temple serve a table without asking who wants it."""
        with self._lock:
            table = self.table(table_id)
            if table.temple == temple:
                return table
            moves = [(table, temple or "")]
            temples = []
            if table.temple:
                temples.append(replace(self.temple(table.temple), table_id=None))
            if temple:
                arriving = self.temple(temple)
                temples.append(replace(arriving, table_id=table.id))
                if arriving.table_id in self._tables:
                    moves.insert(0, (self._tables[arriving.table_id], ""))
            with self._store.transaction() as change:
                tables = [self._extended(change, each, [(HOUSE, Move(SERVED, (name,)))]) for each, name in moves]
                for each in temples:
                    change.set_temple(each.stored())
            self._swap(*tables)
            self._put(*temples)
            return tables[-1]

    def heard(self, name: str, status: wire.Status) -> None:
        """Take in a temple's status."""
        with self._lock:
            before = self._temples.get(name)
            after = (before or Temple(name, reachable=self._reachable)).heard(status)
            if after.conflict and (before is None or after.conflict != before.conflict):
                log.warning("two counters call themselves %r: %s and %s", name, after.source, after.conflict)
            if before is None or after.stored() != before.stored():
                with self._store.transaction() as change:
                    change.set_temple(after.stored())
            self._put(after)

    def counts(self, name: str, count: wire.Count) -> None:
        """Take in what a temple's ledger holds in all: for people to compare, never an input to what is counted.

        Nobody is told: the tokens themselves come a moment later, and say it better.
        """
        self._counts[wire.temple_name(name)] = count

    def on_way(self, name: str) -> Mapping[wire.God, int]:
        """Return how many tokens a temple's ledger holds, by its last word, that have not arrived here."""
        temple, count = self.temple(name), self._counts.get(name)
        if count is None or count.source != temple.source or count.seq <= self._marks.get(count.source, Mark()).seq:
            return dict.fromkeys(wire.God, 0)
        arrived = self._store.arrived(count.source)
        return {god: max(0, total - arrived[god]) for god, total in count.totals.items()}

    def fallen(self, table_id: str) -> Sequence[KeptToken]:
        """Return the tokens that were kept for a table, in the order in which they fell."""
        return self._store.fallen(self.table(table_id).id)

    def reach(self, reachable: bool) -> None:
        """Take in whether the broker that carries the temples' messages can be reached."""
        with self._lock:
            self._reachable = reachable
            self._put(*(replace(temple, reachable=reachable) for temple in self._temples.values()))

    def _put(self, *temples: Temple) -> None:
        for temple in temples:
            before = self._temples.get(temple.name)
            self._temples[temple.name] = temple
            if temple != before:
                self._on_change(f"temple:{temple.name}")
                if temple.table_id in self._tables:
                    self._on_change(f"table:{temple.table_id}")

    def receive(self, arrivals: Sequence[tuple[str, wire.Token]]) -> list[Receipt]:
        """Keep tokens with everything they cause, in one change; returns what each source may be told afterwards.

        A token already kept changes nothing; one whose number another token has taken is held apart. When the
        store fails, its error is raised and nothing at all has happened.
        """
        with self._lock:
            batch = Batch(self._clock(), dict(self._tables), dict(self._temples))
            with self._store.transaction() as change:
                known: dict[str, dict[int, str]] = {}
                for source in {token.source for _, token in arrivals}:
                    seqs = sorted({token.seq for _, token in arrivals if token.source == source})
                    known[source] = change.token_ids(source, seqs)
                for name, token in arrivals:
                    ids = known[token.source]
                    if token.seq not in ids:
                        ids[token.seq] = token.token
                        batch.take(change, name, token)
                    elif ids[token.seq] != token.token:
                        batch.clash(name, token)
                change.keep(batch.kept)
                apart = {name: change.quarantine(clashing) for name, clashing in batch.clashing.items()}
                marks, receipts = self._receipts(arrivals, known)
                for receipt in receipts:
                    change.set_mark(receipt.source, receipt.temple, receipt.seq)
                for name, temple in batch.temples.items():
                    if name not in self._temples or temple.stored() != self._temples[name].stored():
                        change.set_temple(temple.stored())
            self._marks.update(marks)
            for name, held_apart in apart.items():
                if held_apart:
                    log.warning("temple %r: tokens held apart, as their numbers were taken: %d", name, held_apart)
            self._swap(*(batch.tables[table_id] for table_id in sorted(batch.changed)))
            for name, temple in batch.temples.items():
                kept = [each for each in batch.kept if each.temple == name]
                self._put(temple.counted(kept, apart.get(name, 0)))
            return receipts

    def _receipts(
        self, arrivals: Iterable[tuple[str, wire.Token]], known: Mapping[str, Mapping[int, str]]
    ) -> tuple[dict[str, Mark], list[Receipt]]:
        marks = {source: self._marks.get(source, Mark()).with_kept(ids) for source, ids in known.items()}
        temples = {token.source: name for name, token in arrivals}
        receipts = [Receipt(temples[source], source, mark.seq, bool(mark.ahead)) for source, mark in marks.items()]
        return marks, receipts


def _own(table: Table, token: str) -> tuple[Seat, ...]:
    mine = digest(token).encode()
    return tuple(seat for seat in table.charter.seats if hmac.compare_digest(table.keys.get(seat, "").encode(), mine))

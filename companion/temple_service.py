"""Every temple of this companion, and the tables they serve: what a token causes is durable with it, or not at all.

It seats nobody and makes no move but a token's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from companion.arrivals import Batch
from companion.games.kernel import Game, Move
from companion.keeping import KeptToken, Store
from companion.table import HOUSE, SERVED, HouseError, Table
from companion.tables import Tables
from companion.temples import RECENT, Mark, Receipt, Temple
from controller import wire

log = logging.getLogger(__name__)


class TempleService(Tables):
    """All temples beside all tables."""

    def __init__(
        self,
        store: Store,
        games: Mapping[str, Game[Any]],
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        on_change: Callable[[str], None] = lambda topic: None,
    ) -> None:
        """Take over what the store holds, as `Tables` does."""
        super().__init__(store, games, clock, entropy, on_change)
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
        self._marks = {source: Mark(*record) for source, record in store.marks().items()}

    def temples(self) -> tuple[Temple, ...]:
        """Return every temple that was ever heard of, by name."""
        return tuple(sorted(self._temples.values(), key=lambda temple: temple.name))

    def temple(self, name: str) -> Temple:
        """Return a temple; raises `HouseError` ``unknown_temple``."""
        try:
            return self._temples[name]
        except KeyError:
            raise HouseError("unknown_temple", temple=name[:32]) from None

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
        on_way = dict.fromkeys(wire.God, 0)
        if count is None or count.source != temple.source:
            return on_way
        mark = self.mark(count.source)
        missing = count.seq - mark.seq - sum(seq <= count.seq for seq in mark.ahead)
        if missing > 0:
            arrived = self._store.arrived(count.source)
            for god, total in count.totals.items():
                # The totals of a temple's life may hold tokens of its earlier ledgers; the numbers do not.
                on_way[god] = min(max(0, total - arrived[god]), missing - sum(on_way.values()))
        return on_way

    def mark(self, source: str) -> Mark:
        """Return how far a source's tokens are stored."""
        return self._marks.get(source, Mark())

    def fallen(self, table_id: str) -> Sequence[KeptToken]:
        """Return the tokens that were kept for a table, ledger by ledger, each in the order of its numbers."""
        return self._store.fallen(self.table(table_id).id)

    def reach(self, reachable: bool) -> None:
        """Take in whether the broker that carries the temples' messages can be reached."""
        with self._lock:
            self._reachable = reachable
            self._put(*(replace(temple, reachable=reachable) for temple in self._temples.values()))

    def _put(self, *temples: Temple) -> None:
        for temple in temples:
            before = self._temples.get(temple.name)
            if temple.health() != (before or Temple(temple.name)).health():
                heard_before = before is not None and before.status is not None
                temple = replace(temple, since=self._clock(), exact=heard_before)
            self._temples[temple.name] = temple
            if temple != before:
                self._on_change(f"temple:{temple.name}")
                if temple.table_id in self._tables:
                    self._on_change(f"table:{temple.table_id}")

    def receive(self, arrivals: Sequence[tuple[str, wire.Token]]) -> list[Receipt]:
        """Keep tokens with everything they cause, in one change; returns what each source may be told afterwards.

        A token already kept changes nothing. One that is stored under another number, of another source perhaps, is
        known by its id: its new number is stored, and it counts nowhere a second time. One whose number another
        token has taken is held apart. When the store fails, its error is raised and nothing at all has happened.
        """
        with self._lock:
            batch = Batch(self._clock(), dict(self._tables), dict(self._temples))
            with self._store.transaction() as change:
                known: dict[str, dict[int, str]] = {}
                for source in {token.source for _, token in arrivals}:
                    seqs = sorted({token.seq for _, token in arrivals if token.source == source})
                    known[source] = change.token_ids(source, seqs)
                new = [token.token for _, token in arrivals if known[token.source].get(token.seq) != token.token]
                stored = change.stored(new) if new else set()
                for name, token in arrivals:
                    ids = known[token.source]
                    if token.seq in ids:
                        if ids[token.seq] != token.token:
                            batch.clash(name, token)
                        continue
                    ids[token.seq] = token.token
                    if token.token in stored:
                        batch.take_again(name, token)
                    else:
                        stored.add(token.token)
                        batch.take(change, name, token)
                change.keep(batch.kept)
                change.keep_numbers(batch.resent)
                apart = {name: change.quarantine(held) for name, held in batch.held_apart(stored).items()}
                marks, receipts = self._receipts(arrivals, known)
                for receipt in receipts:
                    change.set_mark(receipt.source, receipt.temple, receipt.seq)
                for name, temple in batch.temples.items():
                    if name not in self._temples or temple.stored() != self._temples[name].stored():
                        change.set_temple(temple.stored())
            self._marks.update(marks)
            if batch.resent:
                log.info("tokens sent again under a new source, known by their ids: %d", len(batch.resent))
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
        marks = {source: self.mark(source).with_stored(ids) for source, ids in known.items()}
        temples = {token.source: name for name, token in arrivals}
        receipts = [
            Receipt(temples[source], source, mark.seq, mark.token, bool(mark.ahead)) for source, mark in marks.items()
        ]
        return marks, receipts

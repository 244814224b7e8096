"""Every temple of this companion, and the tables they serve: what a token causes is durable with it, or not at all.

It seats nobody and makes no move but a token's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from companion.games.kernel import Game, Move
from companion.model.ports import COUNTED, OldTokens, Store, StoredToken, Transaction
from companion.model.table import HOUSE, SERVED, ServiceError, Table
from companion.model.temples import FEW, NEW_LEDGER, RECENT, Mark, Receipt, Temple
from companion.service.arrivals import Batch
from companion.service.tables import Tables
from templo import contract
from templo.bounded_log import BoundedLog

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
        self._sources = dict(store.sources())
        self._old = {old.source: old for old in store.old()}
        self._unsure: set[str] = set()
        """Sources that were met by tokens sent again, before any count said how many they hold."""
        self._doubts = BoundedLog(log, lambda: clock().timestamp())
        self._temples = {
            record.name: Temple(
                record.name,
                record.source,
                record.table_id,
                recent=store.recent(record.name, RECENT),
                totals=store.totals(record.name),
                quarantined=store.quarantined(record.name),
                old=self._old.get(record.source or ""),
            )
            for record in store.temples()
        }
        self._counts: dict[str, contract.Count] = {}
        self._marks = {source: Mark(*record) for source, record in store.marks().items()}

    def temples(self) -> tuple[Temple, ...]:
        """Return every temple that was ever heard of, by name."""
        return tuple(sorted(self._temples.values(), key=lambda temple: temple.name))

    def temple(self, name: str) -> Temple:
        """Return a temple; raises `ServiceError` ``unknown_temple``."""
        try:
            return self._temples[name]
        except KeyError:
            raise ServiceError("unknown_temple", temple=name[:32]) from None

    def is_known(self, temple: str, source: str = "") -> bool:
        """Return whether a temple is in the store, and a ledger's tokens too where one is given."""
        return temple in self._temples and (not source or source in self._marks)

    def speaks_for(self, temple: str, source: str) -> bool:
        """Return whether a ledger is the one that speaks for a temple now."""
        return temple in self._temples and self._temples[temple].source == source

    def temple_count(self) -> int:
        """Return how many temples are in the store."""
        return len(self._temples)

    def expect(self, name: str) -> Temple:
        """Return a temple by its name, entering it where it was never heard of."""
        with self._lock:
            if name not in self._temples:
                temple = Temple(contract.temple_name(name), reachable=self._reachable)
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

    def heard(self, name: str, status: contract.Status) -> None:
        """Take in a temple's status."""
        with self._lock:
            before = self._temples.get(name)
            after = (before or Temple(name, reachable=self._reachable)).heard(status)
            after = replace(after, old=self._old.get(after.source or ""))
            if after.conflict and (before is None or after.conflict != before.conflict):
                self._doubts.warning("two counters call themselves %r: %s and %s", name, after.source, after.conflict)
            if before is None or after.stored() != before.stored():
                with self._store.transaction() as change:
                    change.set_temple(after.stored())
            self._put(after)
            self._meet(after)

    def counts(self, name: str, count: contract.Count) -> None:
        """Take in what a temple's ledger holds in all: for people to compare, never an input to what is counted.

        Nobody is told: the tokens themselves come a moment later, and say it better. The first count of a source says
        which of its tokens are old.
        """
        with self._lock:
            self._counts[contract.temple_name(name)] = count
            if (temple := self._temples.get(name)) is not None:
                try:
                    self._meet(temple)
                except ServiceError as error:
                    log.error("cannot store that %r was met; its next token does: %s", name, error.facts["reason"])

    def _meet(self, temple: Temple) -> None:
        """Enter which tokens of a temple's source are old, as soon as its count is known."""
        source, count = temple.source, self._counts.get(temple.name)
        if source is None or count is None or count.source != source:
            return
        if source in self._marks and source not in self._unsure:
            return
        with self._store.transaction() as change:
            if source not in self._marks:
                change.set_mark(source, temple.name, 0)
            old = self._find_old(change, temple.name, source)
        self._marks.setdefault(source, Mark())
        self._sources[source] = temple.name
        self._unsure.discard(source)
        if old:
            self._old[source] = old
            self._put(replace(temple, old=old))

    def _find_old(self, change: Transaction, name: str, source: str, live: int | None = None) -> OldTokens | None:
        """Return the old tokens of a source that is met for the first time, entering them; none for a `FEW`.

        `live` is the number of its first token that is news: those below it are old where no count has come yet.
        """
        count, temple = self._counts.get(name), self._temples.get(name)
        through = count.seq if count is not None and count.source == source else 0
        if live is not None:
            through = min(through or live - 1, live - 1)
        if through <= FEW or (temple is not None and temple.source not in (None, source)):
            return None
        if any(known == name for other, known in self._sources.items() if other != source):
            # A temple that this companion knows. Its new source is old only if another ledger was put into it.
            status = temple.status if temple else None
            if status is None or status.source != source or any(each.code in NEW_LEDGER for each in status.notices):
                return None
        old = OldTokens(source, name, through, self._clock())
        change.set_old(old)
        log.info("temple %r: %d tokens fell before this companion knew it; they wait for a person", name, through)
        return old

    def on_way(self, name: str) -> Mapping[contract.God, int]:
        """Return how many tokens a temple's ledger holds, by its last word, that have not arrived here."""
        temple, count = self.temple(name), self._counts.get(name)
        on_way = dict.fromkeys(contract.God, 0)
        if count is None or count.source != temple.source:
            return on_way
        mark, old = self.mark(count.source), self._old.get(count.source)
        # Of old tokens that do not count, none is waited for.
        below = max(mark.seq, old.through) if old and old.choice != COUNTED else mark.seq
        missing = count.seq - below - sum(below < seq <= count.seq for seq in mark.ahead)
        if missing > 0:
            arrived = self._store.arrived(count.source)
            for god, total in count.totals.items():
                # The totals of a temple's life may hold tokens of its earlier ledgers; the numbers do not.
                on_way[god] = min(max(0, total - arrived[god]), missing - sum(on_way.values()))
        return on_way

    def mark(self, source: str) -> Mark:
        """Return how far a source's tokens are stored."""
        return self._marks.get(source, Mark())

    def fallen(self, table_id: str) -> Sequence[StoredToken]:
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

    def receive(self, arrivals: Sequence[tuple[str, contract.Token]]) -> list[Receipt]:
        """Keep tokens with everything they cause, in one change; returns what each source may be told afterwards.

        A token already kept changes nothing. One that is stored under another number, of another source perhaps, is
        known by its id: its new number is stored, and it counts nowhere a second time. One whose number another
        token has taken is held apart; where it comes again under a number of its own, it counts as any other unless
        a person has decided. When the store fails, its error is raised and nothing at all has happened.
        """
        with self._lock:
            batch = Batch(self._clock(), dict(self._tables), dict(self._temples))
            with self._store.transaction() as change:
                known: dict[str, dict[int, str]] = {}
                found = self._meet_sources(change, arrivals)
                old = {**self._old, **found}
                for source in {token.source for _, token in arrivals}:
                    seqs = sorted({token.seq for _, token in arrivals if token.source == source})
                    known[source] = change.token_ids(source, seqs)
                new = [token.token for _, token in arrivals if known[token.source].get(token.seq) != token.token]
                stored = change.stored(new) if new else set()
                held = change.held(new) if new else {}
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
                        batch.take(change, name, token, old.get(token.source), held.get(token.token))
                change.keep(batch.kept)
                change.keep_numbers(batch.resent)
                change.decide(batch.arrived)
                apart = {name: change.quarantine(clashing) for name, clashing in batch.held_apart(stored).items()}
                temples = {token.source: name for name, token in arrivals}
                marks, receipts = self._receipts(temples, known)
                for receipt in receipts:
                    change.set_mark(receipt.source, receipt.temple, receipt.seq)
                for name, temple in batch.temples.items():
                    if name not in self._temples or temple.stored() != self._temples[name].stored():
                        change.set_temple(temple.stored())
            news = {token.source for _, token in arrivals if not token.replayed}
            self._unsure.update(
                source
                for source in marks.keys() - self._marks.keys() - news
                if not self._counted_by(temples[source], source)
            )
            self._marks.update(marks)
            self._old.update(found)
            self._sources.update(temples)
            if batch.resent:
                log.info("tokens sent again under a new source, known by their ids: %d", len(batch.resent))
            for name, held_apart in apart.items():
                if held_apart:
                    self._doubts.warning(
                        "temple %r: tokens held apart, as their numbers were taken: %d", name, held_apart
                    )
            self._swap(*(batch.tables[table_id] for table_id in sorted(batch.changed)))
            for name, temple in batch.temples.items():
                kept = [each for each in batch.kept if each.temple == name]
                temple = replace(temple, old=self._old.get(temple.source or ""))
                self._put(temple.counted(kept, apart.get(name, 0)))
            return receipts

    def _meet_sources(
        self, change: Transaction, arrivals: Iterable[tuple[str, contract.Token]]
    ) -> dict[str, OldTokens]:
        """Return the old tokens of the sources that are met for the first time by these tokens."""
        found: dict[str, OldTokens] = {}
        new = {token.source: name for name, token in arrivals if token.source not in self._marks}
        for source, name in new.items():
            live = [token.seq for _, token in arrivals if token.source == source and not token.replayed]
            if old := self._find_old(change, name, source, min(live, default=None)):
                found[source] = old
        return found

    def _counted_by(self, name: str, source: str) -> bool:
        count = self._counts.get(name)
        return source in self._old or (count is not None and count.source == source)

    def _receipts(
        self, temples: Mapping[str, str], known: Mapping[str, Mapping[int, str]]
    ) -> tuple[dict[str, Mark], list[Receipt]]:
        marks = {source: self.mark(source).with_stored(ids) for source, ids in known.items()}
        receipts = [
            Receipt(temples[source], source, mark.seq, mark.token, bool(mark.ahead)) for source, mark in marks.items()
        ]
        return marks, receipts

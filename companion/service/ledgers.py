"""Compares what the temples' ledgers report with what is stored of them here."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from companion.model.ports import COUNTED, OldTokens
from companion.model.table import ServiceError
from companion.model.temples import FEW, NEW_LEDGER, Mark, Source, Temple
from companion.service.change import Change
from companion.service.workspace import Workspace
from templo import contract

log = logging.getLogger(__name__)

MOST_APART = 500
"""How many tokens that are held apart are looked at; a temple sends 20 before it is acknowledged."""

MOST_NAMED = 20
"""How many of their numbers are named to a temple at a time."""


class Queue(NamedTuple):
    """A temple's ledger compared with the store, as token numbers. `recorded` is None before its first count."""

    recorded: int | None
    acknowledged: int

    @property
    def waiting(self) -> int:
        """How many wait in the temple, according to its last report."""
        return max(0, (self.recorded or 0) - self.acknowledged)


class Ledgers:
    """The counts of the temples' ledgers. They are only compared, and never change a score."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._counts: dict[str, contract.Count] = {}

    def receive_count(self, name: str, count: contract.Count) -> None:
        """Process a temple's count. The first count of a source decides which of its tokens are old.

        It updates no table's page: the tokens themselves arrive a moment later.
        """
        is_news = self._counts.get(name) != count
        self._counts[contract.temple_name(name)] = count
        if self._workspace.temples.seen(name) is not None:
            try:
                self._workspace.run(lambda change: self.meet(change, change.temple(name)), temples=[name], live=True)
            except ServiceError as error:
                log.error("cannot store that %r was met; its next token does: %s", name, error.facts["reason"])
        if is_news:
            self._workspace.on_change(f"temple:{name}")

    def meet(self, change: Change, temple: Temple) -> None:
        """Store which tokens of a temple's source are old, as soon as its count is known."""
        source, count = temple.source, self._counts.get(temple.name)
        if source is None or count is None or count.source != source:
            return
        known = change.source(source) or Source(source, temple.name, unsure=True)
        if not known.unsure:
            return
        known = self.judge(temple, replace(known, temple=temple.name))
        change.put_source(known)
        if known.old:
            change.put(replace(temple, old=known.old))

    def judge(self, temple: Temple | None, new: Source, tokens: Sequence[contract.Token] = ()) -> Source:
        """Return a new source, of which `tokens` have just arrived, with the old tokens that it brings.

        Where it is the first source under its temple's name, none is old if only a `FEW` are not stored yet. Where
        another is known, it is a stranger's whatever its size, unless the temple reports that it has begun a new
        ledger. A second counter's source stays unsure: its tokens wait anyway, and what is old is known when it takes
        over.
        """
        if temple is not None and temple.source not in (None, new.id):
            return new
        count = self._counts.get(new.temple)
        counted = count.seq if count is not None and count.source == new.id else None
        live = min((token.seq for token in tokens if not token.replayed), default=None)
        # Those below its first new token are old if no count has come yet.
        through = counted or 0 if live is None else min(counted or live - 1, live - 1)
        least = FEW + 1
        if any(each.temple == new.temple for each in self._workspace.temples.sources() if each.id != new.id):
            status = temple.status if temple else None
            if status and status.source == new.id and any(each.code in NEW_LEDGER for each in status.notices):
                return replace(new, unsure=False)
            if counted is None and live is None:
                through = max((token.seq for token in tokens), default=0)
            least = 1
        old = new.old
        if through - new.mark.seq >= least and (old is None or old.through < through):
            log.info("temple %r: %d tokens fell before this companion knew it; they wait", new.temple, through)
            old = replace(old or OldTokens(new.id, new.temple, 0, self._workspace.clock()), through=through)
        return replace(new, old=old, unsure=counted is None and live is None)

    def mark(self, source: str | None) -> Mark:
        """Return how far a source's tokens are stored."""
        known = self._workspace.temples.source(source)
        return known.mark if known else Mark()

    def taken(self, name: str) -> list[tuple[str, int, str]]:
        """Return the numbers under which one token is stored and another of the same temple is held apart, undecided.

        Each is a source, a number and the id of the stored token: a temple that has another there has a copy of a
        ledger. Those of its present source come first. None is above its source's mark: who has that very token would
        take all below it for stored.
        """
        temple = self._workspace.temples.get(name)
        if not temple.quarantined:
            return []
        held = [each.token for each in self._workspace.store.held(name, MOST_APART)]
        stored = self._workspace.store.known(held).ids
        taken = {
            (each.source, each.seq, stored[each.source][each.seq])
            for each in held
            if each.seq <= self.mark(each.source).seq and each.seq in stored[each.source]
        }
        return sorted(taken, key=lambda each: (each[0] != temple.source, *each))[:MOST_NAMED]

    def queue(self, name: str) -> Queue:
        """Return how far a temple's ledger has counted, and how far its tokens are stored here."""
        temple, count = self._workspace.temples.get(name), self._counts.get(name)
        recorded = count.seq if count is not None and count.source == temple.source else None
        return Queue(recorded, self.mark(temple.source).seq)

    def on_way(self, name: str) -> Mapping[contract.God, int]:
        """Return how many tokens of a temple's ledger have not arrived here, according to its last report."""
        temple, count = self._workspace.temples.get(name), self._counts.get(name)
        on_way = dict.fromkeys(contract.God, 0)
        if count is None or count.source != temple.source:
            return on_way
        mark, old = self.mark(count.source), self._workspace.temples.old_of(count.source)
        # Old tokens that do not count are not missing.
        below = max(mark.seq, old.through) if old and old.choice != COUNTED else mark.seq
        missing = count.seq - below - sum(below < seq <= count.seq for seq in mark.ahead)
        if missing > 0:
            arrived = self._workspace.store.source_totals(count.source)
            for god, total in count.totals.items():
                # The totals of a temple's life may hold tokens of its earlier ledgers; the numbers do not.
                on_way[god] = min(max(0, total - arrived[god]), missing - sum(on_way.values()))
        return on_way

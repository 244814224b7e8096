"""The temples a companion has heard of: how each is, what it counted, and which of its tokens are kept.

Values and pure functions only. What is durable about a temple goes through the port of `table`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from companion.keeping import KeptToken, TempleRecord
from controller import wire

RECENT = 20
"""How many of its last tokens a temple's page shows."""

_ALIVE = (wire.State.READY, wire.State.ALERT)
_BEAM_FAULTS = (wire.Beam.JAMMED, wire.Beam.DARK, wire.Beam.FLICKER)


class Health(NamedTuple):
    """How a temple is, as a code with words in the texts, and the slot that it is about, if one."""

    code: str
    god: str = ""

    @property
    def well(self) -> bool:
        """Whether tokens are counted without anybody doing anything."""
        return self.code == "ready"


@dataclass(frozen=True, slots=True)
class Temple:
    """One temple at one moment."""

    name: str
    source: str | None = None
    """The ledger that speaks for this temple."""
    table_id: str | None = None
    status: wire.Status | None = None
    conflict: str | None = None
    """A second ledger that speaks under the same name; its tokens wait for a person."""
    reachable: bool = True
    """Whether the broker that carries its messages can be reached."""
    recent: tuple[KeptToken, ...] = ()
    """Its last tokens, newest first."""
    totals: Mapping[wire.God, int] = field(default_factory=lambda: dict.fromkeys(wire.God, 0))
    """All tokens ever kept from it, tests left out."""
    quarantined: int = 0
    """Tokens held apart because others had taken their numbers."""

    def stored(self) -> TempleRecord:
        """Return what is durable about it."""
        return TempleRecord(self.name, self.source, self.table_id)

    @property
    def alive(self) -> bool:
        """Whether its own ledger was last heard to be at work."""
        return self.status is not None and self.status.source == self.source and self.status.state in _ALIVE

    def health(self) -> Health:
        """Return the one thing that most needs somebody's hand, or ``ready``."""
        if not self.reachable:
            return Health("no_broker")
        if self.status is None:
            return Health("never")
        if self.status.state in (wire.State.LOST, wire.State.STOPPED):
            return Health(str(self.status.state))
        if self.status.trouble:
            return Health(str(self.status.trouble))
        for fault in (*_BEAM_FAULTS, wire.Beam.UNPROVED):
            for god in wire.God:
                if self.status.beams[god] == fault:
                    return Health(str(fault), str(god))
        return Health("conflict") if self.conflict else Health("ready")

    def heard(self, status: wire.Status) -> Temple:
        """Return the temple after a status was heard under its name.

        The first ledger heard speaks for the temple. Another takes over when the first has stopped or was lost;
        while both are at work the second is a conflict.
        """
        if status.source is None or status.source == self.source:
            after = replace(self, status=status)
            if self.conflict and not after.alive:
                return replace(after, source=self.conflict, conflict=None)
            return after
        if self.source is None or not self.alive:
            if status.state not in _ALIVE and self.source is not None:
                return self
            conflict = None if self.conflict == status.source else self.conflict
            return replace(self, source=status.source, status=status, conflict=conflict)
        return replace(self, conflict=status.source if status.state in _ALIVE else None)

    def counted(self, tokens: Iterable[KeptToken], quarantined: int) -> Temple:
        """Return the temple after these tokens of it were kept, oldest first, and so many held apart."""
        new = list(tokens)
        totals = dict(self.totals)
        for kept in new:
            if wire.Flag.TEST not in kept.token.flags:
                totals[kept.token.god] += 1
        recent = (*reversed(new[-RECENT:]), *self.recent)[:RECENT]
        return replace(self, recent=recent, totals=totals, quarantined=self.quarantined + quarantined)


@dataclass(frozen=True, slots=True)
class Mark:
    """Which numbers of one source are kept: all up to `seq`, and those in `ahead`."""

    seq: int = 0
    ahead: frozenset[int] = frozenset()

    def with_kept(self, seqs: Iterable[int]) -> Mark:
        """Return the mark after these numbers were kept. Law: nothing is missing at or below `seq`."""
        ahead = set(self.ahead)
        ahead.update(seq for seq in seqs if seq > self.seq)
        mark = self.seq
        while mark + 1 in ahead:
            mark += 1
            ahead.remove(mark)
        return Mark(mark, frozenset(ahead))


class Receipt(NamedTuple):
    """What a source may be told once its tokens are durable: all up to `seq` is kept; `gap` says some are missing."""

    temple: str
    source: str
    seq: int
    gap: bool

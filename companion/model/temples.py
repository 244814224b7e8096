"""The temples that a companion knows: the condition of each, its counts, and which of its tokens are stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from companion.model.missing import Trouble
from companion.model.ports import COUNTED, HISTORY, OldTokens, StoredToken, TempleRecord
from companion.model.requests import TempleRequest
from templo import contract, lake
from templo.shrines import LEFT_TO_RIGHT

RECENT = 120
"""How many of a temple's last tokens are in memory, for the plot of widths."""

MINUTE = timedelta(minutes=1)

SILENT = timedelta(seconds=100)
"""A temple that runs repeats its status every half minute: one that was silent for longer while another has not been,
no longer runs, although nobody said so.
"""
_MOST_IN_A_MINUTE = 6000

MOST_BY_HAND = 60
"""More tokens than this in a minute are a question to whoever is on turn: do the beams see more than hands give?

It is one a second, kept up for a whole minute: almost five full weeks of 13, and nearly a quarter of the 260 that an
age takes. A card of a god costs 7. Of 114 whole turns in which app players gave tokens, 6 gave more.
"""

FEW = 100
"""Up to this many tokens from before a companion knew their temple count as late ones; more are `OldTokens`.

A few fell while a table was set up, and its players know whose they were. More are from other evenings, and no
running table should have to sort them out. Under a name for which another ledger is known there is no such allowance.
"""

NEW_LEDGER = frozenset({"ledger_restored", "backup_restored", "ledger_cloned", "ledger_damaged", "ledger_missing"})
"""Notices of a temple that has begun a new source by itself: the tokens that it carried over are not old."""

_ALIVE = (contract.State.READY, contract.State.ALERT)
BEAM_FAULTS = (contract.Beam.JAMMED, contract.Beam.DARK, contract.Beam.FLICKER)


class Health(NamedTuple):
    """The health of a temple: a code with a text, and the slot that it is about, if any."""

    code: str
    god: str = ""

    @property
    def well(self) -> bool:
        """Whether tokens are counted without anybody's help."""
        return self.code == "ready"


class Temple(Struct, frozen=True):
    """One temple at one moment."""

    name: str
    source: str | None = None
    """The ledger whose tokens count as this temple's."""
    table_id: str | None = None
    heaps: Mapping[contract.God, int] = field(default_factory=lambda: dict.fromkeys(contract.God, 0))
    """How many tokens fell on each side of its lake since somebody levelled it, or a game began with an empty one."""
    token: str = ""
    """What is played with, by its owner: a kind of `lake.KINDS`, `lake.DEEP`, or empty for what calibration saw."""
    status: contract.Status | None = None
    conflict: contract.Status | None = None
    """The last status of a second ledger under the same name, while both run; its tokens wait for a person."""
    silent_since: datetime | None = None
    """When a second ledger first reported after its own had; None while none has."""
    reachable: bool = True
    """Whether the broker that carries its messages can be reached."""
    recent: tuple[StoredToken, ...] = ()
    """Its last tokens, newest first, by `StoredToken.arrival`."""
    totals: Mapping[contract.God, int] = field(default_factory=lambda: dict.fromkeys(contract.God, 0))
    """How many tokens are stored from it, without tests."""
    quarantined: int = 0
    """How many tokens are held apart, because others have their numbers, and undecided."""
    old: OldTokens | None = None
    """Its tokens from before this companion knew it, where they are not just a `FEW`."""
    notices: tuple[contract.Notice, ...] = ()
    """The notices about its ledger in its last status while it was running."""
    since: datetime | None = None
    """Since when it has been in this state; `exact` says whether the change itself was reported."""
    exact: bool = False
    findings: contract.Findings | None = None
    """What it last found wrong with its beams."""
    noise: contract.Noise | None = None
    falls: tuple[datetime, ...] = ()
    """When its tokens of the last minute arrived, without tests and replayed ones."""
    request: TempleRequest | None = None
    """What was last requested of it."""
    trouble: Trouble | None = None
    """Why missing tokens that were requested do not arrive."""

    def stored(self) -> TempleRecord:
        """Return the part of it that is stored."""
        return TempleRecord(
            self.name,
            self.source,
            self.table_id,
            self.token,
            self.heaps[contract.God.HUITZILOPOCHTLI],
            self.heaps[contract.God.TLALOC],
        )

    @property
    def rush(self) -> int:
        """How many of its tokens arrived within the last minute, if they are more than hands give; otherwise 0."""
        return len(self.falls) if len(self.falls) > MOST_BY_HAND else 0

    @property
    def heap(self) -> int | None:
        """How many tokens on one side of its lake call for a hand; None if none do, or nobody knows their kind."""
        return lake.heap_of(self.token, self.findings.limits.get("band_ms") if self.findings else None)

    @property
    def to_level(self) -> tuple[contract.God, ...]:
        """The gods whose heap calls for a hand, as their shrines stand.

        >>> from templo.contract import God
        >>> Temple("attic", heaps={God.TLALOC: 900, God.HUITZILOPOCHTLI: 3}, token="skull").to_level
        (<God.TLALOC: 'tlaloc'>,)
        """
        heap = self.heap
        return tuple(god for god in map(contract.God, LEFT_TO_RIGHT) if heap and self.heaps[god] >= heap)

    def levelled(self) -> Temple:
        """Return the temple after somebody levelled its lake, or emptied it."""
        return replace(self, heaps=dict.fromkeys(contract.God, 0))

    @property
    def undecided(self) -> OldTokens | None:
        """Its old tokens, while nobody has decided about them."""
        return self.old if self.old and not self.old.choice else None

    @property
    def alive(self) -> bool:
        """Whether it was running with its own ledger, according to its last status."""
        return self.status is not None and self.status.source == self.source and self.status.state in _ALIVE

    @property
    def diagnosis(self) -> contract.Findings | None:
        """What it finds wrong with its beams, if the present session has published it."""
        if self.findings is None or self.status is None or not self.alive or not self.reachable:
            return None
        return self.findings if self.findings.session == self.status.session else None

    def health(self) -> Health:
        """Return the problem that most needs attention, or ``ready``."""
        if not self.reachable:
            return Health("no_broker")
        if self.status is None:
            return Health("never")
        if self.status.state in (contract.State.LOST, contract.State.STOPPED):
            return Health(str(self.status.state))
        if self.status.trouble:
            return Health(str(self.status.trouble))
        for fault in (*BEAM_FAULTS, contract.Beam.UNPROVED):
            for god in contract.God:
                if self.status.beams[god] == fault:
                    return Health(str(fault), str(god))
        if self.conflict:
            return Health("conflict")
        return Health(self.trouble.code) if self.trouble else Health("ready")

    def with_status(self, status: contract.Status, now: datetime) -> Temple:
        """Return the temple after a status under its name.

        The first ledger is the temple's own. Another replaces it if the first has stopped, was lost or has long been
        silent, or if the same session has begun it; while both are running the second is a conflict. The number of
        its publication is left out: a status that is published again is no change.
        """
        status = dataclasses.replace(status, publication=None)
        if status.source is None or status.source == self.source:
            notices = status.notices if status.state in _ALIVE else self.notices
            after = replace(self, status=status, notices=notices, silent_since=None)
            return after._with_ledger_of(self.conflict) if self.conflict and not after.alive else after
        silent_since = self.silent_since or now
        if self.source is None or not self.alive or self.begins_anew(status) or now - silent_since > SILENT:
            if status.state not in _ALIVE and self.source is not None:
                return self
            return self._with_ledger_of(status)
        return replace(self, conflict=status if status.state in _ALIVE else None, silent_since=silent_since)

    def _with_ledger_of(self, status: contract.Status) -> Temple:
        conflict = self.conflict if self.conflict and self.conflict.source != status.source else None
        return replace(
            self,
            source=status.source,
            status=status,
            conflict=conflict,
            silent_since=None,
            notices=status.notices,
            old=None,
        )

    def begins_anew(self, status: contract.Status) -> bool:
        """Return whether the session of the last status has begun a new source."""
        return self.status is not None and self.status.session == status.session and status.state in _ALIVE

    def counted(self, tokens: Iterable[StoredToken], quarantined: int) -> Temple:
        """Return the temple after these tokens of it were stored, oldest first, and some more were held apart."""
        new = list(tokens)
        totals = dict(self.totals)
        for stored in new:
            left_out = self._is_old(stored) and self.old and self.old.choice not in (HISTORY, COUNTED)
            if contract.Flag.TEST not in stored.token.flags and not left_out:
                totals[stored.token.god] += 1
        new = [stored for stored in new if not self._is_old(stored)]
        heaps = dict(self.heaps)
        for stored in new:
            heaps[stored.token.god] += stored.fell
        recent = tuple(sorted((*self.recent, *new), key=StoredToken.arrival, reverse=True)[:RECENT])
        falls = self.falls
        if news := [each for each in new if _is_news(each)]:
            falls = _last_minute((*falls, *(each.received_at for each in news)), news[-1].received_at)
        return replace(
            self,
            recent=recent,
            totals=totals,
            heaps=heaps,
            quarantined=self.quarantined + quarantined,
            falls=falls,
            request=self.request and self.request.saw(new),
        )

    def _is_old(self, stored: StoredToken) -> bool:
        return self.old is not None and self.old.holds(stored.token)

    def read_on(self, stored: Temple, now: datetime) -> Temple:
        """Return the temple after another companion has changed what is durable about it."""
        known = {each.token.token for each in self.recent}
        new = [each for each in reversed(stored.recent) if each.token.token not in known]
        falls = [each.received_at for each in reversed(stored.recent) if _is_news(each)]
        return replace(
            self,
            source=stored.source,
            table_id=stored.table_id,
            heaps=stored.heaps,
            token=stored.token,
            recent=stored.recent,
            totals=stored.totals,
            quarantined=stored.quarantined,
            old=stored.old,
            falls=_last_minute(tuple(falls), now),
            request=self.request and self.request.saw(new),
        )

    def timed(self, now: datetime) -> Temple:
        """Return the temple as of now, if nothing but time has passed."""
        return replace(self, falls=_last_minute(self.falls, now), request=self.request and self.request.timed(now))


def _is_news(stored: StoredToken) -> bool:
    return contract.Flag.TEST not in stored.token.flags and not stored.token.replayed


def _last_minute(falls: tuple[datetime, ...], now: datetime) -> tuple[datetime, ...]:
    """Return the times that are at most a minute old, at most a bounded number of them."""
    first = 0
    while first < len(falls) and falls[first] <= now - MINUTE:
        first += 1
    return falls[first:][-_MOST_IN_A_MINUTE:] if first or len(falls) > _MOST_IN_A_MINUTE else falls


class Mark(Struct, frozen=True):
    """Which numbers of one source are stored: all up to `seq`, and those in `ahead`, each with its token's id."""

    seq: int = 0
    token: str = ""
    """The id of the token stored as `seq`; empty if there is none."""
    ahead: Mapping[int, str] = field(default_factory=dict)
    doubts: int = 0
    """The number up to which the source's doubts are stored."""

    def with_stored(self, ids: Mapping[int, str]) -> Mark:
        """Return the mark after these numbers were stored. Law: nothing is missing at or below `seq`."""
        ahead = {**self.ahead, **{seq: token for seq, token in ids.items() if seq > self.seq}}
        mark, token = self.seq, self.token
        while mark + 1 in ahead:
            mark += 1
            token = ahead.pop(mark)
        return Mark(mark, token, ahead, self.doubts)


class Source(Struct, frozen=True):
    """A source of tokens: its temple, and how far its tokens are stored here."""

    id: str
    temple: str
    """The temple that sent its last tokens."""
    mark: Mark = field(default_factory=Mark)
    old: OldTokens | None = None
    """Its tokens from before this companion knew its temple, where they are not just a `FEW`."""
    unsure: bool = False
    """Whether it is still open how many of its tokens are old.

    No count has said yet how many it holds, or it is a second counter's, which may become the temple's own.
    """


class Receipt(NamedTuple):
    """The acknowledgement of a source: everything up to `seq` is stored, and `token` is the id stored there.

    `gap` says that numbers above it are stored and some between are missing; `apart` that a token came under a number
    that another one has.
    """

    temple: str
    source: str
    seq: int
    token: str
    gap: bool
    apart: bool

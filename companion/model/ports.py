"""The port that a store implements, and the records that it stores of tables, temples and tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple, Protocol

from msgspec import Struct

from companion.games.kit import Seat
from companion.model.table import Charter, Entry
from templo import contract


class TableRecord(Struct, frozen=True):
    """A stored table: its charter, its whole log, and the phones that hold its chairs."""

    charter: Charter
    entries: tuple[Entry, ...]
    keys: Mapping[Seat, str]


class OutlineRecord(Struct, frozen=True):
    """A finished table as it is stored for lists, without its log; `version` is the log's last number."""

    charter: Charter
    version: int
    summary: str
    keys: Mapping[Seat, str]


class TempleRecord(Struct, frozen=True):
    """A stored temple: its ledger, the table that it serves, its owner's token, and its lake's two heaps."""

    name: str
    source: str | None = None
    table_id: str | None = None
    token: str = ""
    huitzilopochtli: int = 0
    tlaloc: int = 0

    @property
    def heaps(self) -> dict[contract.God, int]:
        """The heaps by their gods."""
        return {contract.God.HUITZILOPOCHTLI: self.huitzilopochtli, contract.God.TLALOC: self.tlaloc}


class StoredToken(Struct, frozen=True):
    """A stored token, with the table that it was counted at, if any."""

    temple: str
    token: contract.Token
    received_at: datetime
    table_id: str | None = None

    @property
    def fell(self) -> bool:
        """Whether a beam saw it, so that it lies in the lake: a test that no beam saw does not."""
        return not {contract.Flag.TEST, contract.Flag.SIMULATED} <= self.token.flags

    def arrival(self) -> tuple[datetime, int, str]:
        """Return what orders tokens as the store does, by their arrival; those of one batch arrive together."""
        return self.received_at, self.token.seq, self.token.source


COUNTED, DISMISSED, ARRIVED = "counted", "dismissed", "arrived"
"""The verdicts on a token held apart. `ARRIVED`: its temple sent it again under a number of its own."""

LEFT_OUT, HISTORY = "left_out", "history"
"""The choices for old tokens besides `COUNTED` at a table."""


class Decision(Struct, frozen=True):
    """A decision about a token held apart: the verdict, when and by whom.

    `by` is a seat of the table, `companion.model.table.OWNER` or the temple; `name` is what the player was called
    then, and `seat` whose the token was where it counts.
    """

    stored: StoredToken
    verdict: str
    at: datetime
    by: str
    name: str = ""
    table_id: str | None = None
    seat: str = ""


class OldTokens(Struct, frozen=True):
    """The tokens of a source from before this companion knew its temple, and what was decided about them.

    They are the replayed tokens with a number up to `through`: numbers are reliable, clocks are not. `choice` is
    empty until a person has chosen.
    """

    source: str
    temple: str
    through: int
    since: datetime
    choice: str = ""
    decided_at: datetime | None = None
    by: str = ""
    table_id: str | None = None

    def holds(self, token: contract.Token) -> bool:
        """Return whether a token is one of them."""
        return token.source == self.source and token.replayed and token.seq <= self.through


class MarkRecord(NamedTuple):
    """Which tokens of a source are stored: all up to `seq`, and those in `ahead`, each with its token's id."""

    seq: int
    token: str
    """The id of the token stored as `seq`; empty if there is none."""
    ahead: Mapping[int, str]
    doubts: int
    """The number up to which the source's doubts are stored."""


class KnownTokens(NamedTuple):
    """What is already stored of some tokens."""

    ids: Mapping[str, dict[int, str]]
    """For each source, the ids of the tokens stored under these tokens' numbers."""
    stored: set[str]
    """The ids among theirs that are stored, under any number of any source."""
    held: Mapping[str, str]
    """The ids among theirs that were ever held apart, with the verdict; empty if there is none yet."""
    doubted: Mapping[str, str]
    """The ids among theirs that their temple doubts, with the reason."""


class Conflict(Exception):
    """Another companion was first; the message says with what. Read its changes, and try again."""


class Transaction(Protocol):
    """One change of the store: all of it is durable when it ends, or none."""

    def fence(self, epochs: Mapping[str, int]) -> None:
        """Raise `Conflict` unless these topics still have these numbers of their ownership, and keep them so.

        Only in a shared store: no other companion becomes their owner before the commit.
        """

    def set_note(self, name: str, value: str) -> None:
        """Store a note about this companion under a name, replacing the former one."""

    def add_table(self, charter: Charter) -> None:
        """Add a new table."""

    def append(self, table_id: str, entries: Sequence[Entry]) -> None:
        """Append entries to a table's log."""

    def set_outline(self, table_id: str, version: int, summary: str) -> None:
        """Store the summary of a table at a version of its log, replacing an earlier one."""

    def set_keys(self, table_id: str, keys: Mapping[Seat, str]) -> None:
        """Replace the phones that hold the chairs of a table."""

    def set_temple(self, temple: TempleRecord) -> None:
        """Insert or update a temple."""

    def add_tokens(self, tokens: Sequence[StoredToken]) -> None:
        """Store tokens whose numbers are new."""

    def add_numbers(self, tokens: Sequence[contract.Token]) -> None:
        """Store further numbers of tokens that are stored already."""

    def quarantine(self, tokens: Sequence[StoredToken]) -> None:
        """Hold apart tokens whose numbers other tokens have."""

    def decide(self, decisions: Sequence[Decision]) -> None:
        """Store decisions about tokens held apart; each token can be decided once."""

    def add_doubt(self, temple: str, doubt: contract.Doubt) -> None:
        """Store a doubt whose number is new; a token that was doubted before keeps its first reason."""

    def set_old(self, old: OldTokens) -> None:
        """Store which tokens of a source are old, or what was decided about them."""

    def assign(self, tokens: Sequence[StoredToken], table_id: str) -> None:
        """Assign tokens that belong to no table to a table."""

    def set_mark(self, source: str, temple: str, seq: int) -> None:
        """Raise the number up to which a source's tokens are stored without a gap."""


class Store(Protocol):
    """The store of a companion. Safe from any thread."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin a change; leaving the block commits it, an exception rolls it back.

        Raises `Conflict` if another writer was first, and `ServiceError` ``store_failing`` if the change could not be
        made durable.
        """

    def reading(self) -> AbstractContextManager[None]:
        """Read all that this thread reads within the block by one connection."""

    def signing_key(self) -> bytes:
        """Return the 32 bytes with which this companion signs what browsers keep."""

    def note(self, name: str) -> str:
        """Return a note about this companion, or an empty string."""

    def tables(self, without: Collection[str] = ()) -> Iterable[TableRecord]:
        """Return every table except those with these ids, oldest first."""

    def charters(self, only: Collection[str] | None = None, without: Collection[str] = ()) -> Iterable[Charter]:
        """Return the charters of all tables, or of those in `only`, except those in `without`."""

    def outlines(self) -> Iterable[OutlineRecord]:
        """Return the outlines of tables whose logs have not grown since they were stored."""

    def entries(self, table_id: str, after: int = 0) -> Sequence[Entry]:
        """Return a table's log in order, beginning after the entry with the number `after`."""

    def keys(self, table_id: str) -> Mapping[Seat, str]:
        """Return the phones that hold the chairs of a table."""

    def known(self, tokens: Sequence[contract.Token]) -> KnownTokens:
        """Return what is already stored of these tokens, and under their numbers."""

    def tokens(self, ids: Collection[str]) -> Sequence[StoredToken]:
        """Return the stored tokens with these ids, in the order of their numbers."""

    def temples(self) -> Iterable[TempleRecord]:
        """Return every stored temple."""

    def marks(
        self, temples: Collection[str] | None = None, sources: Collection[str] = ()
    ) -> Mapping[str, MarkRecord]:
        """Return how far the tokens of each source are stored, for all temples, or for some and these sources."""

    def recent(self, temple: str, limit: int) -> tuple[StoredToken, ...]:
        """Return a temple's last tokens, newest first."""

    def totals(self, temple: str) -> Mapping[contract.God, int]:
        """Return how many tokens of each god are stored from a temple, without tests."""

    def quarantined(self, temple: str) -> int:
        """Return how many of a temple's tokens are held apart and undecided."""

    def ever_quarantined(self, temple: str) -> int:
        """Return how many of a temple's tokens were ever held apart, decided or not."""

    def held(self, temple: str, limit: int) -> Sequence[StoredToken]:
        """Return a temple's tokens that are held apart and undecided, in order of arrival."""

    def decided(self, temple: str, limit: int) -> Sequence[Decision]:
        """Return the last decisions about a temple's tokens held apart, newest first."""

    def sources(self, temples: Collection[str] | None = None, sources: Collection[str] = ()) -> Mapping[str, str]:
        """Return the temple of each source, for all temples, or for some and these sources."""

    def old(self) -> Iterable[OldTokens]:
        """Return the old tokens of every source that has any."""

    def old_tokens(self, old: OldTokens) -> Sequence[StoredToken]:
        """Return the old tokens that have arrived and belong to no table, in the order of their numbers."""

    def source_totals(self, source: str) -> Mapping[contract.God, int]:
        """Return how many tokens of each god are stored from one source, including tests."""

    def table_tokens(self, table_id: str) -> Sequence[StoredToken]:
        """Return the tokens of a table, source by source, in the order of their numbers."""

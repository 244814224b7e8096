"""How tables, temples and tokens are stored: their records, and the port that a store implements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from companion.games.kit import Seat
from companion.model.table import Charter, Entry
from templo import contract


@dataclass(frozen=True, slots=True)
class TableRecord:
    """A table as it is stored: its charter, its whole log, and who holds its chairs."""

    charter: Charter
    entries: tuple[Entry, ...]
    keys: Mapping[Seat, str]


@dataclass(frozen=True, slots=True)
class OutlineRecord:
    """A table whose game is over as it is stored for lists: without its log, whose last number is `version`."""

    charter: Charter
    version: int
    summary: str
    keys: Mapping[Seat, str]


@dataclass(frozen=True, slots=True)
class TempleRecord:
    """A temple as it is stored: its ledger and the table it serves."""

    name: str
    source: str | None = None
    table_id: str | None = None


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token as it is stored, with the table it went to, if any."""

    temple: str
    token: contract.Token
    received_at: datetime
    table_id: str | None = None


COUNTED, DISMISSED, ARRIVED = "counted", "dismissed", "arrived"
"""What becomes of a token that was held apart. `ARRIVED`: its temple sent it again under a number of its own."""

LEFT_OUT, HISTORY = "left_out", "history"
"""What becomes of old tokens that are not `COUNTED` at a table."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about a token that was held apart, when and by whom.

    `by` is a seat of the table, `companion.model.table.OWNER` or the temple; `name` is what the player was called
    then, and `seat` whose the token was where it counts.
    """

    kept: StoredToken
    verdict: str
    at: datetime
    by: str
    name: str = ""
    table_id: str | None = None
    seat: str = ""


@dataclass(frozen=True, slots=True)
class OldTokens:
    """The tokens of a source that fell before this companion knew its temple, and what was decided about them.

    They are those sent again with a number up to `through`: clocks may be apart, numbers are not. `choice` is empty
    until a person has chosen.
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
    """How far one source's tokens are stored: all up to `seq`, and those in `ahead`, each with its token's id."""

    seq: int
    token: str
    """The id of the token stored as `seq`; empty where there is none."""
    ahead: Mapping[int, str]


class KnownTokens(NamedTuple):
    """What a store knows of some tokens."""

    ids: Mapping[str, dict[int, str]]
    """For each source the ids of the tokens that are stored under the numbers of these ones."""
    stored: set[str]
    """Their ids that are stored, under whatever number of whatever source."""
    held: Mapping[str, str]
    """Their ids that were ever held apart, with their verdict; empty for none yet."""


class Conflict(Exception):
    """Another writer of the same store was first; the message says with what. Read on, and judge again."""


class Transaction(Protocol):
    """One change of the store: all of it is durable when it ends, or none."""

    def expect_temples(self, temples: Mapping[str, TempleRecord | None]) -> None:
        """Raise `Conflict` unless these temples are stored so, until the change ends; only in a shared store."""

    def set_request(self, temple: str, before: str, request: str, stored: str) -> None:
        """Store the request with the id `request` to a temple in place of that with the id `before`, if any.

        Only in a shared store: it is for the other companions, and no backup has it.
        """

    def announce(self, origin: str, topics: Sequence[str]) -> None:
        """Announce to the other companions of a shared store what this change concerns, once it is durable."""

    def set_secret(self, name: str, value: str) -> None:
        """Enter a secret of this companion that was not there."""

    def expect_note(self, name: str, value: str) -> None:
        """Raise `Conflict` unless this is stored under a name, until the change ends."""

    def set_note(self, name: str, value: str) -> None:
        """Store something about this companion under a name, in place of what was there."""

    def add_table(self, charter: Charter) -> None:
        """Enter a new table."""

    def append(self, table_id: str, entries: Sequence[Entry]) -> None:
        """Enter the next lines of a table's log; their numbers show whether another writer was first."""

    def set_outline(self, table_id: str, version: int, summary: str) -> None:
        """Store what lists show of a table at a version of its log; it replaces an earlier one."""

    def set_keys(self, table_id: str, keys: Mapping[Seat, str]) -> None:
        """Replace who holds the chairs of a table."""

    def set_temple(self, temple: TempleRecord) -> None:
        """Enter a temple, or what changed about it."""

    def keep(self, tokens: Sequence[StoredToken]) -> None:
        """Keep tokens whose numbers are new."""

    def keep_numbers(self, tokens: Sequence[contract.Token]) -> None:
        """Enter further numbers of tokens that are stored under other ones."""

    def quarantine(self, tokens: Sequence[StoredToken]) -> None:
        """Hold apart tokens whose numbers are taken by others."""

    def decide(self, decisions: Sequence[Decision]) -> None:
        """Enter what was decided about tokens held apart; no token's id can be entered twice."""

    def set_old(self, old: OldTokens) -> None:
        """Enter which tokens of a source are old, or what was decided about them."""

    def assign(self, tokens: Sequence[StoredToken], table_id: str) -> None:
        """Give tokens that were kept for no table to a table."""

    def set_mark(self, source: str, temple: str, seq: int) -> None:
        """Raise the number up to which a source's tokens are kept without a gap."""


class Store(Protocol):
    """Where a companion stores what it knows. Safe from any thread."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin a change; leaving the block commits it, an exception rolls it back.

        Raises `Conflict` where another writer was first, and `ServiceError` ``store_failing`` where the change could
        not be made durable.
        """

    def secret(self, name: str) -> str:
        """Return a secret of this companion, or nothing where none was entered under that name."""

    def note(self, name: str) -> str:
        """Return what was stored about this companion under a name, or nothing."""

    def tables(self, without: Collection[str] = ()) -> Iterable[TableRecord]:
        """Return every table but those with these ids, oldest first."""

    def charters(self, only: Collection[str] | None = None, without: Collection[str] = ()) -> Iterable[Charter]:
        """Return the charters of every table, or of these alone, but those with the ids `without`."""

    def outlines(self) -> Iterable[OutlineRecord]:
        """Return the outlines that were set of tables whose logs have not grown since."""

    def entries(self, table_id: str, after: int = 0) -> Sequence[Entry]:
        """Return a table's log in order, from the entry behind the one with the number `after`."""

    def keys(self, table_id: str) -> Mapping[Seat, str]:
        """Return who holds the chairs of a table."""

    def known(self, tokens: Sequence[contract.Token]) -> KnownTokens:
        """Return what is stored of these tokens, or in their places."""

    def temples(self) -> Iterable[TempleRecord]:
        """Return every temple that is known."""

    def requests(self, temples: Collection[str]) -> Mapping[str, str]:
        """Return for each of these temples what was last requested of it by any companion of a shared store."""

    def marks(self, temples: Collection[str] | None = None) -> Mapping[str, MarkRecord]:
        """Return for each source, or each of some temples, how far its tokens are stored."""

    def recent(self, temple: str, limit: int) -> tuple[StoredToken, ...]:
        """Return a temple's last tokens, newest first."""

    def totals(self, temple: str) -> Mapping[contract.God, int]:
        """Return how many tokens of each god were kept from a temple, tests left out."""

    def quarantined(self, temple: str) -> int:
        """Return how many of a temple's tokens are held apart and wait for a person."""

    def ever_quarantined(self, temple: str) -> int:
        """Return how many of a temple's tokens were ever held apart, decided or not."""

    def held(self, temple: str, limit: int) -> Sequence[StoredToken]:
        """Return a temple's tokens that are held apart and wait for a person, in the order of their arrival."""

    def decided(self, temple: str, limit: int) -> Sequence[Decision]:
        """Return what was last decided about a temple's tokens that were held apart, newest first."""

    def sources(self) -> Mapping[str, str]:
        """Return for each source that was ever met the temple that it belongs to."""

    def old(self) -> Iterable[OldTokens]:
        """Return the old tokens of every source that brought any."""

    def old_tokens(self, old: OldTokens) -> Sequence[StoredToken]:
        """Return the old tokens that have arrived and went to no table, in the order of their numbers."""

    def arrived(self, source: str) -> Mapping[contract.God, int]:
        """Return how many tokens of each god were kept from one ledger, tests among them."""

    def fallen(self, table_id: str) -> Sequence[StoredToken]:
        """Return the tokens that were kept for a table, ledger by ledger, each in the order of its numbers."""

"""Writes a change of the store in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from msgspec.structs import asdict

from companion.adapters.database.rows import NOTE, token_row
from companion.adapters.database.schema import (
    ABOUT,
    DECISIONS,
    DOUBTED,
    DOUBTS,
    ENTRIES,
    KEYS,
    OLD,
    OUTLINES,
    OWNERS,
    QUARANTINE,
    RESENT,
    SOURCES,
    TABLES,
    TEMPLES,
    TOKENS,
)
from companion.games.kit import Seat
from companion.model.entries import encode
from companion.model.ports import Conflict, Decision, OldTokens, StoredToken, TempleRecord
from companion.model.table import Charter, Entry
from templo import contract

_APPEND = sa.insert(ENTRIES)
# Built once: for a single token, building the queries takes longer than running them.
_FENCE = (
    sa.update(OWNERS)
    .where(sa.tuple_(OWNERS.c.topic, OWNERS.c.epoch).in_(sa.bindparam("owned", expanding=True)))
    .values(version=OWNERS.c.version + 1)
)
_ADD_TOKENS = sa.insert(TOKENS)
_RAISE_MARK = (
    sa.update(SOURCES)
    .where(SOURCES.c.source == sa.bindparam("of"), SOURCES.c.mark <= sa.bindparam("to"))
    .values(mark=sa.bindparam("to"))
)
_DOUBTED = sa.select(DOUBTED.c.token).where(DOUBTED.c.token.in_(sa.bindparam("ids", expanding=True)))


def unassigned(old: OldTokens) -> sa.Select[Any]:
    """Return a query for the old tokens that have arrived and belong to no table, in the order of their numbers."""
    query = sa.select(TOKENS).where(TOKENS.c.source == old.source, TOKENS.c.seq <= old.through)
    return query.where(TOKENS.c.replayed, TOKENS.c.table_id.is_(None)).order_by(TOKENS.c.seq)


class SqlTransaction:
    """The port `Transaction` over one connection that has begun."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def fence(self, epochs: Mapping[str, int]) -> None:
        """Raise `Conflict` unless these are the owners' numbers, and keep them until the commit; if it is shared."""
        fenced = self._connection.execute(_FENCE, {"owned": [*epochs.items()]})
        if fenced.rowcount != len(epochs):
            raise Conflict(f"{len(epochs) - fenced.rowcount} of {sorted(epochs)} have another owner")

    def set_note(self, name: str, value: str) -> None:
        """Store a note about this companion under a name, replacing the former one."""
        self._connection.execute(sa.delete(ABOUT).where(ABOUT.c.key == f"{NOTE}{name}"))
        self._connection.execute(sa.insert(ABOUT), {"key": f"{NOTE}{name}", "value": value})

    def add_table(self, charter: Charter) -> None:
        """Add a new table."""
        fields = asdict(charter)
        fields |= {"seats": list(charter.seats), "options": dict(charter.options)}
        self._connection.execute(sa.insert(TABLES), fields)

    def append(self, table_id: str, entries: Sequence[Entry]) -> None:
        """Append entries to a table's log."""
        rows = [
            {
                "table_id": table_id,
                "n": entry.n,
                "at": entry.at,
                "by": entry.by,
                "move": encode(entry.action),
                "request": entry.request,
                "hand": entry.hand,
            }
            for entry in entries
        ]
        if rows:
            self._connection.execute(_APPEND, rows)

    def set_outline(self, table_id: str, version: int, summary: str) -> None:
        """Store the summary of a table at a version of its log, replacing an earlier one."""
        self._connection.execute(sa.delete(OUTLINES).where(OUTLINES.c.table_id == table_id))
        fields = {"table_id": table_id, "version": version, "summary": summary}
        self._connection.execute(sa.insert(OUTLINES), fields)

    def set_keys(self, table_id: str, keys: Mapping[Seat, str]) -> None:
        """Replace the phones that hold the chairs of a table."""
        self._connection.execute(sa.delete(KEYS).where(KEYS.c.table_id == table_id))
        if keys:
            rows = [{"table_id": table_id, "seat": seat, "sha256": digest} for seat, digest in keys.items()]
            self._connection.execute(sa.insert(KEYS), rows)

    def set_temple(self, temple: TempleRecord) -> None:
        """Insert or update a temple."""
        fields = asdict(temple)
        changed = self._connection.execute(sa.update(TEMPLES).where(TEMPLES.c.name == temple.name), fields)
        if not changed.rowcount:
            self._connection.execute(sa.insert(TEMPLES), fields)

    def add_tokens(self, tokens: Sequence[StoredToken]) -> None:
        """Store tokens whose numbers are new."""
        if tokens:
            rows = [{**token_row(stored), "table_id": stored.table_id} for stored in tokens]
            self._connection.execute(_ADD_TOKENS, rows)

    def add_numbers(self, tokens: Sequence[contract.Token]) -> None:
        """Store further numbers of tokens that are stored already."""
        if tokens:
            rows = [{"source": token.source, "seq": token.seq, "token": token.token} for token in tokens]
            self._connection.execute(sa.insert(RESENT), rows)

    def quarantine(self, tokens: Sequence[StoredToken]) -> None:
        """Hold apart tokens whose numbers other tokens have."""
        if tokens:
            self._connection.execute(sa.insert(QUARANTINE), [token_row(stored) for stored in tokens])

    def decide(self, decisions: Sequence[Decision]) -> None:
        """Store decisions about tokens held apart; each token can be decided once."""
        names = ("verdict", "at", "by", "name", "table_id", "seat")
        rows = [
            {"token": each.stored.token.token, **{name: getattr(each, name) for name in names}} for each in decisions
        ]
        if rows:
            self._connection.execute(sa.insert(DECISIONS), rows)

    def add_doubt(self, temple: str, doubt: contract.Doubt) -> None:
        """Store a doubt whose number is new; a token that was doubted before keeps its first reason."""
        fields = {"source": doubt.source, "reason": doubt.reason, "at": doubt.at}
        self._connection.execute(sa.insert(DOUBTS), {**fields, "number": doubt.number, "temple": temple})
        before = set(self._connection.execute(_DOUBTED, {"ids": [*doubt.tokens]}).scalars())
        if new := [each for each in dict.fromkeys(doubt.tokens) if each not in before]:
            self._connection.execute(sa.insert(DOUBTED), [{**fields, "token": each} for each in new])

    def set_old(self, old: OldTokens) -> None:
        """Store which tokens of a source are old, or what was decided about them."""
        fields = asdict(old)
        if not self._connection.execute(sa.update(OLD).where(OLD.c.source == old.source), fields).rowcount:
            self._connection.execute(sa.insert(OLD), fields)

    def assign(self, tokens: Sequence[StoredToken], table_id: str) -> None:
        """Assign tokens that belong to no table to a table."""
        if tokens:
            given = sa.update(TOKENS).where(TOKENS.c.source == sa.bindparam("s"), TOKENS.c.seq == sa.bindparam("n"))
            keys = [{"s": stored.token.source, "n": stored.token.seq} for stored in tokens]
            self._connection.execute(given.values(table_id=table_id), keys)

    def set_mark(self, source: str, temple: str, seq: int) -> None:
        """Raise the number up to which a source's tokens are stored without a gap."""
        # Under another temple's name it may have been raised further: then inserting it again is a conflict.
        if not self._connection.execute(_RAISE_MARK, {"of": source, "to": seq}).rowcount:
            self._connection.execute(sa.insert(SOURCES), {"source": source, "temple": temple, "mark": seq})

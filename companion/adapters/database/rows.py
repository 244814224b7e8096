"""Tokens and charters as rows of the database."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from companion.model.ports import StoredToken
from companion.model.table import Charter
from templo import contract

NOTE = "note."
"""The prefix of a note's name; notes share a table with secrets and the schema's number."""


def token_row(stored: StoredToken) -> dict[str, Any]:
    """Return the columns of a token, without its table."""
    token = stored.token
    return {
        "source": token.source,
        "seq": token.seq,
        "token": token.token,
        "temple": stored.temple,
        "god": str(token.god),
        "at": token.at,
        "width_ms": token.width_ms,
        "flags": " ".join(sorted(token.flags)),
        "replayed": token.replayed,
        "received_at": stored.received_at,
    }


def read_charter(row: sa.Row[Any]) -> Charter:
    """Return the charter in a row of the tables."""
    fields = {name: row._mapping[name] for name in Charter.__struct_fields__}
    return Charter(**fields | {"seats": tuple(fields["seats"])})


def read_token(row: sa.Row[Any]) -> StoredToken:
    """Return the token in a row of the stored tokens or of those held apart."""
    token = contract.Token(
        source=row.source,
        seq=row.seq,
        token=row.token,
        god=contract.God(row.god),
        at=row.at,
        width_ms=row.width_ms,
        flags=frozenset(row.flags.split()),
        replayed=row.replayed,
    )
    return StoredToken(row.temple, token, row.received_at, getattr(row, "table_id", None))

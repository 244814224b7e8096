"""The schema of the store, the same in every database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

SCHEMA = 1
"""The number of the tables and columns below, which every store holds."""
SIGNING_KEY = "signing_key"
"""The row of `about` with which a companion signs what browsers keep, in hexadecimal digits."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Instant(sa.TypeDecorator[datetime]):
    """A time in UTC, stored as whole microseconds since 1970: exact, sortable, the same in every database."""

    impl = sa.BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> Any:
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        return None if value is None else _EPOCH + timedelta(microseconds=value)


METADATA = sa.MetaData()

ABOUT = sa.Table("about", METADATA, sa.Column("key", sa.String, primary_key=True), sa.Column("value", sa.String))

TABLES = sa.Table(
    "game_table",
    METADATA,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("code", sa.String(8), nullable=False, unique=True),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("game", sa.String, nullable=False),
    sa.Column("rules", sa.Integer, nullable=False),
    sa.Column("preset", sa.String, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("seats", sa.JSON, nullable=False),
    sa.Column("opened_at", _Instant, nullable=False),
)

ENTRIES = sa.Table(
    "entry",
    METADATA,
    sa.Column("table_id", sa.ForeignKey("game_table.id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", _Instant, nullable=False),
    sa.Column("by", sa.String, nullable=False),
    sa.Column("move", sa.JSON, nullable=False),
    sa.Column("request", sa.String, nullable=False),
    sa.Column("hand", sa.String(24), nullable=False),
    sqlite_with_rowid=False,
)

KEYS = sa.Table(
    "chair_key",
    METADATA,
    sa.Column("table_id", sa.ForeignKey("game_table.id"), primary_key=True),
    sa.Column("seat", sa.String, primary_key=True),
    sa.Column("sha256", sa.String(64), nullable=False),
)

TEMPLES = sa.Table(
    "temple",
    METADATA,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("source", sa.String(32)),
    sa.Column("table_id", sa.ForeignKey("game_table.id")),
    sa.Column("token", sa.String(16), nullable=False),
    sa.Column("huitzilopochtli", sa.Integer, nullable=False),
    sa.Column("tlaloc", sa.Integer, nullable=False),
)

SOURCES = sa.Table(
    "source",
    METADATA,
    sa.Column("source", sa.String(32), primary_key=True),
    sa.Column("temple", sa.String(32), nullable=False),
    sa.Column("mark", sa.BigInteger, nullable=False),
)

_token_columns: tuple[tuple[str, Any], ...] = (
    ("temple", sa.String(32)),
    ("god", sa.String(16)),
    ("at", _Instant),
    ("width_ms", sa.Float),
    ("flags", sa.String),
    ("replayed", sa.Boolean),
    ("received_at", _Instant),
)

TOKENS = sa.Table(
    "token",
    METADATA,
    sa.Column("source", sa.String(32), primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("token", sa.String(32), nullable=False),
    *(sa.Column(name, kind, nullable=False) for name, kind in _token_columns),
    sa.Column("table_id", sa.String(32)),
    sqlite_with_rowid=False,
)

RESENT = sa.Table(
    "resent_token",
    METADATA,
    sa.Column("source", sa.String(32), primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("token", sa.String(32), nullable=False),
    sqlite_with_rowid=False,
)
"""Further numbers of stored tokens: a renewed ledger sends unacknowledged tokens again under a new source."""

QUARANTINE = sa.Table(
    "quarantine",
    METADATA,
    sa.Column("source", sa.String(32), primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("token", sa.String(32), primary_key=True),
    *(sa.Column(name, kind, nullable=False) for name, kind in _token_columns),
)

DECISIONS = sa.Table(
    "held_decision",
    METADATA,
    sa.Column("token", sa.String(32), primary_key=True),
    sa.Column("verdict", sa.String(16), nullable=False),
    sa.Column("at", _Instant, nullable=False),
    sa.Column("by", sa.String(24), nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("table_id", sa.String(32), index=True),
    sa.Column("seat", sa.String(24), nullable=False),
)

OUTLINES = sa.Table(
    "outline",
    METADATA,
    sa.Column("table_id", sa.ForeignKey("game_table.id"), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("summary", sa.String, nullable=False),
)
"""Outlines of finished tables."""

OLD = sa.Table(
    "old_tokens",
    METADATA,
    sa.Column("source", sa.String(32), primary_key=True),
    sa.Column("temple", sa.String(32), nullable=False),
    sa.Column("through", sa.BigInteger, nullable=False),
    sa.Column("since", _Instant, nullable=False),
    sa.Column("choice", sa.String(16), nullable=False),
    sa.Column("decided_at", _Instant),
    sa.Column("by", sa.String, nullable=False),
    sa.Column("table_id", sa.String(32)),
)

DOUBTS = sa.Table(
    "doubt",
    METADATA,
    sa.Column("source", sa.String(32), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("temple", sa.String(32), nullable=False),
    sa.Column("reason", sa.String(32), nullable=False),
    sa.Column("at", _Instant, nullable=False),
)

DOUBTED = sa.Table(
    "doubted_token",
    METADATA,
    sa.Column("token", sa.String(32), primary_key=True),
    sa.Column("source", sa.String(32), nullable=False),
    sa.Column("reason", sa.String(32), nullable=False),
    sa.Column("at", _Instant, nullable=False),
)
"""The tokens that a temple doubts, each with its first reason; some may not have arrived yet."""

PASSING = sa.MetaData()
"""What companions on one database store for each other while they run. It is not part of a backup."""

EPOCHS = sa.Sequence("owner_epoch", metadata=PASSING)

OWNERS = sa.Table(
    "owner",
    PASSING,
    sa.Column("topic", sa.String(64), primary_key=True),
    sa.Column("companion", sa.String(32), nullable=False),
    sa.Column("epoch", sa.BigInteger, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
)
"""The owner of each table, temple and note; `version` rises with each of its changes."""

COMPANIONS = sa.Table(
    "companion",
    PASSING,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("until", sa.DateTime(timezone=True), nullable=False),
)
"""The lease of each running companion."""

WRONG_CODES = sa.Table(
    "wrong_code",
    PASSING,
    sa.Column("n", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("companion", sa.String(32), nullable=False),
    sa.Column("who", sa.String(64), nullable=False),
)
"""Wrong codes that somebody typed at one companion, for the others to count."""

sa.Index("token_by_arrival", TOKENS.c.temple, TOKENS.c.received_at)
sa.Index("token_by_table", TOKENS.c.table_id, TOKENS.c.at)
sa.Index("quarantine_by_token", QUARANTINE.c.token)
sa.Index("token_by_id", TOKENS.c.token)

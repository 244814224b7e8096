"""A PostgreSQL that takes connections and never answers is given up after seconds, by whatever needs it."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from companion.adapters.database import backup, opening, store_lock
from companion.adapters.database.opening import StoreError, engine_for
from companion.adapters.database.sql_store import SqlStore
from companion.model.table import ServiceError
from tests.brokers import HOST

PATIENCE_S = 120


def test_whoever_needs_a_database_that_does_not_answer_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "CONNECT_S", 2)
    with ThreadPoolExecutor() as pool, socket.create_server((HOST, 0), backlog=50) as server:
        url = f"postgresql+psycopg://nobody@{HOST}:{server.getsockname()[1]}/nothing"
        now = datetime.now(UTC)
        asked = {
            "the store": pool.submit(SqlStore, url),
            "its lock": pool.submit(store_lock.hold, url),
            "a backup": pool.submit(backup.back_up, url, tmp_path / "backup.sqlite", now),
        }
        failed = {what: type(each.exception(PATIENCE_S)) for what, each in asked.items()}
    assert {what for what, error in failed.items() if error not in (StoreError, ServiceError)} == set(), failed


def test_what_a_database_s_url_says_of_its_connections_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, object]] = []
    create = opening.sa.create_engine

    def noted(url: object, **options: object) -> object:
        given.append(options["connect_args"])
        return create(url, **options)

    monkeypatch.setattr(opening.sa, "create_engine", noted)
    engine_for("postgresql+psycopg://nobody@nowhere/nothing?tcp_user_timeout=60000")
    assert "tcp_user_timeout" not in given[0]
    assert given[0]["connect_timeout"] == opening.CONNECT_S

"""Companions on one store as a benchmark starts them: alone on SQLite, or several on one PostgreSQL, with tables."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from bench.tools.daemons import Companion
from bench.tools.programs import HOST, Programs, Running, free_port, wait_until
from companion.adapters.database.sql_store import SqlStore
from companion.cli.club import postgresql
from companion.games import registry
from companion.service.services import Services
from companion.service.workspace import Workspace

PLAYERS = 4
MOST = 4
"""Companions that PostgreSQL is set up for."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose seats are free, and the temple that serves it."""

    path: str
    code: str
    temple: str


def start_postgresql(programs: Programs) -> str:
    """Start PostgreSQL; return its URL."""
    port, password = free_port(), secrets.token_urlsafe(16)
    logs = programs.folder / "logs"
    logs.mkdir()
    if os.geteuid() == 0:
        programs.folder.chmod(0o711)  # it runs as a user of its own
    program = postgresql.prepare(programs.folder / "postgresql", port, password, MOST, os.environ, logs)
    programs.start("postgresql", program.command, user=program.user)
    wait_until(lambda: postgresql.answers(port, password), 60, "PostgreSQL")
    return postgresql.url(port, password)


def open_tables(store_url: str, number: int) -> list[Table]:
    """Open tables of Mexica, each with a temple and four players, whose age no number of tokens ends."""
    store = SqlStore(store_url)
    games = registry.with_tools(registry.load(()))
    services = Services.over(Workspace(store, games, lambda: datetime.now(UTC), secrets.token_bytes))
    found = []
    for n in range(number):
        temple = f"temple-{n + 1}"
        services.temples.expect(temple)
        options = {"apocalypse_trigger": "disc3"}
        table = services.tables.open("mexica", temple, PLAYERS, "temple_only", options, temple)
        services.seats.begin(table.id, table.code)
        found.append(Table(f"/t/{table.id}", table.code, temple))
    store.close()
    return found


@dataclass(frozen=True, slots=True)
class Worker:
    """One companion of a store."""

    running: Running
    port: int

    def at(self, table: Table) -> Companion:
        """Return this companion as a phone at a table meets it."""
        return Companion(self.running, self.port, Path(), table.code, table.path)


def start_worker(
    programs: Programs,
    number: int,
    store_url: str,
    broker: int,
    shared: bool,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Worker:
    """Start one companion of a store, and wait until it serves its pages."""
    port = free_port()
    words = ["-m", "companion", "run", "--host", HOST, "--port", str(port), "--store", store_url]
    words += ["--state", str(programs.folder / f"worker-{number}"), "--broker", f"{HOST}:{broker}"]
    words += ["--instance", secrets.token_hex(16), *(["--set", "shared=on"] if shared else [])]
    running = programs.python(
        f"worker-{number}", *words, **{f"TEMPLO_{name}": value for name, value in settings.items()}
    )
    running.wait_for("ready", 60)
    return Worker(running, port)

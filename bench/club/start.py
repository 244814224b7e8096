"""What a start costs the companion by the number of games that were played at it, and the memory that they take."""

from __future__ import annotations

import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from msgspec.structs import replace

from bench.tools.figures import Chapter, Row
from companion.adapters.database.sql_store import SqlStore
from companion.games import registry
from companion.games.kit import Move
from companion.model.entries import APP
from companion.model.table import Table
from companion.service.services import Services
from companion.service.workspace import Workspace

GAMES = (("mexica", "temple_only"), ("market", "short"), ("siege", "skirmish"), ("moctezuma", "classic"))
"""What was played, in turn."""


def measure(tables: Sequence[int]) -> Chapter:
    """Measure starts with a number of tables whose games are over."""
    rows: list[Row] = []
    for number in tables:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{Path(folder) / 'companion.sqlite'}"
            _play(url, number)
            rows.append(Row(f"{number:,} games over, their logs read, CPU", "s", _start(url)[0]))
            cpu, memory = _start(url)
            rows += [
                Row(f"{number:,} games over, any later start, CPU", "s", cpu),
                Row(f"{number:,} games over, memory of their tables", "kiB each", memory / 1024 / number),
            ]
    games = ", ".join(" ".join(each) for each in GAMES)
    about = f"Games of two app players, in equal numbers: {games}. The first start after a game's end reads its log."
    return Chapter("A start with past games", tuple(rows), about)


def _workspace(store: SqlStore) -> Workspace:
    games = registry.with_tools(registry.load(()))
    return Workspace(store, games, lambda: datetime.now(UTC), Random(1).randbytes)


def _play(url: str, number: int) -> None:
    """Play each game once, and enter its table again and again under other ids."""
    store = SqlStore(url)
    workspace = _workspace(store)
    services = Services.over(workspace)
    for kind, (game, preset) in enumerate(GAMES, start=1):
        table = services.tables.open(game, "Sunday", 2, preset)
        token = services.seats.share(table.id, table.code, {})
        services.seats.begin(table.id, token)
        if game == "mexica":
            _give(services, table, token)
        services.play.let_app_roll(table.id, token, True)
        for seat in table.seats:
            services.seats.away(table.id, token, seat, APP)
        while services.tables.get(table.id).phase != "over":
            services.play.go_on(table.id)
        entries, charter = services.tables.entries(table.id), table.charter
        with store.transaction() as change:
            for n in range((number - kind) // len(GAMES)):
                other = f"{game[:3]}{n:05}".encode().hex().ljust(32, "0")
                change.add_table(replace(charter, id=other, code=f"{game[:2]}{n:06}"))
                change.append(other, entries)
    store.close()


def _give(services: Services, table: Table, token: str) -> None:
    """Let two players without a temple give a token each turn, for a hundred turns; then one of them settles."""
    for _ in range(100):
        now = services.tables.get(table.id)
        seat = now.on_turn or ""
        moves = [Move("sacrifice", ("tlaloc", 1)), Move("end_turn")]
        assert services.play.moves(table.id, token, seat, moves, now.version, "").accepted
    now = services.tables.get(table.id)
    assert services.play.move(table.id, token, now.on_turn or "", Move("settle", ("west",)), now.version, "").accepted


def _start(url: str) -> tuple[float, int]:
    """Return the seconds of CPU until all tables are there, and the bytes that they take."""
    began = time.process_time()
    store = SqlStore(url)
    _workspace(store)
    seconds = time.process_time() - began
    store.close()
    tracemalloc.start()
    store = SqlStore(url)
    before = tracemalloc.get_traced_memory()[0]
    kept = _workspace(store)
    memory = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept.tables.as_read()
    store.close()
    return seconds, memory

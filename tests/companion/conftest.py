"""What the companion's tests share: the services on a real database, with a clock and an entropy of their own."""

from __future__ import annotations

import hashlib
import itertools
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from companion.adapters.database.opening import sqlite_path
from companion.adapters.database.owners import Owners
from companion.adapters.database.sql_store import SqlStore
from companion.games import registry
from companion.games.kit import Game, Move
from companion.model.table import Table
from companion.service.play import Played
from companion.service.services import Services
from companion.service.workspace import Workspace
from templo import contract
from tests.databases import Postgres, postgres
from tests.games.your_own_game import loaded

SOURCE = "a" * 32
OTHER = "b" * 32
EVENING = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)


class Clock:
    """A clock that moves when a test says so."""

    def __init__(self) -> None:
        self.now = EVENING

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **span: float) -> datetime:
        self.now += timedelta(**span)
        return self.now


class Entropy:
    """Bytes that never repeat and are the same in every run."""

    def __init__(self) -> None:
        self._count = itertools.count(1)

    def __call__(self, size: int) -> bytes:
        return hashlib.shake_128(str(next(self._count)).encode()).digest(size)


@cache
def blank_database() -> bytes:
    """Return a new SQLite database as a companion leaves it: to copy one is a tenth of the work of making it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "companion.sqlite"
        SqlStore(f"sqlite:///{path}").close()
        return path.read_bytes()


@dataclass
class Home:
    """The services with their parts, and short ways to use them."""

    url: str
    clock: Clock = field(default_factory=Clock)
    entropy: Entropy = field(default_factory=Entropy)
    changes: list[str] = field(default_factory=list)
    games: Mapping[str, Game[Any]] = field(default_factory=lambda: registry.with_tools(registry.load(())))
    paced: bool = False
    shared: bool = False
    requests: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        path = sqlite_path(self.url)
        if path and not path.exists():
            path.write_bytes(blank_database())
        self.restart()

    def restart(self) -> None:
        """Replace the services by new ones on the same store."""
        if hasattr(self, "store"):
            self.close()
        self.store = SqlStore(self.url)
        self.owners = Owners(self.url, self.entropy(8).hex()) if self.shared else None
        try:
            self.workspace = Workspace(
                self.store, self.games, self.clock, self.entropy, self.changes.append, self.paced, self.owners
            )
        except BaseException:  # the store is damaged
            self.close()
            raise
        if self.owners:
            self.owners.followed = self.workspace
        self.services = Services.over(self.workspace)

    def close(self) -> None:
        """Close the store, and end the lease."""
        self.store.close()
        if self.owners:
            self.owners.stop()

    def look(self) -> None:
        """Follow what other companions have changed, and take over what nobody owns."""
        assert self.owners
        self.owners.look()

    def table(self, players: int = 4, temple: str | None = None, **options: str | int) -> Table:
        """Open and begin a table."""
        if temple:
            self.services.temples.expect(temple)
        table = self.services.tables.open("mexica", "Sunday", players, "temple_only", options, temple)
        return self.services.seats.begin(table.id, table.code)

    def seated(self, table: Table, seat: str = "east", name: str = "Ana") -> str:
        """Seat a phone; returns its token."""
        return self.services.seats.sit(table.id, table.code, seat, name)

    def play(self, table: Table, token: str, seat: str, *move: str | int, version: int | None = None) -> Played:
        """Post a move against the table as it is now."""
        now = self.services.tables.get(table.id).version if version is None else version
        request = f"request-{next(self.requests)}"
        return self.services.play.move(table.id, token, seat, Move(str(move[0]), move[1:]), now, request)

    def token(
        self, seq: int, god: str = "tlaloc", *flags: str, source: str = SOURCE, **fields: object
    ) -> contract.Token:
        """Return a token that fell now, with an id of its own for each number of each source."""
        at = fields.pop("at", self.clock.now)
        token = str(fields.pop("token", f"{seq:032x}" if source == SOURCE else f"{source[:16]}{seq:016x}"))
        replayed = bool(fields.pop("replayed", False))
        assert isinstance(at, datetime)
        return contract.Token(source, seq, token, contract.God(god), at, 14.0, frozenset(flags), replayed)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Postgres]:
    """A PostgreSQL that runs for as long as the tests that want one."""
    with postgres() as server:
        yield server


DATABASES = ("sqlite", "postgresql")
"""What the companion is said to run on. A file whose tests are to run on each has a `database` fixture of these."""


@pytest.fixture
def database() -> str:
    return "sqlite"


@pytest.fixture
def url(request: pytest.FixtureRequest, database: str, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without a row."""
    if database == "sqlite":
        yield f"sqlite:///{tmp_path / 'companion.sqlite'}"
        return
    server: Postgres = request.getfixturevalue("postgresql")
    with server.place() as url:
        yield url


@pytest.fixture
def home(url: str) -> Iterator[Home]:
    home = Home(url)
    yield home
    home.store.close()


@pytest.fixture
def beans(home: Home, tmp_path: Path) -> Iterator[Home]:
    """A companion, with pages in the web's tests, that knows the game of dice of `docs/examples/beans`."""
    with loaded(tmp_path) as game:
        home.games = {"beans": game}
        home.restart()
        yield home

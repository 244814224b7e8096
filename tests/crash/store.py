"""The companion's store before a power cut and after it: what it acknowledged, and what it then must hold."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from companion.adapters.database.opening import StoreError
from companion.adapters.database.sql_store import SqlStore
from companion.games import registry
from companion.games.kit import Game
from companion.model.entries import encode
from companion.model.table import ServiceError
from companion.service.services import Services
from companion.service.workspace import Workspace
from templo import contract
from tests.companion.conftest import EVENING, SOURCE, Clock, Entropy, Home
from tests.crash.recording import Recording, Said

NAME = "companion.sqlite"
TEMPLE = "templo"
REFUSED_EVERY = 60
RESTART_AT = 20
"""After that SQLite comes to move its log into the file, after 1,000 pages, and to write over the log."""


@dataclass(slots=True)
class Promise:
    """What the companion has acknowledged up to some moment."""

    table: str = ""
    acknowledged: int = 0
    offered: int = 0
    """Up to where tokens are kept if the change that is under way comes to its end."""
    seats: tuple[str, ...] = field(default_factory=tuple)
    """Tokens of phones that were given a chair."""

    def hear(self, said: Said) -> None:
        """Process an acknowledgement."""
        name, value = said.fact  # type: ignore[misc]
        setattr(self, name, value)


def work(folder: Path, recording: Recording, commits: int) -> None:
    """Take tokens in at a table, one or a few a change; phones sit down, and it is restarted."""
    whims = random.Random("store")
    SqlStore(_url(folder)).close()  # recorded, where a `Home` would copy a new database past the recording
    home = Home(_url(folder), clock=Clock(), entropy=Entropy(), games=games())
    table = home.table(temple=TEMPLE)
    recording.say(("table", table.id))
    seq = 0
    seats: tuple[str, ...] = ()
    for n in range(commits):
        home.clock.pass_(seconds=1)
        fresh = list(range(seq + 1, seq + 1 + whims.choice((1, 1, 1, 1, 1, 1, 3))))
        again = list(range(max(1, seq - 2), seq + 1)) if whims.random() < 0.2 else []
        recording.say(("offered", fresh[-1]))
        if n % REFUSED_EVERY == 5:
            _killed_at_the_sync(home, recording, [(TEMPLE, token(each)) for each in fresh])
        (receipt,) = home.services.temples.intake.receive([(TEMPLE, token(each)) for each in again + fresh])
        seq = receipt.seq
        assert seq == fresh[-1]
        recording.say(("acknowledged", seq))
        if n % 40 == 10 and len(seats) < 4:
            seats = (*seats, home.seated(table, ("north", "east", "south", "west")[len(seats)], f"Ana {n}"))
            recording.say(("seats", seats))
        if n == RESTART_AT:
            home.restart()
    home.store.close()


def _killed_at_the_sync(home: Home, recording: Recording, arrivals: list[tuple[str, contract.Token]]) -> None:
    """Let a change fail at its sync and restart on what is left, as after a kill: the log may hold it already."""
    recording.refuses = True
    with suppress(ServiceError):
        home.services.temples.intake.receive(arrivals)
    home.store.close()
    recording.refuses = False
    home.restart()


def check(folder: Path, promise: Promise) -> str:
    """Open an image with the real code; return what is wrong with it, or nothing."""
    try:
        store = SqlStore(_url(folder))
    except StoreError as error:
        return f"corrupt: {error}"
    try:
        services = Services.over(Workspace(store, games(), Clock(), Entropy(), lambda _: None))
        return _wrong(store, services, promise) or _integrity(folder)
    except ServiceError as error:
        return f"corrupt: {error}"
    finally:
        store.close()


def _wrong(store: SqlStore, services: Services, promise: Promise) -> str:
    mark, _, above, _ = store.marks().get(SOURCE, (0, "", {}, 0))
    if above or mark not in (promise.acknowledged, promise.offered):
        return f"lost: up to {promise.acknowledged} was acknowledged, up to {mark} and {sorted(above)} is kept"
    if not promise.table:
        return ""
    with suppress(ServiceError):
        services.tables.get(promise.table)
        entries = store.entries(promise.table)
        kept = [each.token for each in services.tables.tokens(promise.table)]
        if kept != [token(seq) for seq in range(1, mark + 1)]:
            return f"lost: {mark} tokens are marked, {len(kept)} others are kept"
        entered = [encode(entry.action)[1] for entry in entries if entry.by == "temple"]
        if entered != [each.token for each in kept]:
            return f"doubled: {mark} tokens are kept, {len(entered)} entered the table's log"
        if [entry.n for entry in entries] != list(range(1, len(entries) + 1)):
            return "corrupt: the table's log has a gap"
        if not all(services.seats.held(promise.table, phone) for phone in promise.seats):
            return "lost: a chair"
        fresh = [token(seq) for seq in range(max(1, mark - 1), mark + 3)]
        (receipt,) = services.temples.intake.receive([(TEMPLE, each) for each in fresh])
        return "" if receipt.seq == mark + 2 else f"corrupt: after two more {receipt.seq} is acknowledged"
    return "lost: the table"


def token(seq: int) -> contract.Token:
    """Return a token by its number."""
    god = contract.God.TLALOC if seq % 3 else contract.God.HUITZILOPOCHTLI
    return contract.Token(SOURCE, seq, f"{seq:032x}", god, EVENING + timedelta(seconds=seq), 14.0, frozenset())


@cache
def games() -> dict[str, Game[Any]]:
    """Return the games, loaded once."""
    return dict(registry.with_tools(registry.load(())))


def _url(folder: Path) -> str:
    return f"sqlite:///{folder / NAME}"


def _integrity(folder: Path) -> str:
    with closing(sqlite3.connect(folder / NAME)) as raw:
        verdict = raw.execute("PRAGMA integrity_check").fetchone()[0]
    return "" if verdict == "ok" else f"corrupt: {verdict}"

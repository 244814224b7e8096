"""A club for faults to happen to: companions on one PostgreSQL, brokers, temples and players, all of them programs.

It starts them, ends only what it started, and reads their databases; it judges nothing.
"""

from __future__ import annotations

import http.client
import os
import random
import re
import secrets
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

import psycopg

from companion.adapters.database.sql_store import SqlStore
from companion.games import registry
from companion.service.services import Services
from companion.service.workspace import Workspace
from tests.brokers import HOST, Broker, free_port, nats_cluster
from tests.chaos import person
from tests.chaos.oracle import Books, Posts, Store
from tests.chaos.players import Desk, Seats, players
from tests.chaos.world import PATIENCE_S, Temple, names_of, store_of
from tests.databases import Postgres, postgres
from tests.path.conftest import Program
from tests.waiting import eventually

T = TypeVar("T")

CONNECTIONS_EACH = 20
KEEPALIVE_S = 6
"""A cluster answers slower than one broker, and a machine may be busy: shorter, clients give up what still works."""

PLAYERS_EACH = 2
"""Players at each table: their posts compete with each other, and with the temple's tokens."""

RETURNS_S = 120.0
"""How long a companion may take to start while its database or its brokers are in trouble."""

_OWN = (
    re.compile(r'data-seen="[^"]*"'),
    re.compile(r'name="request" value="[^"]*"'),
    re.compile(r"http://[\d.]+:\d+"),
    re.compile(r'<span class="now-since">.*?</span>', re.DOTALL),
)
"""What two companions write differently into the same page: numbers of their changes, ids for posts, their addresses,
and since when each has known how a temple is.
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything there is."""

    workers: int = 3
    brokers: int = 3
    temples: int = 5
    tokens: int = 1_000
    posts: int = 300


class Worker(Program):
    """One companion of several."""

    def __init__(self, number: int, folder: Path, store: str, brokers: str) -> None:
        self.number = number
        self.port = free_port()
        config = folder / f"worker-{number}.toml"
        config.write_text(f"[broker]\nkeepalive_s = {KEEPALIVE_S}\n")
        words = ["companion", "run", "--config", str(config), "--host", HOST, "--port", str(self.port)]
        words += ["--state", str(folder / f"worker-{number}"), "--broker", brokers, "--store", store]
        words += ["--set", "shared=on", "--instance", secrets.token_hex(16)]
        super().__init__(words, "ready ", folder / f"worker-{number}.log")

    def bring_up(self) -> None:
        """Start it, and again while it ends by itself, as its supervisor does; fail where that does not help."""
        until = time.monotonic() + RETURNS_S
        self.begin()
        while not self.is_ready():
            assert self.process is not None
            assert time.monotonic() < until, self.log.read_text()[-3000:]
            if self.process.poll() is not None:
                time.sleep(0.5)
                self.begin()
            time.sleep(0.05)

    def ended(self) -> int | None:
        """Return its exit code if it has ended."""
        return None if self.process is None else self.process.poll()


class Club:
    """Everything between many beams and one database."""

    def __init__(self, folder: Path, seed: str, size: Size, scope: ExitStack) -> None:
        """Start PostgreSQL and the brokers, open a table for each temple, and prepare the rest."""
        self.size = size
        self.database: Postgres = scope.enter_context(postgres(CONNECTIONS_EACH * size.workers + 10))
        self.brokers: list[Broker] = scope.enter_context(nats_cluster(folder, size.brokers))
        self._store = self.database.url()
        addresses = ",".join(f"{HOST}:{broker.port}" for broker in self.brokers)
        self.workers = [Worker(n, folder, self._store, addresses) for n in range(1, size.workers + 1)]
        self.temples = [
            Temple(
                folder / name,
                folder / f"{name}-state",
                addresses,
                f"{seed} {name}",
                name=name,
                keepalive_s=KEEPALIVE_S,
            )
            for name in (f"temple-{n}" for n in range(1, size.temples + 1))
        ]
        self.tables = self._open_tables()
        self.desk = Desk()
        self._decided: list[dict[int, str]] = [{} for _ in self.temples]
        """For each temple what a person decided about its tokens, and a companion accepted."""
        ports = [worker.port for worker in self.workers]
        self._players = players(PLAYERS_EACH, self.tables, ports, self.desk, seed)

    def _open_tables(self) -> list[Seats]:
        """Open a table for each temple, whose age no number of tokens ends, and share its seats out."""
        store = SqlStore(self._store)
        games = registry.with_tools(registry.load(()))
        services = Services.over(Workspace(store, games, lambda: datetime.now(UTC), secrets.token_bytes))
        found = []
        for temple in self.temples:
            services.temples.expect(temple.name)
            options = {"apocalypse_trigger": "disc3"}
            table = services.tables.open("mexica", temple.name, 4, "temple_only", options, temple.name)
            token = services.seats.share(table.id, table.code, {})
            services.seats.begin(table.id, token)
            found.append(Seats(table.id, token))
        store.close()
        return found

    def start(self) -> None:
        """Start everything else; no token falls yet, and nobody posts."""
        for program in (*self.workers, *self.temples):
            program.start()
        for temple in self.temples:
            temple.rain.start()
        for player in self._players:
            player.start()

    def end(self) -> None:
        """End everything at once."""
        self.desk.stop()
        for temple in self.temples:
            temple.end()
        for worker in self.workers:
            if worker.process is not None:
                with suppress(ProcessLookupError):
                    worker.process.send_signal(signal.SIGCONT)
                worker.kill()
        for player in self._players:
            player.join(20)

    @property
    def done(self) -> int:
        """How many tokens have fallen so far."""
        return sum(temple.rain.dropped for temple in self.temples)

    def allow(self, share: Fraction) -> None:
        """Let a share of all tokens fall, and of all posts be made."""
        self.desk.allow(int(self.size.posts * share))
        tokens = int(self.size.tokens * share)
        for n, temple in enumerate(self.temples):
            temple.rain.allow((tokens + n) // len(self.temples))

    def wait_until_done(self) -> None:
        """Wait until all that was allowed has happened, or fail."""
        for temple in self.temples:
            assert temple.rain.fallen(PATIENCE_S), f"no token falls any more: {temple.log.read_text()[-2000:]}"
        assert self.desk.wait_until_done(PATIENCE_S), (
            f"no post is accepted any more: {[worker.log.read_text()[-1500:] for worker in self.workers]}"
        )

    def raise_the_dead(self) -> list[str]:
        """Start again what ended by itself, as its supervisor would; return what had."""
        raised = [each for temple in self.temples if (each := temple.raise_from_the_dead())]
        for worker in self.workers:
            if (code := worker.ended()) is not None:
                worker.bring_up()
                raised.append(f"worker-{worker.number} had ended with {code}")
        return raised

    def forget_what_waits(self) -> None:
        """Nothing to restart."""

    def books(self) -> list[Books]:
        """Return the books of each temple, for the oracle."""

        def stored(connection: psycopg.Connection) -> list[Store]:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                return [
                    store_of(lambda query: connection.execute(query.encode()).fetchall(), temple.name)
                    for temple in self.temples
                ]

        stores = self._asked(stored)
        return [
            replace(temple.books(store), decided=decided)
            for temple, store, decided in zip(self.temples, stores, self._decided, strict=True)
        ]

    def decide(self, number: int, whims: random.Random) -> int:
        """Let a person decide about what waits of a temple, at any companion; return how many tokens were decided."""
        decided = person.decide(whims.choice(self.workers).port, self.tables[number], whims)
        names = self._asked(lambda connection: names_of(lambda query: connection.execute(query.encode()).fetchall()))
        self._decided[number] |= {names[token][1]: seat for token, seat in decided.items()}
        return len(decided)

    def posts(self) -> Posts:
        """Return what players were answered, and the logs."""
        query = "SELECT n, request FROM entry WHERE table_id = %s ORDER BY n"
        logs = self._asked(
            lambda connection: [connection.execute(query, [seats.table]).fetchall() for seats in self.tables]
        )
        return Posts(frozenset(self.desk.accepted), self.desk.rejected, logs)

    def _asked(self, ask: Callable[[psycopg.Connection], T]) -> T:
        """Return what the database answers, asked again while it recovers and refuses connections."""

        def answer() -> tuple[T] | None:
            with suppress(psycopg.OperationalError), self.database.connect() as connection:
                connection.execute(f"SET search_path = {self._schema}".encode())
                return (ask(connection),)
            return None

        found = eventually(answer, what="an answer of PostgreSQL")
        assert found
        return found[0]

    def unreadable(self) -> list[str]:
        """Return what this software cannot replay of what the companions have stored."""
        store = SqlStore(self._store)
        games = registry.with_tools(registry.load(()))
        workspace = Workspace(store, games, lambda: datetime.now(UTC), secrets.token_bytes)
        store.close()
        return [f"{title}: {reason}" for title, reason in workspace.tables.unreadable]

    def different_pages(self) -> list[str]:
        """Return which pages companions show differently, but for what is each one's own, or do not show."""
        paths = ["/tables"]
        for seats in self.tables:
            paths += [f"/t/{seats.table}", f"/t/{seats.table}/screen", f"/t/{seats.table}/seats"]
        paths += [f"/temples/{temple.name}" for temple in self.temples]
        return [path for path in paths if differ(self._page(worker.port, path) for worker in self.workers)]

    def page(self, port: int, path: str) -> str:
        """Return a page as a phone that has a seat is shown it, after its status; or why it is not answered."""
        connection = http.client.HTTPConnection(HOST, port, timeout=30)
        cookies = "; ".join(f"seat-{seats.table}={seats.token}" for seats in self.tables)
        try:
            connection.request("GET", path, headers={"Cookie": cookies, "Accept-Language": "en"})
            answer = connection.getresponse()
            return f"{answer.status}\n{answer.read().decode(errors='replace')}"
        except (OSError, http.client.HTTPException) as error:
            return f"{port}: {error}"
        finally:
            connection.close()

    def _page(self, port: int, path: str) -> str:
        text = self.page(port, path)
        for own in _OWN:
            text = own.sub("", text)
        return text

    @property
    def _schema(self) -> str:
        return self._store.rpartition("%3D")[2]


def differ(answers: Iterable[str]) -> bool:
    """Return whether answers to one question, each after its status, are anything but one page."""
    found = set(answers)
    return len(found) != 1 or not all(answer.startswith("200\n") for answer in found)


def signal_all(pids: Sequence[int], number: signal.Signals) -> None:
    """Send a signal to processes; those that have ended are passed over."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)

"""Two companions as programs, on one PostgreSQL and one broker: the one that stores a temple's tokens is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import psycopg
import pytest

from companion.adapters.database.sql_store import SqlStore
from companion.games import registry
from companion.service.services import Services
from companion.service.workspace import Workspace
from templo import contract
from tests.brokers import free_port, mosquitto
from tests.companion.adapters.test_intake import Temple, status
from tests.companion.conftest import SOURCE, Clock, Entropy
from tests.controller.program import ROOT
from tests.databases import Postgres, postgres
from tests.waiting import eventually

PATIENCE_S = 180
TOKENS = 60


class Ledger(Temple):
    """A temple that sends what it is asked for again, as a controller does."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port)
        self.fallen: list[contract.Token] = []
        self.answered = 0

    def drop(self) -> None:
        seq, gods = len(self.fallen) + 1, tuple(contract.God)
        token = contract.Token(SOURCE, seq, f"{seq:032x}", gods[seq % 2], Clock().now, 14.0, frozenset(), False)
        self.fallen.append(token)
        self.says(token)
        totals = {god: sum(each.god is god for each in self.fallen) for god in gods}
        self.says(contract.Count(SOURCE, seq, totals), retain=True)

    def resend(self) -> None:
        """Answer what was requested since the last call."""
        wanted = [each for each in self.received if isinstance(each, contract.Command)]
        for command in wanted[self.answered :]:
            self.says(contract.Reply(command.id, True))
            for token in self.fallen[(command.seq or 1) - 1 :]:
                self.says(token)
        self.answered = len(wanted)


@contextmanager
def worker(url: str, state: Path, broker: int, port: int | None = None) -> Iterator[subprocess.Popen[str]]:
    words = ["--host", "127.0.0.1", "--port", str(port or free_port()), "--broker", f"127.0.0.1:{broker}"]
    words += ["--state", str(state), "--store", url, "--set", "shared=on"]
    command = [sys.executable, "-m", "companion", "run", *words, "--instance", state.name * 12]
    with (
        (state.parent / f"{state.name}.log").open("w") as log,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True) as program,
    ):
        try:
            assert program.stdout
            assert program.stdout.readline().startswith("ready")
            yield program
        finally:
            program.kill()


def read(url: str, query: str) -> list[str]:
    """Return the answers of a query about the running companions, before any of them has made the tables too."""
    with psycopg.connect(url.replace("postgresql+psycopg", "postgresql")) as connection:
        if connection.execute("SELECT to_regclass('owner')").fetchone() == (None,):
            return []
        return [answer for (answer,) in connection.execute(query.encode())]


def companions(url: str) -> list[str]:
    return read(url, "SELECT id FROM companion WHERE until > clock_timestamp()")


def owner(url: str) -> str:
    """Return who stores the temple's tokens, as soon as a running companion does."""
    query = "SELECT companion FROM owner JOIN companion ON id = companion"
    query += " WHERE topic = 'temple:templo' AND until > clock_timestamp()"
    eventually(lambda: read(url, query))
    return next(iter(read(url, query)), "") or owner(url)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres(40) as running:
        yield running


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_each_token_counts_once_though_the_companion_that_stores_them_is_gone(
    server: Postgres, tmp_path: Path, end: signal.Signals
) -> None:
    with ExitStack() as running:
        url = server.url()
        broker = running.enter_context(mosquitto(tmp_path))
        store = SqlStore(url)
        running.callback(store.close)
        games = registry.with_tools(registry.load(()))
        services = Services.over(Workspace(store, games, Clock(), Entropy()))
        services.temples.expect("templo")
        table = services.tables.open("mexica", "Sunday", 2, "temple_only", {}, "templo")
        services.seats.begin(table.id, table.code)
        # The first is alone, and so it owns the temple; the second comes, and has nothing.
        workers = [running.enter_context(worker(url, tmp_path / "one", broker.port))]
        first = owner(url)
        workers.append(running.enter_context(worker(url, tmp_path / "two", broker.port)))
        eventually(lambda: len(companions(url)) == 2)
        temple = Ledger(broker.host, broker.port)
        running.callback(temple.close)
        temple.says(status(), retain=True)

        def arrive(up_to: int) -> None:
            def is_all_there() -> bool:
                temple.resend()
                return temple.acked() >= up_to

            eventually(is_all_there)

        for _ in range(TOKENS // 2):
            temple.drop()
        arrive(TOKENS // 2)
        stores = owner(url)
        os.kill(workers[0 if stores == first else 1].pid, end)
        for _ in range(TOKENS // 2):
            temple.drop()
        arrive(TOKENS)
        assert owner(url) != stores
        entries = store.entries(table.id)
        assert [entry.n for entry in entries] == list(range(1, len(entries) + 1))
        assert sum(entry.by == "temple" for entry in entries) == TOKENS
        assert [kept.token.seq for kept in store.table_tokens(table.id)] == list(range(1, TOKENS + 1))


def post_code(port: int, code: str) -> int:
    """Type a join code at a companion's page; return the status of its answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        headers = {"Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/join", f"code={code}", headers)
        return connection.getresponse().status
    finally:
        connection.close()


def test_who_types_wrong_codes_at_one_companion_is_locked_out_at_the_other(server: Postgres, tmp_path: Path) -> None:
    with ExitStack() as running:
        url, nobody = server.url(), free_port()
        ports = [free_port(), free_port()]
        for port, name in zip(ports, ("one", "two"), strict=True):
            running.enter_context(worker(url, tmp_path / name, nobody, port))
        eventually(lambda: len(companions(url)) == 2)
        for _ in range(10):
            assert post_code(ports[0], "ZZZZZZ") == 403
        assert post_code(ports[0], "ZZZZZZ") == 429
        # Its own wrong codes would lock it out at the tenth: the lock-out must come sooner.
        for _ in range(8):
            if (answer := post_code(ports[1], "ZZZZZZ")) == 429:
                break
            time.sleep(3)
        assert answer == 429

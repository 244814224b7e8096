"""An installation that hosts three tenants, in one or two companions, without a broker: a test is what publishes."""

from __future__ import annotations

import itertools
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import psycopg
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from companion.adapters.credentials import Offered
from companion.adapters.database.schema import SIGNING_KEY
from companion.adapters.database.sql_store import SqlStore
from companion.adapters.database.tenants import Tenants
from companion.adapters.news import Hub
from companion.adapters.owner import Owner
from companion.cli import sharing
from companion.cli.hosting.hosted import Hosted
from companion.games import registry
from companion.model.lobby import digest
from companion.model.table import Table
from companion.model.tenants import Limits
from companion.service.services import Services
from companion.service.setup import FINISHED
from companion.service.workspace import Workspace
from companion.web import create_app, host
from companion.web.config import WebConfig
from templo import contract
from templo.broker import Address, BrokerSettings
from templo.liveness import Pulse
from tests.companion.conftest import Clock
from tests.databases import SCHEMA, Postgres, postgres

OWN, A, B = "", "club-a", "club-b"
TENANTS = (OWN, A, B)
"""The installation's own tables and temples, and two tenants."""

GAMES = registry.with_tools(registry.load(()))
TEMPLE = "templo"
PATIENCE_S = 120


@dataclass
class Published:
    """What stands for the connection to the broker, and remembers what was published over it."""

    topics: list[tuple[str, contract.Message]] = field(default_factory=list)
    subscribed: bool = True
    address: Address = field(default_factory=lambda: Address("127.0.0.1", 1883))

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def publish(self, topic: str, message: contract.Message) -> bool:
        self.topics.append((topic, message))
        return True

    def under(self, tenant: str, leaf: str) -> list[contract.Message]:
        beginning = contract.tenant_topic(tenant, "templo/")
        return [each for topic, each in self.topics if topic.startswith(beginning) and topic.endswith(f"/{leaf}")]


class Companion:
    """One companion: its own tables, and the tenants that are in use."""

    def __init__(self, url: str, *, shared: bool = False, folder: Path | None = None) -> None:
        self.clock = Clock()
        self.store = SqlStore(url)
        self.hub = Hub()
        self.link = Published()
        self.workspace = Workspace(
            self.store, GAMES, self.clock, secrets.token_bytes, self.hub.publish, paced=True, shared=shared
        )
        self.services = Services.over(self.workspace)
        self.services.setup.finish()
        pulse = Pulse(sharing.THREADS, time.monotonic)
        self.share = sharing.Share(url, self.workspace, self.services, pulse) if shared else sharing.Alone()
        self.tenants = Tenants(url, aside=folder)
        self.hosted = Hosted(
            Tenants(url), self.store, GAMES, self.workspace, self.share, BrokerSettings(), "an-instance"
        )
        self.config = WebConfig(
            ("localhost",),
            lambda viewer: "http://localhost",
            "an-instance",
            stream_cap=100,
            owner=Owner("OWNEDHERE", "9" * 32),
            organiser=Owner("ORGANISE", "8" * 32),
            offered=Offered(folder),
            hosting=self.hosted.hosting,
            own_hosts=list,
        )
        self.app = create_app(self.services, self.hub, self.config)
        self.hosted.serve(self.app, self.config, self.link)
        host(self.app, self.hosted.visit)
        self._addresses = (f"10.1.{n // 250}.{n % 250 + 1}" for n in itertools.count())

    def start(self) -> None:
        self.share.start(lambda temple: None, lambda: None, self.hosted)
        self.hosted.start()

    def stop(self) -> None:
        self.share.stop()
        self.hosted.stop()
        self.tenants.close()
        self.hub.close()
        self.store.close()

    def of(self, tenant: str) -> Services:
        """Return the services of a tenant, which is in use then."""
        if not tenant:
            return self.services
        with self.hosted.visit(tenant) as site:
            assert site
            return site.services

    def site(self, tenant: str) -> Any:
        if not tenant:
            return self.app.extensions["site"]
        with self.hosted.visit(tenant) as site:
            assert site
            return site

    def store_of(self, tenant: str) -> SqlStore:
        self.of(tenant)
        return self.hosted._open[tenant].store

    def forget_sizes(self) -> None:
        """Let the sizes of all tenants be read again, without waiting."""
        self.hosted._registry._sizes.clear()
        self.hosted.measure()

    def publish(
        self, tenant: str, message: contract.Message, *, retained: bool = False, temple: str = TEMPLE
    ) -> None:
        """Let a temple of a tenant publish a message."""
        topic = contract.tenant_topic(tenant, contract.topic(temple, message.leaf))
        self.hosted.on_message(topic, contract.encode(message), retained)

    def ask(
        self, method: str, path: str, cookies: str = "", form: dict[str, str] | None = None, **headers: str
    ) -> TestResponse:
        """Send a request from an address of its own, with exactly these cookies."""
        client: FlaskClient = self.app.test_client(use_cookies=False)
        sent = {"Origin": "http://localhost", "Accept-Language": "en", **({"Cookie": cookies} if cookies else {})}
        return client.open(
            path,
            method=method,
            data=form if method == "POST" else None,
            headers={**sent, **headers},
            environ_base={"REMOTE_ADDR": next(self._addresses)},
            buffered=True,
        )


def token(seq: int, source: str, at: Any) -> contract.Token:
    """Return a token of a ledger."""
    return contract.Token(source, seq, f"{source[:16]}{seq:016x}", contract.God.TLALOC, at, 14.0, frozenset(), False)


def status(source: str) -> contract.Status:
    """Return the status of a temple that is well."""
    clear = dict.fromkeys(contract.God, contract.Beam.CLEAR)
    kind, timing = contract.Kind.PI, contract.Timing.KERNEL
    return contract.Status(contract.State.READY, "c" * 32, kind, "1", timing, clear, source)


def eventually(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, "it never became true"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Postgres]:
    with postgres(60) as server:
        yield server


KINDS = ("sqlite", "postgresql")


def sqlite_url(folder: Path) -> str:
    """Return the URL of an installation's file in a folder."""
    return f"sqlite:///{folder / 'companion.sqlite'}"


def empty_url(request: pytest.FixtureRequest, folder: Path) -> str:
    """Return the URL of an empty database of the kind that a test is run with."""
    if request.param == "sqlite":
        return sqlite_url(folder)
    server: Postgres = request.getfixturevalue("postgresql")
    return server.url()


def add_tenants(url: str) -> list[str]:
    """Add two tenants to an installation; return what the schemas of both are called."""
    with closing(Tenants(url)) as tenants:
        return [tenants.schema(tenants.add(name, Limits(), secrets.token_bytes)) for name in (A, B)]


_Made = tuple[str, list[str], list[Any], list[Any]]
"""The URL of an installation, its schema and its tenants', the list of them, and what the tables of each are like."""
_INSERT = f"INSERT INTO {{}}.tenant VALUES ({', '.join(['%s'] * (5 + len(fields(Limits))))})"


class Installations:
    """Installations of one PostgreSQL with two tenants, empty but perhaps used by an earlier test.

    To empty one is a fraction of the work of making it, and what is another in any way is not used again.
    """

    MOST_BYTES = 5_000_000
    """What was deleted still counts as stored by a tenant, so that one that was filled is not used again."""

    def __init__(self, server: Postgres) -> None:
        self._server = server
        self._free: list[_Made] = []

    @contextmanager
    def one(self) -> Iterator[str]:
        """Yield the URL of one."""
        made = self._free.pop() if self._free else self._made()
        url, schemas, tenants, before = made
        yield url
        with suppress(psycopg.OperationalError), self._server.connect() as connection:
            connection.execute("SET lock_timeout = '5s'; SET session_replication_role = replica")
            with connection.transaction():
                if _forms(connection, schemas) == before and _bytes(connection, schemas) < self.MOST_BYTES:
                    _empty(connection, schemas)
                    with connection.cursor() as cursor:
                        cursor.executemany(_INSERT.format(schemas[0]).encode(), tenants)
                    self._free.append(made)

    def _made(self) -> _Made:
        url = self._server.url()
        SqlStore(url).close()
        schemas = [url.rpartition("%3D")[2], *add_tenants(url)]
        with self._server.connect() as connection:
            tenants = connection.execute(f"SELECT * FROM {schemas[0]}.tenant".encode()).fetchall()
            return url, schemas, tenants, _forms(connection, schemas)


def _forms(connection: psycopg.Connection, schemas: list[str]) -> list[Any]:
    """Return what the tables are like; nothing stands for those of a tenant that was deleted."""
    names = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname = ANY(%s)", [schemas]).fetchall()
    return [connection.execute(SCHEMA, {"name": name}).fetchone() for (name,) in sorted(names)]


def _bytes(connection: psycopg.Connection, schemas: list[str]) -> int:
    (size,) = connection.execute(
        "SELECT sum(pg_total_relation_size(pg_class.oid)) FROM pg_class "
        "JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE nspname = ANY(%s) AND relkind = 'r'",
        [schemas],
    ).fetchone() or (0,)
    return int(size)


def _empty(connection: psycopg.Connection, schemas: list[str]) -> None:
    """Delete every row but that the tenants' tables are of this release and set up."""
    found = connection.execute(
        "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname = ANY(%s)", [schemas]
    ).fetchall()
    others = f" WHERE key NOT IN ('schema', '{SIGNING_KEY}', 'note.{FINISHED}')"
    kept = {f"{name}.about": others for name in schemas[1:]}
    connection.execute("; ".join(f"DELETE FROM {table}{kept.get(table, '')}" for (table,) in found).encode())


@pytest.fixture(scope="session")
def installations(postgresql: Postgres) -> Installations:
    return Installations(postgresql)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installation on SQLite that has two tenants and nothing else, to be copied."""
    folder = tmp_path_factory.mktemp("installation")
    url = sqlite_url(folder)
    SqlStore(url).close()
    add_tenants(url)
    return folder


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database of each kind: empty, or with two tenants for a companion."""
    if "companion" not in request.fixturenames:
        yield empty_url(request, tmp_path)
    elif request.param == "sqlite":
        shutil.copytree(request.getfixturevalue("template"), tmp_path, dirs_exist_ok=True)
        yield sqlite_url(tmp_path)
    else:
        with request.getfixturevalue("installations").one() as place:
            yield place


@pytest.fixture
def companion(url: str, tmp_path: Path) -> Iterator[Companion]:
    """A companion with two tenants."""
    made = Companion(url, folder=tmp_path)
    made.start()
    yield made
    made.stop()


@contextmanager
def hosting(url: str, folder: Path) -> Iterator[Companion]:
    """Run a companion of an empty database, with two tenants, while the context lasts."""
    made = Companion(url, folder=folder)
    add_tenants(url)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def two(installations: Installations, tmp_path: Path) -> Iterator[tuple[Companion, Companion]]:
    """Two companions of one PostgreSQL with two tenants."""
    with installations.one() as url:
        pair = Companion(url, shared=True, folder=tmp_path), Companion(url, shared=True, folder=tmp_path)
        for each in pair:
            each.start()
        yield pair
        for each in pair:
            each.stop()


@dataclass(frozen=True)
class Populated:
    """What one tenant has: all of it named alike at the others, but for `marks`."""

    tenant: str
    table: Table
    over: Table
    token: str
    """Of the seat that its player holds."""
    marks: tuple[str, ...]
    """What no page of another tenant may show."""
    cookies: str


def populate(companion: Companion, tenant: str, number: int) -> Populated:
    """Give a tenant tables, people, a temple with tokens, a message, an event and a name."""
    services, site = companion.of(tenant), companion.site(tenant)
    word = ("Acatl", "Tochtli", "Calli")[number] + "zin"
    source = f"{number:x}" * 32
    if tenant:
        companion.publish(tenant, status(source), retained=True)

        def arrived() -> bool:  # published again until somebody stores it, as a temple does
            companion.publish(tenant, token(1, source, companion.clock.now))
            known = services.temples.find(TEMPLE)
            return bool(known and known.totals[contract.God.TLALOC])

        eventually(arrived)
    else:
        services.temples.receive_status(TEMPLE, status(source))
        services.temples.intake.receive([(TEMPLE, token(1, source, companion.clock.now))])
    over = services.tables.open("moctezuma", f"Late {word}", 3, "classic")
    services.seats.sit(over.id, over.code, over.charter.seats[0], f"Old {word}")
    services.tables.close_for_players(over.id)
    table = services.tables.open("mexica", f"Sunday {word}", 4, "temple_only", {}, TEMPLE)
    held = services.seats.sit(table.id, table.code, "east", f"Ana {word}")
    services.seats.begin(table.id, table.code)
    services.setup.rename(f"Place {word}")
    services.messages.send(f"Supper {word}", 60)
    players = "\n".join(f"Player {n} {word}" for n in range(3))
    services.rounds.start(
        "moctezuma", "classic", 3, "swiss", players, lambda round_, at: f"Round {round_}.{at} {word}"
    )
    proof = site.config.organiser.proof
    passed = services.seats.screen_pass(table.id)
    prefixes = ("", *(f"{each}." for each in TENANTS if each))
    seated = f"{table.id}-{digest(held)[:8]}"
    cookies = "; ".join(
        [f"seat-{table.id}={held}", f"screen-{table.id}={passed}", f"owner={proof}", f"organiser={proof}"]
        + [f"{prefix}name=Ana%20{word}" for prefix in prefixes if prefix.rstrip(".") == tenant]
        + [f"{prefix}seated={seated}" for prefix in prefixes]
    )
    table = services.tables.get(table.id)
    marks = (word, table.id, over.id, table.code, over.code, held, proof)
    return Populated(tenant, table, over, held, marks, cookies)

"""What companions on one store do together: posts, a backlog of tokens, an evening of a club, a takeover."""

from __future__ import annotations

import signal
import time
import urllib.request
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa

from bench.club import companions
from bench.club.temples import Temples
from bench.tools.figures import Chapter, Row
from bench.tools.phone import Phone
from bench.tools.programs import HOST, BenchError, Programs, wait_until
from bench.tools.readers import Readers
from companion.adapters.database.schema import COMPANIONS, OWNERS

SETUPS = (("SQLite", 1), ("PostgreSQL", 1), ("PostgreSQL", 2), ("PostgreSQL", 4))
PARTS = ("posts", "backlog", "evening", "takeover")
BACKLOG_TARGET = 2_000.0
PHONES_AT_ONCE = 8
TOKENS_A_SECOND = 25
TAKEOVERS = 3
TAKEN = 3
"""Temples of two companions, one of which is killed."""
SILENCE_S = 2.0
QUIET_AGAIN_S = 60.0
_NETWORK = 10
"""The first of the addresses of phones; those of streams are below."""
MOST_TABLES = 255 - _NETWORK
LONE_SHARE = 4
"""Tokens of a backlog for each temple."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything is measured."""

    tables: int = 100
    posts: int = 1_000
    backlog: int = 20_000
    temples: int = 50
    phones: int = 20
    seconds: float = 20


class _Setup:
    """Companions on one new store, with tables, a broker and temples."""

    def __init__(self, programs: Programs, name: str, workers: int, tables: int) -> None:
        with ExitStack() as scope:
            folder = programs.folder / f"{name}-{workers}-{time.monotonic_ns()}"
            self.programs = scope.enter_context(Programs(folder, programs.tree))
            programs.folder.chmod(0o711)  # PostgreSQL may run as a user of its own
            self.broker = self.programs.mosquitto()
            shared = name == "PostgreSQL"
            self.store = (
                companions.start_postgresql(self.programs) if shared else f"sqlite:///{folder / 'store.sqlite'}"
            )
            self.tables = companions.open_tables(self.store, tables)
            settings = {"WEB_STREAMS": "4096", "WEB_STREAMS_EACH": "64"}
            self.workers = [
                companions.start_worker(self.programs, n + 1, self.store, self.broker, shared, settings)
                for n in range(workers)
            ]
            self._scope = scope.pop_all()
        self.shared = shared

    def __enter__(self) -> _Setup:
        return self

    def __exit__(self, *_: object) -> None:
        self._scope.close()

    def worker(self, n: int) -> companions.Worker:
        """Return the companion that a proxy would send a table's phones to."""
        return self.workers[n % len(self.workers)]

    def cpu_s(self) -> float:
        """Return the processor time of all companions."""
        return sum(worker.running.cpu_s() for worker in self.workers)

    def temples(self) -> Temples:
        """Return the temples of all tables, connected once each has an owner."""
        temples = self._scope.enter_context(Temples(self.broker, [table.temple for table in self.tables]))
        if self.shared:
            wait_until(lambda: len(self.holders()) == len(self.tables), 60, "a companion for every temple")
        time.sleep(2)
        return temples

    def holders(self) -> dict[str, str]:
        """Return which running companion owns each temple, by their topics."""
        engine = sa.create_engine(self.store, poolclass=sa.NullPool)
        query = sa.select(OWNERS.c.topic, OWNERS.c.companion).join(COMPANIONS, COMPANIONS.c.id == OWNERS.c.companion)
        running = query.where(COMPANIONS.c.until > sa.func.clock_timestamp(), OWNERS.c.topic.startswith("temple:"))
        with engine.connect() as connection:
            return {row.topic: row.companion for row in connection.execute(running)}

    def taken_over(self, topic: str, before: str) -> bool:
        """Return whether another companion than before owns a temple."""
        return self.holders().get(topic, before) != before


def measure(programs: Programs, size: Size, parts: Collection[str] = PARTS) -> Chapter:
    """Take all measurements, or some parts; raises `BenchError`."""
    rows: list[Row] = []
    for name, workers in SETUPS if "posts" in parts else ():
        with _Setup(programs, name, workers, size.tables) as setup:
            rows += _posts(setup, size, _named(name, workers))
    for name in ("SQLite", "PostgreSQL") if "backlog" in parts else ():
        for temples in (1, size.temples):
            tokens = size.backlog // (LONE_SHARE if temples == 1 else 1)
            with _Setup(programs, name, 1, temples) as setup:
                rows += _backlog(setup, tokens, f"{_named(name, 1)}, {temples} temple{'s' * (temples > 1)}")
    for name, workers in SETUPS if "evening" in parts else ():
        with _Setup(programs, name, workers, size.temples) as setup:
            rows += _evening(setup, size, _named(name, workers))
    if "takeover" in parts:
        with _Setup(programs, "PostgreSQL", 2, TAKEN) as setup:
            rows += _takeover(setup)
    return Chapter(
        "Several companions",
        tuple(rows),
        "Each figure on a new store; CPU is that of all companions together, without PostgreSQL's. Posts:"
        f" {size.posts:,} moves over {size.tables} tables by {PHONES_AT_ONCE} phones at a time, each table at one"
        " companion, each answered with the regions that changed. Backlog: every token is entered at a table; at most"
        f" 20 of a temple are on their way. An evening: {size.temples} temples with {size.phones} phones each"
        f" (compressed streams), {TOKENS_A_SECOND} tokens a second in all for {size.seconds:g} s. The worst of"
        f" {TAKEOVERS} kills. Load, PostgreSQL and broker are on the same cores, so wall time says little here.",
    )


def _named(store: str, workers: int) -> str:
    return f"{store}, {workers} companion{'s' * (workers > 1)}"


def _posts(setup: _Setup, size: Size, what: str) -> list[Row]:
    with ExitStack() as scope:
        phones = [
            scope.enter_context(Phone(setup.worker(n).at(table), _NETWORK + n))
            for n, table in enumerate(setup.tables)
        ]
        each = max(1, size.posts // len(phones))

        def play(some: Sequence[Phone]) -> None:
            for _ in range(each):
                for phone in some:
                    phone.end_turn()

        before, began = setup.cpu_s(), time.monotonic()
        with ThreadPoolExecutor(PHONES_AT_ONCE) as pool:
            list(pool.map(play, [phones[n::PHONES_AT_ONCE] for n in range(PHONES_AT_ONCE)]))
        posts, seconds = each * len(phones), time.monotonic() - began
        cpu = setup.cpu_s() - before
    return [
        Row(f"{what}: CPU of a post", "ms", cpu * 1e3 / posts),
        Row(f"{what}: posts", "1/s", posts / seconds),
    ]


def _backlog(setup: _Setup, tokens: int, what: str) -> list[Row]:
    temples = setup.temples()
    each = tokens // len(setup.tables)
    before, began = setup.cpu_s(), time.monotonic()
    for table in setup.tables:
        temples.drop(table.temple, each)
    temples.wait(600)
    seconds, tokens = time.monotonic() - began, each * len(setup.tables)
    cpu = setup.cpu_s() - before
    return [
        Row(f"{what}: backlog, CPU of a token", "ms", cpu * 1e3 / tokens, target=1e3 / BACKLOG_TARGET),
        Row(f"{what}: backlog drained", "tokens/s", tokens / seconds),
    ]


def _evening(setup: _Setup, size: Size, what: str) -> list[Row]:
    pages = [(setup.worker(n).port, table.path) for n, table in enumerate(setup.tables)]
    temples = setup.temples()
    alone = _memory(setup.workers)
    with Readers(pages, size.temples * size.phones) as readers:
        readers.wait_for_first()
        time.sleep(2)
        streams = _memory(setup.workers) - alone
        before, events, received = setup.cpu_s(), sum(readers.events), readers.received
        count = int(size.seconds * TOKENS_A_SECOND)
        began = time.monotonic()
        for n in range(count):
            time.sleep(max(0.0, began + n / TOKENS_A_SECOND - time.monotonic()))
            temples.drop(setup.tables[n % len(setup.tables)].temple)
        temples.wait(60)
        ended, cpu_s = _last_event(readers, setup)
        seconds, cpu = ended - began, cpu_s - before
        sent = sum(readers.events) - events
    if not sent:
        raise BenchError(f"no stream brought an event of {count} tokens; expected one at least")
    return [
        Row(f"{what}: evening, CPU of a token", "ms", cpu * 1e3 / count),
        Row(f"{what}: evening, CPU of an event", "ms", cpu * 1e3 / sent),
        Row(f"{what}: evening, events for a token and phone", "", sent / (count * size.phones)),
        Row(f"{what}: evening, of a core", "%", 100 * cpu / seconds),
        Row(f"{what}: evening, memory of a stream (PSS)", "KiB", streams * 1024 / len(readers.events), target=60),
        Row(f"{what}: evening, an event on the wire", "B", (readers.received - received) / sent),
    ]


def _last_event(readers: Readers, setup: _Setup) -> tuple[float, float]:
    """Wait until no stream brings an event any more; on a busy machine several tokens share one.

    Returns the time at which the silence began and the processor time until then; raises `BenchError` where it does
    not begin in time.
    """
    deadline = time.monotonic() + QUIET_AGAIN_S
    while time.monotonic() < deadline:
        seen, ended, cpu_s = sum(readers.events), time.monotonic(), setup.cpu_s()
        time.sleep(SILENCE_S)
        if sum(readers.events) == seen:
            return ended, cpu_s
    raise BenchError(
        f"the streams bring events {QUIET_AGAIN_S:g} s after the last token; expected {SILENCE_S:g} s without"
    )


def _takeover(setup: _Setup) -> list[Row]:
    temples = setup.temples()
    table = setup.tables[0]
    topic = f"temple:{table.temple}"
    taken: list[float] = []
    tokens: list[float] = []
    for n in range(TAKEOVERS):
        temples.drop(table.temple)
        temples.wait(60)
        victim = next(worker for worker in setup.workers if _stores(worker, table.temple))
        before = setup.holders()[topic]
        victim.running.process.send_signal(signal.SIGKILL)
        victim.running.process.wait()
        began = time.monotonic()
        temples.drop(table.temple)
        wait_until(partial(setup.taken_over, topic, before), 60, "another owner")
        taken.append(time.monotonic() - began)
        temples.wait(60)
        tokens.append(time.monotonic() - began)
        setup.workers.remove(victim)
        setup.workers.append(companions.start_worker(setup.programs, 10 + n, setup.store, setup.broker, True))
    return [
        Row(
            "kill -9 of a temple's owner: taken over, worst",
            "s",
            max(taken),
            target=10,
        ),
        Row("the same, until a token is acknowledged, worst", "s", max(tokens)),
    ]


def _stores(worker: companions.Worker, temple: str) -> bool:
    with urllib.request.urlopen(f"http://{HOST}:{worker.port}/metrics", timeout=10) as answer:
        return f'templo_temple_stored{{temple="{temple}"}} 1' in answer.read().decode()


def _memory(workers: Iterable[companions.Worker]) -> float:
    return sum(worker.running.memory()[0] for worker in workers)

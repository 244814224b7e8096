"""What a page costs the companion's server: CPU of each kind, alone and beside connections that never ask."""

from __future__ import annotations

import http.client
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.tools import daemons
from bench.tools.figures import Chapter, Row, spread
from bench.tools.programs import HOST, BenchError, Programs
from bench.web.attacks import CONNECTIONS, CROWD, CROWD_FROM

ROUNDS = 5
PHONE = "127.0.0.2"
SETTLE_S = 3.0
"""Seconds until an attack has all of its connections."""

PAUSE_S = 0.02
PATIENCE_S = 60.0
PAGE_MS = 1000
"""The most that connections which never ask may delay a page."""

ATTACKS = {
    "half-open": f"{CONNECTIONS} half-open connections",
    "crowd": f"{CROWD:,} dripping connections from {len(CROWD_FROM)} addresses",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of request."""

    what: str
    path: str
    is_new: bool = False
    """On a connection of its own."""
    encoding: str = "identity"


def measure(programs: Programs, asked: int) -> Chapter:
    """Ask for each kind of page so many times in each round."""
    broker = programs.mosquitto()
    companion = daemons.start_companion(programs, broker)
    table = companion.table
    kinds = (
        Kind("a table", table),
        Kind("a table, compressed", table, encoding="gzip"),
        Kind("a table, on a new connection", table, is_new=True),
        Kind("the first page", "/"),
        Kind("a script", "/static/table.js"),
        Kind("a line of JSON", "/healthz"),
    )
    for kind in kinds:
        _cpu_ms(companion, kind, asked)
    found: dict[str, list[float]] = {kind.what: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind in kinds:
            found[kind.what].append(_cpu_ms(companion, kind, asked))
    rows = [Row(f"{what}, CPU", "ms", statistics.median(each)) for what, each in found.items()]
    for attack, what in ATTACKS.items():
        rows += _beside(programs, companion, attack, what)
    rows.append(Row("memory (PSS)", "MiB", companion.running.memory()[0]))
    began = time.monotonic()
    companion.running.process.terminate()
    companion.running.process.wait(PATIENCE_S)
    rows.append(Row("a companion's end", "ms", (time.monotonic() - began) * 1e3))
    again = daemons.start_companion(programs, broker)
    rows.append(Row("another's start, CPU", "ms", again.running.cpu_s() * 1e3))
    return Chapter(
        "Pages",
        tuple(rows),
        f"Medians of {ROUNDS} rounds of {asked} requests, one after another; CPU is that of the whole companion."
        " Beside an attack, each page is the first one, from an address of its own and on a new connection.",
    )


def _cpu_ms(companion: daemons.Companion, kind: Kind, asked: int) -> float:
    with _phone(companion) as ask:
        before = companion.running.cpu_s()
        for _ in range(asked):
            ask(kind)
        return (companion.running.cpu_s() - before) / asked * 1e3


def _beside(programs: Programs, companion: daemons.Companion, attack: str, what: str) -> list[Row]:
    seconds = 4 * SETTLE_S
    attacker = programs.python(
        attack, "-m", "bench.web.attacks", attack, "--web", str(companion.port), "--seconds", str(seconds)
    )
    attacker.wait_for("attacking")
    time.sleep(SETTLE_S)
    waits: list[float] = []
    ends = time.monotonic() + seconds - 2 * SETTLE_S
    with _phone(companion) as ask:
        while time.monotonic() < ends:
            began = time.monotonic()
            ask(Kind(what, "/", is_new=True))
            waits.append((time.monotonic() - began) * 1e3)
            time.sleep(PAUSE_S)
    attacker.process.wait(PATIENCE_S)
    figures = spread(waits)
    return [
        Row(f"beside {what}: a page, median", "ms", figures.median),
        Row(f"beside {what}: longest of {figures.count}", "ms", figures.worst, target=PAGE_MS),
    ]


@contextmanager
def _phone(companion: daemons.Companion) -> Iterator[Callable[[Kind], None]]:
    kept = http.client.HTTPConnection(HOST, companion.port, PATIENCE_S, (PHONE, 0))

    def ask(kind: Kind) -> None:
        connection = kept
        if kind.is_new:
            connection = http.client.HTTPConnection(HOST, companion.port, PATIENCE_S, (PHONE, 0))
        try:
            connection.request("GET", kind.path, headers={"Accept-Encoding": kind.encoding})
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise BenchError(f"{kind.path} failed: {error!r}; expected an answer within {PATIENCE_S:g} s") from error
        finally:
            if kind.is_new:
                connection.close()
        if answer.status != 200:
            raise BenchError(f"{kind.path} is answered with {answer.status}; expected 200")

    try:
        yield ask
    finally:
        kept.close()

"""What many tenants on one companion cost: its start, each tenant's first page, a page, rest, and one another."""

from __future__ import annotations

import http.client
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.club import companions
from bench.club.temples import Temples
from bench.tools.figures import Chapter, Row
from bench.tools.programs import HOST, BenchError, Programs, Running
from companion.adapters.database.tenants import MOST_FILES, Tenants
from companion.model.tenants import Limits
from companion.web.server.tenants import prefix_of

STORES = ("PostgreSQL", "SQLite")
LEAST = 2
ADDED_AT_ONCE = 3
REST_S = 20.0
BACKLOG = 10_000
"""Tokens that wait in one tenant's temple."""
PAUSE_S = 0.2
PATIENCE_S = 60.0


def measure(programs: Programs, tenants: int) -> Chapter:
    """Measure one companion with so many tenants on each kind of store; raises `BenchError`."""
    rows = [row for store in STORES for row in _rows(programs, store, tenants)]
    about = (
        f"{tenants:,} tenants without tables on one companion; with SQLite at most {MOST_FILES} are in use at a time."
        " The first page opens a tenant."
    )
    return Chapter("Tenants on one companion", tuple(rows), about)


def _rows(programs: Programs, store: str, tenants: int) -> list[Row]:
    folder = programs.folder / store
    with Programs(folder, programs.tree) as own:
        programs.folder.chmod(0o711)  # PostgreSQL may run as a user of its own
        broker, shared = own.mosquitto(), store == "PostgreSQL"
        url = companions.start_postgresql(own) if shared else f"sqlite:///{folder / 'store.sqlite'}"
        alone = companions.start_worker(own, 1, url, broker, shared, {"HOSTED": "on"})
        bare = alone.running.cpu_s(), alone.running.memory()[0]
        alone.running.end()
        names = _add(url, tenants)
        worker = companions.start_worker(own, 2, url, broker, shared, {"HOSTED": "on"})
        running = worker.running
        started = running.cpu_s(), running.memory()[0]
        rest = _at_rest(running)
        in_use = names if shared else names[:MOST_FILES]
        threads, before = running.status("Threads"), running.memory()[0]
        first = _cpu_each(running, worker.port, in_use)
        grown, more = running.memory()[0] - before, running.status("Threads") - threads
        again = _cpu_each(running, worker.port, in_use)
        all_rest = _at_rest(running)
        quiet, drained = _waits(broker, *names[:2])
    each = len(in_use)
    figures = [
        ("a start with no tenant, CPU", "s", bare[0]),
        (f"a start with {tenants:,}, CPU", "s", started[0]),
        ("memory after a start with no tenant", "MiB", bare[1]),
        (f"memory after a start with {tenants:,}", "MiB", started[1]),
        (f"rest with {tenants:,} of which none is in use, CPU", "ms/s", rest * 1000),
        (f"first page of each of {each:,}, CPU", "ms", first * 1000),
        (f"memory of each of {each:,} in use", "KiB", grown * 1024 / each),
        ("threads of each", "", more / each),
        ("a page of one in use, CPU", "ms", again * 1000),
        (f"rest with {each:,} in use, CPU", "ms/s", all_rest * 1000),
        ("a token until it is acknowledged, longest wait", "ms", quiet * 1000),
        (f"the same while another tenant's temple sends {BACKLOG:,}", "ms", drained * 1000),
    ]
    return [Row(f"{store}: {what}", unit, value) for what, unit, value in figures]


def _waits(broker: int, busy: str, other: str) -> tuple[float, float]:
    """Return the most seconds that one tenant's token waits, at rest and while another's temple sends a backlog."""
    with Temples(broker, ["templo"], busy) as sending, Temples(broker, ["templo"], other) as temple:
        for each in (sending, temple):  # the first one makes the temple known
            each.drop("templo")
            each.wait(PATIENCE_S)
        quiet = max(_wait_s(temple) for _ in range(50))
        sending.drop("templo", BACKLOG)
        longest = 0.0
        while sending.acknowledged <= BACKLOG:
            longest = max(longest, _wait_s(temple))
    return quiet, longest


def _wait_s(temple: Temples) -> float:
    """Return how many seconds pass until a token is acknowledged."""
    time.sleep(PAUSE_S)
    began = time.monotonic()
    temple.drop("templo")
    temple.wait(PATIENCE_S)
    return time.monotonic() - began


def _add(url: str, number: int) -> list[str]:
    """Add tenants; return their names."""
    known = Tenants(url, aside=Path())
    names = [f"club-{n}" for n in range(number)]
    known.add(names[0], Limits(), secrets.token_bytes)  # it makes the list of them
    with ThreadPoolExecutor(ADDED_AT_ONCE) as pool:  # each waits for the disk
        list(pool.map(lambda name: known.add(name, Limits(), secrets.token_bytes), names[1:]))
    known.close()
    return names


def _cpu_each(running: Running, port: int, names: list[str]) -> float:
    """Return the companion's processor time for the first page of each of some tenants, each for another address."""
    before = running.cpu_s()
    for n, name in enumerate(names):
        _get(port, f"{prefix_of(name)}/", f"127.1.{n // 250}.{n % 250 + 1}")
    return (running.cpu_s() - before) / len(names)


def _get(port: int, path: str, address: str) -> None:
    connection = http.client.HTTPConnection(HOST, port, timeout=120, source_address=(address, 0))
    try:
        connection.request("GET", path)
        if (answer := connection.getresponse()).status != http.HTTPStatus.OK:
            raise BenchError(f"{path} gave {answer.status}; expected 200; it said: {answer.read()[:300]!r}")
        answer.read()
    finally:
        connection.close()


def _at_rest(running: Running) -> float:
    """Return the seconds of processor time a second with nothing to do."""
    time.sleep(2)
    before = running.cpu_s()
    time.sleep(REST_S)
    return (running.cpu_s() - before) / REST_S

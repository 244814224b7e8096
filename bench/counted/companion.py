"""What the companion executes."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator
from functools import partial

from bench.club.temples import Temples
from bench.tools import daemons
from bench.tools.instructions import Meter, instructions
from bench.tools.phone import Phone
from bench.tools.programs import HOST, BenchError, Programs, wait_until
from bench.tools.readers import Readers

TOKENS = 10
PHONES = (0, 4, 40)
MOVES = 12
ASKED = 11
"""How often each page is asked for, of which the median counts."""

BACKLOG = 1_000
SETTLE_S = 2.0
"""After what was waited for, until what follows from it is done too, under Valgrind."""

PATIENCE_S = 30.0


def starts(programs: Programs, port: int) -> Iterator[tuple[str, int]]:
    """Start it twice, the first time without a store, until it has answered with a page."""
    for which in ("first", "later"):
        companion = daemons.start_companion(programs, port)
        ask(programs, companion, companion.table)
        yield f"companion, {which} start to the first page", instructions(companion.running)
        companion.running.end()


def work(programs: Programs, port: int, rest_s: float) -> Iterator[tuple[str, int]]:
    """Let it rest; serve pages, moves and phones; receive tokens."""
    companion = daemons.start_companion(programs, port, daemons.CROWD)
    running = companion.running
    time.sleep(SETTLE_S)
    meter = Meter(running, rest_s)
    yield "companion, a minute at rest", round(meter.rest_per_s * 60)
    yield from _pages(programs, companion, meter)
    with Phone(companion, patience_s=60 * programs.patience) as phone:
        for _ in range(4):
            phone.end_turn()
        yield "companion, a move", meter.median(MOVES, phone.end_turn)
    yield "companion, a phone that reconnects", _streams(programs, companion, meter)
    with Temples(port, [daemons.TEMPLE]) as temples:
        for phones in PHONES:
            with Readers([(companion.port, companion.table)], phones) as readers:
                readers.wait_for_first(PATIENCE_S * programs.patience)
                drop(programs, temples, readers, phones)
                a_token = partial(_settled_drop, programs, temples, readers, phones)
                yield f"companion, a token with {phones} phones", meter.median(TOKENS, a_token)
        meter.begin()
        temples.drop(daemons.TEMPLE, BACKLOG)
        temples.wait(PATIENCE_S * programs.patience)
        time.sleep(SETTLE_S)
        yield f"companion, a backlog of {BACKLOG:,} received", meter.count()
    running.end()


def _pages(programs: Programs, companion: daemons.Companion, meter: Meter) -> Iterator[tuple[str, int]]:
    pages = {
        "the first page": "/",
        "a table": companion.table,
        "a table's screen": f"{companion.table}/screen",
        "a table's rules": f"{companion.table}/rules",
        "the temples": "/temples",
        "a temple": f"/temples/{daemons.TEMPLE}",
        "a new table": "/tables/new",
        "joining": f"/j/{companion.code}",
        "metrics": "/metrics",
        "a script": "/static/table.js",
    }
    for what, path in pages.items():
        ask(programs, companion, path)
        yield f"companion, page: {what}", meter.median(ASKED, partial(ask, programs, companion, path))


def ask(programs: Programs, companion: daemons.Companion, path: str) -> None:
    """Ask for a page; raises `BenchError` where there is none."""
    connection = http.client.HTTPConnection(HOST, companion.port, PATIENCE_S * programs.patience)
    try:
        connection.request("GET", path, headers={"Accept-Language": "en"})
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        raise BenchError(f"{path} is answered with {answer.status}; expected 200")


def _streams(programs: Programs, companion: daemons.Companion, meter: Meter) -> int:
    """Return what one stream takes, from its request to its first event."""

    def reconnect() -> None:
        with Readers([(companion.port, companion.table)], 1) as readers:
            readers.wait_for_first(PATIENCE_S * programs.patience)

    reconnect()
    return meter.median(ASKED, reconnect)


def _settled_drop(programs: Programs, temples: Temples, readers: Readers, phones: int) -> None:
    drop(programs, temples, readers, phones)
    time.sleep(SETTLE_S)


def drop(programs: Programs, temples: Temples, readers: Readers, phones: int) -> None:
    """Let one token fall, and wait until it is acknowledged and every phone shows it."""
    seen = list(readers.events)
    temples.drop(daemons.TEMPLE)
    temples.wait(PATIENCE_S * programs.patience)
    wait_until(
        lambda: all(now > was for now, was in zip(readers.events, seen, strict=True)),
        PATIENCE_S * programs.patience,
        f"a token on {phones} phones",
    )

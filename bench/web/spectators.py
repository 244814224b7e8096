"""What each of many spectators of one table costs the companion: memory of a stream, processor time of an event."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.tools import daemons
from bench.tools.figures import Chapter, Row
from bench.tools.programs import BenchError, Programs, wait_until
from bench.tools.readers import Readers

TOKENS = 20
DARK_MS = 12
PAUSE_S = 0.3


@dataclass(frozen=True, slots=True)
class Watched:
    """The cost of a number of streams."""

    memory: float
    """MiB, of the companion (PSS)."""
    processor: float
    """Seconds for a token."""
    size: float
    """Bytes that one stream is sent for a token."""
    spread: float
    """Seconds from the first stream's event to the last one's, in the median."""


def measure(programs: Programs, counts: Sequence[int]) -> Chapter:
    """Let spectators watch one table while tokens fall; raises `BenchError`."""
    port = programs.mosquitto()
    controller = daemons.start_controller(programs, port)
    companion = daemons.start_companion(programs, port, {"WEB_STREAMS": str(max(counts)), "WEB_STREAMS_EACH": "64"})
    _watched(companion, controller, 1)
    alone = companion.running.memory()[0]
    rows: list[Row] = []
    for count in counts:
        found = _watched(companion, controller, count)
        memory = (found.memory - alone) * 1024 / count
        rows += [
            Row(f"{count:,} streams, memory of each (PSS)", "KiB", memory, target=60),
            Row(f"{count:,} streams, CPU of a token", "ms", found.processor * 1e3),
            Row(f"{count:,} streams, CPU of an event", "ms", found.processor * 1e3 / count),
            Row(f"{count:,} streams, a token's event on the wire", "B", found.size),
            Row(f"{count:,} streams, first reader to last", "ms", found.spread * 1e3),
        ]
    return Chapter(
        "Spectators of one table",
        tuple(rows),
        f"{TOKENS} tokens for each number of streams, {PAUSE_S} s apart. A token's CPU is that of the whole"
        " companion: it stores the token, draws what changed, and sends it to every stream.",
    )


def _watched(companion: daemons.Companion, controller: daemons.Controller, count: int) -> Watched:
    with Readers([(companion.port, companion.table)], count) as readers:
        readers.wait_for_first()
        time.sleep(1)
        spreads, before, received = [], companion.running.cpu_s(), readers.received
        for _ in range(TOKENS):
            readers.arrivals.clear()
            controller.breaks().drop(daemons.PINS[0], DARK_MS)
            wait_until(
                lambda: readers.closed > 0 or len({who for _, who in list(readers.arrivals)}) == count,
                60,
                "a token's event on every stream",
            )
            if readers.closed:
                raise BenchError(f"{readers.closed} of {count} streams were closed; expected all to stay open")
            times = [at for at, _ in readers.arrivals]
            spreads.append((max(times) - min(times)) / 1e9)
            time.sleep(PAUSE_S)
        spent = (companion.running.cpu_s() - before) / TOKENS
        size = (readers.received - received) / TOKENS / count
        memory = companion.running.memory()[0]
    return Watched(memory, spent, size, statistics.median(spreads))

"""What one hostile client costs the others: how long a page and a token take, at rest and under attack."""

from __future__ import annotations

import http.client
import threading
import time
from dataclasses import dataclass, field

from bench.tools import daemons
from bench.tools.figures import Chapter, Row, spread
from bench.tools.programs import HOST, BenchError, Programs
from bench.tools.stopwatch import MS, Listener
from bench.web.attacks import CONNECTIONS, PER_SECOND, READERS
from templo import contract

ATTACKS = {
    "half-open": f"{CONNECTIONS} half-open connections",
    "slow-heads": f"{CONNECTIONS} heads, a byte a second",
    "uploads": "decks of deep keys",
    "stories": f"the table's story on {READERS} connections",
    "flood": f"{PER_SECOND:,} tokens/s at the broker",
}
DARK_MS = 12
PHONE = "127.0.0.2"
"""Where the phone that is measured comes from; the attacks come from `HOST`."""

PAUSE_S = 0.2
PATIENCE_S = 60.0
PAGE_MS = 1000
TOKEN_MS = 2000
"""The most that any single client may cost the others."""


@dataclass(slots=True)
class Waits:
    """Milliseconds that pages and tokens took."""

    pages: list[float] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)


class Acknowledged:
    """The number of the last token that the companion acknowledged to one ledger, and when."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._source = ""
        self._last = (0, 0)

    def last(self) -> tuple[int, int]:
        """Return number and time in monotonic nanoseconds; acknowledgements of other ledgers do not count."""
        news = list(self._listener.received)
        del self._listener.received[: len(news)]
        for received in news:
            ack = contract.decode(contract.Ack.leaf, received.payload)
            assert isinstance(ack, contract.Ack)
            self._source = self._source or ack.source  # the first is the temple's own: no attack has begun
            if ack.source == self._source and ack.seq > self._last[0]:
                self._last = ack.seq, received.at_ns
        return self._last


def measure(programs: Programs, seconds: float) -> Chapter:
    """Time pages and tokens at rest and under each attack.

    A token that is not acknowledged within `PATIENCE_S`
    counts as having taken that long, and ends its attack.
    """
    port = programs.mosquitto()
    companion = daemons.start_companion(programs, port)
    controller = daemons.start_controller(programs, port)
    found: dict[str, Waits] = {}
    times: dict[str, str] = {}
    with Listener(port, (contract.topic(daemons.TEMPLE, contract.Ack.leaf),)) as listener:
        time.sleep(1)
        acknowledged = Acknowledged(listener)
        _during(companion, controller, acknowledged, 2)  # the first one only warms up
        found["quiet"] = _during(companion, controller, acknowledged, seconds)
        for kind in ATTACKS:
            attacker = programs.python(
                kind,
                *("-m", "bench.web.attacks", kind, "--web", str(companion.port), "--broker", str(port)),
                *("--temple", daemons.TEMPLE, "--table", companion.table, "--seconds", str(seconds + 2)),
            )
            attacker.wait_for("attacking")
            time.sleep(1)
            found[kind] = _during(companion, controller, acknowledged, seconds)
            attacker.process.wait(PATIENCE_S)
            times[kind] = attacker.wait_for("times") if attacker.process.returncode == 0 else attacker.said()[-300:]
            companion.running.check()
    return _chapter(found, times, seconds)


def _during(
    companion: daemons.Companion, controller: daemons.Controller, acknowledged: Acknowledged, seconds: float
) -> Waits:
    waits = Waits()
    ends = time.monotonic() + seconds
    failed: list[str] = []

    def browse() -> None:
        while time.monotonic() < ends:
            try:
                waits.pages.append(_page_ms(companion))
            except (OSError, http.client.HTTPException, BenchError) as error:
                failed.append(f"a page failed: {error!r}; expected it within {PATIENCE_S:g} s")
                return
            time.sleep(PAUSE_S)

    browsing = threading.Thread(target=browse)
    browsing.start()
    late = False
    beams = controller.breaks()
    n = 0
    while time.monotonic() < ends and not late:
        before, _ = acknowledged.last()
        driven = beams.drop(daemons.PINS[n % 2], DARK_MS)
        deadline = time.monotonic() + PATIENCE_S
        while (last := acknowledged.last())[0] <= before:
            if late := time.monotonic() > deadline:
                break
            time.sleep(0.001)
        waits.tokens.append(PATIENCE_S * 1000 if late else (last[1] - driven.clear_ns) / MS)
        n += 1
        time.sleep(PAUSE_S)
    browsing.join()
    if failed:
        raise BenchError(failed[0])
    return waits


def _page_ms(companion: daemons.Companion) -> float:
    began = time.monotonic()
    connection = http.client.HTTPConnection(HOST, companion.port, PATIENCE_S, (PHONE, 0))
    try:
        connection.request("GET", companion.table, headers={"Connection": "close"})
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        raise BenchError(f"{companion.table} is answered with {answer.status}; expected 200")
    return (time.monotonic() - began) * 1000


def _chapter(found: dict[str, Waits], times: dict[str, str], seconds: float) -> Chapter:
    rows = []
    for kind, waits in found.items():
        for what, samples, most in (("a page", waits.pages, PAGE_MS), ("a token", waits.tokens, TOKEN_MS)):
            figures = spread(samples)
            target = None if kind == "quiet" else most
            rows += [
                Row(f"{kind}: {what}, median", "ms", figures.median),
                Row(f"{kind}: {what}, p95", "ms", figures.p95),
                Row(f"{kind}: {what}, longest of {figures.count}", "ms", figures.worst, target=target),
            ]
    done = "; ".join(f"{kind}: {ATTACKS[kind]}, {how_often} in all" for kind, how_often in times.items())
    return Chapter(
        "One hostile client",
        tuple(rows),
        f"{seconds:g} s each, everything on this machine and its loopback, the attacker a process of its own at"
        f" {HOST}, the phone at {PHONE}. A page is the running table's, each on a new connection; a token is from its"
        f" beam clear to the companion's acknowledgement, which follows its commit. {done}.",
    )

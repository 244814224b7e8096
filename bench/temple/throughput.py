"""How many tokens a second pass from beam to acknowledgement, and whether each of a burst arrives exactly once."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass

import paho.mqtt.client as paho

from bench.tools import daemons
from bench.tools.figures import Chapter, Row
from bench.tools.programs import BenchError, Programs, wait_until
from bench.tools.stopwatch import Driven, Listener, Received
from controller.adapters.sqlite_ledger import FILE_NAME
from templo import contract

DARK_MS = CLEAR_MS = 0.2
"""Far faster than beads fall: the beams must not be what is measured."""

LIMITS = {
    "COUNTING_MIN_BREAK_MS": "0.1",
    "COUNTING_MIN_CLEAR_MS": "0.1",
    "COUNTING_FLICKER_PER_S": "10000",
    "COUNTING_FASTEST_PER_S": "10000",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What the companion's store and the controller's ledger hold after a run."""

    fallen: int
    recorded: int
    kept: int
    events: int
    """Tokens that the table has in its log."""
    twice: int


def _audit(controller: daemons.Controller, companion: daemons.Companion, fallen: int) -> Kept:
    """Count on both disks. The store is searched for a token under two numbers; its key rules out the reverse."""
    ledger = controller.state / FILE_NAME
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        recorded = connection.execute("SELECT count(*) FROM token").fetchone()[0]
    with closing(sqlite3.connect(f"file:{companion.database}?mode=ro", uri=True)) as connection:
        kept, different = connection.execute("SELECT count(*), count(DISTINCT token) FROM token").fetchone()
        events = connection.execute("SELECT count(*) FROM entry WHERE \"by\" = 'temple'").fetchone()[0]
    return Kept(fallen, recorded, kept, events, kept - different)


class Through:
    """Watches what the companion acknowledges."""

    def __init__(self) -> None:
        self.seq = 0
        self.at_ns = 0

    def __call__(self, client: paho.Client, received: Received) -> None:
        """Record one acknowledgement."""
        ack = contract.decode(contract.Ack.leaf, received.payload)
        assert isinstance(ack, contract.Ack)
        self.seq, self.at_ns = max(self.seq, ack.seq), received.at_ns


def measure(programs: Programs, burst: int, seconds: float) -> Chapter:
    """Break both beams as fast as possible: `burst` times, then for a while; raises `BenchError`."""
    port = programs.mosquitto()
    companion = daemons.start_companion(programs, port)
    controller = daemons.start_controller(programs, port, LIMITS)
    through = Through()
    with Listener(port, (contract.topic(daemons.TEMPLE, contract.Ack.leaf),), through):
        time.sleep(1)
        driven = _fall(controller, burst)
        fallen = burst
        offered = burst / ((driven.clear_ns - driven.dark_ns) / 1e9)
        _acknowledged(controller, companion, through, fallen)
        drained = (through.at_ns - driven.dark_ns) / 1e9
        after_burst = _audit(controller, companion, fallen)
        steady = max(200, int(seconds * 0.9 * fallen / drained))
        began = time.monotonic_ns()
        _fall(controller, steady)
        fallen += steady
        _acknowledged(controller, companion, through, fallen)
        rate = steady / ((through.at_ns - began) / 1e9)
        after = _audit(controller, companion, fallen)
    return Chapter(
        "Whole way: beam, ledger, mosquitto, store with table, acknowledgement",
        (
            Row(f"a burst of {burst:,}: lost", "tokens", burst - after_burst.kept, target=0),
            Row(f"a burst of {burst:,}: doubled", "tokens", after_burst.twice, target=0),
            Row(f"a burst of {burst:,}: not in the table's log", "tokens", burst - after_burst.events, target=0),
            Row(f"a burst of {burst:,}: first beam dark to all acknowledged", "s", drained),
            Row("sustained", "tokens/s", rate),
            Row("sustained: lost or doubled", "tokens", fallen - after.kept + after.twice, target=0),
        ),
        f"Both beams alternating, {DARK_MS:g} ms dark and clear, with the counting limits lowered for this"
        f" measurement only. The burst fell at {offered:,.0f} tokens/s; sustained means {steady:,} more at one table"
        " (a game has 260), from the first edge until the last is acknowledged. A token is acknowledged once the"
        " companion's SQLite (WAL, synchronous=FULL) holds it together with its event at a table; lost and doubled"
        " are counted on both disks.",
    )


def _fall(controller: daemons.Controller, times: int) -> Driven:
    one, other = daemons.PINS
    return controller.breaks().burst((one, other), times, DARK_MS, CLEAR_MS)


def _acknowledged(
    controller: daemons.Controller, companion: daemons.Companion, through: Through, fallen: int
) -> None:
    def done() -> bool:
        controller.running.check()
        companion.running.check()
        return through.seq >= fallen

    try:
        wait_until(done, 120, f"token {fallen} to be acknowledged")
    except BenchError as error:
        held = _audit(controller, companion, fallen)
        raise BenchError(f"{error}; acknowledged up to {through.seq}, and on disk: {held}") from error

"""How fast 100,000 waiting tokens drain once there is a connection, whether in order, and the memory they need."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from bench.tools import daemons
from bench.tools.figures import Chapter, Row
from bench.tools.programs import HOST, ROOT, BenchError, Programs, Running, free_port, wait_until
from bench.tools.stopwatch import Listener, Received
from controller.adapters.sqlite_ledger import FILE_NAME
from templo import contract

PATIENCE_S = 900.0


def measure(programs: Programs, tokens: int) -> Chapter:
    """Fill a ledger without a companion, then connect one; raises `BenchError` if the ledger does not drain."""
    port = programs.mosquitto()
    state = programs.folder / "controller"
    words = ["drop", "tlaloc", "--count", str(tokens), "--new", "--simulate", "--state", str(state)]
    filled = subprocess.run([sys.executable, "-m", "controller", *words], cwd=ROOT, capture_output=True, check=False)
    if filled.returncode:
        raise BenchError(f"the ledger could not be filled: {filled.stderr.decode()[-500:]}")
    controller = daemons.start_controller(programs, port, simulated=True)
    with Listener(
        port, (contract.topic(daemons.TEMPLE, contract.Ack.leaf), contract.topic(daemons.TEMPLE, contract.Token.leaf))
    ) as received:
        time.sleep(3)
        before = _resident_mib(controller.running)
        began = time.monotonic()
        companion = _companion(programs, port)
        first = _resident_mib(companion)
        most = [before, first]

        def drained() -> bool:
            controller.running.check()
            companion.check()
            most[:] = max(most[0], _resident_mib(controller.running)), max(most[1], _resident_mib(companion))
            return _acknowledged(received.received[-50:]) >= tokens

        wait_until(drained, PATIENCE_S, f"all {tokens:,} tokens to be acknowledged")
        took_s = time.monotonic() - began
        order = _first_published(received.under(contract.topic(daemons.TEMPLE, contract.Token.leaf)))
    same = _both_hold_the_same(state / FILE_NAME, programs.folder / "companion" / "companion.sqlite")
    return Chapter(
        "The link was down",
        (
            Row("tokens that waited", "tokens", tokens),
            Row("lost, doubled or another", "tokens", same, target=0),
            Row("published for the first time out of order", "tokens", _inversions(order), target=0),
            Row("drained", "tokens/s", tokens / took_s, target=500, more=True),
            Row("controller, memory it grew by (RSS)", "MiB", most[0] - before, target=50),
            Row("companion, memory it grew by (RSS)", "MiB", most[1] - first, target=50),
        ),
        "Through mosquitto into a companion whose temple serves no table, from the companion's start, which counts,"
        " to the last acknowledgement; at most 20 tokens are on their way at a time. Compared on both disks.",
    )


def _companion(programs: Programs, port: int) -> Running:
    running = programs.python(
        "companion",
        *("-m", "companion", "run", "--host", HOST, "--port", str(free_port())),
        *("--state", str(programs.folder / "companion"), "--broker", f"{HOST}:{port}"),
    )
    running.wait_for("ready")
    return running


def _resident_mib(running: Running) -> float:
    return running.status("VmRSS") / 1024


def _acknowledged(received: list[Received]) -> int:
    acks = (
        contract.decode(contract.Ack.leaf, each.payload)
        for each in received
        if each.topic.endswith(contract.Ack.leaf)
    )
    return max((ack.seq for ack in acks if isinstance(ack, contract.Ack)), default=0)


def _first_published(received: list[Received]) -> list[int]:
    """Return the numbers of the tokens in the order in which each first arrived."""
    tokens = (contract.decode(contract.Token.leaf, each.payload) for each in received)
    return list(dict.fromkeys(token.seq for token in tokens if isinstance(token, contract.Token)))


def _inversions(order: list[int]) -> int:
    return sum(later < earlier for earlier, later in pairwise(order))


def _both_hold_the_same(ledger: Path, store: Path) -> int:
    rows = []
    for database in (ledger, store):
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            rows.append(connection.execute("SELECT seq, token FROM token ORDER BY seq").fetchall())
    return len(set(rows[0]) ^ set(rows[1])) + abs(len(rows[0]) - len(rows[1]))

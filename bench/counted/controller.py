"""What the controller executes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

from bench.tools import daemons
from bench.tools.instructions import Meter, instructions
from bench.tools.programs import Programs, Running, wait_until
from bench.tools.stopwatch import Listener
from templo import contract

TOKENS = 10
BACKLOG = 1_000
SETTLE_S = 2.0
"""After what was waited for, until what follows from it is done too, under Valgrind."""

PATIENCE_S = 60.0


def starts(programs: Programs) -> Iterator[tuple[str, int]]:
    """Start it twice, the first time without a ledger, until the broker has the status of a temple that counts."""
    for which in ("first", "later"):
        running = _started(programs)[0]
        yield f"controller, {which} start to counting", instructions(running)
        running.end()


def work(programs: Programs, rest_s: float) -> Iterator[tuple[str, int]]:
    """Let it rest, count tokens, and send what waited for a companion."""
    running, port = _started(programs)
    time.sleep(SETTLE_S)
    with _Companion(port) as companion:
        wait_until(companion.is_connected, 10, "a subscription")
        meter = Meter(running, rest_s)
        yield "controller, a minute at rest", round(meter.rest_per_s * 60)
        yield "controller, a token", meter.median(TOKENS, partial(_settled_drop, programs, companion))
    running.end()
    daemons.drop(programs, BACKLOG)
    running, port = _started(programs)
    time.sleep(SETTLE_S)
    before = instructions(running)
    with _Companion(port) as companion:
        wait_until(
            lambda: companion.acknowledged >= TOKENS + BACKLOG, PATIENCE_S * programs.patience, "a backlog to be sent"
        )
        time.sleep(SETTLE_S)
        yield f"controller, a backlog of {BACKLOG:,} sent", instructions(running) - before
    running.end()


def _settled_drop(programs: Programs, companion: _Companion) -> None:
    """Let one token fall; of two, the second would cost less, as they would be stored and sent together."""
    before = companion.acknowledged
    daemons.drop(programs, 1)
    wait_until(lambda: companion.acknowledged > before, PATIENCE_S * programs.patience, "a token to be published")
    time.sleep(SETTLE_S)


def _started(programs: Programs) -> tuple[Running, int]:
    """Start it with a broker of its own, which has no status of one before; return the broker's port too."""
    port = programs.mosquitto()
    return daemons.start_controller(programs, port, simulated=True).running, port


class _Companion(Listener):
    """A subscriber that acknowledges tokens."""

    def __init__(self, port: int) -> None:
        leaves = (contract.Status.leaf, contract.Token.leaf)
        super().__init__(port, tuple(contract.topic(daemons.TEMPLE, leaf) for leaf in leaves), daemons.acknowledge)

    def is_connected(self) -> bool:
        """Whether the temple's retained status has come, and so the subscription holds."""
        return bool(self.received)

    @property
    def acknowledged(self) -> int:
        """The highest number of a token that came."""
        tokens = self.under(contract.topic(daemons.TEMPLE, contract.Token.leaf))
        found = [contract.decode(contract.Token.leaf, each.payload) for each in tokens]
        return max((token.seq for token in found if isinstance(token, contract.Token)), default=0)

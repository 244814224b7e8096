"""How long it takes from a beam to a subscriber: our controller beside mqtt-io, alternating, on one broker."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.temple import peer
from bench.tools import daemons
from bench.tools.figures import Chapter, Row, spread
from bench.tools.programs import BenchError, Programs, wait_until
from bench.tools.stopwatch import MS, Beams, Driven, Listener, Received, paced
from controller.core.counting import Limits
from templo import contract

PER_SECOND = 20
DARK_MS = 12
"""A bead of 8 mm on a slope of 25 degrees."""

POLL_S = 0.1
"""mqtt-io's own default, named here because the row's name contains it."""


@dataclass(slots=True)
class Side:
    """One side: its beam, its topic, the tokens that were dropped and the messages that came."""

    name: str
    beams: Beams
    topic: str
    edges: bool
    """Whether it publishes both edges that it detects, ``ON`` and ``OFF``, rather than one message a token."""
    driven: list[Driven] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    """Milliseconds from a beam clear to its message, for each token that was detected."""

    def settle(self, received: Sequence[Received], driven: Sequence[Driven]) -> None:
        """Match each message of a round with its token: tokens by their order, edges by their times."""
        self.driven += driven
        if not self.edges:
            self.waits += [(each.at_ns - token.clear_ns) / MS for each, token in zip(received, driven, strict=False)]
            return
        darkened = [token.dark_ns for token in driven]
        begun: Driven | None = None
        for each in received:
            if each.payload == b"ON":
                which = bisect_right(darkened, each.at_ns) - 1
                begun = driven[which] if which >= 0 else None
            elif begun is not None:
                self.waits.append((each.at_ns - begun.clear_ns) / MS)
                begun = None


def measure(programs: Programs, rounds: int, tokens: int) -> Chapter:
    """Drop `rounds` times `tokens` tokens into each side, alternating; raises `BenchError` if one is not detected."""
    port = programs.mosquitto()
    controller = daemons.start_controller(programs, port)
    by_interrupt = peer.start(programs, "mqtt-io-interrupt", port, daemons.PINS[0], interrupt="falling")
    by_polling = peer.start(programs, "mqtt-io-polling", port, daemons.PINS[0], poll_interval=POLL_S)
    own_topic = contract.topic(daemons.TEMPLE, contract.Token.leaf)
    sides = [
        Side("ours", controller.breaks(), own_topic, edges=False),
        Side("mqtt-io by interrupt", by_interrupt.beams, by_interrupt.topic, edges=False),
        Side("mqtt-io by polling", by_polling.beams, by_polling.topic, edges=True),
    ]
    topics = (own_topic, f"{by_interrupt.topic.partition('/')[0]}/#", f"{by_polling.topic.partition('/')[0]}/#")
    with Listener(port, topics, daemons.acknowledge) as listener:
        for each in (by_interrupt, by_polling):
            status = f"{each.topic.partition('/')[0]}/status"
            wait_until(lambda status=status: bool(listener.under(status)), 20, f"mqtt-io at {status}")  # type: ignore[misc]
        time.sleep(0.5)
        for side in sides:  # the first one only warms up
            for _ in paced(10, PER_SECOND, 0):
                side.beams.drop(daemons.PINS[0], DARK_MS)
        time.sleep(0.5)
        for n in range(rounds):
            for side in sides:
                already = len(listener.under(side.topic))
                driven = [side.beams.drop(daemons.PINS[0], DARK_MS) for _ in paced(tokens, PER_SECOND, n)]
                time.sleep(2 * POLL_S)
                side.settle(listener.under(side.topic)[already:], driven)
    ours, interrupt, polling = sides
    for side in (ours, interrupt):
        if len(side.waits) != len(side.driven):
            raise BenchError(f"{side.name} published {len(side.waits)} tokens; expected all {len(side.driven)}")
    return _chapter(ours, interrupt, polling)


def _chapter(ours: Side, interrupt: Side, polling: Side) -> Chapter:
    quiet = Limits().min_clear / MS
    own, edge = spread(ours.waits), spread(interrupt.waits)
    slow = spread(polling.waits).median if polling.waits else None
    share = 100 * len(polling.waits) / len(polling.driven)
    return Chapter(
        f"Beam to subscriber, {PER_SECOND} tokens/s",
        (
            Row("beam clear to the token known, median", "ms", own.median, edge.median + quiet, edge.median + quiet),
            Row("beam clear to the token known, p99", "ms", own.p99, edge.p99 + quiet),
            Row("the same without the quiet, median", "ms", own.median - quiet, edge.median),
            Row("the same without the quiet, p99", "ms", own.p99 - quiet, edge.p99),
            Row("beam clear to the token known, beside its default polling", "ms", own.median, slow),
            Row("tokens detected, beside its default polling", "%", 100.0, share),
        ),
        f"{own.count} tokens a side in alternating rounds on one mosquitto, each {DARK_MS} ms dark, driven the same"
        " way into gpiozero's mock pins inside the unchanged program, stamped by one subscriber. Ours: a ledger with"
        " one fsync a token, QoS 1, acknowledged. mqtt-io 2.7.0: no ledger, QoS 0; once in its best configuration,"
        f" with interrupts for clear edges only, and once with its default, polling every {POLL_S * 1000:g} ms, which"
        " detects a token only if a poll falls into its dark spell. mqtt-io publishes edges, ours tokens: an edge is"
        f" a token only once the beam has stayed clear for {quiet:g} ms, because a bouncing bead clears it more than"
        " once. Anyone who counts with mqtt-io has to wait that long after its OFF message: the first two rows add"
        " the same quiet to its figures, the next two subtract it from both.",
    )

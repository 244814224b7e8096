"""What is lost or out of order while the broker is down, for our controller and for mqtt-io."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import paho.mqtt.client as paho

from bench.temple import peer
from bench.tools import daemons
from bench.tools.figures import Chapter, Row
from bench.tools.programs import BenchError, Programs, Running, free_port, wait_until
from bench.tools.stopwatch import Beams, Listener, Received, paced
from templo import contract

DARK_MS, CLEAR_S = 8, 0.01
"""Tokens stay apart however late the machine is: closer ones would rightly be one token, or a flicker."""

OUTAGES = ((5, 150, 8.0), (50, 1000, 5.0))
"""Tokens a second, how many in all, and for how long the broker is down in the middle of them."""

IN_TURN = (2000, 50)
"""Tokens through both slots in turn with nothing down, and how many a second."""

PATIENCE_S = 60.0


@dataclass(slots=True)
class Side:
    """One side: what breaks its beams, its topics, and what it published."""

    beams: Beams
    topics: tuple[str, str]
    """Of the first slot and of the second; ours publishes both under one."""
    ours: bool

    def published(self, received: Sequence[Received]) -> list[int]:
        """Return the slots of the published tokens, in the order in which a listener must take them.

        Ours are numbered: a repeated one counts once, and a later number that comes first waits for its turn.
        """
        if not self.ours:
            return [self.topics.index(each.topic) for each in received if each.topic in self.topics]
        tokens: dict[int, contract.Token] = {}
        for each in received:
            if each.topic == self.topics[0]:
                token = contract.decode(contract.Token.leaf, each.payload)
                assert isinstance(token, contract.Token)
                tokens.setdefault(token.seq, token)
        return [list(contract.God).index(token.god) for _, token in sorted(tokens.items())]


@dataclass(frozen=True, slots=True)
class Lost:
    """Of one outage: how many tokens fell, and how many each side never published."""

    ours: int
    theirs: int


class Broker:
    """A mosquitto that is killed and started again on its port, with nothing left of what it held."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self.port = free_port()
        self._starts = 0
        self._running: Running | None = None

    def start(self) -> None:
        """Start it."""
        self._starts += 1
        running = self._running = self._programs.start_mosquitto(f"mosquitto-{self._starts}", self.port)
        wait_until(lambda: "running" in running.said(), 10, "mosquitto")

    def kill(self) -> None:
        """End it as a power cut does."""
        assert self._running is not None
        self._running.process.kill()
        self._running.process.wait()


def measure(programs: Programs) -> Chapter:
    """Drop the same tokens into both programs at once, through the same outages; then in turn without one."""
    broker = Broker(programs)
    broker.start()
    controller = daemons.start_controller(programs, broker.port)
    other = peer.start_both(programs, "mqtt-io-outage", broker.port, daemons.PINS, interrupt="falling")
    own_topic = contract.topic(daemons.TEMPLE, contract.Token.leaf)
    ours = Side(controller.breaks(), (own_topic, own_topic), ours=True)
    theirs = Side(other.beams, other.topics, ours=False)

    def acknowledge(client: paho.Client, received: Received) -> None:
        """Acknowledge as a companion that has everything so far: the order is checked by the numbers afterwards."""
        if received.topic == own_topic:
            token = contract.decode(contract.Token.leaf, received.payload)
            assert isinstance(token, contract.Token)
            if token.seq == 1 + acknowledged[-1]:
                acknowledged.append(token.seq)
            client.publish(
                contract.topic(daemons.TEMPLE, contract.Ack.leaf),
                contract.encode(contract.Ack(token.source, acknowledged[-1])),
                qos=1,
            )

    acknowledged = [0]
    status = f"{other.topics[0].partition('/')[0]}/status"
    # mqtt-io publishes at QoS 0: the subscriber must reconnect before mqtt-io does, or would count messages as lost.
    with Listener(broker.port, (own_topic, *other.topics, status), acknowledge, back_s=0.05) as listener:
        wait_until(lambda: bool(listener.under(status)), 30, "mqtt-io's status")
        lost = [_outage(broker, listener, ours, theirs, *each) for each in OUTAGES]
        time.sleep(2)
        own_disorder, their_disorder = (_disorder(listener, side, *IN_TURN) for side in (ours, theirs))
    rows = [
        Row(f"{down_s:g} s down, {tokens:,} at {rate}/s: lost", "tokens", each.ours, each.theirs, target=0)
        for (rate, tokens, down_s), each in zip(OUTAGES, lost, strict=True)
    ]
    alternating = f"{IN_TURN[0]:,} alternating: out of order"
    rows.append(Row(alternating, "tokens", own_disorder, their_disorder, target=0))
    return Chapter(
        "The broker down",
        tuple(rows),
        "Both programs run unchanged with gpiozero's mock pins, each beam 8 ms dark, on one mosquitto without"
        " persistence that is killed with -9 in the middle of the tokens and started again on the same port; both get"
        " the same tokens at the same moments. One subscriber at QoS 1, back at the broker within 0.1 s, acknowledges"
        " ours as a companion does. mqtt-io 2.7.0 uses interrupts for clear edges only. Alternating means first one"
        " slot, then the other: a token is out of order if it arrived when the other slot was due.",
    )


def _outage(
    broker: Broker, listener: Listener, ours: Side, theirs: Side, rate: int, tokens: int, down_s: float
) -> Lost:
    before = [len(side.published(listener.received)) for side in (ours, theirs)]
    droppers = [
        threading.Thread(target=_drop, args=(side, tokens, rate, False), name="dropper") for side in (ours, theirs)
    ]
    for each in droppers:
        each.start()
    time.sleep(max(1.0, (tokens / rate - down_s) / 2))
    broker.kill()
    time.sleep(down_s)
    broker.start()
    for each in droppers:
        each.join()
    _until_still(listener, ours, before[0] + tokens)
    after = [len(side.published(listener.received)) for side in (ours, theirs)]
    return Lost(*(tokens - (now - then) for now, then in zip(after, before, strict=True)))


def _disorder(listener: Listener, side: Side, tokens: int, rate: int) -> int:
    """Return how many of the tokens came when the other slot was due; raises `BenchError` if some never came."""
    before = len(side.published(listener.received))
    _drop(side, tokens, rate, True)
    _until_still(listener, side, before + tokens)
    published = side.published(listener.received)[before:]
    if len(published) != tokens:
        raise BenchError(
            f"{len(published)} of {tokens} tokens came with nothing down; expected all ({Counter(published)})"
        )
    return sum(slot != n % 2 for n, slot in enumerate(published))


def _drop(side: Side, tokens: int, rate: int, in_turn: bool) -> None:
    for n in paced(tokens, rate, rate):
        side.beams.drop(daemons.PINS[n % 2 if in_turn else 0], DARK_MS)
        time.sleep(CLEAR_S)


def _until_still(listener: Listener, side: Side, wanted: int) -> None:
    """Wait until all have arrived, or none has for a while."""
    until, last = time.monotonic() + PATIENCE_S, -1
    still_s = time.monotonic()
    while time.monotonic() < until:
        now = len(listener.received)
        if now != last:
            last, still_s = now, time.monotonic()
        if len(side.published(listener.received)) >= wanted and time.monotonic() - still_s > 3:
            return
        if time.monotonic() - still_s > 20:
            return
        time.sleep(0.2)

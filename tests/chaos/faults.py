"""The faults, each a function that lets it happen, waits until it is over and says in words what it was.

Which happen in which order follows from a seed alone, so that a run that fails can be had again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

from tests.chaos.mqtt import Kind
from tests.chaos.patient import EIO, FULL, READ_ONLY, SYNC
from tests.chaos.proxy import Deed, Meddling, Proxy, Way
from tests.chaos.world import KEEPALIVE_S, Patient, World

Fault: TypeAlias = Callable[[World, random.Random], str]

FROZEN_S = 1.5 * KEEPALIVE_S + 0.3
"""Past the keepalive: a broker gives a client up after one and a half of them, our clients a broker after one."""

OF_THE_TEMPLE = (
    (Kind.PUBLISH, Way.UP, "token"),
    (Kind.PUBLISH, Way.UP, "count"),
    (Kind.PUBACK, Way.DOWN, ""),
    (Kind.PUBLISH, Way.DOWN, "ack"),
    (Kind.PUBACK, Way.UP, ""),
)
OF_THE_COMPANION = (
    (Kind.PUBLISH, Way.DOWN, "token"),
    (Kind.PUBACK, Way.UP, ""),
    (Kind.PUBLISH, Way.UP, "ack"),
    (Kind.PUBACK, Way.DOWN, ""),
)
OF_A_GREETING = ((Kind.CONNECT, Way.UP), (Kind.CONNACK, Way.DOWN), (Kind.SUBSCRIBE, Way.UP), (Kind.SUBACK, Way.DOWN))
CUTS = (Deed.CUT_BEFORE, Deed.CUT_WITHIN, Deed.CUT_AFTER)


def kill_the_temple(world: World, whims: random.Random) -> str:
    world.kill_temple()
    world.temple.start()
    return "kill -9 of the controller"


def kill_the_companion(world: World, whims: random.Random) -> str:
    world.companion.kill()
    world.companion.start()
    return "kill -9 of the companion"


def kill_the_broker(world: World, whims: random.Random) -> str:
    away = round(whims.uniform(0.2, 1.5), 1)
    world.broker.kill()
    time.sleep(away)
    world.broker.start()
    return f"kill -9 of the broker, {away} s without one"


def freeze_the_temple(world: World, whims: random.Random) -> str:
    world.temple.freeze(FROZEN_S)
    return f"the controller frozen for {FROZEN_S} s"


def freeze_the_companion(world: World, whims: random.Random) -> str:
    world.companion.freeze(FROZEN_S)
    return f"the companion frozen for {FROZEN_S} s"


def freeze_the_broker(world: World, whims: random.Random) -> str:
    world.broker.freeze()
    time.sleep(FROZEN_S)
    world.broker.thaw()
    return f"the broker frozen for {FROZEN_S} s"


def spoil_the_temple_s_disk(world: World, whims: random.Random) -> str:
    return _spoil(world.temple, "controller", whims)


def spoil_the_companion_s_disk(world: World, whims: random.Random) -> str:
    return _spoil(world.companion, "companion", whims)


def kill_a_temple_whose_disk_is_full(world: World, whims: random.Random) -> str:
    world.temple.disk(FULL)
    time.sleep(0.3)
    world.kill_temple()
    world.temple.disk(None)
    world.temple.start()
    return "the controller's disk full, then kill -9 of it"


def step_the_temple_s_clock(world: World, whims: random.Random) -> str:
    return _step(world.temple, "controller", whims)


def step_the_companion_s_clock(world: World, whims: random.Random) -> str:
    return _step(world.companion, "companion", whims)


def cut_the_temple_off(world: World, whims: random.Random) -> str:
    return _meddle(world.temple_link, "controller", whims.choice(CUTS), whims.choice(OF_THE_TEMPLE))


def cut_the_companion_off(world: World, whims: random.Random) -> str:
    return _meddle(world.companion_link, "companion", whims.choice(CUTS), whims.choice(OF_THE_COMPANION))


def swallow_a_packet_of_the_temple(world: World, whims: random.Random) -> str:
    return _meddle(world.temple_link, "controller", Deed.SWALLOW, whims.choice(OF_THE_TEMPLE))


def swallow_a_packet_of_the_companion(world: World, whims: random.Random) -> str:
    return _meddle(world.companion_link, "companion", Deed.SWALLOW, whims.choice(OF_THE_COMPANION))


def swallow_a_greeting(world: World, whims: random.Random) -> str:
    """Cut a connection, and swallow a packet of the next one's beginning."""
    kind, way = whims.choice(OF_A_GREETING)
    link, whose = whims.choice(((world.temple_link, "controller"), (world.companion_link, "companion")))
    link.arm(Meddling(Deed.CUT_BEFORE, Kind.PUBLISH, Way.UP))
    link.arm(greeting := Meddling(Deed.SWALLOW, kind, way))
    _until_done(link)
    return f"{whose}: its connection cut, then {greeting}"


def double_a_packet(world: World, whims: random.Random) -> str:
    """Publications alone: a second CONNECT, say, is an error by the standard."""
    link, whose, way, leaf = whims.choice(
        (
            (world.temple_link, "controller", Way.UP, "token"),
            (world.temple_link, "controller", Way.DOWN, "ack"),
            (world.companion_link, "companion", Way.DOWN, "token"),
            (world.companion_link, "companion", Way.UP, "ack"),
        )
    )
    return _meddle(link, whose, Deed.DOUBLE, (Kind.PUBLISH, way, leaf))


def delay_a_packet(world: World, whims: random.Random) -> str:
    if whims.random() < 0.5:
        return _meddle(world.temple_link, "controller", Deed.DELAY, whims.choice(OF_THE_TEMPLE))
    return _meddle(world.companion_link, "companion", Deed.DELAY, whims.choice(OF_THE_COMPANION))


def silence_a_link(world: World, whims: random.Random) -> str:
    link, whose = whims.choice(((world.temple_link, "controller"), (world.companion_link, "companion")))
    link.silence(True)
    time.sleep(FROZEN_S)
    link.silence(False)
    return f"nothing came through between {whose} and broker for {FROZEN_S} s"


LASTING = frozenset({freeze_the_temple, freeze_the_companion, freeze_the_broker, silence_a_link})
"""Faults in which nothing happens for seconds: the next ones may happen meanwhile."""

DECK: tuple[Fault, ...] = (
    kill_the_temple,
    kill_the_companion,
    kill_the_broker,
    freeze_the_temple,
    freeze_the_companion,
    freeze_the_broker,
    spoil_the_temple_s_disk,
    spoil_the_companion_s_disk,
    kill_a_temple_whose_disk_is_full,
    step_the_temple_s_clock,
    step_the_companion_s_clock,
    cut_the_temple_off,
    cut_the_companion_off,
    swallow_a_packet_of_the_temple,
    swallow_a_packet_of_the_companion,
    swallow_a_greeting,
    double_a_packet,
    delay_a_packet,
    silence_a_link,
    kill_the_temple,
)
"""Twenty: forty faults are each of them twice."""


def planned(seed: str, number: int) -> Iterator[tuple[Fault, random.Random]]:
    """Yield faults, each with whims of its own: the deck shuffled anew each time it is through."""
    whims = random.Random(f"{seed} deck")
    deck: list[Fault] = []
    for n in range(number):
        if not deck:
            deck = list(DECK)
            whims.shuffle(deck)
        yield deck.pop(), random.Random(f"{seed} {n}")


def _spoil(program: Patient, whose: str, whims: random.Random) -> str:
    words = {FULL: "full", EIO: "failing every write", SYNC: "failing every sync", READ_ONLY: "read-only"}
    fault = whims.choice(tuple(words))
    spoilt = round(whims.uniform(0.4, 1.2), 1)
    program.disk(fault)
    time.sleep(spoilt)
    program.disk(None)
    return f"the {whose}'s disk {words[fault]} for {spoilt} s"


def _step(program: Patient, whose: str, whims: random.Random) -> str:
    years = whims.choice((-10, 10))
    program.clock(years)
    time.sleep(0.3)
    if whims.random() < 0.5:
        return f"the {whose}'s clock {years:+d} years, and it stays there"
    program.clock(0)
    return f"the {whose}'s clock {years:+d} years, and back"


def _meddle(link: Proxy, whose: str, deed: Deed, packet: tuple[Kind, Way, str]) -> str:
    kind, way, leaf = packet
    link.arm(meddling := Meddling(deed, kind, way, leaf))
    done = _until_done(link)
    return f"{whose}: {meddling}{'' if done else ' (none came by)'}"


def _until_done(link: Proxy) -> bool:
    until = time.monotonic() + 1.5
    while link.armed and time.monotonic() < until:
        time.sleep(0.02)
    return not link.armed

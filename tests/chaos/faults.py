"""The faults, each a function that lets it happen, waits until it is over and says in words what it was.

The seed alone decides which happen in which order, so that a failing run can be repeated.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

from templo.contract import God
from tests.chaos.mqtt import Kind
from tests.chaos.patient import EIO, FULL, READ_ONLY, SYNC
from tests.chaos.proxy import Deed, Meddling, Proxy, Way
from tests.chaos.world import KEEPALIVE_S, Patient, Rain, World

W = TypeVar("W")
Fault: TypeAlias = Callable[[W, random.Random], str]


class NobodyHitError(Exception):
    """A fault had nothing to happen to; the message says what was missing."""


FROZEN_S = 1.5 * KEEPALIVE_S + 0.3
"""Past the keepalive: a broker gives a client up after one and a half of them, our clients a broker after one."""

YEAR_S = 365.25 * 86_400
RAINS_S = 60.0
"""For tokens to fall; a busy machine lets them fall slowly."""

DOUBTED = 12
"""Spells of a lamp, as equal as a machine makes them: a few more than must be seen to doubt them."""

CALMS_S = 1.2
"""So long after the last doubted token of a slot the next one is none."""

STARTS_S = 30.0
"""For a program to be ready or to end."""

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
_DOUBT_UP, _DOUBT_DOWN = (Kind.PUBLISH, Way.UP, "doubt"), (Kind.PUBLISH, Way.DOWN, "doubt")
CUTS = (Deed.CUT_BEFORE, Deed.CUT_WITHIN, Deed.CUT_AFTER)
_AROUND = (Deed.CUT_BEFORE, Deed.CUT_AFTER)


def kill_the_temple(world: World, whims: random.Random) -> str:
    world.temple.die()
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
    world.temple.die()
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


def put_the_ledger_back(world: World, whims: random.Random) -> str:
    """Restore an earlier ledger once everything has arrived: nothing may be missing then."""
    copy = world.copy_ledger()
    world.rain.fallen(RAINS_S)
    world.settle()
    return f"the controller's ledger put back as it had been {_ledger_back(world, copy)} delivered tokens before"


def put_the_ledger_back_at_once(world: World, whims: random.Random) -> str:
    """Restore an earlier ledger while tokens are on their way: those that no companion has are gone with it."""
    copy = world.copy_ledger()
    time.sleep(round(whims.uniform(0.2, 1), 1))
    return f"the controller's ledger put back as it had been {_ledger_back(world, copy)} tokens before"


def put_the_store_back(world: World, whims: random.Random) -> str:
    return f"the companion's database put back as it had been {_store_back(world)} tokens before"


def put_the_store_back_while_clocks_are_apart(world: World, whims: random.Random) -> str:
    """The companion asks for what it lacks, by a clock that is not the temple's."""
    apart_s = whims.choice((-90.0, 90.0, -10 * YEAR_S, 10 * YEAR_S))
    world.companion.clock(0)
    world.temple.clock(apart_s)
    gone = _store_back(world)
    return f"clocks {apart_s:+,.0f} s apart, and the companion's database as it had been {gone} tokens before"


def clone_the_card(world: World, whims: random.Random) -> str:
    """Let a second temple run under the same name from a copy of the state folder for a while."""
    tokens, lives_s = whims.randint(5, 25), round(whims.uniform(1, 6), 1)
    with world.rain.paused():
        first = world.rain.dropped
        clone = world.clone(tokens)
    fell = clone.rain.fallen(RAINS_S)
    world.rain.fallen(RAINS_S)
    time.sleep(lives_s)
    clone.end()
    with world.rain.paused():
        world.settle()
        # While both lived, and while the first had yet to learn of the second, they gave the same numbers.
        world.shared.update(range(first, world.rain.dropped), world.uncertain)
    return f"a cloned card in a second controller: {tokens if fell else 'fewer'} tokens fell there as well"


def start_the_temple_on_a_full_disk(world: World, whims: random.Random) -> str:
    spoilt = round(whims.uniform(0.4, 1.5), 1)
    world.temple.die()
    world.temple.disk(FULL)
    world.temple.start()
    time.sleep(spoilt)
    world.temple.disk(None)
    return f"the controller started on a full disk, which was full for {spoilt} s more"


def start_the_companion_on_a_full_disk(world: World, whims: random.Random) -> str:
    """It may wait for its disk or end with a sentence; its supervisor starts it again then."""
    spoilt = round(whims.uniform(0.4, 1.5), 1)
    world.companion.kill()
    world.companion.disk(FULL)
    world.companion.begin()
    until = time.monotonic() + STARTS_S
    while not world.companion.is_ready() and world.companion.ended() is None and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(spoilt)
    world.companion.disk(None)
    if (code := world.companion.ended()) is not None:
        world.companion.start()
        return f"the companion started on a full disk, ended with {code}, and was started again"
    return f"the companion started on a full disk, which was full for {spoilt} s more"


def exchange_the_companion(world: World, whims: random.Random) -> str:
    """Tokens from before it knew the temple are a question on the temple's page; new ones count."""
    world.exchange_companion()
    return "the companion exchanged for a new one"


def exchange_the_companion_for_a_while(world: World, whims: random.Random) -> str:
    away = world.exchange_companion()
    world.rain.fallen(RAINS_S)
    world.settle()
    world.exchange_companion(away)
    return "the companion exchanged for a new one, and back"


def let_a_lamp_flicker(world: World, whims: random.Random) -> str:
    """Half of the time tokens go on falling into its slot: they are doubted, too, and a person has to decide."""
    slot = flicker(world.rain, whims, spells := whims.randint(DOUBTED, 100))
    if whims.random() < 0.5:
        with world.rain.paused():
            time.sleep(CALMS_S)
    return f"a lamp flickered in the slot of {slot}, {spells} spells"


def let_the_supply_dip(world: World, whims: random.Random) -> str:
    dip(world.rain)
    return "the supply of both beams dipped"


def kill_the_temple_in_doubt(world: World, whims: random.Random) -> str:
    """It has recorded a doubt, and is about to publish it or has just done so."""
    what = _meddle_with_a_doubt(world, whims, world.temple_link, whims.choice(_AROUND), _DOUBT_UP)
    world.temple.die()
    world.temple.start()
    return f"controller: {what}, then kill -9 of it"


def kill_the_companion_in_doubt(world: World, whims: random.Random) -> str:
    """A doubt is about to reach it or has just done so, or it is about to acknowledge one or has just done so."""
    packet = whims.choice((_DOUBT_DOWN, (Kind.PUBLISH, Way.UP, "ack")))
    what = _meddle_with_a_doubt(world, whims, world.companion_link, whims.choice(_AROUND), packet)
    world.companion.kill()
    world.companion.start()
    return f"companion: {what}, then kill -9 of it"


def disturb_a_doubt(world: World, whims: random.Random) -> str:
    link, packet = whims.choice(((world.temple_link, _DOUBT_UP), (world.companion_link, _DOUBT_DOWN)))
    return _meddle_with_a_doubt(world, whims, link, whims.choice(tuple(Deed)), packet)


def decide_about_what_waits(world: World, whims: random.Random) -> str:
    return f"a person decided about {_decide(world, whims)} tokens"


def decide_and_kill_both(world: World, whims: random.Random) -> str:
    decided = _decide(world, whims)
    world.companion.kill()
    world.temple.die()
    world.companion.start()
    world.temple.start()
    return f"a person decided about {decided} tokens, then kill -9 of companion and controller"


LASTING = frozenset({freeze_the_temple, freeze_the_companion, freeze_the_broker, silence_a_link})
"""Faults in which nothing happens for seconds: the next ones may happen meanwhile."""

DECK: tuple[Fault[World], ...] = (
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
    put_the_ledger_back,
    put_the_ledger_back_at_once,
    put_the_store_back,
    put_the_store_back_while_clocks_are_apart,
    clone_the_card,
    start_the_temple_on_a_full_disk,
    start_the_companion_on_a_full_disk,
    exchange_the_companion,
    exchange_the_companion_for_a_while,
    let_a_lamp_flicker,
    let_the_supply_dip,
    kill_the_temple_in_doubt,
    kill_the_companion_in_doubt,
    disturb_a_doubt,
    decide_about_what_waits,
    decide_and_kill_both,
)
"""As many faults as there are kinds are each of them once."""


def flicker(rain: Rain, whims: random.Random, spells: int) -> str:
    """Let a lamp flicker so often; return in which slot."""
    slot = whims.choice(list(God)).value
    if not rain.flicker(slot, spells):
        raise NobodyHitError("no temple was there")
    return slot


def dip(rain: Rain) -> None:
    """Let the supply of both beams dip once."""
    if not rain.dip():
        raise NobodyHitError("no temple was there")


def planned(seed: str, number: int, deck: Sequence[Fault[W]]) -> Iterator[tuple[Fault[W], random.Random]]:
    """Yield faults, each with its own random choices; the deck is shuffled again after each pass."""
    whims = random.Random(f"{seed} deck")
    left: list[Fault[W]] = []
    for n in range(number):
        if not left:
            left = list(deck)
            whims.shuffle(left)
        yield left.pop(), random.Random(f"{seed} {n}")


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
    program.clock(years * YEAR_S)
    time.sleep(0.3)
    if whims.random() < 0.5:
        return f"the {whose}'s clock {years:+d} years, and it stays there"
    program.clock(0)
    return f"the {whose}'s clock {years:+d} years, and back"


def _ledger_back(world: World, copy: Path) -> int:
    world.temple.die()
    gone = world.put_ledger_back(copy)
    world.temple.start()
    return gone


def _store_back(world: World) -> int:
    copy = world.copy_store()
    world.rain.fallen(RAINS_S)
    world.settle()
    world.companion.kill()
    gone = world.put_store_back(copy)
    world.companion.start()
    return gone


def _meddle(link: Proxy, whose: str, deed: Deed, packet: tuple[Kind, Way, str]) -> str:
    kind, way, leaf = packet
    link.arm(meddling := Meddling(deed, kind, way, leaf))
    done = _until_done(link)
    return f"{whose}: {meddling}{'' if done else ' (none came by)'}"


def _meddle_with_a_doubt(
    world: World, whims: random.Random, link: Proxy, deed: Deed, packet: tuple[Kind, Way, str]
) -> str:
    link.arm(meddling := Meddling(deed, *packet))
    flicker(world.rain, whims, DOUBTED)
    done = _until_done(link)
    return f"a lamp flickered, {meddling}{'' if done else ' (none came by)'}"


def _decide(world: World, whims: random.Random) -> int:
    """Let a person decide about what waits; a lamp flickers first if nothing does."""
    until = time.monotonic() + RAINS_S
    while not (decided := world.decide(whims)):
        if time.monotonic() > until:
            raise NobodyHitError("no token waited")
        flicker(world.rain, whims, DOUBTED)
        world.settle()
    return decided


def _until_done(link: Proxy) -> bool:
    until = time.monotonic() + 1.5
    while link.armed and time.monotonic() < until:
        time.sleep(0.02)
    return not link.armed

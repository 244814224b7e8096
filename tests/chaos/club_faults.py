"""Faults of a club: every part of it is killed or frozen, one at a time or while another is frozen."""

from __future__ import annotations

import random
import signal
import time
from contextlib import suppress

import psycopg

from tests.chaos.club import KEEPALIVE_S, Club, signal_all
from tests.chaos.faults import DOUBTED, Fault, NobodyHitError, dip, flicker
from tests.chaos.world import Temple

FROZEN_S = 1.5 * KEEPALIVE_S + 0.3
"""Past the keepalive, as in `tests.chaos.faults`."""

FROZEN_OWNER_S = 30.0

COMMITS_S = 10.0
"""For a backend to be met in COMMIT, which takes a millisecond or two."""

_END_COMMITS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND query = 'COMMIT'"

DECIDES_S = 20.0
"""For a token to be doubted, or to wait for a person."""


def kill_a_companion(club: Club, whims: random.Random) -> str:
    worker = whims.choice(club.workers)
    away = round(whims.uniform(0, 3), 1)
    worker.kill()
    time.sleep(away)
    worker.bring_up()
    return f"kill -9 of worker-{worker.number}, {away} s without it"


def freeze_a_companion(club: Club, whims: random.Random) -> str:
    worker, seconds = whims.choice(club.workers), round(whims.uniform(0.5, 4), 1)
    worker.freeze(seconds)
    return f"worker-{worker.number} frozen for {seconds} s"


def freeze_an_owner(club: Club, whims: random.Random) -> str:
    """Others take over what it owns, while it may stand between reading and committing."""
    worker = whims.choice(club.workers)
    worker.freeze(FROZEN_OWNER_S)
    return f"worker-{worker.number} frozen for {FROZEN_OWNER_S} s, longer than its lease lasts"


def kill_a_broker(club: Club, whims: random.Random) -> str:
    number, away = whims.randrange(len(club.brokers)), round(whims.uniform(0.2, 3), 1)
    club.brokers[number].kill()
    time.sleep(away)
    club.brokers[number].start()
    return f"kill -9 of broker {number + 1}, {away} s without it"


def freeze_a_broker(club: Club, whims: random.Random) -> str:
    number = whims.randrange(len(club.brokers))
    club.brokers[number].freeze()
    time.sleep(FROZEN_S)
    club.brokers[number].thaw()
    return f"broker {number + 1} frozen for {FROZEN_S} s"


def end_a_backend(club: Club, whims: random.Random) -> str:
    """The connection ends in the middle of whatever it does, and no other."""
    backends = _backends(club)
    ended = whims.sample(backends, min(3, len(backends)))
    signal_all(ended, signal.SIGTERM)
    return f"{len(ended)} of {len(backends)} of PostgreSQL's backends ended"


def break_a_commit(club: Club, whims: random.Random) -> str:
    """The connection ends while a companion waits for the answer to its COMMIT: nobody knows whether it was made."""
    until = time.monotonic() + COMMITS_S
    while time.monotonic() < until:
        with suppress(psycopg.OperationalError), club.database.connect() as connection:
            while time.monotonic() < until:
                if ended := connection.execute(_END_COMMITS).fetchall():
                    return f"{len(ended)} of PostgreSQL's backends ended in COMMIT"
    raise NobodyHitError("no COMMIT was met")


def kill_a_backend(club: Club, whims: random.Random) -> str:
    """PostgreSQL then ends every connection, and recovers from its log."""
    backends = _backends(club)
    signal_all(backends[:1], signal.SIGKILL)
    return "kill -9 of one of PostgreSQL's backends, so that it recovers"


def freeze_backends(club: Club, whims: random.Random) -> str:
    """What they have locked stays locked meanwhile."""
    backends, seconds = _backends(club), round(whims.uniform(1, 4), 1)
    frozen = whims.sample(backends, (len(backends) + 1) // 2)
    signal_all(frozen, signal.SIGSTOP)
    time.sleep(seconds)
    signal_all(frozen, signal.SIGCONT)
    return f"{len(frozen)} of {len(backends)} of PostgreSQL's backends frozen for {seconds} s"


def kill_postgresql(club: Club, whims: random.Random) -> str:
    away = round(whims.uniform(0.2, 3), 1)
    club.database.kill()
    time.sleep(away)
    club.database.start()
    return f"PostgreSQL ended at once, {away} s without it"


def kill_a_temple(club: Club, whims: random.Random) -> str:
    temple = whims.choice(club.temples)
    temple.die()
    temple.start()
    return f"kill -9 of {temple.name}"


def freeze_a_temple(club: Club, whims: random.Random) -> str:
    temple = whims.choice(club.temples)
    temple.freeze(FROZEN_S)
    return f"{temple.name} frozen for {FROZEN_S} s"


def let_a_lamp_flicker(club: Club, whims: random.Random) -> str:
    temple, spells = whims.choice(club.temples), whims.randint(DOUBTED, 100)
    return f"a lamp flickered in {temple.name}, in the slot of {flicker(temple.rain, whims, spells)}, {spells} spells"


def let_a_supply_dip(club: Club, whims: random.Random) -> str:
    temple = whims.choice(club.temples)
    dip(temple.rain)
    return f"the supply of both beams of {temple.name} dipped"


def kill_a_temple_in_doubt(club: Club, whims: random.Random) -> str:
    temple = _in_doubt(club, whims)
    temple.die()
    temple.start()
    return f"kill -9 of {temple.name} in doubt"


def kill_a_companion_in_doubt(club: Club, whims: random.Random) -> str:
    temple = _in_doubt(club, whims)
    worker = whims.choice(club.workers)
    worker.kill()
    worker.bring_up()
    return f"kill -9 of worker-{worker.number} while {temple.name} was in doubt"


def decide_and_kill_a_companion(club: Club, whims: random.Random) -> str:
    number = whims.randrange(len(club.temples))
    until = time.monotonic() + DECIDES_S
    while not (decided := club.decide(number, whims)):
        if time.monotonic() > until:
            raise NobodyHitError("no token waited")
        flicker(club.temples[number].rain, whims, DOUBTED)
        time.sleep(1)
    killed = kill_a_companion(club, whims)
    return f"a person decided about {decided} tokens of {club.temples[number].name}, then {killed}"


LASTING: frozenset[Fault[Club]] = frozenset({freeze_an_owner, freeze_a_broker, freeze_backends, freeze_a_temple})
"""Faults in which nothing happens for seconds: the next ones may happen meanwhile."""

DECK: tuple[Fault[Club], ...] = (
    kill_a_companion,
    kill_a_companion,
    freeze_a_companion,
    freeze_an_owner,
    kill_a_broker,
    freeze_a_broker,
    end_a_backend,
    break_a_commit,
    break_a_commit,
    kill_a_backend,
    freeze_backends,
    kill_postgresql,
    kill_a_temple,
    freeze_a_temple,
    let_a_lamp_flicker,
    let_a_supply_dip,
    kill_a_temple_in_doubt,
    kill_a_companion_in_doubt,
    decide_and_kill_a_companion,
)


def _in_doubt(club: Club, whims: random.Random) -> Temple:
    """Let a lamp flicker in a temple, and return it at the moment, or soon after it, when its doubt is committed."""
    temple = whims.choice(club.temples)
    before = len(temple.doubted())
    flicker(temple.rain, whims, DOUBTED)
    until = time.monotonic() + DECIDES_S
    while len(temple.doubted()) == before and time.monotonic() < until:
        time.sleep(0.005)
    time.sleep(whims.choice((0, 0.02, 0.1)))
    return temple


def _backends(club: Club) -> list[int]:
    """Return the backends, of which there are none while PostgreSQL takes no connection."""
    with suppress(psycopg.OperationalError):
        if backends := club.database.backends():
            return backends
    raise NobodyHitError("of PostgreSQL's backends none was there")

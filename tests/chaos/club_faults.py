"""Faults of a club: every part of it is killed or frozen, one at a time or while another is frozen."""

from __future__ import annotations

import random
import signal
import time
from contextlib import suppress

import psycopg

from tests.chaos.club import KEEPALIVE_S, Club, signal_all
from tests.chaos.faults import Fault, NobodyHitError

FROZEN_S = 1.5 * KEEPALIVE_S + 0.3
"""Past the keepalive, as in `tests.chaos.faults`."""


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


def freeze_a_companion_past_its_leases(club: Club, whims: random.Random) -> str:
    worker, seconds = whims.choice(club.workers), round(whims.uniform(9, 12), 1)
    worker.freeze(seconds)
    return f"worker-{worker.number} frozen for {seconds} s, longer than its leases last"


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


LASTING: frozenset[Fault[Club]] = frozenset(
    {freeze_a_companion_past_its_leases, freeze_a_broker, freeze_backends, freeze_a_temple}
)
"""Faults in which nothing happens for seconds: the next ones may happen meanwhile."""

DECK: tuple[Fault[Club], ...] = (
    kill_a_companion,
    kill_a_companion,
    freeze_a_companion,
    freeze_a_companion_past_its_leases,
    kill_a_broker,
    freeze_a_broker,
    end_a_backend,
    end_a_backend,
    kill_a_backend,
    freeze_backends,
    kill_postgresql,
    kill_a_temple,
    freeze_a_temple,
)


def _backends(club: Club) -> list[int]:
    """Return the backends, of which there are none while PostgreSQL takes no connection."""
    with suppress(psycopg.OperationalError):
        if backends := club.database.backends():
            return backends
    raise NobodyHitError("of PostgreSQL's backends none was there")

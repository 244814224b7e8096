"""Leases in the database: they decide which of several companions does work that needs only one of them.

A lease avoids duplicate work; it does not guarantee anything. What must never happen twice is prevented by the
store's keys. Only the database's clock decides when a lease ends.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import sqlalchemy as sa

from companion.adapters.background import Background
from companion.adapters.database.opening import engine_for
from companion.adapters.database.schema import LEASES
from companion.model.table import ServiceError
from templo.liveness import DISK_S, Beat, no_heartbeat

log = logging.getLogger(__name__)

LASTS_S = 8.0
"""How long a lease lasts after it was renewed."""

RENEW_S = 5.0
"""Seconds between renewals. With a check a second, another companion gets a dead one's leases within ten seconds."""

LOOK_S = 1.0

TAKE_S = 4.0
"""How long leases are taken over in one check. The next one renews all: with a second between the two, that is soon
enough for a lease, unless a single one takes three seconds more."""

PACING = "pacing"
"""The lease of the companion that makes the app's moves for absent players."""

_WORKER = "worker "
"""The prefix of the lease by which a companion shows the others that it is running."""

_LONGEST_LEASE = 64

_LOOK = sa.select(LEASES.c.name, LEASES.c.holder).where(LEASES.c.until > sa.func.clock_timestamp())
_TAKE = sa.text(
    "INSERT INTO lease AS held (name, holder, until)"
    " SELECT name, :holder, clock_timestamp() + make_interval(secs => :lasts)"
    " FROM unnest(CAST(:names AS text[])) AS name ORDER BY name"
    " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until"
    " WHERE held.holder = excluded.holder OR held.until <= clock_timestamp() RETURNING name"
)


def even_share(leases: int, workers: Collection[str], worker: str) -> int:
    """Return how many leases one of several workers is to hold: no two shares differ by more than one.

    Workers that know the same ones agree without a word: those that come first by name have one more.

    >>> [even_share(9, ["a", "b", "c", "d"], each) for each in "abcd"]
    [3, 2, 2, 2]
    """
    each, more = divmod(leases, len(workers))
    return each + (sorted(workers).index(worker) < more)


@dataclass(frozen=True, slots=True)
class Worker:
    """One running companion: the id under which it holds leases, its name if it has one, and its leases."""

    holder: str
    name: str
    leases: Collection[str]


class Leases(Background):
    """Holds this companion's share of the wanted leases, and releases them when it is stopped."""

    def __init__(
        self,
        url: str,
        holder: str,
        wanted: Callable[[], Collection[str]],
        on_taken: Callable[[str], None],
        beat: Beat = no_heartbeat,
        name: str = "",
    ) -> None:
        """Store the arguments; `start` begins.

        `wanted` are the same leases at every companion, which share them out. `on_taken` is called with each newly
        held lease. `name` is this companion's name for people.
        """
        super().__init__("leases")
        self._engine = engine_for(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
        self._holder = holder
        self._wanted = wanted
        self._on_taken = on_taken
        self._beat = beat
        self._worker = f"{_WORKER}{holder} {name}"[:_LONGEST_LEASE].rstrip()
        self._until: dict[str, float] = {}
        self._seen: tuple[float, Mapping[str, str]] = time.monotonic(), {}
        """When the leases were last read, and the holder of each."""
        self._renew_at = 0.0

    def holds(self, name: str) -> bool:
        """Return whether this companion holds a lease, by its own clock; after a standstill it does not."""
        return self._until.get(name, -math.inf) > time.monotonic()

    def workers(self) -> list[Worker]:
        """Return the running companions, including this one, by name, as they were when leases were last checked.

        Raises `ServiceError` ``store_failing`` if that is longer ago than a lease lasts.
        """
        at, taken = self._seen
        if time.monotonic() - at > LASTS_S:
            raise ServiceError("store_failing", reason=f"the leases have not been read for {LASTS_S:.0f} s")
        at_work = {name for name in taken if name.startswith(_WORKER)} | {self._worker}
        known = [each.removeprefix(_WORKER).partition(" ") for each in at_work]
        workers = [
            Worker(holder, name, [lease for lease, by in taken.items() if by == holder]) for holder, _, name in known
        ]
        return sorted(workers, key=lambda worker: (worker.name, worker.holder))

    def _run(self) -> None:
        while not self._ending.is_set():
            self._beat(DISK_S)
            try:
                with self._engine.connect() as connection:
                    while not self._ending.wait(LOOK_S):
                        self._beat(DISK_S)
                        self._look(connection)
                    with suppress(sa.exc.DBAPIError):
                        connection.execute(sa.delete(LEASES).where(LEASES.c.holder == self._holder))
                    self._until.clear()
            except sa.exc.DBAPIError as error:
                log.warning("leases cannot be renewed, trying again: %s", error.orig)
            self._ending.wait(LOOK_S)

    def _look(self, connection: sa.Connection) -> None:
        now = time.monotonic()
        taken = {row.name: row.holder for row in connection.execute(_LOOK)}
        self._seen = now, taken
        wanted, worker = set(self._wanted()), self._worker
        held = {*self._until, *(name for name, holder in taken.items() if holder == self._holder)} - {worker}
        if let_go := [name for name in held if name not in wanted]:
            self._give_back(connection, let_go)
        own = {name for name in wanted if taken.get(name) == self._holder and self.holds(name)}
        share = even_share(len(wanted), {name for name in taken if name.startswith(_WORKER)} | {worker}, worker)
        if excess := sorted(own)[share:]:
            self._give_back(connection, excess)
            own -= set(excess)
        free = sorted(wanted - taken.keys() | {name for name in wanted - own if taken.get(name) == self._holder})
        new = free[: max(0, share - len(own))]
        if new or now >= self._renew_at or worker not in taken:
            self._renew_at = now + RENEW_S
            self._take(connection, [worker, *own])
        self._take_over(connection, new, now + TAKE_S)

    def _take_over(self, connection: sa.Connection, names: Iterable[str], until: float) -> None:
        """Take leases one at a time, as many as time allows."""
        for name in names:
            if time.monotonic() >= until or self._ending.is_set():
                break
            self._beat(DISK_S)
            self._take(connection, [name])

    def _take(self, connection: sa.Connection, names: Collection[str]) -> None:
        """Take or renew leases that are free or this companion's own."""
        now = time.monotonic()
        details = {"names": [*names], "holder": self._holder, "lasts": LASTS_S}
        for name in connection.execute(_TAKE, details).scalars().all():
            is_new = not self.holds(name)
            self._until[name] = now + LASTS_S
            if is_new and not name.startswith(_WORKER):
                try:
                    self._on_taken(name)
                    log.info("this companion holds %r now", name)
                except ServiceError as error:
                    del self._until[name]
                    log.warning("%r cannot be taken over, trying again: %s", name, error.facts["reason"])

    def _give_back(self, connection: sa.Connection, names: Collection[str]) -> None:
        for name in names:
            self._until.pop(name, None)
        own = sa.delete(LEASES).where(LEASES.c.name.in_(names), LEASES.c.holder == self._holder)
        connection.execute(own)

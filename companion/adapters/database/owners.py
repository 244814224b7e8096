"""Which companion owns what, in the PostgreSQL that several of them share.

A row for each table, temple and note has its owner and the number of the ownership, which never repeats. A change
raises the row's version in its own transaction, if the number is still the one that its companion has: who stood
still meanwhile changes nothing. An owner lives as long as its lease, by the database's clock; what a dead one owned,
any other takes over.
"""

from __future__ import annotations

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple, Protocol

import sqlalchemy as sa

from companion.adapters.background import Background
from companion.adapters.database.opening import engine_for, reason
from companion.adapters.database.schema import COMPANIONS, EPOCHS, OWNERS, WRONG_CODES
from companion.adapters.installation import Companion
from companion.model.ports import Conflict
from companion.model.table import ServiceError
from templo.liveness import DISK_S, Beat, no_heartbeat

log = logging.getLogger(__name__)

LASTS_S = 6.0
"""How long a lease lasts after it was renewed."""

LOOK_S = 1.0
"""Seconds between looks at what others own and have changed; each renews the lease."""

ADOPT_S = 2.0
"""How long what nobody owns is taken over in one look, so that the next one renews the lease in time."""

KEPT = 1000
"""How many wrong codes are kept for companions that have not looked at them."""

_ALIVE = COMPANIONS.c.until > sa.func.clock_timestamp()
_RENEW = sa.text(
    "INSERT INTO companion (id, name, until) VALUES (:id, :name, clock_timestamp() + make_interval(secs => :lasts))"
    " ON CONFLICT (id) DO UPDATE SET until = excluded.until"
)
_LOOK = sa.select(OWNERS, sa.func.coalesce(_ALIVE, False).label("alive")).select_from(
    OWNERS.outerjoin(COMPANIONS, COMPANIONS.c.id == OWNERS.c.companion)
)
_OF = OWNERS.c.topic == sa.bindparam("of")
_TAKE = sa.text(
    f"INSERT INTO owner (topic, companion, epoch, version) VALUES (:of, :id, nextval('{EPOCHS.name}'), 0)"  # noqa: S608
    " ON CONFLICT (topic) DO UPDATE SET companion = excluded.companion, epoch = excluded.epoch RETURNING epoch"
)
_ADOPT_NEW = sa.text(
    f"INSERT INTO owner (topic, companion, epoch, version) VALUES (:of, :id, nextval('{EPOCHS.name}'), 0)"  # noqa: S608
    " ON CONFLICT (topic) DO NOTHING RETURNING epoch"
)
_ADOPT = (
    sa.update(OWNERS)
    .where(_OF, OWNERS.c.epoch == sa.bindparam("before"))
    .values(companion=sa.bindparam("id"), epoch=EPOCHS.next_value())
    .returning(OWNERS.c.epoch)
)
_WRONG = sa.insert(WRONG_CODES).returning(WRONG_CODES.c.n)
_CONFIRM = sa.select(OWNERS.c.topic, OWNERS.c.epoch).where(OWNERS.c.topic.in_(sa.bindparam("topics", expanding=True)))


class Followed(Protocol):
    """What follows the other companions: a `companion.service.workspace.Workspace`."""

    def follow(self, topics: Iterable[str]) -> None:
        """Note that other companions have changed these."""

    def adopt(self, topic: str, take: Callable[[], object]) -> None:
        """Take over what nobody owns; raises `ServiceError`."""

    def unowned(self) -> Iterable[str]:
        """Return the topics of which this companion knows, and which need an owner."""


class _Row(NamedTuple):
    topic: str
    companion: str
    epoch: int
    version: int
    alive: bool


class Owners(Background):
    """What this companion owns, and a thread that renews its lease and looks at what the others do."""

    def __init__(self, url: str, id_: str, name: str = "", beat: Beat = no_heartbeat) -> None:
        """Store the arguments; `start` begins. `id_` is new at each start, `name` is for people."""
        super().__init__("owners")
        self._engine = engine_for(url, isolation_level="AUTOCOMMIT", pool_pre_ping=True)
        self._id = id_
        self._name = name
        self._beat = beat
        self._lock = threading.Lock()
        self._epochs: dict[str, int] = {}
        self._forgotten: frozenset[str] = frozenset()
        self._until = -math.inf
        self._seen: dict[str, _Row] = {}
        self._companions: tuple[Companion, ...] = ()
        self._looked_at = -math.inf
        self._wrong_codes = 0
        self._is_first = True
        self.followed: Followed | None = None
        self.count_wrong: Callable[[str], None] = lambda who: None
        """Called with each client that typed a wrong code at another companion."""
        with self._connected() as connection:
            connection.execute(sa.delete(COMPANIONS).where(~_ALIVE))
            self._renew(connection)
            self._wrong_codes = connection.execute(sa.select(sa.func.max(WRONG_CODES.c.n))).scalar() or 0

    # The port `Ownership`

    def holds(self, topic: str) -> bool:
        """Return whether this companion owns a topic; after a standstill, it does not."""
        return topic in self._epochs and time.monotonic() < self._until

    def take(self, topic: str) -> None:
        """Become the owner of a topic, whoever is, when its running transaction has ended; raises `ServiceError`."""
        with self._connected() as connection:
            epoch = connection.execute(_TAKE, {"of": topic, "id": self._id}).scalar_one()
        self._put(topic, epoch)

    def _put(self, topic: str, epoch: int) -> None:
        with self._lock:
            self._epochs[topic] = epoch
            self._forgotten -= {topic}

    def forget(self, topics: Iterable[str]) -> None:
        """Hold these no longer: a change of them has failed, and may have been stored all the same."""
        with self._lock:
            self._forgotten |= {topic for topic in topics if self._epochs.pop(topic, None) is not None}

    def forgotten(self) -> Collection[str]:
        """Return what was held until it was forgotten, unless another companion has taken it since."""
        return self._forgotten

    def release(self, topic: str) -> None:
        """Leave a topic without an owner; raises `ServiceError` ``store_failing``."""
        with self._lock:
            epoch = self._epochs.pop(topic, None)
        if epoch is not None:
            with self._connected() as connection:
                connection.execute(sa.delete(OWNERS).where(OWNERS.c.topic == topic, OWNERS.c.epoch == epoch))

    def epochs(self, topics: Iterable[str]) -> Mapping[str, int]:
        """Return the number of each topic's ownership; 0, which none has, for what this companion does not own."""
        return {topic: self._epochs.get(topic, 0) for topic in topics}

    def confirm(self, topics: Iterable[str]) -> None:
        """Raise `Conflict` if another companion has taken one of them, `ServiceError` ``store_failing``."""
        if wanted := self.epochs(topics):
            with self._connected() as connection:
                found = {row.topic: row.epoch for row in connection.execute(_CONFIRM, {"topics": [*wanted]})}
            if found != wanted:
                raise Conflict(f"{sorted(wanted)} were taken over meanwhile")

    # Other companions

    def companions(self) -> tuple[Companion, ...]:
        """Return the running companions, by name; raises `ServiceError` if the database has not answered lately."""
        if time.monotonic() - self._looked_at > LASTS_S:
            raise ServiceError("store_failing", reason=f"owners have not been read for {LASTS_S:.0f} s")
        return self._companions

    def announce_wrong(self, who: str) -> None:
        """Let every companion count a wrong code that somebody typed at this one."""
        try:
            with self._connected() as connection:
                n = connection.execute(_WRONG, {"companion": self._id, "who": who}).scalar_one()
                connection.execute(sa.delete(WRONG_CODES).where(WRONG_CODES.c.n < n - KEPT))
        except ServiceError as error:
            log.warning("a wrong code is counted by this companion alone: %s", error.facts["reason"])

    def _run(self) -> None:
        while True:
            self._beat(DISK_S)
            try:
                self.look()
            except ServiceError as error:
                log.warning("what companions own cannot be read, trying again: %s", error.facts["reason"])
            if self._ending.wait(LOOK_S):
                return

    def stop(self) -> None:
        """End the thread, and the lease: others take over at once."""
        super().stop()
        with suppress(ServiceError), self._connected() as connection:
            connection.execute(sa.delete(COMPANIONS).where(COMPANIONS.c.id == self._id))
        self._engine.dispose()

    def look(self) -> None:
        """Renew the lease, follow what others have changed, and take over what nobody owns; raises `ServiceError`."""
        with self._connected() as connection:
            self._renew(connection)
            rows = {row.topic: _Row(*row) for row in connection.execute(_LOOK)}
            self._companions = self._listed(connection, rows)
            wrong = connection.execute(
                sa.select(WRONG_CODES).where(WRONG_CODES.c.n > self._wrong_codes).order_by(WRONG_CODES.c.n)
            ).all()
        self._looked_at = time.monotonic()
        for each in wrong:
            self._wrong_codes = each.n
            if each.companion != self._id:
                self.count_wrong(each.who)
        lost = self._lose(rows)
        changed = {
            topic
            for topic in rows.keys() | self._seen.keys()
            if rows.get(topic) != self._seen.get(topic) and topic not in self._epochs
        }
        self._seen = rows
        if self.followed is not None:
            self.followed.follow(sorted(changed | lost))
            self._adopt(self.followed, rows)

    def _renew(self, connection: sa.Connection) -> None:
        now = time.monotonic()
        connection.execute(_RENEW, {"id": self._id, "name": self._name, "lasts": LASTS_S})
        if now > self._until:  # others may have taken everything
            with self._lock:
                self._epochs.clear()
        self._until = now + LASTS_S

    def _listed(self, connection: sa.Connection, rows: Mapping[str, _Row]) -> tuple[Companion, ...]:
        temples = [row.companion for row in rows.values() if row.topic.startswith("temple:")]
        found = connection.execute(sa.select(COMPANIONS).where(_ALIVE).order_by(COMPANIONS.c.name, COMPANIONS.c.id))
        return tuple(Companion(row.name or row.id[:6], temples.count(row.id), row.id == self._id) for row in found)

    def _lose(self, rows: Mapping[str, _Row]) -> set[str]:
        """Hold no longer what others have taken; return it."""
        with self._lock:
            lost = {topic for topic, epoch in self._epochs.items() if topic in rows and rows[topic].epoch > epoch}
            for topic in lost:
                del self._epochs[topic]
            self._forgotten -= {topic for topic, row in rows.items() if row.companion != self._id}
        return lost

    def _adopt(self, followed: Followed, rows: Mapping[str, _Row]) -> None:
        """Take over what dead companions own, and what has no owner yet, as much as there is time for."""
        dead = [
            topic
            for topic, row in rows.items()
            if not row.alive or (row.companion == self._id and topic not in self._epochs)
        ]
        new = [topic for topic in followed.unowned() if topic not in rows]
        if not self._is_first:
            new = [topic for topic in new if topic.startswith("temple:")]
        orphans = [topic for topic in {*dead, *new} if not topic.startswith("note:")]
        random.shuffle(orphans)  # so that companions that begin at once share them
        until = time.monotonic() + ADOPT_S
        for topic in orphans:
            if time.monotonic() > until or self._ending.is_set():
                return
            self._beat(DISK_S)
            try:
                followed.adopt(topic, partial(self._take_over, topic, rows.get(topic)))
            except ServiceError as error:
                log.warning("%s cannot be taken over, trying again: %s", topic, error)
        self._is_first = False

    def _take_over(self, topic: str, before: _Row | None) -> None:
        """Become the owner of what has had this row, or none; raises `Conflict` if another was first."""
        with self._connected() as connection:
            statement = _ADOPT_NEW if before is None else _ADOPT
            details = {"of": topic, "id": self._id, **({"before": before.epoch} if before else {})}
            epoch = connection.execute(statement, details).scalar()
        if epoch is None:
            raise Conflict(f"{topic} was taken over meanwhile")
        self._put(topic, epoch)

    @contextmanager
    def _connected(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
            raise ServiceError("store_failing", reason=reason(error)) from error

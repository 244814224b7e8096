"""The tenants that are in use at this companion: each has services, pages and threads of its own, made when needed.

A tenant is opened by the first request or the first token, and closed when nobody has used it for a while. What the
broker retains of its temples is remembered meanwhile, so that its pages show them at once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from flask import Flask

from companion.adapters.background import Background
from companion.adapters.database.opening import StoreError
from companion.adapters.database.sql_store import SqlStore
from companion.adapters.database.tenants import SIZED_S, TENANTS, Tenants, lease_of
from companion.adapters.mqtt_intake import Link
from companion.cli.hosting.attempts import Attempts, reason
from companion.cli.hosting.in_use import ENDS_S, InUse, Shared, open_over
from companion.cli.hosting.retained import Retained
from companion.cli.sharing import Alone
from companion.games.kit import Game
from companion.model.table import ServiceError
from companion.model.tenants import Hosting, Tenant
from companion.service.workspace import Workspace
from companion.web.config import WebConfig
from companion.web.site import Site
from templo import contract
from templo.broker import BrokerSettings
from templo.liveness import NETWORK_S, Beat, no_heartbeat

log = logging.getLogger(__name__)

LOOK_S = 1.0
"""Seconds between checks of which tenants are still there."""

SHELVE_S = 600.0

WELL_AFTER_S = 60.0
"""How long a tenant's threads have run until the pages and metrics no longer say that they failed."""

PENDING = 500
"""The most tokens that wait for their tenant to be opened; the temples send the others again."""

_WORK = "storing its tokens and making the app's moves"
_MEASURING = "measuring what it stored"
_RETAINED = {each.leaf for each in contract.CONTRACT if each.retained}


class Hosted(Background):
    """The tenants of an installation. It takes the messages that arrive for them, and their announcements."""

    def __init__(
        self,
        registry: Tenants,
        main: SqlStore,
        games: Mapping[str, Game[Any]],
        workspace: Workspace,
        share: Alone,
        broker: BrokerSettings,
        instance: str,
        beat: Beat = no_heartbeat,
    ) -> None:
        """Store the arguments; `start` begins. `main` is the installation's store, `workspace` its workspace."""
        super().__init__("tenants")
        self._beat = beat
        self._registry = registry
        self._main = main
        self._games = games
        self._workspace = workspace
        self._share = share
        self._broker = broker
        self._instance = instance
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._open: dict[str, InUse] = {}
        self._left_behind: dict[str, InUse] = {}
        """By place, the tenants that were closed while their pacers were stuck."""
        self._wake = threading.Event()
        self._retained = Retained()
        self._retained_checked_at = time.monotonic()
        self._attempts = Attempts()
        self._pending: dict[str, deque[tuple[str, bytes]]] = {}

    def serve(self, app: Flask, config: WebConfig, link: Link) -> None:
        """Set what the tenants' pages and temples are reached by, before `start`."""
        self._shared = Shared(
            self._games,
            self._workspace,
            self._share,
            self._broker,
            self._instance,
            app,
            config,
            link,
            self._on_failure,
            lambda name: self._attempts.is_failing(name, _WORK),
        )

    # Pages

    @contextmanager
    def visit(self, name: str) -> Iterator[Site | None]:
        """Give the pages of a tenant for as long as a request takes; None if there is no tenant of that name."""
        opened = self._entered(name)
        try:
            yield opened.site if opened else None
        finally:
            if opened:
                with self._lock:
                    opened.guests -= 1

    def hosting(self) -> Hosting:
        """Return how many tenants there are and are in use here; raises `ServiceError`."""
        in_use = self._in_use()
        failing = sum(each.site.config.is_failing() for each in in_use)
        return Hosting(len(self._registry.all()), len(in_use), failing + len(self._left_behind))

    # What arrives from the broker; called by the connection's threads, which must not wait

    def on_connected(self) -> None:
        """Note it for every tenant in use."""
        for each in self._in_use():
            each.intake.on_connected()

    def on_disconnected(self) -> None:
        """Note it for every tenant in use."""
        for each in self._in_use():
            each.intake.on_disconnected()

    def on_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Hand a message to its tenant; one whose tenant is not in use is kept if it matters then.

        Raises `WireError` for what no temple of a tenant may send.
        """
        name, own = contract.split_tenant(topic)
        _, leaf = contract.parse_topic(own)
        if len(payload) > contract.MAX_PAYLOAD:
            raise contract.WireError(f"{leaf} is {len(payload)} bytes long; expected at most {contract.MAX_PAYLOAD}")
        with self._lock:
            if leaf in _RETAINED:
                self._retained.put(name, own, payload)
            opened = self._open.get(name)
            if opened is None:
                if leaf == contract.Token.leaf and (name in self._pending or len(self._pending) < PENDING):
                    if name not in self._pending:
                        self._wake.set()
                    self._pending.setdefault(name, deque(maxlen=PENDING)).append((own, payload))
                return
            if leaf == contract.Token.leaf:
                opened.used_at = time.monotonic()
        opened.intake.on_message(own, payload, retained)

    # What other companions announce

    def leases(self) -> Collection[str]:
        """Return the lease of each tenant in use; where its work failed, another companion may do it."""
        return [lease_of(each.tenant) for each in self._in_use() if each.works]

    def take_over(self, lease: str) -> None:
        """Store the tokens of a tenant's temples from now on, and make the app's moves at its tables."""
        for each in self._in_use():
            if lease_of(each.tenant) == lease:
                try:
                    for temple in each.services.temples.all():
                        each.services.temples.follow(temple.name)
                        each.intake.take_over(temple.name)
                    each.pacer.look_at_all()
                except ServiceError:
                    raise
                except Exception as error:  # the lease is tried again; the others are not stopped
                    raise ServiceError("store_failing", reason=repr(error)) from error

    def follow(self, topics: Iterable[str]) -> None:
        """Apply what other companions have announced of tenants in use here; others are read when they are opened."""
        by_place: dict[str, list[str]] = {}
        for topic in topics:
            place, _, own = topic.removeprefix(TENANTS).partition("/")
            by_place.setdefault(place, []).append(own)
        for each in self._in_use():
            if found := by_place.get(each.tenant.place):
                self._follow(each, partial(each.workspace.follow, found))

    def follow_all(self) -> None:
        """Apply all changes of other companions."""
        for each in self._in_use():
            self._follow(each, each.workspace.follow_all)

    def _follow(self, opened: InUse, read: Callable[[], None]) -> None:
        """Apply changes of one tenant; if they cannot be read, all are read later, and the others are served."""
        try:
            read()
        except Exception as error:  # whatever one tenant's rows are like
            opened.behind = True
            log.warning("changes of tenant %r cannot be read, trying again: %s", opened.tenant.name, reason(error))

    # Opening and closing

    def stop(self, within_s: float | None = ENDS_S) -> None:
        """Close every tenant."""
        self._ending.set()
        self._wake.set()
        super().stop(within_s)
        for each in self._in_use():
            self._attempts.run(each.tenant.name, "closing it", partial(self._close, each))
        self._registry.close()

    def end_streams(self) -> None:
        """End the streams of every tenant at once."""
        for each in self._in_use():
            each.hub.close()

    def _in_use(self) -> list[InUse]:
        with self._lock:
            return list(self._open.values())

    def _entered(self, name: str) -> InUse | None:
        """Return a tenant in use, with one guest more, or None if there is none of that name."""
        tenant = self._registry.find(name)
        if tenant is None or self._ending.is_set():
            return None
        while True:
            with self._lock:
                opened = self._open.get(name)
                if opened is not None and opened.tenant.key == tenant.key:
                    if opened.tenant != tenant:
                        opened.keep_to(tenant)
                    opened.guests += 1
                    opened.used_at = time.monotonic()
                    return opened
                opening = self._opening.setdefault(name, threading.Lock())
            with opening:
                self._make_open(name, tenant)

    def _make_open(self, name: str, tenant: Tenant) -> None:
        """Open a tenant unless it is open; the caller holds the lock for its name.

        What is stuck would later write what the services of a second opening do not know, so there is no second one.
        """
        with self._lock:
            opened = self._open.get(name)
            left = self._left_behind.get(tenant.place)
        if left is not None and left.pacer.is_running:
            raise ServiceError("store_failing", reason=f"the pacer of tenant {name!r} is stuck")
        if opened is not None:
            if opened.tenant.key == tenant.key:
                return
            self._end(opened)  # the name was given to another tenant
        made = self._made(tenant)
        try:
            works = self._attempts.is_due(name, _WORK)
            if works:
                made.pacer.start()
            made.message_end.look()
            with self._lock:  # what arrives meanwhile waits, so that nothing older comes after it
                if works:
                    made.intake.start()
                    made.worked_since = time.monotonic()
                for topic, payload in self._retained.of(name):
                    _take(made, topic, payload, True)
                for topic, payload in self._pending.get(name, ()):
                    _take(made, topic, payload, False)
                self._open[name] = made
                self._pending.pop(name, None)
        except BaseException:
            self._end_threads(made)
            raise
        if self._workspace.origin:
            self._follow(made, made.workspace.follow_all)  # what was announced before this tenant was in use
        log.info("tenant %r is in use", name)

    def _on_failure(self, opened: InUse, error: Exception) -> None:
        """Note what ended a thread of a tenant; called by that thread."""
        self._attempts.failed(opened.tenant.name, _WORK, error)  # first, so that it is not begun again before a pause
        opened.failure = error
        self._wake.set()

    def _begin_again(self, opened: InUse) -> None:
        """Open a tenant again from its rows after one of its threads failed; its work begins after a pause."""
        name = opened.tenant.name
        with self._lock:
            self._pending.setdefault(name, deque(maxlen=PENDING))
        self._wake.set()
        self._close(opened)

    def _start_work(self, opened: InUse) -> None:
        """Start the threads of a tenant that was opened without them; if one cannot start, it is opened again."""
        try:
            opened.pacer.start()
            opened.intake.start()
        except RuntimeError as error:  # "can't start new thread"
            self._on_failure(opened, error)
            return
        opened.worked_since = time.monotonic()

    def _made(self, tenant: Tenant) -> InUse:
        try:
            store = self._registry.open(tenant, self._main)
        except StoreError as error:
            raise ServiceError("store_failing", reason=str(error)) from error
        try:
            opened = open_over(self._shared, store, tenant)
        except BaseException:
            store.close()
            raise
        self._attempts.run(tenant.name, _MEASURING, partial(self._measure, opened))
        return opened

    def measure(self) -> None:
        """Read what each tenant in use has stored; if that fails, the last figure stays."""
        for each in self._in_use():
            self._attempts.run(each.tenant.name, _MEASURING, partial(self._measure, each))

    def _measure(self, opened: InUse) -> None:
        opened.measured_at = time.monotonic()
        opened.stored = self._registry.size(opened.tenant)

    def _close(self, opened: InUse, *, only_idle: bool = False) -> None:
        """Close a tenant; whoever wants to open it meanwhile waits."""
        with self._lock:
            opening = self._opening.setdefault(opened.tenant.name, threading.Lock())
        with opening:
            self._end(opened, only_idle=only_idle)

    def _end(self, opened: InUse, *, only_idle: bool = False) -> None:
        """Close a tenant; the caller holds the lock for its name."""
        name = opened.tenant.name
        with self._lock:
            if self._open.get(name) is not opened or (only_idle and not opened.is_idle):
                return
            del self._open[name]
        self._end_threads(opened)
        log.info("tenant %r is no longer in use", name)

    def _end_threads(self, opened: InUse) -> None:
        """Close a tenant that nobody can use any more; keep it apart for as long as its pacer is stuck."""
        opened.close()
        if opened.store.is_open:
            log.error(
                "tenant %r is closed, but its pacer is stuck: it is not opened again before that ends",
                opened.tenant.name,
            )
            with self._lock:
                self._left_behind[opened.tenant.place] = opened

    def _clear_left_behind(self) -> None:
        """Finish closing the tenants whose pacers have ended at last."""
        with self._lock:
            ended = [place for place, each in self._left_behind.items() if not each.pacer.is_running]
            left = [self._left_behind.pop(place) for place in ended]
        for each in left:
            log.warning("the pacer of tenant %r has ended", each.tenant.name)
            each.close_store()
            self._attempts.run(each.tenant.name, "removing it", partial(self._registry.remove_leftovers, each.tenant))

    def _run(self) -> None:
        while not self._ending.is_set():
            self._beat(NETWORK_S)
            self._wake.wait(LOOK_S)
            self._wake.clear()
            self._look()

    def _look(self) -> None:
        """Open the tenants for which tokens wait; close those that are idle or were deleted. Each is tried alone."""
        with self._lock:
            waiting = list(self._pending)
        try:
            known = {name: self._registry.find(name) for name in waiting}
            known |= {each.tenant.name: self._registry.find(each.tenant.name) for each in self._in_use()}
            self._forget_unknown()
        except ServiceError as error:
            log.warning("the tenants cannot be looked at, trying again: %s", reason(error))
            self._ending.wait(LOOK_S)
            return
        self._clear_left_behind()
        for name in waiting:
            self._beat(NETWORK_S)
            self._attempts.run(name, "opening it", partial(self._open_for_tokens, name))
        for each in self._in_use():
            name = each.tenant.name
            if name in known and not self._ending.is_set():
                for what, task in self._due(each, known[name]):
                    self._beat(NETWORK_S)
                    self._attempts.run(name, what, task)

    def _open_for_tokens(self, name: str) -> None:
        opened = self._entered(name)
        with self._lock:
            if opened:
                opened.guests -= 1
            self._pending.pop(name, None)

    def _due(self, opened: InUse, tenant: Tenant | None) -> Iterator[tuple[str, Callable[[], None]]]:
        """Give what is to be done for a tenant in use; `tenant` is what is now stored of it."""
        now = time.monotonic()
        _note_stuck(opened)
        if tenant is None or tenant.key != opened.tenant.key:
            yield "closing it", partial(self._forget, opened)
            return
        if opened.failure is not None:
            if not opened.stuck:  # what is stuck would go on beside what is begun again
                yield "beginning again", partial(self._begin_again, opened)
            return
        if opened.worked_since is None:
            if self._attempts.is_due(opened.tenant.name, _WORK):
                yield "beginning its work", partial(self._start_work, opened)
        elif now - opened.worked_since >= WELL_AFTER_S:
            self._attempts.forget(opened.tenant.name, _WORK)
        if opened.is_idle:
            yield "closing it", partial(self._close, opened, only_idle=True)
            return
        if tenant != opened.tenant:
            with self._lock:
                opened.keep_to(tenant)
        if now - opened.shelved_at > SHELVE_S:
            yield "shelving its tables", partial(self._shelve, opened)
        if now - opened.measured_at >= SIZED_S:
            yield _MEASURING, partial(self._measure, opened)
        if opened.behind:
            yield "reading its changes", partial(self._catch_up, opened)

    def _shelve(self, opened: InUse) -> None:
        opened.shelved_at = time.monotonic()
        opened.services.tables.shelve()

    def _catch_up(self, opened: InUse) -> None:
        opened.behind = False
        try:
            opened.workspace.follow_all()
        except Exception:
            opened.behind = True
            raise

    def _forget_unknown(self) -> None:
        if time.monotonic() - self._retained_checked_at >= SIZED_S:
            self._retained_checked_at = time.monotonic()
            known = self._registry.all()
            with self._lock:
                self._retained.forget_unknown(known)

    def _forget(self, opened: InUse) -> None:
        """Close a tenant that is not in the list; if it was deleted, leave nothing of it."""
        with self._lock:
            self._retained.forget(opened.tenant.name)
        self._close(opened)
        self._registry.remove_leftovers(opened.tenant)


def _note_stuck(opened: InUse) -> None:
    """Note and log whether the threads of a tenant make progress; its pages, metrics and lease follow from that.

    A thread cannot be ended from outside, and ending the process would stop every other tenant.
    """
    stuck = opened.pulse.late()
    if stuck and not opened.stuck:
        log.error("tenant %r: no progress from: %s", opened.tenant.name, ", ".join(stuck))
    elif opened.stuck and not stuck:
        log.warning("tenant %r makes progress again", opened.tenant.name)
    opened.stuck = stuck


def _take(opened: InUse, topic: str, payload: bytes, retained: bool) -> None:
    try:
        opened.intake.on_message(topic, payload, retained)
    except contract.WireError as error:
        log.debug("ignored a message of tenant %r: %s", opened.tenant.name, error)

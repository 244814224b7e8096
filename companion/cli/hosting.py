"""The tenants that are in use at this companion: each has services, pages and threads of its own, made when needed.

A tenant is opened by the first request or the first token, and closed when nobody has used it for a while. What the
broker retains of its temples is remembered meanwhile, so that its pages show them at once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from flask import Flask

from companion.adapters.background import Background
from companion.adapters.credentials import Offered
from companion.adapters.database.opening import StoreError
from companion.adapters.database.sql_store import SqlStore
from companion.adapters.database.tenants import TENANTS, Tenants, lease_of
from companion.adapters.installation import Installation
from companion.adapters.message_end import MessageEnd
from companion.adapters.mqtt_intake import Intake, Link, TenantLink
from companion.adapters.news import Hub
from companion.adapters.owner import Owner
from companion.adapters.pacer import Pacer
from companion.adapters.playtests import NoPlaytests
from companion.cli import sharing
from companion.cli.sharing import Alone
from companion.games.kit import Game
from companion.model.network import NoNetwork
from companion.model.table import ServiceError
from companion.model.tenants import MEBIBYTE, Tenant
from companion.service.services import Services
from companion.service.workspace import MESSAGE, Workspace
from companion.web import set_limits, tenant_site
from companion.web.config import WebConfig
from companion.web.site import Site
from templo import contract
from templo.broker import BrokerSettings

log = logging.getLogger(__name__)

LOOK_S = 1.0
"""Seconds between checks of which tenants are still there."""

IDLE_S = 600.0
"""How long nobody has used a tenant before it is closed here."""

SHELVE_S = 600.0
MOST_REMEMBERED = 20_000
"""The most retained messages of all tenants that are remembered."""

PENDING = 500
"""The most tokens that wait for their tenant to be opened; the temples send the others again."""

_RETAINED = {each.leaf for each in contract.CONTRACT if each.retained}


@dataclass(eq=False)
class _Open:
    """One tenant in use."""

    tenant: Tenant
    store: SqlStore
    workspace: Workspace
    services: Services
    hub: Hub
    site: Site
    intake: Intake
    pacer: Pacer
    message_end: MessageEnd
    guests: int = 0
    """Requests that are being answered."""
    used_at: float = field(default_factory=time.monotonic)
    shelved_at: float = field(default_factory=time.monotonic)

    @property
    def is_idle(self) -> bool:
        return not self.guests and not self.hub.streams and time.monotonic() - self.used_at > IDLE_S

    def close(self) -> None:
        """End its streams and its threads; what is being stored is finished first."""
        self.hub.close()
        self.intake.stop()
        self.pacer.stop()
        self.message_end.stop()
        self.store.close()


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
    ) -> None:
        """Store the arguments; `start` begins. `main` is the installation's store, `workspace` its workspace."""
        super().__init__("tenants")
        self._registry = registry
        self._main = main
        self._games = games
        self._workspace = workspace
        self._share = share
        self._broker = broker
        self._instance = instance
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._open: dict[str, _Open] = {}
        self._wake = threading.Event()
        self._retained: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._pending: dict[str, deque[tuple[str, bytes]]] = {}

    def serve(self, app: Flask, config: WebConfig, link: Link) -> None:
        """Set what the tenants' pages and temples are reached by, before `start`."""
        self._app, self._config, self._link = app, config, link

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

    def hosting(self) -> tuple[int, int]:
        """Return how many tenants there are, and how many of them are in use here; raises `ServiceError`."""
        return len(self._registry.all()), len(self._open)

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
                self._retained[name, own] = payload
                self._retained.move_to_end((name, own))
                if len(self._retained) > MOST_REMEMBERED:
                    self._retained.popitem(last=False)
            opened = self._open.get(name)
            if opened is None:
                if leaf == contract.Token.leaf and (name in self._pending or len(self._pending) < PENDING):
                    self._pending.setdefault(name, deque(maxlen=PENDING)).append((own, payload))
                    self._wake.set()
                return
            if leaf == contract.Token.leaf:
                opened.used_at = time.monotonic()
        opened.intake.on_message(own, payload, retained)

    # What other companions announce

    def leases(self) -> Collection[str]:
        """Return the lease of each tenant in use."""
        return [lease_of(each.tenant) for each in self._in_use()]

    def take_over(self, lease: str) -> None:
        """Store the tokens of a tenant's temples from now on, and make the app's moves at its tables."""
        for each in self._in_use():
            if lease_of(each.tenant) == lease:
                for temple in each.services.temples.all():
                    each.services.temples.follow(temple.name)
                    each.intake.take_over(temple.name)
                each.pacer.look_at_all()

    def follow(self, topics: Iterable[str]) -> None:
        """Apply what other companions have announced of tenants in use here; others are read when they are opened."""
        by_place: dict[str, list[str]] = {}
        for topic in topics:
            place, _, own = topic.removeprefix(TENANTS).partition("/")
            by_place.setdefault(place, []).append(own)
        for each in self._in_use():
            if found := by_place.get(each.tenant.place):
                each.workspace.follow(found)

    def follow_all(self) -> None:
        """Apply all changes of other companions."""
        for each in self._in_use():
            each.workspace.follow_all()

    # Opening and closing

    def stop(self) -> None:
        """Close every tenant."""
        self._ending.set()
        self._wake.set()
        super().stop()
        for each in self._in_use():
            self._close(each)
        self._registry.close()

    def end_streams(self) -> None:
        """End the streams of every tenant at once."""
        for each in self._in_use():
            each.hub.close()

    def _in_use(self) -> list[_Open]:
        with self._lock:
            return list(self._open.values())

    def _entered(self, name: str) -> _Open | None:
        """Return a tenant in use, with one guest more, or None if there is none of that name."""
        tenant = self._registry.find(name)
        if tenant is None or self._ending.is_set():
            return None
        while True:
            with self._lock:
                opened = self._open.get(name)
                if opened is not None and opened.tenant.key == tenant.key:
                    if opened.tenant != tenant:
                        self._set_limits(opened, tenant)
                    opened.guests += 1
                    opened.used_at = time.monotonic()
                    return opened
                opening = self._opening.setdefault(name, threading.Lock())
            with opening:
                self._make_open(name, tenant)

    def _make_open(self, name: str, tenant: Tenant) -> None:
        """Open a tenant unless it is open; the caller holds the lock for its name."""
        with self._lock:
            opened = self._open.get(name)
        if opened is not None:
            if opened.tenant.key == tenant.key:
                return
            self._end(opened)  # the name was given to another tenant
        made = self._made(tenant)
        with self._lock:
            self._open[name] = made
            retained = [(topic, each) for (of, topic), each in self._retained.items() if of == name]
            pending = self._pending.pop(name, deque())
        made.intake.start()
        if self._workspace.origin:
            made.workspace.follow_all()  # what was announced before this tenant was in use
        for topic, payload in retained:
            _take(made, topic, payload, True)
        for topic, payload in pending:
            _take(made, topic, payload, False)
        made.pacer.start()
        made.message_end.look()
        log.info("tenant %r is in use", name)

    def _made(self, tenant: Tenant) -> _Open:
        lease = lease_of(tenant)
        try:
            store = self._registry.open(tenant, self._main)
        except StoreError as error:
            raise ServiceError("store_failing", reason=str(error)) from error
        hub = Hub()

        def on_change(topic: str) -> None:
            if who := sharing.wrong_coder(topic):
                site.lockout.count(who)
                return
            if topic == MESSAGE:
                message_end.look()
            hub.publish(topic)
            pacer.notice(topic)

        main = self._workspace
        workspace = Workspace(
            store, self._games, main.clock, main.entropy, on_change, paced=True, shared=bool(main.origin)
        )
        workspace.origin = main.origin  # all tenants are announced over one connection, which ignores its own
        services = Services.over(workspace)
        message_end = MessageEnd(lambda: services.messages.seconds_left, lambda: hub.publish(MESSAGE))
        pacer = Pacer(services, is_own=lambda: self._share.holds(lease))
        owner, folder, base = Owner(tenant.code, tenant.proof), self._config.offered.folder, self._config
        config = replace(
            base,
            stream_cap=tenant.limits.streams,
            owner=owner,
            organiser=owner,
            installation=Installation,
            offered=Offered(folder / tenant.name if folder else None),
            network=NoNetwork(),
            name_address=str,
            first_start=False,
            boot_fault=str,
            playtests=NoPlaytests(),
            announce_wrong=lambda who: sharing.announce_wrong(workspace, who) if main.origin else None,
            stores=lambda temple: self._share.holds(lease),
            hosting=None,
            tenant=tenant,
            stored=lambda: self._registry.size(tenant),
        )
        site = tenant_site(self._app, tenant, services, hub, config)
        intake = Intake(
            services,
            self._broker,
            self._instance,
            main.clock,
            consumes=lambda temple: self._share.holds(lease) and not self._is_full(tenant),
            link=TenantLink(tenant.name, self._link),
            most_temples=tenant.limits.temples,
        )
        opened = _Open(tenant, store, workspace, services, hub, site, intake, pacer, message_end)
        workspace.most_tables = tenant.limits.tables
        return opened

    def _is_full(self, tenant: Tenant) -> bool:
        known = self._open.get(tenant.name)
        limits = known.tenant.limits if known else tenant.limits
        try:
            return self._registry.size(tenant) >= limits.mebibytes * MEBIBYTE
        except ServiceError:
            return False  # the store fails, and says so by itself

    def _set_limits(self, opened: _Open, tenant: Tenant) -> None:
        """Keep to changed limits from now on; the caller holds the lock."""
        opened.tenant = tenant
        opened.hub.cap = tenant.limits.streams
        opened.workspace.most_tables = tenant.limits.tables
        opened.intake.allow_temples(tenant.limits.temples)
        set_limits(opened.site, tenant)

    def _close(self, opened: _Open, *, only_idle: bool = False) -> None:
        """Close a tenant; whoever wants to open it meanwhile waits."""
        with self._lock:
            opening = self._opening.setdefault(opened.tenant.name, threading.Lock())
        with opening:
            self._end(opened, only_idle=only_idle)

    def _end(self, opened: _Open, *, only_idle: bool = False) -> None:
        """Close a tenant; the caller holds the lock for its name."""
        name = opened.tenant.name
        with self._lock:
            if self._open.get(name) is not opened or (only_idle and not opened.is_idle):
                return
            del self._open[name]
        opened.close()
        log.info("tenant %r is no longer in use", name)

    def _run(self) -> None:
        while not self._ending.is_set():
            self._wake.wait(LOOK_S)
            self._wake.clear()
            try:
                self._look()
            except ServiceError as error:
                log.warning("the tenants cannot be looked at, trying again: %s", error.facts["reason"])
                self._ending.wait(LOOK_S)

    def _look(self) -> None:
        """Open the tenants for which tokens wait; close those that are idle or were deleted."""
        with self._lock:
            waiting = list(self._pending)
        for name in waiting:
            opened = self._entered(name)
            with self._lock:
                if opened:
                    opened.guests -= 1
                self._pending.pop(name, None)
        for each in self._in_use():
            tenant = self._registry.find(each.tenant.name)
            if tenant is None or tenant.key != each.tenant.key:
                self._forget(each)
            elif each.is_idle:
                self._close(each, only_idle=True)
            elif time.monotonic() - each.shelved_at > SHELVE_S:
                each.shelved_at = time.monotonic()
                each.services.tables.shelve()
            elif tenant != each.tenant:
                with self._lock:
                    self._set_limits(each, tenant)

    def _forget(self, opened: _Open) -> None:
        """Close a tenant that was deleted, and leave nothing of it."""
        with self._lock:
            for key in [key for key in self._retained if key[0] == opened.tenant.name]:
                del self._retained[key]
        self._close(opened)
        self._registry.remove_leftovers(opened.tenant)


def _take(opened: _Open, topic: str, payload: bytes, retained: bool) -> None:
    try:
        opened.intake.on_message(topic, payload, retained)
    except contract.WireError as error:
        log.debug("ignored a message of tenant %r: %s", opened.tenant.name, error)

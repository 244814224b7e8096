"""One tenant that is in use: its services, pages and threads over what all tenants of a companion share."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from flask import Flask

from companion.adapters.background import OnFailure
from companion.adapters.credentials import Offered
from companion.adapters.database.sql_store import SqlStore
from companion.adapters.database.tenants import lease_of
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
from companion.model.tenants import MEBIBYTE, Tenant
from companion.service.services import Services
from companion.service.workspace import MESSAGE, Workspace
from companion.web import set_limits, tenant_site
from companion.web.config import WebConfig
from companion.web.site import Site
from templo.broker import BrokerSettings
from templo.liveness import Pulse

IDLE_S = 600.0
"""How long nobody has used a tenant before it is closed here."""

ENDS_S = 5.0
"""How long a tenant's pacer may take to end; longer, and it is left behind, so that nobody waits for it."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What all tenants of a companion share. `workspace` is the installation's."""

    games: Mapping[str, Game[Any]]
    workspace: Workspace
    share: Alone
    broker: BrokerSettings
    instance: str
    app: Flask
    config: WebConfig
    link: Link
    on_failure: Callable[[InUse, Exception], None]
    """Called by a thread of a tenant that an exception ended."""
    is_failing: Callable[[str], bool]
    """Whether the work of a tenant failed a short time ago."""


@dataclass(eq=False)
class InUse:
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
    pulse: Pulse
    guests: int = 0
    """Requests that are being answered."""
    used_at: float = field(default_factory=time.monotonic)
    shelved_at: float = field(default_factory=time.monotonic)
    stored: int = 0
    """How many bytes it had stored when that was last measured."""
    measured_at: float = field(default_factory=time.monotonic)
    failure: Exception | None = None
    """What ended one of its threads."""
    worked_since: float | None = None
    """When its threads were started; None until then."""
    stuck: Sequence[str] = ()
    """Which of its threads had made no progress when that was last looked at."""
    behind: bool = False
    """Whether changes of other companions could not be read."""

    @property
    def is_full(self) -> bool:
        """Whether it has stored all that it may."""
        return self.stored >= self.tenant.limits.mebibytes * MEBIBYTE

    @property
    def is_idle(self) -> bool:
        """Whether nobody has used it for a while, and none of its threads is stuck."""
        is_used = self.guests or self.hub.streams or time.monotonic() - self.used_at <= IDLE_S
        return not is_used and not self.stuck

    @property
    def works(self) -> bool:
        """Whether it stores tokens and makes the app's moves."""
        return self.worked_since is not None and self.failure is None and not self.stuck

    def close(self) -> None:
        """End its streams and its threads; what is being stored is finished first.

        A pacer that does not end in time keeps the store open.
        """
        with ExitStack() as last_first:  # one that fails leaves none of the others running
            last_first.callback(self.close_store)
            last_first.callback(self.message_end.stop)
            last_first.callback(self.pacer.stop, ENDS_S)
            last_first.callback(self.intake.stop)
            last_first.callback(self.hub.close)

    def close_store(self) -> None:
        """Close its store, unless its pacer is still running."""
        if not self.pacer.is_running:
            self.store.close()

    def keep_to(self, tenant: Tenant) -> None:
        """Keep to changed limits from now on."""
        self.tenant = tenant
        self.hub.cap = tenant.limits.streams
        self.workspace.most_tables = tenant.limits.tables
        self.intake.allow_temples(tenant.limits.temples)
        set_limits(self.site, tenant)


def open_over(shared: Shared, store: SqlStore, tenant: Tenant) -> InUse:
    """Return a tenant over its store; its threads are started by the caller."""
    lease = lease_of(tenant)
    hub = Hub()

    def on_change(topic: str) -> None:
        if who := sharing.wrong_coder(topic):
            site.lockout.count(who)
            return
        if topic == MESSAGE:
            message_end.look()
        hub.publish(topic)
        pacer.notice(topic)

    main = shared.workspace
    workspace = Workspace(
        store, shared.games, main.clock, main.entropy, on_change, paced=True, shared=bool(main.origin)
    )
    workspace.origin = main.origin  # all tenants are announced over one connection, which ignores its own
    services = Services.over(workspace)

    def failing(thread: str) -> OnFailure:
        def on_failure(error: Exception) -> None:
            pulse.rest(thread)  # it is over, and not stuck
            shared.on_failure(opened, error)

        return on_failure

    pulse = Pulse((), time.monotonic)
    message_end = MessageEnd(
        lambda: services.messages.seconds_left, lambda: hub.publish(MESSAGE), failing("message end")
    )
    pacer = Pacer(
        services,
        beat=pulse.of("pacer"),
        is_own=lambda: shared.share.holds(lease),
        on_failure=failing("pacer"),
        look_every_s=math.inf,  # there may be a thousand of these threads
    )
    owner, folder, base = Owner(tenant.code, tenant.proof), shared.config.offered.folder, shared.config
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
        stores=lambda temple: shared.share.holds(lease),
        hosting=None,
        tenant=tenant,
        is_failing=lambda: bool(opened.stuck) or shared.is_failing(tenant.name),
        stored=lambda: opened.stored,
    )
    site = tenant_site(shared.app, tenant, services, hub, config)
    intake = Intake(
        services,
        shared.broker,
        shared.instance,
        main.clock,
        pulse.of("intake"),
        consumes=lambda temple: shared.share.holds(lease) and not opened.is_full,
        link=TenantLink(tenant.name, shared.link),
        most_temples=tenant.limits.temples,
        on_failure=failing("intake"),
    )
    opened = InUse(tenant, store, workspace, services, hub, site, intake, pacer, message_end, pulse)
    workspace.most_tables = tenant.limits.tables
    return opened

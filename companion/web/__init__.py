"""The web application: pages, forms and streams over the services."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flask import Flask, request

from companion.adapters.news import Hub
from companion.model.tenants import MEBIBYTE, Tenant
from companion.service.services import Services
from companion.web.config import WebConfig
from companion.web.routes import (
    api_description,
    errors,
    evenings,
    games,
    held,
    metrics,
    organiser,
    pairing,
    playtests,
    printing,
    reconcile,
    results,
    rules,
    setup,
    start,
    story,
    streams,
    table,
    temples,
    trust,
    uploads,
)
from companion.web.server import assets, guard, rates
from companion.web.server.tenants import FAILED, Visit, lead_on, prefix_of, with_tenants
from companion.web.site import Site, seat_token, site

FILES = ("pages.open_table", "pages.rules_of_choice", "games.open_aid", "playtests.start_playtest")
"""The endpoints that take a file, with bodies of up to `uploads.MAX_UPLOAD` bytes."""

ALWAYS = frozenset({"pages.language", "setup.setup_code", "organiser.organiser_code"})
"""The endpoints that store nothing, and so are open to a tenant that may store no more."""

OPENINGS = ("pages.open_table", "games.open_aid", "play.again")
"""The endpoints that open a table."""

SLOW = (
    "story.story",
    "story.replay",
    "story.export_json",
    "story.export_csv",
    "printing.sheet",
    "printing.sheets",
    "printing.own_sheet",
    "playtests.report",
)
"""The endpoints whose answers take long to make."""


class App(Flask):
    """Flask, with a log that names the route that failed and never the path, which may contain a join code."""

    def log_exception(self, exc_info: Any) -> None:
        """Log an exception in a view."""
        self.logger.error("%s %s failed", request.method, request.endpoint, exc_info=exc_info)


def create_app(services: Services, hub: Hub, config: WebConfig, clock: Callable[[], float] = time.monotonic) -> Flask:
    """Return the companion's web application. `clock` is monotonic, in seconds."""
    app = App("companion.web", static_folder="static", template_folder=None)
    hub.cap, hub.cap_each = config.stream_cap, config.streams_each
    guard.install(app, config.allowed_hosts, config.own_hosts, clock, dict.fromkeys(FILES, uploads.MAX_UPLOAD))
    rates.install(app, clock, OPENINGS, FILES, SLOW)
    for routes in (
        start,
        games,
        playtests,
        printing,
        rules,
        table,
        story,
        evenings,
        results,
        reconcile,
        temples,
        held,
        streams,
        metrics,
        api_description,
        setup,
        trust,
        organiser,
        pairing,
    ):
        app.register_blueprint(routes.blueprint)
    errors.install(app)
    main = Site(app, services, hub, config, guard.Lockout(clock, announce=config.announce_wrong))
    app.extensions["site"] = main
    assets.install(app, main.files)
    lead_on(app)
    _limit_tenants(app)
    return app


def _limit_tenants(app: Flask) -> None:
    """Refuse what goes beyond the limits of a tenant."""

    @app.before_request
    def within_limits() -> None:
        if error := request.environ.get(FAILED):
            raise error
        here = site()
        if here.config.tenant is None or request.method not in guard.WRITES or request.endpoint is None:
            return
        limits = here.config.tenant.limits
        try:
            here.posts.count("known" if _is_known(here) else "strangers")
        except guard.Refused as refused:
            raise guard.Refused(429, "house_busy", refused.retry_after, n=limits.posts) from None
        if request.endpoint not in ALWAYS and here.config.stored() >= limits.mebibytes * MEBIBYTE:
            raise guard.Refused(403, "house_full", most=limits.mebibytes)


def _is_known(here: Site) -> bool:
    """Return whether a post comes from who holds a seat at its table, or from the organiser."""
    table_id = (request.view_args or {}).get("table_id", "")
    table = here.services.tables.find(table_id) if seat_token(table_id) else None
    return here.is_organiser() or (table is not None and bool(here.held(table)))


def host(app: Flask, visit: Visit) -> None:
    """Let an application answer for tenants, too; `visit` gives the pages of each, made by `tenant_site`."""
    app.wsgi_app = with_tenants(app.wsgi_app, visit)  # type: ignore[method-assign,assignment]  # as Flask documents


def tenant_site(app: Flask, tenant: Tenant, services: Services, hub: Hub, config: WebConfig) -> Site:
    """Return the pages of a tenant."""
    hub.cap, hub.cap_each = config.stream_cap, config.streams_each
    main: Site = app.extensions["site"]
    lockout = guard.Lockout(time.monotonic, announce=config.announce_wrong)
    made = main.of_tenant(prefix_of(tenant.name), services, hub, config, lockout)
    set_limits(made, tenant)
    return made


def set_limits(site: Site, tenant: Tenant, clock: Callable[[], float] = time.monotonic) -> None:
    """Let the pages of a tenant keep to its limits as they are now."""
    posts = tenant.limits.posts
    site.posts = rates.Meter(clock, rates.Pace(burst=10 * posts, per_second=float(posts)))
    site.config = replace(site.config, tenant=tenant)

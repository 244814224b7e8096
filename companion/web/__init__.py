"""The web application: pages, forms and streams over the services."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from flask import Flask, request

from companion.adapters.news import Hub
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
from companion.web.server.below import serve_below
from companion.web.site import Site

FILES = ("pages.open_table", "pages.rules_of_choice", "games.open_aid", "playtests.start_playtest")
"""The endpoints that take a file, with bodies of up to `uploads.MAX_UPLOAD` bytes."""

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
    settings = config.settings
    hub.cap, hub.cap_each = settings.streams, settings.streams_each
    guard.install(app, settings.allowed_hosts, config.own_hosts, clock, dict.fromkeys(FILES, uploads.MAX_UPLOAD))
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
    serve_below(app, config.settings.path)
    return app

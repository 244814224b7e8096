"""The web application: pages, forms and streams over the services."""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable
from typing import Any

from flask import Flask, request

from companion.adapters.news import Hub
from companion.service.services import Services
from companion.web import routes
from companion.web.config import WebConfig
from companion.web.routes import errors, uploads
from companion.web.server import assets, compression, guard, rates
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
    compression.install(app)
    guard.install(app, settings.allowed_hosts, config.own_hosts, clock, dict.fromkeys(FILES, uploads.MAX_UPLOAD))
    rates.install(app, clock, OPENINGS, FILES, SLOW)
    for module in pkgutil.iter_modules(routes.__path__, f"{routes.__name__}."):
        blueprint = getattr(importlib.import_module(module.name), "blueprint", None)
        if blueprint:
            app.register_blueprint(blueprint)
    errors.install(app)
    main = Site(app, services, hub, config, guard.Lockout(clock, announce=config.announce_wrong))
    app.extensions["site"] = main
    assets.install(app, main.files)
    serve_below(app, config.settings.path)
    return app

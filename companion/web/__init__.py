"""The web face: pages, forms and streams over the services. It decides nothing about a game and names none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask import Flask, request

from companion.adapters.addresses import own_hosts
from companion.adapters.news import Hub
from companion.adapters.playtests import Playtests
from companion.service.services import Services
from companion.web.routes import (
    api_description,
    errors,
    evenings,
    games,
    held,
    metrics,
    playtests,
    printing,
    reconcile,
    results,
    rules,
    start,
    story,
    streams,
    table,
    temples,
    uploads,
)
from companion.web.server import guard, rates
from companion.web.site import Site


@dataclass(frozen=True, slots=True)
class WebConfig:
    """The web application's configuration, given by the program that starts it.

    `address` returns where phones in the network of a viewer's address reach it ("http://192.168.1.7:8000"),
    `instance` is what ``/healthz`` answers, `playtests` play many games for designers (by default none),
    `own_hosts` returns this machine's own names and addresses,
    `allowed_hosts` are further ones it answers to, `streams_each` how many of the `stream_cap` event streams one
    address may have, `boot_fault` what is wrong with the settings on the boot partition, if anything.
    """

    allowed_hosts: tuple[str, ...]
    address: Callable[[str], str]
    instance: str
    stream_cap: int = 64
    own_hosts: Callable[[], Collection[str]] = own_hosts
    streams_each: int = 32
    boot_fault: Callable[[], str] = str
    playtests: Playtests = field(default_factory=lambda: Playtests(Path(os.devnull)))


FILES = ("pages.open_table", "pages.rules_of_choice", "games.open_aid", "playtests.start_playtest")
"""The endpoints that take a file of a table's own, and so bodies of up to `uploads.MAX_UPLOAD` bytes."""

OPENINGS = ("pages.open_table", "games.open_aid", "play.again")
"""The endpoints that open a table."""


class App(Flask):
    """Flask whose log names the route that failed, never the path: a path may hold a join code."""

    def log_exception(self, exc_info: Any) -> None:
        """Log what went wrong in a view."""
        self.logger.error("%s %s failed", request.method, request.endpoint, exc_info=exc_info)


def create_app(services: Services, hub: Hub, config: WebConfig, clock: Callable[[], float] = time.monotonic) -> Flask:
    """Return the companion's web application. `clock` gives seconds that never run backwards."""
    app = App("companion.web", static_folder="static", template_folder=None)
    hub.cap, hub.cap_each = config.stream_cap, config.streams_each
    guard.install(app, config.allowed_hosts, config.own_hosts, clock, dict.fromkeys(FILES, uploads.MAX_UPLOAD))
    rates.install(app, clock, OPENINGS, FILES)
    for part in (
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
    ):
        app.register_blueprint(part.blueprint)
    errors.install(app)
    app.extensions["site"] = Site(
        app, services, hub, config.address, config.instance, guard.Lockout(clock), config.boot_fault, config.playtests
    )
    return app

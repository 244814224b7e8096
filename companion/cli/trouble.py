"""What a supervised companion does while it cannot start: it shows the reason on its page and tries again."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from itertools import chain, repeat

from companion.adapters.database.opening import StoreError
from companion.cli.settings import WebSettings
from companion.web.server.serving import Server
from companion.web.trouble import create_trouble_app
from templo.liveness import Feeder, Pulse, Supervisor

PAUSES_S = (2.0, 5.0, 10.0)
"""Seconds between the first attempts: short, for a database that is only slow to start."""

LATER_S = 30.0

log = logging.getLogger(__name__)


def start_when_possible(start: Callable[[], int], web: WebSettings, supervisor: Supervisor) -> int:
    """Run `start` until it raises no `StoreError`, and return its result; 0 if a signal came first.

    Where nobody supervises this process the error is raised: a person who typed the command reads it at once. A
    supervised one would only be restarted for ever, and no page would say why.
    """
    ended = threading.Event()
    reason = ""
    for pause in chain(PAUSES_S, repeat(LATER_S)):
        try:
            return start()
        except StoreError as error:
            if not supervisor.present:
                raise
            if str(error) != reason:
                reason = str(error)
                log.error("the companion cannot start: %s", reason)
                supervisor.notify(f"STATUS=cannot start: {reason}")
        _show(reason, pause, web, supervisor, ended)
        if ended.is_set():
            return 0
    raise AssertionError("the pauses never end")


def _show(reason: str, seconds: float, web: WebSettings, supervisor: Supervisor, ended: threading.Event) -> None:
    """Serve the page with the reason, for some seconds or until a signal comes."""
    pulse = Pulse(("server", "pages"), time.monotonic)
    feeder = Feeder(pulse, supervisor)
    server = Server(
        create_trouble_app(reason),
        web.host,
        web.port,
        web.streams,
        connections_each=web.connections_each,
        proxy=web.proxy,
        beat=pulse.of("server"),
        pages_beat=pulse.of("pages"),
    )
    before = {
        number: signal.signal(number, lambda _number, _frame: ended.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    until = time.monotonic() + seconds

    def watch() -> None:
        while time.monotonic() < until and not ended.wait(feeder.pause(0.5)):
            feeder.turn()
        server.stop()

    watching = threading.Thread(target=watch, name="watch", daemon=True)
    watching.start()
    server.serve()
    watching.join()
    for number, handler in before.items():  # a signal during the next try ends the process at once
        signal.signal(number, handler)

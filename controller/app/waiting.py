"""What the daemon does while it cannot watch its beams: it publishes the reason, and tries again."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain, repeat

from controller.adapters.mqtt_link import Link
from controller.core.messages import BrokerConnected, LinkEvent
from controller.core.ports import BeamsError
from controller.core.publisher import Identity, client_id
from controller.core.settings import Settings
from templo.contract import State
from templo.liveness import Feeder, Pulse, Supervisor

LOOK_S = 0.5

log = logging.getLogger(__name__)


def pauses() -> Iterator[float]:
    """Return the seconds between attempts: short at first, for a device that is only slow to appear."""
    return chain((2.0, 5.0, 10.0), repeat(30.0))


def wait_for_beams(
    settings: Settings,
    identity: Identity,
    error: BeamsError,
    try_open: Callable[[], None],
    supervisor: Supervisor,
    ended: threading.Event,
) -> bool:
    """Publish why the beams cannot be watched until they can; return False if `ended` was set first.

    `try_open` raises `BeamsError` while they cannot. An error is logged when it differs from the last one.
    """
    events: queue.SimpleQueue[LinkEvent] = queue.SimpleQueue()
    pulse = Pulse(("link",), time.monotonic)
    feeder = Feeder(pulse, supervisor)
    link = Link(
        settings.broker,
        settings.temple,
        client_id(identity.session),
        identity.gone(State.LOST, None),
        events.put,
        beat=pulse.of("link"),
        network_beat=pulse.of("network"),
    )
    waits = pauses()
    due = time.monotonic() + next(waits)
    _report(error, supervisor)
    link.connection.start()
    try:
        while not ended.wait(feeder.pause(LOOK_S)):
            feeder.turn()
            while not events.empty():
                if isinstance(events.get(), BrokerConnected):
                    link.publish(identity.gone(State.ALERT, None, error.trouble))
            if time.monotonic() < due:
                continue
            try:
                try_open()
            except BeamsError as again:
                if str(again) != str(error):
                    _report(again, supervisor)
                    link.publish(identity.gone(State.ALERT, None, again.trouble))
                error = again
                due = time.monotonic() + next(waits)
            else:
                log.warning("the beams can be watched now")
                supervisor.notify("STATUS=")
                return True
        return False
    finally:
        link.stop(identity.gone(State.STOPPED, None))


def _report(error: BeamsError, supervisor: Supervisor) -> None:
    log.error("no token can be counted: %s", error)
    supervisor.notify(f"STATUS=no token can be counted: {error}")

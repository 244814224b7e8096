"""What the daemon does while it cannot watch its beams: it publishes the reason, and tries again."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import chain, repeat

from controller.adapters.control_socket import ControlError, ControlServer, socket_path
from controller.adapters.mqtt_link import Link
from controller.app import offline
from controller.core.messages import BrokerConnected, LinkEvent
from controller.core.ports import BeamsError, LedgerError, LedgerTrouble
from controller.core.publisher import Identity, client_id
from controller.core.settings import Settings
from templo.contract import State
from templo.liveness import Feeder, Pulse, Supervisor
from templo.mqtt import Beats

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
        beats=Beats(pulse.of("link"), pulse.of("network")),
    )
    waits = pauses()
    due = time.monotonic() + next(waits)
    _report(error, supervisor)
    link.connection.start()
    with ExitStack() as stack:
        stack.callback(link.stop, identity.gone(State.STOPPED, None))
        with suppress(ControlError):  # the state directory cannot be written: the temple's page says why
            server = ControlServer(
                socket_path(settings.state), lambda request, _: _answer(request, settings, identity, error, link)
            )
            stack.callback(server.close)
            server.start()
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


def _answer(
    request: Mapping[str, object], settings: Settings, identity: Identity, error: BeamsError, link: Link
) -> Mapping[str, object]:
    """Answer the command line; raises `ControlError` for all but ``status``."""
    if request.get("do") == "dismiss":
        raise ControlError(f"no notice can be dismissed before the beams can be watched: {error}")
    if request.get("do") != "status":
        raise ControlError(f"no token can be counted: {error}")
    return _status(settings, identity, error, link)


def _status(settings: Settings, identity: Identity, error: BeamsError, link: Link) -> dict[str, object]:
    """Return what the command line shows of a temple that waits for its beams."""
    facts: dict[str, object] = {"temple": settings.temple, "totals": None, "last_seq": None, "waiting": None}
    with suppress(LedgerError, LedgerTrouble):
        facts |= offline.status(settings)
    connection = link.connection
    return {
        **facts,
        "state": State.ALERT,
        "trouble": error.trouble,
        "kind": identity.kind,
        "software": identity.software,
        "timing": identity.timing,
        "broker": {"address": str(connection.address), "protocol": connection.protocol},
    }


def _report(error: BeamsError, supervisor: Supervisor) -> None:
    log.error("no token can be counted: %s", error)
    supervisor.notify(f"STATUS=no token can be counted: {error}")

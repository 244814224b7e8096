"""What a daemon does when a setting is wrong: it publishes the reason for the temple's page, and exits."""

from __future__ import annotations

import queue
import secrets
from contextlib import suppress

from controller.adapters.mqtt_link import Link
from controller.core.messages import BrokerConnected, LinkEvent
from controller.core.publisher import Identity, client_id
from templo import __version__
from templo.broker import BrokerSettings
from templo.contract import Kind, State, Timing, Trouble

PATIENCE_S = 10.0
"""How long the broker may take to answer: it may be starting, too."""


def publish_misconfigured(temple: str, broker: BrokerSettings, patience_s: float = PATIENCE_S) -> bool:
    """Publish, retained, that a setting is wrong; return False if the broker does not answer."""
    identity = Identity(temple, secrets.token_hex(16), Kind.PI, __version__, Timing.KERNEL)
    last = identity.gone(State.ALERT, None, Trouble.MISCONFIGURED)
    events: queue.SimpleQueue[LinkEvent] = queue.SimpleQueue()
    link = Link(broker, temple, client_id(identity.session), last, events.put)
    link.connection.start()
    connected = False
    with suppress(queue.Empty):
        connected = isinstance(events.get(timeout=patience_s), BrokerConnected)
    link.stop(last)
    return connected

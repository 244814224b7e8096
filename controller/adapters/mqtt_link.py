"""The temple's side of its broker connection: what it subscribes to, its will, and what reaches the pipeline."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from controller.core.messages import BrokerConnected, BrokerDisconnected, LinkEvent, MessageReceived, StatusGarbled
from controller.core.ports import Lights
from templo import contract
from templo.broker import BrokerSettings
from templo.mqtt import Beats, Connection, Post, Presence

_READ = contract.CONTRACT.read_by(contract.Role.TEMPLE)
_FOR_LIGHTS = (contract.Mood, contract.SetLight)


class Link:
    """One temple's messages to and from its broker, over `connection`."""

    def __init__(
        self,
        settings: BrokerSettings,
        temple: str,
        client_id: str,
        will: contract.Status,
        listener: Callable[[LinkEvent], None],
        beats: Beats = Beats(),  # noqa: B008  # a frozen value
        announced: Mapping[str, bytes] = MappingProxyType({}),
        lights: Lights | None = None,
    ) -> None:
        """Store the arguments; `connection.start` connects. `listener` must only enqueue.

        `announced` holds payloads by their topics that are published again, retained, at every connection.
        What is for the lights goes to them, past the pipeline's queue; without lights it is not subscribed to.
        """
        self._temple = temple
        self._will = will
        self._publications = itertools.count(1)
        self._listener = listener
        self._lights = lights
        self.connection = Connection(
            settings,
            client_id,
            [
                (contract.topic(temple, each.leaf), each.qos)
                for each in _READ
                if lights is not None or each.type not in _FOR_LIGHTS
            ],
            self,
            role="temple",
            presence=Presence(lambda: self._post(self._will), announced),
            beats=beats,
        )

    def publish(self, message: contract.Message) -> bool:
        """Publish a message of this temple; return False without a connection. Safe from any thread."""
        return self.connection.publish(*self._post(message))

    def congested(self) -> bool:
        """Return whether the broker has yet to acknowledge something that was published."""
        return self.connection.congested()

    def introduce(self, client_id: str, will: contract.Status) -> None:
        """Connect again under another client id and with another will: both name the source."""
        self._will = will
        self.connection.rename(client_id)

    def give_way(self, gives_way: bool) -> None:
        """Leave the broker to another temple with a copy of the ledger, or stop doing so."""
        self.connection.give_way(gives_way)

    def stop(self, farewell: contract.Status) -> None:
        """Publish the last status, wait until the broker has it, and disconnect."""
        self.connection.stop(self._post(farewell))

    def on_connected(self) -> None:
        """Report it to the pipeline and the lights."""
        self._listener(BrokerConnected())
        if self._lights is not None:
            self._lights.connected()

    def on_disconnected(self) -> None:
        """Report it to the pipeline."""
        self._listener(BrokerDisconnected())

    def on_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Hand a message on to the pipeline; raises `WireError` for one that this temple does not act on."""
        _, leaf = contract.parse_topic(topic)
        try:
            message = contract.decode(leaf, payload)
        except contract.WireError:
            # Only for payloads that are no status: two temples of one name would answer each other for ever.
            if leaf == contract.Status.leaf:
                self._listener(StatusGarbled())
            raise
        if retained and not contract.declaration_of(type(message)).retained:
            raise contract.WireError(f"{leaf} is retained; expected a live message")
        if isinstance(message, contract.Status | contract.Ack | contract.Command):
            self._listener(MessageReceived(message))
        elif isinstance(message, _FOR_LIGHTS) and self._lights is not None:
            self._lights.received(message)

    def _post(self, message: contract.Message) -> Post:
        """Return a message with its topic; a status gets the number of its publication."""
        if isinstance(message, contract.Status):
            message = replace(message, publication=next(self._publications))
        return Post(contract.topic(self._temple, message.leaf), message)

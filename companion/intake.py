"""The intake: tokens come in from the broker, are kept with what they cause, and only then are acknowledged.

The adapter over paho-mqtt. Its callbacks only enqueue; one thread of its own keeps and answers. A message that
breaks the contract is logged in one line and changes nothing.
"""

from __future__ import annotations

import logging
import queue
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode

from companion.house import House
from companion.table import HouseError
from companion.temples import Receipt
from controller import wire

log = logging.getLogger(__name__)

BATCH = 500
"""Tokens that share one change of the store at the most."""

WAITING = 20_000
"""Messages that wait at the most; a token beyond is left to its ledger, which sends it again."""

RETRY_AFTER = 0.5
"""Seconds between two tries to store, while the store fails."""

RESEND_EVERY = 5.0
"""Seconds between two requests for the missing tokens of one source."""

COMMAND_LIVES = timedelta(seconds=30)

_RETAINED = (wire.Status.leaf, wire.Count.leaf)
_TOPICS = [(f"{wire.ROOT}/+/{leaf}", 1) for leaf in (*_RETAINED, wire.Token.leaf, wire.Reply.leaf)]
_UNSUPPORTED_VERSION = "Unsupported protocol version"


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the broker is and how to log in."""

    host: str
    port: int
    user: str = ""
    password: str = ""


_Heard: TypeAlias = tuple[str, wire.Message] | bool | None
"""A temple's message, whether the broker can be reached, or the end."""


class Intake:
    """Carries messages from one broker into one house; it waits for a broker that is not there."""

    def __init__(
        self,
        house: House,
        broker: Broker,
        instance: str,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
    ) -> None:
        self._house = house
        self._broker = broker
        self._instance = instance
        self._clock = clock
        self._entropy = entropy
        self._waiting: queue.Queue[_Heard] = queue.Queue(WAITING)
        self._asked: dict[str, float] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
        self._client = self._made(MQTTProtocolVersion.MQTTv5)

    def start(self) -> None:
        """Begin to connect and to listen; until it succeeds, no temple can be heard."""
        self._enqueue(False)
        self._thread.start()
        self._connect()

    def stop(self) -> None:
        """Leave the broker, having stored and acknowledged what had arrived."""
        self._stopping.set()
        self._waiting.put(None)
        self._thread.join(timeout=5)
        self._client.disconnect()
        self._client.loop_stop()

    def _made(self, version: MQTTProtocolVersion) -> mqtt.Client:
        client = mqtt.Client(
            CallbackAPIVersion.VERSION2, client_id=f"templo-companion-{self._instance[:12]}", protocol=version
        )
        if self._broker.user:
            client.username_pw_set(self._broker.user, self._broker.password)
        client.reconnect_delay_set(min_delay=1, max_delay=10)
        client.on_socket_open = _no_delay
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        return client

    def _connect(self) -> None:
        self._client.connect_async(self._broker.host, self._broker.port, keepalive=15)
        self._client.loop_start()

    def _on_connect(self, client: mqtt.Client, data: Any, flags: Any, reason: ReasonCode, properties: Any) -> None:
        if client is not self._client:
            return
        if str(reason) == _UNSUPPORTED_VERSION and client.protocol == MQTTProtocolVersion.MQTTv5:
            # A client asked for v5 by a broker that speaks 3.1.1 alone retries v5 for ever, so a new one takes over.
            threading.Thread(target=self._speak_older, args=(client,), name="older-mqtt", daemon=True).start()
        elif reason.is_failure:
            log.warning(
                "the broker at %s:%d refuses this companion: %s", self._broker.host, self._broker.port, reason
            )
            self._enqueue(False)
        else:
            log.info("connected to the broker at %s:%d", self._broker.host, self._broker.port)
            client.subscribe(_TOPICS)
            self._enqueue(True)

    def _speak_older(self, refused: mqtt.Client) -> None:
        refused.disconnect()
        refused.loop_stop()
        if not self._stopping.is_set():
            self._client = self._made(MQTTProtocolVersion.MQTTv311)
            self._connect()

    def _on_disconnect(self, client: mqtt.Client, data: Any, flags: Any, reason: ReasonCode, properties: Any) -> None:
        if client is self._client and not self._stopping.is_set():
            log.info("the broker at %s:%d cannot be reached: %s", self._broker.host, self._broker.port, reason)
            self._enqueue(False)

    def _on_message(self, client: mqtt.Client, data: Any, message: mqtt.MQTTMessage) -> None:
        try:
            temple, leaf = wire.parse_topic(message.topic)
            if message.retain and leaf not in _RETAINED:
                raise wire.WireError(f"{leaf} is retained; expected a live message")
            heard = wire.decode(leaf, bytes(message.payload))
        except wire.WireError as error:
            log.warning("ignored a message under %s: %s", ascii(message.topic)[:80], error)
            return
        self._enqueue((temple, heard))

    def _enqueue(self, heard: _Heard) -> None:
        try:
            self._waiting.put_nowait(heard)
        except queue.Full:
            log.warning("%d messages wait to be stored; one more is left to its ledger", WAITING)

    def _run(self) -> None:
        while True:
            heard = [self._waiting.get()]
            while len(heard) < BATCH:
                try:
                    heard.append(self._waiting.get_nowait())
                except queue.Empty:
                    break
            if not self._take(heard):
                return

    def _take(self, heard: list[_Heard]) -> bool:
        """Take messages in, in their order; returns whether there may be more."""
        tokens: list[tuple[str, wire.Token]] = []
        for each in heard:
            if isinstance(each, tuple) and isinstance(each[1], wire.Token):
                tokens.append((each[0], each[1]))
                continue
            self._keep(tokens)
            tokens = []
            if each is None:
                return False
            if isinstance(each, bool):
                self._house.reach(each)
            elif isinstance(each[1], wire.Status):
                self._persist(self._house.heard, each[0], each[1])
            elif isinstance(each[1], wire.Count):
                self._house.counts(each[0], each[1])
        self._keep(tokens)
        return True

    def _keep(self, tokens: list[tuple[str, wire.Token]]) -> None:
        if tokens:
            for receipt in self._persist(self._house.receive, tokens) or ():
                self._answer(receipt)

    def _persist(self, change: Callable[..., Any], *args: Any) -> Any:
        """Make a change of the house, again and again while its store fails; nothing is acknowledged meanwhile."""
        while True:
            try:
                return change(*args)
            except HouseError as error:
                if error.code != "store_failing":
                    raise
                log.error("cannot store what the temples send, trying again: %s", error.facts["reason"])
                if self._stopping.wait(RETRY_AFTER):
                    return None

    def _answer(self, receipt: Receipt) -> None:
        if receipt.seq:
            self._publish(receipt.temple, wire.Ack(receipt.source, receipt.seq))
        if receipt.gap and time.monotonic() - self._asked.get(receipt.source, -RESEND_EVERY) >= RESEND_EVERY:
            self._asked[receipt.source] = time.monotonic()
            log.info("temple %r: asking for its tokens from number %d on again", receipt.temple, receipt.seq + 1)
            expires = self._clock() + COMMAND_LIVES
            command = wire.Command(self._entropy(16).hex(), wire.CommandName.RESEND, expires, receipt.seq + 1)
            self._publish(receipt.temple, command)

    def _publish(self, temple: str, message: wire.Ack | wire.Command) -> None:
        self._client.publish(wire.topic(temple, message.leaf), wire.encode(message), qos=1)


def _no_delay(client: mqtt.Client, data: Any, connection: Any) -> None:
    """Let no acknowledgement wait for an answer to the one before: it is one small packet, and tokens wait for it."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

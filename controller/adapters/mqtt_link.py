"""The wire to the broker: connects, reconnects, publishes, and hands on what comes in.

It keeps nothing: what is published while there is no connection is refused, and a connection that ends takes
everything on its way with it. What must arrive is in the ledger. Its callbacks only enqueue.
"""

from __future__ import annotations

import itertools
import logging
import math
import random
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import Any

from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from controller.core.messages import BrokerConnected, BrokerDisconnected, LinkEvent, MessageReceived, StatusGarbled
from controller.core.settings import BrokerSettings
from templo import contract
from templo.bounded_log import BoundedLog
from templo.liveness import IDLE_S, NETWORK_S, SOON_S, Beat, no_heartbeat

BACKOFF_S = (0.5, 10.0)
_RETREAT_S = 120.0
"""How long at most a temple waits that gives way to another one, where the broker knows both by one client id."""

_BRIEF_S = 20.0
"""A connection that lasts longer was not ended by the other temple, which comes back within seconds."""

_CONNECT_S = 5.0
_FAREWELL_S = 2.0
_HEARD = contract.CONTRACT.read_by(contract.Role.TEMPLE)
_WILL = contract.declaration_of(contract.Status)
_UNSUPPORTED = "Unsupported protocol version"

log = logging.getLogger(__name__)


class Protocol(StrEnum):
    """The versions of MQTT that are spoken, newest first."""

    V5 = "5"
    V311 = "3.1.1"


class Link:
    """One temple's connection to its broker, kept up by a thread of its own.

    Each connection is a new client, so that no library's queue is ever a store. A broker that does not speak MQTT 5
    (nats-server) is met again in 3.1.1. A broker that is not there is no error: it is tried again, from every half
    second to every ten.
    """

    def __init__(
        self,
        settings: BrokerSettings,
        temple: str,
        client_id: str,
        will: contract.Status,
        listener: Callable[[LinkEvent], None],
        jitter: Callable[[], float] = random.random,
        beat: Beat = no_heartbeat,
        network_beat: Beat = no_heartbeat,
        announced: Mapping[str, bytes] | None = None,
    ) -> None:
        """Only remember; `start` connects. `listener` must only enqueue.

        `announced` holds payloads by their topics that are retained anew at every connection.

        `beat` is that of the thread that keeps the connection up, `network_beat` of paho's, which lives as long as
        one connection: between two it rests, and the first thread answers for it.
        """
        self._settings = settings
        self._beat = beat
        self._network_beat = network_beat
        self._announced = dict(announced or {})
        self._temple = temple
        self._client_id = client_id
        self._will = will
        self._publications = itertools.count(1)
        self._listener = listener
        self._jitter = jitter
        self._protocol = Protocol.V311 if settings.protocol == "3.1.1" else Protocol.V5
        self._lock = threading.Lock()
        self._client: paho.Client | None = None
        self._leaving: deque[paho.MQTTMessageInfo] = deque()
        self._taken_s = 0.0
        self._up = False
        self._stopping = False
        self._unplugged = False
        self._gives_way = False
        self._visit = _Visit()
        self._wake = threading.Event()
        self._complaint = ""
        self._junk = BoundedLog(log, time.monotonic)
        self._thread = threading.Thread(target=self._run, name="link", daemon=True)

    @property
    def address(self) -> str:
        """Where the broker is: ``host:port``."""
        return f"{self._settings.host}:{self._settings.port}"

    @property
    def protocol(self) -> str | None:
        """The version of MQTT that is being spoken, or None while there is no connection."""
        return self._protocol.value if self._up else None

    @property
    def unplugged(self) -> bool:
        """Whether the plug is pulled on purpose."""
        return self._unplugged

    def start(self) -> None:
        """Begin to connect, and keep connected until `stop`."""
        self._thread.start()

    def alive(self) -> bool:
        """Say whether the thread that keeps the connection up lives."""
        return self._thread.is_alive()

    def publish(self, message: contract.Message) -> bool:
        """Hand a message to the connection as it is declared; False if there is none. Safe from any thread."""
        client = self._client
        if client is None or not self._up:
            return False
        info = self._published(client, message)
        if info.rc != MQTTErrorCode.MQTT_ERR_SUCCESS:
            return False
        self._note(info)
        return True

    def _published(self, client: paho.Client, message: contract.Message) -> paho.MQTTMessageInfo:
        declared = contract.declaration_of(type(message))
        topic = contract.topic(self._temple, message.leaf)
        return client.publish(topic, contract.encode(self._numbered(message)), declared.qos, declared.retained)

    def _numbered(self, message: contract.Message) -> contract.Message:
        """Return a status with the number of its publication, anything else as it is."""
        if isinstance(message, contract.Status):
            return replace(message, publication=next(self._publications))
        return message

    def congested(self) -> bool:
        """Say whether something published is still waiting for the broker's word that it has it."""
        with self._lock:
            self._forget_taken()
            return bool(self._leaving)

    def introduce(self, client_id: str, will: contract.Status) -> None:
        """Connect anew under another client id and with another will: both name the source."""
        self._client_id = client_id
        self._will = will
        client = self._client
        if client is not None:
            client.disconnect()

    def give_way(self, gives_way: bool) -> None:
        """Come back ever later to a broker that ends each connection soon: it has room for one of two temples."""
        self._gives_way = gives_way

    def pull_plug(self, pulled: bool) -> None:
        """Cut the connection without a farewell and keep it cut, or let it come back."""
        self._unplugged = pulled
        client = self._client
        if pulled and client is not None:
            _cut(client)
        self._wake.set()

    def stop(self, farewell: contract.Status) -> None:
        """Publish the last status, wait until the broker has it, and disconnect."""
        self._stopping = True
        client = self._client
        if client is not None and self._up:
            info = self._published(client, farewell)
            try:
                info.wait_for_publish(_FAREWELL_S)
            except (RuntimeError, ValueError) as error:
                log.warning("the farewell did not reach %s: %s", self.address, error)
            client.disconnect()
            self._visit.over.wait(_FAREWELL_S)
        self._visit.over.set()
        self._visit.answered.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(_CONNECT_S + 1)

    def _note(self, info: paho.MQTTMessageInfo) -> None:
        with self._lock:
            self._forget_taken()
            if not self._leaving:
                self._taken_s = time.monotonic()
            self._leaving.append(info)

    def _forget_taken(self) -> None:
        """Drop from what is leaving what the broker has taken: it takes in order."""
        while self._leaving and self._leaving[0].is_published():
            self._leaving.popleft()
            self._taken_s = time.monotonic()

    def _owed(self, visit: _Visit) -> str:
        """Return what the broker has owed an answer for longer than a keepalive, or nothing.

        It may answer every ping, and yet a packet of ours or its answer is gone: within one connection MQTT sends
        neither again, and a temple that waited on would wait for ever.
        """
        late_s = time.monotonic() - self._settings.keepalive
        with self._lock:
            self._forget_taken()
            if self._leaving and self._taken_s < late_s:
                return "what this temple published"
        return "" if visit.subscribed or visit.greeted_s > late_s else "what this temple wants to hear"

    def _run(self) -> None:
        wait = BACKOFF_S[0]
        while not self._stopping:
            was_up = downgraded = False
            since_s = time.monotonic()
            if not self._unplugged:
                was_up, downgraded = self._connect_once()
            if self._stopping:
                return
            retreats = self._gives_way and was_up and time.monotonic() - since_s < _BRIEF_S
            if (was_up or downgraded) and not retreats:
                wait = BACKOFF_S[0]
            if not downgraded:
                self._wait(self._wake, wait * (0.5 + 0.5 * self._jitter()) if not self._unplugged else None)
                self._wake.clear()
                wait = BACKOFF_S[0] if self._unplugged else min(2 * wait, _RETREAT_S if retreats else BACKOFF_S[1])

    def _connect_once(self) -> tuple[bool, bool]:
        """Live through one connection; return whether it came up, and whether to try an older protocol at once."""
        visit = self._visit = _Visit()
        client = self._new_client(visit)
        self._beat(NETWORK_S)
        try:
            client.connect(self._settings.host, self._settings.port, self._settings.keepalive, **self._clean())
        except (OSError, ValueError) as error:
            self._complain(f"no broker at {self.address}: {error}")
            return False, False
        self._client = client
        self._network_beat(NETWORK_S)
        client.loop_start()
        if not self._wait(visit.answered, _CONNECT_S):
            self._complain(f"the broker at {self.address} took the connection and does not answer")
        elif not (self._stopping or self._unplugged):
            while not self._wait(visit.over, IDLE_S):
                if owed := self._owed(visit):
                    log.warning("the broker at %s leaves %s without an answer; connecting anew", self.address, owed)
                    break
        self._client = None
        if self._stopping:
            visit.over.wait(_FAREWELL_S)
        # paho's thread ends by itself only when nothing waits for the broker's word, so it is cut off.
        _cut(client)
        client.loop_stop()
        self._network_beat(math.inf)
        was_up, self._up = self._up, False
        with self._lock:
            self._leaving.clear()
        if was_up:
            self._listener(BrokerDisconnected())
        if visit.unsupported and self._settings.protocol == "auto" and self._protocol is Protocol.V5:
            log.info("the broker at %s speaks no MQTT 5; going on with 3.1.1", self.address)
            self._protocol = Protocol.V311
            return was_up, True
        return was_up, False

    def _wait(self, event: threading.Event, timeout_s: float | None = None) -> bool:
        """Wait for an event, idle by right, and say all the while that the thread is there."""
        until = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while (left_s := until - time.monotonic()) > 0:
            self._beat(SOON_S)
            self._junk.settle()
            if event.wait(min(IDLE_S, left_s)):
                return True
        return event.is_set()

    def _new_client(self, visit: _Visit) -> paho.Client:
        v5 = self._protocol is Protocol.V5
        client = _Client(
            self._network_beat,
            client_id=self._client_id,
            protocol=MQTTProtocolVersion.MQTTv5 if v5 else MQTTProtocolVersion.MQTTv311,
            reconnect_on_failure=False,
        )
        client.connect_timeout = _CONNECT_S
        if self._settings.user is not None or self._settings.password is not None:
            client.username_pw_set(self._settings.user or "", self._settings.password)
        will = contract.encode(self._numbered(self._will))
        client.will_set(contract.topic(self._temple, _WILL.leaf), will, _WILL.qos, _WILL.retained)
        client.on_socket_open = _no_delay
        client.on_connect = lambda client, _data, _flags, reason, _props: self._on_connect(client, reason, visit)
        client.on_disconnect = lambda _client, _data, _flags, reason, _props: self._on_disconnect(reason, visit)
        client.on_message = lambda _client, _data, message: self._on_message(message)
        client.on_subscribe = lambda _client, _data, _mid, reasons, _props: self._on_subscribe(reasons, visit)
        client.on_publish = lambda _client, _data, _mid, reason, _props: self._on_publish(reason)
        return client

    def _clean(self) -> dict[str, Any]:
        """No session at the broker: what was missed is asked for again, and a broker's memory is no store."""
        if self._protocol is Protocol.V311:
            return {}
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call] # paho's own
        properties.SessionExpiryInterval = 0
        return {"clean_start": True, "properties": properties}

    def _on_connect(self, client: paho.Client, reason: ReasonCode, visit: _Visit) -> None:
        if reason.is_failure:
            visit.unsupported = reason.getName() == _UNSUPPORTED
            if not visit.unsupported or self._settings.protocol != "auto":
                self._complain(f"the broker at {self.address} refuses this temple: {reason}")
            visit.over.set()
        else:
            client.subscribe([(contract.topic(self._temple, each.leaf), each.qos) for each in _HEARD])
            self._complaint = ""
            visit.greeted_s = time.monotonic()
            self._up = True
            for topic, payload in self._announced.items():
                self._note(client.publish(topic, payload, qos=1, retain=True))
            log.info("connected to %s in MQTT %s", self.address, self._protocol)
            self._listener(BrokerConnected())
        visit.answered.set()

    def _on_disconnect(self, reason: ReasonCode, visit: _Visit) -> None:
        if self._up and not self._stopping:
            log.warning("the connection to %s is gone: %s", self.address, reason)
        visit.over.set()
        visit.answered.set()

    def _on_subscribe(self, reasons: list[ReasonCode], visit: _Visit) -> None:
        visit.subscribed = True
        for each, reason in zip(_HEARD, reasons, strict=False):
            if reason.is_failure:
                log.error("the broker refuses to tell this temple its %ss: %s", each.leaf, reason)

    def _on_publish(self, reason: ReasonCode) -> None:
        if reason.is_failure:
            self._complain(f"the broker at {self.address} refuses what this temple publishes: {reason}")

    def _on_message(self, arrived: paho.MQTTMessage) -> None:
        leaf = ""
        try:
            _, leaf = contract.parse_topic(arrived.topic)
            message = contract.decode(leaf, bytes(arrived.payload))
        except (contract.WireError, UnicodeDecodeError) as error:
            self._junk.warning("ignored what came under %s: %s", ascii(arrived.topic)[:80], error)
            # Only what is no status at all: two temples of one name would answer each other for ever.
            if leaf == contract.Status.leaf:
                self._listener(StatusGarbled())
            return
        if isinstance(message, contract.Status):
            self._listener(MessageReceived(message))
            return
        if arrived.retain:
            self._junk.warning("ignored a retained %s: it may be of any age", leaf)
        elif isinstance(message, contract.Ack | contract.Command):
            self._listener(MessageReceived(message))

    def _complain(self, text: str) -> None:
        """Log a complaint once, however often it comes up again."""
        if text != self._complaint:
            self._complaint = text
            log.warning("%s; trying again", text)


class _Client(paho.Client):
    """A client whose thread says at each turn of its loop that it is there: every second when nothing happens."""

    def __init__(self, beat: Beat, **options: Any) -> None:
        super().__init__(CallbackAPIVersion.VERSION2, **options)
        self._beat = beat

    def loop_misc(self) -> MQTTErrorCode:
        """Do what paho does between two messages."""
        self._beat(SOON_S)
        return super().loop_misc()


class _Visit:
    """What one try at a connection found out."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.over = threading.Event()
        self.unsupported = False
        self.greeted_s = 0.0
        self.subscribed = False


def _no_delay(_client: paho.Client, _data: object, connection: object) -> None:
    """Send at once: a token is one small packet, and must not wait for the answer to the one before."""
    assert isinstance(connection, socket.socket)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _cut(client: paho.Client) -> None:
    connection = client.socket()
    if isinstance(connection, socket.socket):
        with suppress(OSError):  # it may be gone already, which is what was wanted
            connection.shutdown(socket.SHUT_RDWR)

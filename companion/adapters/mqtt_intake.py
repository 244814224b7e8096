"""The intake: tokens come in from the broker, are kept with what they cause, and only then are acknowledged.

The adapter over paho-mqtt. Its callbacks only enqueue; one thread of its own keeps and answers. A message that
breaks the contract is logged in one line and changes nothing.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode

from companion.adapters.backlog import Backlog
from companion.model.scores import score_of
from companion.model.table import ServiceError
from companion.service.services import Services
from templo import contract
from templo.bounded_log import BoundedLog
from templo.liveness import DISK_S, IDLE_S, NETWORK_S, SOON_S, Beat, no_heartbeat

log = logging.getLogger(__name__)

BATCH = 500
"""Tokens that share one change of the store at the most."""

RETRY_AFTER = 0.5
"""Seconds between two tries to store, while the store fails."""

SCORES_EVERY = 0.5
"""Seconds between two looks at what the temples' tables count."""

ACK_EVERY = 60.0
"""Seconds between two acknowledgements of a temple that is idle: they give the time to one without a time server."""

TIME_EVERY = 0.5
"""Seconds between two looks at what time alone has changed."""

_HEARD = [each for each in contract.CONTRACT.read_by(contract.Role.COMPANION) if each.place is contract.Place.TEMPLE]
_RETAINED = {each.leaf for each in _HEARD if each.retained}
_TOPICS = [(f"{each.place}/+/{each.leaf}", each.qos) for each in _HEARD]
_UNSUPPORTED_VERSION = "Unsupported protocol version"


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the broker is and how to log in."""

    host: str
    port: int
    user: str = ""
    password: str = ""
    keepalive_s: int = 15


_Heard: TypeAlias = tuple[str, contract.Message] | bool | None
"""A temple's message, whether the broker can be reached, or the end."""


class Intake:
    """Carries messages from one broker to the services; it waits for a broker that is not there."""

    def __init__(
        self,
        services: Services,
        broker: Broker,
        instance: str,
        clock: Callable[[], datetime],
        beat: Beat = no_heartbeat,
        network_beat: Beat = no_heartbeat,
    ) -> None:
        """Only remember; `start` connects. `beat` is that of the thread that stores, `network_beat` of paho's."""
        self._services = services
        self._beat = beat
        self._network_beat = network_beat
        self._broker = broker
        self._instance = instance
        self._clock = clock
        self._waiting = Backlog(services.temples, time.monotonic)
        self._up = False
        self._junk = BoundedLog(log, time.monotonic)
        self._scored: dict[str, tuple[str | None, int]] = {}
        self._scores_due = 0.0
        self._time_due = 0.0
        self._told: dict[str, int] | None = None
        self._acknowledged: dict[str, tuple[str, str]] = {}
        self._acks_due = 0.0
        self._leaving: deque[mqtt.MQTTMessageInfo] = deque()
        self._taken_s = 0.0
        self._subscribes_s: float | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
        self._client = self._made(MQTTProtocolVersion.MQTTv5)

    def start(self) -> None:
        """Begin to connect and to listen; until it succeeds, no temple can be heard."""
        self._services.temples.requests.connect(self._publish)
        self._waiting.put_event(False)
        self._thread.start()
        self._connect()

    def stop(self) -> None:
        """Leave the broker, having stored and acknowledged what had arrived."""
        self._stopping.set()
        self._waiting.put_event(None)
        self._thread.join(timeout=5)
        self._client.disconnect()
        self._client.loop_stop()

    def _made(self, version: MQTTProtocolVersion) -> mqtt.Client:
        client = _Client(self._turn, client_id=f"templo-companion-{self._instance[:12]}", protocol=version)
        if self._broker.user:
            client.username_pw_set(self._broker.user, self._broker.password)
        client.reconnect_delay_set(min_delay=1, max_delay=10)
        client.on_socket_open = _no_delay
        client.on_pre_connect = lambda _client, _data: self._network_beat(NETWORK_S)
        client.on_connect_fail = lambda _client, _data: self._network_beat(NETWORK_S)
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        return client

    def _connect(self) -> None:
        self._network_beat(NETWORK_S)
        self._client.connect_async(self._broker.host, self._broker.port, self._broker.keepalive_s)
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
            self._waiting.put_event(False)
        else:
            log.info("connected to the broker at %s:%d", self._broker.host, self._broker.port)
            self._subscribes_s = self._taken_s = time.monotonic()  # before the next turn may judge this connection
            client.subscribe(_TOPICS)
            self._waiting.put_event(True)

    def _on_subscribe(self, client: mqtt.Client, data: Any, mid: int, reasons: Any, properties: Any) -> None:
        self._subscribes_s = None

    def _turn(self, client: mqtt.Client) -> None:
        """Say that paho's thread is there, and cut a connection in which the broker owes an answer for too long.

        It may answer every ping, and yet a packet of ours or its answer is gone: within one connection MQTT sends
        neither again. A new connection asks for everything anew.
        """
        self._network_beat(SOON_S)
        self._junk.settle()
        if not client.is_connected():
            return
        late_s = time.monotonic() - self._broker.keepalive_s
        while self._leaving and self._leaving[0].is_published():
            self._leaving.popleft()
            self._taken_s = time.monotonic()
        no_heartbeat = self._subscribes_s is not None and self._subscribes_s < late_s
        connection = client.socket()
        if (no_heartbeat or (self._leaving and self._taken_s < late_s)) and isinstance(connection, socket.socket):
            log.warning(
                "the broker at %s:%d leaves %s without an answer; connecting anew",
                self._broker.host,
                self._broker.port,
                "what this companion wants to hear" if no_heartbeat else "what this companion published",
            )
            with suppress(OSError):  # it may be gone already, which is what was wanted
                connection.shutdown(socket.SHUT_RDWR)

    def _speak_older(self, refused: mqtt.Client) -> None:
        refused.disconnect()
        refused.loop_stop()
        if not self._stopping.is_set():
            self._client = self._made(MQTTProtocolVersion.MQTTv311)
            self._connect()

    def _on_disconnect(self, client: mqtt.Client, data: Any, flags: Any, reason: ReasonCode, properties: Any) -> None:
        self._network_beat(NETWORK_S)
        if client is self._client and not self._stopping.is_set():
            log.info("the broker at %s:%d cannot be reached: %s", self._broker.host, self._broker.port, reason)
            self._waiting.put_event(False)

    def _on_message(self, client: mqtt.Client, data: Any, message: mqtt.MQTTMessage) -> None:
        try:
            temple, leaf = contract.parse_topic(message.topic)
            if not self._waiting.expects(temple):
                self._refuse(temple)
                return
            if message.retain and leaf not in _RETAINED:
                raise contract.WireError(f"{leaf} is retained; expected a live message")
            heard = contract.decode(leaf, bytes(message.payload))
        except contract.WireError as error:
            self._junk.warning("ignored a message under %s: %s", ascii(message.topic)[:80], error)
            return
        if not self._waiting.put(temple, heard):
            self._refuse(temple)

    def _refuse(self, temple: str) -> None:
        self._junk.warning("too much comes, or too many names are new: %r is left to its temple's ledger", temple)

    def _run(self) -> None:
        heard: list[_Heard] = []
        while self._take(heard):
            self._beat(DISK_S)
            heard = self._waiting.take(BATCH, IDLE_S)

    def _take(self, heard: list[_Heard]) -> bool:
        """Take messages in, in their order; returns whether there may be more."""
        tokens: list[tuple[str, contract.Token]] = []
        for each in heard:
            if isinstance(each, tuple) and isinstance(each[1], contract.Token):
                tokens.append((each[0], each[1]))
                continue
            self._keep(tokens)
            tokens = []
            if each is None:
                return False
            if isinstance(each, bool):
                self._up = each
                self._scored.clear()  # a broker may have forgotten what it retained
                self._acknowledged.clear()
                self._services.temples.set_reachable(each)
            elif isinstance(each[1], contract.Status):
                self._persist(self._services.temples.receive_status, each[0], each[1])
                self._acknowledge_status(each[0], each[1])
            else:
                self._hear(*each)
        self._keep(tokens)
        self._tell_scores()
        if time.monotonic() >= self._time_due:
            self._time_due = time.monotonic() + TIME_EVERY
            self._services.temples.pass_time()
            self._services.temples.requests.request_missing(time.monotonic())
            self._tell_changes()
        if time.monotonic() >= self._acks_due:
            self._acks_due = time.monotonic() + ACK_EVERY
            self._acknowledge_all()
        return True

    def _hear(self, temple: str, message: contract.Message) -> None:
        """Take in what a temple says beside its tokens and its status."""
        match message:
            case contract.Count():
                self._services.temples.ledgers.receive_count(temple, message)
            case contract.Noise():
                self._services.temples.receive_noise(temple, message)
            case contract.Findings():
                self._services.temples.receive_findings(temple, message)
            case contract.Reply():
                self._services.temples.requests.receive_reply(temple, message, time.monotonic())

    def _tell_scores(self) -> None:
        """Let homes that know no game see what counts in the game of each temple, where that has changed."""
        if not self._up or time.monotonic() < self._scores_due:
            return
        self._scores_due = time.monotonic() + SCORES_EVERY
        tables = {table.id: table for table in self._services.tables.all()}
        for temple in self._services.temples.all():
            table = tables.get(temple.table_id or "")
            known = (table.id, table.version) if table else (None, 0)
            if self._scored.get(temple.name) != known:
                try:
                    score = score_of(table, self._services.tables.tokens)
                except ServiceError as error:
                    log.error("cannot read what counts at a table, trying again: %s", error.facts["reason"])
                    return
                self._scored[temple.name] = known
                self._publish(temple.name, score)

    def _tell_changes(self) -> None:
        """Let whoever listens know which tables moved on; what they hold is asked for where tables are shown."""
        if not self._up:
            return
        versions = {table.id: table.version for table in self._services.tables.all()}
        before = versions if self._told is None else self._told
        for table_id, version in versions.items():
            if before.get(table_id) != version:
                self._send(contract.table_topic(table_id), contract.Changed(table_id, version))
        self._told = versions

    def _keep(self, tokens: list[tuple[str, contract.Token]]) -> None:
        if not tokens:
            return
        receipts = self._persist(self._services.temples.intake.receive, tokens) or ()
        for receipt in receipts:
            self._acknowledge(receipt.temple, receipt.source)
        if any(receipt.gap for receipt in receipts):
            self._services.temples.requests.request_missing(time.monotonic())

    def _persist(self, change: Callable[..., Any], *args: Any) -> Any:
        """Make a change, again and again while its store fails; nothing is acknowledged meanwhile."""
        while True:
            try:
                return change(*args)
            except ServiceError as error:
                if error.code != "store_failing":
                    raise
                log.error("cannot store what the temples send, trying again: %s", error.facts["reason"])
                self._beat(DISK_S)
                if self._stopping.wait(RETRY_AFTER):
                    return None

    def _acknowledge_status(self, temple: str, status: contract.Status) -> None:
        """Acknowledge what is stored of a ledger that has just come: one from a backup is known by it at once.

        Once for each session and source of a temple while the connection lasts, and again after it was away.
        """
        if status.source is None or status.state in (contract.State.LOST, contract.State.STOPPED):
            self._acknowledged.pop(temple, None)
        elif self._acknowledged.get(temple) != (status.session, status.source):
            self._acknowledged[temple] = (status.session, status.source)
            self._acknowledge(temple, status.source)

    def _acknowledge_all(self) -> None:
        if self._up:
            for temple in self._services.temples.all():
                if temple.alive and temple.source:
                    self._acknowledge(temple.name, temple.source)

    def _acknowledge(self, temple: str, source: str) -> None:
        mark = self._services.temples.ledgers.mark(source)
        self._publish(temple, contract.Ack(source, mark.seq, mark.token or None, self._clock()))

    def _publish(self, temple: str, message: contract.Ack | contract.Command | contract.Score) -> None:
        self._send(contract.topic(temple, message.leaf), message)

    def _send(self, topic: str, message: contract.Message) -> None:
        declared = contract.declaration_of(type(message))
        info = self._client.publish(topic, contract.encode(message), declared.qos, declared.retained)
        if info.rc == MQTTErrorCode.MQTT_ERR_SUCCESS:
            if not self._leaving:
                self._taken_s = time.monotonic()
            self._leaving.append(info)


class _Client(mqtt.Client):
    """A client whose thread says at each turn of its loop that it is there: every second when nothing happens."""

    def __init__(self, turn: Callable[[mqtt.Client], None], **options: Any) -> None:
        super().__init__(CallbackAPIVersion.VERSION2, **options)
        self._turn = turn

    def loop_misc(self) -> MQTTErrorCode:
        """Do what paho does between two messages."""
        self._turn(self)
        return super().loop_misc()


def _no_delay(client: mqtt.Client, data: Any, connection: Any) -> None:
    """Let no acknowledgement wait for an answer to the one before: it is one small packet, and tokens wait for it."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

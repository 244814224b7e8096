"""One connection to the MQTT broker for both programs: connects, reconnects, publishes, and passes on what arrives.

It stores nothing: a message published without a connection is refused, and messages that the broker has not
acknowledged are dropped with the connection. Each program stores what must arrive, and sends it again.
"""

from __future__ import annotations

import logging
import math
import random
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from templo import contract
from templo.bounded_log import BoundedLog
from templo.broker import Address, BrokerSettings
from templo.liveness import IDLE_S, NETWORK_S, REST_S, Beat, no_heartbeat

BACKOFF_S = (0.5, 10.0)
"""The shortest and the longest wait between two attempts; each is twice the one before, and shortened by chance."""

RETREAT_S = 120.0
"""The longest wait of a connection that gives way to another one of the same client id."""

BRIEF_S = 20.0
"""A connection that lasts longer was not ended by the other holder of its client id, which returns within seconds."""

RETURN_S = (15.0, 600.0)
"""The shortest and the longest time at a later broker of the list before an earlier one is tried again.

It doubles with each return that fails.
"""

REFUSED_S = (2.0, 300.0)
"""The shortest and the longest wait before a refused subscription is requested again; each is twice the last."""

CONNECT_S = 5.0
"""How long a broker has to greet a program; for every later answer it has a keepalive."""

MOST_PATIENCE = 4
"""By how much both times grow at most: they double whenever one has run out, until nothing is owed any more.

A cluster that lost a node answers late while it chooses new leaders, and begins again with every new connection.
"""

PROBE_S = 2.0
FAREWELL_S = 2.0
_V5, _V311 = MQTTProtocolVersion.MQTTv5, MQTTProtocolVersion.MQTTv311
_NAMES = {_V5: "5", _V311: "3.1.1"}
_UNSUPPORTED = "Unsupported protocol version"
_CONNACK = b"\x20"
_PROBE = b"\x10\x0c\x00\x04MQTT\x7f\x02\x00\x0a\x00\x00"
"""A CONNECT in version 127 of MQTT, which every broker answers with a refusal.

A proper one would need a client id, and this program's own would end its present connection to the same cluster.
"""

log = logging.getLogger(__name__)


class Subscriber(Protocol):
    """The program's side of a connection. The connection's own threads call it, so it must only enqueue."""

    def on_connected(self) -> None:
        """Note that the connection is up, and the subscriptions are requested."""

    def on_disconnected(self) -> None:
        """Note that the connection is gone, and nothing more arrives over it."""

    def on_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Take a message; a `WireError` that this raises is logged, at a bounded rate."""


class Post(NamedTuple):
    """A message and its topic."""

    topic: str
    message: contract.Message


class Presence(NamedTuple):
    """What a broker publishes of a program at each connection, and after one that broke."""

    will: Callable[[], Post] | None = None
    """The will of each connection, which the broker publishes if it breaks."""
    retained: Mapping[str, bytes] = MappingProxyType({})
    """Payloads by their topics that are published, retained, at every connection."""


class Beats(NamedTuple):
    """The heartbeats of a connection's threads."""

    link: Beat = no_heartbeat
    """That of the thread that keeps the connection up."""
    network: Beat = no_heartbeat
    """That of paho's, which lives as long as one connection."""


class Connection:
    """One program's connection to its broker, kept up by a thread of its own.

    Each attempt is a new client, so that no queue of the library is ever a store, and goes to the next broker of the
    settings. At a later one of the list it returns to an earlier one that answers again: brokers that do not share
    their messages are of use only where all programs meet at the same one. A broker that does not speak MQTT 5
    (nats-server) is tried again in 3.1.1. A broker that is not there is no error: it is tried again, from every half
    second to every ten. One that answers late has more time at the next attempt. A broker that refuses a
    subscription is not left, because the programs at brokers that do not share their messages would lose each other:
    the subscription is requested again, ever less often.
    """

    def __init__(
        self,
        settings: BrokerSettings,
        client_id: str,
        subscriptions: Sequence[tuple[str, int]],
        subscriber: Subscriber,
        *,
        role: str,
        presence: Presence = Presence(),  # noqa: B008  # a frozen value
        jitter: Callable[[], float] = random.random,
        beats: Beats = Beats(),  # noqa: B008
    ) -> None:
        """Store the arguments; `start` connects.

        `subscriptions` are topic filters with their QoS. `role` names this program in the log. `jitter` gives
        numbers from 0 to 1.
        """
        self._settings = settings
        self._client_id = client_id
        self._subscriptions = subscriptions
        self._subscriber = subscriber
        self._role = role
        self._will = presence.will
        self._retained = presence.retained
        self._addresses = settings.addresses
        self._address = self._addresses[0]
        self._returns_to: Address | None = None
        self._return_s = RETURN_S[0]
        self._jitter = jitter
        self._beat, self._network_beat = beats
        self._older: set[Address] = set()
        self._client: paho.Client | None = None
        self._session = _Session()
        self._up = False
        self._stopping = False
        self._unplugged = False
        self._gives_way = False
        self._patience = 1
        self._more: dict[str, int] = {}
        self._subscribing = threading.Lock()
        self._wake = threading.Event()
        self._complaints: set[str] = set()
        self._junk = BoundedLog(log, time.monotonic)
        self._thread = threading.Thread(target=self._run, name="link", daemon=True)

    @property
    def address(self) -> Address:
        """The broker that is connected, or tried next."""
        return self._address

    @property
    def protocol(self) -> str | None:
        """The version of MQTT in use, or None while there is no connection."""
        return _NAMES[self._version] if self._up else None

    @property
    def subscribed(self) -> bool:
        """Whether the broker has answered the subscriptions, so that no later message passes this program by."""
        return self._up and self._session.subscribed

    @property
    def unplugged(self) -> bool:
        """Whether the connection is cut on purpose."""
        return self._unplugged

    def start(self) -> None:
        """Begin to connect, and stay connected until `stop`."""
        self._thread.start()

    def alive(self) -> bool:
        """Return whether the thread that keeps the connection up is alive."""
        return self._thread.is_alive()

    def publish(self, topic: str, message: contract.Message) -> bool:
        """Publish a message as it is declared; return False without a connection. Safe from any thread."""
        client, session = self._client, self._session
        if client is None or not self._up:
            return False
        info = self._send(client, topic, message)
        if info.rc != MQTTErrorCode.MQTT_ERR_SUCCESS:
            return False
        session.add(info)
        return True

    def subscribe(self, subscriptions: Sequence[tuple[str, int]]) -> None:
        """Subscribe to these beside those that it was made with, and to no others; safe from any thread."""
        wanted = dict(subscriptions)
        with self._subscribing:
            before, self._more = self._more, wanted
            client = self._client
            if wanted == before or client is None or not self._up:
                return
            if new := [(topic, qos) for topic, qos in wanted.items() if topic not in before]:
                self._subscribe(client, self._session, new)
            if gone := sorted(before.keys() - wanted):
                client.unsubscribe(gone)

    def congested(self) -> bool:
        """Return whether the broker has yet to acknowledge something that was published."""
        return self._session.owed_since_s() is not None

    def rename(self, client_id: str) -> None:
        """Connect again at once under another client id, with the will as it is now, and give way to nobody."""
        self._client_id = client_id
        self._gives_way = False
        self._wake.set()
        if (client := self._client) is not None:
            client.disconnect()

    def give_way(self, gives_way: bool) -> None:
        """Wait longer each time a connection ends soon: another client has the same id, and there is room for one."""
        self._gives_way = gives_way

    def pull_plug(self, pulled: bool) -> None:
        """Cut the connection without a farewell and keep it cut, or let it come back."""
        self._unplugged = pulled
        client = self._client
        if pulled and client is not None:
            _cut(client)
        self._wake.set()

    def stop(self, farewell: Post | None = None) -> None:
        """Publish a last message, wait until the broker has it, and disconnect."""
        self._stopping = True
        client, session = self._client, self._session
        if client is not None and self._up:
            try:
                if farewell is not None:
                    self._send(client, *farewell).wait_for_publish(FAREWELL_S)
            except (RuntimeError, ValueError) as error:
                log.warning("the farewell did not reach %s: %s", self.address, error)
            client.disconnect()
            session.over.wait(FAREWELL_S)
        session.end()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(CONNECT_S + 1)

    @property
    def _version(self) -> MQTTProtocolVersion:
        older = self._settings.protocol == "3.1.1" or self.address in self._older
        return _V311 if older else _V5

    def _run(self) -> None:
        wait = BACKOFF_S[0]
        while not self._stopping:
            was_up = downgraded = False
            since_s = time.monotonic()
            if not self._unplugged:
                was_up, downgraded = self._connect_once()
            if self._stopping:
                return
            if downgraded:
                wait = BACKOFF_S[0]
                continue
            self._move_on(was_up)
            retreats = self._gives_way and was_up and time.monotonic() - since_s < BRIEF_S
            if was_up and not retreats:
                wait = BACKOFF_S[0]
            self._wait(self._wake, None if self._unplugged else wait * (0.5 + 0.5 * self._jitter()))
            self._wake.clear()
            wait = BACKOFF_S[0] if self._unplugged else min(2 * wait, RETREAT_S if retreats else BACKOFF_S[1])

    def _move_on(self, was_up: bool) -> None:
        """Choose the broker of the next attempt."""
        if self._returns_to is not None and self._returns_to != self._address:
            self._address = self._returns_to
            return
        if self._returns_to is not None:  # this connection is the return
            self._return_s = RETURN_S[0] if was_up else min(2 * self._return_s, RETURN_S[1])
            self._returns_to = None
        self._address = self._addresses[(self._addresses.index(self._address) + 1) % len(self._addresses)]

    def _connect_once(self) -> tuple[bool, bool]:
        """Live through one connection; return whether it came up, and whether to try an older protocol at once."""
        session, client_id = _Session(), self._client_id
        self._session = session
        client = self._new_client(session)
        self._beat(NETWORK_S)
        try:
            client.connect(*self.address, self._settings.keepalive_s * self._patience, **self._without_session())
        except (OSError, ValueError) as error:
            self._complain(f"no broker at {self.address}: {error}")
            return False, False
        self._client = client
        if self._client_id != client_id:  # `rename` did not see this client
            client.disconnect()
        self._network_beat(NETWORK_S)
        client.loop_start()
        if not self._wait(session.answered, CONNECT_S * self._patience):
            self._be_more_patient()
            self._complain(f"the broker at {self.address} took the connection and does not answer")
        elif not (self._stopping or self._unplugged):
            self._watch(client, session)
        self._client = None
        if self._stopping:
            session.over.wait(FAREWELL_S)
        # paho's thread ends by itself only when nothing waits for an acknowledgement, so it is cut off.
        _cut(client)
        client.loop_stop()
        self._network_beat(math.inf)
        was_up, self._up = self._up, False
        session.forget()
        if was_up:
            self._subscriber.on_disconnected()
        if session.unsupported and self._settings.protocol == "auto" and self._version is _V5:
            log.info("the broker at %s speaks no MQTT 5; going on with 3.1.1", self.address)
            self._older.add(self.address)
            return was_up, True
        return was_up, False

    def _watch(self, client: paho.Client, session: _Session) -> None:
        """Wait until a connection is over, and end it where the broker owes an answer for too long.

        It ends too where an earlier broker of the list answers again.

        It may answer every ping, and yet a packet or its acknowledgement is gone: within one connection MQTT sends
        neither again, and a program that waited on would wait for ever.
        """
        return_due_s = time.monotonic() + self._return_s
        while not self._wait(session.over, min(IDLE_S, self._settings.keepalive_s / 2)):
            if time.monotonic() >= return_due_s:
                self._returns_to = self._earlier()
                if self._returns_to is not None:
                    log.info("the broker at %s answers again; leaving %s for it", self._returns_to, self.address)
                    return
                return_due_s = time.monotonic() + self._return_s
            now_s = time.monotonic()
            late_s = now_s - self._settings.keepalive_s * self._patience
            owed_since_s = session.owed_since_s()
            if session.refused and now_s >= session.again_due_s:
                session.again_s = min(2 * session.again_s, REFUSED_S[1])
                self._subscribe(client, session, session.refused)
            if owed_since_s is not None and owed_since_s < late_s:
                owed = f"what this {self._role} published"
            elif not session.subscribed and session.greeted_s < late_s:
                owed = f"the subscriptions of this {self._role}"
            else:
                if session.subscribed and owed_since_s is None:
                    self._patience = 1
                continue
            self._be_more_patient()
            log.warning("the broker at %s leaves %s without an answer; connecting again", self.address, owed)
            return

    def _be_more_patient(self) -> None:
        self._patience = min(2 * self._patience, MOST_PATIENCE)

    def _earlier(self) -> Address | None:
        """Return the first broker that is earlier in the list than the connected one, and answers."""
        for address in self._addresses[: self._addresses.index(self._address)]:
            self._beat(NETWORK_S)
            if _answers(address):
                return address
        return None

    def _wait(self, event: threading.Event, timeout_s: float | None) -> bool:
        """Wait for an event; the thread's heartbeat goes on meanwhile."""
        until = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while (left_s := until - time.monotonic()) > 0:
            self._beat(REST_S)
            self._junk.settle()
            if event.wait(min(IDLE_S, left_s)):
                return True
        return event.is_set()

    def _new_client(self, session: _Session) -> paho.Client:
        client = _Client(
            self._network_beat, client_id=self._client_id, protocol=self._version, reconnect_on_failure=False
        )
        client.connect_timeout = CONNECT_S
        if self._settings.user or self._settings.password:
            client.username_pw_set(self._settings.user, self._settings.password or None)
        if self._will is not None:
            topic, message = self._will()
            declared = contract.declaration_of(type(message))
            client.will_set(topic, contract.encode(message), declared.qos, declared.retained)
        client.on_socket_open = _no_delay
        client.on_connect = lambda client, _data, _flags, reason, _props: self._on_connect(client, reason, session)
        client.on_disconnect = lambda _client, _data, _flags, reason, _props: self._on_disconnect(reason, session)
        client.on_message = lambda _client, _data, message: self._on_message(message)
        client.on_subscribe = lambda _client, _data, _mid, reasons, _props: self._on_subscribe(reasons, session)
        client.on_publish = lambda _client, _data, _mid, reason, _props: self._on_publish(reason)
        return client

    def _without_session(self) -> dict[str, Any]:
        """Return what asks for no session at the broker: its memory is no store, what was missed is sent again."""
        if self._version is _V311:
            return {}
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call] # paho's own
        properties.SessionExpiryInterval = 0
        return {"clean_start": True, "properties": properties}

    def _on_connect(self, client: paho.Client, reason: ReasonCode, session: _Session) -> None:
        if reason.is_failure:
            session.unsupported = reason.getName() == _UNSUPPORTED
            if not session.unsupported or self._settings.protocol != "auto":
                self._complain(f"the broker at {self.address} refuses this {self._role}: {reason}")
            session.over.set()
        else:
            with self._subscribing:
                self._subscribe(client, session, [*self._subscriptions, *self._more.items()])
                self._up = True
            self._complaints.clear()
            session.greeted_s = time.monotonic()
            for topic, payload in self._retained.items():
                session.add(client.publish(topic, payload, qos=1, retain=True))
            log.info("connected to %s in MQTT %s", self.address, _NAMES[self._version])
            self._subscriber.on_connected()
        session.answered.set()

    def _on_disconnect(self, reason: ReasonCode, session: _Session) -> None:
        if self._up and not self._stopping:
            log.warning("the connection to %s is gone: %s", self.address, reason)
        session.end()

    def _subscribe(self, client: paho.Client, session: _Session, filters: Sequence[tuple[str, int]]) -> None:
        session.requested.append([*filters])  # before the answer, which comes in another thread
        session.again_due_s = time.monotonic() + session.again_s
        client.subscribe([*filters])

    def _on_subscribe(self, reasons: list[ReasonCode], session: _Session) -> None:
        requested = session.requested.popleft()  # brokers answer in order
        refused = [each for each in session.refused if each not in requested]
        for each, reason in zip(requested, reasons, strict=False):
            if reason.is_failure:
                refused.append(each)
                self._complain(f"the broker at {self.address} refuses {each[0]} to this {self._role}: {reason}")
            elif session.subscribed:
                log.info("the broker at %s grants %s to this %s now", self.address, each[0], self._role)
        session.refused = refused
        session.subscribed = True

    def _on_publish(self, reason: ReasonCode) -> None:
        if reason.is_failure:
            self._complain(f"the broker at {self.address} refuses what this {self._role} publishes: {reason}")

    def _on_message(self, arrived: paho.MQTTMessage) -> None:
        topic = "a topic that is not UTF-8"
        try:
            topic = arrived.topic
            self._subscriber.on_message(topic, bytes(arrived.payload), arrived.retain)
        except (contract.WireError, UnicodeDecodeError) as error:
            self._junk.warning("ignored a message under %s: %s", ascii(topic)[:80], error)

    def _send(self, client: paho.Client, topic: str, message: contract.Message) -> paho.MQTTMessageInfo:
        declared = contract.declaration_of(type(message))
        return client.publish(topic, contract.encode(message), declared.qos, declared.retained)

    def _complain(self, text: str) -> None:
        """Log a complaint once until there is a connection again, however often it comes up."""
        if text not in self._complaints:
            self._complaints.add(text)
            log.warning("%s; trying again", text)


class _Client(paho.Client):
    """A client with a heartbeat in each turn of its thread's loop."""

    def __init__(self, beat: Beat, **options: Any) -> None:
        super().__init__(CallbackAPIVersion.VERSION2, **options)
        self._beat = beat

    def loop_forever(self, timeout: float = IDLE_S, retry_first_connection: bool = False) -> MQTTErrorCode:
        """Run the loop; when nothing happens it turns as often as pings in time need, not every second."""
        return super().loop_forever(min(timeout, self.keepalive / 4), retry_first_connection)

    def loop_misc(self) -> MQTTErrorCode:
        """Do what paho does between two messages."""
        self._beat(REST_S)
        return super().loop_misc()


class _Session:
    """What is known of one connection, and what the broker has yet to acknowledge in it. Safe from any thread."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.over = threading.Event()
        self.unsupported = False
        self.greeted_s = 0.0
        self.subscribed = False
        self.requested: deque[list[tuple[str, int]]] = deque()
        self.refused: list[tuple[str, int]] = []
        self.again_s, self.again_due_s = REFUSED_S[0], math.inf
        self._lock = threading.Lock()
        self._leaving: deque[paho.MQTTMessageInfo] = deque()
        self._taken_s = 0.0

    def end(self) -> None:
        """Wake whoever waits for the connection."""
        self.over.set()
        self.answered.set()

    def add(self, info: paho.MQTTMessageInfo) -> None:
        """Expect an acknowledgement."""
        with self._lock:
            self._forget_taken()
            if not self._leaving:
                self._taken_s = time.monotonic()
            self._leaving.append(info)

    def forget(self) -> None:
        """Expect no acknowledgement any more."""
        with self._lock:
            self._leaving.clear()

    def owed_since_s(self) -> float | None:
        """Return since when the broker has acknowledged nothing of what it owes; None if it owes nothing."""
        with self._lock:
            self._forget_taken()
            return self._taken_s if self._leaving else None

    def _forget_taken(self) -> None:
        while self._leaving and self._leaving[0].is_published():  # brokers acknowledge in order
            self._leaving.popleft()
            self._taken_s = time.monotonic()


def _answers(address: Address) -> bool:
    """Return whether a broker answers there; a frozen one takes the connection and does not."""
    # A name that the resolver cannot be asked for is a UnicodeError, such as one with an empty label.
    with suppress(OSError, UnicodeError), socket.create_connection(address, PROBE_S) as connection:
        connection.sendall(_PROBE)
        return connection.recv(1) == _CONNACK
    return False


def _no_delay(_client: paho.Client, _data: object, connection: object) -> None:
    """Send at once: a token or its acknowledgement is one small packet, and must not wait for an answer."""
    assert isinstance(connection, socket.socket)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _cut(client: paho.Client) -> None:
    connection = client.socket()
    if isinstance(connection, socket.socket):
        with suppress(OSError):  # it may be closed already, which was the aim
            connection.shutdown(socket.SHUT_RDWR)

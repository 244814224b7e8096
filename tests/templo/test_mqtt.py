"""The one connection to the broker, against real brokers: it comes back, and says what is wrong when it cannot."""

from __future__ import annotations

import logging
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt import publish

from templo import contract, mqtt
from templo.broker import Address, BrokerSettings
from templo.mqtt import BACKOFF_S, Connection, Post, Presence
from tests.brokers import HOST, free_port, mosquitto, nats
from tests.waiting import eventually

TOPIC = contract.topic("templo", contract.Ack.leaf)
STATUS = contract.topic("templo", contract.Status.leaf)
ACK = contract.Ack("ab" * 16, 1)


def status(state: contract.State) -> contract.Status:
    beams = dict.fromkeys(contract.God, contract.Beam.UNKNOWN)
    return contract.Status(state, "c" * 32, contract.Kind.SIMULATOR, "1", contract.Timing.SIMULATED, beams, "a" * 32)


class Client:
    """A program that remembers what its connection reports."""

    def __init__(self, settings: BrokerSettings, client_id: str = "one", **more: Any) -> None:
        self.events: list[str] = []
        self.arrived: list[tuple[str, bytes, bool]] = []
        subscriptions = more.pop("subscriptions", [(TOPIC, 1), (STATUS, 1)])
        self.connection = Connection(settings, client_id, subscriptions, self, role="program", **more)

    def on_connected(self) -> None:
        self.events.append("connected")

    def on_disconnected(self) -> None:
        self.events.append("disconnected")

    def on_message(self, topic: str, payload: bytes, retained: bool) -> None:
        if payload == b"junk":
            raise contract.WireError("ack is junk; expected a message")
        self.arrived.append((topic, payload, retained))

    def acks(self) -> int:
        return sum(topic == TOPIC for topic, _, _ in self.arrived)


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    """Start clients that stop with the test."""
    with ExitStack() as stack:

        def started(settings: BrokerSettings, *words: str, **more: Any) -> Client:
            made = Client(settings, *words, jitter=lambda: 0.0, **more)
            made.connection.start()
            stack.callback(made.connection.stop)
            return made

        yield started


def at(port: int, **more: Any) -> BrokerSettings:
    return BrokerSettings(HOST, port, **more)


@pytest.mark.parametrize(("make", "protocol"), [(mosquitto, "5"), (nats, "3.1.1")])
def test_after_a_broker_was_killed_it_connects_and_subscribes_again(
    make: Any, protocol: str, client: Callable[..., Client], tmp_path: Path
) -> None:
    with make(tmp_path) as broker:
        one = client(at(broker.port))
        eventually(lambda: one.connection.protocol == protocol)
        broker.kill()
        eventually(lambda: one.events == ["connected", "disconnected"])
        assert not one.connection.publish(TOPIC, ACK)
        broker.start()
        eventually(lambda: one.events == ["connected", "disconnected", "connected"])
        eventually(lambda: one.connection.publish(TOPIC, ACK) and one.acks())
        eventually(lambda: not one.connection.congested())


def test_what_is_to_be_retained_is_published_at_every_connection(
    client: Callable[..., Client], tmp_path: Path
) -> None:
    with mosquitto(tmp_path) as broker:
        one = client(at(broker.port), presence=Presence(retained={"somewhere": b"here"}))
        for _ in range(2):
            reader = client(at(broker.port), "reader", subscriptions=[("somewhere", 1)])
            arrived = reader.arrived
            eventually(lambda: [each[:2] for each in arrived] == [("somewhere", b"here")])  # noqa: B023 (called at once)
            reader.connection.stop()
            broker.kill()
            broker.start()
        assert one.connection.alive()


def test_a_broker_that_speaks_the_older_protocol_alone_is_refused_where_the_newer_is_demanded(
    client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with nats(tmp_path) as broker:
        one = client(at(broker.port, protocol="5"))
        eventually(lambda: "refuses this program: Unsupported protocol version" in caplog.text)
        assert not one.events
        caplog.clear()


def test_a_wrong_password_is_one_clear_line_until_the_right_one_connects(
    client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    users = tmp_path / "users"
    users.write_text("temple:right\n")
    subprocess.run(["mosquitto_passwd", "-U", str(users)], check=True)
    users.chmod(0o644)
    with mosquitto(tmp_path, config=f"allow_anonymous false\npassword_file {users}") as broker:
        refused = client(at(broker.port, user="temple", password="wrong"), "refused")
        eventually(lambda: "refuses this program: Not authorized; trying again" in caplog.text)
        right = client(at(broker.port, user="temple", password="right"))
        eventually(lambda: right.events == ["connected"])
        time.sleep(3 * BACKOFF_S[0])
        assert caplog.text.count("Not authorized") == 1
        assert not refused.events
        assert "wrong" not in caplog.text
    caplog.clear()


def test_two_with_one_client_id_take_over_from_each_other_and_one_that_gives_way_waits_longer(
    client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with mosquitto(tmp_path) as broker:
        one = client(at(broker.port))
        eventually(lambda: one.events)
        one.connection.give_way(True)
        other = client(at(broker.port))
        eventually(lambda: other.events)
        eventually(lambda: "disconnected" in one.events)
        eventually(lambda: one.events.count("connected") > 1)
        other.connection.rename("another")
        eventually(lambda: one.connection.protocol and other.connection.protocol)
    caplog.clear()


def test_one_that_gets_another_client_id_connects_at_once_however_long_it_was_to_wait(
    client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt, "BACKOFF_S", (3_600.0, 3_600.0))
    with mosquitto(tmp_path) as broker:
        one = client(at(broker.port))
        eventually(lambda: one.events)
        one.connection.give_way(True)
        other = client(at(broker.port))
        eventually(lambda: "disconnected" in one.events)
        one.connection.rename("another")
        eventually(lambda: one.connection.protocol and other.connection.protocol)
    caplog.clear()


def test_one_that_gets_another_client_id_while_it_connects_has_it_at_once(
    client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go = threading.Event(), threading.Event()
    connect = mqtt._Client.connect
    used: list[bytes] = []

    def slow(self: Any, *words: Any, **more: Any) -> Any:
        used.append(self._client_id)
        if len(used) == 1:
            reached.set()
            go.wait(180)
        return connect(self, *words, **more)

    monkeypatch.setattr(mqtt._Client, "connect", slow)
    with mosquitto(tmp_path) as broker:
        one = client(at(broker.port))
        assert reached.wait(180)
        one.connection.rename("another")
        go.set()
        eventually(lambda: one.connection.protocol)
        assert used[-1] == b"another"
    caplog.clear()


def test_a_connection_that_breaks_leaves_its_will(
    client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lost = status(contract.State.LOST)
    with mosquitto(tmp_path) as broker:
        reader = client(at(broker.port), "reader")
        one = client(at(broker.port), presence=Presence(lambda: Post(STATUS, lost)))
        eventually(lambda: one.events and reader.connection.subscribed)
        one.connection.pull_plug(True)
        eventually(lambda: (STATUS, contract.encode(lost), False) in reader.arrived)
        assert one.connection.protocol is None
        one.connection.pull_plug(False)
        eventually(lambda: one.connection.protocol)
    caplog.clear()


def test_the_farewell_takes_the_will_s_place(client: Callable[..., Client], tmp_path: Path) -> None:
    stopped = contract.encode(status(contract.State.STOPPED))
    with mosquitto(tmp_path) as broker:
        one = client(at(broker.port), presence=Presence(lambda: Post(STATUS, status(contract.State.LOST))))
        eventually(lambda: one.events)
        one.connection.stop(Post(STATUS, status(contract.State.STOPPED)))
        reader = client(at(broker.port), "reader")
        eventually(lambda: reader.arrived)
        assert reader.arrived == [(STATUS, stopped, True)]


def test_of_several_brokers_the_next_is_tried_where_one_is_gone_or_silent(
    client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with mosquitto(tmp_path) as broker, closing(socket.create_server((HOST, 0))) as silent:
        gone = free_port()
        ports = [gone, silent.getsockname()[1], broker.port]
        one = client(BrokerSettings(",".join(f"{HOST}:{port}" for port in ports)))
        eventually(lambda: one.events == ["connected"])
        assert one.connection.address == Address(HOST, broker.port)
        assert f"no broker at {HOST}:{gone}" in caplog.text
        assert "took the connection and does not answer" in caplog.text
    caplog.clear()


@pytest.mark.parametrize("make", [mosquitto, nats])
def test_an_earlier_broker_that_answers_again_is_returned_to(
    make: Callable[..., Any], client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with make(tmp_path) as first, make(tmp_path) as second:
        one = client(BrokerSettings(f"no..name,{HOST}:{first.port},{HOST}:{second.port}"))
        eventually(lambda: one.connection.protocol)
        first.kill()
        eventually(lambda: one.connection.protocol and one.connection.address.port == second.port)
        first.start()
        eventually(lambda: one.connection.protocol and one.connection.address.port == first.port)
    caplog.clear()


def test_what_breaks_the_contract_is_logged_at_a_bounded_rate_and_ends_nothing(
    client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with mosquitto(tmp_path) as broker:
        one = client(at(broker.port))
        eventually(lambda: one.events)
        junk: list[Any] = [{"topic": TOPIC, "payload": b"junk", "qos": 1}] * 100
        publish.multiple([*junk, {"topic": TOPIC, "payload": b"fine", "qos": 1}], port=broker.port)
        eventually(lambda: one.acks() == 1)
        own = [each for each in caplog.records if not each.name.startswith("paho")]  # publish.multiple logs its end
        lines = [record.getMessage() for record in own if record.levelno >= logging.WARNING]
        assert 1 <= len(lines) <= 20
        assert lines[0] == f"ignored a message under '{TOPIC}': ack is junk; expected a message"
    caplog.clear()


def test_a_topic_that_is_not_utf_8_ends_nothing(
    client: Callable[..., Client], caplog: pytest.LogCaptureFixture
) -> None:
    """A broker should let none through; nothing on the network may end the thread that reads."""
    server = socket.create_server((HOST, 0))
    done = threading.Event()

    def broker() -> None:
        with server, server.accept()[0] as connection:
            connection.recv(1024)
            connection.sendall(b"\x20\x02\x00\x00")  # CONNACK of MQTT 3.1.1
            connection.recv(1024)
            connection.sendall(b"\x30\x07\x00\x02\xff\xfejun")
            topic = TOPIC.encode()
            connection.sendall(bytes([0x30, 2 + len(topic) + 4, 0, len(topic)]) + topic + b"fine")
            done.wait(60)

    thread = threading.Thread(target=broker, daemon=True)
    thread.start()
    one = client(at(server.getsockname()[1], protocol="3.1.1"))
    eventually(lambda: one.arrived == [(TOPIC, b"fine", False)])
    assert "a topic that is not UTF-8" in caplog.text
    done.set()
    thread.join(30)
    caplog.clear()


def test_a_broker_that_acknowledges_nothing_is_left_after_a_keepalive(
    client: Callable[..., Client], caplog: pytest.LogCaptureFixture
) -> None:
    """It may answer every ping although a packet or its answer was lost."""
    server = socket.create_server((HOST, 0))
    visits: list[socket.socket] = []

    def broker() -> None:
        while True:
            try:
                connection = server.accept()[0]
            except OSError:
                return
            visits.append(connection)
            with suppress(OSError):  # a late one's client has left
                connection.recv(1024)
                connection.sendall(b"\x20\x02\x00\x00")

    threading.Thread(target=broker, daemon=True).start()
    client(at(server.getsockname()[1], protocol="3.1.1", keepalive_s=2))
    eventually(lambda: "leaves the subscriptions of this program without an answer" in caplog.text)
    eventually(lambda: len(visits) > 1)
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    for each in visits:
        each.close()
    caplog.clear()


class LateBroker:
    """Answers as a cluster does that has lost a node: rightly, and so late that a new connection begins again."""

    def __init__(self, late_s: float) -> None:
        self.port = free_port()
        self._late_s = late_s
        self._server = socket.create_server((HOST, self.port))
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._visit, args=(self._server.accept()[0],), daemon=True).start()

    def _visit(self, connection: socket.socket) -> None:
        def later(answer: bytes) -> None:
            timer = threading.Timer(self._late_s, answered, [answer])
            timer.daemon = True
            timer.start()

        def answered(answer: bytes) -> None:
            with suppress(OSError):
                connection.sendall(answer)

        with connection, suppress(OSError), connection.makefile("rb") as packets:
            while head := packets.read(2):
                rest = packets.read(head[1])
                if head[0] == 0x10:  # CONNECT
                    later(b"\x20\x02\x00\x00")
                elif head[0] == 0x82:  # SUBSCRIBE
                    later(b"\x90\x04" + rest[:2] + b"\x01\x01")
                elif head[0] == 0xC0:  # PINGREQ
                    answered(b"\xd0\x00")


def test_a_broker_that_answers_late_gets_more_time_at_the_next_attempt(
    client: Callable[..., Client], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt, "CONNECT_S", 1.5)
    with closing(LateBroker(2.2)) as broker:
        one = client(at(broker.port, protocol="3.1.1", keepalive_s=2))
        eventually(lambda: one.connection.subscribed)
    assert "took the connection and does not answer" in caplog.text
    caplog.clear()


def test_a_subscription_that_was_refused_is_requested_again_until_the_broker_grants_it(
    client: Callable[..., Client], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node of a cluster refuses while clients of one that died have all places; they are free within a minute."""
    monkeypatch.setattr(mqtt, "REFUSED_S", (0.2, 0.5))
    accounts = (
        "accounts { CLUB { jetstream: { max_consumers: 3 }, users: [ { user: one, password: right } ] } }\n"
        "no_auth_user: one"
    )
    topics = [contract.topic(name, contract.Ack.leaf) for name in ("one", "two", "three")]
    caplog.set_level(logging.INFO)
    with nats(tmp_path, config=accounts) as broker:
        full = at(broker.port, user="one", password="right")
        first = client(full, "first", subscriptions=[(topic, 1) for topic in topics])
        eventually(lambda: first.connection.subscribed)
        one = client(full, "one", subscriptions=[(TOPIC, 1)])
        eventually(lambda: f"refuses {TOPIC} to this program" in caplog.text)
        time.sleep(1.5)
        assert caplog.text.count(f"refuses {TOPIC} to this program") == 1
        first.connection.stop()
        eventually(lambda: f"grants {TOPIC} to this program now" in caplog.text)
        eventually(lambda: one.connection.publish(TOPIC, ACK) and one.acks())
        assert one.events == ["connected"]
    caplog.clear()

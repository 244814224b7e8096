"""The Pico's connection to its broker: one that refuses it, or does not answer, is left, and the reason is shown."""

from __future__ import annotations

from importlib import import_module as module
from typing import Any

import pytest

TOPICS = ["templo/t/ack", "templo/t/command", "templo/t/status"]
CONNACK, SUBACK = b"\x20\x02\x00\x00", b"\x90\x05\x00\x01\x01\x01\x01"
PINGRESP = b"\xd0\x00"


class Socket:
    """A broker's end: it gives what a test puts into `inbox`."""

    def __init__(self, *packets: bytes) -> None:
        self.inbox = list(packets)
        self.sent = bytearray()
        self.closed = False

    def recv(self, most: int) -> bytes:
        if not self.inbox:
            raise OSError(11)
        return self.inbox.pop(0)

    def send(self, data: bytes) -> int:
        self.sent += data
        return len(data)

    def close(self) -> None:
        self.closed = True


class Broker:
    """Answers each connection with the same packets."""

    def __init__(self, *packets: bytes) -> None:
        self.packets = packets
        self.sockets: list[Socket] = []
        self.said: list[str] = []
        settings = {"broker": "b", "port": 1883}
        self.link = module("link").Link(self._dial, settings, "id", "templo/t/status", TOPICS, self.said.append)
        self.now_ms = 0

    def turn(self, seconds: float = 1) -> list[Any]:
        """Let time pass in turns of 50 ms; return what happened."""
        happened = []
        for _ in range(int(seconds * 20)):
            happened += self.link.turn(self.now_ms, b"will")
            self.now_ms += 50
        return happened

    def _dial(self, host: str, port: int) -> Socket:
        self.sockets.append(Socket(*self.packets))
        return self.sockets[-1]


def test_a_temple_is_connected_once_its_topics_are_subscribed_to() -> None:
    broker = Broker(CONNACK)
    assert broker.turn() == []
    assert not broker.link.publish("templo/t/token", b"{}")
    broker.sockets[0].inbox.append(SUBACK)
    assert broker.turn() == ["up"]
    assert broker.link.publish("templo/t/token", b"{}")
    assert (broker.said, broker.link.refused) == ([], False)


@pytest.mark.parametrize(
    ("packets", "reason"),
    [
        ((CONNACK, b"\x90\x05\x00\x01\x80\x80\x80"), "templo/t/ack, templo/t/command, templo/t/status"),
        ((CONNACK, b"\x90\x05\x00\x01\x01\x80\x00"), "does not let this temple read templo/t/command"),
        ((b"\x20\x02\x00\x04",), "user or password"),
        ((b"\x20\x02\x00\x05",), "user, password or rights"),
    ],
    ids=["no topic", "one topic", "password", "not authorised"],
)
def test_a_broker_that_refuses_is_left_and_tried_again_ever_more_seldom(
    packets: tuple[bytes, ...], reason: str
) -> None:
    broker = Broker(*packets)
    assert "up" not in broker.turn(60)
    assert broker.link.refused
    assert all(socket.closed for socket in broker.sockets)
    assert all(b"/token" not in socket.sent for socket in broker.sockets)
    assert 6 <= len(broker.sockets) <= 12
    (said,) = broker.said
    assert said.endswith(reason)


def test_a_broker_that_does_not_answer_the_subscription_is_left_after_a_keepalive() -> None:
    broker = Broker(CONNACK)
    for _ in range(17):
        broker.turn()
        broker.sockets[0].inbox.append(PINGRESP)
    assert broker.sockets[0].closed
    assert broker.said == ["the broker does not answer a subscription"]
    assert not broker.link.refused


def test_each_reason_is_shown_once_until_there_is_a_connection_again() -> None:
    broker = Broker(b"\x20\x02\x00\x05")
    broker.turn(5)
    broker.packets = (b"\x20\x02\x00\x03",)
    broker.turn(30)
    assert not broker.link.refused
    broker.packets = (b"\x20\x02\x00\x05",)
    broker.turn(30)
    assert [said.rpartition(": ")[2] for said in broker.said] == ["user, password or rights", "it is not ready"]
    broker.packets = (CONNACK, SUBACK)
    assert broker.turn(15) == ["up"]
    broker.packets = (b"\x20\x02\x00\x05",)
    broker.link.cut(broker.now_ms)
    broker.turn(5)
    assert len(broker.said) == 3


def test_the_number_of_the_subscription_is_a_good_one_after_however_many_messages() -> None:
    broker = Broker(CONNACK, SUBACK)
    broker.turn()
    for _ in range(65_534):
        assert broker.link.publish("templo/t/noise", b"{}")
        broker.link.turn(broker.now_ms, b"will")
    broker.link.cut(broker.now_ms)
    assert broker.turn(3) == ["up"]

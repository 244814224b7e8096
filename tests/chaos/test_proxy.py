"""The proxy disturbs the packet that was meant, and no other; the rest passes unchanged."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chaos.mqtt import Framer, FramingError, Kind
from tests.chaos.proxy import Deed, Meddling, Proxy, Way


def publication(topic: str, payload: bytes) -> bytes:
    body = len(topic).to_bytes(2, "big") + topic.encode() + b"\0\7" + payload
    length, remaining = b"", len(body)
    while True:
        remaining, low = divmod(remaining, 128)
        length += bytes([low | (0x80 if remaining else 0)])
        if not remaining:
            return b"\x32" + length + body


FIRST, SECOND = publication("templo/a/token", b"x" * 300), publication("templo/a/ack", b"y")
ACK = b"\x40\x02\x00\x07"


class Ends:
    """A client and a broker, joined by a proxy."""

    def __init__(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.proxy = Proxy(listener.getsockname()[1])
        self.proxy.start()
        self.client = socket.create_connection(("127.0.0.1", self.proxy.port), 20)
        self.broker, _ = listener.accept()
        self.broker.settimeout(20)
        listener.close()

    def arrives(self, number: int) -> bytes:
        """Return so many bytes as they come to the broker, or what came before the end."""
        data = b""
        with suppress(ConnectionResetError):
            while len(data) < number and (more := self.broker.recv(number - len(data))):
                data += more
        return data


@pytest.fixture
def ends() -> Iterator[Ends]:
    ends = Ends()
    yield ends
    ends.proxy.close()
    ends.client.close()
    ends.broker.close()


@given(st.lists(st.sampled_from([FIRST, SECOND, ACK, b"\xc0\x00"])), st.integers(1, 40))
def test_packets_are_separated_however_their_bytes_come(packets: list[bytes], piece: int) -> None:
    stream, framer = b"".join(packets), Framer()
    found = [each for n in range(0, len(stream), piece) for each in framer.feed(stream[n : n + piece])]
    assert [each.data for each in found] == packets


def test_a_publication_names_its_topic_and_junk_is_refused() -> None:
    (packet,) = Framer().feed(FIRST)
    assert (packet.kind, packet.topic, packet.leaf) == (Kind.PUBLISH, "templo/a/token", "token")
    for junk in (b"\x02\x00", b"\x30\xff\xff\xff\xff\xff"):
        with pytest.raises(FramingError):
            list(Framer().feed(junk))


@pytest.mark.parametrize(
    ("deed", "comes"),
    [
        (Deed.SWALLOW, FIRST + FIRST),
        (Deed.DOUBLE, FIRST + SECOND + SECOND + FIRST),
        (Deed.DELAY, FIRST + SECOND + FIRST),
        (Deed.CUT_BEFORE, FIRST),
        (Deed.CUT_WITHIN, FIRST + SECOND[: len(SECOND) // 2]),
        (Deed.CUT_AFTER, FIRST + SECOND),
    ],
)
def test_each_deed_is_done_to_the_packet_that_is_meant_alone(ends: Ends, deed: Deed, comes: bytes) -> None:
    ends.proxy.arm(Meddling(deed, Kind.PUBLISH, Way.UP, "ack", 0.05))
    ends.client.sendall(FIRST + SECOND + FIRST + ACK)
    whole = comes if deed.startswith("cut") else comes + ACK
    assert ends.arrives(len(whole)) == whole
    if deed.startswith("cut"):
        assert ends.arrives(1) == b""
    assert not ends.proxy.armed


def test_silence_keeps_everything_until_it_ends(ends: Ends) -> None:
    ends.proxy.silence(True)
    ends.client.sendall(FIRST)
    ends.broker.settimeout(0.3)
    with pytest.raises(TimeoutError):
        ends.broker.recv(1)
    ends.broker.settimeout(20)
    ends.proxy.silence(False)
    assert ends.arrives(len(FIRST)) == FIRST

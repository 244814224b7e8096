"""Packets of MQTT as they stand in a stream of bytes: where each ends, its kind, and a publication's topic.

It reads 3.1.1 and 5 alike, as both frame their packets in the same way, and understands nothing else of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

LONGEST = 4
"""Bytes of a packet's remaining length, at the most."""


class Kind(IntEnum):
    """What a packet is, by the upper half of its first byte."""

    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    PUBREC = 5
    PUBREL = 6
    PUBCOMP = 7
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14
    AUTH = 15


class FramingError(Exception):
    """Bytes that are no MQTT."""


class Packet(NamedTuple):
    """One packet, whole."""

    kind: Kind
    data: bytes
    body: int
    """Where what follows the remaining length begins."""

    @property
    def topic(self) -> str:
        """Return a publication's topic; empty for any other packet."""
        if self.kind is not Kind.PUBLISH:
            return ""
        length = int.from_bytes(self.data[self.body : self.body + 2], "big")
        return self.data[self.body + 2 : self.body + 2 + length].decode("utf-8", "replace")

    @property
    def leaf(self) -> str:
        """Return the last level of a publication's topic."""
        return self.topic.rpartition("/")[2]


class Framer:
    """Cuts a stream into packets, however its bytes come."""

    def __init__(self) -> None:
        """Begin with an empty stream."""
        self._waiting = b""

    def feed(self, data: bytes) -> Iterator[Packet]:
        """Take bytes and yield every packet that is now whole; raises `FramingError`."""
        self._waiting += data
        while (end := self._end()) is not None:
            body, whole = end
            if len(self._waiting) < whole:
                return
            packet, self._waiting = self._waiting[:whole], self._waiting[whole:]
            if not packet[0] >> 4:
                raise FramingError(f"a packet begins with {packet[0]:#04x}; expected a kind from 1 to 15")
            yield Packet(Kind(packet[0] >> 4), packet, body)

    def _end(self) -> tuple[int, int] | None:
        """Return where the first packet's body begins and where it ends, once that is known."""
        length = 0
        for place, byte in enumerate(self._waiting[1 : 1 + LONGEST]):
            length += (byte & 0x7F) << (7 * place)
            if not byte & 0x80:
                body = place + 2
                return body, body + length
        if len(self._waiting) > LONGEST:
            raise FramingError(f"a remaining length of more than {LONGEST} bytes: {self._waiting[:5]!r}")
        return None

"""MQTT 3.1.1 at QoS 1, as far as a temple needs it: bytes in, packets out. It has no socket and no clock."""

import struct

CONNACK, PUBLISH, PUBACK, SUBACK, PINGRESP = 2, 3, 4, 9, 13
PINGREQ = b"\xc0\x00"
DISCONNECT = b"\xe0\x00"
MOST = 20000
"""Bytes in a packet: one that is longer ends the connection."""


class MqttError(OSError):
    """A broker that does not keep to the protocol."""


def connect(client_id, keepalive_s, will_topic, will, user=None, password=None):
    """Write CONNECT: a clean session, and a will that is retained at QoS 1."""
    flags = 0x02 | 0x04 | 0x08 | 0x20
    body = _text(client_id) + _text(will_topic) + struct.pack(">H", len(will)) + will
    if user is not None:
        flags |= 0x80
        body += _text(user)
        if password is not None:
            flags |= 0x40
            body += _text(password)
    return _packet(0x10, b"\x00\x04MQTT\x04" + struct.pack(">BH", flags, keepalive_s) + body)


def publish(topic, payload, number, retain):
    """Write PUBLISH at QoS 1."""
    return _packet(0x32 | (1 if retain else 0), _text(topic) + struct.pack(">H", number) + payload)


def subscribe(topics, number):
    """Write SUBSCRIBE at QoS 1."""
    return _packet(0x82, struct.pack(">H", number) + b"".join([_text(topic) + b"\x01" for topic in topics]))


def puback(number):
    """Write PUBACK."""
    return struct.pack(">BBH", 0x40, 2, number)


class Reader:
    """Cuts a stream of bytes into packets."""

    def __init__(self):
        """Begin with nothing."""
        self._rest = b""

    def feed(self, data):
        """Return the packets that are whole now, each as (kind, flags, body)."""
        self._rest += data
        found = []
        while True:
            length = shift = 0
            at = 1
            while True:
                if at >= len(self._rest):
                    return found
                byte = self._rest[at]
                length |= (byte & 127) << shift
                at += 1
                if byte < 128:
                    break
                shift += 7
                if shift > 21:
                    raise MqttError("a length that never ends")
            if length > MOST:
                raise MqttError("a packet of %d bytes" % length)
            if len(self._rest) < at + length:
                return found
            found.append((self._rest[0] >> 4, self._rest[0] & 15, self._rest[at : at + length]))
            self._rest = self._rest[at + length :]


def arrived(flags, body):
    """Read PUBLISH: topic, payload, its number at QoS 1 or None, and whether it was retained."""
    size = struct.unpack(">H", body[:2])[0]
    topic, at = body[2 : 2 + size], 2 + size
    number = None
    if flags & 6:
        number = struct.unpack(">H", body[at : at + 2])[0]
        at += 2
    return topic, body[at:], number, bool(flags & 1)


def refused(body, number, topics):
    """Read SUBACK: return those of the topics that the broker refuses."""
    if len(body) != 2 + len(topics) or struct.unpack(">H", body[:2])[0] != number:
        raise MqttError("a SUBACK of %d bytes, for another subscription" % len(body))
    return [topics[place] for place in range(len(topics)) if body[2 + place] & 0x80]


def _text(text):
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def _packet(first, body):
    length, head = len(body), bytearray([first])
    while True:
        byte, length = length & 127, length >> 7
        head.append(byte | (128 if length else 0))
        if not length:
            return bytes(head) + body

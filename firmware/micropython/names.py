"""Looks up names by DNS, over a socket that never blocks: MicroPython's own look-up holds the board up for seconds.

A name that ends in `.local` is asked for by multicast DNS, in the way that is answered directly.
"""

import struct

PORT, MULTICAST_PORT, MULTICAST = 53, 5353, "224.0.0.251"
SEND_MS = (0, 1000, 3000)
"""When a question is sent, after it was first asked."""

GIVE_UP_MS = 6000
KEEP_MS = 300000
"""How long an address is taken without asking again."""


class Resolver:
    """Finds the addresses of a few names, by its turns."""

    def __init__(self, udp, server, random):
        """Store the arguments. `udp` opens a socket that never blocks, `server` gives the name server's address."""
        self._udp = udp
        self._server = server
        self._random = random
        self._known = {}  # name -> (address, when it was found)
        self._asked = {}  # name -> its question

    def address(self, name, now_ms):
        """Return a name's IPv4 address, or None while it is looked up; raises OSError where it cannot be found.

        The last address that was known is better than none.
        """
        if _literal(name):
            return name
        known = self._known.get(name)
        if known is not None and now_ms - known[1] < KEEP_MS:
            return known[0]
        try:
            question = self._asked.get(name)
            if question is None:
                to, packet = self._to(name), encoded(name, self._random(2))
                question = self._asked[name] = _Question(name, self._udp(), to, packet, now_ms)
            address = question.turn(now_ms)
            if address is None:
                return None
            self._known[name] = known = (address, now_ms)
        except OSError:
            if known is None:
                raise
            self._known[name] = (known[0], now_ms)
        finally:
            question = self._asked.get(name)
            if question is not None and question.over:
                self._asked.pop(name).close()
        return known[0]

    def close(self):
        """Give up what is looked up now."""
        while self._asked:
            self._asked.popitem()[1].close()

    def _to(self, name):
        if name.lower().endswith(".local"):
            return (MULTICAST, MULTICAST_PORT)
        server = self._server()
        if server == "0.0.0.0":  # noqa: S104 (what the chip says for none)
            raise OSError("no name server is known that could look up %s" % name)
        return (server, PORT)


class _Question:
    """One name that is being looked up."""

    def __init__(self, name, socket, to, packet, now_ms):
        self._name = name
        self._socket = socket
        self._to = to
        self._packet = packet
        self._began_ms = now_ms
        self._sent = 0
        self.over = False

    def turn(self, now_ms):
        """Send what is due and return the address once it came, else None; raises OSError when there is none."""
        passed_ms = now_ms - self._began_ms
        try:
            if self._sent < len(SEND_MS) and passed_ms >= SEND_MS[self._sent]:
                self._sent += 1
                self._socket.sendto(self._packet, self._to)
            address = self._received()
        except OSError:
            self.over = True
            raise
        if address is None and passed_ms >= GIVE_UP_MS:
            self.over = True
            raise OSError("%s did not answer when asked for %s" % (self._to[0], self._name))
        self.over = address is not None
        return address

    def close(self):
        self._socket.close()

    def _received(self):
        try:
            packet, sender = self._socket.recvfrom(600)
        except OSError as error:
            if error.args and error.args[0] in (11, 35):
                return None
            raise
        if self._to[0] != MULTICAST and tuple(sender[:2]) != self._to:
            return None
        return decoded(packet, self._packet, self._name)


def encoded(name, number):
    """Write the question for a name's IPv4 address; raises OSError for what is no name."""
    packet = number + b"\x01\0\0\x01\0\0\0\0\0\0"
    for label in name.encode().rstrip(b".").split(b"."):
        if not 0 < len(label) < 64:
            raise OSError("%r is no name that can be looked up" % name)
        packet += bytes([len(label)]) + label
    return packet + b"\0\0\x01\0\x01"


def decoded(packet, asked, name):
    """Return the address in an answer, None where it answers another question; raises OSError where there is none."""
    if len(packet) < 12 or packet[:2] != asked[:2] or not packet[2] & 0x80:
        return None
    _, flags, questions, answers = struct.unpack(">HHHH", packet[:8])
    at = 12
    try:
        for _ in range(questions):
            end = _after_name(packet, at) + 4
            if packet[at:end].lower() != asked[12:].lower():
                return None
            at = end
        for _ in range(answers if not flags & 15 else 0):
            at = _after_name(packet, at)
            if len(packet) < at + 10:
                return None
            kind, family, _, length = struct.unpack(">HHIH", packet[at : at + 10])
            data, at = packet[at + 10 : at + 10 + length], at + 10 + length
            if kind == 1 and family & 0x7FFF == 1 and len(data) == 4:
                return "%d.%d.%d.%d" % tuple(data)
    except IndexError:  # it ends in the middle of something
        return None
    raise OSError("%s has no address" % name)


def _after_name(packet, at):
    while packet[at]:
        if packet[at] >= 192:
            return at + 2
        at += packet[at] + 1
    return at + 1


def _literal(name):
    numbers = name.split(".")
    return len(numbers) == 4 and all([each.isdigit() and int(each) < 256 for each in numbers])

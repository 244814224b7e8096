"""A proxy between a client and its broker that knows where MQTT's packets end, and can disturb a single one.

It changes no packet: it cuts, delays, doubles or drops packets, or falls silent with the connections open.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from tests.brokers import HOST
from tests.chaos.mqtt import Framer, FramingError, Kind, Packet

_READ = 65_536
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER that ends a connection at once, as a router that forgot it does."""


class Way(StrEnum):
    """The direction of a packet."""

    UP = "to the broker"
    DOWN = "from the broker"


class Deed(StrEnum):
    """What happens to a packet."""

    CUT_BEFORE = "cut before"
    CUT_WITHIN = "cut within"
    CUT_AFTER = "cut after"
    DELAY = "delay"
    DOUBLE = "double"
    SWALLOW = "swallow"


@dataclass(frozen=True, slots=True)
class Meddling:
    """A disturbance of the next packet that matches; `leaf` narrows publications down by the end of their topic."""

    deed: Deed
    kind: Kind
    way: Way
    leaf: str = ""
    delay_s: float = 0.3

    def fits(self, packet: Packet, way: Way) -> bool:
        """Return whether this packet is meant."""
        return packet.kind is self.kind and way is self.way and (not self.leaf or packet.leaf == self.leaf)

    def __str__(self) -> str:
        what = f"{self.kind.name} of {self.leaf}" if self.leaf else self.kind.name
        return f"{self.deed} the next {what} {self.way}"


class Proxy:
    """Listens on a port of its own and passes everything on to the broker's, packet by packet."""

    def __init__(self, broker_port: int) -> None:
        """Take a free port; `start` begins to listen."""
        self._broker_port = broker_port
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._armed: list[Meddling] = []
        self._open: set[socket.socket] = set()
        self._flows = threading.Event()
        self._flows.set()
        self.done: list[Meddling] = []
        """The deeds that were done so far."""

    def start(self) -> None:
        """Begin to listen."""
        threading.Thread(target=self._listen, name="proxy", daemon=True).start()

    def arm(self, meddling: Meddling) -> None:
        """Do this to the next packet that fits."""
        with self._lock:
            self._armed.append(meddling)

    @property
    def armed(self) -> int:
        """Return how many deeds still wait for a matching packet."""
        return len(self._armed)

    def disarm(self) -> None:
        """Cancel deeds that no packet has matched."""
        with self._lock:
            self._armed.clear()

    def silence(self, silent: bool) -> None:
        """Pass nothing on, and close nothing, until the next order."""
        (self._flows.clear if silent else self._flows.set)()

    def close(self) -> None:
        """End every connection, and listen no more."""
        self._flows.set()
        self._listener.close()
        for each in list(self._open):
            self._end(each)

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            try:
                broker = socket.create_connection((HOST, self._broker_port), 2)
            except OSError:
                client.close()
                continue
            broker.settimeout(None)
            for each in (client, broker):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open.add(each)
            for here, there, way in ((client, broker, Way.UP), (broker, client, Way.DOWN)):
                threading.Thread(
                    target=self._carry, args=(here, there, way), name=f"proxy {way}", daemon=True
                ).start()

    def _carry(self, here: socket.socket, there: socket.socket, way: Way) -> None:
        framer = Framer()
        try:
            while data := here.recv(_READ):
                for packet in framer.feed(data):
                    self._flows.wait()
                    if not self._pass(packet, there, way):
                        return
        except (OSError, FramingError):
            pass
        finally:
            # Whatever ends one direction ends the connection, as far as a client of MQTT can see.
            self._end(here)
            self._end(there)

    def _pass(self, packet: Packet, there: socket.socket, way: Way) -> bool:
        """Pass a packet on, or disturb it; return whether the connection stays open."""
        meddling = self._meant(packet, way)
        deed = meddling.deed if meddling else None
        if deed is Deed.CUT_BEFORE:
            return False
        if deed is Deed.CUT_WITHIN:
            there.sendall(packet.data[: len(packet.data) // 2])
            return False
        if deed is Deed.SWALLOW:
            return True
        if meddling is not None and deed is Deed.DELAY:
            time.sleep(meddling.delay_s)
        there.sendall(packet.data)
        if deed is Deed.DOUBLE:
            there.sendall(packet.data)
        return deed is not Deed.CUT_AFTER

    def _meant(self, packet: Packet, way: Way) -> Meddling | None:
        with self._lock:
            for meddling in self._armed:
                if meddling.fits(packet, way):
                    self._armed.remove(meddling)
                    self.done.append(meddling)
                    return meddling
        return None

    def _end(self, connection: socket.socket) -> None:
        self._open.discard(connection)
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)  # wakes whoever still reads
        connection.close()

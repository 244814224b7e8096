"""Who may hold a connection, and how long a request may take to arrive.

A `Connection` stands between a socket and the HTTP server's own protocol. It collects a request's head before that
protocol sees any of it, so a client that never finishes one costs a few bytes and a place, which another may take.
"""

from __future__ import annotations

import asyncio
import fcntl
import math
import resource
import socket
import time
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from companion.web.server.guard import client

LOW = 1024
"""`select()`, by which paho reconnects to the broker, takes descriptors below this only: connections get higher ones
where the system allows so many."""

BESIDE = 256
"""Descriptors that the databases, the broker's connection and the logs have where connections are among the low."""

HEAD_S = 10.0
"""Seconds that a client has from its connection, or the first byte of its next request, to the end of the head."""

BODY_S = 30.0
"""Seconds that it has for the body: half a megabyte from the far end of the garden."""

READ_S = 60.0
"""Seconds that it has to read a page so far that the rest fits into the system's buffers."""

LONGEST_HEAD = 65_536
"""Bytes of a head, and of what a client may send while it is being answered: browsers send nothing then."""

CROWDED = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

_END = b"\r\n\r\n"


class Stage(Enum):
    """What a connection waits for."""

    HEAD = auto()
    BODY = auto()
    ANSWER = auto()


class Connections:
    """The open connections, and which of each address may be closed for others."""

    def __init__(self, most: int, most_each: int, proxy: str) -> None:
        """Allow so many in all and of one address, but any number of the reverse proxy's."""
        self.most, self.most_each, self.proxy = most, most_each, client(proxy)
        self.open: dict[str, set[Connection]] = {}
        """Those of each address."""
        self._idle: dict[str, dict[Connection, None]] = {}
        """Those of each address that are not being answered, that which was used least lately first."""

    def __len__(self) -> int:
        return sum(map(len, self.open.values()))

    def let_in(self, connection: Connection) -> bool:
        """Add a connection if there is room, or if an idle one can be closed; return whether it was added."""
        who = connection.who
        if len(self.open.get(who, ())) >= self.most_each and who != self.proxy:
            idle = self._idle.get(who, {})
        elif len(self) >= self.most:
            idle = max(self._idle.values(), key=len, default={})
        else:
            idle = None
        if idle is not None:
            if not idle:
                return False
            next(iter(idle)).close()
        self.open.setdefault(who, set()).add(connection)
        self.was_used(connection)
        return True

    def was_used(self, connection: Connection) -> None:
        """Note that an idle connection was used just now."""
        self.is_at_work(connection)
        self._idle.setdefault(connection.who, {})[connection] = None

    def is_at_work(self, connection: Connection) -> None:
        """Note that a connection is being answered."""
        if connection in (idle := self._idle.get(connection.who, {})):
            del idle[connection]
            if not idle:
                del self._idle[connection.who]

    def forget(self, connection: Connection) -> None:
        """Count a connection no more; may be called again."""
        self.is_at_work(connection)
        if connection in (own := self.open.get(connection.who, set())):
            own.remove(connection)
            if not own:
                del self.open[connection.who]

    def close(self, due_by: float = math.inf) -> None:
        """Close what was to be finished by some time; without one, everything."""
        for connection in [each for own in self.open.values() for each in own if each.due <= due_by]:
            connection.close()


class Connection(asyncio.Protocol):
    """One connection, in front of the protocol that answers its requests."""

    __slots__ = (
        *("_answering", "_connections", "_make", "_stage", "_transport", "_unread"),
        *("due", "has_room", "on_lost", "on_room", "who"),
    )

    _transport: asyncio.Transport

    def __init__(self, connections: Connections, make: Callable[[], asyncio.Protocol]) -> None:
        """`make` gives the protocol that answers, once there is something to answer."""
        self._connections = connections
        self._make = make
        self._answering: asyncio.Protocol | None = None
        self._stage = Stage.HEAD
        self._unread = bytearray()
        self.who = ""
        self.due = math.inf
        """When the connection is closed, unless what it waits for has come."""
        self.has_room = True
        """Whether the client has read most of what it was sent."""
        self.on_room: Callable[[], object] | None = None
        """Called when it has, while a stream is on the connection."""
        self.on_lost: Callable[[], object] | None = None
        """Called when the connection is lost while a stream is on it."""

    def connection_made(self, transport: Any) -> None:
        """Take a place, or refuse."""
        self._transport = transport
        self.who = client(transport.get_extra_info("peername")[0])
        self.due = time.monotonic() + HEAD_S
        if not self._connections.let_in(self):
            transport.write(CROWDED)
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Collect a head, or pass on what belongs to a body."""
        if self._stage is not Stage.ANSWER:
            self._connections.was_used(self)
        if self._stage is Stage.BODY and self._answering is not None:
            self._answering.data_received(data)
            return
        self._unread += data
        if self._stage is Stage.HEAD:
            self._look_for_head(len(self._unread) - len(data) - len(_END))
        if len(self._unread) > LONGEST_HEAD:
            self.close()

    def _look_for_head(self, start: int = 0) -> None:
        if self._unread.startswith((b"\r", b"\n")):
            self._unread, start = self._unread.lstrip(b"\r\n"), 0
        if self._unread.find(_END, max(0, start)) >= 0:
            self.reads()
        elif self._unread and self.due == math.inf:
            self.due = time.monotonic() + HEAD_S

    def reads(self) -> None:
        """Pass on what came: the head is complete, and the body may be."""
        self._stage, self.due = Stage.BODY, time.monotonic() + BODY_S
        if self._answering is None:
            self._answering = self._make()
            self._answering.connection_made(self._transport)
        if self._unread:
            data, self._unread = bytes(self._unread), bytearray()
            self._answering.data_received(data)

    def is_asked(self) -> None:
        """Note that the whole request has come, and is being answered from now on."""
        self._stage, self.due = Stage.ANSWER, math.inf
        self._connections.is_at_work(self)

    def is_answered(self) -> None:
        """Note that the request was answered, so that the next may come."""
        self._stage, self.due = Stage.HEAD, math.inf
        if not self._transport.is_closing():
            self._connections.was_used(self)
            self._look_for_head()

    def send(self, data: bytes) -> None:
        """Send bytes of an answer at once."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def chunk(self, data: bytes) -> None:
        """Send bytes, not empty, of an answer in chunks (RFC 9112)."""
        self.send(b"%x\r\n%b\r\n" % (len(data), data))

    def pause_writing(self) -> None:
        """Note that the client does not read; a page does not wait for it for ever."""
        self.has_room = False
        if self._answering is not None:
            self._answering.pause_writing()
            if self.on_lost is None:
                self.due = time.monotonic() + READ_S

    def resume_writing(self) -> None:
        """Note that it has read."""
        self.has_room = True
        if self.on_room is not None:
            self.on_room()
        if self._answering is not None:
            self._answering.resume_writing()
            self.due = math.inf

    def connection_lost(self, error: Exception | None) -> None:
        """Give the place back."""
        self._connections.forget(self)
        if self._answering is not None:
            self._answering.connection_lost(error)
        if self.on_lost is not None:
            self.on_lost()

    def close(self) -> None:
        """Close the connection at once."""
        self._connections.forget(self)
        self._transport.abort()


class Listener(socket.socket):
    """A listening socket whose connections have descriptors of `lowest` or above, if there are such."""

    lowest = 0

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection."""
        connection, address = super().accept()
        if not self.lowest:
            return connection, address
        try:
            return socket.socket(fileno=fcntl.fcntl(connection, fcntl.F_DUPFD_CLOEXEC, self.lowest)), address
        except OSError:
            return connection.dup(), address
        finally:
            connection.close()


def room_for(connections: int) -> tuple[int, int]:
    """Raise this process's limit of descriptors as far as that takes; return what the system allows.

    That is how many connections there may be, and the lowest descriptor that each of them is to have.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = LOW + connections
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        except (OSError, ValueError):  # a sandbox may forbid it
            allowed = soft
    if allowed == wanted or allowed - LOW > LOW - BESIDE:
        return allowed - LOW, LOW
    return min(connections, LOW - BESIDE), 0

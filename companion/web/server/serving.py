"""Serves the web application with waitress, with deadlines and limits for each address, and stops at once on request.

waitress answers each request in one thread, has no deadline for a request and no limit for one address. So its
listener, channels and tasks are extended here. A response that continues, such as an event stream, leaves its thread
after its first bytes: the application puts a `Follower` into the request's environment under `FOLLOWER`, which is
given the connection and sends from any thread. An address that opens too many connections loses those that it uses
least.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import math
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from waitress import wasyncore  # type: ignore[import-untyped]  # it ships no types
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]
from waitress.channel import ClientDisconnected, HTTPChannel  # type: ignore[import-untyped]
from waitress.server import TcpWSGIServer  # type: ignore[import-untyped]
from waitress.task import ThreadedTaskDispatcher, WSGITask  # type: ignore[import-untyped]

from companion.settings import WebSettings
from companion.web.server.activation import passed_socket
from companion.web.server.guard import client
from companion.web.server.poller import Poller
from templo.liveness import SOON_S, Beat, no_heartbeat

PAGES = 8
"""Threads that answer requests."""

FOLLOWER = "templo.follower"
"""The key in a request's environment for the follower of a response; missing on other servers."""

UNREAD = 262_144
"""The most bytes that wait for a reader before it is sent no more for now."""

LOW = 1024
"""`select()`, by which paho reconnects to the broker, takes descriptors below this only: connections get higher ones
where the system allows so many."""

BESIDE = 256
"""Descriptors that the databases, the broker's connection and the logs have where connections are among the low."""

_DEFAULTS = WebSettings()

HEAD_S = 10.0
"""Seconds that a client has from its connection, or the first byte of its next request, to the end of the head."""

BODY_S = 30.0
"""Seconds that it has for the body: half a megabyte from the far end of the garden."""

CROWDED = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

LARGEST = 1_048_576
"""Bytes of a body that is read at all: more than any page takes, so that a body too large is refused in our words."""

STALLED_MS = 45_000
"""After this time without a response from its phone a connection is closed, and its stream with it."""

FINISH_S = 2.0
"""Seconds for running requests at the end."""

PROBE_S = 2.0
"""How often the worker threads must accept a test job."""

BUSY_S = 10.0
"""How long all of them may be busy before they count as stuck."""


class ServeError(Exception):
    """The address cannot be listened on; the message says which and why."""


class Line(Protocol):
    """A connection on which a response continues."""

    @property
    def closed(self) -> bool:
        """Whether the reader has closed the connection."""

    def send(self, data: bytes) -> bool:
        """Send bytes without waiting for the reader; return whether they were taken, all or none."""

    def end(self, data: bytes) -> None:
        """Send the last bytes, and close the connection once everything is sent."""


class Follower(Protocol):
    """Continues a response whose first bytes were written."""

    def begin(self, line: Line) -> None:
        """Take the connection over."""

    def closed(self) -> None:
        """Note that the connection is closed, or was never handed over; may be called more than once."""


class Server:
    """One listening socket with the threads behind it."""

    def __init__(
        self,
        app: Any,
        host: str,
        port: int,
        streams: int = _DEFAULTS.streams,
        *,
        connections_each: int = _DEFAULTS.connections_each,
        proxy: str = "",
        beat: Beat = no_heartbeat,
        pages_beat: Beat = no_heartbeat,
        prove: Callable[[], object] = lambda: None,
    ) -> None:
        """Listen, on the socket that systemd has passed if there is one; port 0 takes a free one.

        Raises `ServeError`.

        `connections_each` is how many connections one address may have open; `proxy` the address of a reverse proxy
        in front, which may have any number: its statements about its clients' addresses are trusted.
        `beat` is that of the thread that listens, `pages_beat` of the threads that answer: as long as one of them
        is free to take a test job and `prove` returns.
        """
        self._beat = beat
        self._probe = _Probe(pages_beat, prove)
        # waitress warns about every page that waits a moment for a thread, and logs the path of each closed
        # connection.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        logging.getLogger("waitress").setLevel(logging.WARNING)
        self._map: dict[int, Any] = {}
        self._socket = _listening(host, port)
        adjustments = Adjustments(
            threads=PAGES,
            connection_limit=1_000_000,  # never reached: at its limit waitress would stop accepting anybody
            cleanup_interval=1,
            **(_behind(proxy) if proxy else {}),
            channel_request_lookahead=1,  # without it a stream notices only at its next write that nobody reads it
            max_request_body_size=LARGEST,
            outbuf_high_watermark=1_048_576,
            asyncore_use_poll=True,
            ident=None,
        )
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(PAGES)
        self._server = _Listener(
            app,
            self._map,
            _sock=self._socket,
            dispatcher=dispatcher,
            adj=adjustments,
            bind_socket=False,
            sockinfo=(self._socket.family, self._socket.type, self._socket.proto, self._socket.getsockname()),
        )
        self._server.poller = Poller(self._map)
        self._server.most, self._server.lowest = room_for(4 * (streams + PAGES))
        self._server.most_each = connections_each
        self._server.proxy = client(proxy)
        self._stopping = False

    @property
    def port(self) -> int:
        """The port it listens on."""
        port: int = self._socket.getsockname()[1]
        return port

    def serve(self) -> None:
        """Answer until `stop`; the streams should have been ended by then, or shortly after."""
        while not self._stopping:
            self._beat(SOON_S)
            if time.monotonic() >= self._probe.due:
                self._probe.due = math.inf  # until somebody has run it
                self._server.task_dispatcher.add_task(self._probe)
            wasyncore.loop(timeout=1.0, use_poll=True, map=self._map, count=1)
        self._finish()

    def stop(self) -> None:
        """Make `serve` return; from any thread, or from a signal's handler."""
        self._stopping = True
        with contextlib.suppress(OSError):  # it may have noticed by itself, and have closed its wake-up socket
            self._server.pull_trigger()

    def _finish(self) -> None:
        self._server.accepting = False
        deadline = time.monotonic() + FINISH_S
        while time.monotonic() < deadline and any(
            channel.requests or channel.total_outbufs_len for channel in self._server.active_channels.values()
        ):
            wasyncore.loop(timeout=0.02, use_poll=True, map=self._map, count=1)
        for channel in list(self._server.active_channels.values()):
            channel.handle_close()
        self._server.task_dispatcher.shutdown(timeout=FINISH_S)
        wasyncore.close_all(self._map)


class _Task(WSGITask):  # type: ignore[misc]  # it ships no types
    """Answers a request, or its beginning if a follower continues it."""

    def get_environment(self) -> dict[str, Any]:
        """Return the request's environment, with a place for a follower."""
        environment: dict[str, Any] = super().get_environment()
        environment.setdefault(FOLLOWER, None)
        return environment

    def service(self) -> None:
        """Answer; who was to go on learns of it where that failed."""
        try:
            super().service()
        finally:
            follower = self.get_environment()[FOLLOWER]
            if follower is not None and self.channel.follower is not follower:
                follower.closed()

    def finish(self) -> None:
        """End the response, unless a follower continues it."""
        follower = self.get_environment()[FOLLOWER]
        if follower is None:
            super().finish()
        else:
            self.close_on_finish = False  # the follower closes the connection
            self.channel.follow(follower, self.chunked_response)


class _Line:
    """The connection of a continued response."""

    def __init__(self, channel: _Channel, chunked: bool) -> None:
        self._channel = channel
        self._chunked = chunked

    @property
    def closed(self) -> bool:
        """Whether the reader is gone."""
        return not self._channel.connected

    def send(self, data: bytes) -> bool:
        """Send bytes unless the reader has not read what it was sent before, or is gone."""
        if self._channel.total_outbufs_len > UNREAD:
            return False
        try:
            self._channel.write_soon(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
        except ClientDisconnected:
            return False
        # A buffer of waitress keeps what was sent until it is full, which is a megabyte: each event gets a new one.
        self._channel.current_outbuf_count = self._channel.adj.outbuf_high_watermark
        if self._channel.writable():
            self._channel.server.poller.update(self._channel)
        return True

    def end(self, data: bytes) -> None:
        """Send the last bytes, and close the connection once everything is sent."""
        channel = self._channel
        self.send(data)
        with contextlib.suppress(ClientDisconnected):
            if self._chunked:
                channel.write_soon(b"0\r\n\r\n")
        with channel.requests_lock:
            channel.close_when_flushed = True
            channel.requests = []
        channel.server.poller.update(channel)
        with contextlib.suppress(OSError):
            channel.server.pull_trigger()


class _Channel(HTTPChannel):  # type: ignore[misc]  # it ships no types
    """A connection with its client's address, and a deadline for the rest of a request."""

    task_class = _Task
    follower: Follower | None = None
    """The follower of the response, once its first bytes were written."""

    def __init__(
        self,
        server: Any,
        sock: socket.socket,
        addr: tuple[Any, ...],
        adj: Any,
        map: Any = None,  # noqa: A002  # waitress's own name for it
    ) -> None:
        self.who = client(addr[0])
        self.number = sock.fileno()
        self.touched = time.monotonic()
        self.due = self.touched + HEAD_S
        self._body = False
        self._answering = False
        super().__init__(server, sock, addr, adj, map)

    def received(self, data: bytes) -> Any:
        """Take bytes; the first of a head and the end of it start the time that the client has for the rest."""
        began = self.request
        result = super().received(data)
        self.touched = time.monotonic()
        if self.request is None:
            self.due, self._body = math.inf, False
        elif self.request is not began:
            if began is not None or self.due == math.inf:  # a new connection's time runs from its beginning
                self.due = self.touched + HEAD_S
            self._body = False
        if self.request is not None and self.request.headers_finished and not self._body:
            self.due, self._body = self.touched + BODY_S, True
        return result

    def service(self) -> None:
        """Answer a request, in a thread; do nothing while a follower continues the one before."""
        if self.follower is None:
            self._answering = True
            super().service()
            self.touched = time.monotonic()
            self._answering = False
            if self.follower is not None:
                self.server.poller.update(self)  # only now has waitress taken the request off its list

    def follow(self, follower: Follower, chunked: bool) -> None:
        """Let a follower continue the current response."""
        self.follower = follower
        # waitress takes the first request off its list when the thread returns. The list stays as it is, so that the
        # connection is at work until the follower has ended the response.
        with self.requests_lock:
            self.requests.insert(0, self.requests[0])
        self.server.poller.move(self)
        follower.begin(_Line(self, chunked))

    def add_channel(self, map: Any = None) -> None:  # noqa: A002  # waitress's own name for it
        """Count the connection as one of its address."""
        super().add_channel(map)
        self.server.of[self.who] += 1

    def del_channel(self, map: Any = None) -> None:  # noqa: A002
        """Count it no more."""
        if self._fileno is not None:
            self.server.of[self.who] -= 1
            if not self.server.of[self.who]:
                del self.server.of[self.who]
        self.server.poller.remove(self)
        super().del_channel(map)

    def handle_close(self) -> None:
        """Close the connection, and notify the follower of a response."""
        super().handle_close()
        if self.follower is not None:
            self.follower.closed()

    @property
    def idle(self) -> bool:
        """Whether no request of this connection is being answered."""
        return not (self.requests or self._answering)


class _Listener(TcpWSGIServer):  # type: ignore[misc]  # it ships no types
    """Accepts a limited number of connections, in all and of one address; closes those that are too slow."""

    channel_class = _Channel
    most = LOW - BESIDE
    lowest = 0
    most_each = _DEFAULTS.connections_each
    proxy = ""
    poller: Poller

    def __init__(self, *args: Any, **more: Any) -> None:
        self.of: Counter[str] = Counter()
        """How many connections each address has open."""
        super().__init__(*args, **more)

    def maintenance(self, now: float) -> None:
        """Close what is overdue; waitress calls this once a second."""
        super().maintenance(now)
        moment = time.monotonic()
        for channel in self._channels():
            if channel.idle and channel.due <= moment:
                channel.will_close = True

    def accept(self) -> tuple[socket.socket, Any] | None:
        """Accept a connection if there is room, or if an idle one of the same address can be closed."""
        accepted: tuple[socket.socket, Any] | None = super().accept()
        if accepted is None:
            return None
        connection, address = accepted
        if self._made_room(client(address[0])):
            return _lifted(connection, self.lowest), address
        with contextlib.suppress(OSError):
            connection.setblocking(False)
            connection.send(CROWDED)
        connection.close()
        return None

    def _made_room(self, who: str) -> bool:
        if self.of[who] >= self.most_each and who != self.proxy:
            return _closed_one(channel for channel in self._channels() if channel.who == who)
        return len(self.active_channels) < self.most or _closed_one(_of_the_greediest(self._channels()))

    def _channels(self) -> list[_Channel]:
        return list(self.active_channels.values())


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


def _lifted(connection: socket.socket, lowest: int) -> socket.socket:
    """Return a connection under a descriptor that is not lower than some number, or as it is where there is none."""
    if not lowest:
        return connection
    try:
        return socket.socket(fileno=fcntl.fcntl(connection, fcntl.F_DUPFD_CLOEXEC, lowest))
    except OSError:
        return connection.dup()
    finally:
        connection.close()


def _of_the_greediest(channels: Iterable[_Channel]) -> list[_Channel]:
    """Return the idle connections of the address that has most of them."""
    of: dict[str, list[_Channel]] = {}
    for channel in channels:
        if channel.idle:
            of.setdefault(channel.who, []).append(channel)
    return max(of.values(), key=len, default=[])


def _closed_one(channels: Iterable[_Channel]) -> bool:
    """Close the idle connection that was used least lately; return whether there was one."""
    idle = [channel for channel in channels if channel.idle]
    if not idle:
        return False
    # A connection that is still being sent a response is closed last.
    min(idle, key=lambda channel: (channel.total_outbufs_len > 0, channel.touched)).handle_close()
    return True


def _behind(proxy: str) -> dict[str, Any]:
    """Return waitress's settings for a reverse proxy."""
    return {
        "trusted_proxy": proxy,
        "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto"},
        "clear_untrusted_proxy_headers": True,
    }


class _Probe:
    """A task that proves that the worker threads are not all dead or stuck."""

    def __init__(self, beat: Beat, prove: Callable[[], object]) -> None:
        self.due = 0.0
        self._beat = beat
        self._prove = prove

    def service(self) -> None:
        """Note that one of the threads has run this."""
        self._prove()
        self._beat(BUSY_S)
        self.due = time.monotonic() + PROBE_S

    def cancel(self) -> None:
        """Ignore that it was dropped at the end."""


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = passed_socket() or socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise ServeError(f"address is {host!r} port {port}; expected one that can be listened on ({error})") from None
    listening.setblocking(False)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux, where a connection inherits what its listener has
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS)
    return listening

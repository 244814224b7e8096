"""Minimal phones: event streams of tables' pages, read by one thread and counted."""

from __future__ import annotations

import resource
import selectors
import socket
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from bench.tools.programs import HOST, BenchError, wait_until

FROM_ONE_ADDRESS = 32
"""Streams that one address may have; the next ones come from another."""


class Readers:
    """Open streams, each on a connection of its own, as those of 40 phones are."""

    def __init__(self, pages: Sequence[tuple[int, str]], count: int) -> None:
        """Prepare; `pages` are ports and paths of tables, which the streams show in turn."""
        self._pages = pages
        self._selector = selectors.DefaultSelector()
        self._sockets: list[socket.socket] = []
        self._over = threading.Event()
        self.events: list[int] = [0] * count
        self.arrivals: list[tuple[int, int]] = []
        """When, in monotonic nanoseconds, and by which reader an event was read."""
        self.closed = 0
        self.received = 0
        """Bytes of all streams as they came, headers and heartbeats included."""
        self._thread = threading.Thread(target=self._run, name="readers", daemon=True)

    def __enter__(self) -> Self:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2 * len(self.events))), hard))
        try:
            for n in range(len(self.events)):
                self._open(n)
        except OSError as error:
            self._close()
            raise BenchError(f"stream {n + 1} of {len(self.events)} cannot be opened: {error}") from error
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._close()

    def wait_for_first(self, seconds: float = 120) -> None:
        """Wait until every stream has brought its first event; raises `BenchError`."""
        wait_until(lambda: self.closed > 0 or all(self.events), seconds, "the first event on every stream")
        if self.closed:
            raise BenchError(f"{self.closed} of {len(self.events)} streams were closed; expected all to stay open")

    def _open(self, n: int) -> None:
        network, address = divmod(n // FROM_ONE_ADDRESS, 250)
        source = f"127.0.{2 + network}.{address + 1}"
        port, table = self._pages[n % len(self._pages)]
        connection = socket.create_connection((HOST, port), source_address=(source, 0))
        self._sockets.append(connection)
        connection.sendall(
            f"GET {table}/stream?as=phone HTTP/1.0\r\nHost: {HOST}:{port}\r\n"
            "Accept: text/event-stream\r\nAccept-Language: en\r\nAccept-Encoding: gzip\r\n\r\n".encode()
        )
        connection.setblocking(False)
        self._selector.register(connection, selectors.EVENT_READ, _Reader(n))

    def _close(self) -> None:
        for connection in self._sockets:
            connection.close()
        self._selector.close()

    def _run(self) -> None:
        while not self._over.is_set():
            for key, _ in self._selector.select(0.2):
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                try:
                    data = connection.recv(1 << 16)
                except OSError:  # reset, as by a companion that has died
                    data = b""
                self.received += len(data)
                if not data:
                    self._selector.unregister(connection)
                    self.closed += 1
                elif events := key.data.read(data).count(b"event: regions"):
                    self.events[key.data.number] += events
                    self.arrivals.append((time.monotonic_ns(), key.data.number))


class _Reader:
    """The text of one stream's bytes: HTTP 1.0, so that only compression is between the two."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._head = b""
        self._body: Callable[[bytes], bytes] | None = None

    def read(self, data: bytes) -> bytes:
        """Return the text of what came."""
        if self._body is None:
            self._head += data
            head, found, data = self._head.partition(b"\r\n\r\n")
            if not found:
                return b""
            gzip = b"content-encoding: gzip" in head.lower()
            self._body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress if gzip else bytes
        return self._body(data)

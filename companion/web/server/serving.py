"""Serves the web application with aiohttp: pages in a few threads, event streams on the event loop.

aiohttp reads requests and writes answers. A `Connection` in front of it keeps the limits, the WSGI application makes
the pages, and a stream that it leaves in the request's environment under `STREAM` continues its answer.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from companion.settings import WebSettings
from companion.web.server.activation import passed_socket
from companion.web.server.aiohttp_web import HttpVersion11, web
from companion.web.server.broadcast import THREADS, Broadcast
from companion.web.server.connections import Connection, Connections, Listener, room_for
from companion.web.server.threads import Threads
from companion.web.server.wsgi import Application
from templo.liveness import REST_S, Beat, no_heartbeat

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

PAGES = 8
"""Threads that answer requests."""

LARGEST = 1_048_576
"""Bytes of a body that is read at all: more than any page takes, so that a body too large is refused in our words."""

STALLED_MS = 45_000
"""After this time without a response from its phone a connection is closed, and its stream with it."""

RESTING_S = 75.0
"""Seconds that a connection may rest between two requests."""

FINISH_S = 2.0
"""Seconds for running requests at the end."""

LOOK_S = 4.0
"""How often connections that take too long are looked for, and the threads must accept a test job."""

BUSY_S = 10.0
"""How long all of them may be busy before they count as stuck."""

log = logging.getLogger(__name__)


class ServeError(Exception):
    """The address cannot be listened on; the message says which and why."""


class Server:
    """One listening socket, the event loop and the threads behind it."""

    def __init__(
        self,
        app: WSGIApplication,
        settings: WebSettings,
        beat: Beat = no_heartbeat,
        pages_beat: Beat = no_heartbeat,
        prove: Callable[[], object] = lambda: None,
    ) -> None:
        """Listen; port 0 takes a free one. Raises `ServeError`.

        `beat` is that of the event loop, `pages_beat` of the threads that answer: as long as one of them
        is free to take a test job and `prove` returns.
        """
        self._app = Application(app, settings.proxy)
        self._beat, self._pages_beat, self._prove = beat, pages_beat, prove
        self._socket = _listening(settings.host, settings.port)
        most, self._socket.lowest = room_for(4 * (settings.streams + PAGES))
        self.connections = Connections(most, settings.connections_each, settings.proxy)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()

    @property
    def port(self) -> int:
        """The port it listens on."""
        port: int = self._socket.getsockname()[1]
        return port

    def serve(self) -> None:
        """Answer until `stop`; the streams should have been ended by then, or shortly after."""
        with self._socket:
            asyncio.run(self._serve())

    def stop(self) -> None:
        """Make `serve` return; from any thread, or from a signal's handler."""
        self._stopping.set()
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._stopping.set)  # which wakes it up

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # below that it logs what clients sent
        self._pages, streams = Threads("pages", PAGES), Threads("streams", THREADS)
        self._broadcast = Broadcast(streams)
        http = web.Server(self._answer, access_log=None, keepalive_timeout=RESTING_S, auto_decompress=False)
        runner = web.ServerRunner(http, shutdown_timeout=FINISH_S)
        await runner.setup()
        listener = await self._loop.create_server(
            lambda: Connection(self.connections, http), sock=self._socket, backlog=1024
        )
        watching = asyncio.create_task(self._watch())
        await self._stopping.wait()
        listener.close()
        watching.cancel()
        await runner.cleanup()
        self.connections.close()
        self._pages.end()
        streams.end()

    async def _watch(self) -> None:
        proof = self._pages.run(self._proof)
        while True:
            self._beat(REST_S)
            self.connections.close(due_by=time.monotonic())
            await asyncio.sleep(LOOK_S)
            if proof.done():
                proof = self._pages.run(self._proof)

    def _proof(self) -> None:
        self._prove()
        self._pages_beat(BUSY_S)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; raises `ConnectionError` where nobody waits for it any more."""
        if request.transport is None:
            raise ConnectionResetError
        connection = request.transport.get_protocol()
        assert isinstance(connection, Connection)
        connection.reads()
        try:
            return await self._answer_on(connection, request)
        finally:
            connection.is_answered()

    async def _answer_on(self, connection: Connection, request: web.BaseRequest) -> web.StreamResponse:
        if (request.content_length or 0) > LARGEST:
            raise web.HTTPRequestEntityTooLarge(LARGEST, request.content_length or 0)
        body = await request.read()
        connection.is_asked()
        try:
            answer = await self._pages.run(lambda: self._app.answer(request, body))
        except Exception:
            log.exception("a request was not answered")
            raise
        headers = [*answer.headers, ("Server", "templo-mayor")]
        if answer.stream is None:
            page = web.Response(status=answer.status, reason=answer.reason, headers=headers, body=answer.body)
            await page.prepare(request)
            await page.write_eof()
            return page
        try:
            response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=headers)
            response.force_close()
            is_chunked = request.version >= HttpVersion11
            if is_chunked:
                response.enable_chunked_encoding()
            await response.prepare(request)
            await response.write(answer.body)
            await self._broadcast.follow(
                answer.stream, connection, connection.chunk if is_chunked else connection.send
            )
            await response.write_eof()
            return response
        finally:
            answer.stream.closed()


def _listening(host: str, port: int) -> Listener:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with passed_socket() or socket.create_server((host, port), family=family, backlog=1024) as made:
            listening = Listener(fileno=made.detach())
    except (OSError, OverflowError) as error:
        raise ServeError(f"address is {host!r} port {port}; expected one that can be listened on ({error})") from None
    listening.setblocking(False)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux, where a connection inherits what its listener has
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS)
    return listening

"""Serves the web face with waitress, and stops at once when asked. It knows sockets and threads, and no page.

A stream holds a thread, so there are more threads than streams; a connection that waits is no thread, so there may
be more connections still. waitress sends each chunk from the thread that yields it: nothing is to be set for that.
"""

from __future__ import annotations

import contextlib
import logging
import math
import socket
import time
from collections.abc import Callable
from typing import Any

from waitress import wasyncore  # type: ignore[import-untyped]  # it ships no types
from waitress.server import create_server  # type: ignore[import-untyped]

from companion.liveness import SOON_S, Beat, unheard

PAGES = 8
"""Threads beside those that streams may hold."""

LARGEST = 1_048_576
"""Bytes of a body that is read at all: more than any page takes, so that a body too large is refused in our words."""

STALLED_MS = 45_000
"""After so long without an answer a phone that left the house is given up, and its stream with it."""

LAST_WORDS = 2.0
"""Seconds that answers under way are given at the end."""

ERRAND_S = 2.0
"""How often the threads that answer are asked for a sign of life."""

BUSY_S = 10.0
"""How long all of them may be at work on pages before that counts as stuck."""


class ServeError(Exception):
    """The address cannot be listened on; the message says which and why."""


class Server:
    """One listening socket with the threads behind it."""

    def __init__(
        self,
        app: Any,
        host: str,
        port: int,
        streams: int = 64,
        *,
        beat: Beat = unheard,
        pages_beat: Beat = unheard,
        prove: Callable[[], object] = lambda: None,
    ) -> None:
        """Listen; port 0 takes a free one. Raises `ServeError`.

        `beat` is that of the thread that listens, `pages_beat` of the threads that answer: as long as one of them
        is free to take an errand and `prove` returns.
        """
        self._beat = beat
        self._errand = _Errand(pages_beat, prove)
        threads = streams + PAGES
        # waitress warns of every page that waits a moment for a thread, and tells the paths of those who hang up.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        logging.getLogger("waitress").setLevel(logging.WARNING)
        self._map: dict[int, Any] = {}
        self._socket = _listening(host, port)
        self._server = create_server(
            app,
            map=self._map,
            sockets=[self._socket],
            threads=threads,
            connection_limit=4 * threads,
            channel_request_lookahead=1,  # or a stream learns only from its next write that nobody reads it
            max_request_body_size=LARGEST,
            outbuf_high_watermark=1_048_576,
            asyncore_use_poll=True,
            ident=None,
        )
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
            if time.monotonic() >= self._errand.due:
                self._errand.due = math.inf  # until somebody has run it
                self._server.task_dispatcher.add_task(self._errand)
            wasyncore.loop(timeout=1.0, use_poll=True, map=self._map, count=1)
        self._finish()

    def stop(self) -> None:
        """Make `serve` return; from any thread, or from a signal's handler."""
        self._stopping = True
        with contextlib.suppress(OSError):  # it may have noticed by itself, and have closed what would wake it
            self._server.pull_trigger()

    def _finish(self) -> None:
        self._server.accepting = False
        deadline = time.monotonic() + LAST_WORDS
        while time.monotonic() < deadline and any(
            channel.requests or channel.total_outbufs_len for channel in self._server.active_channels.values()
        ):
            wasyncore.loop(timeout=0.02, use_poll=True, map=self._map, count=1)
        for channel in list(self._server.active_channels.values()):
            channel.handle_close()
        self._server.task_dispatcher.shutdown(timeout=LAST_WORDS)
        wasyncore.close_all(self._map)


class _Errand:
    """A task like a page's, which proves that the threads that answer are not all dead or stuck."""

    def __init__(self, beat: Beat, prove: Callable[[], object]) -> None:
        self.due = 0.0
        self._beat = beat
        self._prove = prove

    def service(self) -> None:
        """Be run by one of the threads."""
        self._prove()
        self._beat(BUSY_S)
        self.due = time.monotonic() + ERRAND_S

    def cancel(self) -> None:
        """Be thrown away at the end."""


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise ServeError(f"address is {host!r} port {port}; expected one that can be listened on ({error})") from None
    listening.setblocking(False)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux, where a connection inherits what its listener has
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS)
    return listening

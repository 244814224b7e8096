"""Makes what the open event streams send: at once for news, at a pace in a burst, and to show that they are alive.

The streams with one key, such as those of one table, are served in rounds. A round is made in one of a few threads
and written by the event loop: a table that is slow to render occupies one thread, and the streams of others go on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol, TypeAlias

from companion.web.server.threads import Threads

STREAM = "templo.stream"
"""The key in a request's environment under which an application leaves the stream that continues its answer. It is
missing on other servers."""

HEARTBEAT = 8.0
"""Seconds. It keeps the connection open and detects closed ones; `live.js` waits 20 s for one."""

PACE = 0.04
"""The least seconds between two rounds: a burst becomes a few, a single token is immediate."""

THREADS = 4

SLICE = 200
"""Streams that are served before pages have their turn."""

log = logging.getLogger(__name__)

Piece: TypeAlias = tuple[bytes, bool]
"""What a stream sends, and whether that is its end."""


class Stream(Protocol):
    """An answer that goes on."""

    key: str
    wake: Callable[[], None]
    """Set by the broadcast; to be called, from any thread, when there is news under this key."""

    def next(self, fresh: bool) -> Piece:
        """Return what to send now; `fresh` says whether there is news, else a heartbeat is due."""

    def closed(self) -> None:
        """Note that the stream is over; may be called more than once."""


class Followed(Protocol):
    """The connection of a stream."""

    on_lost: Callable[[], object] | None


class Broadcast:
    """The streams of one event loop."""

    def __init__(self, threads: Threads) -> None:
        """Make what they send in some threads."""
        self._threads = threads
        self._rounds: dict[str, _Rounds] = {}

    async def follow(self, stream: Stream, connection: Followed, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Write what a stream sends, until its end or that of its connection."""
        rounds = self._rounds.get(stream.key)
        if rounds is None:
            rounds = self._rounds[stream.key] = _Rounds(self._threads)
        rounds.join(stream)
        ended = False
        try:
            while not ended:
                piece = rounds.wait_for_next(stream)
                connection.on_lost = piece.cancel
                data, ended = await piece
                await write(data)
        except asyncio.CancelledError:
            if not piece.cancelled():
                raise
        finally:
            connection.on_lost = None
            if not rounds.leave(stream):
                del self._rounds[stream.key]


class _Rounds:
    """The streams with one key."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._loop = asyncio.get_running_loop()
        self._streams: set[Stream] = set()
        self._waiting: dict[Stream, asyncio.Future[Piece]] = {}
        """Those whose readers have taken what they were sent."""
        self._behind: set[Stream] = set()
        """Those that were not sent the last news."""
        self._is_news = False
        self._changed = asyncio.Event()
        self._task = self._loop.create_task(self._serve())

    def join(self, stream: Stream) -> None:
        """Add a stream; it is served at once, as if there were news."""
        self._streams.add(stream)
        self._behind.add(stream)
        stream.wake = self._news

    def leave(self, stream: Stream) -> bool:
        """Remove a stream; return whether there are others."""
        self._streams.discard(stream)
        self._behind.discard(stream)
        self._waiting.pop(stream, None)
        if not self._streams:
            self._task.cancel()
        return bool(self._streams)

    def wait_for_next(self, stream: Stream) -> asyncio.Future[Piece]:
        """Return what a stream is to send next, once there is something."""
        piece: asyncio.Future[Piece] = self._loop.create_future()
        self._waiting[stream] = piece
        if stream in self._behind:
            self._changed.set()
        return piece

    def _news(self) -> None:
        if not self._is_news:
            self._is_news = True
            with suppress(RuntimeError):  # the loop has ended, and with it all streams
                self._loop.call_soon_threadsafe(self._changed.set)

    async def _serve(self) -> None:
        beat = time.monotonic() + HEARTBEAT
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), max(0.0, beat - time.monotonic()))
            self._changed.clear()
            if self._is_news:
                self._is_news = False
                self._behind |= self._streams
            await self._round([stream for stream in self._waiting if stream in self._behind], fresh=True)
            if time.monotonic() >= beat:
                beat = time.monotonic() + HEARTBEAT
                await self._round([stream for stream in self._waiting if stream not in self._behind], fresh=False)
            await asyncio.sleep(PACE)

    async def _round(self, streams: Sequence[Stream], *, fresh: bool) -> None:
        for first in range(0, len(streams), SLICE):
            some = streams[first : first + SLICE]
            self._behind.difference_update(some)
            pieces = await self._threads.run(partial(_next_of_each, some, fresh))
            for stream, piece in zip(some, pieces, strict=True):
                waiting = self._waiting.pop(stream, None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(piece)


def _next_of_each(streams: Sequence[Stream], fresh: bool) -> list[Piece]:
    return [_next(stream, fresh) for stream in streams]


def _next(stream: Stream, fresh: bool) -> Piece:
    try:
        return stream.next(fresh)
    except Exception:
        log.exception("a stream of %s failed", stream.key)
        return b"", True

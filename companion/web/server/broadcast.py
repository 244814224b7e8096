"""Makes what the open event streams send: at once for news, at a pace in a burst, and to show that they are alive.

The streams with one key, such as those of one table, are served in rounds. A round is made in one of a few threads
and written by the event loop: a table that is slow to render occupies one thread, and the streams of others go on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol, TypeAlias

from msgspec import Struct

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
SLICE_S = 0.005
"""The most streams, and about the most seconds, that are served before they are sent and others have their turn."""

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

    has_room: bool
    """Whether its reader has taken most of what it was sent."""
    on_room: Callable[[], object] | None
    on_lost: Callable[[], object] | None


class Broadcast:
    """The streams of one event loop."""

    def __init__(self, threads: Threads) -> None:
        """Make what they send in some threads."""
        self._threads = threads
        self._rounds: dict[str, _Rounds] = {}

    async def follow(self, stream: Stream, connection: Followed, send: Callable[[bytes], None]) -> None:
        """Send what a stream gives, until its end or that of its connection."""
        rounds = self._rounds.get(stream.key)
        if rounds is None:
            rounds = self._rounds[stream.key] = _Rounds(self._threads)
        follower = rounds.join(stream, connection, send)
        connection.on_lost, connection.on_room = follower.over.cancel, rounds.look
        try:
            await follower.over
        except asyncio.CancelledError:
            if not follower.over.cancelled():
                raise
        finally:
            connection.on_lost = connection.on_room = None
            if not rounds.leave(stream):
                del self._rounds[stream.key]


class _Follower(Struct, frozen=True):
    """How a stream is sent: its connection, and what is done once it is over."""

    connection: Followed
    send: Callable[[bytes], None]
    over: asyncio.Future[None]

    @property
    def waits(self) -> bool:
        return self.connection.has_room and not self.over.done()


class _Rounds:
    """The streams with one key."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._loop = asyncio.get_running_loop()
        self._followers: dict[Stream, _Follower] = {}
        self._behind: set[Stream] = set()
        """Those that were not sent the last news."""
        self._is_news = False
        self._changed = asyncio.Event()
        self._task = self._loop.create_task(self._serve())

    def join(self, stream: Stream, connection: Followed, send: Callable[[bytes], None]) -> _Follower:
        """Add a stream; it is served at once, as if there were news."""
        follower = self._followers[stream] = _Follower(connection, send, self._loop.create_future())
        self._behind.add(stream)
        stream.wake = self._news
        self.look()
        return follower

    def leave(self, stream: Stream) -> bool:
        """Remove a stream; return whether there are others."""
        del self._followers[stream]
        self._behind.discard(stream)
        if not self._followers:
            self._task.cancel()
        return bool(self._followers)

    def look(self) -> None:
        """Serve those that are behind and have room."""
        self._changed.set()

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
                self._behind.update(self._followers)
            await self._round(self._waiting(is_behind=True), fresh=True)
            if time.monotonic() >= beat:
                beat = time.monotonic() + HEARTBEAT
                await self._round(self._waiting(is_behind=False), fresh=False)
            await asyncio.sleep(PACE)

    def _waiting(self, *, is_behind: bool) -> list[Stream]:
        return [
            stream for stream, each in self._followers.items() if (stream in self._behind) is is_behind and each.waits
        ]

    async def _round(self, streams: Sequence[Stream], *, fresh: bool) -> None:
        while streams:
            some = streams[:SLICE]
            pieces = await self._threads.run(partial(_next_of_each, some, fresh))
            self._behind.difference_update(some[: len(pieces)])
            for stream, (data, ended) in zip(some, pieces, strict=False):
                follower = self._followers.get(stream)
                if follower is None or follower.over.done():
                    continue
                if data:
                    follower.send(data)
                if ended:
                    follower.over.set_result(None)
            streams = streams[len(pieces) :]


def _next_of_each(streams: Sequence[Stream], fresh: bool) -> list[Piece]:
    """Return what streams send next; after `SLICE_S` only what there is by then, so that the first need not wait."""
    until = time.monotonic() + SLICE_S
    pieces: list[Piece] = []
    for stream in streams:
        pieces.append(_next(stream, fresh))
        if time.monotonic() >= until:
            break
    return pieces


def _next(stream: Stream, fresh: bool) -> Piece:
    try:
        return stream.next(fresh)
    except Exception:
        log.exception("a stream of %s failed", stream.key)
        return b"", True

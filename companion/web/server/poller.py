"""Watches the connections of continued responses, so that thousands of them cost waitress nothing.

waitress asks each of its connections at every turn of its loop what it waits for. A connection that a follower
continues moves here: the kernel keeps what it waits for, and to waitress all of them are one descriptor.
"""

from __future__ import annotations

import selectors
import threading
from collections import deque
from contextlib import suppress
from typing import Any

from waitress import wasyncore  # type: ignore[import-untyped]  # it ships no types


class Poller:
    """One entry in waitress's map of descriptors. Its methods are called by waitress's loop, unless they say so."""

    accepting = False

    def __init__(self, connections: dict[int, Any]) -> None:
        """Add itself to `connections`, waitress's map of what it asks, by descriptor."""
        self._connections = connections
        self._selector = selectors.DefaultSelector()
        self._moving: deque[Any] = deque()
        self._lock = threading.Lock()
        self._watched: dict[int, Any] = {}
        connections[self._selector.fileno()] = self

    def move(self, channel: Any) -> None:
        """Watch a channel instead of waitress, from its loop's next turn on; from any thread."""
        self._moving.append(channel)

    def update(self, channel: Any) -> None:
        """Look at what a channel waits for now; from any thread. One that has not moved is passed over."""
        with self._lock:
            if self._watches(channel):
                self._wait_for(channel)

    def remove(self, channel: Any) -> None:
        """Forget a channel that closes, before its descriptor does."""
        with self._lock:
            if self._watches(channel):
                del self._watched[channel.number]
                with suppress(KeyError):  # it waited for nothing
                    self._selector.unregister(channel.number)

    def readable(self) -> bool:
        """Take over what is to move; something may happen to what is watched at any time."""
        while self._moving:
            channel = self._moving.popleft()
            if channel.connected:
                self._connections.pop(channel.number, None)
                with self._lock:
                    self._watched[channel.number] = channel
                    self._wait_for(channel)
        return True

    def writable(self) -> bool:
        """Nothing is written to the poller itself."""
        return False

    def handle_read_event(self) -> None:
        """Let the channels read and write that can."""
        for key, events in self._selector.select(0):
            channel = key.data
            if events & selectors.EVENT_READ and channel.connected:
                wasyncore.read(channel)
            if events & selectors.EVENT_WRITE and channel.connected:
                wasyncore.write(channel)
            self.update(channel)

    def close(self) -> None:
        """Watch nothing any more."""
        self._selector.close()

    def _watches(self, channel: Any) -> bool:
        """Return whether a channel has moved here; its descriptor may be another's by now."""
        return self._watched.get(channel.number) is channel

    def _wait_for(self, channel: Any) -> None:
        events = selectors.EVENT_READ * bool(channel.readable()) | selectors.EVENT_WRITE * bool(channel.writable())
        try:
            if events:
                self._selector.modify(channel.number, events, channel)
            else:
                self._selector.unregister(channel.number)
        except KeyError:
            if events:
                self._selector.register(channel.number, events, channel)

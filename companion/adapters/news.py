"""What changed, and for whom: the hub behind the event streams, and the pictures that they carry.

It knows topics, slices and numbers, no table, no rule and no web framework: who cuts and who paints is passed in.
Nothing here polls, and nothing is painted twice for the same audience.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from companion.games.kit import Json

VERSION_MARK = "\x1aversion\x1a"
REQUEST_MARK = "\x1arequest\x1a"
"""What a painter leaves in a form for the table's version and for the id of a post.

A region that did not change is not rendered again although the version moved on. The sign is a control character,
which no name, title or text can hold.
"""

EVERYTHING = "*"
"""The topic that every change belongs to."""

Slices: TypeAlias = Mapping[str, Mapping[str, Json]]


class StreamsFull(Exception):
    """As many streams are open as may be; the message says how many."""


class HubClosed(Exception):
    """The hub is shutting down and opens no more streams."""


class Hub:
    """Numbers every change and wakes the streams that wait for it.

    `publish` is called from any thread and never blocks on a reader; `close` may be called by a signal's handler.
    `boot` marks the numbers as this process's own: they cannot be compared with those of another.
    """

    def __init__(self, cap: int = 64, boot: str | None = None, cap_each: int | None = None) -> None:
        """Open no more than `cap` streams, and no more than `cap_each` of them for one reader's address."""
        self.cap = cap
        self.cap_each = cap if cap_each is None else cap_each
        self.boot = boot or secrets.token_hex(4)
        self._lock = threading.RLock()
        self._serial = 0
        self._serials: dict[str, int] = {}
        self._streams: set[Stream] = set()
        self._closed = False

    def publish(self, topic: str) -> None:
        """Say that what a topic names has changed; every stream that listens to it wakes."""
        with self._lock:
            self._serial += 1
            self._serials[topic] = self._serials[EVERYTHING] = self._serial
            waiting = [each for each in self._streams if topic in each.topics or EVERYTHING in each.topics]
        for stream in waiting:
            stream.wake()

    def serial(self, topics: Sequence[str]) -> int:
        """Return the number of the last change to any of these topics; 0 for none since the start."""
        with self._lock:
            return max((self._serials.get(topic, 0) for topic in topics), default=0)

    def open(self, topics: Sequence[str], on_news: Callable[[], None] = lambda: None, who: str = "") -> Stream:
        """Open a stream over these topics for the reader at an address; raises `StreamsFull` or `HubClosed`.

        `on_news` is called from the thread that publishes, and when the stream ends; it must not block.
        """
        with self._lock:
            if self._closed:
                raise HubClosed("the hub is closed; expected it to run")
            if full := self._full(who):
                raise StreamsFull(full)
            stream = Stream(self, frozenset(topics), on_news, who)
            self._streams.add(stream)
            return stream

    def _full(self, who: str) -> str:
        """Return why there is no room for one more stream of an address; empty where there is."""
        own = sum(stream.who == who for stream in self._streams)
        if own >= self.cap_each:
            return f"{own} streams of {who} are open; expected fewer than {self.cap_each}"
        if len(self._streams) >= self.cap:
            return f"{len(self._streams)} streams are open; expected fewer than {self.cap}"
        return ""

    def leave(self, stream: Stream) -> None:
        """Forget a stream that has ended."""
        with self._lock:
            self._streams.discard(stream)

    @property
    def streams(self) -> int:
        """How many streams are open."""
        with self._lock:
            return len(self._streams)

    def close(self) -> None:
        """End every stream at once and open no more."""
        with self._lock:
            self._closed = True
            ending = list(self._streams)
        for stream in ending:
            stream.end()


class Stream:
    """One reader's place at the hub, until it is left."""

    __slots__ = ("_hub", "ended", "topics", "wake", "who")

    def __init__(self, hub: Hub, topics: frozenset[str], on_news: Callable[[], None], who: str) -> None:
        self.topics = topics
        self.who = who
        self.wake = on_news
        self.ended = False
        self._hub = hub

    def end(self) -> None:
        """Say that it is over."""
        self.ended = True
        self.wake()

    def leave(self) -> None:
        """Give the place back; harmless when it was given back before."""
        self._hub.leave(self)


@dataclass(frozen=True, slots=True)
class Region:
    """One named part of a page as it was painted, and the number of the change it was painted for."""

    html: str
    since: int
    digest: str = field(init=False, compare=False)
    """The same in every process that paints the same."""

    def __post_init__(self) -> None:
        digest = hashlib.blake2b(self.html.encode(), digest_size=DIGEST_BYTES).digest()
        object.__setattr__(self, "digest", urlsafe_b64encode(digest).decode())


DIGEST_BYTES = 6
"""Of 2^48 digests, two paintings of a region share one by accident less often than a disk errs."""


@dataclass(frozen=True, slots=True)
class Picture:
    """All regions of a page at one moment. `mark` distinguishes pages that cannot be swapped into each other."""

    boot: str
    serial: int
    version: int
    mark: str
    regions: Mapping[str, Region]
    id: str = field(init=False, compare=False)
    """The event id that a browser gives back after a cut: this process's number of it, and what each region was."""
    _events: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        digests = "".join(region.digest for region in self.regions.values())
        object.__setattr__(self, "id", f"{self.boot}.{self.serial}.{digests}")

    def since(self, seen: str) -> dict[str, str]:
        """Return the regions that changed after the picture with that id; all of them where the id says nothing."""
        changed = self._changed(seen)
        return {
            name: region.html.replace(VERSION_MARK, str(self.version))
            for name, region in self.regions.items()
            if changed(name, region)
        }

    def _changed(self, seen: str) -> Callable[[str, Region], bool]:
        """Return what says of a region whether it differs from the picture with an id.

        What this process painted is compared by number: a browser may have been sent something between two of its
        stream's events, by the answer to a post, and that is to be painted over even where it was taken back. What
        another process painted is compared by content: a restart, or another worker, repaints nothing.
        """
        boot, _, rest = seen.partition(".")
        serial, _, digests = rest.partition(".")
        if boot == self.boot:
            known = int(serial) if serial.isascii() and serial.isdecimal() and len(serial) <= 15 else -1
            return lambda _, region: region.since > known or known > self.serial
        length = len(next(iter(self.regions.values())).digest) if self.regions else 1
        if len(digests) != length * len(self.regions):
            return lambda _name, _region: True
        shown = {name: digests[n * length : (n + 1) * length] for n, name in enumerate(self.regions)}
        return lambda name, region: region.digest != shown[name]

    def news(self, seen: str) -> dict[str, object]:
        """Return what changed after the picture with the id `seen`, as a page takes it over."""
        return {"id": self.id, "version": self.version, "mark": self.mark, "regions": self.since(seen)}

    def event(self, seen: str) -> bytes:
        """Return what changed since `seen` as one event of a stream, empty where nothing did; written once."""
        with self._lock:
            if seen not in self._events:
                self._events[seen] = self._written(seen)
            return self._events[seen]

    def _written(self, seen: str) -> bytes:
        news = self.news(seen)
        if not news["regions"]:
            return b""
        text = json.dumps(news, ensure_ascii=False, separators=(",", ":"))
        return f"id: {self.id}\nevent: regions\ndata: {text}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Cut:
    """A table or a temple cut into slices for one audience, before it is painted.

    `frame` is what every region may show beside its slice, such as the names on the chairs: where it changes, all
    regions are rendered again.
    """

    version: int
    mark: str
    frame: Json
    slices: Slices


Paint: TypeAlias = Callable[[str, Mapping[str, Json]], str]
"""Paints one region of one audience from its slice alone."""


class _Shelf:
    """One audience's last picture, with the lock that lets only one thread paint the next."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.cut: Cut | None = None
        self.picture: Picture | None = None


class Gallery:
    """The last picture of everything that somebody looks at, painted once for each audience and change."""

    def __init__(self, hub: Hub, room: int = 256) -> None:
        self._hub = hub
        self._room = room
        self._lock = threading.Lock()
        self._shelves: OrderedDict[object, _Shelf] = OrderedDict()

    def picture(self, key: object, topics: Sequence[str], cut: Callable[[], Cut], paint: Paint) -> Picture:
        """Return the picture under a key as of now. Only regions whose slice changed are painted.

        The number of the change is read before the cut is made: a change in between is shown again, never missed.
        """
        shelf = self._shelf(key)
        with shelf.lock:
            serial = self._hub.serial(topics)
            if shelf.picture is not None and shelf.picture.serial == serial:
                return shelf.picture
            new = cut()
            shelf.picture = self._painted(serial, new, shelf.cut, shelf.picture, paint)
            shelf.cut = new
            return shelf.picture

    def _painted(self, serial: int, new: Cut, old: Cut | None, last: Picture | None, paint: Paint) -> Picture:
        same_frame = old is not None and (old.mark, old.frame) == (new.mark, new.frame)
        regions = {}
        for name, piece in new.slices.items():
            if last is not None and old is not None and same_frame and old.slices.get(name) == piece:
                regions[name] = last.regions[name]
            else:
                regions[name] = Region(paint(name, piece), serial)
        return Picture(self._hub.boot, serial, new.version, new.mark, regions)

    def _shelf(self, key: object) -> _Shelf:
        with self._lock:
            shelf = self._shelves.setdefault(key, _Shelf())
            self._shelves.move_to_end(key)
            while len(self._shelves) > self._room:
                self._shelves.popitem(last=False)
            return shelf

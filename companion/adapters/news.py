"""The hub behind the event streams, and the cache of the pages that they carry.

Streams wait for topics and never poll. A page is rendered once for each audience and change; the functions that make
its view model and render it are passed in.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sys
import threading
from base64 import urlsafe_b64encode
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec import Struct

from companion.games.kit import Json

VERSION_MARK = "\x1aversion\x1a"
REQUEST_MARK = "\x1arequest\x1a"
"""What a renderer leaves in a form for the table's version and for the id of a post.

A region that did not change is not rendered again although the version has increased. The mark contains a control
character, which no name, title or text can contain.
"""

EVERYTHING = "*"
"""The topic that every change belongs to."""

Slices: TypeAlias = Mapping[str, Mapping[str, Json]]


class StreamsFull(Exception):
    """The limit of open streams is reached; the message says how many are open."""


class HubClosed(Exception):
    """The hub is shutting down and opens no more streams."""


class Hub:
    """Numbers every change and wakes the streams that wait for it.

    `publish` is called from any thread and never blocks on a reader; `close` may be called by a signal's handler.
    `boot` marks the numbers as this process's own: they cannot be compared with those of another.
    """

    def __init__(self, cap: int = sys.maxsize, boot: str | None = None) -> None:
        """Open no more than `cap` streams; by default any number."""
        self.cap = cap
        self.cap_each = cap
        """The most of them for one reader's address."""
        self.boot = boot or secrets.token_hex(4)
        self._lock = threading.RLock()
        self._serial = 0
        self._serials: dict[str, int] = {}
        self._streams: set[Stream] = set()
        self._of: Counter[str] = Counter()
        """How many streams each address has open."""
        self._closed = False

    def publish(self, topic: str) -> None:
        """Announce a change under a topic, and wake every stream that waits for it."""
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
            self._of[who] += 1
            return stream

    def _full(self, who: str) -> str:
        """Return why an address cannot open another stream; empty if it can."""
        own = self._of[who]
        if own >= self.cap_each:
            return f"{own} streams of {who} are open; expected fewer than {self.cap_each}"
        if len(self._streams) >= self.cap:
            return f"{len(self._streams)} streams are open; expected fewer than {self.cap}"
        return ""

    def has_listeners(self, topics: Collection[str]) -> bool:
        """Return whether a stream over all these topics is open."""
        with self._lock:
            return any(each.topics.issuperset(topics) for each in self._streams)

    def leave(self, stream: Stream) -> None:
        """Forget a stream that has ended."""
        with self._lock:
            if stream in self._streams:
                self._streams.remove(stream)
                self._of[stream.who] -= 1
                if not self._of[stream.who]:
                    del self._of[stream.who]

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
        """End the stream."""
        self.ended = True
        self.wake()

    def leave(self) -> None:
        """Leave the hub; may be called again."""
        self._hub.leave(self)


@dataclass(frozen=True, slots=True)
class Region:
    """One named part of a page as it was rendered, and the number of the change it was rendered for."""

    html: str
    since: int
    digest: str = field(init=False, compare=False)
    """The same in every process that renders the same."""

    def __post_init__(self) -> None:
        digest = hashlib.blake2b(self.html.encode(), digest_size=DIGEST_BYTES).digest()
        object.__setattr__(self, "digest", urlsafe_b64encode(digest).decode())


DIGEST_BYTES = 6
"""With 48 bits, two versions of a region have the same digest less often than a disk errs."""

EVENTS = 8
"""The most events in memory for one page. Browsers that follow it need two or three."""


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """All regions of a page at one moment. `mark` distinguishes pages that cannot be swapped into each other."""

    boot: str
    serial: int
    version: int
    mark: str
    regions: Mapping[str, Region]
    id: str = field(init=False, compare=False)
    """The event id that a browser sends when it reconnects: this process's number, and the digest of each region."""
    _events: OrderedDict[str, bytes] = field(default_factory=OrderedDict, repr=False, compare=False)
    """The last events written, by what their browsers had seen: a browser chooses what it says."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        digests = "".join(region.digest for region in self.regions.values())
        object.__setattr__(self, "id", f"{self.boot}.{self.serial}.{digests}")

    def since(self, seen: str) -> dict[str, str]:
        """Return the regions that changed since the page with an id; all of them if the id is unknown."""
        return self._html(self._names_since(seen))

    def _html(self, names: Iterable[str]) -> dict[str, str]:
        return {name: self.regions[name].html.replace(VERSION_MARK, str(self.version)) for name in names}

    def _names_since(self, seen: str) -> tuple[str, ...]:
        changed = self._changed(seen)
        return tuple(name for name, region in self.regions.items() if changed(name, region))

    def _changed(self, seen: str) -> Callable[[str, Region], bool]:
        """Return a function that says whether a region differs from the page with an id.

        What this process rendered is compared by number: between two events of its stream a browser may have received
        something in the response to a post, which must be replaced even if it was undone. What another process
        rendered is compared by content, so that a restart, or another worker, sends nothing twice.
        """
        boot, _, rest = seen.partition(".")
        serial, _, digests = rest.partition(".")
        if boot == self.boot:
            known = int(serial) if serial.isascii() and serial.isdecimal() and len(serial) <= 15 else -1
            return lambda _, region: region.since > known or known > self.serial
        length = len(next(iter(self.regions.values())).digest) if self.regions else 1
        if len(digests) != length * len(self.regions):
            return lambda _name, _region: True
        digest_of = {name: digests[n * length : (n + 1) * length] for n, name in enumerate(self.regions)}
        return lambda name, region: region.digest != digest_of[name]

    def news(self, seen: str) -> dict[str, object]:
        """Return what changed since the page with the id `seen`, in the form that our script reads."""
        return self._news(self._names_since(seen))

    def _news(self, names: tuple[str, ...]) -> dict[str, object]:
        return {"id": self.id, "version": self.version, "mark": self.mark, "regions": self._html(names)}

    def event(self, seen: str) -> bytes:
        """Return what changed since `seen` as one event of a stream, empty if nothing did.

        The last `EVENTS` are kept: an event is written once for all browsers that have seen the same page.
        """
        with self._lock:
            if (event := self._events.get(seen)) is None:
                event = self._events[seen] = self._written(self._names_since(seen))
                while len(self._events) > EVENTS:
                    self._events.popitem(last=False)
            return event

    def _written(self, names: tuple[str, ...]) -> bytes:
        if not names:
            return b""
        text = json.dumps(self._news(names), ensure_ascii=False, separators=(",", ":"))
        return f"id: {self.id}\nevent: regions\ndata: {text}\n\n".encode()


class ViewModel(Struct, frozen=True):
    """The slices of a table or a temple for one audience, before they are rendered.

    `frame` is what every region may show beside its slice, such as the names on the chairs: if it changes, all
    regions are rendered again.
    """

    version: int
    mark: str
    frame: Json
    slices: Slices


RegionRenderer: TypeAlias = Callable[[str, Mapping[str, Json]], str]
"""Renders one region for one audience from its slice alone."""


class _CachedPage:
    """One audience's last page, with the lock that lets only one thread render the next."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.topics: Sequence[str] = ()
        self.is_used = True
        self.view: ViewModel | None = None
        self.page: RenderedPage | None = None


class PageCache:
    """The last rendering of each page that somebody looks at, made once for each audience and change."""

    def __init__(self, hub: Hub, room: int = 256) -> None:
        self._hub = hub
        self._room = room
        self._lock = threading.Lock()
        self._pages: OrderedDict[object, _CachedPage] = OrderedDict()

    def rendered(
        self,
        key: object,
        topics: Sequence[str],
        view: Callable[[], ViewModel],
        renderer: Callable[[], RegionRenderer],
    ) -> RenderedPage:
        """Return the page under a key as of now.

        If anything changed under its topics, `view` gives what it shows now, and `renderer` what renders the regions
        whose slices are not as they were. The number of the change is read before `view` is called: a change in
        between is sent again, never missed.
        """
        cached = self._cached(key, topics)
        with cached.lock:
            serial = self._hub.serial(topics)
            if cached.page is not None and cached.page.serial == serial:
                return cached.page
            new = view()
            cached.page = self._rendered(serial, new, cached.view, cached.page, renderer())
            cached.view = new
            return cached.page

    def _rendered(
        self, serial: int, new: ViewModel, old: ViewModel | None, last: RenderedPage | None, render: RegionRenderer
    ) -> RenderedPage:
        same_frame = old is not None and (old.mark, old.frame) == (new.mark, new.frame)
        regions = {}
        for name, piece in new.slices.items():
            if last is not None and old is not None and same_frame and old.slices.get(name) == piece:
                regions[name] = last.regions[name]
            else:
                regions[name] = Region(render(name, piece), serial)
        return RenderedPage(self._hub.boot, serial, new.version, new.mark, regions)

    def forget_unused(self) -> None:
        """Forget each page that nobody has asked for since the last call, unless somebody listens to it."""
        with self._lock:
            for key, cached in list(self._pages.items()):
                if not cached.is_used and not self._hub.has_listeners(cached.topics):
                    del self._pages[key]
                cached.is_used = False

    def _cached(self, key: object, topics: Sequence[str]) -> _CachedPage:
        with self._lock:
            if (cached := self._pages.get(key)) is None:
                cached = self._pages[key] = _CachedPage()
            cached.topics, cached.is_used = topics, True
            self._pages.move_to_end(key)
            while len(self._pages) > self._room:
                self._pages.popitem(last=False)
            return cached

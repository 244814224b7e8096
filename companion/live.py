"""What changed, and what each audience sees of it: the hub behind the event streams and the pictures they carry.

It knows the house, tables and temples, and no web framework: who paints a region is passed in. A waiting stream
costs nothing but its thread; nothing here polls, and nothing is painted twice for the same audience.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from companion.games.kernel import Json, Seat
from companion.house import House
from companion.table import Table
from companion.temples import Health, Temple
from controller import wire

LOG_LINES = 40
"""How many entries of the log a page shows."""

TABLES = "tables"
VERSION_MARK = "\x1aversion\x1a"
REQUEST_MARK = "\x1arequest\x1a"
"""What a painter leaves in a form for the table's version and for the id of a post.

A region that did not change is not painted again although the version moved on. The sign is a control character,
which no name, title or text can hold.
"""

Slices: TypeAlias = Mapping[str, Mapping[str, Json]]


def table_topic(table_id: str) -> str:
    """Return the topic under which a table's changes are published."""
    return f"table:{table_id}"


def temple_topic(name: str) -> str:
    """Return the topic under which a temple's changes are published."""
    return f"temple:{name}"


class StreamsFull(Exception):
    """As many streams are open as may be; the message says how many."""


class HubClosed(Exception):
    """The hub is shutting down and opens no more streams."""


class Hub:
    """Numbers every change and wakes the streams that wait for it.

    `publish` is called from any thread and never blocks on a reader; `close` may be called by a signal's handler.
    `boot` marks the numbers as this process's own: what a browser saw before a restart says nothing about now.
    """

    def __init__(self, cap: int = 64, boot: str | None = None) -> None:
        self.cap = cap
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
            self._serials[topic] = self._serial
            waiting = [stream for stream in self._streams if topic in stream.topics]
        for stream in waiting:
            stream.wake()

    def serial(self, topics: Sequence[str]) -> int:
        """Return the number of the last change to any of these topics; 0 for none since the start."""
        with self._lock:
            return max((self._serials.get(topic, 0) for topic in topics), default=0)

    def open(self, topics: Sequence[str], gone: Callable[[], bool] = lambda: False) -> Stream:
        """Open a stream over these topics; raises `StreamsFull` or `HubClosed`.

        `gone` says whether the reader has hung up: such streams are ended first when all places are taken, so a
        phone that reloads in a hurry does not lock itself out.
        """
        with self._lock:
            if self._closed:
                raise HubClosed("the hub is closed; expected it to run")
            if len(self._streams) >= self.cap:
                for stream in [each for each in self._streams if each.gone()]:
                    self._streams.discard(stream)
                    stream.end()
            if len(self._streams) >= self.cap:
                raise StreamsFull(f"{len(self._streams)} streams are open; expected fewer than {self.cap}")
            stream = Stream(self, frozenset(topics), gone)
            self._streams.add(stream)
            return stream

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

    def __init__(self, hub: Hub, topics: frozenset[str], gone: Callable[[], bool]) -> None:
        self.topics = topics
        self.gone = gone
        self._hub = hub
        self._news = threading.Condition()
        self._fresh = False
        self.ended = False

    def wake(self) -> None:
        """Say that there is something to look at."""
        with self._news:
            self._fresh = True
            self._news.notify()

    def end(self) -> None:
        """Say that it is over; a wait returns at once."""
        with self._news:
            self.ended = True
            self._news.notify()

    def wait(self, timeout: float) -> bool:
        """Wait up to that many seconds; return whether there is news. Changes meanwhile count as one."""
        with self._news:
            if not self._fresh and not self.ended:
                self._news.wait(timeout)
            fresh, self._fresh = self._fresh, False
            return fresh

    def leave(self) -> None:
        """Give the place back; harmless when it was given back before."""
        self._hub.leave(self)


@dataclass(frozen=True, slots=True)
class Audience:
    """Who looks: which seats the phone holds, on what page, in what language. Alike audiences share a picture."""

    language: str
    layout: str = "phone"
    """``phone`` or ``screen``."""
    seats: tuple[Seat, ...] = ()
    trusted: bool = False
    """Whether it may invite and hand seats over: it holds a seat or knows the table's code."""


@dataclass(frozen=True, slots=True)
class Region:
    """One named part of a page as it was painted, and the number of the change it was painted for."""

    html: str
    since: int


@dataclass(frozen=True, slots=True)
class Picture:
    """All regions of a page at one moment. `mark` tells pages apart that cannot be swapped into each other."""

    boot: str
    serial: int
    version: int
    mark: str
    regions: Mapping[str, Region]
    _events: dict[int, bytes] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def id(self) -> str:
        """The event id that a browser gives back after a cut."""
        return f"{self.boot}.{self.serial}"

    def since(self, seen: str) -> dict[str, str]:
        """Return the regions that changed after the picture with that id; all of them where the id says nothing."""
        return self._after(self._known(seen))

    def event(self, seen: str) -> bytes:
        """Return what changed since `seen` as one event of a stream, empty where nothing did; written once."""
        known = self._known(seen)
        with self._lock:
            if known not in self._events:
                self._events[known] = self._written(self._after(known))
            return self._events[known]

    def _known(self, seen: str) -> int:
        boot, _, serial = seen.partition(".")
        if boot != self.boot or not (serial.isascii() and serial.isdecimal()) or len(serial) > 15:
            return -1
        return int(serial) if int(serial) <= self.serial else -1

    def _after(self, known: int) -> dict[str, str]:
        return {
            name: region.html.replace(VERSION_MARK, str(self.version))
            for name, region in self.regions.items()
            if region.since > known
        }

    def _written(self, regions: Mapping[str, str]) -> bytes:
        if not regions:
            return b""
        body = {"id": self.id, "version": self.version, "mark": self.mark, "regions": regions}
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return f"id: {self.id}\nevent: regions\ndata: {text}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Cut:
    """A table or a temple cut into slices for one audience, before it is painted.

    `frame` is what every region may show beside its slice, such as the names on the chairs: where it changes, all
    regions are painted again.
    """

    version: int
    mark: str
    frame: Json
    slices: Slices


Paint: TypeAlias = Callable[[str, Mapping[str, Json]], str]
"""Paints one region of one audience from its slice alone."""


class _Shelf:
    """Where one audience's last picture lies, with the lock that lets only one thread paint the next."""

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


def table_topics(table: Table) -> tuple[str, ...]:
    """Return what a table's page listens to. A temple's change reaches the table that it serves by itself."""
    return (table_topic(table.id),)


def cut_table(house: House, table_id: str, audience: Audience) -> Cut:
    """Cut a table for an audience: the game's own regions, and the shell's log, health, seats and lobby."""
    table = house.table(table_id)
    temple = house.temple(table.temple) if table.temple else None
    slices: dict[str, Mapping[str, Json]] = {
        "log": _log(table),
        "health": _table_health(house, table, temple, audience),
        "seats": _seats(table, audience),
    }
    if table.phase == "lobby":
        slices["lobby"] = _lobby(table, temple, audience)
    else:
        slices["undo"] = _undo(table, audience)
        slices |= table.game.regions(table.page(audience.seats))
    frame: Json = [[chair.seat, chair.name or ""] for chair in table.chairs]
    stage = "lobby" if table.phase == "lobby" else "play"
    mark = f"{stage}:{audience.layout}:{','.join(audience.seats)}:{'trusted' if audience.trusted else 'public'}"
    return Cut(table.version, mark, frame, slices)


def _log(table: Table) -> Mapping[str, Json]:
    return {
        "entries": [
            {
                "n": told.n,
                "at": wire.format_utc(told.at),
                "lines": [{"code": line.code, "facts": line.facts, "mark": line.mark} for line in told.lines],
            }
            for told in table.log(LOG_LINES)
        ]
    }


def _table_health(house: House, table: Table, temple: Temple | None, audience: Audience) -> Mapping[str, Json]:
    slice_ = health(temple)
    may_choose = bool(audience.seats) and table.game.uses_temple and table.phase != "over"
    return {
        **slice_,
        "hosting": audience.trusted and audience.layout == "screen" and table.phase != "lobby",
        "temples": [other.name for other in house.temples()] if may_choose else [],
        "busy": [other.name for other in house.temples() if other.table_id not in (None, table.id)]
        if may_choose
        else [],
    }


def health(temple: Temple | None) -> Mapping[str, Json]:
    """Return a temple's health as a slice: a code with words, the slot it is about, and how loud to say it."""
    if temple is None:
        return {"temple": "", "code": "none", "god": "", "tone": "none"}
    now = temple.health()
    return {"temple": temple.name, "code": now.code, "god": now.god, "tone": tone(now)}


def tone(health_now: Health) -> str:
    """Return how loud a health is said: ``well``, ``ask`` where a token would settle it, or ``ill``."""
    if health_now.well:
        return "well"
    return "ask" if health_now.code == str(wire.Beam.UNPROVED) else "ill"


def _seats(table: Table, audience: Audience) -> Mapping[str, Json]:
    return {
        "chairs": [
            {
                "seat": chair.seat,
                "name": chair.name or "",
                "taken": chair.taken,
                "shared": chair.shared,
                "mine": chair.seat in audience.seats,
                "on_turn": chair.seat == table.on_turn,
                "can_free": audience.trusted and chair.taken and chair.seat not in audience.seats,
            }
            for chair in table.chairs
        ],
        "open": not all(chair.taken for chair in table.chairs),
        "join": audience.layout == "phone" and not audience.seats,
        "code": table.code if audience.trusted and table.phase == "running" else "",
    }


def _lobby(table: Table, temple: Temple | None, audience: Audience) -> Mapping[str, Json]:
    status = temple.status if temple else None
    slots: list[Json] = [
        {"god": str(god), "beam": str(status.beams[god] if status else wire.Beam.UNKNOWN)} for god in wire.God
    ]
    return {
        "temple": temple.name if temple else "",
        "slots": slots,
        "unproved": not status or any(status.beams[god] is not wire.Beam.CLEAR for god in wire.God),
        "mine": bool(audience.seats),
        "waiting": sum(not chair.taken for chair in table.chairs),
    }


def _undo(table: Table, audience: Audience) -> Mapping[str, Json]:
    return {"seats": [seat for seat in audience.seats if table.undo_refused(seat) is None]}


def cut_temple(house: House, name: str) -> Cut:
    """Cut a temple's page: its health, its beams, the table it serves, its last tokens and what counts for it."""
    temple = house.temple(name)
    status = temple.status
    serves = next((table for table in house.tables() if table.id == temple.table_id), None)
    slices: dict[str, Mapping[str, Json]] = {
        "health": {**health(temple), "temple": "", "hosting": False, "temples": [], "busy": []},
        "beams": {
            "slots": [
                {
                    "god": str(god),
                    "beam": str(status.beams[god] if status else wire.Beam.UNKNOWN),
                    "total": temple.totals.get(god, 0),
                }
                for god in wire.God
            ]
        },
        "serving": {
            "table": serves.id if serves else "",
            "title": serves.title if serves else "",
            "tables": [
                {"id": table.id, "title": table.title}
                for table in house.tables()
                if table.phase != "over" and table.game.uses_temple and table.id != temple.table_id
            ],
        },
        "recent": {
            "quarantined": temple.quarantined,
            "tokens": [
                {
                    "god": str(kept.token.god),
                    "at": wire.format_utc(kept.token.at),
                    "width_ms": round(kept.token.width_ms, 1),
                    "flags": sorted(kept.token.flags),
                    "replayed": kept.token.replayed,
                    "table": kept.table_id or "",
                }
                for kept in temple.recent
            ],
        },
        "source": {
            "source": temple.source or "",
            "conflict": temple.conflict or "",
            "kind": str(status.kind) if status else "",
            "timing": str(status.timing) if status else "",
            "software": status.software if status else "",
        },
    }
    return Cut(0, "temple", None, slices)

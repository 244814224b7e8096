"""When streams are served: at once for news, at a pace in a burst, and each table independently of the others."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from companion.adapters.news import Hub, Region, RenderedPage
from companion.web.routes.streams import EventStream
from companion.web.server import broadcast as module
from companion.web.server.broadcast import Broadcast, Piece, Stream
from companion.web.server.encoding import Plain
from companion.web.server.threads import Threads

PATIENCE_S = 60.0


async def until(truth: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not truth():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


@dataclass(eq=False)
class Looks:
    """Notes whether there was news each time that it was served."""

    key: str = "a"
    look: Callable[[], Piece] = lambda: (b"x", False)
    wake: Callable[[], None] = lambda: None
    fresh: list[bool] = field(default_factory=list)

    def next(self, fresh: bool) -> Piece:
        self.fresh.append(fresh)
        return self.look()

    def closed(self) -> None: ...


@dataclass
class Reader:
    """A connection that takes one piece more than its reader reads."""

    reads: bool = True
    got: list[bytes] = field(default_factory=list)
    has_room: bool = True
    on_room: Callable[[], object] | None = None
    on_lost: Callable[[], object] | None = None

    def send(self, data: bytes) -> None:
        assert self.has_room
        self.got.append(data)
        self.has_room = self.reads

    def read(self) -> None:
        self.reads = self.has_room = True
        if self.on_room is not None:
            self.on_room()


@dataclass
class Room:
    """A broadcast, and the streams that were opened."""

    broadcast: Broadcast
    open: list[asyncio.Task[None]] = field(default_factory=list)

    def follow(self, stream: Stream, reader: Reader | None = None) -> asyncio.Task[None]:
        reader = reader or Reader()
        self.open.append(asyncio.create_task(self.broadcast.follow(stream, reader, reader.send)))
        return self.open[-1]


@asynccontextmanager
async def a_room() -> AsyncIterator[Room]:
    threads = Threads("streams", 2)
    room = Room(Broadcast(threads))
    try:
        yield room
    finally:
        for task in room.open:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        threads.end()


def in_room(test: Callable[[Room], Awaitable[None]]) -> None:
    async def run() -> None:
        async with a_room() as room:
            await test(room)

    with ThreadPoolExecutor(1) as thread:  # where Playwright has been, this one has a loop that runs
        thread.submit(asyncio.run, run()).result()


def test_a_stream_is_looked_after_at_once_and_for_each_news() -> None:
    async def test(room: Room) -> None:
        looks = Looks()
        room.follow(looks)
        await until(lambda: looks.fresh == [True])
        looks.wake()
        await until(lambda: looks.fresh == [True, True])

    in_room(test)


def test_a_quiet_stream_gets_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", 0.02)

    async def test(room: Room) -> None:
        looks = Looks()
        room.follow(looks)
        await until(lambda: looks.fresh[:3] == [True, False, False])

    in_room(test)


def test_a_burst_of_news_is_a_few_looks_of_which_the_last_comes_after_all_of_it() -> None:
    async def test(room: Room) -> None:
        seen: list[int] = []
        number = 0

        def look() -> Piece:
            seen.append(number)
            return b"", False

        looks = Looks(look=look)
        room.follow(looks)
        await until(lambda: seen)

        def burst() -> None:
            nonlocal number
            for _ in range(2000):
                number += 1
                looks.wake()

        await asyncio.to_thread(burst)
        await until(lambda: seen[-1] == 2000)
        assert len(seen) < 1000

    in_room(test)


def test_a_stream_whose_reader_is_slow_has_its_news_once_it_has_read() -> None:
    async def test(room: Room) -> None:
        slow, other, reader = Looks(), Looks(), Reader()
        reader.reads = False
        room.follow(slow, reader)
        room.follow(other)
        await until(lambda: slow.fresh == other.fresh == [True])
        for served in (2, 3):
            slow.wake()
            await until(lambda served=served: other.fresh == [True] * served)  # type: ignore[misc]
        assert slow.fresh == [True]
        reader.read()
        await until(lambda: slow.fresh == [True, True])

    in_room(test)


def test_a_table_that_is_stuck_holds_up_no_other_however_many_look_at_it() -> None:
    going = threading.Event()

    def stuck() -> Piece:
        going.wait(PATIENCE_S)
        return b"", False

    async def test(room: Room) -> None:
        for _ in range(10):
            room.follow(Looks("stuck", stuck))
        looks = Looks("other")
        room.follow(looks)
        await until(lambda: looks.fresh == [True])
        looks.wake()
        await until(lambda: looks.fresh == [True, True])
        going.set()

    in_room(test)


def test_a_stream_that_fails_or_is_over_is_looked_after_no_more_and_the_others_go_on() -> None:
    def fail() -> Piece:
        raise RuntimeError("as a test wants it")

    async def test(room: Room) -> None:
        failing, over, looks = Looks(look=fail), Looks(look=lambda: (b"the end", True)), Looks()
        reader = Reader()
        ended = [room.follow(failing), room.follow(over, reader)]
        room.follow(looks)
        await asyncio.wait_for(asyncio.gather(*ended), PATIENCE_S)
        assert reader.got == [b"the end"]
        looks.wake()
        await until(lambda: looks.fresh == [True, True])
        assert failing.fresh == over.fresh == [True]

    in_room(test)


def test_a_stream_whose_reader_is_gone_ends_at_once_and_the_last_of_a_table_leaves_nothing() -> None:
    async def test(room: Room) -> None:
        before = asyncio.all_tasks()
        looks, reader = Looks(), Reader()
        follows = room.follow(looks, reader)
        await until(lambda: looks.fresh == [True] and reader.on_lost)
        assert reader.on_lost is not None
        reader.on_lost()
        await asyncio.wait_for(follows, PATIENCE_S)
        await until(lambda: asyncio.all_tasks() == before)
        again = Looks()
        room.follow(again)
        await until(lambda: again.fresh == [True])
        assert looks.fresh == [True]

    in_room(test)


def test_more_streams_than_are_served_at_once_are_all_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLICE", 3)

    async def test(room: Room) -> None:
        many = [Looks() for _ in range(10)]
        for looks in many:
            room.follow(looks)
        await until(lambda: all(looks.fresh == [True] for looks in many))
        many[0].wake()
        await until(lambda: all(looks.fresh == [True, True] for looks in many))

    in_room(test)


def test_what_a_slow_reader_did_not_take_is_in_its_next_event() -> None:
    async def test(room: Room) -> None:
        hub, reader = Hub(boot="b"), Reader()
        changes: dict[str, Region] = {}

        def look() -> RenderedPage:
            return RenderedPage("b", hub.serial(["t"]), 1, "", dict(changes))

        events = EventStream("t", look, Plain(), "", "")
        events.place = hub.open(["t"], events.news)
        reader.reads = False
        room.follow(events, reader)
        await until(lambda: reader.got)
        for number, region in enumerate(("first", "second"), 1):
            changes[region] = Region(region, number)
            hub.publish("t")
            await asyncio.sleep(0.1)
        reader.read()
        await until(lambda: len(reader.got) == 2)
        assert b"first" in reader.got[1]
        assert b"second" in reader.got[1]
        events.closed()
        assert hub.streams == 0

    in_room(test)

"""When streams are served: at once for news, at a pace in a burst, and each table independently of the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from companion.adapters.news import Hub, Region, RenderedPage
from companion.web.routes.streams import EventStream
from companion.web.server import broadcast as module
from companion.web.server.broadcast import Broadcast, Step, Turn
from companion.web.server.encoding import Plain
from tests.waiting import eventually

PATIENCE_S = 60.0


@dataclass
class Looks:
    """Notes each look at a stream, and answers with what is in `steps`, then with `DONE`."""

    steps: list[Step] = field(default_factory=list)
    fresh: list[bool] = field(default_factory=list)

    def __call__(self, fresh: bool) -> Step:
        self.fresh.append(fresh)
        return self.steps.pop(0) if self.steps else Step.DONE


@pytest.fixture
def broadcast() -> Iterator[Broadcast]:
    broadcast = Broadcast(2)
    yield broadcast
    for turn in list(broadcast._turns):
        broadcast.remove(turn)


def test_a_stream_is_looked_after_at_once_and_for_each_news(broadcast: Broadcast) -> None:
    looks = Looks()
    turn = Turn("a", looks)
    broadcast.add(turn)
    eventually(lambda: looks.fresh == [True])
    broadcast.news(turn)
    eventually(lambda: looks.fresh == [True, True])


def test_a_quiet_stream_gets_heartbeats(broadcast: Broadcast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", 0.02)
    looks = Looks()
    broadcast.add(Turn("a", looks))
    eventually(lambda: looks.fresh[:3] == [True, False, False])


def test_a_burst_of_news_is_a_few_looks_of_which_the_last_comes_after_all_of_it(broadcast: Broadcast) -> None:
    seen: list[int] = []
    number = 0

    def look(_fresh: bool) -> Step:
        seen.append(number)
        return Step.DONE

    turn = Turn("a", look)
    broadcast.add(turn)
    for _ in range(2000):
        number += 1
        broadcast.news(turn)
    eventually(lambda: seen and seen[-1] == 2000)
    assert len(seen) < 1000


def test_a_stream_whose_reader_was_too_slow_has_its_news_again(
    broadcast: Broadcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AGAIN", 0.02)
    looks = Looks([Step.SLOW, Step.SLOW])
    broadcast.add(Turn("a", looks))
    eventually(lambda: looks.fresh == [True, True, True])


def test_a_table_that_is_stuck_holds_up_no_other_however_many_look_at_it(broadcast: Broadcast) -> None:
    going = threading.Event()

    def stuck(_fresh: bool) -> Step:
        going.wait(PATIENCE_S)
        return Step.DONE

    for _ in range(10):
        broadcast.add(Turn("stuck", stuck))
    looks = Looks()
    turn = Turn("other", looks)
    broadcast.add(turn)
    eventually(lambda: looks.fresh == [True])
    broadcast.news(turn)
    eventually(lambda: looks.fresh == [True, True])
    going.set()


def test_a_stream_that_fails_or_is_over_is_looked_after_no_more_and_the_others_go_on(broadcast: Broadcast) -> None:
    def fail(_fresh: bool) -> Step:
        raise RuntimeError("as a test wants it")

    over, looks = Looks([Step.OVER]), Looks()
    turns = [Turn("a", fail), Turn("a", over), Turn("a", looks)]
    for turn in turns:
        broadcast.add(turn)
    eventually(lambda: looks.fresh == [True])
    for turn in turns:
        broadcast.news(turn)
    eventually(lambda: looks.fresh == [True, True])
    assert over.fresh == [True]


def test_without_streams_there_are_no_threads() -> None:
    broadcast, others = Broadcast(2), set(threading.enumerate())
    looks = Looks()
    turns = [Turn(key, looks) for key in "abc"]
    for turn in turns:
        broadcast.add(turn)
    eventually(lambda: len(looks.fresh) == 3)
    for turn in turns:
        broadcast.remove(turn)
    eventually(lambda: not set(threading.enumerate()) - others)
    broadcast.add(turn)
    eventually(lambda: len(looks.fresh) == 4)
    broadcast.remove(turn)


@dataclass
class Reader:
    """A connection that takes bytes while its reader reads."""

    reads: bool = True
    closed: bool = False
    got: list[bytes] = field(default_factory=list)
    ended: bool = False

    def send(self, data: bytes) -> bool:
        if self.reads:
            self.got.append(data)
        return self.reads

    def end(self, data: bytes) -> None:
        self.ended = True


def test_what_a_slow_reader_did_not_take_is_in_its_next_event(
    broadcast: Broadcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AGAIN", 0.02)
    hub, reader = Hub(boot="b"), Reader()
    changes: dict[str, Region] = {}

    def look() -> RenderedPage:
        return RenderedPage("b", hub.serial(["t"]), 1, "", dict(changes))

    events = EventStream("t", broadcast, look, Plain(), "", "")
    events.place = hub.open(["t"], events.news)
    events.begin(reader)
    eventually(lambda: reader.got)
    reader.reads = False
    for number, region in enumerate(("first", "second"), 1):
        changes[region] = Region(region, number)
        hub.publish("t")
        time.sleep(0.1)
    reader.reads = True
    eventually(lambda: any(b"second" in each for each in reader.got))
    assert b"first" in next(each for each in reader.got if b"second" in each)
    events.closed()
    assert hub.streams == 0


def test_a_stream_whose_reader_is_gone_leaves_its_place(broadcast: Broadcast) -> None:
    hub, reader = Hub(), Reader(closed=True)
    events = EventStream("t", broadcast, lambda: None, Plain(), "", "")
    events.place = hub.open(["t"], events.news)
    events.begin(reader)
    eventually(lambda: hub.streams == 0)
    assert reader.got == []

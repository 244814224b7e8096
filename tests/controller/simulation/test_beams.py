"""Simulated beams: the same edges as real ones, exact in time, and honest about a blocked slot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.core.counting import MS, WIDTH_NS, Counter, Detection, Edge, Limits, simulate
from controller.core.messages import EdgeSeen, PipelineMessage
from controller.core.ports import BackendContext
from controller.core.settings import BeamSettings
from controller.simulation.beams import SimulatedBeams
from templo.contract import God
from tests.waiting import eventually


class Queue:
    """Remembers the edges that were put."""

    def __init__(self) -> None:
        self.edges: list[EdgeSeen] = []

    def put(self, message: PipelineMessage) -> None:
        assert isinstance(message, EdgeSeen)
        self.edges.append(message)

    def tokens(self, god: God) -> int:
        counter = Counter(Limits(), False, 0)
        events = [
            event for slot, at_ns, dark in self.edges if slot is god for event in counter.feed(Edge(at_ns, dark))
        ]
        return sum(
            isinstance(event, Detection) for event in (*events, *counter.advance(time.monotonic_ns() + 10**10))
        )


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def beams(queue: Queue) -> Iterator[SimulatedBeams]:
    settings = BeamSettings(17, 27, "low", "up", "simulated")
    made = SimulatedBeams(BackendContext(settings, Limits(), Path("unused"), time.monotonic_ns, lambda: ""))
    made.open(queue.put)
    yield made
    made.close()
    assert not made.alive()


def test_a_token_is_dark_for_exactly_its_width(beams: SimulatedBeams, queue: Queue) -> None:
    beams.drop(God.TLALOC)
    eventually(lambda: len(queue.edges) == 2)
    (_, begin, dark), (_, end, clear) = queue.edges
    assert (dark, clear) == (True, False)
    assert end - begin == WIDTH_NS
    assert not beams.dark(God.TLALOC)


def test_handfuls_into_both_slots_at_once_are_all_counted(beams: SimulatedBeams, queue: Queue) -> None:
    for _ in range(2):
        for god in God:
            beams.drop(god, 5)
    eventually(lambda: len(queue.edges) == 40)
    assert [queue.tokens(god) for god in God] == [10, 10]


def test_tokens_that_come_closer_are_as_much_faster(beams: SimulatedBeams, queue: Queue) -> None:
    beams.drop(God.TLALOC, 4, spacing_ns=15 * MS)
    eventually(lambda: len(queue.edges) == 8)
    assert queue.tokens(God.TLALOC) == 4


def test_a_token_into_a_slot_that_is_held_dark_is_not_seen(beams: SimulatedBeams, queue: Queue) -> None:
    assert beams.toggle(God.TLALOC)
    eventually(lambda: beams.dark(God.TLALOC))
    beams.drop(God.TLALOC)
    beams.drop(God.HUITZILOPOCHTLI)
    eventually(lambda: len(queue.edges) == 3)
    assert [dark for god, _, dark in queue.edges if god is God.TLALOC] == [True]
    assert not beams.toggle(God.TLALOC)
    eventually(lambda: not beams.dark(God.TLALOC))


@pytest.mark.parametrize("limits", [Limits(), Limits(max_break=4 * MS), Limits(min_break=40 * MS)])
def test_a_token_that_no_beam_gave_is_one_whatever_the_limits(limits: Limits) -> None:
    counted = simulate(limits, 10**12)
    assert counted.flags == frozenset()
    assert limits.min_break <= counted.width_ns < limits.max_break

"""Simulated beams: the same edges as real ones, exact in time, and honest about a blocked slot."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from controller.core.counting import MS, WIDTH_NS, Counter, Detection, Edge, Limits, simulate
from controller.simulation.beams import SimulatedBeams
from templo.contract import God
from tests.controller.program import eventually


class Ear:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.heard: list[tuple[God, int, bool]] = []

    def __call__(self, god: God, at_ns: int, dark: bool) -> None:
        self.heard.append((god, at_ns, dark))

    def tokens(self, god: God) -> int:
        counter = Counter(Limits(), False, 0)
        events = [
            event for slot, at_ns, dark in self.heard if slot is god for event in counter.feed(Edge(at_ns, dark))
        ]
        return sum(
            isinstance(event, Detection) for event in (*events, *counter.advance(time.monotonic_ns() + 10**10))
        )


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def beams(ear: Ear) -> Iterator[SimulatedBeams]:
    made = SimulatedBeams(time.monotonic_ns)
    made.open(ear)
    yield made
    made.close()
    assert not made.alive()


def test_a_token_is_dark_for_exactly_its_width(beams: SimulatedBeams, ear: Ear) -> None:
    beams.drop(God.TLALOC)
    eventually(lambda: len(ear.heard) == 2)
    (_, begin, dark), (_, end, clear) = ear.heard
    assert (dark, clear) == (True, False)
    assert end - begin == WIDTH_NS
    assert not beams.dark(God.TLALOC)


def test_handfuls_into_both_slots_at_once_are_all_counted(beams: SimulatedBeams, ear: Ear) -> None:
    for _ in range(2):
        for god in God:
            beams.drop(god, 5)
    eventually(lambda: len(ear.heard) == 40)
    assert [ear.tokens(god) for god in God] == [10, 10]


def test_tokens_that_come_closer_are_as_much_faster(beams: SimulatedBeams, ear: Ear) -> None:
    beams.drop(God.TLALOC, 4, spacing_ns=15 * MS)
    eventually(lambda: len(ear.heard) == 8)
    assert ear.tokens(God.TLALOC) == 4


def test_a_token_into_a_slot_that_is_held_dark_is_not_seen(beams: SimulatedBeams, ear: Ear) -> None:
    beams.hold(God.TLALOC, dark=True)
    beams.hold(God.TLALOC, dark=True)
    eventually(lambda: beams.dark(God.TLALOC))
    beams.drop(God.TLALOC)
    beams.drop(God.HUITZILOPOCHTLI)
    eventually(lambda: len(ear.heard) == 3)
    assert [dark for god, _, dark in ear.heard if god is God.TLALOC] == [True]
    assert beams.held(God.TLALOC)
    beams.hold(God.TLALOC, dark=False)
    eventually(lambda: not beams.dark(God.TLALOC))


@pytest.mark.parametrize("limits", [Limits(), Limits(max_break=4 * MS), Limits(min_break=40 * MS)])
def test_a_token_that_no_beam_gave_is_one_whatever_the_limits(limits: Limits) -> None:
    counted = simulate(limits, 10**12)
    assert counted.flags == frozenset()
    assert limits.min_break <= counted.width_ns < limits.max_break

"""The Uno's counting core against controller/core/counting.py: the same trains of edges give the same events."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.core.counting import JAM_PATIENCE, SECOND, Counter, Detection, Edge, Event
from controller.core.counting import Limits as Rules
from controller.simulation.parser import read
from controller.simulation.timeline import Change, expand
from firmware.tests.host import Limits, Slot, library
from templo.contract import Flag, God

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted(
    each
    for pattern in ("controller/simulation/scenarios/**/*.toml", "firmware/tests/scenarios/*.toml")
    for each in ROOT.glob(pattern)
    if each.parent.name != "light"  # the boards' own programs do not judge light
)
US = 1_000
JAM, MISSED = 1, 2


@pytest.fixture(scope="module")
def core() -> ctypes.CDLL:
    return library()


times = (
    st.integers(0, 400_000)
    | st.sampled_from([2_999, 3_000, 3_001, 4_999, 5_000, 5_001, 249_999, 250_000, 250_001, 1_000_000])
    | st.integers(1, 3_000_000)
    | st.integers(1, 12_000)
)
steps = st.tuples(st.sampled_from(["edge"] * 6 + ["again", "tick", "late", "read"]), times)


def tokens_of(events: list[Event]) -> list[tuple[int, int, int]]:
    return [
        (
            event.start_ns // US,
            event.width_ns // US,
            (JAM if Flag.JAM in event.flags else 0) | (MISSED if Flag.MISSED_EDGE in event.flags else 0),
        )
        for event in events
        if isinstance(event, Detection)
    ]


@given(
    story=st.lists(steps, max_size=80),
    dark=st.booleans(),
    origin=st.sampled_from([0, 2**31 - 500_000, 2**32 - 500_000, 2**32 - 1]),
    flicker=st.integers(2, 60),
)
def test_any_train_means_the_same_to_the_uno_as_to_the_pi(
    core: ctypes.CDLL, story: list[tuple[str, int]], dark: bool, origin: int, flicker: int
) -> None:
    """`again` is a level reported twice, `tick` the clock alone, `late` an edge whose clock was asked before it came.

    `read` is a level that was read after edges were lost.
    """
    counter = Counter(Rules(flicker=flicker), dark, 0)
    limits = Limits(3_000, 5_000, 250_000, JAM_PATIENCE // US, SECOND // US, flicker)
    slot = Slot(core, limits, dark, 0, origin)
    now, level, events = 0, dark, list[Event]()
    for kind, later in [*story, ("tick", 5_000_000), ("tick", 1)]:
        now += later
        if kind == "late":
            ahead = now + min(later, 60_000)
            events += counter.advance(ahead * US)
            slot.advance(ahead)
        if kind == "tick":
            events += counter.advance(now * US)
            slot.advance(now)
        elif kind == "read":
            level = not level
            events += counter.resync(now * US, level)
            slot.resync(now, level)
        else:
            level = level if kind == "again" else not level
            events += counter.feed(Edge(now * US, level))
            slot.feed(now, level)
        assert slot.tokens == tokens_of(events)
        assert slot.beam == counter.beam
        assert slot.glitches == counter.glitches
        assert slot.missed == counter.missed_edges


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_every_scenario_is_reported_alike_by_the_uno_and_by_the_pi(core: ctypes.CDLL, file: Path) -> None:
    """The tokens, and how the beam is after each edge and each moment at which time alone changes something."""
    script = read(file.read_bytes(), file.name)
    timeline, rules = expand(script), script.limits(Rules(flicker=60))
    limits = Limits(
        rules.min_break // US, rules.min_clear // US, rules.max_break // US, JAM_PATIENCE // US, SECOND // US, 60
    )
    for god in God:
        counter = Counter(rules, timeline.dark[god], 0)
        slot = Slot(core, limits, timeline.dark[god], 0)
        events = list[Event]()
        ends = [(timeline.end_ns + SECOND, None), (timeline.end_ns + 10 * SECOND, None)]
        for at_ns, dark in [
            *((each.at_ns, each.dark) for each in timeline.moments if isinstance(each, Change) and each.god is god),
            *ends,
        ]:
            while (due := counter.deadline()) is not None and due < at_ns:
                events += counter.advance(due)
                slot.advance(due // US)
                assert slot.beam == counter.beam
            if dark is not None:
                events += counter.feed(Edge(at_ns, dark))
                slot.feed(at_ns // US, dark)
            assert slot.beam == counter.beam
        assert slot.tokens == tokens_of(events)


def test_a_clock_that_wraps_between_two_tokens_makes_no_third(core: ctypes.CDLL) -> None:
    limits = Limits(3_000, 5_000, 250_000, 100_000, 1_000_000, 60)
    slot = Slot(core, limits, False, 0)
    slot.feed(10_000, True)
    slot.feed(22_000, False)
    for now in range(0, 2**32 + 30_000, 2**29):
        slot.advance(22_000 + now)
    # One turn of the clock later, just as the first token ended.
    slot.feed(2**32 + 23_000, True)
    slot.feed(2**32 + 35_000, False)
    slot.advance(2**32 + 60_000)
    assert [width for _, width, _ in slot.tokens] == [12_000, 12_000]


def test_a_jam_of_half_a_day_is_one_token_and_clears(core: ctypes.CDLL) -> None:
    limits = Limits(3_000, 5_000, 250_000, 100_000, 1_000_000, 60)
    slot = Slot(core, limits, False, 0)
    slot.feed(1_000, True)
    for now in range(0, 43_200_000_000, 400_000_000):
        slot.advance(now)
    assert (slot.beam, len(slot.tokens)) == ("jammed", 1)
    slot.feed(43_200_000_000, False)
    slot.advance(43_200_010_000)
    assert (slot.beam, len(slot.tokens)) == ("clear", 1)

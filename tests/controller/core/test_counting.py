"""What edges mean: the law of counting for every train, and each fault by itself."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.core.counting import (
    JAM_PATIENCE,
    LATE_EDGE,
    MS,
    SECOND,
    STARTING,
    BeamChanged,
    Counter,
    Detection,
    Edge,
    Event,
    Glitch,
    Limits,
    MissedEdge,
)
from templo.contract import Beam, Flag

LIMITS = Limits()
PLENTY = Limits(flicker=1_000_000)


def edges(*spells: tuple[float, float]) -> list[Edge]:
    """Return the edges of dark spells that begin and end at milliseconds."""
    return [Edge(round(ms * MS), dark) for begin, end in spells for ms, dark in ((begin, True), (end, False))]


def fed(counter: Counter, train: Iterable[Edge], until_ms: float | None = None) -> list[Event]:
    events = [event for edge in train for event in counter.feed(edge)]
    if until_ms is not None:
        events += counter.advance(round(until_ms * MS))
    return events


def tokens(events: list[Event]) -> list[Detection]:
    return [event for event in events if isinstance(event, Detection)]


def beams(events: list[Event]) -> list[Beam]:
    return [event.beam for event in events if isinstance(event, BeamChanged)]


def fresh(limits: Limits = LIMITS) -> Counter:
    return Counter(limits, dark=False, since_ns=0)


# -- the law --

durations = st.integers(1, 400 * MS) | st.sampled_from(
    [
        *(limit + nudge for limit in (LIMITS.min_break, LIMITS.min_clear, LIMITS.max_break) for nudge in (-1, 0, 1)),
        *(ms * MS for ms in (1, 2, 4, 8, 30)),
    ]
)


@st.composite
def trains(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Dark spells as begin and end, by alternating clear and dark durations."""
    at, spells = 1000, []
    for clear, dark in draw(st.lists(st.tuples(durations, durations), max_size=25)):
        at += clear
        spells.append((at, at + dark))
        at += dark
    return spells


@st.composite
def deliveries(draw: st.DrawFn, spells: list[tuple[int, int]]) -> list[Edge | int]:
    """The edges of a train in order, each as late as it likes, with the clock's ticks between them."""
    train = [Edge(at, dark) for begin, end in spells for at, dark in ((begin, True), (end, False))]
    delays = draw(st.lists(st.integers(0, 60 * MS), min_size=len(train), max_size=len(train)))
    story: list[Edge | int] = []
    now = 0
    for edge, delay in zip(train, delays, strict=True):
        while draw(st.booleans()):
            now += draw(st.integers(0, 40 * MS))
            if now >= edge.at_ns + delay:
                break
            story.append(now)
        now = max(now, edge.at_ns + delay)
        story.append(edge)
    return story


def expected_tokens(spells: list[tuple[int, int]], limits: Limits) -> list[int]:
    """Where the law sees tokens begin, looking at the whole train at once."""
    merged: list[tuple[int, int]] = []
    for begin, end in spells:
        if merged and begin - merged[-1][1] < limits.min_clear:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((begin, end))
    return [begin for begin, end in merged if end - begin >= limits.min_break]


@given(st.data())
def test_spells_with_short_gaps_are_one_token_however_late_their_edges_come(data: st.DataObject) -> None:
    spells = data.draw(trains())
    counter = fresh(PLENTY)
    events: list[Event] = []
    for step in data.draw(deliveries(spells)):
        events += counter.feed(step) if isinstance(step, Edge) else counter.advance(step)
    events += counter.advance(10**15)
    assert [token.start_ns for token in tokens(events)] == expected_tokens(spells, PLENTY)
    assert counter.deadline() is None
    assert counter.missed_edges == 0


@given(st.data())
def test_glitches_are_counted_the_same_however_late_their_edges_come(data: st.DataObject) -> None:
    spells = data.draw(trains())
    late, punctual = fresh(PLENTY), fresh(PLENTY)
    for step in data.draw(deliveries(spells)):
        if isinstance(step, Edge):
            late.feed(step)
        else:
            late.advance(step)
    for begin, end in spells:
        punctual.feed(Edge(begin, True))
        punctual.feed(Edge(end, False))
    late.advance(10**15)
    punctual.advance(10**15)
    assert late.glitches == punctual.glitches


@given(st.data())
def test_the_deadline_is_when_the_clock_next_has_something_to_say(data: st.DataObject) -> None:
    counter = Counter(LIMITS, dark=data.draw(st.booleans()), since_ns=0)
    fed(counter, [Edge(at, dark) for begin, end in data.draw(trains()) for at, dark in ((begin, True), (end, False))])
    if data.draw(st.booleans()):
        counter.feed(Edge(counter.last_ns + data.draw(durations), True))
    for _ in range(5):
        if (deadline := counter.deadline()) is None:
            break
        assert counter.advance(deadline - 1) == []
        counter.advance(deadline)
        assert counter.deadline() != deadline
    assert counter.advance(10**18) == []


@given(st.lists(st.tuples(st.integers(-(10**12), 10**12), st.booleans() | st.none()), max_size=60), st.booleans())
def test_nothing_that_a_line_can_do_breaks_the_counter(story: list[tuple[int, bool | None]], dark: bool) -> None:
    counter = Counter(LIMITS, dark, since_ns=0)
    counted = rises = 0
    for at_ns, level in story:
        if level is None:
            counted += len(tokens(counter.advance(at_ns)))
        else:
            rises += level
            counted += len(tokens(counter.feed(Edge(at_ns, level))))
    assert counted <= rises


@given(
    st.lists(
        st.tuples(
            st.integers(-20, 12) | st.integers(-1, 400),
            st.sampled_from(["edge", "edge", "edge", "tick", "read"]),
            st.booleans(),
        )
    ),
    st.booleans(),
)
def test_what_is_certain_becomes_exactly_one_token_that_began_with_it(
    story: list[tuple[int, str, bool]], dark: bool
) -> None:
    counter = Counter(Limits(band=30 * MS, flicker=20), dark, since_ns=0)
    at_ns, certain = SECOND, None
    for later_ms, kind, odd in [*story, (10_000, "tick", False)]:
        at_ns += later_ms * MS
        if kind == "tick":
            events = counter.advance(at_ns)
        elif kind == "read":
            events = counter.resync(at_ns, odd)
        else:
            events = counter.feed(Edge(at_ns, counter.dark is (later_ms == 11)))
        reported = [event for event in events if isinstance(event, Detection | Glitch)]
        if certain is not None and reported:
            assert isinstance(reported[0], Detection)
            assert reported[0].start_ns == certain.start_ns
            assert reported[0].width_ns >= certain.width_ns
            assert reported[0].flags >= certain.flags - {Flag.OVERLAP}
            certain = None
        if (now := counter.certain()) is not None:
            assert certain is None or certain.start_ns == now.start_ns
            assert counter.dark is False
            certain = now
    assert certain is None


# -- tokens, jams, glitches --


def test_a_clean_spell_is_reported_when_it_has_been_clear_for_long_enough() -> None:
    counter = fresh()
    assert tokens(fed(counter, edges((10, 22)))) == []
    assert counter.deadline() == 27 * MS
    assert counter.advance(27 * MS - 1) == []
    assert counter.advance(27 * MS) == [Detection(10 * MS, 12 * MS)]


def test_a_spell_is_certain_from_its_clear_edge_until_it_is_reported_or_the_beam_is_dark_again() -> None:
    counter = fresh()
    fed(counter, [Edge(10 * MS, True)])
    assert counter.certain() is None
    counter.feed(Edge(22 * MS, False))
    assert counter.certain() == Detection(10 * MS, 12 * MS)
    counter.feed(Edge(24 * MS, True))
    assert counter.certain() is None
    counter.feed(Edge(25 * MS, False))
    assert counter.certain() == Detection(10 * MS, 15 * MS)
    counter.advance(30 * MS)
    assert counter.certain() is None
    fed(counter, edges((100, 102)))
    assert counter.certain() is None


def test_a_spell_that_is_too_short_is_a_glitch_and_no_token() -> None:
    counter = fresh()
    events = fed(counter, edges((10, 12), (100, 112)), until_ms=200)
    assert [event for event in events if isinstance(event, Glitch)] == [Glitch(10 * MS, 2 * MS)]
    assert len(tokens(events)) == 1
    assert counter.glitches == 1


def test_a_glitch_that_a_late_edge_lengthens_becomes_one_token() -> None:
    counter = fresh()
    assert tokens(fed(counter, edges((10, 12)), until_ms=30)) == []
    assert counter.glitches == 1
    events = fed(counter, edges((16, 20)), until_ms=40)
    assert tokens(events) == [Detection(10 * MS, 10 * MS)]
    assert counter.glitches == 0


def test_a_token_that_was_reported_goes_on_with_a_late_edge_and_is_not_reported_again() -> None:
    counter = fresh()
    assert len(tokens(fed(counter, edges((10, 20)), until_ms=30))) == 1
    assert tokens(fed(counter, edges((24, 40)), until_ms=60)) == []


def test_a_stuck_beam_is_one_token_flagged_jam_once_and_clears_without_another() -> None:
    counter = fresh()
    events = fed(counter, [Edge(10 * MS, True)])
    assert counter.deadline() == 10 * MS + LIMITS.max_break + JAM_PATIENCE
    events += counter.advance(1 * SECOND)
    assert [token.flags for token in tokens(events)] == [{Flag.JAM}]
    assert beams(events) == [Beam.CLEAR, Beam.JAMMED]
    assert counter.advance(3600 * SECOND) == []
    events = fed(counter, [Edge(3601 * SECOND, False)], until_ms=3_602_000)
    assert events == [BeamChanged(Beam.CLEAR)]


def test_an_edge_on_its_way_keeps_the_clock_from_calling_a_jam() -> None:
    counter = fresh()
    counter.feed(Edge(0, True))
    assert counter.advance(LIMITS.max_break + JAM_PATIENCE - 1) == []
    (token,) = tokens(fed(counter, [Edge(LIMITS.max_break - 1, False)], until_ms=400))
    assert token.flags == frozenset()


def test_a_spell_that_reaches_the_limit_to_the_nanosecond_is_a_jam() -> None:
    for width, flags in ((LIMITS.max_break - 1, set()), (LIMITS.max_break, {Flag.JAM})):
        counter = fresh()
        (token,) = tokens(fed(counter, [Edge(1, True), Edge(1 + width, False)], until_ms=1000))
        assert token.flags == flags


def test_a_spell_wider_than_the_learned_band_is_an_overlap() -> None:
    limits = Limits(band=30 * MS)
    events = fed(Counter(limits, False, 0), edges((10, 40), (100, 131), (200, 600)), until_ms=1000)
    assert [token.flags for token in tokens(events)] == [frozenset(), {Flag.OVERLAP}, {Flag.JAM}]


# -- the beam --


def test_a_beam_is_unproved_until_it_gave_an_edge() -> None:
    counter = fresh()
    shown = [counter.beam]
    counter.feed(Edge(5, True))
    assert [*shown, counter.beam] == [Beam.UNPROVED, Beam.CLEAR]


def test_a_beam_that_its_emitter_proved_is_clear_from_the_start() -> None:
    assert Counter(LIMITS, False, 0, proved=True).beam is Beam.CLEAR


def test_dark_at_the_start_is_a_fault_and_no_token_until_it_has_been_clear() -> None:
    counter = Counter(LIMITS, dark=True, since_ns=0)
    assert counter.beam is Beam.DARK
    assert counter.advance(3600 * SECOND) == []
    # A clear moment shorter than min_clear is no clear beam.
    assert fed(counter, [Edge(4000 * SECOND, False), Edge(4000 * SECOND + 4 * MS, True)]) == []
    events = fed(counter, [Edge(4001 * SECOND, False)], until_ms=4_002_000)
    assert events == [BeamChanged(Beam.CLEAR)]
    later = 4_003_000
    assert len(tokens(fed(counter, edges((later, later + 12)), until_ms=later + 100))) == 1


def test_an_edge_older_than_the_level_that_was_read_is_in_that_level_already() -> None:
    counter = Counter(LIMITS, dark=True, since_ns=100 * MS)
    assert counter.feed(Edge(99 * MS, True)) == []
    assert counter.missed_edges == 0


def test_the_first_edge_may_repeat_the_level_that_was_read_after_it() -> None:
    for dark in (True, False):
        counter = Counter(LIMITS, dark, since_ns=0)
        events = counter.feed(Edge(1, dark))
        assert counter.missed_edges == 0
        assert not [event for event in events if isinstance(event, MissedEdge)]


def spells_at(per_second: int, seconds: float, start_ms: float = 0) -> list[tuple[float, float]]:
    step = 1000 / per_second
    return [(start_ms + n * step, start_ms + n * step + step / 2) for n in range(round(per_second * seconds))]


def test_fifty_tokens_a_second_all_count() -> None:
    counter = fresh()
    events = fed(counter, edges(*spells_at(50, 4)), until_ms=10_000)
    assert len(tokens(events)) == 200
    assert Beam.FLICKER not in beams(events)


def test_flicker_is_a_fault_that_counts_nothing_while_it_lasts_and_ends_after_a_calm_second() -> None:
    counter = fresh()
    events = fed(counter, edges(*spells_at(90, 5)))
    assert len(tokens(events)) <= LIMITS.flicker
    assert beams(events) == [Beam.CLEAR, Beam.FLICKER]
    assert counter.advance(counter.last_ns + SECOND - 1) == []
    assert counter.deadline() == counter.last_ns + SECOND
    assert counter.advance(counter.last_ns + SECOND) == [BeamChanged(Beam.CLEAR)]
    assert len(tokens(fed(counter, edges((7000, 7012)), until_ms=7100))) == 1


def test_a_token_within_the_second_after_flicker_is_part_of_it() -> None:
    counter = fresh()
    fed(counter, edges(*spells_at(90, 2)))
    end_ms = counter.last_ns / MS
    assert tokens(fed(counter, edges((end_ms + 900, end_ms + 912)), until_ms=end_ms + 5000)) == []


def test_the_clock_may_end_a_flicker_before_a_late_edge_of_it_comes() -> None:
    counter = fresh()
    fed(counter, edges(*spells_at(90, 2)))
    end_ns = counter.last_ns
    assert counter.advance(end_ns + 2 * SECOND) == [BeamChanged(Beam.CLEAR)]
    events = fed(counter, [Edge(end_ns + 500 * MS, True), Edge(end_ns + 510 * MS, False)])
    events += counter.advance(end_ns + 3 * SECOND)
    assert tokens(events) == []
    assert beams(events) == [Beam.FLICKER, Beam.CLEAR]


def test_flicker_that_ends_in_the_dark_is_a_blocked_beam_and_no_token() -> None:
    counter = fresh()
    fed(counter, edges(*spells_at(90, 2)))
    dark_ns = counter.last_ns + 6 * MS
    events = fed(counter, [Edge(dark_ns, True)]) + counter.advance(dark_ns + 10 * SECOND)
    assert events == [BeamChanged(Beam.JAMMED)]
    assert fed(counter, [Edge(dark_ns + 11 * SECOND, False)], until_ms=10**6) == [BeamChanged(Beam.CLEAR)]


# -- missed edges --


def test_dark_twice_is_one_token_flagged() -> None:
    counter = fresh()
    events = fed(counter, [Edge(10 * MS, True), Edge(40 * MS, True), Edge(52 * MS, False)], until_ms=100)
    assert [token.flags for token in tokens(events)] == [{Flag.MISSED_EDGE}]
    assert counter.missed_edges == 1
    assert MissedEdge(40 * MS, True) in events


@pytest.mark.parametrize("dark", [True, False])
def test_the_first_edge_shows_a_loss_once_it_cannot_be_in_the_first_level_any_more(dark: bool) -> None:
    counter = Counter(LIMITS, dark, since_ns=0)
    assert MissedEdge(STARTING, dark) in counter.feed(Edge(STARTING, dark))
    assert counter.missed_edges == 1


def test_a_token_whose_last_edge_is_lost_is_counted_once_its_beam_was_read_clear_and_is_no_jam() -> None:
    counter = fresh()
    counter.feed(Edge(0, True))
    read_ns = LIMITS.max_break + JAM_PATIENCE
    assert counter.advance(read_ns, lambda: False) == []
    end_ns = read_ns + LATE_EDGE + JAM_PATIENCE
    assert counter.advance(end_ns, lambda: False) == [
        MissedEdge(end_ns, False),
        Detection(0, read_ns, frozenset({Flag.MISSED_EDGE})),
    ]
    assert counter.deadline() is None


def test_the_edge_that_comes_even_later_adds_no_token_and_no_second_loss() -> None:
    counter = fresh()
    counter.feed(Edge(0, True))
    for at_ns in (400 * MS, 3 * SECOND):
        counter.advance(at_ns, lambda: False)
    late = fed(counter, [Edge(12 * MS, False), *edges((100, 112))], until_ms=5000)
    assert tokens(late) == [Detection(100 * MS, 12 * MS)]
    assert counter.missed_edges == 1


def test_the_next_token_is_another_when_the_beam_was_read_clear_in_between() -> None:
    counter = fresh()
    counter.feed(Edge(0, True))
    assert counter.advance(400 * MS, lambda: False) == []
    events = fed(counter, edges((600, 612)), until_ms=700)
    assert tokens(events) == [Detection(0, 400 * MS, frozenset({Flag.MISSED_EDGE})), Detection(600 * MS, 12 * MS)]
    assert counter.missed_edges == 1


@given(st.integers(1, 200), st.integers(1, 200), st.booleans())
def test_an_edge_that_is_lost_never_makes_two_of_one(width_ms: int, gap_ms: int, last: bool) -> None:
    """There are at most as many tokens as fell, and the loss is known."""
    counter = fresh()
    second = round(400 + width_ms + gap_ms)
    train = [edge for pair in ((2000, 2000 + width_ms), (2000 + second, 2012 + second)) for edge in edges(pair)]
    del train[1 if last else 0]
    counted = []
    for edge, following in zip(train, [*train[1:], None], strict=True):
        counted += counter.feed(edge)
        until_ns = edge.at_ns + 10 * SECOND if following is None else following.at_ns
        while (due := counter.deadline()) is not None and due < until_ns:
            counted += counter.advance(due, lambda: False)
    assert len(tokens(counted)) == (2 if last else 1)
    assert counter.missed_edges == 1


def test_a_level_that_was_read_before_the_latest_edge_shortens_no_token() -> None:
    counter = fresh()
    fed(counter, [*edges((10, 22)), Edge(24 * MS, True)])
    assert counter.resync(11 * MS, False) == []
    assert tokens(fed(counter, [Edge(30 * MS, False)]) + counter.advance(40 * MS)) == [Detection(10 * MS, 20 * MS)]


def test_a_token_in_its_quiet_is_counted_although_its_beam_is_read_dark() -> None:
    counter = fresh()
    fed(counter, edges((10, 22)))
    assert tokens(counter.resync(24 * MS, True)) == [Detection(10 * MS, 12 * MS, frozenset({Flag.MISSED_EDGE}))]
    assert tokens(counter.advance(SECOND)) == []


@pytest.mark.parametrize("second_ms", [23, 60])
def test_clear_twice_makes_no_second_token(second_ms: int) -> None:
    counter = fresh()
    events = fed(counter, [*edges((10, 20)), Edge(second_ms * MS, False)], until_ms=100)
    assert len(tokens(events)) == 1
    assert counter.missed_edges == 1


def test_a_level_that_was_read_against_the_edges_is_a_missed_edge_and_never_a_token() -> None:
    counter = fresh()
    assert counter.resync(10 * SECOND, False) == []
    assert counter.resync(10 * SECOND, True) == [MissedEdge(10 * SECOND, True), BeamChanged(Beam.DARK)]
    assert counter.advance(20 * SECOND) == []
    assert counter.resync(30 * SECOND, False) == [MissedEdge(30 * SECOND, False), BeamChanged(Beam.UNPROVED)]
    assert counter.missed_edges == 2


def test_a_jam_whose_end_was_missed_is_cleared_by_reading_the_level() -> None:
    counter = fresh()
    fed(counter, [Edge(0, True)], until_ms=1000)
    assert tokens(counter.resync(5 * SECOND, False)) == []
    assert counter.beam is Beam.UNPROVED
    assert len(tokens(fed(counter, edges((6000, 6012)), until_ms=6100))) == 1

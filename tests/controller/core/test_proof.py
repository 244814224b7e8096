"""Switched emitters prove the beams by themselves: when they do, and that no token is lost or made by it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.adapters import pulse as adapter
from controller.core.counting import MS, SECOND, Counter, Detection, Edge, Limits
from controller.core.diagnosis import Answer
from controller.core.messages import EdgeSeen
from controller.core.proof import ANSWER_NS, SETTLED_NS, Proofs, Pulse
from templo import contract
from templo.contract import Beam, Emitters, God
from tests.controller.rig import Rig

GOOD = Answer(lit_dark=False, unlit_dark=True, edge_seen=True)
LAMP = Answer(lit_dark=False, unlit_dark=False, edge_seen=False)
NOTHING = Answer(lit_dark=True, unlit_dark=True, edge_seen=False)
T, H = God.TLALOC, God.HUITZILOPOCHTLI


# -- which edges are the pulse's --


def crossing(spells: list[tuple[int, int]], off_ns: int, on_ns: int, lag_ns: int) -> list[Edge]:
    """Return the edges of a beam that is dark while a token is in it, or while its receiver sees no emitter."""
    dark = [(begin, end) for begin, end in spells if begin < end] + [(off_ns + lag_ns, on_ns + lag_ns)]
    moments = sorted({at_ns for spell in dark for at_ns in spell})
    edges: list[Edge] = []
    for at_ns in moments:
        level = any(begin <= at_ns < end for begin, end in dark)
        if level != (edges[-1].dark if edges else False):
            edges.append(Edge(at_ns, level))
    return edges


def counted(edges: list[Edge], pulse: Pulse | None, arrives: int = 0) -> int:
    """Return how many tokens are counted; the pulse is judged after so many edges at the latest."""
    counter, proofs = Counter(Limits(), dark=False, since_ns=0), Proofs(0)
    events = []
    if pulse is not None:
        proofs.begin(pulse, Limits().min_clear)
    for number, edge in enumerate(edges):
        if (
            pulse is not None
            and proofs.settled_ns is not None
            and number == arrives
            and edge.at_ns > proofs.settled_ns
        ):
            freed, _ = proofs.settle(dict.fromkeys(God, number > 0 and edges[number - 1].dark))
            for each in freed[T]:
                events += counter.feed(each)
        for each in proofs.take(T, edge, counter.dark):
            events += counter.feed(each)
    if pulse is not None and proofs.settled_ns is not None:
        freed, _ = proofs.settle(dict.fromkeys(God, False))
        for each in freed[T]:
            events += counter.feed(each)
    events += counter.advance(10**12)
    return sum(isinstance(event, Detection) for event in events)


@given(
    begin=st.integers(-40 * MS, 120 * MS),
    width=st.integers(9 * MS, 240 * MS) | st.sampled_from([0, 2 * MS]),
    dark_for=st.sampled_from([MS // 2, 2 * MS, 5 * MS, 80 * MS]),
    lag=st.integers(1, ANSWER_NS - 1),
    late=st.integers(0, 4),
)
def test_a_token_that_meets_a_pulse_is_one_token_and_a_pulse_is_none(
    begin: int, width: int, dark_for: int, lag: int, late: int
) -> None:
    """Also on a machine that lets 80 ms pass instead of 2, which hides a token that begins and ends within them."""
    off_ns = SECOND
    on_ns = off_ns + dark_for
    token = (off_ns + begin, off_ns + begin + width)
    if token[0] >= off_ns and token[1] <= on_ns + ANSWER_NS:
        return
    pulse = Pulse(off_ns, on_ns, on_ns, {T: GOOD, H: GOOD})
    if width >= Limits().min_break:
        assert counted(crossing([token], off_ns, on_ns, lag), pulse, late) == 1
    elif width == 0:
        assert counted(crossing([], off_ns, on_ns, lag), pulse, late) == 0


@given(
    tokens=st.lists(st.tuples(st.integers(9, 40), st.integers(6, 60)), max_size=12),
    off_ms=st.integers(0, 1200),
    lag=st.integers(1, ANSWER_NS - 1),
)
def test_tokens_in_a_row_are_as_many_with_a_pulse_as_without(
    tokens: list[tuple[int, int]], off_ms: int, lag: int
) -> None:
    spells, at_ns = [], SECOND
    for width_ms, gap_ms in tokens:
        spells.append((at_ns, at_ns + width_ms * MS))
        at_ns += (width_ms + gap_ms) * MS
    off_ns = SECOND // 2 + off_ms * MS
    on_ns = off_ns + 2 * MS
    # Tokens 10 ms apart stay apart: the pulse may darken what is left of the gap for less than `min_clear`.
    spells = [(begin, end) for begin, end in spells if not end - 5 * MS < off_ns + lag < end + 10 * MS]
    gaps = [on_ns + lag + 5 * MS < begin or on_ns + lag > begin for begin, _ in spells if begin > off_ns]
    if not all(gaps):
        return
    pulse = Pulse(off_ns, on_ns, on_ns, {T: GOOD, H: GOOD})
    assert counted(crossing(spells, off_ns, on_ns, lag), pulse) == len(spells)


def test_a_reversed_beams_bright_pulse_is_no_jam() -> None:
    pulse = Pulse(SECOND, SECOND + 3 * MS, SECOND + 3 * MS, {})
    proofs = Proofs(0)
    proofs.begin(pulse, Limits().min_clear)
    assert proofs.take(T, Edge(SECOND + MS, False), dark=True) == []
    assert proofs.take(T, Edge(SECOND + 4 * MS, True), dark=True) == []


def test_a_pulse_whose_end_is_never_reported_leaves_a_clear_beam_clear_and_its_late_edge_changes_nothing() -> None:
    pulse = Pulse(SECOND, SECOND + 3 * MS, SECOND + 3 * MS, {T: GOOD, H: GOOD})
    proofs = Proofs(0)
    proofs.begin(pulse, Limits().min_clear)
    assert proofs.take(T, Edge(SECOND + MS, True), dark=False) == []
    freed, answers = proofs.settle(dict.fromkeys(God, False))
    assert freed == {T: [], H: []}
    assert answers[T] == GOOD
    assert proofs.take(T, Edge(SECOND + 4 * MS, False), dark=False) == []
    later = [Edge(2 * SECOND, True), Edge(2 * SECOND + 12 * MS, False)]
    assert [each for edge in later for each in proofs.take(T, edge, dark=edge is later[1])] == later


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("dark", [False, True])
def test_a_pulse_of_which_the_kernel_loses_an_edge_is_no_missed_edge_of_a_token(lost: int, dark: bool) -> None:
    pulse = Pulse(SECOND, SECOND + 3 * MS, SECOND + 3 * MS, {T: LAMP, H: GOOD})
    proofs = Proofs(0)
    proofs.begin(pulse, Limits().min_clear)
    edges = [Edge(SECOND + MS, not dark), Edge(SECOND + 4 * MS, dark)]
    assert proofs.take(T, edges[1 - lost], dark) == []
    assert proofs.settle(dict.fromkeys(God, dark))[0][T] == []
    token = [Edge(2 * SECOND, not dark), Edge(2 * SECOND + 12 * MS, dark)]
    assert [each for edge in token for each in proofs.take(T, edge, dark=dark != (edge is token[1]))] == token


def test_a_token_that_stays_in_the_beam_is_counted_once_the_pulse_is_judged() -> None:
    pulse = Pulse(SECOND, SECOND + 3 * MS, SECOND + 3 * MS, {T: NOTHING, H: GOOD})
    proofs = Proofs(0)
    proofs.begin(pulse, Limits().min_clear)
    edge = Edge(SECOND + MS, True)
    assert proofs.take(T, edge, dark=False) == []
    freed, answers = proofs.settle({T: True, H: False})
    assert freed[T] == [edge]
    assert answers == {H: GOOD}


# -- how the emitters are switched --


class World:
    """Two receivers that follow their emitter after a while, on a machine that takes its time."""

    def __init__(self, lag_ns: int, slow_ns: int = 0) -> None:
        self.now_ns, self.lag_ns, self.slow_ns = SECOND, lag_ns, slow_ns
        self.lit, self.since_ns, self.switched = True, 0, list[bool]()

    def switch(self, lit: bool) -> None:
        self.lit, self.since_ns = lit, self.now_ns
        self.switched.append(lit)

    def dark(self, god: God) -> bool:
        return self.lit != (self.now_ns - self.since_ns >= self.lag_ns)

    def sleep(self, seconds: float) -> None:
        self.now_ns += max(round(seconds * SECOND), self.slow_ns)

    def send(self) -> Pulse:
        return adapter.send(self.switch, self.dark, lambda _: len(self.switched), lambda: self.now_ns, self.sleep)


def test_the_emitters_are_off_only_for_as_long_as_the_receivers_need() -> None:
    world = World(lag_ns=MS)
    pulse = world.send()
    assert pulse.on_ns - pulse.off_ns < 2 * MS
    assert pulse.answers == {T: GOOD, H: GOOD}
    assert world.switched == [False, True]


def test_on_a_machine_that_sleeps_for_80_ms_the_pulse_is_as_long_as_it_says() -> None:
    pulse = World(lag_ns=MS, slow_ns=80 * MS).send()
    assert pulse.on_ns - pulse.off_ns == 80 * MS
    assert pulse.answers == {T: GOOD, H: GOOD}


def test_a_receiver_that_does_not_follow_keeps_the_emitters_off_for_a_few_milliseconds() -> None:
    pulse = World(lag_ns=SECOND).send()
    assert pulse.on_ns - pulse.off_ns < 4 * MS


def test_the_emitters_are_switched_on_again_whatever_happens() -> None:
    world = World(lag_ns=MS)

    def fail(god: God) -> bool:
        raise OSError("the chip is gone")

    with pytest.raises(OSError, match="gone"):
        adapter.send(world.switch, fail, lambda _: 0, time.monotonic_ns, world.sleep)
    assert world.switched == [False, True]


# -- when, and what becomes of it --


class Proved:
    """A temple with switched emitters, and when they were switched."""

    def __init__(self, folder: Path) -> None:
        self.answers = {T: GOOD, H: GOOD}
        self.at_s: list[int] = []
        self.rig = Rig(folder, prove=self._prove)
        self.rig.beams.capabilities = replace(self.rig.beams.capabilities, emitters=Emitters.SWITCHED)
        self.begin_ns = self.rig.now_ns
        # As at a start that has just proved both beams.
        self.slots = self.rig.pipeline._slots
        self.slots._proofs = Proofs(self.begin_ns)
        for counter in self.rig.pipeline.counters.values():
            counter._last_ns = self.begin_ns

    def _prove(self) -> dict[God, Answer]:
        self.at_s.append(round((self.rig.now_ns - self.begin_ns) / SECOND))
        return self.answers

    def wait(self, seconds: float) -> None:
        """Let time pass as the pipeline's thread does: from one moment that is due to the next."""
        end_ns = self.rig.now_ns + round(seconds * SECOND)
        while (patience := self.rig.pipeline.patience()) is not None:
            due_ns = self.rig.now_ns + round(patience * SECOND) + 1
            if due_ns >= end_ns:
                break
            self.rig.now_ns = due_ns
            self.rig.take()
        self.rig.now_ns = end_ns
        self.rig.take()

    def codes(self, god: God = T) -> list[str]:
        return [each.code for each in self.rig.pipeline.reporter.findings(self.rig.now_ns, None).beams[god]]  # type: ignore[arg-type]


@pytest.fixture
def temple(tmp_path: Path) -> Proved:
    return Proved(tmp_path)


def test_the_beams_are_proved_after_ten_seconds_of_quiet_and_then_each_minute(temple: Proved) -> None:
    temple.wait(200)
    assert temple.at_s == [10, 70, 130, 190]


def test_after_a_token_they_are_proved_after_ten_more_seconds_of_quiet(temple: Proved) -> None:
    temple.wait(20)
    temple.rig.token()
    temple.wait(20)
    assert temple.at_s == [10, 30]


def test_where_tokens_keep_falling_a_second_of_quiet_is_enough_after_a_minute(temple: Proved) -> None:
    for number in range(30):
        temple.rig.token()
        temple.wait(2.9 + number % 2 / 5)
    assert temple.at_s == [60]
    assert len(temple.rig.ledger()) == 30


def test_emitters_that_are_always_on_are_never_switched(temple: Proved) -> None:
    temple.rig.beams.capabilities = replace(temple.rig.beams.capabilities, emitters=Emitters.FIXED)
    temple.wait(200)
    assert temple.at_s == []
    assert temple.slots.unproved_since(T) is None


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (LAMP, "no_answer"),
        (NOTHING, "no_light"),
        (Answer(lit_dark=True, unlit_dark=False, edge_seen=True), "reversed"),
        (Answer(lit_dark=False, unlit_dark=True, edge_seen=False), "deaf"),
    ],
)
def test_a_beam_that_can_no_longer_be_proved_is_reported_within_a_minute(
    temple: Proved, answer: Answer, code: str
) -> None:
    temple.wait(15)
    assert temple.codes() == []
    temple.answers = {T: answer, H: GOOD}
    temple.wait(60)
    assert temple.codes() == [code]
    assert temple.codes(H) == []
    assert temple.rig.pipeline.counters[T].beam is Beam.UNPROVED
    proved_ns = temple.slots.unproved_since(T)
    assert proved_ns is not None
    assert round((proved_ns - temple.begin_ns) / SECOND) == 10
    assert temple.slots.unproved_since(H) is None


def test_a_beam_whose_edges_are_lost_once_is_proved_a_second_later_and_not_reported(temple: Proved) -> None:
    temple.answers = {T: replace(GOOD, edge_seen=False), H: GOOD}
    temple.wait(10.1)
    temple.answers = {T: GOOD, H: GOOD}
    for _ in range(30):
        temple.wait(0.1)
        assert temple.codes() == []
        assert temple.slots.unproved_since(T) is None
    assert temple.at_s == [10, 11]


def test_what_an_unproved_beam_counted_since_its_last_proof_and_counts_until_the_next_is_doubted(
    temple: Proved, expects_warnings: None
) -> None:
    temple.rig.connect()
    temple.wait(15)
    temple.rig.token()
    temple.answers = {T: LAMP, H: GOOD}
    temple.wait(58)
    temple.rig.token()
    temple.wait(12)
    temple.answers = {T: GOOD, H: GOOD}
    temple.wait(65)
    temple.rig.token()
    temple.wait(1)
    before, after, later = [token.token for token in temple.rig.ledger()]
    doubts = [each for each in temple.rig.broker.published if isinstance(each, contract.Doubt)]
    assert list(dict.fromkeys(token for doubt in doubts for token in doubt.tokens)) == [before, after]
    assert {doubt.reason for doubt in doubts} == {"unproved"}
    assert later not in {token for doubt in doubts for token in doubt.tokens}


@pytest.mark.usefixtures("expects_warnings")
def test_what_falls_through_an_unproved_beam_does_not_prove_it_and_a_good_answer_does(temple: Proved) -> None:
    temple.answers = {T: LAMP, H: GOOD}
    temple.wait(15)
    temple.rig.token()
    assert temple.codes() == ["no_answer"]
    assert temple.rig.pipeline.counters[T].beam is Beam.UNPROVED
    temple.answers = {T: GOOD, H: GOOD}
    temple.wait(2)
    assert temple.codes() == []
    assert temple.rig.pipeline.counters[T].beam is Beam.CLEAR
    assert temple.slots.unproved_since(T) is None


def test_a_proof_that_a_token_interrupts_is_void_and_tried_again(temple: Proved) -> None:
    temple.answers = {T: NOTHING, H: GOOD}  # the token darkens it while the emitter is on
    at_ns = temple.begin_ns + 10 * SECOND
    temple.wait(10.001)
    assert temple.at_s == [10]
    temple.answers = {T: GOOD, H: GOOD}
    temple.rig.take(EdgeSeen(T, at_ns - MS, True), EdgeSeen(T, at_ns + 11 * MS, False))
    temple.wait(15)
    assert temple.codes() == []
    assert temple.slots.unproved_since(T) is None
    assert temple.at_s == [10, 20]
    assert len(temple.rig.ledger()) == 1


@pytest.mark.usefixtures("expects_warnings")
def test_a_beam_that_is_blocked_stays_blocked_although_no_light_comes_through(temple: Proved) -> None:
    temple.rig.take(EdgeSeen(T, temple.rig.now_ns, True))
    temple.answers = {T: NOTHING, H: GOOD}
    temple.wait(30)
    assert temple.at_s
    assert temple.codes() == ["blocked"]
    assert temple.slots.unproved_since(T) is None


@pytest.mark.usefixtures("expects_warnings")
def test_a_beam_that_a_jam_darkens_before_its_fault_is_confirmed_is_not_proved_every_second(temple: Proved) -> None:
    temple.answers = {T: LAMP, H: GOOD}
    temple.wait(10.1)
    temple.answers = {T: NOTHING, H: GOOD}
    temple.rig.take(EdgeSeen(T, temple.rig.now_ns, True))
    temple.wait(100)
    assert temple.at_s == [10, 11, 71]


@pytest.mark.usefixtures("expects_warnings")
def test_emitters_that_cannot_be_switched_any_more_stop_no_token(
    temple: Proved, caplog: pytest.LogCaptureFixture
) -> None:
    prove: Callable[[], None] = lambda: (_ for _ in ()).throw(OSError("the chip is gone"))  # noqa: E731
    temple.rig.beams._prove = prove
    temple.wait(SETTLED_NS / SECOND + 10)
    temple.rig.token()
    assert "cannot be switched" in caplog.text
    assert len(temple.rig.ledger()) == 1

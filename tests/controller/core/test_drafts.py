"""Tokens that are recorded while they may still change: the same tokens, in order, published only when final."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.core.counting import MS, SECOND, Detection, Event, Limits
from controller.core.messages import DropRequest, EdgeSeen, LevelRead, MessageReceived
from controller.core.slots import Found, Slots
from templo import contract
from templo.contract import Flag, God, Trouble
from tests.controller.rig import NOON, Rig

# -- any train on two slots, with a disk that fails ------------------------------------------------------------------

Step: TypeAlias = tuple[str, God, int]
"""What happens, in which slot, and a number of milliseconds: how late an edge comes, or how long nothing does."""

slots = st.sampled_from(God)
_edges = st.tuples(st.sampled_from(["edge"] * 8 + ["repeat", "read"]), slots, st.sampled_from([0, 0, 0, 1, 4]))
_pauses = st.tuples(
    st.just("wait"), slots, st.sampled_from([1, 2, 3, 4, 5, 6, 12]) | st.sampled_from([30, 249, 400, 600])
)
_spells = st.tuples(st.just("spell"), slots, st.sampled_from([2, 3, 12, 12, 12, 240]))
_drops = st.tuples(st.just("drop"), slots, st.just(0))
_faults = st.tuples(st.sampled_from(["refuse", "heal", "lose"]), slots, st.just(0))
_usual = _spells | _pauses | _spells | _pauses | _edges | _drops
calm = st.lists(_usual, max_size=30) | st.lists(_usual, min_size=10, max_size=30)
faulty = st.lists(_usual | _faults, min_size=10, max_size=30)


class Tale:
    """A temple, and beside it what the same edges and the same clock give without drafts."""

    def __init__(self, folder: Path, opened: bool = True) -> None:
        self.rig = Rig(folder, opened)
        self.slots = Slots(self.rig.beams, self.rig.beams.open(lambda _: None), Limits())
        self.counted: dict[God, list[Detection]] = {god: [] for god in God}
        self.dropped = 0
        self.answers: list[Mapping[str, object]] = []
        self.rig.connect()

    def live(self, story: list[Step]) -> None:
        for kind, god, ms in story:
            now_ns = self.rig.now_ns
            dark = self.slots.counters[god].dark
            match kind:
                case "edge" | "repeat":
                    self.change(EdgeSeen(god, now_ns - ms * MS, dark is (kind == "repeat")))
                case "read":
                    self.change(LevelRead(god, now_ns, not dark))
                case "spell":
                    self.live([("edge", god, 0), ("wait", god, ms), ("edge", god, 0)])
                case "wait":
                    self.wait(ms * MS)
                case "drop":
                    self.dropped += 1
                    self.rig.pipeline._take(DropRequest(god, 1, 0, True, self.answers.append))
                case "refuse":
                    self.rig.disk.trouble = Trouble.LEDGER_FULL
                case "heal":
                    self.rig.disk.trouble = None
                case "lose":
                    self.rig.disk.fails_after_commit = True
            self.check()

    def change(self, item: EdgeSeen | LevelRead) -> None:
        """Let the pipeline and the slots beside it know of a level."""
        self.rig.beams.levels[item.god] = item.dark
        self.count(self.slots.take(item))
        self.rig.pipeline._take(item)

    def count(self, found: Found) -> None:
        """Add what the slots beside the pipeline found."""
        for god, events in found:
            self.counted[god] += _tokens(events)

    def wait(self, ns: int) -> None:
        """Let time pass, in two steps: what is due by itself is done on time."""
        for part_ns in (0, ns):
            self.count(self.slots.advance(self.rig.now_ns + part_ns))
            self.rig.take(after_ns=part_ns)

    def check(self) -> None:
        """Tokens are published in order, as they are for good, and every figure is of tokens that were published."""
        published = self.published()
        assert list(published) == list(range(1, len(published) + 1))
        seen = dict.fromkeys(God, 0)
        for token in published.values():
            if Flag.TEST not in token.flags:
                assert _facts(token) == _expected(self.counted[token.god][seen[token.god]])
                seen[token.god] += 1
        for message in self.rig.broker.published:
            if isinstance(message, contract.Count):
                assert sum(message.totals.values()) == message.seq <= len(published)
        if published:
            self.rig.pipeline._take(MessageReceived(contract.Ack("5" * 32, len(published))))

    def published(self) -> dict[int, contract.Token]:
        """Return the tokens in the order in which they were first published; none is ever published in two forms."""
        published: dict[int, contract.Token] = {}
        for message in self.rig.broker.published:
            if isinstance(message, contract.Token):
                token = replace(message, replayed=False)
                assert published.setdefault(message.seq, token) == token
        return published

    def end(self) -> None:
        """Let the disk work and everything come to its end."""
        self.rig.disk.trouble = None
        for _ in range(3):
            self.wait(SECOND)
            self.check()


def _tokens(events: list[Event]) -> list[Detection]:
    return [event for event in events if isinstance(event, Detection)]


def _facts(token: contract.Token) -> tuple[int, float | None, frozenset[str]]:
    return round((token.at - NOON).total_seconds() * 1000), token.width_ms, token.flags


def _expected(counted: Detection) -> tuple[int, float | None, frozenset[str]]:
    return counted.start_ns // MS, round(counted.width_ns / 1e6, 3), counted.flags


@contextlib.contextmanager
def tale(opened: bool = True) -> Iterator[Tale]:
    with tempfile.TemporaryDirectory() as folder:
        yield Tale(Path(folder), opened)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(story=faulty, opened=st.booleans())
@pytest.mark.usefixtures("expects_warnings")
def test_the_same_tokens_are_reported_in_order_and_as_they_are_for_good_whatever_the_disk_does(
    story: list[Step], opened: bool
) -> None:
    with tale(opened) as it:
        it.live(story)
        it.end()
        ledger = it.rig.ledger()
        assert list(it.published().values()) == ledger
        for god in God:
            kept = [_facts(token) for token in ledger if token.god is god and Flag.TEST not in token.flags]
            assert kept == [_expected(counted) for counted in it.counted[god]]
        assert len(it.answers) == it.dropped
        assert it.rig.pipeline.reporter.report()["unrecorded"] == 0


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(story=calm, killed=st.booleans())
@pytest.mark.usefixtures("expects_warnings")
def test_a_temple_that_ends_at_any_moment_leaves_true_tokens_and_its_next_run_publishes_them(
    story: list[Step], killed: bool
) -> None:
    with tale() as it:
        it.live(story)
        published = it.published()
        if not killed:
            it.rig.stop()
            assert len(it.answers) == it.dropped
            assert not any("error" in answer for answer in it.answers)
        left = it.rig.ledger()
        assert left[: len(published)] == list(published.values())
        for god in God:
            began = [_facts(token)[0] for token in left if token.god is god and Flag.TEST not in token.flags]
            counted = [_expected(counted)[0] for counted in it.counted[god]]
            whole = [*counted, *(_expected(last)[0] for last in _tokens(it.slots.counters[god].advance(10**15)))]
            assert began == whole[: len(began)]
            assert killed or len(began) >= len(counted)
        again = Rig(it.rig.disk.path.parent)
        delivered = again.pipeline.reporter.report()["delivered"]
        assert isinstance(delivered, int)
        assert delivered <= len(published)
        again.connect()
        assert [seq for seq, _ in again.broker.tokens()] == list(range(delivered + 1, len(left) + 1))[:20]


# -- one by one ------------------------------------------------------------------------------------------------------


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    rig = Rig(tmp_path)
    rig.connect()
    return rig


def spell(rig: Rig, god: God, dark_ms: int) -> None:
    """Let a beam be dark, and clear just now."""
    rig.take(EdgeSeen(god, rig.now_ns, True))
    rig.now_ns += dark_ms * MS
    rig.take(EdgeSeen(god, rig.now_ns, False))


def test_a_token_is_on_disk_during_its_quiet_and_reported_after_it_without_another_commit(rig: Rig) -> None:
    spell(rig, God.TLALOC, 12)
    assert [token.width_ms for token in rig.ledger()] == [12]
    rig.take(after_ns=5 * MS - 1)
    assert rig.broker.tokens() == []
    report = rig.pipeline.reporter.report()
    assert (report["last_seq"], report["totals"], report["waiting"]) == (0, dict.fromkeys(God, 0), 0)
    rig.take(after_ns=1)
    assert rig.broker.tokens() == [(1, False)]
    assert rig.disk.commits == [1]


def test_a_token_that_bounces_is_amended_before_it_is_published(rig: Rig) -> None:
    began = NOON + timedelta(microseconds=rig.now_ns // 1000)
    spell(rig, God.TLALOC, 12)
    rig.now_ns += 3 * MS
    spell(rig, God.TLALOC, 2)
    assert [token.width_ms for token in rig.ledger()] == [12]
    assert rig.broker.tokens() == []
    rig.take(after_ns=5 * MS)
    (token,) = (message for message in rig.broker.published if isinstance(message, contract.Token))
    assert (token.width_ms, token.at) == (17, began)
    assert rig.ledger() == [token]


@pytest.mark.usefixtures("expects_warnings")
def test_a_draft_that_turns_out_to_be_a_jam_is_reported_as_one(rig: Rig) -> None:
    spell(rig, God.TLALOC, 12)
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, True), after_ns=MS)
    rig.jam()
    assert [token.flags for token in rig.ledger()] == [{Flag.JAM}]
    assert rig.broker.tokens() == [(1, False)]


def test_what_was_recorded_after_a_draft_is_reported_after_it(rig: Rig) -> None:
    answers: list[Mapping[str, object]] = []
    spell(rig, God.TLALOC, 12)
    rig.take(DropRequest(God.HUITZILOPOCHTLI, 1, 0, True, answers.append))
    assert len(rig.ledger()) == 2
    assert (rig.broker.tokens(), answers) == ([], [])
    rig.take(after_ns=5 * MS)
    assert rig.broker.tokens() == [(1, False), (2, False)]
    assert [answer["seq"] for answer in answers] == [2]


@pytest.mark.usefixtures("expects_warnings")
def test_a_token_is_not_published_before_its_amendment_is_on_disk(rig: Rig) -> None:
    spell(rig, God.TLALOC, 12)
    rig.disk.trouble = Trouble.LEDGER_FULL
    rig.now_ns += 3 * MS
    spell(rig, God.TLALOC, 2)
    rig.take(after_ns=5 * MS)
    assert rig.broker.tokens() == []
    assert rig.pipeline.reporter.report()["unrecorded"] == 1
    rig.disk.trouble = None
    rig.take(after_ns=SECOND)
    assert rig.broker.tokens() == [(1, False)]
    assert [token.width_ms for token in rig.ledger()] == [17]


@pytest.mark.usefixtures("expects_warnings")
def test_a_ledger_that_is_opened_again_keeps_a_draft_to_itself(rig: Rig) -> None:
    rig.disk.fails_after_commit = True
    spell(rig, God.TLALOC, 200)
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns + MS, True), after_ns=MS)
    rig.access.retry_ns = rig.now_ns
    rig.take()
    assert rig.broker.statuses()[-1].trouble is None
    assert len(rig.ledger()) == 1
    assert rig.broker.tokens() == []
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns + 9 * MS, False), after_ns=9 * MS)
    rig.take(after_ns=5 * MS)
    assert [token.width_ms for token in rig.ledger()] == [210]
    assert rig.broker.tokens() == [(1, False)]


def test_a_drop_that_waits_behind_a_draft_is_answered_at_the_end(rig: Rig) -> None:
    answers: list[Mapping[str, object]] = []
    spell(rig, God.TLALOC, 12)
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns + MS, True), after_ns=MS)
    rig.take(DropRequest(God.HUITZILOPOCHTLI, 1, 0, True, answers.append))
    assert answers == []
    rig.stop()
    assert [answer["seq"] for answer in answers] == [2]
    assert [token.width_ms for token in rig.ledger() if token.god is God.TLALOC] == [12]

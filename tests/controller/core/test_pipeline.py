"""The one thread of a temple, step by step: recorded before published, and patient with a disk that refuses."""

from __future__ import annotations

import dataclasses
import inspect
import queue
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.adapters.sqlite_ledger import Ledger
from controller.core.counting import MS, SECOND
from controller.core.messages import (
    BrokerConnected,
    BrokerDisconnected,
    DropRequest,
    EdgeSeen,
    MessageReceived,
    PipelineMessage,
    StatusRequest,
    Stop,
)
from controller.core.name_watch import PROOFS
from controller.core.pipeline import Pipeline
from controller.core.ports import LedgerError
from controller.core.publisher import STATUS_NS, client_id
from controller.core.slots import Found
from templo import contract
from templo.contract import Beam, CommandName, Flag, God, State, Trouble
from tests.controller.rig import NOON, Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def test_a_token_is_recorded_with_when_its_spell_began_and_then_published(rig: Rig) -> None:
    rig.connect()
    began = NOON + timedelta(microseconds=rig.now_ns // 1000)
    rig.token()
    (recorded,) = rig.ledger()
    assert recorded.at == began
    assert recorded.flags == frozenset()
    assert rig.broker.tokens() == [(1, False)]
    assert isinstance(rig.broker.published[0], contract.Status)


def test_a_status_is_published_again_though_nothing_is_new_as_a_late_will_may_hide_it(rig: Rig) -> None:
    """The nodes of a cluster may bring a will and what came after it in either order, each companion in another."""
    rig.connect()
    (born,) = rig.broker.statuses()
    rig.take(after_ns=STATUS_NS - 1)
    assert rig.broker.statuses() == [born]
    assert rig.pipeline.patience() == pytest.approx(1e-9)
    before = len(rig.broker.published)
    rig.take(after_ns=1)
    again, findings, count = rig.broker.published[before:]
    assert again == born
    assert isinstance(findings, contract.Findings)
    assert isinstance(count, contract.Count)


def test_tokens_of_both_slots_that_end_together_share_one_commit(rig: Rig) -> None:
    at_ns = rig.now_ns
    starts = {God.TLALOC: at_ns, God.HUITZILOPOCHTLI: at_ns + 3 * MS}
    rig.take(
        *(EdgeSeen(god, start_ns, True) for god, start_ns in starts.items()),
        *(EdgeSeen(god, at_ns + 15 * MS, False) for god in God),
    )
    rig.take(after_ns=20 * MS)
    assert rig.disk.commits == [2]
    assert {token.god for token in rig.ledger()} == set(God)


@pytest.mark.parametrize("late", [5, 10, 20])
def test_tokens_of_both_slots_are_numbered_as_they_fell_however_late_their_edges_arrive(rig: Rig, late: int) -> None:
    slots = [God.TLALOC, God.HUITZILOPOCHTLI] * late
    edges = []
    for n, god in enumerate(slots):
        at_ns = rig.now_ns + n * 118 * MS + n % 3 * 20 * MS
        edges += [EdgeSeen(god, at_ns, True), EdgeSeen(god, at_ns + 15 * MS, False)]
    rig.take(*edges, after_ns=2 * late * 118 * MS)
    rig.take(after_ns=SECOND)
    assert [token.god for token in rig.ledger()] == slots


@pytest.mark.usefixtures("expects_warnings")
@pytest.mark.parametrize("trouble", [Trouble.LEDGER_FULL, Trouble.LEDGER_READ_ONLY, Trouble.LEDGER_FAILING])
def test_a_disk_that_refuses_is_an_alert_at_once_and_nothing_is_reported_until_it_is_recorded(
    rig: Rig, trouble: Trouble
) -> None:
    rig.connect()
    rig.disk.trouble = trouble
    rig.token()
    rig.token(God.HUITZILOPOCHTLI)
    assert rig.broker.tokens() == []
    assert (rig.broker.statuses()[-1].state, rig.broker.statuses()[-1].trouble) == (State.ALERT, trouble)
    assert rig.pipeline.reporter.report()["unrecorded"] == 2
    rig.disk.trouble = None
    rig.take(after_ns=SECOND)
    assert rig.broker.tokens() == [(1, False), (2, False)]
    assert rig.broker.statuses()[-1].state is State.READY
    assert [token.god for token in rig.ledger()] == [God.TLALOC, God.HUITZILOPOCHTLI]


@pytest.mark.usefixtures("expects_warnings")
def test_a_commit_that_reached_the_disk_although_its_sync_failed_is_one_token(rig: Rig) -> None:
    rig.connect()
    rig.disk.fails_after_commit = True
    rig.token()
    assert rig.broker.tokens() == []
    rig.token()
    rig.take(after_ns=SECOND)
    assert [token.seq for token in rig.ledger()] == [1, 2]
    assert len({token.token for token in rig.ledger()}) == 2
    assert [seq for seq, _ in rig.broker.tokens()] == [1, 2]


@pytest.mark.usefixtures("expects_warnings")
def test_a_ledger_that_cannot_be_opened_at_the_start_is_opened_later(tmp_path: Path) -> None:
    rig = Rig(tmp_path, opened=False)
    rig.disk.trouble = Trouble.LEDGER_READ_ONLY
    rig.connect()
    rig.token()
    status = rig.broker.statuses()[-1]
    assert (status.state, status.source, status.trouble) == (State.ALERT, None, Trouble.LEDGER_READ_ONLY)
    rig.disk.trouble = None
    rig.take(after_ns=SECOND)
    status = rig.broker.statuses()[-1]
    assert (status.state, status.source) == (State.READY, "5" * 32)
    assert rig.broker.tokens() == [(1, False)]


@pytest.mark.usefixtures("expects_warnings")
def test_what_waits_is_recorded_in_a_ledger_that_was_begun_anew_under_the_temple(rig: Rig, tmp_path: Path) -> None:
    rig.connect()
    rig.token()
    rig.disk.trouble = Trouble.LEDGER_FAILING
    rig.token()
    rig.disk.trouble = None
    rig.disk.path = tmp_path / "other.sqlite3"
    Ledger.open(rig.disk.path, lambda: "9" * 32).close()
    rig.take(after_ns=SECOND)
    assert (rig.broker.statuses()[-1].state, rig.broker.statuses()[-1].source) == (State.READY, "9" * 32)
    assert [(token.source, token.seq) for token in rig.ledger()] == [("9" * 32, 1)]
    assert rig.broker.tokens() == [(1, False), (1, False)]


def test_the_pipeline_sleeps_until_something_is_due(rig: Rig) -> None:
    assert rig.pipeline.patience() is None
    rig.connect()
    rig.take(
        EdgeSeen(God.TLALOC, rig.now_ns, True), EdgeSeen(God.TLALOC, rig.now_ns + 12 * MS, False), after_ns=12 * MS
    )
    assert rig.pipeline.patience() == pytest.approx(0.005)
    rig.take(after_ns=5 * MS)
    assert 0 < (rig.pipeline.patience() or 0) <= 0.25
    rig.take(after_ns=SECOND)
    assert rig.pipeline.patience() == pytest.approx(1)
    rig.take(MessageReceived(contract.Ack("5" * 32, 1)))
    assert (rig.pipeline.patience() or 0) > 25  # the next status


@pytest.mark.usefixtures("expects_warnings")
def test_nothing_is_ever_due_that_is_not_done_when_its_time_comes(rig: Rig) -> None:
    """Every deadline, in every trouble, is passed by settling once: the thread never spins."""
    for upset in range(8):
        rig.broker.up = bool(upset & 1)
        rig.take(BrokerConnected() if upset & 1 else BrokerDisconnected())
        rig.broker.slow = bool(upset & 2)
        rig.disk.trouble = Trouble.LEDGER_FULL if upset & 4 else None
        for _ in range(12):
            rig.token()
            for _ in range(20):
                patience = rig.pipeline.patience()
                if patience is None:
                    break
                rig.take(after_ns=round(patience * SECOND) + 1)
                assert rig.pipeline.patience() != 0


def test_totals_are_reported_at_most_four_times_a_second_and_the_last_always(rig: Rig) -> None:
    rig.connect()
    for n in range(40):
        rig.token()
        rig.take(after_ns=n % 2 * 80 * MS)
    rig.take(after_ns=SECOND)
    counts = [message for message in rig.broker.published if isinstance(message, contract.Count)]
    assert len(counts) <= 14
    assert counts[-1].totals == {God.TLALOC: 40, God.HUITZILOPOCHTLI: 0}


def test_everything_retained_is_reported_again_at_every_connection(rig: Rig) -> None:
    rig.connect()
    rig.token()
    rig.broker.up = False
    rig.take(BrokerDisconnected())
    rig.broker.published.clear()
    rig.broker.up = True
    rig.take(BrokerConnected(), after_ns=SECOND)
    assert [type(message) for message in rig.broker.published] == [
        contract.Status,
        contract.Count,
        contract.Token,
        contract.Noise,
        contract.Findings,
    ]


def test_what_the_beams_counted_beside_tokens_is_published_at_most_every_five_seconds(rig: Rig) -> None:
    rig.connect()
    published = [message for message in rig.broker.published if isinstance(message, contract.Noise)]
    assert published == [contract.Noise("a" * 32, dict.fromkeys(God, 0), dict.fromkeys(God, 0))]
    rig.broker.published.clear()
    for _ in range(12):
        rig.take(
            EdgeSeen(God.TLALOC, rig.now_ns, True), EdgeSeen(God.TLALOC, rig.now_ns + MS, False), after_ns=SECOND
        )
    published = [message for message in rig.broker.published if isinstance(message, contract.Noise)]
    assert 2 <= len(published) <= 3
    assert published[-1].glitches[God.TLALOC] >= 10
    assert published[-1].glitches[God.HUITZILOPOCHTLI] == 0


def test_what_the_broker_has_not_taken_is_not_sent_again_but_what_the_companion_has_not_is(rig: Rig) -> None:
    rig.connect()
    rig.token()
    rig.broker.slow = True
    rig.take(after_ns=60 * SECOND)
    assert rig.broker.tokens() == [(1, False)]
    rig.broker.slow = False
    rig.take(after_ns=60 * SECOND)
    assert rig.broker.tokens() == [(1, False), (1, True)]


@pytest.mark.usefixtures("expects_warnings")
def test_a_jam_is_an_alert_until_it_clears(rig: Rig) -> None:
    rig.connect()
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, True))
    rig.jam()
    status = rig.broker.statuses()[-1]
    assert (status.state, status.beams[God.TLALOC], status.trouble) == (State.ALERT, Beam.JAMMED, None)
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, False))
    rig.take(after_ns=SECOND)
    assert rig.broker.statuses()[-1].state is State.READY
    assert [token.flags for token in rig.ledger()] == [{Flag.JAM}]


@pytest.mark.usefixtures("expects_warnings")
def test_a_token_whose_end_comes_late_is_no_jam_while_its_beam_reads_clear(rig: Rig) -> None:
    dark_ns = rig.now_ns
    rig.take(EdgeSeen(God.TLALOC, dark_ns, True))
    rig.beams.levels[God.TLALOC] = False
    for _ in range(9):
        rig.take(after_ns=200 * MS)
        assert rig.pipeline.patience() != 0  # it does not ask without a pause
    rig.take(EdgeSeen(God.TLALOC, dark_ns + 12 * MS, False))
    rig.take(after_ns=5 * MS)
    assert [(token.width_ms, token.flags) for token in rig.ledger()] == [(12, frozenset())]


@pytest.mark.usefixtures("expects_warnings")
def test_a_token_whose_end_comes_late_is_no_jam_though_the_next_token_darkens_its_beam(rig: Rig) -> None:
    dark_ns = rig.now_ns
    rig.take(EdgeSeen(God.TLALOC, dark_ns, True))  # its beam reads dark from now on: the next token is in it
    rig.take(after_ns=700 * MS)
    rig.take(EdgeSeen(God.TLALOC, dark_ns + 12 * MS, False), EdgeSeen(God.TLALOC, dark_ns + 695 * MS, True))
    rig.take(EdgeSeen(God.TLALOC, dark_ns + 710 * MS, False), after_ns=10 * MS)
    rig.take(after_ns=20 * MS)
    assert [(token.width_ms, token.flags) for token in rig.ledger()] == [(12, frozenset()), (15, frozenset())]


@pytest.mark.usefixtures("expects_warnings")
def test_a_token_whose_end_never_comes_is_counted_with_a_missed_edge_once_its_beam_was_read_clear(rig: Rig) -> None:
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, True))
    rig.beams.levels[God.TLALOC] = False
    for _ in range(30):
        rig.take(after_ns=100 * MS)
    assert [token.flags for token in rig.ledger()] == [{Flag.MISSED_EDGE}]


@pytest.mark.usefixtures("expects_warnings")
def test_a_beam_whose_level_cannot_be_read_is_jammed_as_the_time_says(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: God) -> bool:
        raise OSError("no such device")

    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, True))
    monkeypatch.setattr(rig.beams, "dark", gone)
    rig.take(after_ns=SECOND)
    assert [token.flags for token in rig.ledger()] == [{Flag.JAM}]


# -- drops and commands --


def test_a_drop_into_a_temple_with_real_beams_is_a_test_and_answered_once_it_is_recorded(rig: Rig) -> None:
    answers: list[Mapping[str, object]] = []
    rig.take(DropRequest(God.TLALOC, 3, 0, False, answers.append))
    assert answers == [{"god": God.TLALOC, "recorded": 3, "seq": 3}]
    assert all(token.flags == {Flag.TEST, Flag.SIMULATED} for token in rig.ledger())


def let_pass(rig: Rig, seconds: int) -> None:
    for _ in range(seconds):
        rig.take(after_ns=SECOND)


@pytest.mark.usefixtures("expects_warnings")
def test_a_drop_that_the_disk_refuses_is_not_recorded_yet_and_is_recorded_once_it_takes_it(rig: Rig) -> None:
    answers: list[Mapping[str, object]] = []
    rig.disk.trouble = Trouble.LEDGER_FULL
    rig.take(DropRequest(God.TLALOC, 30, 0, False, answers.append))
    assert answers == []
    let_pass(rig, 6)
    (answer,) = answers
    assert answer["code"] == "not_recorded"
    assert "not recorded yet of what was dropped for tlaloc: 30 of 30 tokens: the disk refuses (ledger_full)" in str(
        answer
    )
    assert "recorded as soon as the disk takes it" in str(answer)
    rig.disk.trouble = None
    let_pass(rig, 1)
    assert len(rig.ledger()) == 30
    assert len(answers) == 1


def test_a_clock_that_jumps_takes_no_time_from_a_drop(rig: Rig) -> None:
    rig.beams.capabilities = replace(rig.beams.capabilities, test_drops=True)
    answers: list[Mapping[str, object]] = []
    rig.take(DropRequest(God.TLALOC, 1, 0, False, answers.append))
    rig.take(after_ns=86_400 * SECOND)
    assert answers == []
    rig.token()
    assert answers == [{"god": God.TLALOC, "recorded": 1, "seq": 1}]


def test_a_dropped_token_that_no_beam_sees_is_not_recorded_yet(rig: Rig) -> None:
    rig.beams.capabilities = replace(rig.beams.capabilities, test_drops=True)
    answers: list[Mapping[str, object]] = []
    rig.take(DropRequest(God.TLALOC, 2, 0, False, answers.append))
    rig.token()
    let_pass(rig, 6)
    assert "not recorded yet of what was dropped for tlaloc: 1 of 2 tokens: the temple's status" in str(answers)


def command(rig: Rig, name: CommandName, number: int = 1, **more: object) -> MessageReceived:
    expires = NOON + timedelta(microseconds=rig.now_ns // 1000, seconds=10)
    return MessageReceived(contract.Command(f"{number:032x}", name, expires, **more))  # type: ignore[arg-type]


def test_a_command_that_comes_twice_is_carried_out_once_and_answered_twice(rig: Rig) -> None:
    rig.connect()
    for _ in range(2):
        rig.take(command(rig, CommandName.DROP, god=God.TLALOC))
    assert len(rig.ledger()) == 1
    assert [reply.ok for reply in rig.broker.replies()] == [True, True]
    assert len({reply.id for reply in rig.broker.replies()}) == 1


def test_a_companion_that_asks_receives_at_once_what_it_may_have_missed(rig: Rig) -> None:
    rig.connect()
    rig.token()
    rig.take(command(rig, CommandName.IDENTIFY))
    assert rig.broker.tokens() == [(1, False), (1, True)]


def test_a_companion_that_lost_its_store_gets_everything_again_even_after_a_restart(rig: Rig, tmp_path: Path) -> None:
    rig.connect()
    for _ in range(3):
        rig.token()
    rig.take(MessageReceived(contract.Ack("5" * 32, 3)))
    rig.take(command(rig, CommandName.RESEND, seq=2))
    assert rig.broker.tokens()[3:] == [(2, True), (3, True)]
    again = Rig(tmp_path)
    again.connect()
    assert again.broker.tokens() == [(2, True), (3, True)]


# -- the end --


def test_a_glitch_whose_end_waits_in_the_queue_while_the_thread_stands_still_is_no_jam(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine takes half a second between reading the queue and counting; the clearing edge came meanwhile."""
    at_ns, items = rig.now_ns, rig.pipeline.queue
    items.put(EdgeSeen(God.TLALOC, at_ns, True))
    take = rig.pipeline._slots.take

    def slowly(item: EdgeSeen) -> Found:
        found = take(item)
        if item.dark:
            rig.now_ns += SECOND // 2
            items.put(EdgeSeen(God.TLALOC, at_ns + MS, False))
            items.put(Stop())
        return found

    monkeypatch.setattr(rig.pipeline._slots, "take", slowly)
    rig.pipeline.run()
    assert rig.pipeline.counters[God.TLALOC].glitches == 1
    assert rig.ledger() == []


def test_a_token_that_has_just_fallen_is_recorded_before_the_end(rig: Rig) -> None:
    rig.pipeline.queue.put(EdgeSeen(God.TLALOC, rig.now_ns - 12 * MS, True))
    rig.pipeline.queue.put(EdgeSeen(God.TLALOC, rig.now_ns, False))
    rig.stop()
    assert len(rig.ledger()) == 1


@pytest.mark.usefixtures("expects_warnings")
def test_what_waits_for_a_disk_that_has_just_recovered_is_recorded_before_the_end(rig: Rig) -> None:
    rig.disk.trouble = Trouble.LEDGER_FAILING
    for _ in range(5):
        rig.token()
    rig.disk.trouble = None
    assert rig.access.retry_ns is not None
    assert rig.access.retry_ns > rig.now_ns
    rig.stop()
    assert len(rig.ledger()) == 5


@pytest.mark.usefixtures("expects_warnings")
def test_whoever_waits_for_a_drop_learns_that_the_end_came_first(rig: Rig) -> None:
    answers: queue.SimpleQueue[Mapping[str, object]] = queue.SimpleQueue()
    rig.disk.trouble = Trouble.LEDGER_FULL
    rig.pipeline.queue.put(DropRequest(God.TLALOC, 1, 0, False, answers.put))
    rig.stop()
    assert "error" in answers.get_nowait()


def test_the_pipeline_answers_whoever_asks_how_the_temple_is(rig: Rig) -> None:
    rig.token()
    seen: list[Mapping[str, object]] = []
    rig.take(StatusRequest(seen.append))
    report = seen[0]
    assert (report["state"], report["last_seq"], report["waiting"], report["unrecorded"]) == (State.READY, 1, 1, 0)


def test_a_damaged_ledger_is_trouble_too(rig: Rig, expects_warnings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*_: object) -> None:
        raise LedgerError("the ledger is damaged")

    rig.connect()
    monkeypatch.setattr(rig.access.ledger, "record", damaged)
    monkeypatch.setattr(rig.access, "_open_ledger", damaged)
    rig.token()
    assert rig.broker.statuses()[-1].trouble is Trouble.LEDGER_FAILING


class HeldUp(queue.SimpleQueue[PipelineMessage]):
    """A queue of a process that stood still: nothing came in time, and then all that had happened meanwhile."""

    def __init__(self, meanwhile: Callable[[], Sequence[PipelineMessage]]) -> None:
        self._meanwhile: Callable[[], Sequence[PipelineMessage]] | None = meanwhile

    def get(self, block: bool = True, timeout: float | None = None) -> PipelineMessage:
        if self._meanwhile is not None:
            for item in self._meanwhile():
                self.put(item)
            self._meanwhile = None
            raise queue.Empty
        return super().get(block, timeout)


def test_a_token_that_was_over_before_the_process_ran_again_is_no_jam(rig: Rig) -> None:
    dark_ns = rig.now_ns
    rig.take(EdgeSeen(God.TLALOC, dark_ns, True))

    def meanwhile() -> list[PipelineMessage]:
        rig.now_ns += 10 * SECOND
        return [EdgeSeen(God.TLALOC, dark_ns + 12 * MS, False), Stop()]

    rig.pipeline.queue = HeldUp(meanwhile)
    rig.pipeline.run()
    assert [(token.width_ms, token.flags) for token in rig.ledger()] == [(12, frozenset())]


def test_a_token_that_the_link_refuses_is_sent_again_with_the_next_connection(rig: Rig) -> None:
    rig.connect()
    rig.broker.up = False
    rig.token()
    assert rig.broker.tokens() == []
    rig.connect()
    assert [seq for seq, _ in rig.broker.tokens()] == [1]


def _meet_a_clone(rig: Rig) -> None:
    own = rig.broker.statuses()[-1]
    for publication in range(1, PROOFS + 1):
        rig.take(MessageReceived(rig.broker.statuses()[-1]))
        again = dataclasses.replace(own, session="1" * 32, publication=publication)
        rig.take(MessageReceived(again), after_ns=SECOND)


@pytest.mark.usefixtures("expects_warnings")
def test_a_temple_whose_ledger_another_one_uses_begins_a_new_source_and_need_not_give_way(rig: Rig) -> None:
    """Its client id follows from the source, so that the two no longer throw each other out."""
    rig.connect()
    own = rig.pipeline.source
    _meet_a_clone(rig)
    assert rig.pipeline.source != own
    assert rig.broker.client_ids == [client_id(str(rig.pipeline.source))]
    assert not rig.broker.gave_way
    assert [notice.code for notice in rig.broker.statuses()[-1].notices] == ["ledger_cloned"]


@pytest.mark.usefixtures("expects_warnings")
def test_a_temple_that_cannot_begin_a_new_source_leaves_the_broker_to_the_one_with_the_copy(rig: Rig) -> None:
    rig.connect()
    rig.disk.trouble = Trouble.LEDGER_FAILING
    rig.token()
    _meet_a_clone(rig)
    assert rig.broker.gave_way
    rig.disk.trouble = None
    for _ in range(2):
        rig.take(after_ns=5 * SECOND)
    assert rig.broker.client_ids == [client_id(str(rig.pipeline.source))]
    assert not rig.broker.gave_way


def test_a_pipeline_is_composed_of_eight_things_at_most() -> None:
    assert len(inspect.signature(Pipeline).parameters) <= 8

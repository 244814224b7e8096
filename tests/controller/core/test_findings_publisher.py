"""When a temple publishes findings: at once if a finding is new, seldom if only its numbers are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from controller.core.counting import MS, SECOND
from controller.core.diagnosis import Answer
from controller.core.messages import (
    BrokerConnected,
    BrokerDisconnected,
    CalibrationRequest,
    EdgeSeen,
    LevelRead,
    MessageReceived,
    SelftestRequest,
)
from controller.core.publisher import STATUS_NS
from templo import contract
from templo.contract import Emitters, God
from tests.controller.rig import NOON, Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    rig = Rig(tmp_path)
    rig.connect()
    return rig


def published(rig: Rig) -> list[contract.Findings]:
    return [message for message in rig.broker.published if isinstance(message, contract.Findings)]


def codes(of: contract.Findings, god: God = God.TLALOC) -> list[str]:
    return [each.code for each in of.beams[god]]


def glitch(rig: Rig) -> None:
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, True), EdgeSeen(God.TLALOC, rig.now_ns + MS, False))
    rig.take(after_ns=SECOND)


def test_a_temple_that_connects_publishes_that_its_beams_are_well(rig: Rig) -> None:
    (first,) = published(rig)
    assert codes(first) == codes(first, God.HUITZILOPOCHTLI) == []
    assert first.emitters is Emitters.FIXED
    assert first.limits["min_break_ms"] == 3


@pytest.mark.usefixtures("expects_warnings")
def test_what_is_newly_wrong_is_reported_within_a_quarter_of_a_second_and_so_is_its_end(rig: Rig) -> None:
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, True), after_ns=SECOND)
    rig.take(after_ns=SECOND // 4)
    rig.take(after_ns=SECOND // 4)
    assert codes(published(rig)[-1]) == ["blocked"]
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, False))
    rig.take(after_ns=SECOND // 4)
    assert codes(published(rig)[-1]) == []


def test_numbers_that_grow_are_reported_every_five_seconds_and_the_last_always(rig: Rig) -> None:
    for _ in range(20):
        glitch(rig)
    rig.take(after_ns=5 * SECOND)
    found = [each for each in published(rig) if codes(each) == ["hop"]]
    assert 2 <= len(found) <= 6
    assert found[-1].beams[God.TLALOC][0].facts["glitches"] >= 19
    rig.take(after_ns=STATUS_NS)
    assert rig.pipeline.patience() == STATUS_NS / SECOND  # nothing else is due


@pytest.mark.usefixtures("expects_warnings")
def test_a_time_that_only_passes_is_not_published(rig: Rig) -> None:
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, True), after_ns=SECOND)
    rig.jam()
    number = len(published(rig))
    for _ in range(25):
        rig.take(after_ns=SECOND)
    assert len(published(rig)) == number


def test_what_is_wrong_is_published_again_with_the_status_as_a_node_of_a_cluster_may_lose_it(rig: Rig) -> None:
    glitch(rig)
    rig.take(after_ns=10 * SECOND)
    known = published(rig)
    rig.take(after_ns=STATUS_NS)
    assert published(rig) == [*known, known[-1]]


def test_a_broker_that_forgot_is_reported_again(rig: Rig) -> None:
    rig.take(BrokerDisconnected())
    rig.take(BrokerConnected(), after_ns=SECOND)
    assert len(published(rig)) == 2


@pytest.mark.usefixtures("expects_warnings")
def test_a_beam_that_reports_again_was_deaf_for_ten_minutes(rig: Rig) -> None:
    rig.take(LevelRead(God.TLALOC, rig.now_ns, True), after_ns=SECOND)
    assert codes(published(rig)[-1]) == ["deaf"]
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, False), after_ns=SECOND)
    rig.take(after_ns=SECOND)
    assert "was_deaf" in codes(published(rig)[-1])
    assert "deaf" not in codes(published(rig)[-1])
    rig.take(after_ns=601 * SECOND)
    assert "was_deaf" not in codes(published(rig)[-1])


@pytest.mark.usefixtures("expects_warnings")
def test_what_an_emitter_disproved_holds_until_the_beam_moves_and_no_answer_until_there_is_one(
    tmp_path: Path,
) -> None:
    mute = {God.TLALOC: Answer(False, False, False), God.HUITZILOPOCHTLI: Answer(True, True, False)}
    prove: Callable[[], Mapping[God, Answer] | None] = lambda: mute  # noqa: E731
    rig = Rig(tmp_path, prove=prove)
    rig.connect()
    rig.take(SelftestRequest(lambda result: None), after_ns=SECOND)
    assert [codes(published(rig)[-1], god) for god in God] == [["no_light"], ["no_answer"]]
    for god in God:
        rig.token(god)
    rig.take(after_ns=SECOND)
    assert [codes(published(rig)[-1], god) for god in God] == [["unproved"], ["no_answer"]]
    mute |= dict.fromkeys(God, Answer(False, True, True))
    rig.take(SelftestRequest(lambda result: None), after_ns=SECOND)
    assert [codes(published(rig)[-1], god) for god in God] == [[], []]


def test_a_refusal_has_a_code_and_a_calibration_can_be_ended(rig: Rig) -> None:
    results: list[Mapping[str, object]] = []
    rig.take(CalibrationRequest(God.TLALOC, None, True, results.append))
    assert results[-1]["code"] == "no_proposal"
    rig.take(CalibrationRequest(God.TLALOC, 5, None, results.append))
    rig.take(CalibrationRequest(God.TLALOC, None, False, results.append))
    assert [each.get("code") for each in results] == ["no_proposal", "ended", None]
    assert results[-1]["kept"] is False
    rig.token()
    assert rig.ledger()[-1].flags == frozenset()


def test_a_command_that_is_refused_says_its_code_over_the_wire(rig: Rig) -> None:
    late = contract.Command("1" * 32, contract.CommandName.SELFTEST, NOON)
    rig.take(MessageReceived(late))
    (reply,) = rig.broker.replies()
    assert (reply.ok, reply.code) == (False, "expired")

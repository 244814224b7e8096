"""What a companion commands and what the command line requests: carried out once, or refused with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from controller.adapters.ledger_copy import read_copy
from controller.core.commands import Commands
from controller.core.counting import SECOND
from controller.core.diagnosis import Answer
from controller.core.messages import (
    BrokerDisconnected,
    CalibrationRequest,
    DismissRequest,
    EdgesLost,
    MessageReceived,
    StatusGarbled,
    Stop,
)
from templo import contract
from templo.contract import CommandName, God, Trouble
from tests.controller.rig import NOON, Rig


def command(name: CommandName, number: int = 1, *, expires_s: float = 3600, **more: Any) -> contract.Command:
    return contract.Command(f"{number:032x}", name, NOON + timedelta(seconds=expires_s), **more)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def replied(rig: Rig, asked: contract.Command) -> contract.Reply:
    """Let the temple take a command; returns its last reply."""
    rig.connect()
    rig.take(MessageReceived(asked))
    return rig.broker.replies()[-1]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (command(CommandName.RESEND), "no_seq"),
        (command(CommandName.RESEND, seq=7), "beyond"),
        (command(CommandName.DROP), "no_god"),
        (command(CommandName.CALIBRATE), "no_god"),
        (command(CommandName.CALIBRATE, god=God.TLALOC, count=100_000), "bad_count"),
        (command(CommandName.CALIBRATE, god=God.TLALOC, keep=True), "no_proposal"),
        (command(CommandName.DISMISS), "no_notice"),
        (command(CommandName.DISMISS, notice="ledger_cloned"), "no_notice"),
        (command(CommandName.IDENTIFY, expires_s=-1), "expired"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_command_that_cannot_be_carried_out_is_refused_with_a_code(
    rig: Rig, asked: contract.Command, code: str
) -> None:
    reply = replied(rig, asked)
    assert (reply.ok, reply.code) == (False, code)
    assert reply.error


def test_a_command_expires_by_the_companions_clock_too(rig: Rig) -> None:
    rig.connect()
    rig.take(MessageReceived(contract.Ack("f" * 32, 0, None, NOON - timedelta(days=1))))
    late = command(CommandName.IDENTIFY, expires_s=-60)
    assert replied(rig, late).ok
    rig.take(BrokerDisconnected())
    assert replied(rig, command(CommandName.IDENTIFY, 2, expires_s=-60)).code == "expired"


def test_a_notice_is_dismissed_once(rig: Rig) -> None:
    assert rig.access.ledger is not None
    rig.access.ledger.renew("b" * 32, "ledger_restored", NOON)
    dismissed = command(CommandName.DISMISS, notice="ledger_restored")
    assert replied(rig, dismissed).result == {"dismissed": "ledger_restored", "notices": []}
    results: list[Mapping[str, object]] = []
    rig.take(DismissRequest("ledger_restored", results.append))
    assert results[0]["code"] == "no_notice"


@pytest.mark.usefixtures("expects_warnings")
@pytest.mark.parametrize(
    "asked", [command(CommandName.RESEND, seq=1), command(CommandName.DISMISS, notice="ledger_missing")]
)
def test_a_ledger_that_cannot_be_opened_refuses_what_needs_it(tmp_path: Path, asked: contract.Command) -> None:
    rig = Rig(tmp_path, opened=False)
    rig.disk.trouble = Trouble.LEDGER_FAILING
    assert replied(rig, asked).code == "ledger"


@pytest.mark.usefixtures("expects_warnings")
@pytest.mark.parametrize(
    ("method", "asked", "error"),
    [
        (
            "deliver_again",
            command(CommandName.RESEND, seq=1),
            "the ledger cannot be read now: see the temple's status",
        ),
        ("dismiss", command(CommandName.DISMISS, notice="ledger_missing"), "the disk refuses"),
    ],
)
def test_a_ledger_that_cannot_be_written_refuses_what_needs_it(
    rig: Rig, method: str, asked: contract.Command, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        rig.disk.trouble = Trouble.LEDGER_FULL
        rig.disk.check()

    monkeypatch.setattr(rig.access.ledger, method, refuse)
    reply = replied(rig, asked)
    assert (reply.ok, reply.code, reply.error) == (False, "ledger", error)
    rig.disk.trouble = None


@pytest.mark.usefixtures("expects_warnings")
def test_what_can_be_read_of_a_full_disk_is_sent_again_and_goes_into_a_new_source(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rig.access, "_read_copy", lambda: read_copy(rig.disk.path))
    rig.connect()
    for _ in range(5):
        rig.token()
    ids = [each.token for each in rig.ledger()]
    rig.take(MessageReceived(contract.Ack("5" * 32, 5, ids[4])))
    rig.disk.trouble = Trouble.LEDGER_FULL
    monkeypatch.setattr(rig.access.ledger, "deliver_again", lambda _: rig.disk.check())
    rig.broker.published.clear()
    assert replied(rig, command(CommandName.RESEND, seq=1)).ok
    assert [seq for seq, _ in rig.broker.tokens()] == [1, 2, 3, 4, 5]
    rig.disk.trouble = None
    for _ in range(2):
        rig.take(after_ns=SECOND)
    rig.take(MessageReceived(contract.Ack("5" * 32, 50)))
    rig.broker.published.clear()
    rig.connect()
    sent = [each for each in rig.broker.published if isinstance(each, contract.Token)]
    assert [(each.source, each.token) for each in sent] == [(rig.pipeline.source, each) for each in ids]
    assert rig.pipeline.source != "5" * 32


def test_a_calibration_is_begun_and_ended_by_command(rig: Rig) -> None:
    rig.connect()
    rig.take(MessageReceived(command(CommandName.CALIBRATE, 1, god=God.TLALOC, count=2)))
    assert rig.broker.replies() == []
    again = replied(rig, command(CommandName.CALIBRATE, 2, god=God.HUITZILOPOCHTLI))
    assert again.code == "calibrating"
    results: list[Mapping[str, object]] = []
    rig.take(CalibrationRequest(God.TLALOC, None, False, results.append))
    assert results[0]["kept"] is False
    assert rig.broker.replies()[-1].code == "ended"


def test_emitters_are_switched_for_a_selftest_only_while_nothing_falls(tmp_path: Path) -> None:
    proofs: list[God] = []

    def prove() -> Mapping[God, Answer]:
        proofs.extend(God)
        return {god: Answer(lit_dark=False, unlit_dark=True, edge_seen=True) for god in God}

    rig = Rig(tmp_path, prove=prove)
    rig.token()
    assert replied(rig, command(CommandName.SELFTEST)).ok
    assert proofs == []
    rig.take(after_ns=2 * SECOND)
    assert replied(rig, command(CommandName.SELFTEST, 2)).ok
    assert proofs == list(God)


def test_a_temple_refuses_a_command_that_it_has_no_handler_for_and_forgets_old_answers() -> None:
    replies: list[contract.Reply] = []
    commands = Commands({CommandName.IDENTIFY: lambda _, respond: respond({})}, replies.append)
    commands.take(command(CommandName.SELFTEST), NOON)
    assert (replies[0].code, replies[0].error) == ("unknown", "this temple cannot selftest; expected identify")
    for number in range(2, 70):
        commands.take(command(CommandName.IDENTIFY, number), NOON)
    commands.take(command(CommandName.SELFTEST), NOON)
    assert len(replies) == 70


def test_a_command_that_comes_again_while_it_is_carried_out_is_not_answered_twice() -> None:
    replies: list[contract.Reply] = []
    waiting: list[object] = []
    commands = Commands({CommandName.DROP: lambda _, respond: waiting.append(respond)}, replies.append)
    for _ in range(2):
        commands.take(command(CommandName.DROP, god=God.TLALOC), NOON)
    assert (len(waiting), replies) == (1, [])


def test_a_status_that_others_garbled_is_published_again(rig: Rig) -> None:
    rig.connect()
    before = len(rig.broker.statuses())
    rig.take(StatusGarbled())
    assert len(rig.broker.statuses()) == before + 1


@pytest.mark.parametrize("number", [1, 3])
def test_edges_that_were_lost_are_logged_and_counted(
    rig: Rig, number: int, expects_warnings: None, caplog: pytest.LogCaptureFixture
) -> None:
    rig.take(EdgesLost(God.TLALOC, rig.now_ns, number))
    assert f"{number} edges of tlaloc were lost" in caplog.text or "an edge of tlaloc was missed" in caplog.text


def test_the_end_is_no_message_to_work_on(rig: Rig) -> None:
    with pytest.raises(AssertionError, match="no message to process"):
        rig.take(Stop())

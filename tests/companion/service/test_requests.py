"""Requests to a temple and its replies: each sent once, one at a time, and reported when no reply comes."""

from __future__ import annotations

from typing import Any

import pytest

from companion.model.requests import Dropped, Proposal, Selftest, Verdict
from companion.model.table import ServiceError
from companion.model.temples import Temple
from templo import contract
from templo.contract import Beam, CommandName, God
from tests.companion.conftest import SOURCE, Home

SESSION = "c" * 32
NAME = "templo"


@pytest.fixture
def sent(home: Home) -> list[contract.Command]:
    """A temple at work, and what is sent to it."""
    sent: list[contract.Command] = []
    home.services.temples.requests.connect(lambda name, command: sent.append(command))
    hear(home)
    return sent


def hear(home: Home, state: contract.State = contract.State.READY) -> None:
    beams = dict.fromkeys(God, Beam.CLEAR)
    home.services.temples.receive_status(
        NAME, contract.Status(state, SESSION, contract.Kind.PI, "1", contract.Timing.KERNEL, beams, SOURCE)
    )
    home.services.temples.set_reachable(True)


def now(home: Home) -> Temple:
    return home.services.temples.get(NAME)


def answer(home: Home, command: contract.Command, **fields: Any) -> None:
    home.services.temples.requests.receive_reply(NAME, contract.Reply(command.id, **fields))


def refusal(home: Home, *words: Any, **more: Any) -> str:
    with pytest.raises(ServiceError) as refused:
        home.services.temples.requests.send(NAME, *words, **more)
    return refused.value.code


def test_a_request_is_sent_once_however_often_it_is_tapped(home: Home, sent: list[contract.Command]) -> None:
    for _ in range(3):
        home.services.temples.requests.send(NAME, CommandName.SELFTEST, "one")
    assert [command.name for command in sent] == [CommandName.SELFTEST]
    assert sent[0].expires > home.clock.now


def test_one_request_is_open_at_a_time(home: Home, sent: list[contract.Command]) -> None:
    home.services.temples.requests.send(NAME, CommandName.SELFTEST, "one")
    assert refusal(home, CommandName.DROP, "two", God.TLALOC) == "temple_busy"
    answer(home, sent[0], ok=False, error="no", code="unknown")
    home.services.temples.requests.send(NAME, CommandName.DROP, "two", God.TLALOC)
    assert len(sent) == 2


@pytest.mark.parametrize("state", [contract.State.LOST, contract.State.STOPPED])
def test_no_request_is_sent_to_a_temple_that_is_not_connected(
    home: Home, sent: list[contract.Command], state: contract.State
) -> None:
    hear(home, state)
    assert refusal(home, CommandName.SELFTEST, "one") == "temple_away"
    hear(home)
    home.services.temples.set_reachable(False)
    assert refusal(home, CommandName.SELFTEST, "one") == "temple_away"
    assert sent == []


@pytest.mark.parametrize("count", [0, 101, 10**6])
def test_a_calibration_takes_as_many_tokens_as_a_temple_measures(
    home: Home, sent: list[contract.Command], count: int
) -> None:
    assert refusal(home, CommandName.CALIBRATE, "one", God.TLALOC, count) == "bad_count"
    assert sent == []


def test_a_missing_reply_is_reported_and_a_late_one_still_counts(home: Home, sent: list[contract.Command]) -> None:
    home.services.temples.requests.send(NAME, CommandName.DROP, "one", God.TLALOC)
    home.clock.pass_(seconds=7)
    home.services.temples.pass_time()
    assert now(home).request.stage == "sent"  # type: ignore[union-attr]
    home.clock.pass_(seconds=2)
    home.changes.clear()
    home.services.temples.pass_time()
    assert now(home).request.stage == "silent"  # type: ignore[union-attr]
    assert home.changes == [f"temple:{NAME}"]
    answer(home, sent[0], ok=True, result={"god": "tlaloc", "recorded": 1, "seq": 9})
    assert now(home).request.answer == Dropped(9)  # type: ignore[union-attr]


def test_a_calibration_is_given_its_two_minutes_and_counts_along(home: Home, sent: list[contract.Command]) -> None:
    home.services.temples.requests.send(NAME, CommandName.CALIBRATE, "one", God.TLALOC, 5)
    home.services.temples.intake.receive(
        [
            (NAME, home.token(1, "tlaloc", "test")),
            (NAME, home.token(2, "tlaloc", "test", "jam")),
            (NAME, home.token(3, "huitzilopochtli", "test")),
            (NAME, home.token(4, "tlaloc")),
        ]
    )
    home.clock.pass_(seconds=119)
    home.services.temples.pass_time()
    request = now(home).request
    assert request is not None
    assert request.measuring
    assert request.widths_ms == (14.0,)


def test_a_calibration_can_be_ended_while_it_runs(home: Home, sent: list[contract.Command]) -> None:
    home.services.temples.requests.send(NAME, CommandName.CALIBRATE, "one", God.TLALOC, 5)
    assert refusal(home, CommandName.CALIBRATE, "two", God.TLALOC, None, keep=True) == "temple_busy"
    home.services.temples.requests.send(NAME, CommandName.CALIBRATE, "three", God.TLALOC, keep=False)
    assert sent[-1].keep is False
    answer(home, sent[0], ok=False, error="ended", code="ended")  # the end of the old request is not reported
    answer(home, sent[1], ok=True, result={"god": "tlaloc", "kept": False, "limits": {}})
    assert now(home).request.answer == Verdict(False, {})  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "result"),
    [
        (CommandName.SELFTEST, {}),
        (CommandName.SELFTEST, {"beams": {"tlaloc": {"reads": "green"}}}),
        (CommandName.DROP, {"seq": "many"}),
        (CommandName.CALIBRATE, {"widths_ms": ["<b>"]}),
        (CommandName.IDENTIFY, {"software": 5}),
    ],
)
def test_a_reply_of_another_shape_counts_as_none(
    home: Home, sent: list[contract.Command], name: CommandName, result: dict[str, object]
) -> None:
    home.services.temples.requests.send(NAME, name, "one", God.TLALOC)
    answer(home, sent[0], ok=True, result=result)
    request = now(home).request
    assert request is not None
    assert (request.stage, request.code, request.answer) == ("refused", "garbled", None)


def test_replies_are_decoded_into_their_types(home: Home, sent: list[contract.Command]) -> None:
    beam = {
        "reads": "dark",
        "tokens": 1,
        "glitches": 0,
        "missed_edges": 0,
        "findings": [{"code": "dark", "for_s": 2}],
    }
    home.services.temples.requests.send(NAME, CommandName.SELFTEST, "one")
    answer(home, sent[-1], ok=True, result={"beams": dict.fromkeys(God, beam), "limits": {}, "emitters": "fixed"})
    result = now(home).request.answer  # type: ignore[union-attr]
    assert isinstance(result, Selftest)
    assert result.beams["tlaloc"].findings[0]["code"] == "dark"
    home.services.temples.requests.send(NAME, CommandName.CALIBRATE, "two", God.TLALOC, 1)
    proposal = {
        "god": "tlaloc",
        "widths_ms": [12.0],
        "glitches": 0,
        "spoilt": 0,
        "limits": {},
        "proposed": {"a": None},
    }
    answer(home, sent[-1], ok=True, result=proposal)
    assert isinstance(now(home).request.answer, Proposal)  # type: ignore[union-attr]


def test_the_queue_says_what_waits_in_the_temple(home: Home, sent: list[contract.Command]) -> None:
    assert home.services.temples.ledgers.queue(NAME).recorded is None
    home.services.temples.intake.receive([(NAME, home.token(1)), (NAME, home.token(2))])
    home.services.temples.ledgers.receive_count(
        NAME, contract.Count(SOURCE, 5, {God.TLALOC: 5, God.HUITZILOPOCHTLI: 0})
    )
    assert home.services.temples.ledgers.queue(NAME) == (5, 2)
    assert home.services.temples.ledgers.queue(NAME).waiting == 3
    home.services.temples.ledgers.receive_count(
        NAME, contract.Count("9" * 32, 70, {God.TLALOC: 70, God.HUITZILOPOCHTLI: 0})
    )
    assert (
        home.services.temples.ledgers.queue(NAME).recorded is None
    )  # another ledger's number does not count for this one


def test_the_pace_is_that_of_the_last_minute_without_tests_and_replays(
    home: Home, sent: list[contract.Command]
) -> None:
    home.services.temples.intake.receive([(NAME, home.token(1)), (NAME, home.token(2, "tlaloc", "test"))])
    home.services.temples.intake.receive([(NAME, home.token(3, replayed=True))])
    home.clock.pass_(seconds=40)
    home.services.temples.intake.receive([(NAME, home.token(4))])
    assert len(now(home).falls) == 2
    home.clock.pass_(seconds=30)
    home.services.temples.pass_time()
    assert len(now(home).falls) == 1


def test_since_when_is_known_only_of_what_was_seen_to_change(home: Home, sent: list[contract.Command]) -> None:
    assert not now(home).exact
    home.clock.pass_(seconds=30)
    hear(home, contract.State.LOST)
    assert now(home).exact
    assert now(home).since == home.clock.now


def test_what_another_run_of_the_temple_found_is_not_shown(home: Home, sent: list[contract.Command]) -> None:
    found = contract.Findings("d" * 32, home.clock.now, contract.Emitters.FIXED, {}, dict.fromkeys(God, ()))
    home.services.temples.receive_findings(NAME, found)
    assert now(home).diagnosis is None
    home.services.temples.receive_findings("nobody", found)
    assert [temple.name for temple in home.services.temples.all()] == [NAME]


def test_requests_are_not_stored(home: Home, sent: list[contract.Command]) -> None:
    home.services.temples.requests.send(NAME, CommandName.SELFTEST, "one")
    home.restart()
    assert now(home).request is None

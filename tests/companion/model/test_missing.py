"""Tokens that a temple has and the store lacks: requested at once, again and again, and reported if none come."""

from __future__ import annotations

import itertools
import logging

import pytest

from companion.model.temples import Temple
from templo import contract
from templo.contract import God
from tests.companion.conftest import OTHER, SOURCE, Home
from tests.companion.service.test_requests import NAME, hear

LAST = 40
"""The last number in the temple's ledger."""


@pytest.fixture
def sent(home: Home) -> list[contract.Command]:
    """A temple at work, all of whose tokens are stored; returns what is sent to it."""
    sent: list[contract.Command] = []
    home.services.temples.requests.connect(lambda name, command: sent.append(command))
    hear(home)
    home.services.temples.intake.receive([(NAME, home.token(seq)) for seq in range(1, 11)])
    return sent


def counts(home: Home, seq: int = LAST, source: str = SOURCE) -> None:
    home.services.temples.ledgers.receive_count(
        NAME, contract.Count(source, seq, {God.TLALOC: seq, God.HUITZILOPOCHTLI: 0})
    )


def wait(home: Home, start_s: float, end_s: float) -> float:
    """Let time pass as the intake does, twice a second; returns when it ended."""
    steps = int((end_s - start_s) * 2)
    for step in range(steps + 1):
        home.services.temples.requests.request_missing(start_s + step / 2)
    return end_s


def now(home: Home) -> Temple:
    return home.services.temples.get(NAME)


def asked(sent: list[contract.Command]) -> list[tuple[str, int | None]]:
    return [(str(each.name), each.seq) for each in sent]


# -- when tokens are requested --


def test_the_rest_of_a_ledger_that_stays_ahead_for_two_seconds_is_requested(
    home: Home, sent: list[contract.Command]
) -> None:
    counts(home)
    wait(home, 0, 1.5)
    assert sent == []
    wait(home, 2, 2)
    assert asked(sent) == [("resend", 11)]


def test_the_rest_is_requested_after_the_store_was_restored_although_no_token_falls(
    home: Home, sent: list[contract.Command]
) -> None:
    home.restart()
    home.services.temples.requests.connect(lambda name, command: sent.append(command))
    counts(home)
    hear(home)
    wait(home, 0, 2.5)
    assert asked(sent) == [("resend", 11)]


def test_tokens_in_flight_are_not_requested(home: Home, sent: list[contract.Command]) -> None:
    counts(home)
    for seq in range(11, LAST + 1):
        wait(home, seq, seq + 0.5)
        home.services.temples.intake.receive([(NAME, home.token(seq))])
    wait(home, LAST + 1, LAST + 60)
    assert sent == []


def test_tokens_that_are_missing_below_another_are_requested_at_once(
    home: Home, sent: list[contract.Command]
) -> None:
    home.services.temples.intake.receive([(NAME, home.token(15))])
    home.services.temples.requests.request_missing(0)
    assert asked(sent) == [("resend", 11)]


def test_what_arrives_after_a_request_ends_it(home: Home, sent: list[contract.Command]) -> None:
    home.services.temples.intake.receive([(NAME, home.token(15))])
    home.services.temples.requests.request_missing(0)
    home.services.temples.intake.receive([(NAME, home.token(seq)) for seq in (11, 12)])
    home.services.temples.requests.request_missing(0.5)
    home.services.temples.intake.receive([(NAME, home.token(seq)) for seq in (13, 14)])
    wait(home, 1, 200)
    assert len(sent) == 1


def test_gaps_that_open_and_close_quickly_are_not_requested_one_by_one(
    home: Home, sent: list[contract.Command]
) -> None:
    for seq in range(11, 31, 2):
        for arriving in (seq + 1, seq):
            home.services.temples.intake.receive([(NAME, home.token(arriving))])
            home.services.temples.requests.request_missing(seq / 100)
    assert asked(sent) == [("resend", 11)]
    home.services.temples.intake.receive([(NAME, home.token(32))])
    wait(home, 1, 2.5)
    assert asked(sent) == [("resend", 11), ("resend", 31)]


def test_a_request_is_made_again_with_growing_patience(home: Home, sent: list[contract.Command]) -> None:
    counts(home)
    times = []
    for half in range(1200):
        before = len(sent)
        home.services.temples.requests.request_missing(half / 2)
        times += [half / 2] * (len(sent) - before)
    waits = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert times[0] == 2
    assert waits[:6] == [5, 10, 20, 40, 80, 120]
    assert set(waits[6:]) == {120}


def test_a_request_never_expires(home: Home, sent: list[contract.Command]) -> None:
    counts(home)
    wait(home, 0, 2)
    assert sent[0].expires.year == 9999
    assert contract.decode("command", contract.encode(sent[0])) == sent[0]


@pytest.mark.parametrize("state", [contract.State.LOST, contract.State.STOPPED])
def test_a_request_to_an_absent_temple_is_sent_when_it_is_back(
    home: Home, sent: list[contract.Command], state: contract.State
) -> None:
    counts(home)
    hear(home, state)
    wait(home, 0, 60)
    assert sent == []
    hear(home)
    wait(home, 60.5, 63)
    assert asked(sent) == [("resend", 11)]


def test_the_count_of_another_ledger_causes_no_request(home: Home, sent: list[contract.Command]) -> None:
    counts(home, source=OTHER)
    wait(home, 0, 60)
    assert sent == []


# -- what comes of it --


def test_a_refusal_is_reported_on_the_page_and_in_the_log_until_the_tokens_come(
    home: Home, sent: list[contract.Command], caplog: pytest.LogCaptureFixture
) -> None:
    counts(home)
    wait(home, 0, 2)
    home.changes.clear()
    for _ in range(2):
        home.services.temples.requests.receive_reply(
            NAME, contract.Reply(sent[-1].id, False, error="the disk is full", code="ledger"), 3
        )
        wait(home, 3, 7)
    assert now(home).health().code == "resend_refused"
    assert home.changes == [f"temple:{NAME}"]
    assert [record.levelname for record in caplog.records if "refuses to send them" in record.message] == ["WARNING"]
    home.services.temples.intake.receive([(NAME, home.token(seq)) for seq in range(11, LAST + 1)])
    wait(home, 8, 8)
    assert now(home).health().code == "ready"
    caplog.clear()


@pytest.mark.parametrize("code", ["ledger", "beyond", None])
def test_a_refusal_is_reported_with_its_reason(
    home: Home, sent: list[contract.Command], caplog: pytest.LogCaptureFixture, code: str | None
) -> None:
    counts(home)
    wait(home, 0, 2)
    home.services.temples.requests.receive_reply(NAME, contract.Reply(sent[0].id, False, error="no", code=code), 3)
    trouble = now(home).trouble
    assert trouble is not None
    assert (trouble.code, trouble.error) == ("resend_refused", "no")
    caplog.clear()


def test_a_missing_reply_is_reported_until_a_late_one_comes(
    home: Home, sent: list[contract.Command], caplog: pytest.LogCaptureFixture
) -> None:
    counts(home)
    wait(home, 0, 9.5)
    assert now(home).trouble is None
    wait(home, 10, 10)
    assert now(home).health().code == "resend_silent"
    home.services.temples.requests.receive_reply(
        NAME, contract.Reply(sent[-1].id, True, {"from": 11, "last_seq": LAST}), 11
    )
    assert now(home).health().code == "ready"
    caplog.clear()


def test_a_temple_that_agrees_and_sends_nothing_is_named(
    home: Home, sent: list[contract.Command], caplog: pytest.LogCaptureFixture
) -> None:
    counts(home)
    answered = 0
    for half in range(80):
        home.services.temples.requests.request_missing(half / 2)
        for command in sent[answered:]:
            home.services.temples.requests.receive_reply(
                NAME, contract.Reply(command.id, True, {"from": 11, "last_seq": LAST}), half / 2
            )
        answered = len(sent)
    assert now(home).health().code == "resend_empty"
    caplog.clear()


def test_a_count_that_the_temple_itself_does_not_confirm_alarms_nobody(
    home: Home, sent: list[contract.Command], caplog: pytest.LogCaptureFixture
) -> None:
    counts(home, seq=10**9)
    answered = 0
    for half in range(400):
        home.services.temples.requests.request_missing(half / 2)
        for command in sent[answered:]:
            home.services.temples.requests.receive_reply(
                NAME, contract.Reply(command.id, True, {"from": 11, "last_seq": 10}), half / 2
            )
        answered = len(sent)
    assert now(home).health().code == "ready"
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("result", [None, {}, {"last_seq": "many"}, {"last_seq": -(10**400)}])
def test_an_answer_of_another_shape_breaks_nothing(
    home: Home, sent: list[contract.Command], result: dict[str, object] | None
) -> None:
    counts(home)
    wait(home, 0, 2)
    home.services.temples.requests.receive_reply(NAME, contract.Reply(sent[0].id, True, result), 3)
    home.services.temples.requests.receive_reply(NAME, contract.Reply("9" * 32, False, error="nobody's"), 3)
    wait(home, 3, 4)
    assert now(home).health().code == "ready"


def test_a_temple_whose_clock_is_ten_years_off_gives_its_tokens_all_the_same(
    home: Home, sent: list[contract.Command]
) -> None:
    counts(home)
    wait(home, 0, 1.5)
    home.clock.pass_(days=-3650)
    wait(home, 2, 2)
    assert asked(sent) == [("resend", 11)]

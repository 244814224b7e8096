"""Two daemons with copies of one state directory at one broker: one begins a source of its own, and both count."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from controller.core.name_watch import PROOFS
from templo.contract import State, Trouble
from tests.brokers import Broker, mosquitto, nats
from tests.controller.program import Companion, Starter, Temple
from tests.waiting import eventually

Maker: TypeAlias = Callable[..., AbstractContextManager[Broker]]

ONE_ID_A_USER = "allow_anonymous true\nuse_username_as_clientid true"
"""A broker that gives both temples one client id for ever, as it knows them by their user's name."""


def two_temples(tmp_path: Path, started: Starter, port: int, *words: str) -> tuple[Temple, Temple]:
    """Return two running temples, the second of them from a copy of the first one's state directory."""
    first = started(port, *words, name="first")
    first.drop("tlaloc", 5)
    eventually(lambda: first.report()["waiting"] == 0)
    assert first.stop() == 0
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    first.start()
    return first, started(port, *words, name="second")


@pytest.mark.parametrize(
    ("make", "words", "config"),
    [
        (mosquitto, (), ""),
        (mosquitto, ("--set", "broker.protocol=3.1.1"), ""),
        (nats, (), ""),
        (mosquitto, ("--set", "broker.user=templo"), ONE_ID_A_USER),
        (mosquitto, ("--set", "broker.user=templo", "--set", "broker.protocol=3.1.1"), ONE_ID_A_USER),
    ],
    ids=["mosquitto", "mosquitto-3.1.1", "nats-server", "one-id-a-user", "one-id-a-user-3.1.1"],
)
def test_of_two_temples_with_one_ledger_one_begins_a_new_source_and_both_count(
    make: Maker, words: tuple[str, ...], config: str, tmp_path: Path, started: Starter
) -> None:
    with make(tmp_path, config=config) as broker, Companion(broker.port, user="intake") as companion:
        both = two_temples(tmp_path, started, broker.port, *words)
        eventually(lambda: len({temple.report()["source"] for temple in both}) == 2)
        notices = sorted(tuple(notice["code"] for notice in temple.report()["notices"]) for temple in both)
        assert notices == [(), ("ledger_cloned",)]
        for temple in both:
            temple.drop("huitzilopochtli", 10)
        fell = {row["token"] for temple in both for row in temple.ledger()}
        assert len(fell) == 25
        companion.until(lambda: {token.token for token in companion.kept.values()} == fell, 120)
        assert not companion.clashes
        eventually(lambda: all(temple.report()["trouble"] == Trouble.NAME_TAKEN for temple in both))


def test_a_broker_that_brings_back_an_earlier_status_again_and_again_is_no_second_temple(
    tmp_path: Path, started: Starter
) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        temple.drop("tlaloc", 2)
        source = temple.report()["source"]
        last = companion.until(lambda: next((each for each in companion.statuses() if each.source == source), None))
        earlier = replace(last, session="0" * 32)
        for _ in range(PROOFS + 1):
            os.kill(temple.pid, signal.SIGSTOP)
            broker.kill()
            broker.start()
            companion.received.clear()
            companion.say(earlier, retain=True)
            companion.until(lambda: earlier in companion.statuses())
            os.kill(temple.pid, signal.SIGCONT)
            companion.until(lambda: any(each.session == last.session for each in companion.statuses()))
        assert companion.statuses()[-1].state is State.READY
        report = temple.report()
        assert (report["source"], report["notices"], report["trouble"]) == (source, [], None)


def test_every_status_of_a_temple_has_a_number_of_its_own_its_wills_too(tmp_path: Path, started: Starter) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        session = temple.report()["session"]
        for _ in range(2):
            companion.until(lambda: any(each.session == session for each in companion.statuses()))
            os.kill(temple.pid, signal.SIGSTOP)
            broker.kill()
            numbers = {each.publication for each in companion.statuses()}
            broker.start()
            os.kill(temple.pid, signal.SIGCONT)
            companion.until(lambda numbers=numbers: companion.statuses()[-1].publication not in numbers)
        temple.kill()
        companion.until(lambda: companion.statuses()[-1].state is State.LOST)
        published = [each.publication for each in companion.statuses()]
        assert None not in published
        assert len(set(published)) == len(published)

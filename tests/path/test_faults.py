"""The promise: whatever dies between the beam and the phone, no token is lost and none counts twice."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.brokers import Broker, mosquitto, nats
from tests.path.conftest import Way

BURST = 120
"""Tokens through each slot, 30 ms apart, while the fault happens."""


BOTH = {"mosquitto": mosquitto, "nats-server": nats}


@pytest.fixture
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Way]:
    broker: Callable[[Path], AbstractContextManager[Broker]] = BOTH[request.param]
    with broker(tmp_path) as running:
        way = Way(tmp_path, running)
        try:
            way.start()
            yield way
        finally:
            way.end()


def broker_killed(way: Way) -> None:
    way.broker.kill()
    time.sleep(1)
    way.broker.start()


def broker_frozen(way: Way) -> None:
    way.broker.freeze()
    time.sleep(3)
    way.broker.thaw()


def companion_killed(way: Way) -> None:
    way.companion.kill()
    way.companion.start()


def companion_frozen(way: Way) -> None:
    way.companion.freeze(3)


@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("mosquitto", broker_killed),
        ("nats-server", broker_frozen),
        ("nats-server", companion_killed),
        ("mosquitto", companion_frozen),
    ],
    indirect=["way"],
)
def test_a_fault_in_the_middle_of_a_burst_loses_and_doubles_nothing(way: Way, fault: Callable[[Way], None]) -> None:
    way.drop("huitzilopochtli", BURST)
    way.drop("tlaloc", BURST)
    time.sleep(1)
    fault(way)
    way.settled()
    ledger = way.ledger()
    assert len(ledger) == 2 * BURST
    assert way.kept() == ledger
    assert Counter(way.scored()) == Counter(ledger)


@pytest.mark.parametrize("way", ["mosquitto"], indirect=True)
def test_a_temple_that_is_killed_keeps_what_it_counted_and_goes_on_from_there(way: Way) -> None:
    way.drop("huitzilopochtli", BURST)
    way.drop("tlaloc", BURST)
    time.sleep(1.5)
    way.temple.kill()
    way.dropped()
    before = way.ledger()
    assert before
    way.temple.start()
    way.drop("tlaloc", 20)
    way.settled()
    ledger = way.ledger()
    assert ledger[: len(before)] == before
    assert len(ledger) == len(before) + 20
    assert way.kept() == ledger
    assert Counter(way.scored()) == Counter(ledger)


@pytest.mark.parametrize("way", BOTH, indirect=True)
def test_both_ends_stop_when_they_are_asked_and_lose_nothing(way: Way) -> None:
    way.drop("tlaloc", 20)
    way.dropped()
    assert way.companion.stop() == 0
    way.drop("huitzilopochtli", 20)
    way.dropped()
    assert way.temple.stop() == 0
    way.start()
    way.settled()
    assert Counter(way.scored()) == Counter(way.ledger())
    assert len(way.ledger()) == 40

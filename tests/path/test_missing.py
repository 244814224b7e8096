"""Tokens that the companion lacks come by themselves: no further token has to fall, and no clock is in the way."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from templo import contract
from tests.brokers import mosquitto
from tests.path.conftest import Way

TEN_YEARS_S = 10 * 365 * 86_400
OLDER = 25
"""More than a temple has in flight at once."""


@contextmanager
def running(folder: Path, temple_clock_s: float = 0) -> Iterator[Way]:
    with mosquitto(folder) as broker:
        way = Way(folder, broker, temple_clock_s)
        try:
            way.start()
            yield way
        finally:
            way.end()


def store_files(way: Way) -> list[Path]:
    return sorted(way.companion_state.glob("companion.sqlite*"))


@pytest.mark.parametrize("apart_s", [-90, TEN_YEARS_S])
def test_the_game_goes_on_with_clocks_apart_and_a_companion_that_lacks_older_tokens(
    tmp_path: Path, apart_s: float
) -> None:
    with running(tmp_path, apart_s) as way:
        way.drop("tlaloc", OLDER)
        way.settled()
        assert way.companion.stop() == 0
        for path in store_files(way):
            path.unlink()
        way.companion.start()
        way.settled()
        way.drop("huitzilopochtli", 10)
        way.settled()
        ledger = way.ledger()
        assert way.kept() == ledger
        assert len(ledger) == OLDER + 10
        scored = Counter(way.scored())
        assert set(ledger[OLDER:]) <= set(scored)
        assert set(scored.values()) == {1}


def test_what_a_restored_store_lacks_comes_though_no_token_falls(tmp_path: Path) -> None:
    with running(tmp_path) as way:
        way.drop("tlaloc", 10)
        way.settled()
        assert way.companion.stop() == 0
        for path in store_files(way):
            shutil.copy(path, tmp_path)
        way.companion.start()
        way.drop("tlaloc", 10)
        way.settled()
        assert way.companion.stop() == 0
        for path in store_files(way):
            path.unlink()
        for path in tmp_path.glob("companion.sqlite*"):
            shutil.copy(path, way.companion_state)
        way.companion.start()
        assert len(way.kept()) == 10
        way.settled()
        assert way.kept() == way.ledger()
        assert Counter(way.scored()) == Counter(way.ledger())


def test_tokens_that_a_stranger_acknowledged_are_requested(tmp_path: Path) -> None:
    with running(tmp_path) as way:
        way.companion.kill()
        way.drop("tlaloc", 10)
        way.dropped()
        stranger = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv311)
        stranger.connect("127.0.0.1", way.broker.port)
        stranger.loop_start()
        ack = contract.encode(contract.Ack(way.source(), 10))
        stranger.publish(contract.topic("templo", "ack"), ack, qos=1).wait_for_publish(30)
        stranger.disconnect()
        stranger.loop_stop()
        way.companion.start()
        way.settled()
        assert way.kept() == way.ledger()
        assert Counter(way.scored()) == Counter(way.ledger())

"""A log that strangers can write to grows at a bounded rate, and reports how much was left out."""

from __future__ import annotations

import logging

import pytest

from templo.bounded_log import BoundedLog


class Seconds:
    """A clock that moves when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def bounded(seconds: Seconds) -> BoundedLog:
    return BoundedLog(logging.getLogger("junk"), seconds, at_once=3)


def words(caplog: pytest.LogCaptureFixture) -> list[str]:
    said = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return said


def test_the_first_few_of_a_minute_are_logged_and_the_rest_are_counted(
    bounded: BoundedLog, seconds: Seconds, caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(40):
        bounded.warning("junk %d", n)
    assert words(caplog) == ["junk 0", "junk 1", "junk 2"]
    seconds.now = 60
    bounded.warning("junk again")
    assert words(caplog) == ["37 more of the kind above in the last minute", "junk again"]


def test_what_was_left_out_is_logged_though_nothing_follows(
    bounded: BoundedLog, seconds: Seconds, caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(4):
        bounded.warning("junk %d", n)
    caplog.clear()
    seconds.now = 59
    bounded.settle()
    assert words(caplog) == []
    seconds.now = 60
    bounded.settle()
    bounded.settle()
    assert words(caplog) == ["1 more of the kind above in the last minute"]


def test_a_clock_that_is_set_back_stops_no_log(
    bounded: BoundedLog, seconds: Seconds, caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(4):
        bounded.warning("junk %d", n)
    seconds.now = -1000
    caplog.clear()
    bounded.warning("later")
    assert words(caplog)[-1] == "later"

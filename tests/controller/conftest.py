"""What the controller's tests share: an unexpected warning fails a test, and temples that run as programs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controller import rig
from tests.controller.program import Starter, Temple


@pytest.fixture(autouse=True)
def _no_unexpected_warnings(caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test whose code under test logged a warning, unless the test is marked as expecting some."""
    yield
    if "expects_warnings" not in request.fixturenames:
        warnings = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
        assert not warnings


@pytest.fixture
def expects_warnings() -> None:
    """Register the mark of tests that provoke warnings."""


@pytest.fixture
def temples(tmp_path: Path) -> Iterator[list[Temple]]:
    """Ends every temple that a test puts in."""
    running: list[Temple] = []
    yield running
    for temple in running:
        temple.kill()


@pytest.fixture
def started(tmp_path: Path, temples: list[Temple]) -> Starter:
    """Start a temple at a broker's port; it is ended with the test."""

    def start(port: int | str, *words: str, name: str = "state", **variables: str) -> Temple:
        temples.append(Temple(tmp_path / name, port, *words, **variables))
        return temples[-1].start()

    return start


@pytest.fixture(autouse=True)
def ledgers_are_closed() -> Iterator[None]:
    """Close every ledger of a rig: Python 3.13 warns of open ones, in whatever test happens to run then."""
    yield
    rig.close_all()

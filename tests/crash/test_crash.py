"""The promise, in short: whenever the power goes, nothing acknowledged is lost. `make crash` is the long form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from controller.adapters.sqlite_ledger import Ledger
from tests.crash import ledger
from tests.crash.__main__ import cut, of_the_ledger, of_the_store


def test_the_ledger_loses_nothing_that_it_recorded_and_is_never_corrupt(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = of_the_ledger(160, "short", commits=1_300)
    with capsys.disabled():
        print(f"\n{outcome}")
    assert not outcome.wrong


def test_the_store_loses_nothing_that_it_acknowledged_and_is_never_corrupt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = of_the_store(80, "short", commits=190)
    with capsys.disabled():
        print(f"\n{outcome}")
    assert not outcome.wrong


@pytest.mark.parametrize("synchronous", ["NORMAL", "OFF"])
def test_the_images_expose_a_ledger_that_does_not_sync_each_commit(synchronous: str) -> None:
    def careless(opened: Ledger) -> None:
        opened._connection.execute(f"PRAGMA synchronous = {synchronous}")

    work: Callable[..., None] = partial(ledger.work, commits=60, ordered=careless)
    outcome = cut("a careless ledger", work, ledger.Promise, ledger.check, 80, "short")
    assert any(each.startswith("lost") for each in outcome.wrong)

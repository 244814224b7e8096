"""A ledger that comes back from a backup: every token that falls from then on counts, and a person is shown why."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from controller.adapters.control_socket import ask
from tests.brokers import mosquitto
from tests.path.conftest import ROOT, Way, eventually


def report(way: Way) -> Mapping[str, object]:
    answer = ask(way.temple_state, {"do": "status"}, 30)
    assert answer is not None
    return answer


def notices(way: Way) -> list[str]:
    standing = report(way)["notices"]
    assert isinstance(standing, list)
    return [notice["code"] for notice in standing]


def words(way: Way, *command: str) -> str:
    """Run a command of the controller on the temple's state and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "controller", *command, "--state", str(way.temple_state)],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("away", [False, True], ids=["companion-there", "companion-away"])
def test_every_token_that_falls_after_a_ledger_was_put_back_counts_once(tmp_path: Path, away: bool) -> None:
    with mosquitto(tmp_path) as broker:
        way = Way(tmp_path, broker)
        try:
            way.start()
            way.drop("tlaloc", 20)
            way.settled()
            assert way.temple.stop() == 0
            shutil.copytree(way.temple_state, tmp_path / "copy")
            way.temple.start()
            way.drop("tlaloc", 40)
            way.settled()
            before = way.kept()
            source = way.source()
            assert way.temple.stop() == 0
            shutil.rmtree(way.temple_state)
            shutil.copytree(tmp_path / "copy", way.temple_state)
            if away:
                way.companion.kill()
            way.temple.start()
            way.drop("huitzilopochtli", 60)
            way.dropped()
            fell = way.ledger()[20:]
            assert len(fell) == 60
            if away:
                way.companion.start()
            eventually(lambda: set(way.kept()) == set(before) | set(fell), what="every token is stored")
            eventually(lambda: Counter(way.scored()) == Counter(before) + Counter(fell), what="each counts once")
            assert Counter(way.kept()) == Counter(before) + Counter(fell)
            assert not set(way.held_apart()) - set(way.kept())
            eventually(lambda: report(way)["waiting"] == 0, what="all is acknowledged")
            assert report(way)["source"] != source
            assert (report(way)["state"], notices(way)) == ("alert", ["ledger_restored"])
            assert way.temple.stop() == 0
            assert "the ledger came from a backup" in words(way, "status")
            way.temple.start()
            assert (report(way)["state"], notices(way)) == ("alert", ["ledger_restored"])
            words(way, "dismiss", "ledger_restored")
            assert notices(way) == []
            way.temple.kill()
            way.temple.start()
            assert notices(way) == []
        finally:
            way.end()


def test_a_temple_that_is_killed_with_all_delivered_is_not_taken_for_a_restored_one(tmp_path: Path) -> None:
    """The mark of what is delivered rides with the next token: a kill after the last one loses it."""
    with mosquitto(tmp_path) as broker:
        way = Way(tmp_path, broker)
        try:
            way.companion.start()
            way.temple.start()
            way.broker.kill()
            way.drop("tlaloc", 60, every_ms=20)
            way.dropped()
            way.broker.start()
            way.settled()
            eventually(lambda: report(way)["waiting"] == 0, what="all is acknowledged")
            source = report(way)["source"]
            for _ in range(2):
                way.temple.kill()
                way.temple.start()
                eventually(lambda: report(way)["waiting"] == 0, what="all is acknowledged")
            assert (report(way)["source"], notices(way)) == (source, [])
            assert Counter(way.scored()) == Counter(way.ledger())
        finally:
            way.end()

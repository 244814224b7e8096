"""A temple whose ledger was written by a newer release: it says so, counts in memory, and changes nothing of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from controller.adapters.sqlite_ledger import FILE_NAME
from templo.contract import State, Trouble
from tests.brokers import mosquitto
from tests.controller.program import Companion, Starter, call
from tests.waiting import eventually

NEWER = 7


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_a_temple_leaves_the_ledger_of_a_newer_release_alone_and_says_so(tmp_path: Path, started: Starter) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        temple.drop("tlaloc", 3)
        assert temple.stop() == 0
        ledger = temple.state / FILE_NAME
        with closing(sqlite3.connect(ledger)) as connection:
            connection.execute("UPDATE meta SET schema = ?", (NEWER,))
            connection.commit()
        files, rows = sorted(path.name for path in temple.state.iterdir()), content(ledger)
        temple.start()
        status = companion.until(
            lambda: next((each for each in companion.statuses() if each.trouble is Trouble.LEDGER_NEWER), None)
        )
        assert status.state is State.ALERT
        temple.press("t")
        eventually(lambda: temple.report()["unrecorded"] == 1)
        assert temple.report()["trouble"] == Trouble.LEDGER_NEWER
        shown = call("status", "--state", str(temple.state)).stdout
        assert "a newer release wrote the ledger: update this program" in shown
        assert f"has schema {NEWER}; expected" in temple.log()
        assert temple.stop() == 0
        assert content(ledger) == rows
        assert sorted(path.name for path in temple.state.iterdir()) == files

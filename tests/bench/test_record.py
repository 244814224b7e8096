"""What a run of the bench prints is kept among the documents, the latest alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bench.__main__ as command_line
from bench.club import start
from tests.docs.pages import ROOT


def test_a_record_replaces_the_last_one_and_says_how_and_when_it_was_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start, "GAMES", (("mexica", "temple_only"),))
    monkeypatch.setattr(command_line, "RECORDS", tmp_path)
    (tmp_path / "start.txt").write_text("an older run\n" * 99)
    assert command_line.main(["record", "start", "--past", "3"]) == 0
    command, machine, _, *table = (tmp_path / "start.txt").read_text().splitlines()
    assert command == 'make bench ARGS="start --past 3"'
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC; \d+ cores of ", machine)
    assert not [line for line in table if "older" in line]
    assert all(line in capsys.readouterr().out or not line for line in table[:1])
    assert command_line.main(["start", "--past", "3"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["start.txt"]


def test_every_record_of_the_documents_is_one_that_a_command_writes() -> None:
    temple = {"physics", "sensors", "heaps", "heaps-levelled", "bowls", "hours", "lake", "seats"}
    known = {*command_line.PARTS, *command_line.ASKED_FOR, *temple}
    records = list((ROOT / "docs" / "measurements").glob("*.*"))
    assert {path.stem for path in records} <= known
    assert all(path.read_text("utf-8").startswith(("make ", "python -m ")) for path in records)

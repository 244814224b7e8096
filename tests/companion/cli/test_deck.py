"""The demo with a designer's deck: what is saved is in play, and the terminal says what is wrong."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.companion.cli.conftest import Launched
from tests.waiting import eventually

FIVE = '[day]\nday-dog-1 = { effect = "gain", tokens = 5 }\n'


@pytest.fixture
def designed(tmp_path: Path) -> Iterator[tuple[Launched, Path]]:
    file = tmp_path / "mine.toml"
    file.write_text(FIVE)
    launch = Launched(tmp_path / "state", "--deck", str(file))
    try:
        launch.ready()
        yield launch, file
    finally:
        launch.clear()


def test_a_designer_sees_each_save_on_the_table_and_each_fault_in_the_terminal(
    designed: tuple[Launched, Path],
) -> None:
    launch, file = designed

    def page() -> str:
        with urllib.request.urlopen(launch.url(), timeout=180) as answer:
            return str(answer.read().decode())

    eventually(lambda: f"{file}: nothing is wrong" in launch.output())
    assert "The deck was changed" not in page()
    file.write_text(FIVE.replace("5", "55"))
    fault = "day-dog-1: gain: tokens is 55; expected 1 … 13"
    eventually(lambda: f"{file}:2: {fault}" in launch.output())
    assert f"Line 2: {fault}" in page()
    file.write_text(FIVE.replace("5", "6"))
    eventually(lambda: "The deck was changed" in page())
    assert fault not in page()

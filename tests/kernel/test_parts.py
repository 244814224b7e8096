"""The record of `make kernel`, by which a run of many hours is made of parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernel.parts import Found, once


def test_a_recorded_part_is_not_run_again_and_another_one_is(tmp_path: Path) -> None:
    ran: list[int] = []

    def part() -> dict[str, Found]:
        ran.append(len(ran))
        return {"gpiod": Found({"fell": 7}, {"counting": [1.5]}, ["a fault"])}

    record = tmp_path / "build" / "parts.jsonl"
    first = once("tokens 1", part, record)
    assert once("tokens 1", part, record) == first == {"gpiod": Found({"fell": 7}, {"counting": [1.5]}, ["a fault"])}
    assert len(ran) == 1
    once("tokens 2", part, record)
    assert len(ran) == 2


def test_a_part_that_fails_is_not_recorded(tmp_path: Path) -> None:
    def fails() -> dict[str, Found]:
        raise OSError("no disk")

    record = tmp_path / "parts.jsonl"
    with pytest.raises(OSError, match="no disk"):
        once("cuts 1", fails, record)
    assert once("cuts 1", lambda: {"cuts": Found({"cuts": 2})}, record)["cuts"].figures == {"cuts": 2}

"""The measurement of several companions refuses sizes that it cannot have, and ends what it began."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.__main__ import main
from bench.club import scale
from bench.tools.programs import BenchError, Programs


@pytest.mark.parametrize(
    "sizes",
    [
        ["scale", "--tables", "0"],
        ["scale", "--tables", "246"],
        ["scale", "--drained", "49"],
        ["scale", "--temples", "1", "--drained", "3"],
        ["latency", "--rounds", "0"],
        ["rest", "--rest", "nan"],
        ["spectators", "--streams", "0"],
        ["start", "--past", "3"],
        ["hosted", "--clubs", "0"],
        ["against", "HEAD", "--rounds", "0"],
    ],
)
def test_a_size_that_cannot_be_measured_is_refused(sizes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(sizes)
    assert f"{sizes[-2]} is {sizes[-1]}" in capsys.readouterr().err


def test_a_setup_that_cannot_begin_ends_what_it_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Path] = []

    class Broken(Programs):
        def mosquitto(self) -> int:
            raise BenchError("there is no broker")

        def __exit__(self, *_: object) -> None:
            ended.append(self.folder)

    monkeypatch.setattr(scale, "Programs", Broken)
    with Programs(tmp_path) as programs, pytest.raises(BenchError):
        scale.measure(programs, scale.Size(), ["takeover"])
    assert len(ended) == 1

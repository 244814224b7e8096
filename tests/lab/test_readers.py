"""pandas and polars read the records of a run by the lines that docs/lab.md gives, where they are installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab import runs
from tests.lab.coins import coin

PAGE = Path(__file__).parents[2] / "docs" / "lab.md"

RARE = 150
"""The first game with a card, past the lines from which polars guesses columns by itself."""


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[runs.Line]:
    """Keep 200 games in ``out.jsonl`` of the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "out.jsonl"
    runs.run([runs.jobs_of(coin(), 100), runs.jobs_of(coin(tenths=3), 100, variant="tenths")], path, processes=1)
    lines = [msgspec.json.decode(line, type=runs.Line) for line in path.read_bytes().splitlines()]
    rare = msgspec.structs.replace(lines[RARE].record, kind="rare", turns=7, cards={"day-rain-1": "heads"})
    lines[RARE] = msgspec.structs.replace(lines[RARE], record=rare)
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return lines


def lines_of(library: str) -> str:
    """Return the line of the page that uses a library."""
    (line,) = [each for each in PAGE.read_text(encoding="utf-8").splitlines() if each.startswith(f"{library}.")]
    return line


def test_pandas_reads_the_records(records: list[runs.Line]) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    means: Any = eval(lines_of("pandas"), {"pandas": pandas})
    assert means.to_dict() == {"rare": 7, "tossed": 2}
    assert len(pandas.read_json("out.jsonl", lines=True)) == len(records)


def test_polars_reads_the_records_and_what_only_late_ones_have(records: list[runs.Line]) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    means: Any = eval(lines_of("polars"), {"polars": polars})
    assert dict(means.iter_rows()) == {"rare": 7, "tossed": 2}
    every = polars.read_ndjson("out.jsonl", infer_schema_length=None).unnest("record")
    assert every["cards"].to_list()[RARE]["day-rain-1"] == "heads"
    assert len(every) == len(records)

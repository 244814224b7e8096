"""The measurement of hosted clubs, at its smallest."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.club import hosted
from bench.tools.programs import Programs


def test_a_club_is_woken_by_its_first_page_and_measured_awake_and_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted, "SETTLED_S", 0.1)
    monkeypatch.setattr(hosted, "REST_S", 0.5)
    with Programs(tmp_path) as programs:
        chapter = hosted.measure(programs, 1)
    figures = {row.what: row.ours for row in chapter.rows}
    assert all(value >= 0 for value in figures.values())
    assert figures["memory of each awake without a table (PSS)"] > 10

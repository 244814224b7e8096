"""What the documents say of messages, users, settings and metrics is what is declared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.web.routes.metrics import METRICS
from tools import tables

NAMES = re.compile(r"\b(?:templo|process)_[a-z_]+\b")
PANELS = tables.dashboard()["panels"]


@pytest.mark.parametrize(("path", "text"), tables.documents().items(), ids=lambda each: getattr(each, "name", ""))
def test_what_follows_from_declarations_is_written_in_the_documents(path: Path, text: str) -> None:
    assert path.read_text("utf-8") == text, "write it anew with: python -m tools.tables"


def test_the_dashboard_shows_every_metric_over_time_or_as_it_is_and_counts_each_alarm() -> None:
    shown = [panel["targets"][0]["expr"] for panel in PANELS if panel["type"] != "stat"]
    assert [set(NAMES.findall(each)) for each in shown] == [{metric.name} for metric in METRICS]
    counted = [panel["targets"][0]["expr"] for panel in PANELS if panel["type"] == "stat"]
    assert counted == [f"count({when}) or vector(0)" for when, _, _ in tables.alarms()]


def test_every_alarm_is_about_metrics_that_are_exported() -> None:
    named = {name for when, _, _ in tables.alarms() for name in NAMES.findall(when)}
    assert "templo_streams_limit" in named
    assert named <= {metric.name for metric in METRICS}


def test_a_metric_of_all_companions_is_read_once_and_one_of_each_by_its_companion() -> None:
    panels = {tuple(NAMES.findall(panel["targets"][0]["expr"])): panel["targets"][0] for panel in PANELS}
    stored = panels["templo_tokens_received_total",]
    assert stored["expr"] == "max by (temple, god) (rate(templo_tokens_received_total[1m]))"
    assert stored["legendFormat"] == "{{temple}}, {{god}}"
    assert panels["templo_tokens_on_way",]["expr"] == "min by (temple, god) (templo_tokens_on_way)"
    assert (panels["templo_streams",]["expr"], panels["templo_streams",]["legendFormat"]) == (
        "templo_streams",
        "{{instance}}",
    )
    assert panels["templo_beam_state",]["expr"] == "max by (temple, god, state) (templo_beam_state) == 1"


def test_every_panel_of_the_dashboard_has_a_place_of_its_own() -> None:
    places = [panel["gridPos"] for panel in PANELS]
    cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)

"""What the documents say of messages, users, settings and metrics is what is declared."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from pathlib import Path

import griffe
import pytest

from companion.games import kit as games_kit
from companion.web.routes.metrics import METRICS
from tools import commands, kit, tables

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


def test_the_reference_is_not_written_while_an_option_does_not_say_what_it_does() -> None:
    parser = argparse.ArgumentParser(prog="templo-thing")
    parser.add_argument("--said", help="what it does")
    parser.add_argument("--unsaid", default=3, help="(%(default)s)")
    with pytest.raises(ValueError, match="templo-thing: unsaid does not say what it does"):
        list(commands.options(parser))


@pytest.mark.parametrize(
    ("source", "unsaid"),
    [
        ("class Pot:\n    beans: int", "Pot"),
        ("def cooked(): ...", "cooked"),
        ("BEANS = 3", "BEANS"),
        ("class Pot:\n    'Cooks beans.'\n    beans: int", "Pot.beans"),
        ("class Pot:\n    'Cooks beans.'\n    beans: int\n    'How many.'\n    water: int", "Pot.water"),
    ],
)
def test_the_reference_is_not_written_while_a_name_or_a_field_of_the_kit_does_not_say_what_it_is(
    source: str, unsaid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (thing,) = griffe.visit("somewhere", Path("somewhere.py"), source).members.values()
    monkeypatch.setattr(kit, "names", lambda: [thing])
    with pytest.raises(ValueError, match=rf"somewhere\.{unsaid} does not say what it is"):
        list(kit.sections())


def test_the_manual_escapes_no_bar_because_the_site_would_show_the_backslash() -> None:
    assert not [path.name for path in (commands.ROOT / "docs").glob("*.md") if r"\|" in path.read_text("utf-8")]


def test_a_signature_of_the_reference_is_python() -> None:
    for line in kit.sections():
        for written in re.findall(r"^`?(?:\w+\.)?(\w+\(.*\) -> .*?)(?:`:)?$", line):
            ast.parse(f"def {written}: ...")


def test_every_public_name_of_the_kit_is_in_its_reference_with_what_it_means() -> None:
    text = "\n".join(kit.sections())
    public = {
        name for name in vars(games_kit) if not name.startswith("_") and not inspect.ismodule(vars(games_kit)[name])
    }
    assert public - {"Struct", "fields", "replace"} == set(re.findall(r"^## (\w+)$", text, re.MULTILINE))


def test_the_reference_shows_the_commands_of_each_program_with_their_options() -> None:
    text = "\n".join(commands.sections())
    for shown in (
        "| `held count` |",
        "| `--store STORE` |",
        "| `calibrate` |",
        "## templo-broker-access",
        "| `duel` |",
        "## templo-companion new-game",
        "| `walls` |",
    ):
        assert shown in text

"""Writes what follows from declarations into the documents: ``python -m tools.tables``.

That is what stands between each pair of marks: settings, commands, messages, metrics and the kit of games; and the
dashboard of the club's example.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from companion.settings import Settings as CompanionSettings
from companion.web.routes.metrics import METRICS, Metric
from controller.app.settings import default_pins
from controller.core.settings import DeclaredSettings
from templo.contract import CONTRACT, access_rules
from templo.contract.declarations import Catalogue, Declaration, Field, Place
from templo.settings import declared_defaults, declared_settings
from tools import commands, kit

DOCS = Path(__file__).resolve().parents[1] / "docs"
_BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """Return a document with every table between its marks replaced.

    A table begins after ``<!-- generated: NAME -->`` and ends at ``<!-- end -->``. Raises `ValueError` for a mark
    that names no table, and for a table without marks.
    """
    names = [found[2] for found in _BLOCK.finditer(text)]
    if sorted(names) != sorted(tables):
        raise ValueError(f"the generated tables are {', '.join(names)}; expected once each {', '.join(tables)}")
    return _BLOCK.sub(lambda found: f"{found[1]}{tables[found[2]]}{found[3]}", text)


def documents() -> dict[Path, str]:
    """Return every document that is written from declarations, as it should be."""
    tables: dict[str, dict[str, str]] = {
        "protocol.md": message_tables(),
        "broker.md": {"users": users_table()},
        "prometheus.md": {"metrics": metrics_table()},
        "settings.md": {"settings": settings_table()},
        "commands.md": {"commands": "\n".join(commands.sections())},
        "kit.md": {"kit": "\n".join(kit.sections())},
        "club.md": {"alarms": alarms_table()},
    }
    written = {DOCS / name: with_tables((DOCS / name).read_text("utf-8"), each) for name, each in tables.items()}
    return {**written, DOCS / "examples" / "club" / "grafana.json": json.dumps(dashboard(), indent=1) + "\n"}


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("| --- ", "|---").replace("--- |", "---|")


# -- messages --


def message_tables(catalogue: Catalogue = CONTRACT) -> dict[str, str]:
    """Return the table of all messages, and one of each message's fields by its leaf."""
    return {"topics": topics_table(catalogue)} | {each.leaf: fields_table(each) for each in catalogue}


def topics_table(catalogue: Catalogue = CONTRACT) -> str:
    """Return one line for each message: who sends it, and how."""
    rows = (
        (
            f"`{each.leaf}`" if each.place is Place.TEMPLE else f"`{each.topic}`",
            " and ".join(each.sent_by),
            str(each.qos),
            "yes" if each.retained else "no",
            each.about,
        )
        for each in catalogue
    )
    return _table(("topic", "from", "QoS", "retained", "what it is"), rows)


def fields_table(declaration: Declaration) -> str:
    """Return one line for each field of a message: what it takes, and whether it may be missing."""
    rows = ((f"`{each.name}`", each.type.expected, _presence(each)) for each in declaration.fields)
    return _table(("field", "takes", "presence"), rows)


def _presence(field: Field) -> str:
    if field.omitted:
        return "may be left out"
    return "may be null" if field.default is None else "required"


def users_table(catalogue: Catalogue = CONTRACT) -> str:
    """Return one line for each user of the broker: what it may publish, and what it may receive."""
    rules = access_rules({"<name>": "temple-<name>"}, ["watcher"], catalogue)
    rows = ((f"`{user}`", _topics(lines, "write"), _topics(lines, "read")) for user, lines in rules.items())
    return _table(("user", "may publish", "may receive"), rows)


def _topics(lines: Sequence[str], right: str) -> str:
    """Return the topics for which some lines of access rules give a right, those of one place together."""
    leaves: dict[str, list[str]] = {}
    for given, _, topic in (line.partition(" ") for line in lines):
        if right in given:
            place, _, leaf = topic.rpartition("/")
            leaves.setdefault(place, []).append("everything" if leaf == "#" else f"`{leaf}`")
    return "; ".join(f"`{place}/`: {', '.join(each)}" for place, each in leaves.items()) or "nothing"


# -- settings --


def settings_table() -> str:
    """Return one line for each setting: what it does and takes, its default, and which programs have it."""
    controller, companion = declared_settings(DeclaredSettings), declared_settings(CompanionSettings)
    defaults = declared_defaults(CompanionSettings) | declared_defaults(DeclaredSettings) | default_pins()
    rows = (
        (
            f"`{key}`",
            setting.about,
            setting.expected,
            _default(defaults.get(key)),
            "both" if key in controller and key in companion else "controller" if key in controller else "companion",
        )
        for key, setting in sorted((controller | companion).items())
    )
    return _table(("setting", "what it does", "what it takes", "without it", "program"), rows)


def _default(value: object) -> str:
    return "" if value in (None, "", ()) else f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


# -- metrics --

UP = 'up{job="templo"} == 0'
"""The alarm that is Prometheus's own."""


def metrics_table() -> str:
    """Return one line for each metric: its labels, and what it means."""
    return _table(
        ("metric", "labels", "meaning"),
        ((f"`{each.name}`", ", ".join(each.labels), each.meaning) for each in METRICS),
    )


def alarms() -> Iterator[tuple[str, int, str]]:
    """Yield what deserves an alarm: an expression, for how many seconds it must hold, and what it means."""
    yield UP, 30, "a companion does not answer"
    for each in METRICS:
        if each.alarm:
            yield each.alarm.when.replace("{}", each.name), each.alarm.for_s, each.alarm.meaning


def alarms_table() -> str:
    """Return one line for each alarm."""
    rows = ((f"`{when}`" + (f" for {for_s} s" if for_s else ""), meaning) for when, for_s, meaning in alarms())
    return _table(("expression", "meaning"), rows)


def dashboard() -> dict[str, Any]:
    """Return the dashboard for Grafana: for how much each alarm is due, and below them every metric."""
    due = [_alarm_panel(when, meaning) for when, _, meaning in alarms()]
    below = -(-len(due) // 4) * 4
    panels = [*_placed(due, 6, 4, 0), *_placed([_metric_panel(each) for each in METRICS], 12, 8, below)]
    return {
        "title": "Templo Mayor: a club",
        "uid": "templo-club",
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-3h", "to": "now"},
        "tags": ["templo-mayor"],
        "templating": {
            "list": [{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}]
        },
        "panels": [{"id": number, **panel} for number, panel in enumerate(panels, 1)],
    }


def _placed(panels: Sequence[dict[str, Any]], width: int, height: int, top: int) -> Iterator[dict[str, Any]]:
    """Yield panels of one size with their places, row by row in the dashboard's 24 columns."""
    for n, panel in enumerate(panels):
        row, column = divmod(n, 24 // width)
        yield {**panel, "gridPos": {"x": column * width, "y": top + row * height, "w": width, "h": height}}


def _alarm_panel(when: str, meaning: str) -> dict[str, Any]:
    steps = [{"color": "green", "value": None}, {"color": "red", "value": 1}]
    red = {"unit": "short", "thresholds": {"mode": "absolute", "steps": steps}}
    return _panel(meaning[0].upper() + meaning[1:], "stat", f"count({when}) or vector(0)", "", red)


def _metric_panel(metric: Metric) -> dict[str, Any]:
    """Return the panel of a metric: a state's as a table of what is the case now, any other's over time."""
    labels = ", ".join(metric.labels)
    legend = ", ".join(f"{{{{{label}}}}}" for label in (*metric.labels, *["instance"] * (metric.combine == "each")))
    value = f"rate({metric.name}[1m])" if metric.kind == "counter" else metric.name
    if metric.combine != "each":
        value = f"{metric.combine} by ({labels}) ({value})" if labels else f"{metric.combine}({value})"
    title = metric.meaning.rstrip(".").replace("`", "")
    if metric.kind == "state":
        return _panel(title, "table", f"{value} == 1", "", {"unit": "short"})
    unit = "short" if metric.kind == "gauge" else "percentunit" if "_seconds_" in metric.name else "ops"
    return _panel(title, "timeseries", value, legend, {"unit": unit})


def _panel(title: str, kind: str, expression: str, legend: str, defaults: dict[str, Any]) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${datasource}"}
    target: dict[str, Any] = {"refId": "A", "datasource": source, "expr": expression, "legendFormat": legend}
    if kind != "timeseries":
        target["instant"] = True
    return {
        "title": title,
        "type": kind,
        "datasource": source,
        "targets": [target],
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": {},
    }


def main(argv: Sequence[str]) -> int:
    """Write every document."""
    argparse.ArgumentParser(prog="python -m tools.tables", description=__doc__).parse_args(argv)
    for path, text in documents().items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

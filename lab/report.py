"""One page that says what was found: it holds its own figures, and nothing is fetched when it is opened."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from lab import charts
from lab.matches import Setup
from lab.studies import Change, Findings

PACE_S = 40
"""Seconds that people at a table take for a turn."""

_PAGES = jinja2.Environment(autoescape=True, loader=jinja2.FileSystemLoader(Path(__file__).parent))


def written(findings: Findings, pace: int = PACE_S) -> str:
    """Return the report as HTML; a turn at the table takes `pace` seconds."""
    setup, summary = findings.setup, findings.summary
    played = {**findings.strengths, **({"usual": findings.usual} if findings.usual else {})}
    quartiles = [round(each) for each in _quartiles(summary.turns)]
    drawn = {
        "lengths": charts.lengths(summary.turns),
        "seats": charts.seats(summary.seats, sum(each.share for each in summary.seats.values()) / len(summary.seats)),
        "options": _drawn(findings.options, "games with a winner, difference in %"),
        "habits": _drawn(findings.habits, "wins of who has the habit, difference in %"),
    }
    return _PAGES.get_template("report.html").render(
        title=f"{setup.game.title()}, {setup.preset}",
        summary=summary,
        first=findings.first,
        seats=setup.seats,
        chosen=", ".join(f"{key} = {_shown(value)}" for key, value in setup.chosen.items()),
        command=f"python -m lab run {_arguments(setup)} --games {summary.games} --first {findings.first}",
        replay=f"python -m lab replay {_arguments(setup)}",
        quartiles=quartiles,
        pace=pace,
        minutes=round(quartiles[1] * pace / 60),
        strengths=findings.strengths,
        medians={name: round(statistics.median(each.turns)) for name, each in played.items()},
        usual=findings.usual,
        beside=findings.beside,
        longest=setup.longest,
        options=_sorted(findings.options),
        cards=_sorted(findings.cards),
        habits=_sorted(findings.habits),
        charts={name: Markup(svg) for name, svg in drawn.items()},  # noqa: S704  # drawn here, from figures
    )


def _arguments(setup: Setup) -> str:
    chosen = [f"--set {key}={'@FILE' if _is_file(value) else value}" for key, value in setup.chosen.items()]
    return " ".join((setup.game, setup.preset, f"--seats {setup.seats}", *chosen))


def _shown(value: object) -> str:
    return "a file of your own" if _is_file(value) else str(value)


def _is_file(value: object) -> bool:
    return len(str(value)) > 40 or "\n" in str(value)


def _quartiles(turns: Sequence[int]) -> list[float]:
    return statistics.quantiles(turns, n=4) if len(turns) > 1 else [*turns] * 3


def _sorted(changes: Sequence[Change]) -> list[Change]:
    return sorted(changes, key=lambda each: (not each.certain, -abs(each.wins.difference)))


def _drawn(changes: Sequence[Change], unit: str) -> str:
    if not changes:
        return ""
    found = _sorted(changes)
    return charts.effects(
        {each.name: each.wins for each in found}, {each.name: each.certain for each in found}, unit, 100
    )

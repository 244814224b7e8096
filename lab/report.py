"""Writes the report of a playtest as one page that contains its own figures."""

from __future__ import annotations

import shlex
import statistics
import tomllib
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import jinja2
from babel.numbers import format_decimal
from markupsafe import Markup

from lab import charts, names
from lab.matches import LONGEST, Record, Setup, game_of, options_of, steps
from lab.studies import Change, Findings

PACE_S = 40
"""Seconds that people at a table take for a turn, where their game says nothing else."""

REPLAYED = 5
"""Standstills whose last moves the page itself shows."""

LAST = 60
"""How many last moves are shown, enough to see what repeats."""

LANGUAGES = ("en", "es")

_HERE = Path(__file__).parent


def written(findings: Findings, pace: int | None = None, language: str = LANGUAGES[0]) -> str:
    """Return the report as HTML in one of `LANGUAGES`; a turn takes `pace` seconds, or the game's.

    The game, its seats and ends, and what was chosen have the words of the game's pages; moves, and what is changed
    one at a time, the names by which the lab's commands know them.
    """
    setup, summary, translate = findings.setup, findings.summary, _translator(language)
    called = names.of(game_of(setup), language)
    seat = findings.counted
    judged = (
        translate("%(seat)s won") % {"seat": called(f"seat.{seat}", seat)}
        if seat
        else translate("games with a winner")
    )
    pace = pace or game_of(setup).playtest.paces.get(setup.preset, PACE_S)
    played = {**findings.strengths, **({"usual": findings.usual} if findings.usual else {})}
    quartiles = [round(each) for each in _quartiles(summary.turns)]
    drawn = _charts(findings, translate, called, judged)
    heat = game_of(setup).playtest.heat(options_of(setup))
    counted = ""
    if heat and summary.places:
        counted = heat.counted if isinstance(heat.counted, str) else heat.counted[language]
        drawn["heat"] = charts.board(heat, summary.places, counted)
    return (
        _pages(translate, language)
        .get_template("report.html")
        .render(
            language=language,
            counted=counted,
            called=called,
            title=f"{called('name', setup.game.title())}, {called(f'preset.{setup.preset}.name', setup.preset)}",
            summary=summary,
            first=findings.first,
            seats=setup.seats,
            chosen=", ".join(_chosen(key, value, translate, called) for key, value in setup.chosen.items()),
            players=", ".join(setup.habits),
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
            heat=heat if "heat" in drawn else None,
            hottest=sorted(summary.places.items(), key=lambda each: -each[1])[:5],
            last_moves={each.seed: _last_moves(setup, each) for each in summary.still[:REPLAYED]},
            options=_sorted(findings.options),
            judged=judged,
            cards=_sorted(findings.cards),
            habits=_sorted(findings.habits),
            charts={name: Markup(svg) for name, svg in drawn.items()},  # noqa: S704  # drawn here, from figures
        )
    )


def _charts(
    findings: Findings, translate: Callable[[str], str], called: Callable[[str, str], str], judged: str
) -> dict[str, str]:
    """Draw all charts but the board's."""
    summary = findings.summary
    return {
        "lengths": charts.lengths(
            summary.turns, (translate("turns"), translate("games")), translate("Length of the games")
        ),
        "seats": charts.seats(
            {called(f"seat.{seat}", seat): share for seat, share in summary.seats.items()},
            sum(each.share for each in summary.seats.values()) / len(summary.seats),
            translate("% of all games won"),
            translate("Wins by seat"),
        ),
        "options": _drawn(findings.options, f"{judged}, {translate('difference in %')}"),
        "habits": _drawn(findings.habits, translate("wins of who has the habit, difference in %")),
    }


def _pages(translate: Callable[[str], str], language: str) -> jinja2.Environment:
    """Return the report's template loader.

    Its `_` translates an English sentence and fills in its facts, its `number` writes a number as the language does.
    """
    found = jinja2.Environment(autoescape=True, loader=jinja2.FileSystemLoader(_HERE))
    found.globals["_"] = lambda text, **facts: Markup(translate(text)) % facts  # noqa: S704  # our own sentences
    found.globals["number"] = partial(_number, language)
    return found


def _number(language: str, value: float, decimals: int = 0, signed: bool = False) -> str:
    pattern = "#,##0." + "0" * decimals if decimals else "#,##0"
    return format_decimal(value, f"+{pattern};-{pattern}" if signed else pattern, language)


@cache
def _translator(language: str) -> Callable[[str], str]:
    """Return the function that translates an English sentence of the report."""
    if language == LANGUAGES[0]:
        return str
    sentences = tomllib.loads((_HERE / f"report.{language}.toml").read_text(encoding="utf-8"))
    return sentences.__getitem__


def _arguments(setup: Setup) -> str:
    chosen = [("--set", f"{key}={'@FILE' if _is_file(value) else value}") for key, value in setup.chosen.items()]
    chosen += [("--player", name) for name in setup.habits]
    chosen += [("--longest", str(setup.longest))] * (setup.longest != LONGEST)
    chosen += [("--folder", "FOLDER")] * len(setup.folders)
    flags = ("--seats", str(setup.seats), *(word for pair in chosen for word in pair))
    return shlex.join((setup.game, setup.preset, *flags))


def _last_moves(setup: Setup, record: Record) -> list[str]:
    """Return the last moves of a game, each with its number and who made it."""
    moves = deque(enumerate(steps(setup, record.seed, record.players), 1), LAST)
    return [" ".join((str(n), seat, *map(str, move.to_json()))) for n, (_, seat, move, _, _) in moves]


def _chosen(key: str, value: object, translate: Callable[[str], str], called: Callable[[str, object], str]) -> str:
    chosen = translate("a file of your own") if _is_file(value) else called(f"option.{key}.value.{value}", value)
    return f"{called(f'option.{key}.name', key)}: {chosen}"


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

"""Writes the report of a playtest as one page that contains its own figures."""

from __future__ import annotations

import shlex
import statistics
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from lab import charts, names, verdicts
from lab.matches import LONGEST, Record, Setup, game_of, options_of, steps
from lab.sentences import LANGUAGES, Language
from lab.studies import OWNER, Change, Findings

PACE_S = 40
"""Seconds that people at a table take for a turn, where their game says nothing else."""

REPLAYED = 5
"""Standstills whose last moves the page itself shows."""

LAST = 60
"""How many last moves are shown, enough to see what repeats."""

_HERE = Path(__file__).parent


def written(findings: Findings, pace: int | None = None, language: str = LANGUAGES[0]) -> str:
    """Return the report as HTML in one of `LANGUAGES`; a turn takes `pace` seconds, or the game's.

    The game, its seats and ends, and what was chosen have the words of the game's pages; moves, and what is changed
    one at a time, the names by which the lab's commands know them.
    """
    setup, summary, spoken = findings.setup, findings.summary, Language(language)
    called = names.of(game_of(setup), language)
    pace = pace or game_of(setup).playtest.paces.get(setup.preset, PACE_S)
    played = {**findings.strengths, **({"usual": findings.usual} if findings.usual else {})}
    drawn = _charts(findings, spoken, called)
    heat = game_of(setup).playtest.heat(options_of(setup))
    counted = ""
    if heat and summary.places:
        counted = heat.counted if isinstance(heat.counted, str) else heat.counted[language]
        drawn["heat"] = charts.board(heat, summary.places, counted)
    return (
        _pages(spoken)
        .get_template("report.html")
        .render(
            language=language,
            counted=counted,
            called=called,
            title=f"{called('name', setup.game.title())}, {called(f'preset.{setup.preset}.name', setup.preset)}",
            summary=summary,
            first=findings.first,
            seats=setup.seats,
            chosen=", ".join(_chosen(key, value, spoken, called) for key, value in setup.chosen.items()),
            players=", ".join(setup.habits),
            command=f"python -m lab run {_arguments(setup)} --games {summary.games} --first {findings.first}",
            replay=f"python -m lab replay {_arguments(setup)}",
            quartiles=verdicts.quartiles(summary.turns),
            pace=pace,
            fairness=verdicts.fairness(summary, spoken, called),
            duration=verdicts.duration(summary.turns, pace, spoken),
            watch=verdicts.watch(findings, spoken),
            changed=verdicts.effects(findings.beside, spoken, called) if findings.beside else [],
            effects=lambda change: verdicts.effects(change, spoken, called) if change.certain else [],
            ending=lambda end: verdicts.ending(end, spoken, called),
            strengths=findings.strengths,
            medians={name: round(statistics.median(each.turns)) for name, each in played.items()},
            usual=findings.usual,
            beside=findings.beside,
            longest=setup.longest,
            heat=heat if "heat" in drawn else None,
            hottest=sorted(summary.places.items(), key=lambda each: -each[1])[:5],
            last_moves={each.seed: _last_moves(setup, each) for each in summary.still[:REPLAYED]},
            options=_sorted(findings.options),
            owner=OWNER,
            cards=_sorted(findings.cards),
            habits=_sorted(findings.habits),
            charts={name: Markup(svg) for name, svg in drawn.items()},  # noqa: S704  # drawn here, from figures
        )
    )


def _charts(findings: Findings, language: Language, called: Callable[[str, str], str]) -> dict[str, str]:
    """Draw all charts but the board's."""
    summary, say = findings.summary, language.say
    return {
        "lengths": charts.lengths(summary.turns, (say("turns"), say("games")), say("Length of the games")),
        "seats": charts.seats(
            {called(f"seat.{seat}", seat): share for seat, share in summary.seats.items()},
            sum(each.share for each in summary.seats.values()) / len(summary.seats),
            language.translated("% of all games won"),
            say("Wins by seat"),
        ),
        "options": _drawn(findings.options, language.translated("wins of a seat, difference in %"), called),
        "habits": _drawn(findings.habits, language.translated("wins of who has the habit, difference in %"), called),
    }


def _pages(language: Language) -> jinja2.Environment:
    """Return the report's template loader.

    Its `_` translates an English sentence and fills in its facts, its `number` writes a number as the language does.
    """
    found = jinja2.Environment(autoescape=True, loader=jinja2.FileSystemLoader(_HERE))
    found.globals["_"] = lambda text, **facts: Markup(language.translated(text)) % facts  # noqa: S704  # our own
    found.globals |= {"number": language.number, "percent": language.percent}
    return found


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


def _chosen(key: str, value: object, language: Language, called: Callable[[str, object], str]) -> str:
    chosen = language.say("a file of your own") if _is_file(value) else called(f"option.{key}.value.{value}", value)
    return f"{called(f'option.{key}.name', key)}: {chosen}"


def _is_file(value: object) -> bool:
    return len(str(value)) > 40 or "\n" in str(value)


def _sorted(changes: Sequence[Change]) -> list[Change]:
    return sorted(changes, key=lambda each: (not each.certain, -abs(each.most[1].difference)))


def _drawn(changes: Sequence[Change], unit: str, called: Callable[[str, str], str]) -> str:
    """Draw the wins that each change changes most, beside whose they are."""
    found = {}
    for each in _sorted(changes):
        seat, wins = each.most
        found[each.name if seat == OWNER else f"{each.name}: {called(f'seat.{seat}', seat)}"] = wins
    return charts.effects(found, unit, 100) if found else ""

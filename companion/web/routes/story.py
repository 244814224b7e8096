"""What happened at a table: its story, its exports, and the board after each step.

Every page is folded from the log on request, and shows only what a spectator could see.
"""

from __future__ import annotations

import csv
import io
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, current_app, make_response, request
from markupsafe import Markup

from companion.adapters.news import Region, RenderedPage
from companion.games.kit import Json, Seat
from companion.model.exports import exported, written
from companion.model.history import ReplayStep, ends, turns
from companion.model.table import LoggedEntry, Table
from companion.web.rendering.renderer import clock
from companion.web.rendering.texts import Texts, line_text
from companion.web.site import language, new_request, site, whole_number
from companion.web.view_models.table import Audience, cut_past

blueprint = Blueprint("story", __name__, url_prefix="/t/<table_id>")

BLANK = ("health", "seats", "lobby", "undo", "after")
"""Regions of the shell that describe a table now, and are empty for the past."""

RISKY = ("=", "+", "-", "@", "\t", "\r")
"""The characters with which a spreadsheet begins a formula, and a name may begin."""


@blueprint.get("/story")
def story(table_id: str) -> Response:
    """Show a table's log turn by turn, with the game's own plots."""
    here = site()
    table = here.services.tables.get(table_id)
    words = here.words(table)
    steps = _steps(table)
    then = _words_then(steps)
    render = here.renderer.of_story(table, words.language)
    charts = table.game.page.charts(table.game.page.view(each.state, None) for each in ends(steps))
    return here.page(
        "story.html",
        table=table,
        gt=words,
        layout="page",
        turns=[
            {
                "n": turn.n,
                "seat": turn.seat,
                "words": then[turn.last],
                "began": clock(words, turn.began.isoformat()),
                "last": turn.last,
                "lines": _lines(then, turn.logged),
            }
            for turn in turns(steps)
        ],
        drawn={name: Markup(render(name, slice_)) for name, slice_ in charts.items()},  # noqa: S704  # a template
        game_style=here.game_style(table.charter.game),
    )


class Past:
    """A cache of the log that was replayed last, so that stepping through it replays it once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key = ("", -1)
        self._steps: tuple[ReplayStep, ...] = ()

    def steps(self, table: Table, replay: Callable[[Table], Iterator[ReplayStep]]) -> tuple[ReplayStep, ...]:
        """Return every stage of a table up to its version; they never change, because a log only grows."""
        with self._lock:
            if self._key != (key := (table.id, table.version)):
                self._steps = tuple(replay(table))
                self._key = key
            return self._steps


def _steps(table: Table) -> tuple[ReplayStep, ...]:
    past: Past = current_app.extensions.setdefault("past", Past())
    return past.steps(table, site().services.tables.replay)


def _words_then(steps: Sequence[ReplayStep]) -> dict[int, Texts]:
    """Return for the number of each entry the words that name who sat there then."""
    return {step.entry.n: site().words(step.after) for step in steps}


def _lines(then: Mapping[int, Texts], logged: Sequence[LoggedEntry]) -> list[dict[str, Any]]:
    return [
        {
            "mark": line.mark,
            "words": line_text(then[each.n].named, line.code, line.facts),
            "hand": _hand_text(then[each.n], each.hand) if first else "",
            "clock": clock(then[each.n], each.at.isoformat()),
        }
        for each in logged
        for first, line in ((line is each.lines[0], line) for line in each.lines)
    ]


def _hand_text(words: Texts, hand: Seat) -> str:
    if not hand:
        return ""
    return words("log.by_app") if hand == "app" else words("log.by_hand", seat=hand)


# Exports


@blueprint.get("/export.json")
def export_json(table_id: str) -> Response:
    """Return the table as a file that can be replayed; of a running game only what this phone may know."""
    here = site()
    table = here.services.tables.get(table_id)
    seats = [seat for seat in here.held(table) if seat not in table.delegated_seats()]
    export = exported(table.charter, table.game, _steps(table), seats)
    return file_of(table, written(export).encode(), "json", "application/json")


@blueprint.get("/export.csv")
def export_csv(table_id: str) -> Response:
    """Return the story as CSV, one line a row, in the language of this request."""
    here = site()
    table = here.services.tables.get(table_id)
    words = here.words(table)
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow([words(f"export.{name}") for name in ("entry", "time", "turn", "by", "hand", "what")])
    for step in _steps(table):
        entry, before, after = step
        words = here.words(after)
        turn = table.game.rules.turn(before.state) if before.steps else 0
        hand = _who(words, entry.hand) if entry.hand else ""
        for line in step.lines:
            what = line_text(words, line.code, line.facts)
            rows.writerow(
                map(_cell, (entry.n, entry.at.isoformat(timespec="seconds"), turn, _who(words, entry.by), hand, what))
            )
    return file_of(table, out.getvalue().encode("utf-8-sig"), "csv", "text/csv")


def _who(words: Texts, seat: Seat) -> str:
    return words.people.get(seat) or words(f"seat.{seat}")


def _cell(value: object) -> str:
    text = str(value)
    return f"'{text}" if text.startswith(RISKY) else text


def file_of(table: Table, body: bytes, kind: str, mimetype: str) -> Response:
    """Return a file about a table, under the table's name and day."""
    response = make_response(body)
    response.mimetype = mimetype
    plain = unicodedata.normalize("NFKD", table.title).encode("ascii", "ignore").decode().lower()
    name = "-".join("".join(sign if sign.isalnum() else " " for sign in plain).split()) or "table"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}-{table.charter.opened_at:%F}.{kind}"'
    return response


# The board as it stood


@blueprint.get("/replay")
def replay(table_id: str) -> Response:
    """Show the table as a spectator saw it after one entry of its log, by default the last."""
    here = site()
    now = here.services.tables.get(table_id)
    step = whole_number(request.args.get("step", ""), 10**9)
    step = now.version if step is None else max(1, min(step, now.version))
    layout = "screen" if request.args.get("as") == "screen" else "phone"
    steps = _steps(now)[:step]
    table = steps[-1].after if steps else Table.opened(now.charter, now.game)
    logged = table.logged[-1:] if steps and steps[-1].lines else ()
    return here.page(
        "replay.html",
        table=now,
        gt=here.words(table),
        layout=layout,
        phase=table.phase,
        step=step,
        lines=_lines(_words_then(steps[-1:]), logged),
        turn=table.turn,
        regions=_past_regions(table, layout),
        art=here.art(now.charter.game),
        game_style=here.game_style(now.charter.game),
    )


def _past_regions(table: Table, layout: str) -> Markup:
    """Return the laid-out regions of a past table; empty before the game began."""
    if table.phase == "lobby":
        return Markup("")
    here = site()
    audience = Audience(language(), layout)
    render = here.renderer.of_table(table, audience)
    slices: Mapping[str, Mapping[str, Json]] = cut_past(table)
    regions = {name: Region(render(name, slice_), 0) for name, slice_ in slices.items()}
    page = RenderedPage("past", 0, table.version, "past", dict.fromkeys(BLANK, Region("", 0)) | regions)
    return here.renderer.layout(table, audience, page, new_request, {})

"""The result of a game to share: as a text, as a picture and as a file for BG Stats."""

from __future__ import annotations

import json
from typing import Any

from flask import Blueprint, Response, make_response
from msgspec.structs import replace
from werkzeug.exceptions import NotFound

from companion.games import registry
from companion.model.plays import began, bg_stats, result_of
from companion.model.table import Table
from companion.web.rendering import names
from companion.web.rendering.renderer import story_folder
from companion.web.routes.story import file_of
from companion.web.site import site
from companion.web.view_models.recap import recap
from companion.web.view_models.table import Audience, ending

blueprint = Blueprint("results", __name__, url_prefix="/t/<table_id>")


@blueprint.get("/result.txt")
def result_text(table_id: str) -> Response:
    """Return a game's result as a text for a message."""
    response = make_response(_drawn("result.txt", _over(table_id)))
    response.mimetype = "text/plain"
    return response


@blueprint.get("/result.svg")
def result_picture(table_id: str) -> Response:
    """Return a game's result as a picture."""
    table = _over(table_id)
    return file_of(table, _drawn("result.svg", table).encode(), "svg", "image/svg+xml")


@blueprint.get("/result-film.svg")
def result_film(table_id: str) -> Response:
    """Return a game that is over as a picture that moves, again and again; 404 where its game draws none.

    It is drawn within the request: 0.06 s of a processor, less than a process of its own takes to start.
    """
    table = _over(table_id)
    film = {} if table.is_closed else table.game.page.film(site().services.tables.played(table))
    if not film:
        raise NotFound
    template = f"{story_folder(table.charter.game)}/film.svg"
    return file_of(table, _drawn(template, table, slice=film).encode(), "svg", "image/svg+xml")


@blueprint.get("/result.bgsplay")
def result_play(table_id: str) -> Response:
    """Return a play as BG Stats imports it."""
    table = _over(table_id)
    words = site().words(table)
    roles = {seat: words(f"seat.{seat}") for seat in table.seats}
    play = bg_stats(table, words("name"), roles)
    return file_of(table, json.dumps(play, ensure_ascii=False, indent=1).encode(), "bgsplay", "application/json")


def _over(table_id: str) -> Table:
    table = site().services.tables.get(table_id)
    result_of(table)
    return table


def _drawn(template: str, table: Table, **more: Any) -> str:
    here = site()
    words = here.words(table)
    whole = {
        seat: name.replace(" ", "\u00a0") for seat, name in words.people.items()
    }  # a line ends before or after it
    words = replace(words, people=whole)
    end: dict[str, Any] = dict(ending(table, Audience(words.language)))
    end["recap"] = recap(here.services.tables.recap(table))
    emblems = here.renderer.art.names
    return here.renderer.page(
        template,
        words.language,
        {
            "t": words,
            "words": words,
            "ems": names.ems,
            "title": table.title,
            "day": words.day(began(table)),
            "end": end,
            "game": registry.parts(table.charter.game)[0],
            "said": here.renderer.title_of_end(words, end),
            "colour": here.renderer.art.colours.__getitem__,
            "placed": lambda name, *box: here.renderer.art.placed(name, *box) if name in emblems else "",
            **more,
        },
    )

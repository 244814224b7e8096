"""The page of past evenings: who played, who won, how long it took, and records by game, person and temple."""

from __future__ import annotations

from flask import Blueprint, Response, request

from companion.model.evenings import by_game, by_person, by_temple, curve, evenings, person_key, plays
from companion.web.site import last_name, site, whole_number
from companion.web.view_models.table import Audience, ending

blueprint = Blueprint("evenings", __name__)

AT_ONCE = 12
"""Evenings on one page."""


@blueprint.get("/evenings")
def past() -> Response:
    """Show what was played, the last evening first."""
    here = site()
    played = plays(here.services.tables.all())
    every = evenings(played)
    pages = max(1, -(-len(every) // AT_ONCE))
    page = max(1, whole_number(request.args.get("page", ""), pages) or 1)
    shown = every[(page - 1) * AT_ONCE : page * AT_ONCE]
    games = {play.table.charter.game for evening in shown for play in evening.plays}
    return here.page(
        "evenings.html",
        evenings=shown,
        art=here.art_of(sorted(games)),
        end=lambda play: ending(play.table, Audience("")),
        played=len(played),
        curve=lambda play: curve(play, (stored.token.at for stored in here.services.tables.tokens(play.table.id))),
        mine=person_key(last_name()),
        person_key=person_key,
        by_game=by_game(played),
        people=by_person(played),
        temples=by_temple(played),
        page=page,
        pages=pages,
    )

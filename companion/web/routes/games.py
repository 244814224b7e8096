"""A game's own page: what it is and how to play it. It also opens a tool's table for one phone."""

from __future__ import annotations

from flask import Blueprint, Response, request

from companion.games import balance
from companion.games.kit import Game
from companion.model.lobby import LONGEST_NAME
from companion.model.table import ServiceError
from companion.web.routes.uploads import MOST_FAULTS, brought
from companion.web.site import redirect_to, set_token_cookie, site

blueprint = Blueprint("games", __name__, url_prefix="/games")


@blueprint.get("")
def games() -> Response:
    """Show every game of this companion."""
    here = site()
    return here.page("games.html", games=list(here.games.values()), art=here.art_of(here.games))


@blueprint.get("/<game>")
def game(game: str) -> Response:
    """Show a game, with links to a new table, its tools, its printable pages and its rules."""
    here = site()
    found = here.game(game)
    return here.page("game.html", game=found, gt=here.game_words(found.name), balance=balance.of(found))


@blueprint.post("/<game>/aids/<aid>", endpoint="open_aid")
def open_tool(game: str, aid: str) -> Response:
    """Open a tool for this phone: a table of one seat, taken and begun.

    The form may contain a file for an option of the tool, or name a table whose text it begins with.
    """
    here = site()
    found: Game[object] | None = here.game(game).tools.get(aid)
    if found is None:
        raise ServiceError("unknown_aid", aid=aid[:32])
    texts = brought(found, request.form, request.files, here.services.tables.all())
    words = here.game_words(found.name)
    if texts.faults:
        return here.page("aid_faults.html", 422, game=game, gt=words, faults=texts.faults, shown=MOST_FAULTS)
    title = words("name")[:LONGEST_NAME].strip()
    table = here.services.tables.open(found.name, title, 1, next(iter(found.presets)), texts.texts)
    token = here.services.seats.share(table.id, table.code, {})
    here.services.seats.begin(table.id, token)
    return set_token_cookie(redirect_to(here.url("table", table_id=table.id)), table.id, token)

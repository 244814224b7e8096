"""Starts playtests, many games of app players with the rules of a form, and shows their reports."""

from __future__ import annotations

from flask import Blueprint, Response, request

from companion.adapters.playtests import GAMES, MINUTES, Playtest
from companion.model.lobby import complete_options, seats_of
from companion.model.table import ServiceError
from companion.web.routes.uploads import MOST_FAULTS, brought, options_chosen
from companion.web.site import language, redirect_to, site, whole_number

blueprint = Blueprint("playtests", __name__)

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'; base-uri 'none'"
"""A report contains its own styles and drawings; nothing in it is executed or fetched."""


@blueprint.get("/playtests")
def playtests() -> Response:
    """List the playtests of this companion."""
    here = site().config.playtests
    known = [(each, here.stage(each)) for each in here.every() if _has_words(each)]
    return site().page("playtests.html", playtests=known, games_each=GAMES)


@blueprint.post("/games/<game>/playtests")
def start_playtest(game: str) -> Response:
    """Start a playtest with the rules of the form for a new table, and redirect to its progress."""
    here, form = site(), request.form
    found = here.game(game)
    texts = brought(found, form, request.files, here.services.tables.all())
    if texts.faults:
        words = here.game_words(found.name)
        return here.page("aid_faults.html", 422, game=game, gt=words, faults=texts.faults, shown=MOST_FAULTS)
    preset, seats = form.get("preset", ""), whole_number(form.get("players", ""), 99) or 0
    seats_of(found, seats)
    chosen = {key: value for key, value in options_chosen(found, form).items() if key not in texts.texts}
    if not found.playtest.plays(complete_options(found, preset, {**chosen, **texts.texts})):
        raise ServiceError("playtest_people")
    if here.config.playtests.missing:
        install = here.config.playtests.how_to_install
        return here.page("playtest_missing.html", 503, missing=here.config.playtests.missing, command=install)
    started = here.config.playtests.start(found.name, preset, seats, chosen, texts.texts)
    return redirect_to(here.url("playtest", playtest=started.id))


@blueprint.get("/playtests/<playtest>")
def playtest(playtest: str) -> Response:
    """Show the progress of a playtest, and a link to its report."""
    here = site()
    found = here.config.playtests.get(playtest)
    if not _has_words(found):
        raise ServiceError("unknown_playtest")
    done, total = here.config.playtests.progress(found)
    return here.page(
        "playtest.html",
        playtest=found,
        stage=here.config.playtests.stage(found),
        done=done,
        total=total,
        games_each=GAMES,
        minutes=MINUTES,
        gt=here.game_words(found.game),
    )


@blueprint.get("/playtests/<playtest>/report")
def report(playtest: str) -> Response:
    """Return the report of a playtest in the reader's language, a self-contained page."""
    here = site().config.playtests
    response = Response(here.report(here.get(playtest), language()), mimetype="text/html")
    response.headers["Content-Security-Policy"] = REPORT_POLICY
    return response


def _has_words(playtest: Playtest) -> bool:
    """Return whether the game of a playtest is still offered, with its preset and options."""
    game = site().games.get(playtest.game)
    if game is None or playtest.preset not in game.presets:
        return False
    return {option.key for option in game.options}.issuperset((*playtest.chosen, *playtest.texts))

"""The pages on which people decide about tokens that are held apart, and about a new temple's old tokens.

A token that is counted is entered at its table like any unclaimed token.
"""

from __future__ import annotations

from flask import Blueprint, Response, request

from companion.model.ports import COUNTED, HISTORY, LEFT_OUT
from companion.model.table import ServiceError, Table
from companion.model.temples import Temple
from companion.web.rendering.renderer import moment
from companion.web.routes.temples import done, game_runs, refused
from companion.web.site import (
    BAD_FORM,
    CONFLICT,
    FORBIDDEN,
    new_request,
    redirect_to,
    request_id,
    seat_to_act,
    seat_token,
    site,
)

blueprint = Blueprint("held", __name__)

AT_ONCE = 60
"""The most tokens on one page: more than anybody decides at once, and few enough for a post."""

DECIDED = 20
"""Past decisions that are listed."""

NONE = "none"
"""What is posted instead of a seat to dismiss tokens."""


@blueprint.get("/temples/<name>/held")
def temple_held(name: str) -> Response:
    """Show a temple's tokens that are held apart, and the decisions about others."""
    return _page(site().services.temples.get(name), None)


@blueprint.get("/t/<table_id>/held")
def table_held(table_id: str) -> Response:
    """Show a table which of its temple's tokens are held apart, to decide about them."""
    table = site().services.tables.get(table_id)
    return _page(_temple(table), table)


@blueprint.post("/t/<table_id>/held")
def decide_held(table_id: str) -> Response:
    """Count the marked tokens for one seat, or dismiss them: all of them, or none. Only for players of the table."""
    here, form = site(), request.form
    table = here.services.tables.get(table_id)
    _temple(table)
    post_id, to = request_id(), form.get("to", "")[:24]
    chosen = form.getlist("shown" if form.get("all") else "token")
    if not here.held(table):
        raise ServiceError("not_seated")
    if not chosen or not to:
        return _page(_temple(table), table, here.words()("held.choose"), BAD_FORM)
    whose = None if to == NONE else to
    try:
        here.services.temples.decisions.decide(
            table_id, seat_token(table_id), form.get("seat", "")[:24], chosen, whose, post_id
        )
    except ServiceError as error:
        if error.code in ("not_seated", "not_your_seat", "store_failing"):
            raise
        return here.error_page(here.refusal(error, table), here.url("table_held", table_id=table_id))
    return redirect_to(here.url("table_held", table_id=table_id))


@blueprint.post("/temples/<name>/old")
def choose_old(name: str) -> Response:
    """Decide about the old tokens of a temple without a running game: anybody on this network may."""
    if game_runs(site().services.temples.get(name)):
        return refused(name, ServiceError("game_runs"), FORBIDDEN)
    return _chosen(name, None)


@blueprint.post("/t/<table_id>/temple/old")
def choose_old_at_table(table_id: str) -> Response:
    """Decide about the old tokens of a table's temple: only people at that table may.

    Counting them there needs a seat; for the other choices the table's code is enough.
    """
    table = site().services.tables.get(table_id)
    temple = _temple(table)
    if not site().trusted(table):
        return refused(temple.name, ServiceError("game_runs"), FORBIDDEN)
    return _chosen(temple.name, table)


def _chosen(name: str, table: Table | None) -> Response:
    here, choice = site(), request.form.get("choice", "")
    try:
        if choice == COUNTED and table is not None:
            here.services.temples.decisions.count_old(table.id, seat_token(table.id))
        elif choice in (LEFT_OUT, HISTORY):
            here.services.temples.decisions.choose_old(name, choice, _who(table))
        else:
            raise ServiceError("bad_move")
    except ServiceError as error:
        if error.code in ("bad_move", "store_failing"):
            raise
        return refused(name, error, FORBIDDEN if error.code == "not_seated" else CONFLICT)
    return done(name)


def _who(table: Table | None) -> str:
    """Return the name of the player who posts, or an empty string."""
    seats = site().held(table) if table is not None else ()
    return (table.chair(seats[0]).name or seats[0]) if table is not None and seats else ""


def _temple(table: Table) -> Temple:
    if table.temple is None:
        raise ServiceError("no_temple_here")
    return site().services.temples.get(table.temple)


def _page(temple: Temple, table: Table | None, problem: str = "", status: int = 200) -> Response:
    here = site()
    serves = here.services.tables.find(temple.table_id)
    words, held = here.words(table), here.held(table) if table is not None else ()
    waiting = here.services.temples.decisions.held(temple.name)
    return here.page(
        "held.html",
        status,
        temple=temple,
        table=table,
        serves=serves,
        gt=words,
        waiting=waiting[:AT_ONCE],
        beyond=max(0, temple.quarantined - AT_ONCE),
        decided=[
            (each, here.words(of := here.services.tables.find(each.table_id)), of)
            for each in here.services.temples.decisions.last(temple.name, DECIDED)
        ],
        acting=seat_to_act(table, held) if table is not None else "",
        counts=table is not None and table.began_at is not None and table.game.temple is not None,
        none=NONE,
        request_id=new_request(),
        problem=problem,
        moment=lambda at: moment(words, at),
    )

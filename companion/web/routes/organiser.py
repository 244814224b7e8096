"""The organiser's pages, behind their own code: what is running, a message to all tables, the rounds of an event."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import segno
from flask import Blueprint, Response, request
from markupsafe import Markup

from companion.model.rounds import MOST_PLAYERS, PAIRINGS
from companion.model.table import ServiceError, Table
from companion.service.messages import LONGEST, MINUTES
from companion.web.site import BAD_FORM, FORBIDDEN, ORGANISER, prove, redirect_to, site, whole_number

blueprint = Blueprint("organiser", __name__, url_prefix="/organiser")

View = TypeVar("View", bound=Callable[..., Response])


@blueprint.get("")
def organiser() -> Response:
    """Show all tables, temples, companions and brokers, or ask for the code."""
    return _page() if site().is_organiser() else _asked()


@blueprint.post("/code")
def organiser_code() -> Response:
    """Let a browser prove from now on that the organiser's code was typed in it."""
    try:
        proof = site().organiser_proof(request.form.get("code", ""))
    except ServiceError as error:
        return _asked(FORBIDDEN, site().refusal(error))
    path = site().url("organiser")
    response = redirect_to(path)
    prove(response, ORGANISER, proof, path)
    return response


def _proved(view: View) -> View:
    """Let only who typed the organiser's code use a view."""

    @wraps(view)
    def checked(*given: Any, **named: Any) -> Response:
        if not site().is_organiser():
            return _asked(FORBIDDEN, site().words()("refusal.organiser_only"))
        return view(*given, **named)

    return checked  # type: ignore[return-value] # it takes and gives what the view does


@blueprint.post("/message")
@_proved
def send_message() -> Response:
    """Show a message on every table's pages, for so many minutes."""
    form = request.form
    try:
        site().services.messages.send(form.get("text", ""), whole_number(form.get("minutes", ""), max(MINUTES)) or 0)
    except ServiceError as error:
        return _page(BAD_FORM, site().refusal(error), form.get("text", ""))
    return redirect_to(site().url("organiser"))


@blueprint.post("/message/end")
@_proved
def end_message() -> Response:
    """Take the message back."""
    site().services.messages.take_back()
    return redirect_to(site().url("organiser"))


@blueprint.post("/tables/<table_id>/close")
@_proved
def close_for_players(table_id: str) -> Response:
    """End a table's game without a result."""
    site().services.tables.close_for_players(table_id)
    return redirect_to(site().url("organiser"))


@blueprint.post("/temples/<name>/table")
@_proved
def move_temple(name: str) -> Response:
    """Let a temple serve another table, or none."""
    here = site()
    temple = here.services.temples.get(name)
    chosen = request.form.get("table", "")
    if chosen == temple.table_id:
        return redirect_to(here.url("organiser"))
    if chosen and chosen not in [table.id for table in _tables_for_temples()]:
        return _page(BAD_FORM, here.words()("refusal.unknown_table"))
    serving = here.services.temples.serving
    if chosen:
        serving.serve(chosen, name)
    elif here.services.tables.find(temple.table_id):
        serving.serve(temple.table_id or "", None)
    return redirect_to(here.url("organiser"))


@blueprint.get("/rounds")
@_proved
def rounds() -> Response:
    """Show the event that is under way, its tables and how everybody stands, or the form that begins one."""
    return _rounds()


@blueprint.post("/rounds")
@_proved
def start_event() -> Response:
    """Begin an event: pair its players and open the tables of its first round."""
    form = request.form
    game, _, preset = form.get("played", "").partition(" ")

    def start() -> None:
        site().services.rounds.start(
            site().game(game).name,
            preset,
            whole_number(form.get("size", ""), 99) or 0,
            form.get("pairing", ""),
            form.get("names", ""),
            _table_title,
            temples=bool(form.get("temples")),
        )

    return _rounds_after(start)


@blueprint.post("/rounds/next")
@_proved
def next_round() -> Response:
    """Pair who plays on, and open the tables of the next round."""
    form = request.form
    number = whole_number(form.get("number", ""), 9999) or 0
    rounds = site().services.rounds
    return _rounds_after(
        lambda: rounds.next_round(number, form.get("names", ""), _table_title, temples=bool(form.get("temples")))
    )


@blueprint.post("/rounds/end")
@_proved
def end_event() -> Response:
    """Forget the event; its tables stay."""
    return _rounds_after(site().services.rounds.end)


@blueprint.get("/codes")
@_proved
def codes() -> Response:
    """Show the QR code of every table that is not over, for the printer."""
    here = site()
    address = here.address
    invitations = [
        {"table": table, "qr": _qr(f"{address}{here.url('invited', code=table.code)}")} for table in _open_tables()
    ]
    return here.page("organiser_codes.html", invitations=invitations, join=f"{here.address}{here.url('join')}")


def _asked(status: int = 200, problem: str = "") -> Response:
    return site().page("organiser.html", status, allowed=False, problem=problem)


def _page(status: int = 200, problem: str = "", typed: str = "") -> Response:
    here = site()
    services = here.services
    try:
        tables, titles, can_list = _open_tables(), {each.id: each.title for each in services.tables.all()}, True
    except ServiceError:  # the store does not answer, and other companions may have changed tables
        tables, titles, can_list = [], {}, False
    return here.page(
        "organiser.html",
        status,
        allowed=True,
        problem=problem,
        typed=typed,
        tables=tables,
        can_list=can_list,
        temples=sorted(services.temples.all(), key=lambda temple: temple.name),
        titles=titles,
        for_temples=[table for table in tables if table.game.uses_temple],
        installation=here.config.installation(),
        message=services.messages.text,
        minutes_left=-int(-services.messages.seconds_left // 60),
        longest=LONGEST,
        choices=MINUTES,
    )


def _rounds(status: int = 200, problem: str = "") -> Response:
    here = site()
    event = here.services.rounds.page()
    game = here.services.tables.games.get(event.event.game) if event else None
    return here.page(
        "organiser_rounds.html",
        status,
        problem=problem,
        form={**dict.fromkeys(("played", "size", "pairing", "names"), ""), **request.form},
        with_temples=bool(request.form.get("temples")) or not request.form,
        event=event,
        is_known=bool(event and game and event.event.preset in game.presets),
        offers=here.games.values(),
        pairings=PAIRINGS,
        most=MOST_PLAYERS,
    )


def _rounds_after(change: Callable[[], None]) -> Response:
    try:
        change()
    except ServiceError as error:
        return _rounds(BAD_FORM, site().refusal(error))
    return redirect_to(site().url("rounds"))


def _table_title(number: int, table: int) -> str:
    return site().words()("rounds.table_title", round=number, table=table)


def _tables_for_temples() -> list[Table]:
    return [table for table in _open_tables() if table.game.uses_temple]


def _open_tables() -> list[Table]:
    """Return every table that is not over, those of tools left out, by their titles."""
    here = site()
    tables = [table for table in here.services.tables.all() if table.phase != "over"]
    return sorted((table for table in tables if table.charter.game in here.games), key=lambda table: table.title)


def _qr(text: str) -> Markup:
    out = io.BytesIO()
    code = segno.make(text, error="m", micro=False)
    code.save(
        out,
        kind="svg",
        border=3,
        omitsize=True,
        xmldecl=False,
        dark="#231815",
        light="#fff",
        svgclass="qr-drawing",
        lineclass=None,
    )
    return Markup(out.getvalue().decode())  # noqa: S704  # segno's own drawing, of which the text is no part

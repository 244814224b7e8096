"""The temples' pages: their health, their counts, which table they serve, and requests to them."""

from __future__ import annotations

import re
from collections.abc import Callable

from flask import Blueprint, Response, jsonify, request

from companion.adapters.news import RenderedPage
from companion.model.table import ServiceError
from companion.model.temples import Temple
from companion.web.site import CONFLICT, FORBIDDEN, language, redirect_to, request_id, site, wants_json, whole_number
from templo import contract

blueprint = Blueprint("temples", __name__)

_BUTTONS = {
    "identify": (contract.CommandName.IDENTIFY, None),
    "selftest": (contract.CommandName.SELFTEST, None),
    "drop": (contract.CommandName.DROP, None),
    "calibrate": (contract.CommandName.CALIBRATE, None),
    "keep": (contract.CommandName.CALIBRATE, True),
    "discard": (contract.CommandName.CALIBRATE, False),
    "dismiss": (contract.CommandName.DISMISS, None),
}
"""The buttons, each with its command and the value of `keep`."""

_NOTICE = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_OF_A_SLOT = frozenset({"drop", "calibrate", "keep", "discard"})


@blueprint.get("/temples")
def temples() -> Response:
    """Show every temple that has ever connected."""
    here = site()
    return here.page(
        "temples.html",
        temples=here.services.temples.all(),
        titles={table.id: table.title for table in here.services.tables.all()},
    )


@blueprint.get("/temples/<name>")
def temple(name: str) -> Response:
    """Show one temple."""
    here = site()
    sent = here.services.temples.get(name).request
    rendered = _rendered(name)
    return here.page(
        "temple.html",
        name=name,
        rendered=rendered,
        notice="",
        waits=sent is not None and sent.pending,
        stream_url=here.url("temple_stream", name=name),
        region=here.temple_region(rendered),
    )


@blueprint.post("/temples/<name>/ask")
def ask(name: str) -> Response:
    """Send a request to a temple without a running game: anybody on this network may."""
    if game_runs(site().services.temples.get(name)):
        return refused(name, ServiceError("game_runs"), FORBIDDEN)
    return _send(name)


def game_runs(temple: Temple) -> bool:
    """Return whether a game is running on a temple; then only people at its table may send requests."""
    return any(table.id == temple.table_id and table.phase == "running" for table in site().services.tables.all())


@blueprint.post("/t/<table_id>/temple/ask")
def ask_at_table(table_id: str) -> Response:
    """Send a request to a table's temple: only people at the table, or with its code, may.

    During a calibration tokens do not score, so a stranger must not start one in the middle of a game.
    """
    return _at_table(table_id, _send)


@blueprint.post("/temples/<name>/lake")
def lake(name: str) -> Response:
    """Say that a temple's lake was levelled, or what it is played with, without a running game: anybody may."""
    if game_runs(site().services.temples.get(name)):
        return refused(name, ServiceError("game_runs"), FORBIDDEN)
    return _lake(name)


@blueprint.post("/t/<table_id>/temple/lake")
def lake_at_table(table_id: str) -> Response:
    """Say the same of a table's temple: only people at the table, or with its code, may."""
    return _at_table(table_id, _lake)


def _lake(name: str) -> Response:
    if request.form.get("levelled"):
        site().services.temples.level(name)
    else:
        site().services.temples.set_token(name, request.form.get("kind", "?"))
    return done(name)


def _at_table(table_id: str, act: Callable[[str], Response]) -> Response:
    """Do something with a table's temple, by its name, for people at the table, or with its code."""
    here = site()
    table = here.services.tables.get(table_id)
    if not table.temple:
        raise ServiceError("no_temple_here")
    if not here.trusted(table):
        return refused(table.temple, ServiceError("game_runs"), FORBIDDEN)
    return act(table.temple)


def _send(name: str) -> Response:
    form = request.form
    what, post_id = form.get("what", ""), request_id()
    if what not in _BUTTONS:
        raise ServiceError("bad_move")
    command, keep = _BUTTONS[what]
    try:
        god = contract.God(form.get("god", "")) if what in _OF_A_SLOT else None
    except ValueError:
        raise ServiceError("bad_move") from None
    notice = form.get("notice", "") if what == "dismiss" else None
    if notice is not None and not _NOTICE.fullmatch(notice):
        raise ServiceError("bad_move")
    count = whole_number(form.get("count", "").strip(), 10**6) or 0 if what == "calibrate" else None
    try:
        site().services.temples.requests.send(name, command, post_id, god, count, keep, notice)
    except ServiceError as error:
        return refused(name, error, CONFLICT)
    return done(name)


def done(name: str) -> Response:
    """Return what has changed on a temple's page, or redirect to it."""
    if wants_json():
        return jsonify(ok=True, **_news(name))
    return redirect_to(site().url("temple", name=name))


def refused(name: str, error: ServiceError, status: int) -> Response:
    """Return why no request was sent to a temple."""
    here = site()
    back, back_words = here.url("temple", name=name), "error.back_temple"
    return here.failure(here.refusal(error), back, status, news=lambda: _news(name), back_words=back_words)


def _news(name: str) -> dict[str, object]:
    """Return what has changed for the page that posted, so that it need not wait for its stream."""
    return _rendered(name).news(request.form.get("seen", ""))


def _rendered(name: str) -> RenderedPage:
    return site().rendered_temple(site().services.temples.get(name), language())

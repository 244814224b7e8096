"""A table's pages and posts: phone and screen, begin, moves, undo, freeing a seat, choosing a temple."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, jsonify, make_response, request
from markupsafe import Markup

from companion.games import registry
from companion.games.kit import CHANCE, Arg, Choice, Json, Move, Refusal, Seat
from companion.games.kit import preview as preview_of
from companion.model.table import Chair, ServiceError, Table
from companion.service.play import Played
from companion.web.rendering.previews import preview_text
from companion.web.rendering.qr import qr_drawing
from companion.web.rendering.renderer import fill_marks, placer
from companion.web.rendering.texts import line_text
from companion.web.site import (
    language,
    new_request,
    redirect_to,
    renew_cookies,
    request_id,
    seat_token,
    set_code_cookie,
    set_token_cookie,
    site,
    wants_json,
    whole_number,
)
from companion.web.view_models.table import Audience, call
from templo.codes import grouped

blueprint = Blueprint("play", __name__, url_prefix="/t/<table_id>")

PREVIEWS = 8
"""The most moves in one request for previews."""

NOTICES = frozenset({"stale", "again"})
"""The messages that a page may show after a post."""


@blueprint.get("")
def table(table_id: str) -> Response:
    """Show a table on a phone: the lobby, a seat, one shared phone, or a spectator's view."""
    return _show(table_id, "phone")


@blueprint.get("/for/<seat>")
def for_another(table_id: str, seat: str) -> Response:
    """Show a table for an absent player's seat; a phone that may not act for it is redirected to the table."""
    here = site()
    table = here.services.tables.get(table_id)
    if table.phase == "lobby" or not here.audience(table, "phone", seat).stands_in:
        return redirect_to(here.url("table", table_id=table_id))
    return _show(table_id, "phone", seat)


@blueprint.get("/screen")
def screen(table_id: str) -> Response:
    """Show a table on a screen for everybody; in the lobby it shows the code."""
    return _show(table_id, "screen")


def _show(table_id: str, layout: str, stand_in: Seat = "") -> Response:
    here = site()
    table = here.services.tables.visit(table_id)
    audience = here.audience(table, layout, stand_in)
    rendered, phase = here.rendered(table, audience), table.phase
    while (table := here.services.tables.get(table_id)).phase != phase:
        rendered, phase = here.rendered(table, audience), table.phase
    notice = request.args.get("notice", "")
    name, aid = registry.parts(table.charter.game)
    page = here.page(
        "table.html",
        table=table,
        layout=layout,
        aid_of=name if aid else "",
        seats=audience.seats,
        stands_in=audience.stands_in,
        call=None if table.phase == "lobby" else call(table, audience),
        gt=here.words(table),
        rendered=rendered,
        notice=here.words()(f"notice.{notice}") if notice in NOTICES else "",
        lost=layout == "phone" and bool(seat_token(table_id)) and not here.held(table),
        stream_url=here.url("stream", table_id=table_id, **{"as": layout, "for": audience.stands_in}),
        layout_html=here.renderer.layout(table, audience, rendered, new_request, _invitation(table, audience)),
        art=here.art(table.charter.game),
        game_style=here.game_style(table.charter.game),
        game_scripts=here.game_scripts(table.charter.game),
    )
    return renew_cookies(page, table)


@blueprint.get("/seats")
def seats(table_id: str) -> Response:
    """Show who sits where, how to join, and for those who may, how to hand a seat over."""
    here = site()
    table = here.services.tables.get(table_id)
    audience = here.audience(table, "screen")
    rendered = here.rendered(table, audience)
    page = here.page(
        "seats.html",
        table=table,
        gt=here.words(table),
        layout="screen",
        invitation=_invitation(table, audience),
        art=here.art(table.charter.game),
        region=placer(here.words(table), rendered, new_request),
    )
    return renew_cookies(page, table)


def _invitation(table: Table, audience: Audience) -> dict[str, Json]:
    here = site()
    code = grouped(table.code) if audience.trusted else ""
    path = here.url("join")
    name = here.config.name_address()
    return {
        "code": code,
        "join_address": f"{here.address}{path}",
        "join_name": f"{name}{path}" if name else "",
        "shown": audience.trusted,
    }


@blueprint.post("/screen")
def prove_screen(table_id: str) -> Response:
    """Let a table screen that was given the code show it and hand seats over."""
    here = site()
    table = here.services.tables.get(table_id)
    here.check_code(table, request.form.get("code", ""))
    return set_code_cookie(redirect_to(_back(table_id, "screen")), table)


@blueprint.get("/qr.svg")
def qr(table_id: str) -> Response:
    """Return the QR code of this table's chairs, for those who may invite."""
    here = site()
    table = here.services.tables.get(table_id)
    if not here.trusted(table):
        raise ServiceError("not_seated")
    drawn = qr_drawing(f"{here.address}{here.url('invited', code=table.code)}")
    return Response(drawn, mimetype="image/svg+xml")


@blueprint.get("/made")
def made(table_id: str) -> Response:
    """Return the file that a tool has made for its game."""
    table = site().services.tables.get(table_id)
    if not table.game.makes or not table.steps:
        raise ServiceError("nothing_made")
    response = make_response(table.game.written(table.state))
    response.mimetype = "application/toml"
    response.headers["Content-Disposition"] = f'attachment; filename="{table.game.makes}.toml"'
    return response


@blueprint.post("/begin")
def begin(table_id: str) -> Response:
    """Begin the game."""
    site().services.seats.begin(table_id, seat_token(table_id), request.form.get("empty", ""))
    return _done(table_id)


@blueprint.post("/play")
def play(table_id: str) -> Response:
    """Make a move against a version, once for each request id.

    The field ``text`` is the move's last argument.
    """
    move = _read_move(request.form.get("move", ""))
    if "text" in request.form:
        move = _read_move(json.dumps([*move.to_json(), request.form["text"]]))
    typed = request.form.get("typed")
    if typed is not None:  # a number that a person wrote is the move's last argument; an empty field is none
        number = whole_number(typed.strip() or "0", 10**9)
        if number is None:
            raise ServiceError("bad_number")
        move = Move(move.name, (*move.args, number))
    seat, version, post_id = posted()
    return played_response(
        table_id, site().services.play.move(table_id, seat_token(table_id), seat, move, version, post_id)
    )


@blueprint.post("/chance")
def chance(table_id: str) -> Response:
    """Let the app roll or draw."""
    _, version, post_id = posted()
    return played_response(table_id, site().services.play.roll(table_id, seat_token(table_id), version, post_id))


@blueprint.post("/away")
def away(table_id: str) -> Response:
    """Set a seat's absence mode, or that its player is back."""
    form = request.form
    site().services.seats.away(table_id, seat_token(table_id), form.get("seat", "")[:24], form.get("mode", "")[:24])
    return _done(table_id)


@blueprint.post("/rolls")
def rolls(table_id: str) -> Response:
    """Switch automatic rolling and drawing on or off."""
    site().services.play.let_app_roll(table_id, seat_token(table_id), request.form.get("by") == "app")
    return _done(table_id)


@blueprint.post("/pace")
def pace(table_id: str) -> Response:
    """Set how long the app waits before its moves for absent players."""
    site().services.play.set_pace(table_id, seat_token(table_id), request.form.get("pace", "")[:24])
    return _done(table_id)


@blueprint.post("/sound")
def sound(table_id: str) -> Response:
    """Switch sounds on or off for devices where nobody has chosen."""
    site().services.play.set_sound(table_id, seat_token(table_id), request.form.get("sound") == "on")
    return _done(table_id)


@blueprint.post("/close")
def close(table_id: str) -> Response:
    """End the game without a result."""
    site().services.tables.close(table_id, seat_token(table_id))
    return _done(table_id)


@blueprint.post("/rename")
def rename(table_id: str) -> Response:
    """Rename the table."""
    site().services.tables.rename(table_id, seat_token(table_id), request.form.get("title", "")[:200])
    return _done(table_id)


@blueprint.post("/archive")
def archive(table_id: str) -> Response:
    """Take the table off the list of tables, or put it back."""
    is_archived = request.form.get("archived") == "yes"
    site().services.tables.archive(table_id, seat_token(table_id), is_archived)
    return _done(table_id)


@blueprint.post("/again")
def again(table_id: str) -> Response:
    """Open a table with the same players and rules, and redirect to it."""
    token = seat_token(table_id)
    following = site().services.tables.again(table_id, token)
    return set_token_cookie(redirect_to(site().url("table", table_id=following.id)), following.id, token)


@blueprint.get("/again")
def follow(table_id: str) -> Response:
    """Redirect a phone to the table at which its players play again; it keeps its seat."""
    table = site().services.tables.get(table_id)
    if not table.again:
        return redirect_to(site().url("table", table_id=table_id))
    response = redirect_to(site().url("table", table_id=table.again))
    token = seat_token(table_id)
    return (
        set_token_cookie(response, table.again, token) if site().services.seats.held(table.again, token) else response
    )


@blueprint.post("/undo")
def undo(table_id: str) -> Response:
    """Undo a seat's last move."""
    seat, version, post_id = posted()
    return played_response(
        table_id, site().services.play.undo(table_id, seat_token(table_id), seat, version, post_id)
    )


def posted() -> tuple[Seat, int, str]:
    """Return the seat, the version and the id of a post; raises `ServiceError` ``bad_move``."""
    post_id, version = request_id(), whole_number(request.form.get("version", ""), 10**9)
    if version is None:
        raise ServiceError("bad_move")
    return request.form.get("seat", "")[:24], version, post_id


@blueprint.post("/free")
def free(table_id: str) -> Response:
    """Free a lost seat, from a phone at the table or a table screen that was given the code."""
    here = site()
    table = here.services.tables.get(table_id)
    if not here.trusted(table):
        raise ServiceError("not_seated")
    proof = seat_token(table_id) if here.held(table) else table.code
    here.services.seats.free(table_id, proof, request.form.get("seat", "")[:24])
    return _done(table_id)


@blueprint.post("/temple")
def serve(table_id: str) -> Response:
    """Let a temple serve this table, or none; if another table holds it, that table's code is needed."""
    here = site()
    temple = request.form.get("temple", "")[:32] or None
    if temple == here.services.tables.get(table_id).temple:
        leave = ""
    else:
        leave = here.leave_of(temple, request.form.get("temple_code", ""))
    here.services.temples.serving.attach(table_id, seat_token(table_id), temple, leave)
    return _done(table_id)


@blueprint.post("/temple/level")
def level(table_id: str) -> Response:
    """Count the heaps of the temple's lake from 0 where one called for a hand, from a phone at the table."""
    here = site()
    table = here.services.tables.get(table_id)
    if not here.held(table):
        raise ServiceError("not_seated")
    if table.temple and here.services.temples.get(table.temple).to_level:
        here.services.temples.level(table.temple)
    return _done(table_id)


@blueprint.get("/picks")
def picks(table_id: str) -> Response:
    """Show the next level of a seat's choices, or return it to our script as forms."""
    here = site()
    table = here.services.tables.get(table_id)
    seat = request.args.get("seat", "")[:24]
    held = here.held(table)
    if table.phase == "lobby":
        raise ServiceError("not_begun")
    if not (table.may_bring(held) if seat == CHANCE else seat in held):
        raise ServiceError("not_your_seat", seat=seat)
    picked = _read_move(request.args.get("picked", ""))
    path: tuple[Arg, ...] = (picked.name, *picked.args)
    choices = table.game.rules.choices(table.state, seat, path)
    due = table.chance()
    whose = due.seat or seat if seat == CHANCE and due else seat
    own = here.audience(table, "phone").seats
    audience = Audience(language(), "phone", (seat,), stands_in="" if seat in own or seat == CHANCE else seat)
    form = here.renderer.forms(table, audience)
    html = [
        _foreseen(fill_marks(form(choice.to_json(), picked=path), table.version, new_request), table, seat, choice)
        for choice in choices
    ]
    if wants_json():
        return jsonify(title=here.words(table)("picks.title"), choices=html)
    return here.page(
        "picks.html",
        table=table,
        gt=here.words(table),
        seat=whose,
        forms=[Markup(each) for each in html],  # noqa: S704  # from a template that escapes
    )


def _foreseen(html: str, table: Table, seat: Seat, choice: Choice) -> str:
    """Return the form of a choice, with what it would change as far as its seat can know."""
    if seat == CHANCE or not choice.move or table.phase != "running":
        return html
    text = preview_text(site().words(table), preview_of(table.game, table.state, seat, choice.move))
    if not text:
        return html
    made = Markup('<div class="foreseen">{}<p>{}</p></div>')
    return made.format(Markup(html), text)  # noqa: S704  # from a template that escapes


@blueprint.get("/preview")
def preview(table_id: str) -> Response:
    """Return, for each of a seat's moves, what it would change as far as that seat can know."""
    here = site()
    table = here.services.tables.get(table_id)
    seat = request.args.get("seat", "")[:24]
    if table.phase != "running":
        raise ServiceError("not_begun" if table.phase == "lobby" else "not_running")
    if seat not in here.held(table):
        raise ServiceError("not_your_seat", seat=seat)
    moves = [_read_move(text) for text in request.args.getlist("move")[:PREVIEWS]]
    words = here.words(table)
    return jsonify(previews=[preview_text(words, preview_of(table.game, table.state, seat, move)) for move in moves])


def _read_move(text: str) -> Move:
    """Read a move from a field; raises `ServiceError` ``bad_move``."""
    try:
        move = Move.from_json(json.loads(text))
    except (ValueError, RecursionError):
        raise ServiceError("bad_move") from None
    if not move.name:
        raise ServiceError("bad_move")
    return move


def played_response(table_id: str, played: Played) -> Response:
    """Return what has changed for the phone that posted, or why nothing has."""
    if played.accepted:
        return _done(table_id)
    if played.stale:
        return _notice(played.table, "stale", site().words()("notice.stale"))
    assert played.refusal is not None  # what is neither accepted nor stale was refused
    return _notice(played.table, "refused", refusal_text(played.table, played.refusal))


def refusal_text(table: Table, refusal: Refusal) -> str:
    """Return why the rules of a table refused a move, in its game's words."""
    words, facts = site().words(table), refusal.facts
    if refusal.code == "undo_followed":
        since = next((each for each in table.logged if each.n == facts["n"]), table.logged[-1]).lines[-1]
        facts = {**facts, "line": line_text(words, since.code, since.facts)}
    return words(f"refusal.{refusal.code}", **facts)


def _done(table_id: str) -> Response:
    if wants_json():
        return jsonify(ok=True, **_news(table_id))
    return redirect_to(_back(table_id))


def _notice(table: Table, kind: str, text: str) -> Response:
    return site().failure(text, _back(table.id), kind=kind, news=lambda: _news(table.id))


def _news(table_id: str) -> dict[str, Any]:
    """Return what has changed for the phone that posted, so that it need not wait for its stream."""
    here = site()
    table = here.services.tables.get(table_id)
    layout = "screen" if request.form.get("as") == "screen" else "phone"
    stand_in = request.form.get("for", "")[:24]
    return here.rendered(table, here.audience(table, layout, stand_in)).news(request.form.get("seen", ""))


def _chairs(table_id: str) -> Sequence[Chair]:
    return site().services.tables.get(table_id).chairs


def _back(table_id: str, otherwise: str = "table") -> str:
    """Return the table's page that the post came from, on a phone or a screen."""
    came_from = urlsplit(request.headers.get("Referer", "")).path
    pages = [site().url(page, table_id=table_id) for page in ("table", "screen", "seats")]
    pages += [site().url("for_another", table_id=table_id, seat=chair.seat) for chair in _chairs(table_id)]
    return came_from if came_from in pages else site().url(otherwise, table_id=table_id)

"""The pages before a seat is taken: the first page, the tables, a new table, joining, the language."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flask import Blueprint, Response, abort, current_app, jsonify, request, send_from_directory

from companion.games.kit import Game, Option, Value
from companion.model.evenings import usual_minutes
from companion.model.table import ServiceError, Table
from companion.service.tables import Opening
from companion.web.rendering.renderer import placer
from companion.web.rendering.styles import Joined
from companion.web.rendering.subsets import FontError
from companion.web.rendering.texts import LANGUAGES
from companion.web.routes.uploads import MOST_FAULTS, OF_TABLE, OWN, Brought, brought, earlier, options_chosen
from companion.web.server.assets import FOR_GOOD
from companion.web.server.guard import client
from companion.web.site import (
    BAD_FORM,
    COMING,
    FORBIDDEN,
    free_seats,
    last_name,
    local_path,
    new_request,
    redirect_to,
    seat_token,
    set_code_cookie,
    set_coming_cookie,
    set_cookie,
    set_name_cookie,
    set_token_cookie,
    site,
    whole_number,
)
from companion.web.view_models.table import Audience, ending

blueprint = Blueprint("pages", __name__)

TAKEN_MEANWHILE = frozenset({"seat_taken", "table_full"})
"""The errors of somebody who was only slower than others: the page comes again with what is free."""

OF_ANOTHER_TABLE = frozenset({"temple_held", "wrong_code"})
"""The errors of a form whose temple is held by another table."""

NOTHING_BROUGHT = Brought()
ICONS = (("icon-192", 192, "any"), ("icon-512", 512, "any"), ("icon-maskable-512", 512, "maskable"))
"""The manifest's drawn icons: file, size in px, purpose."""
HOUR_MIN = 60
"""Minutes above which an estimate is rounded to tens."""
EVENING_MIN = 300
"""The longest game, in minutes, for one evening: a longer one is offered first only if it was played here last."""


@blueprint.get("/")
def first() -> Response:
    """Show the first page; until the setup is finished, redirect to that."""
    if site().config.settings.first_start == "on" and not site().services.setup.finished:
        return redirect_to(site().url("setup"))
    running = [table for table in _tables() if table.phase != "over"][:6]
    return site().page(
        "first.html",
        tables=running,
        games=list(site().games.values()),
        temples=site().services.temples.all(),
        boot_fault=site().config.boot_fault(),
        **_list(running),
    )


@blueprint.get("/healthz")
def healthz() -> Response:
    """Report that this companion is running, and which one it is."""
    return jsonify(instance=site().config.instance)


@blueprint.get("/icon.svg")
def icon() -> Response:
    """Return the site's icon."""
    return send_from_directory("static", "icon.svg")


@blueprint.get("/app.webmanifest")
def manifest() -> Response:
    """Return the manifest with which a browser installs these pages as an app, over TLS."""
    here = site()
    words, colours = here.words(), here.renderer.art.colours
    response = jsonify(
        name=words("site.name"),
        short_name=words("site.name"),
        lang=words.language,
        start_url=here.url("first"),
        scope=here.url("first"),
        display="standalone",
        background_color=colours["paper"],
        theme_color=colours["paper"],
        icons=[
            {"src": here.url("icon"), "sizes": "any", "type": "image/svg+xml", "purpose": "any"},
            *(
                {
                    "src": here.url("static", filename=f"{name}.png"),
                    "sizes": f"{size}x{size}",
                    "type": "image/png",
                    "purpose": purpose,
                }
                for name, size, purpose in ICONS
            ),
        ],
    )
    response.mimetype = "application/manifest+json"
    return response


@blueprint.get("/styles.css")
def style() -> Response:
    """Return the style sheet of all pages."""
    return _style(site().style)


@blueprint.get("/styles/<page>.css")
def page_style(page: str) -> Response:
    """Return the style sheet that one page has beside that of all pages."""
    try:
        return _style(site().page_styles[page])
    except KeyError:
        abort(404)


@blueprint.get("/games/<game>/styles.css")
def game_style(game: str) -> Response:
    """Return the style sheet of a game's pages."""
    return _style(site().game_styles[site().game(game).name])


def _style(sheet: Joined) -> Response:
    return _joined(sheet, "text/css")


def _joined(file: Joined, mimetype: str) -> Response:
    """Return a joined file, or 304 if the browser has it already."""
    response = Response(file.text, mimetype=mimetype)
    response.set_etag(file.tag)
    response.cache_control.no_cache = True
    response.make_conditional(request)
    return response


@blueprint.get("/live.js")
def live_script() -> Response:
    """Return the script of all live pages."""
    return _joined(site().live_script, "text/javascript")


@blueprint.get("/games/<game>/static/<path:filename>")
def game_static(game: str, filename: str) -> Response:
    """Return a file that a game's pages use."""
    folder = site().folders[site().game(game).name]
    return send_from_directory(folder / "static", filename)


@blueprint.get("/fonts/<filename>")
def font(filename: str) -> Response:
    """Return a file of the font that all pages are set in."""
    try:
        response = Response(site().fonts.file(filename), mimetype="font/woff2")
    except FontError as error:
        current_app.logger.warning("%s", error)
        abort(404)
    response.headers["Cache-Control"] = FOR_GOOD
    return response


@blueprint.post("/language")
def language() -> Response:
    """Store the chosen language in a cookie."""
    chosen = request.form.get("language", "")
    if chosen not in LANGUAGES:
        abort(400)
    response = redirect_to(local_path(request.form.get("next", ""), site().url("first")))
    path = site().url("first")
    set_cookie(response, "language", chosen, path)
    return response


@blueprint.get("/tables")
def tables() -> Response:
    """Show every table."""
    everything = _tables()
    of_list = _list(everything)
    running = [table for table in everything if table.phase != "over"]
    return site().page(
        "tables.html",
        running=sorted(running, key=lambda table: table.id not in of_list["held"]),
        over=[table for table in everything if table.phase == "over"][:20],
        **of_list,
    )


def _list(tables: Sequence[Table]) -> dict[str, Any]:
    """Return what a list shows besides its tables: where this phone sits, and how games ended."""
    return {
        "held": {table.id for table in tables if table.phase != "over" and site().sits_at(table)},
        "end": lambda table: ending(table, Audience("")),
    }


def _tables() -> list[Table]:
    """Return the tables on the list, the newest first, without those of tools."""
    every = site().services.tables.all()
    return [table for table in every if table.charter.game in site().games and not table.is_archived]


@blueprint.get("/tables/new")
def new_table() -> Response:
    """Show the form for a new table."""
    return _new_table(request.args, "")


@blueprint.post("/tables/new")
def rules_of_choice() -> Response:
    """Show the form again, with the house rules that matter for its present choices.

    It is posted because a form may contain a file, whose text does not belong in an address.
    """
    game = site().game(request.form.get("game", ""))
    try:
        texts = brought(game, request.form, request.files, site().services.tables.all())
    except ServiceError:
        texts = NOTHING_BROUGHT  # there is time to choose a file: nothing is opened yet
    return _new_table(request.form, "", texts=texts)


@blueprint.post("/tables")
def open_table() -> Response:
    """Open a table and redirect to its chairs; a second tap, or a post whose answer was lost, opens no other."""
    form = request.form
    game = site().game(form.get("game", ""))
    texts = NOTHING_BROUGHT
    try:
        texts = brought(game, form, request.files, site().services.tables.all())
        if texts.faults:
            return _new_table(form, site().words()("new.file_wrong"), BAD_FORM, texts)
        table = _opened(game, form, texts)
    except ServiceError as error:
        status = FORBIDDEN if error.code in OF_ANOTHER_TABLE else BAD_FORM
        return _new_table(form, site().refusal(error), status, texts)
    site().services.setup.finish()
    return set_code_cookie(redirect_to(site().url("invited", code=table.code)), table)


def _opened(game: Game[Any], form: Mapping[str, str], texts: Brought) -> Table:
    """Open the table of a form, unless the same post has opened it."""
    temple = form.get("temple") or None
    return site().services.tables.open(
        game.name,
        form.get("title", ""),
        whole_number(form.get("players", ""), 99) or 0,
        form.get("preset", ""),
        {**options_chosen(game, form), **texts.texts},
        temple,
        Opening(
            site().leave_of(temple, form.get("temple_code", "")),
            form.get("sound") == "on",
            _id_of_post(form, texts) if form.get("request") else "",
        ),
    )


def _id_of_post(form: Mapping[str, str], texts: Brought) -> str:
    """Return a table's id made from what distinguishes its post from others: the sender, the form's id and fields."""
    said = [client(request.remote_addr), *sorted(form.items()), *sorted(texts.texts.items())]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:32]


class Offer(NamedTuple):
    """A game as the form offers it: its picture, the number of players, and how long it takes."""

    game: Game[Any]
    fewest: int
    most: int
    minutes: int
    """Of the preset that the form begins with; 0 where nobody knows."""
    measured: int
    """How many games here took so long; 0 where it is an estimate."""


def _offer(game: Game[Any], tables: Sequence[Table]) -> Offer:
    preset = _preset(game, _last_of(game, tables))
    here, played = usual_minutes(tables, game.name, preset)
    estimate = game.page.minutes.get(preset, 0)
    minutes = here or (round(estimate, -1) if estimate > HOUR_MIN else estimate)
    return Offer(game, min(game.seatings), max(game.seatings), minutes, played if here else 0)


def _last_of(game: Game[Any], tables: Sequence[Table]) -> Table | None:
    """Return the latest table of a game: people mostly play as they did before."""
    of_game = [table for table in tables if table.charter.game == game.name]
    return max(of_game, key=lambda table: table.charter.opened_at, default=None)


def _last_table(tables: Sequence[Table]) -> Table | None:
    """Return the latest table whose game is offered."""
    of_offer = [table for table in tables if table.charter.game in site().games]
    return max(of_offer, key=lambda table: table.charter.opened_at, default=None)


def _last_game(tables: Sequence[Table]) -> Game[Any]:
    """Return the game of the latest table, or else the first that is offered."""
    last = _last_table(tables)
    return site().games[last.charter.game] if last else next(iter(site().games.values()))


def _preset(game: Game[Any], last: Table | None) -> str:
    """Return the preset that was played last, or else the first that fits into one evening."""
    if last and last.preset in game.presets:
        return last.preset
    short = [preset for preset in game.presets if game.page.minutes.get(preset, 0) <= EVENING_MIN]
    return next(iter(short or game.presets))


def _players(game: Game[Any], last: Table | None) -> int:
    """Return the suggested number of players: that of the last time, or else a medium one."""
    seatings = sorted(game.seatings)
    played = len(last.seats) if last else 0
    return played if played in seatings else seatings[(len(seatings) - 1) // 2]


def _new_table(
    form: Mapping[str, str], problem: str, status: int = 200, texts: Brought = NOTHING_BROUGHT
) -> Response:
    games, tables = site().games, site().services.tables.all()
    game = games.get(form.get("game", "")) or _last_game(tables)
    players = whole_number(form.get("players", ""), 99)
    temples = site().services.temples.all()
    idle = [temple.name for temple in temples if temple.alive and not temple.table_id]
    last = _last_of(game, tables)
    wanted = form.get("preset", "")
    preset = wanted if wanted in game.presets else _preset(game, last)
    values = {option.key: option.default for option in game.options} | dict(game.presets[preset])
    try:
        picked = options_chosen(game, form)
    except ServiceError:
        picked = {}  # what is wrong in the form is shown beside it
    return site().page(
        "new_table.html",
        status,
        game=game,
        gt=site().game_words(game.name),
        art=site().art_of(games),
        offers=[_offer(offer, tables) for offer in games.values()],
        evening=EVENING_MIN,
        form=form,
        problem=problem,
        brought=texts,
        own=OWN,
        of_table=OF_TABLE,
        earlier=earlier(game, tables, form),
        shown=MOST_FAULTS,
        temples=temples,
        held={
            temple.name: table.title
            for temple in temples
            if (table := site().services.temples.serving.holder(temple.name))
        },
        chosen_players=players if players in game.seatings else _players(game, last),
        chosen_preset=preset,
        preset_values=values,
        rules=_grouped(game, {**values, **picked}),
        changed_keys=frozenset({*picked, *texts.texts, *texts.faults}),
        sounds=form.get("sound") == "on" or (request.method != "POST" and _last_sounds(tables)),
        chosen_temple=form.get("temple", idle[0] if idle else ""),
        new_request=new_request(),
    )


def _last_sounds(tables: Sequence[Table]) -> bool:
    """Return whether the latest table has sounds on."""
    last = _last_table(tables)
    return bool(last and last.sounds)


def _grouped(game: Game[Any], chosen: Mapping[str, Value]) -> list[tuple[str, list[Option]]]:
    """Return the house rules that matter for the present choices, by group; only presets set the gates."""
    gates = {option.only[0] for option in game.options if option.only}
    groups: dict[str, list[Option]] = {}
    for option in game.options:
        if (
            option.key not in gates
            and (len(option.values) > 1 or option.high or option.reader)
            and option.matters(chosen)
        ):
            groups.setdefault(option.group, []).append(option)
    return list(groups.items())


@blueprint.get("/join")
def join() -> Response:
    """Show the form for a join code."""
    return site().page("join.html", problem="")


@blueprint.post("/join")
def join_with_code() -> Response:
    """Redirect to the table of a join code."""
    typed = request.form.get("code", "")
    try:
        table = site().by_code(typed)
    except ServiceError as error:
        return site().page("join.html", 403, problem=site().refusal(error), code_typed=typed[:12])
    return redirect_to(site().url("invited", code=table.code))


@blueprint.get("/j/<code>")
def invited(code: str) -> Response:
    """Offer the chairs of the table whose QR code was scanned."""
    try:
        table = site().by_code(code)
    except ServiceError as error:
        return site().page("join.html", 403, problem=site().refusal(error), code_typed="")
    return _chairs(table.id, {}, "")


@blueprint.post("/t/<table_id>/sit")
def sit(table_id: str) -> Response:
    """Take a chair."""
    table = site().services.tables.get(table_id)
    form = request.form
    code = form.get("code", "")
    site().check_code(table, code)
    seat, name = form.get("seat", ""), form.get("name", "")
    try:
        if form.get("how") == "drop":
            return _wait_for_token(table, code, name)
        if not name.strip():
            name = table.reserved().get(seat, "")
        token = site().services.seats.sit(table_id, code, seat, name, seat_token(table_id), _pending(table_id))
    except ServiceError as error:
        if error.code in TAKEN_MEANWHILE:
            return set_name_cookie(redirect_to(site().url("invited", code=table.code, taken=seat)), name)
        return _chairs(table_id, form, site().refusal(error, table), BAD_FORM)
    return set_name_cookie(
        set_token_cookie(redirect_to(site().url("table", table_id=table_id)), table_id, token), name
    )


def _wait_for_token(table: Table, code: str, name: str) -> Response:
    """Let the next token that falls seat this phone, and show the page on which it waits."""
    token = _pending(table.id) or seat_token(table.id)
    if not token:
        raise ServiceError("no_cookies")
    site().services.tables.visit(table.id)  # the companion that owns the table gets its temple's tokens
    site().services.seats.wait_for_token(table.id, code, name, token)
    return set_name_cookie(redirect_to(site().url("drop", table_id=table.id)), name)


@blueprint.get("/t/<table_id>/drop")
def drop(table_id: str) -> Response:
    """Show a phone that waits for its token how to drop it; one that is seated, or waits no longer, the table."""
    here, seats = site(), site().services.seats
    table = here.services.tables.visit(table_id)
    token = seats.pending_token(table_id, request.cookies.get(COMING, "")) or seat_token(table_id)
    if token and seats.own(table_id, token):
        return set_token_cookie(redirect_to(here.url("table", table_id=table_id)), table_id, token)
    if not seats.waits(table_id, token):
        return redirect_to(here.url("table", table_id=table_id))
    return here.page(
        "drop.html",
        table=table,
        gt=here.words(table),
        code=table.code,
        name=last_name(),
        **_live(table, "drop"),
    )


def _live(table: Table, page: str) -> dict[str, Any]:
    """Return what a page needs that follows who sits where."""
    here = site()
    rendered = here.rendered(table, Audience(here.words().language, "sit"))
    return {
        "rendered": rendered,
        "stream_url": here.url("stream", table_id=table.id, **{"as": page}),
        "region": placer(here.words(table), rendered, new_request),
    }


@blueprint.post("/t/<table_id>/share")
def share(table_id: str) -> Response:
    """Take every free chair with one phone that is passed round."""
    table = site().services.tables.get(table_id)
    code = request.form.get("code", "")
    site().check_code(table, code)
    names = {seat: request.form.get(f"name.{seat}", "") for seat in free_seats(table)}
    try:
        token = site().services.seats.share(table_id, code, names, seat_token(table_id), _pending(table_id))
    except ServiceError as error:
        return _chairs(table_id, request.form, site().refusal(error, table), BAD_FORM)
    seated = set_token_cookie(redirect_to(site().url("table", table_id=table_id)), table_id, token)
    first = next(iter(names.values()), "")
    return set_name_cookie(seated, first) if first.strip() else seated


def _pending(table_id: str) -> str:
    """Return the token that this request's phone gets at a table if it holds none, or nothing for a new one.

    Raises `ServiceError` ``no_cookies`` if the browser did not keep what our own page gave it.
    """
    token = site().services.seats.pending_token(table_id, request.cookies.get(COMING, ""))
    if not token and not seat_token(table_id) and request.form.get("cookies") == "needed":
        raise ServiceError("no_cookies")
    return token


def _chairs(table_id: str, form: Mapping[str, str], problem: str, status: int = 200) -> Response:
    """Show the chairs of a table; a phone whose answer was lost when it sat down gets its seat's cookie here."""
    table, seats = site().services.tables.get(table_id), site().services.seats
    coming = request.cookies.get(COMING, "")
    if not (token := seats.pending_token(table_id, coming)):
        coming = seats.coming_pass()
    found = seats.own(table_id, token)
    page = site().page(
        "sit.html",
        status,
        table=table,
        gt=site().words(table),
        code=table.code,
        form=form,
        reserved=table.reserved(),
        last_name=last_name(),
        problem=problem,
        taken=next((chair.seat for chair in table.chairs if chair.seat == request.args.get("taken")), ""),
        held=site().held(table) or found,
        **_live(table, "sit"),
        sharing=any(name.startswith("name.") for name in form),
    )
    if found and not site().held(table):
        set_token_cookie(page, table_id, token)
    return set_coming_cookie(page, coming)

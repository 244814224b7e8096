"""The organiser's pages, behind their own code: what is running, a message to all tables, the rounds of an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial, wraps
from typing import Any, TypeVar

from flask import Blueprint, Response, request

from companion.adapters.news import EVERYTHING, Region, RegionRenderer, RenderedPage, ViewModel
from companion.model.pairing import GROUP, VALID
from companion.model.rounds import MOST_PLAYERS, PAIRINGS
from companion.model.table import ServiceError, Table
from companion.service.messages import LONGEST, MINUTES
from companion.service.rounds import EventPage
from companion.web.rendering.qr import qr_drawing
from companion.web.rendering.renderer import placer
from companion.web.routes.streams import stale_if_unreadable, stream_of
from companion.web.site import (
    BAD_FORM,
    FORBIDDEN,
    ORGANISER,
    Site,
    language,
    new_request,
    prove,
    redirect_to,
    site,
    whole_number,
)
from companion.web.view_models.organiser import event, open_tables, overview, overview_of_silent_store
from templo.codes import grouped

blueprint = Blueprint("organiser", __name__, url_prefix="/organiser")

View = TypeVar("View", bound=Callable[..., Response])


def _proved(view: View) -> View:
    """Let only who typed the organiser's code use a view."""

    @wraps(view)
    def checked(*given: Any, **named: Any) -> Response:
        if not site().is_organiser():
            return _login(FORBIDDEN, site().words()("refusal.organiser_only"))
        return view(*given, **named)

    return checked  # type: ignore[return-value] # it takes and gives what the view does


@blueprint.get("")
def organiser() -> Response:
    """Show all tables, temples, companions and brokers, or the form for the code."""
    return _page() if site().is_organiser() else _login()


@blueprint.get("/stream")
@_proved
@stale_if_unreadable
def organiser_stream() -> Response:
    """Send what changes at all tables and temples."""
    here, spoken = site(), language()
    return stream_of([EVERYTHING], lambda: _overview(here, spoken))


@blueprint.post("/code")
def organiser_code() -> Response:
    """Check the organiser's code, and let the browser remember it."""
    try:
        proof = site().organiser_proof(request.form.get("code", ""))
    except ServiceError as error:
        return _login(FORBIDDEN, site().refusal(error))
    path = site().url("organiser")
    response = redirect_to(path)
    prove(response, ORGANISER, proof, path)
    return response


@blueprint.post("/message")
@_proved
def send_message() -> Response:
    """Show a message on every table's pages, for a number of minutes."""
    form = request.form
    try:
        site().services.messages.send(form.get("text", ""), whole_number(form.get("minutes", ""), max(MINUTES)) or 0)
    except ServiceError as error:
        return _page(BAD_FORM, site().refusal(error), form.get("text", ""))
    return redirect_to(site().url("organiser"))


@blueprint.post("/message/end")
@_proved
def end_message() -> Response:
    """Withdraw the message, unless it has been replaced since the page was made."""
    messages = site().services.messages
    if request.form.get("text", messages.text) == messages.text:
        messages.take_back()
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
    """Show the current event, its tables and standings, or the form that begins one."""
    return _rounds()


@blueprint.get("/rounds/stream")
@_proved
@stale_if_unreadable
def rounds_stream() -> Response:
    """Send what changes about the event."""
    here, spoken = site(), language()
    return stream_of([EVERYTHING], lambda: _event(here, spoken))


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
    """Pair the remaining players, and open the tables of the next round."""
    form = request.form
    number = whole_number(form.get("number", ""), 9999) or 0
    rounds = site().services.rounds
    return _rounds_after(
        lambda: rounds.next_round(
            number,
            form.get("names", ""),
            _table_title,
            temples=bool(form.get("temples")),
            event_id=form.get("event", ""),
        )
    )


@blueprint.post("/rounds/end")
@_proved
def end_event() -> Response:
    """Forget the event; its tables stay."""
    return _rounds_after(lambda: site().services.rounds.end(request.form.get("event", "")))


@blueprint.get("/pairing")
@_proved
def pairing() -> Response:
    """Show the temples that may be paired, with the form that makes a code for each."""
    return _pairing()


@blueprint.post("/pairing")
@_proved
def pairing_code() -> Response:
    """Show a code for one of the temples that may be paired, and for the table that it will serve."""
    here, temple, table = site(), request.form.get("temple", ""), request.form.get("table", "")
    if temple not in here.config.offered.temples():
        return _pairing(BAD_FORM, here.refusal(ServiceError("not_offered", temple=temple[:32])))
    try:
        code = here.services.pairing.issue(temple, table)
    except ServiceError as error:
        return _pairing(BAD_FORM, here.refusal(error))
    title = here.services.tables.get(table).title if table else ""
    return _pairing(shown={"code": grouped(code, GROUP), "temple": temple, "title": title})


@blueprint.get("/codes")
@_proved
def codes() -> Response:
    """Show the QR codes of all tables that are not over, for printing."""
    here = site()
    address = here.address
    invitations = [
        {"table": table, "qr": qr_drawing(f"{address}{here.url('invited', code=table.code)}")}
        for table in open_tables(here.services, here.games)
    ]
    return here.page("organiser_codes.html", invitations=invitations, join=f"{here.address}{here.url('join')}")


def _login(status: int = 200, problem: str = "") -> Response:
    return site().page("organiser.html", status, allowed=False, problem=problem)


def _page(status: int = 200, problem: str = "", typed: str = "") -> Response:
    here = site()
    messages, rendered = here.services.messages, _overview(here, language())
    return here.page(
        "organiser.html",
        status,
        allowed=True,
        problem=problem,
        typed=typed,
        rendered=rendered,
        region=placer(here.words(), rendered, new_request),
        stream_url=here.url("organiser_stream"),
        installation=here.config.installation(),
        message=messages.text,
        minutes_left=-int(-messages.seconds_left // 60),
        longest=LONGEST,
        choices=MINUTES,
    )


def _overview(here: Site, spoken: str) -> RenderedPage:
    """Return the page of all tables and temples as of now."""
    renderer = partial(here.renderer.of_organiser, spoken)
    try:
        return here.page_cache.rendered(
            ("organiser", spoken), [EVERYTHING], lambda: overview(here.services, here.games), renderer
        )
    except ServiceError:
        return _uncached(here, overview_of_silent_store(here.services), renderer())


def _event(here: Site, spoken: str) -> RenderedPage:
    """Return the page of the event as of now; raises `ServiceError` ``no_event`` if there is none to show."""

    def view() -> ViewModel:
        page = here.services.rounds.page()
        if page is None or not _is_known(here, page):
            raise ServiceError("no_event")
        return event(page)

    return here.page_cache.rendered(
        ("event", spoken), [EVERYTHING], view, partial(here.renderer.of_organiser, spoken)
    )


def _uncached(here: Site, view: ViewModel, render: RegionRenderer) -> RenderedPage:
    """Return a page that is rendered for one request; whoever saw it is sent every region of the next."""
    regions = {name: Region(render(name, slice_), -1) for name, slice_ in view.slices.items()}
    return RenderedPage(here.hub.boot, -1, view.version, view.mark, regions)


def _is_known(here: Site, page: EventPage) -> bool:
    game = here.services.tables.games.get(page.event.game)
    return bool(game and page.event.preset in game.presets)


def _pairing(status: int = 200, problem: str = "", shown: Mapping[str, str] | None = None) -> Response:
    here = site()
    names = here.config.offered.temples()
    return here.page(
        "organiser_pairing.html",
        status,
        problem=problem,
        shown=shown,
        minutes=VALID // timedelta(minutes=1),
        address=here.address.removeprefix("http://"),
        temples=[(name, here.services.temples.find(name)) for name in names],
        for_temples=_tables_for_temples(),
    )


def _rounds(status: int = 200, problem: str = "") -> Response:
    here, form = site(), request.form
    page, rendered = here.services.rounds.page(), None
    with_temples = bool(form.get("temples")) or not form
    if page and _is_known(here, page):
        if problem:  # what was typed comes back, and no stream replaces it
            names = form.get("names", "") if form.get("event", "") in ("", page.event.id) else ""
            view = event(page, names, with_temples)
            rendered = _uncached(here, view, here.renderer.of_organiser(language()))
        else:
            rendered = _event(here, language())
    return here.page(
        "organiser_rounds.html",
        status,
        problem=problem,
        form={**dict.fromkeys(("played", "size", "pairing", "names"), ""), **form},
        with_temples=with_temples,
        event=page,
        rendered=rendered,
        region=placer(here.words(), rendered, new_request) if rendered else None,
        stream_url=here.url("rounds_stream"),
        is_known=rendered is not None,
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
    return [table for table in open_tables(site().services, site().games) if table.game.temple]

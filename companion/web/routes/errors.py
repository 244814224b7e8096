"""Shows every error in the reader's language, as a page or as JSON for our own script, without internal details."""

from __future__ import annotations

from contextlib import suppress

from flask import Flask, Response, current_app, request
from werkzeug.exceptions import HTTPException

from companion.model.table import ServiceError, Table
from companion.web.server.guard import MAX_BODY, Refused
from companion.web.site import RETRY_S, redirect_to, site

_STATUS = {
    "unknown_table": 404,
    "unknown_temple": 404,
    "unknown_game": 404,
    "unknown_aid": 404,
    "unknown_sheet": 404,
    "nothing_made": 404,
    "no_guide": 404,
    "unknown_playtest": 404,
    "playtest_missing": 503,
    "wrong_code": 403,
    "wrong_pairing_code": 403,
    "used_pairing_code": 403,
    "expired_pairing_code": 403,
    "not_seated": 403,
    "temple_held": 403,
    "not_your_seat": 403,
    "bad_number": 400,
    "bad_move": 400,
    "store_failing": 503,
}
_REFUSALS = {404: "not_found", 405: "not_found", 413: "too_large"}


def _table() -> Table | None:
    """Return the table that a request is about, or None, also where the store cannot be read."""
    try:
        return site().services.tables.find((request.view_args or {}).get("table_id"))
    except ServiceError:
        return None


def _page_of_form() -> str:
    """Return the page above an address that takes only posts, if a browser loads that again, such as in an old tab.

    It is empty for anything else, and where there is no such table.
    """
    if request.method != "GET" or "text/html" not in request.headers.get("Accept", ""):
        return ""
    place, _, rest = request.path.removeprefix("/").partition("/")
    with suppress(ServiceError):
        if place == "t" and site().services.tables.find(rest.partition("/")[0]) is None:
            return ""
    routes, path = current_app.url_map.bind("localhost"), request.path
    while path := path.rpartition("/")[0]:
        with suppress(HTTPException):
            routes.match(path, "GET")
            return f"{request.script_root}{path}"
    return ""


def install(app: Flask) -> None:
    """Answer every failure of this app."""

    @app.errorhandler(Refused)
    def refused(error: Refused) -> Response:
        response = site().failure(site().words()(f"refusal.{error.code}", **error.facts), "", error.status)
        if error.retry_after:
            response.headers["Retry-After"] = str(error.retry_after)
        return response

    @app.errorhandler(ServiceError)
    def of_service(error: ServiceError) -> Response:
        table = _table()
        back = site().url("table", table_id=table.id) if table else ""
        status = _STATUS.get(error.code, 409)
        if error.code != "store_failing" or request.method != "GET":
            return site().failure(site().refusal(error, table), back, status)
        response = site().failure(site().words()("refusal.store_unreadable"), "", status, retry_s=RETRY_S)
        response.headers["Retry-After"] = str(RETRY_S)
        return response

    @app.errorhandler(HTTPException)
    def of_http(error: HTTPException) -> Response:
        status = error.code or 500
        if status == 405 and (page := _page_of_form()):
            return redirect_to(page)
        refusal = _REFUSALS.get(status, "failed" if status >= 500 else "bad_request")
        most = request.max_content_length or MAX_BODY
        response = site().failure(site().words()(f"refusal.{refusal}", most=most), "", status)
        for name, value in error.get_headers():
            if name not in ("Content-Type", "Content-Length"):  # such as the methods that are allowed
                response.headers[name] = value
        return response

"""Every failure in the reader's language, as a page or as JSON for our own script. It reveals no internals."""

from __future__ import annotations

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

from companion.model.table import ServiceError
from companion.web.server.guard import MAX_BODY, Refused
from companion.web.site import scripted, site

_STATUS = {
    "unknown_table": 404,
    "unknown_temple": 404,
    "unknown_game": 404,
    "unknown_aid": 404,
    "unknown_sheet": 404,
    "nothing_made": 404,
    "no_guide": 404,
    "wrong_code": 403,
    "not_seated": 403,
    "temple_held": 403,
    "not_your_seat": 403,
    "bad_number": 400,
    "bad_move": 400,
    "store_failing": 503,
}
_WORDS = {404: "not_found", 405: "not_found", 413: "too_large"}


def install(app: Flask) -> None:
    """Answer every failure of this app."""

    @app.errorhandler(Refused)
    def refused(error: Refused) -> Response:
        response = _answer(error.status, site().words()(f"refusal.{error.code}", **error.facts))
        if error.retry_after:
            response.headers["Retry-After"] = str(error.retry_after)
        return response

    @app.errorhandler(ServiceError)
    def of_service(error: ServiceError) -> Response:
        table_id = (request.view_args or {}).get("table_id", "")
        table = next((table for table in site().services.tables.all() if table.id == table_id), None)
        back = site().url("table", table_id=table.id) if table else ""
        return _answer(_STATUS.get(error.code, 409), site().refusal(error, table), back)

    @app.errorhandler(HTTPException)
    def of_http(error: HTTPException) -> Response:
        status = error.code or 500
        words = _WORDS.get(status, "failed" if status >= 500 else "bad_request")
        response = _answer(status, site().words()(f"refusal.{words}", most=request.max_content_length or MAX_BODY))
        for name, value in error.get_headers():
            if name not in ("Content-Type", "Content-Length"):  # such as what may be asked instead
                response.headers[name] = value
        return response


def _answer(status: int, words: str, back: str = "") -> Response:
    if scripted():
        response = jsonify(ok=False, kind="refused", words=words)
        response.status_code = status
        return response
    here = site()
    title = here.words()("error.not_found" if status == 404 else "error.not_done")
    return here.page("error.html", status, title=title, words=words, back=back)

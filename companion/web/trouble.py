"""The page of a companion that cannot start: it shows what is wrong, in place of every other page."""

from __future__ import annotations

from pathlib import Path

from flask import Flask, Response, make_response, render_template

from companion.web.rendering.texts import Library
from companion.web.site import RETRY_S, language

_HERE = Path(__file__).parent


def create_trouble_app(reason: str) -> Flask:
    """Return an application that answers every request with 503 and one page.

    `reason` is in the program's own words, in English.

    >>> create_trouble_app("the disk is full").test_client().get("/").status_code
    503
    """
    app = Flask("companion.web.trouble", static_folder=None, template_folder=str(_HERE / "templates"))
    library = Library(_HERE / "texts", {})

    @app.before_request
    def explain() -> Response:
        chosen = language()
        page = render_template("trouble.html", t=library.words(chosen), lang=chosen, reason=reason, retry_s=RETRY_S)
        response = make_response(page, 503)
        response.headers["Retry-After"] = str(RETRY_S)
        response.headers["Cache-Control"] = "no-store"
        response.headers["Content-Security-Policy"] = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    return app

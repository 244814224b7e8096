"""Files of the pages that a browser keeps: their paths hold a version, which changes when any of them does.

A page names ``/v/3f9c01d2a7b4/static/table.js``, and what that imports stands below the same version. So a phone that
opens a page a second time asks for the page alone. Without a version, or with that of another release, the same path
is answered too, and asked for again each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, abort, request

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication

KEPT = frozenset({"static", "style", "page_style", "game_style", "game_static"})
"""The plain names of the routes that are answered below a version."""

YEAR_S = 365 * 24 * 3600
_PREFIX = "/v/"
_VERSION = "templo.version"


def version(folders: Iterable[Path]) -> str:
    """Return the version of all files in some folders: 12 hexadecimal digits of a digest of names and contents."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                data = path.read_bytes()
                digest.update(f"{path.relative_to(folder).as_posix()} {len(data)} ".encode() + data)
    return digest.hexdigest()[:12]


def versioned(path: str, of: str) -> str:
    """Return a path with a version before it.

    >>> versioned("/static/table.js", "3f9c01d2a7b4")
    '/v/3f9c01d2a7b4/static/table.js'
    """
    return f"{_PREFIX}{of}{path}"


def install(app: Flask, current: str) -> None:
    """Answer below a version as without one, and let browsers keep what they got below the current one."""
    app.wsgi_app = _without_version(app.wsgi_app)  # type: ignore[method-assign,assignment]  # the way that Flask documents

    @app.before_request
    def only_files() -> None:
        if _VERSION in request.environ and not _is_kept():
            abort(404)

    @app.after_request
    def kept(response: Response) -> Response:
        if request.environ.get(_VERSION) == current and response.status_code < 400:
            response.headers["Cache-Control"] = f"public, max-age={YEAR_S}, immutable"
        return response


def _is_kept() -> bool:
    return (request.endpoint or "").rpartition(".")[2] in KEPT


def _without_version(answer: WSGIApplication) -> WSGIApplication:
    def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        named, slash, rest = environ["PATH_INFO"].removeprefix(_PREFIX).partition("/")
        if slash and environ["PATH_INFO"].startswith(_PREFIX):
            environ = {**environ, "PATH_INFO": slash + rest, _VERSION: named}
        return answer(environ, start_response)

    return application

"""The static files of the pages, under paths with a version, so that browsers can cache them for good.

A page names ``/v/3f9c01d2a7b4/live.js``, and that version changes when any of the files does. So a phone that opens a
page again requests only the page. A path without a version, or with that of another release, is answered too, but
must be validated again: while companions of one installation are updated, a page may come from one and its files from
another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, abort, request

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication

CACHED = frozenset({"static", "style", "page_style", "game_style", "game_static", "live_script"})
"""The plain names of the routes that are answered below a version."""

YEAR_S = 365 * 24 * 3600
FOR_GOOD = f"public, max-age={YEAR_S}, immutable"
"""The header of what never changes under its name."""

_PREFIX = "/v/"
_VERSION = "templo.version"


class Files:
    """The files that pages are drawn with, as they were when this program started."""

    def __init__(self, folders: Mapping[str, Path], more: str = "") -> None:
        """Read every file: those of a game's folder by the game's name, those of all pages by an empty one.

        `more` is what else a style sheet is made of.
        """
        self._folders = folders
        self._stamps: dict[Path, tuple[int, int]] = {}
        content = hashlib.sha256(more.encode())
        for folder in folders.values():
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    self._stamps[path] = _stamp(path)
                    data = path.read_bytes()
                    content.update(f"{path.relative_to(folder).as_posix()} {len(data)} ".encode() + data)
        self.version = content.hexdigest()[:12]
        """12 hexadecimal digits, others where a name or a content differs."""

    def unchanged(self, game: str, name: str) -> bool:
        """Return whether a file is still what it was: an update may have replaced it while this program runs."""
        path = self._folders[game] / name
        try:
            return self._stamps.get(path) == _stamp(path)
        except OSError:
            return False


@cache
def files_of(*folders: tuple[str, Path], more: str = "") -> Files:
    """Return the files of folders, each with its game, which are read once in a process."""
    return Files(dict(folders), more)


def versioned(path: str, version: str) -> str:
    """Return a path with a version before it.

    >>> versioned("/static/table.js", "3f9c01d2a7b4")
    '/v/3f9c01d2a7b4/static/table.js'
    """
    return f"{_PREFIX}{version}{path}"


def install(app: Flask, files: Files) -> None:
    """Answer below a version as without one, and let browsers keep what they got below the current one."""
    app.wsgi_app = _without_version(app.wsgi_app)  # type: ignore[method-assign,assignment]  # the way that Flask documents

    @app.before_request
    def only_files() -> None:
        if _VERSION in request.environ and _route() not in CACHED:
            abort(404)

    @app.after_request
    def cached(response: Response) -> Response:
        if request.environ.get(_VERSION) == files.version and response.status_code < 400 and _is_current(files):
            response.headers["Cache-Control"] = FOR_GOOD
        return response


def _route() -> str:
    return (request.endpoint or "").rpartition(".")[2]


def _is_current(files: Files) -> bool:
    """Return whether the answer is as old as the version: what was joined at the start is."""
    arguments = request.view_args or {}
    return "filename" not in arguments or files.unchanged(arguments.get("game", ""), arguments["filename"])


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _without_version(answer: WSGIApplication) -> WSGIApplication:
    def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        named, slash, rest = environ["PATH_INFO"].removeprefix(_PREFIX).partition("/")
        if slash and environ["PATH_INFO"].startswith(_PREFIX):
            environ = {**environ, "PATH_INFO": slash + rest, _VERSION: named}
        return answer(environ, start_response)

    return application

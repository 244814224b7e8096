"""Asks a WSGI application for the answer to a request that aiohttp has read."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from msgspec import Struct
from werkzeug.middleware.proxy_fix import ProxyFix

from companion.web.server.broadcast import STREAM, Stream

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from aiohttp import web


class Answer(Struct, frozen=True):
    """What an application answers. `stream` goes on with it; whoever has the answer closes it."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes
    stream: Stream | None


class Application:
    """A WSGI application, and the reverse proxy whose statements about its clients are trusted, if any."""

    def __init__(self, app: WSGIApplication, proxy: str) -> None:
        self._app = app
        self._proxy = proxy
        self._behind_proxy = ProxyFix(app, x_for=1, x_proto=1)

    def answer(self, request: web.BaseRequest, body: bytes) -> Answer:
        """Return the application's answer to a request."""
        environ = _environment(request, body)
        answer = self._behind_proxy if request.remote == self._proxy else self._app
        begun: list[Any] = []

        def start_response(*given: Any) -> Any:
            begun[:] = given

        try:
            parts = answer(environ, start_response)
            try:
                whole = b"".join(parts)
            finally:
                if hasattr(parts, "close"):
                    parts.close()
        except BaseException:
            if environ[STREAM] is not None:
                environ[STREAM].closed()
            raise
        code, _, reason = begun[0].partition(" ")
        return Answer(int(code), reason, begun[1], whole, environ[STREAM])


def _environment(request: web.BaseRequest, body: bytes) -> dict[str, Any]:
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(request.rel_url.raw_path).decode("latin-1"),
        "QUERY_STRING": request.rel_url.raw_query_string,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": f"HTTP/{request.version.major}.{request.version.minor}",
        "REMOTE_ADDR": request.remote or "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        STREAM: None,
    }
    for name, value in request.headers.items():
        if "_" in name:  # it would pass for another header
            continue
        key = name.upper().replace("-", "_")
        if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
            key = f"HTTP_{key}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ

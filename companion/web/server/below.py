"""Serves an application below a path, behind a proxy that serves other things at the same host.

The path is split as WSGI provides for: its beginning goes to ``SCRIPT_NAME``, so that routes, redirects and cookies
need not know of it. It makes no difference whether the proxy removes it from its requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from flask import Flask

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse


def serve_below(app: Flask, path: str) -> None:
    """Let an application's pages begin with a path such as ``/club-a``; without one nothing changes."""
    if not path:
        return
    answer, prefix = app.wsgi_app, unquote(path)

    def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        asked = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        if asked == prefix:
            query = environ.get("QUERY_STRING", "")
            start_response("308 Permanent Redirect", [("Location", f"{path}/{query and '?'}{query}")])
            return []
        environ["SCRIPT_NAME"] = prefix.encode().decode("latin-1")
        if asked.startswith(f"{prefix}/"):
            environ["PATH_INFO"] = environ["PATH_INFO"][len(environ["SCRIPT_NAME"]) :]
        return answer(environ, start_response)

    app.wsgi_app = application  # type: ignore[method-assign]  # as Flask documents

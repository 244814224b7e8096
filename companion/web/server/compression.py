"""Compresses text for browsers that take it: what stays as it is once, everything else for each answer."""

from __future__ import annotations

import gzip

from flask import Flask, Response, request

TEXT = frozenset(
    {
        "application/json",
        "application/manifest+json",
        "image/svg+xml",
        "text/css",
        "text/csv",
        "text/html",
        "text/javascript",
        "text/plain",
    }
)
"""The types of answers that are compressed. Event streams compress themselves."""

SMALLEST = 1024
"""Bytes from which on it is worth it: less fits into one packet anyway."""

QUICK, BEST = 1, 9
"""Levels of gzip. The best saves a page another tenth of its bytes, and takes four times as long."""


def install(app: Flask) -> None:
    """Compress the answers of an app, after everything else was done with them: call this before others do."""
    kept: dict[str, bytes] = {}

    @app.after_request
    def compress(response: Response) -> Response:
        if response.mimetype not in TEXT or response.status_code == 206 or "Content-Encoding" in response.headers:
            return response
        response.vary.add("Accept-Encoding")
        if not request.accept_encodings["gzip"] or (response.content_length or SMALLEST) < SMALLEST:
            return response
        response.direct_passthrough = False  # a file is read now
        whole = response.get_data()
        if "immutable" not in response.headers.get("Cache-Control", ""):
            data = gzip.compress(whole, QUICK, mtime=0)
        elif (data := kept.get(request.path, b"")) == b"":
            data = kept[request.path] = gzip.compress(whole, BEST, mtime=0)
        response.set_data(data)
        response.headers["Content-Encoding"] = "gzip"
        response.headers.pop("Accept-Ranges", None)
        etag, _ = response.get_etag()
        if etag is not None:
            response.set_etag(etag, weak=True)
        return response

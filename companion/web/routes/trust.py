"""The page that helps a phone to trust this machine's authority and to open these pages over TLS."""

from __future__ import annotations

import hashlib
import ssl
from contextlib import suppress
from pathlib import Path

from flask import Blueprint, Response, abort, request, send_from_directory

from companion.web.server.guard import host_name
from companion.web.site import site

blueprint = Blueprint("trust", __name__)


@blueprint.get("/trust")
def trust() -> Response:
    """Show how to trust this machine's authority, so that a browser opens these pages over TLS."""
    authority = _authority()
    return site().page(
        "trust.html",
        fingerprint=hashlib.sha256(authority).digest().hex(":").upper() if authority else "",
        address=f"https://{host_name(request.host)}/",
        secure=request.is_secure,
    )


@blueprint.get("/trust/templo-mayor.crt")
def authority() -> Response:
    """Return the certificate of this machine's authority, for phones to trust."""
    certificate = _authority()
    if not certificate:
        abort(404)
    response = Response(certificate, content_type="application/x-x509-ca-cert")
    response.headers["Content-Disposition"] = "attachment; filename=templo-mayor.crt"
    return response


@blueprint.get("/worker.js")
def worker() -> Response:
    """Return the service worker that shows notifications, at a path that covers every page."""
    return send_from_directory("static", "worker.js")


def _authority() -> bytes:
    """Return the authority's certificate as DER, or no bytes if there is none."""
    file = site().config.settings.authority
    if file:
        with suppress(OSError, ValueError):
            return ssl.PEM_cert_to_DER_cert(Path(file).read_text("ascii"))
    return b""

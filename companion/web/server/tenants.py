"""Leads each request below ``/h/<tenant>/`` to the pages of that tenant, for which it is as if they stood alone.

The path is split as WSGI provides for: what names the tenant goes to ``SCRIPT_NAME``, so that routes, redirects and
cookies need not know of it. A name that is unknown is left in the path, where no route has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any, cast

from flask import Flask, Response, redirect, request
from werkzeug.wsgi import ClosingIterator

from companion.model.table import ServiceError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication

ROOT = "/h/"
SITE = "templo.site"
"""The key in a request's environment for the pages of its tenant; no client can set it."""

FAILED = "templo.failed"
"""The key for the error that kept a tenant from being opened."""

LEADS_ON = "templo.leads_on"
"""The key for whether the path was a tenant's without its last slash."""

Visit = Callable[[str], AbstractContextManager[object | None]]
"""Gives the pages of a tenant, or None for a name that is unknown, for as long as a request takes."""


def prefix_of(tenant: str) -> str:
    """Return the beginning of every path of a tenant.

    >>> prefix_of("club-a")
    '/h/club-a'
    """
    return f"{ROOT}{tenant}"


def with_tenants(answer: WSGIApplication, visit: Visit) -> WSGIApplication:
    """Return an application that answers for tenants, too."""

    def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        name, slash, rest = path.removeprefix(ROOT).partition("/")
        if not path.startswith(ROOT) or environ.get("SCRIPT_NAME"):
            return answer(environ, start_response)
        visiting = ExitStack()
        try:
            try:
                site = visiting.enter_context(visit(name))
            except ServiceError as error:
                environ[FAILED] = error
                return answer(environ, start_response)
            if site is None:
                visiting.close()
                return answer(environ, start_response)
            # In place: the server reads from its own dictionary who continues a response.
            environ |= {"SCRIPT_NAME": prefix_of(name), "PATH_INFO": f"/{rest}", SITE: site, LEADS_ON: not slash}
            return ClosingIterator(answer(environ, start_response), visiting.close)
        except BaseException:
            visiting.close()
            raise

    return application


def lead_on(app: Flask) -> None:
    """Lead a tenant's address without its last slash to the first page, behind what guards every page."""

    @app.before_request
    def to_first_page() -> Response | None:
        if not request.environ.get(LEADS_ON) or request.routing_exception is not None:
            return None
        asked = request.query_string.decode("latin-1")
        return cast(Response, redirect(f"{request.script_root}/{asked and '?'}{asked}", 308))

"""The page of a companion that cannot start: it shows what is wrong, in place of every other page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from flask import Flask, Response, make_response, render_template, request
from msgspec import Struct

from companion.adapters.database.backup import Backup, BackupError, Restored
from companion.adapters.database.damage import Damage
from companion.adapters.database.opening import StoreError
from companion.adapters.owner import Owner
from companion.model.table import ServiceError
from companion.web.rendering.styles import of_site
from companion.web.rendering.texts import Library
from companion.web.server import guard
from companion.web.server.below import serve_below
from companion.web.site import FORBIDDEN, OWNER, RETRY_S, is_proved, language, proof_for, prove

_HERE = Path(__file__).parent
_SETUP = "/setup"
"""The path under which a browser proves that the owner's code was typed in it."""

_RESTORE = f"{_SETUP}/restore"

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"


class Trouble(Struct, frozen=True):
    """Why the companion cannot start, in the program's own words, and what is known of a damaged store.

    `is_examined` is false as long as the store is being read; only then are damage and backup known.
    """

    reason: str
    is_examined: bool = True
    damage: Damage | None = None
    backup: Backup | None = None
    """The newest backup, if any."""


class Repair(Struct, frozen=True):
    """How the owner has the newest backup restored.

    `restore` raises `BackupError` or `StoreError` if nothing was changed; the owner's code is in `code_file`, and
    backups are looked for in the folder `backups`.
    """

    restore: Callable[[], Restored]
    owner: Callable[[], Owner | None]
    code_file: Path
    backups: Path
    lockout: guard.Lockout


def create_trouble_app(
    trouble: Callable[[], Trouble],
    repair: Repair,
    allowed_hosts: Iterable[str],
    own_hosts: Callable[[], Iterable[str]],
    clock: Callable[[], float],
    path: str = "",
) -> Flask:
    """Return an application that answers every request with 503 and one page, but for the owner who restores.

    `trouble` returns what to show now; the hosts and the clock are those of `guard.install`, `path` is that of
    `WebConfig`.
    """
    app = Flask("companion.web.trouble", static_folder=None, template_folder=str(_HERE / "templates"))
    library = Library(_HERE / "texts", {})
    guard.install(app, allowed_hosts, own_hosts, clock, {})

    def page(status: int = 503, problem: str = "", **more: Any) -> Response:
        chosen = language()
        words, shown = library.words(chosen), trouble()
        html = render_template(
            "trouble.html",
            t=words,
            lang=chosen,
            trouble=shown,
            repair=repair,
            retry_s=RETRY_S,
            restore=f"{path}{_RESTORE}",
            problem=problem,
            style=of_site(_HERE / "static" / "styles", "").text,
            **more,
        )
        response = make_response(html, status)
        response.headers["Content-Security-Policy"] = _POLICY
        if status == 503:
            response.headers["Retry-After"] = str(RETRY_S)
        return response

    @app.before_request
    def explain() -> Response | None:
        return None if request.endpoint == "restore" and trouble().backup else page()

    @app.post(_RESTORE)
    def restore() -> Response:
        words = library.words(language())
        typed, owner = request.form.get("code"), repair.owner()
        if typed is None and not is_proved(owner, OWNER):
            return page(FORBIDDEN, asks_code=True)
        try:
            proof = proof_for(owner, typed, repair.lockout, "wrong_owner_code") if typed is not None else ""
        except ServiceError as error:
            return page(FORBIDDEN, words(f"refusal.{error.code}"), asks_code=True)
        try:
            response = page(200, restored=repair.restore())
        except (BackupError, StoreError) as error:
            response = page(problem=words("trouble.not_restored", why=str(error)))
        if proof:
            prove(response, OWNER, proof, f"{path}{_SETUP}")
        return response

    @app.errorhandler(guard.Refused)
    def refused(error: guard.Refused) -> Response:
        response = page(error.status, library.words(language())(f"refusal.{error.code}", **error.facts))
        if error.retry_after:
            response.headers["Retry-After"] = str(error.retry_after)
        return response

    serve_below(app, path)
    return app

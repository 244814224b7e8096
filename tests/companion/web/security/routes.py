"""What the security tests share: every route of an application, all that a companion stores, and how to ask."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from werkzeug.test import TestResponse

from companion.web.routes import api_description
from tests.companion.web.conftest import ORIGIN, Browser, WebHome

ROOT = Path(__file__).parents[4]
SCRIPT = {"Accept": "application/json"}


class Routes:
    """Every route of an application, with something that is there in its path."""

    def __init__(self, home: WebHome, table_id: str = "", code: str = "ABCDEF") -> None:
        self.home = home
        self._values = {
            "table_id": table_id or "0" * 32,
            "code": code,
            "name": "table",
            "game": "mexica",
            "filename": "table.js",
            "aid": "battle",
            "sheet": "board",
            "page": "temple",
            "seat": "east",
            "playtest": "0" * 12,
            "step": "name",
        }

    def __call__(self, *methods: str) -> Iterator[tuple[str, str, str]]:
        """Yield method, path and endpoint of every route that can be asked one of these methods."""
        for rule in self.home.app.url_map.iter_rules():
            unknown = rule.arguments - self._values.keys()
            assert not unknown, f"{rule.rule}: say in Routes what a test may put for {unknown}"
            for method in api_description.methods_of(rule):
                if method in methods or not methods:
                    yield method, api_description.path_of(rule).format(**self._values), rule.endpoint


def kept(home: WebHome) -> list[str]:
    """Return all that the store holds, line by line."""
    with closing(sqlite3.connect(home.url.removeprefix("sqlite:///"))) as store:
        return list(store.iterdump())


def everything(home: WebHome) -> Any:
    """Return all that the companion stores."""
    return kept(home), home.services.tables.all(), home.services.temples.all()


def asked(phone: Browser, path: str) -> TestResponse:
    """Open a page, or the beginning of a stream."""
    if not path.partition("?")[0].endswith("/stream"):
        return phone.get(path)
    with phone.client.get(path, headers=ORIGIN) as answer:
        next(answer.iter_encoded(), b"")
        return answer


def seated(home: WebHome, phone: Browser, table_id: str) -> None:
    """Take every chair with this phone, so that its pages show all that a player can see."""
    table = home.services.tables.get(table_id)
    phone.post(f"/t/{table_id}/share", {"code": table.code})

"""What the tests of the pages share: the real web application over the real services, and simple browsers."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Map, Rule
from werkzeug.test import TestResponse

from companion.adapters.database.sql_store import SqlStore
from companion.adapters.news import Hub
from companion.adapters.owner import Owner
from companion.adapters.playtests import Playtests
from companion.games import registry
from companion.games.kit import Game
from companion.model.network import Network, NetworkRefused
from companion.model.table import Table
from companion.service.services import Services
from companion.service.workspace import Workspace
from companion.settings import WebSettings
from companion.web import App, create_app
from companion.web.config import WebConfig
from templo import contract
from tests.companion.conftest import SOURCE, Home

TOSS = Path(__file__).parent / "toss"
"""A stranger's game: one coin."""

KEPT = Path(__file__).parents[3] / "build" / "kept"
"""Where the tests keep the fonts and compiled templates of pages, so that each is made once."""

ORIGIN = {"Origin": "http://localhost"}
SESSION = "c" * 32
OWNER = Owner("ABCDEFGH", "0" * 32)
ORGANISER = Owner("HGFEDCBA", "1" * 32)


class ReadyRule(Rule):
    """A route that is compiled once for all applications of a run: that is half of the work of making one."""

    compiled: ClassVar[dict[tuple[object, ...], Rule]] = {}

    def bind(self, map: Map, rebind: bool = False) -> None:  # noqa: A002  # the name that werkzeug passes
        words = (self.rule, self.endpoint, self.host, self.strict_slashes, self.redirect_to)
        key = (*words, frozenset(self.methods or ()), frozenset((self.defaults or {}).items()))
        ready = self.compiled.setdefault(key, self)
        if ready is self:
            super().bind(map, rebind)
        else:
            vars(self).update({**vars(ready), "map": map})


App.url_rule_class = ReadyRule


@dataclass
class Joining:
    """The network of a companion in a test: what a test set, and what was asked to be joined."""

    home: WebHome

    def look(self) -> Network:
        return self.home.network

    def join(self, name: str, password: str) -> Network:
        if password == "wrong":
            raise NetworkRefused("that is no password of a Wi-Fi")
        self.home.joined.append((name, password))
        self.home.network = msgspec.structs.replace(self.home.network, joining=name)
        return self.home.network


@dataclass
class WebHome(Home):
    """The services with their web face."""

    hub: Hub = field(default_factory=lambda: Hub(boot="boot"))
    seconds: float = 1000.0
    first_start: str = "off"
    network: Network = field(default_factory=Network)
    """What NetworkManager says."""
    joined: list[tuple[str, str]] = field(default_factory=list)
    """The Wi-Fis that were chosen on the page, with their passwords."""
    addresses: dict[str, str] = field(default_factory=dict)
    """Where phones beside a viewer's address reach the pages, if not at their usual address."""

    def restart(self) -> None:
        """Open the services again on the same store, and a web face over it."""
        if hasattr(self, "store"):
            self.store.close()
            self.playtests.close()
        self.store = SqlStore(self.url)
        self.workspace = Workspace(self.store, self.games, self.clock, self.entropy, self.hub.publish)
        self.services = Services.over(self.workspace)
        # The lab plays nothing here: its stand-in ends at once.
        self.playtests = Playtests(Path(self.url.removeprefix("sqlite:///")).with_name("playtests"), python=("true",))
        config = WebConfig(
            WebSettings(allowed_hosts=("localhost", "templo.local"), streams=3, first_start=self.first_start),
            lambda viewer: self.addresses.get(viewer, "http://templo.local"),
            "an-instance",
            lambda: ["192.168.1.7"],
            kept=KEPT,
            playtests=self.playtests,
            owner=OWNER,
            organiser=ORGANISER,
            network=Joining(self),
            name_address=lambda: "http://raspberrypi.local",
        )
        self.app: Flask = create_app(self.services, self.hub, config, lambda: self.seconds)

    def configure(self, **changes: Any) -> None:
        """Change settings or other configuration of the web face that is running."""
        site = self.app.extensions["site"]
        settings = {key: changes.pop(key) for key in list(changes) if hasattr(WebSettings, key)}
        changes["settings"] = replace(site.config.settings, **settings)
        site.config = replace(site.config, **changes)

    def browser(self, address: str = "127.0.0.1", language: str = "en") -> Browser:
        """Return a new phone that knows nothing yet."""
        return Browser(self.app.test_client(), address, language)

    def lobby(self, **options: str | int) -> Table:
        """Open a table that has not begun."""
        return self.services.tables.open("mexica", "Sunday", 4, "temple_only", options)

    def beams(
        self,
        name: str,
        huitzilopochtli: contract.Beam,
        tlaloc: contract.Beam,
        state: contract.State = contract.State.READY,
        trouble: contract.Trouble | None = None,
    ) -> None:
        """Let a temple say how its beams are."""
        gods = {contract.God.HUITZILOPOCHTLI: huitzilopochtli, contract.God.TLALOC: tlaloc}
        kind, timing = contract.Kind.SIMULATOR, contract.Timing.SIMULATED
        self.services.temples.receive_status(
            name, contract.Status(state, SESSION, kind, "1.0.0", timing, gods, SOURCE, trouble)
        )


@dataclass
class Browser:
    """A browser as far as the server can see: cookies, forms, and the headers that browsers send."""

    client: FlaskClient
    address: str
    language: str
    requests: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def get(self, path: str, **headers: str) -> TestResponse:
        """Open a page."""
        base = {"REMOTE_ADDR": self.address}
        return self.client.get(path, headers=self._headers(headers), environ_base=base, buffered=True)

    def post(self, path: str, form: Mapping[str, str] | None = None, **headers: str) -> TestResponse:
        """Send a form of our own page."""
        return self.client.post(
            path,
            data=dict(form or {}),
            headers=self._headers({**ORIGIN, **headers}),
            environ_base={"REMOTE_ADDR": self.address},
        )

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        return {"Accept-Language": self.language, **{name.replace("_", "-"): value for name, value in more.items()}}

    def sit(self, table: Table, seat: str, name: str = "Ana") -> TestResponse:
        """Take a chair."""
        return self.post(f"/t/{table.id}/sit", {"code": table.code, "seat": seat, "name": name})

    def token_of(self, table: Table) -> str:
        """Return the secret by which this browser acts for its seat at a table."""
        cookie = self.client.get_cookie(f"seat-{table.id}", path=f"/t/{table.id}")
        assert cookie is not None
        return cookie.value

    def move(
        self, table: Table, seat: str, *move: str | int, version: int, request: str = "", **headers: str
    ) -> TestResponse:
        """Post a move."""
        form = {
            "seat": seat,
            "move": json.dumps(move),
            "version": str(version),
            "request": request or f"r{next(self.requests)}",
        }
        return self.post(f"/t/{table.id}/play", form, **headers)


def text_of(response: TestResponse) -> str:
    """Return what a page says, without its markup."""
    html = re.sub(r"(?s)<(script|style|svg).*?</\1>", " ", response.get_data(as_text=True))
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def home_with(tmp_path: Path, games: Mapping[str, Game[Any]]) -> Iterator[WebHome]:
    """Yield the services with some games and their tools."""
    home = WebHome(f"sqlite:///{tmp_path / 'companion.sqlite'}", games=registry.with_tools(games))
    yield home
    home.playtests.close()
    home.hub.close()
    home.store.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[WebHome]:
    yield from home_with(tmp_path, registry.load(()))


@pytest.fixture
def club(tmp_path: Path) -> Iterator[WebHome]:
    """The services with a stranger's game beside ours."""
    yield from home_with(tmp_path, registry.load((TOSS,)))


@pytest.fixture
def phone(home: WebHome) -> Browser:
    return home.browser()

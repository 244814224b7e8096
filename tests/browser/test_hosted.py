"""A tenant's pages in a browser: a table is set and played below its address, and its streams are its own."""

from __future__ import annotations

import http.client
import itertools
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from companion.model.tenants import Limits
from companion.web.server.serving import Server
from tests.browser.conftest import STREAMS, Device
from tests.browser.driving import seated_and_begun
from tests.hosted.conftest import A, B, eventually
from tests.hosted.conftest import Companion as Hosting

Make = Callable[..., Device]
COPY = "club-c"
OWN = f"/h/{A}/"
PATIENCE_S = 120

NAMED = """() => [...document.querySelectorAll("*")].flatMap((each) => [...each.attributes])
    .filter(({ name, value }) => /^(href|src|srcset|action|formaction|poster|content|data-.*)$/.test(name)
        && /^(\\/|https?:)/.test(value))
    .map(({ value }) => new URL(value, location.href).href)"""
"""Every address that a page names, in whatever attribute."""


class Served:
    """A companion that hosts two tenants, before a socket."""

    def __init__(self, folder: Path) -> None:
        self.hosting = Hosting(f"sqlite:///{folder / 'companion.sqlite'}", folder=folder)
        for name in (A, B):
            self.hosting.tenants.add(name, Limits(), secrets.token_bytes)
        self.hosting.start()
        self.server = Server(self.hosting.app, "127.0.0.1", 0, STREAMS)
        self.thread = threading.Thread(target=self.server.serve)
        self.thread.start()

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.server.port}"

    @property
    def address(self) -> str:
        return f"{self.origin}/h/{A}"

    def stop(self) -> None:
        self.hosting.hosted.end_streams()
        self.server.stop()
        self.thread.join(60)
        self.hosting.stop()
        assert not self.thread.is_alive()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path)
    yield served
    served.stop()


def strays(served: Served, addresses: list[str]) -> list[str]:
    """Return which addresses are not of the tenant A."""
    web = [urlsplit(each) for each in addresses if each.startswith("http")]
    own = {"localhost", f"localhost:{served.server.port}"}
    return [each.geturl() for each in web if each.netloc not in own or not each.path.startswith(OWN)]


def watched(page: Page, made: list[str]) -> None:
    page.context.on("request", lambda request: made.append(request.url))


def begun(served: Served, host: Device, guest: Device) -> str:
    """Set a table for two from the first page, as a family does, and begin; return its id."""
    host.page.locator('a[href$="/tables/new"]').first.click()
    host.listening()
    host.page.check('input[name="players"][value="2"]', force=True)
    host.page.check('input[name="preset"][value="temple_only"]', force=True)
    return seated_and_begun(served.address, host, guest)


def test_a_table_of_a_tenant_is_set_and_played_without_a_request_that_leaves_its_address(
    served: Served, device: Make
) -> None:
    host, guest, screen = device(), device(), device()
    made: list[str] = []
    for each in (host, guest, screen):
        watched(each.page, made)
    host.page.goto(f"{served.address}/")
    named = list(host.page.evaluate(NAMED))
    table_id = begun(served, host, guest)
    screen.page.goto(f"{served.address}/t/{table_id}/screen")
    screen.listening()
    turns = [each for each in (host, guest) if each.page.locator(".end-turn button").count()]
    assert len(turns) == 1
    (now,) = turns
    other = guest if now is host else host
    now.page.wait_for_timeout(300)
    now.page.locator(".end-turn button").click()
    expect(other.page.locator(".turn-whose")).to_have_text("Your turn")
    expect(other.page.locator(".end-turn button")).to_be_visible()
    for each in (host, guest, screen):
        named += each.page.evaluate(NAMED)
    code = served.hosting.of(A).tables.get(table_id).code
    invited = device()
    watched(invited.page, made)
    for path in ("/", "/tables", "/games/mexica", "/temples", "/evenings", f"/j/{code}", "/organiser"):
        answer = invited.page.goto(f"{served.address}{path}")
        assert answer
        assert answer.ok, path
        named += invited.page.evaluate(NAMED)
    assert not strays(served, made)
    assert not strays(served, named)
    kinds = ("/static/", "/stream", "/app.webmanifest", "/t/", "/tables", "/begin", f"/t/{table_id}/qr", f"/j/{code}")
    assert not [kind for kind in kinds if not any(kind in each for each in (*made, *named))]
    assert not served.hosting.of("").tables.all()
    assert not served.hosting.of(B).tables.all()


def test_what_a_tenant_s_table_installs_and_invites_with_is_below_its_address(served: Served, device: Make) -> None:
    table = served.hosting.of(A).tables.open("mexica", "Sunday", 2, "temple_only")
    phone = device()
    phone.context.grant_permissions(["notifications"], origin=served.origin)
    phone.page.goto(f"{served.address}/j/{table.code}")
    phone.page.fill('.sit-form input[name="name"]', "Ana")
    phone.page.click(".sit-form button")
    phone.listening()
    words = phone.page.evaluate("document.body.textContent")
    assert all(each.startswith(OWN) for each in re.findall(r"localhost(?::\d+)?(/[^\s<]+)", words))
    manifest = phone.page.evaluate("fetch(document.querySelector('link[rel=manifest]').href).then((it) => it.json())")
    assert (manifest["start_url"], manifest["scope"]) == (OWN, OWN)
    assert not strays(served, [f"{served.origin}{each['src']}" for each in manifest["icons"]])
    scope = phone.page.evaluate(
        """async () => {
            const { home } = await import(document.querySelector('script[src*="/static/"]').src.replace(
                /\\/static\\/.*/, "/static/home.js"));
            return (await navigator.serviceWorker.register(new URL("worker.js", home()))).scope;
        }"""
    )
    assert scope == f"{served.origin}{OWN}"


@contextmanager
def stream(served: Served, tenant: str, table_id: str, cookie: str) -> Iterator[Callable[[str], str]]:
    """Open an event stream; what is given reads on until a word comes, and returns all that came."""
    connection = http.client.HTTPConnection("127.0.0.1", served.server.port, timeout=PATIENCE_S)
    connection.request("GET", f"/h/{tenant}/t/{table_id}/stream", headers={"Host": "localhost", "Cookie": cookie})
    answer = connection.getresponse()
    assert answer.status == 200
    came = b""

    def until(word: str) -> str:
        nonlocal came
        while word.encode() not in came:
            more = answer.read1(65536)
            assert more, "the stream ended"
            came += more
        return came.decode()

    try:
        yield until
    finally:
        connection.close()


def test_the_streams_of_two_tenants_with_the_same_tables_codes_and_cookies_tell_each_of_its_own(
    served: Served, tmp_path: Path
) -> None:
    hosting = served.hosting
    table = hosting.of(A).tables.open("mexica", "Sunday", 2, "temple_only")
    token = hosting.of(A).seats.sit(table.id, table.code, table.charter.seats[0], "Ana")
    file = tmp_path / "club-a.sqlite"
    hosting.tenants.export(hosting.tenants.get(A), file, hosting.clock.now)
    hosting.tenants.add(COPY, Limits(), secrets.token_bytes, file, hosting.clock.now)
    eventually(lambda: hosting.hosted._registry.find(COPY))
    same: dict[str, Any] = {name: hosting.of(name).tables.get(table.id) for name in (A, COPY)}
    assert same[A].code == same[COPY].code
    cookie = f"seat-{table.id}={token}"
    for one, other in itertools.permutations((A, COPY)):
        with ExitStack() as open_now:
            streams = {name: open_now.enter_context(stream(served, name, table.id, cookie)) for name in (A, COPY)}
            secret, own = f"Secret-of-{one}", f"Open-of-{other}"
            hosting.of(one).tables.rename(table.id, token, secret)
            assert secret in streams[one](secret)
            hosting.of(other).tables.rename(table.id, token, own)
            assert secret not in streams[other](own)
            hosting.of(one).tables.rename(table.id, token, "Again")
            assert own not in streams[one]("Again")
    stranger = http.client.HTTPConnection("127.0.0.1", served.server.port, timeout=PATIENCE_S)
    stranger.request("GET", f"/h/{B}/t/{table.id}/stream", headers={"Host": "localhost", "Cookie": cookie})
    assert stranger.getresponse().status == 404
    stranger.close()

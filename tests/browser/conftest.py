"""What the browser tests share: the real companion behind a socket, and the phones before it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, ViewportSize, expect

from companion.model.table import Table
from companion.settings import WebSettings
from companion.web.server.serving import ServeError, Server
from templo import contract
from tests.browser.layout import DRAWN, WITHOUT_FONTS
from tests.companion.web.conftest import WebHome
from tests.guides import SKIPPED

PHONE: ViewportSize = {"width": 360, "height": 780}
SCREEN: ViewportSize = {"width": 1920, "height": 1080}
STREAMS = 16
Kind = tuple[Any, ...]
"""What a device cannot change once it is made: its font, its language and the like."""

KEPT = 8
"""Devices that wait for a next test, in one process."""

FORGET = "localStorage.clear(), sessionStorage.clear()"

PATIENCE_MS = 120_000
"""Seconds to wait: on a busy machine a correct page may be late."""

expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Companion:
    """The companion as phones reach it: pages, streams and a temple that a test lets tokens fall through."""

    home: WebHome
    server: Server
    thread: threading.Thread
    seq: int = 0

    @property
    def address(self) -> str:
        return f"http://localhost:{self.server.port}"

    @classmethod
    def started(cls, home: WebHome, port: int = 0) -> Companion:
        home.hub.cap = STREAMS
        server = Server(home.app, WebSettings("127.0.0.1", port, streams=STREAMS))
        thread = threading.Thread(target=server.serve)
        thread.start()
        return cls(home, server, thread)

    @classmethod
    def started_at(cls, port: int, home: WebHome) -> Companion:
        """Start at a port, or at a free one where another program listens there."""
        try:
            return cls.started(home, port)
        except ServeError:
            return cls.started(home)

    def stop(self) -> None:
        self.home.hub.close()
        self.server.stop()
        self.thread.join(60)
        assert not self.thread.is_alive()

    def table(self, players: int = 4, temple: str | None = "table", **options: str | int) -> Table:
        """Open and begin a table with a temple whose beams are clear."""
        if temple:
            self.home.beams(temple, contract.Beam.CLEAR, contract.Beam.CLEAR)
        return self.home.table(players, temple, **options)

    def drop(self, god: str = "tlaloc", n: int = 1, temple: str = "table") -> None:
        """Let tokens fall, one at a time."""
        for _ in range(n):
            self.seq += 1
            self.home.services.temples.intake.receive([(temple, self.home.token(self.seq, god))])


@pytest.fixture(scope="session")
def last_port() -> list[int]:
    """The port of this process's last companion: at the same address, a device has the style sheets and scripts."""
    return [0]


@pytest.fixture
def companion(tmp_path: Path, last_port: list[int]) -> Iterator[Companion]:
    home = WebHome(f"sqlite:///{tmp_path / 'companion.sqlite'}")
    try:
        companion = Companion.started_at(last_port[0], home)
        last_port[:] = [companion.server.port]
        yield companion
        companion.stop()
    finally:
        home.store.close()


@dataclass
class Device:
    """One phone or screen. Whatever is said on its console fails the test, but for what the test expects."""

    context: BrowserContext
    page: Page
    kind: Kind = ()
    complaints: list[str] = field(default_factory=list)
    spent: bool = False
    """Whether a test changed something that outlasts its pages."""

    def __post_init__(self) -> None:
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        for of, names in (
            (self.page, ("add_init_script", "close", "emulate_media", "on", "route")),
            (self.page.clock, ("install",)),
            (self.context, ("add_init_script", "grant_permissions", "new_cdp_session", "route", "set_offline")),
        ):
            for name in names:
                setattr(of, name, self._spending(getattr(of, name)))

    def _spending(self, do: Callable[..., Any]) -> Callable[..., Any]:
        def spend(*args: Any, **more: Any) -> Any:
            self.spent = True
            return do(*args, **more)

        return spend

    def _hear(self, message: ConsoleMessage) -> None:
        self.complaints.append(message.text)

    def forget(self) -> bool:
        """Leave every page and forget who this was; returns whether it is like a new one then."""
        if self.spent or self.page.is_closed():
            return False
        for other in self.context.pages:
            if other is not self.page:
                other.close()
        try:
            # A page of the same site without a script: Chromium keeps the process, and the next page costs a third.
            self.page.goto(urljoin(self.page.url, "/healthz"))
            self.page.evaluate(FORGET)
        except Error:  # its companion is gone, or it never saw one
            return False
        self.context.clear_cookies()
        self.page.mouse.move(0, 0)
        return True

    def join(self, companion: Companion, table: Table, seat: str, name: str) -> None:
        """Scan the code and take a seat."""
        self.page.goto(f"{companion.address}/j/{table.code}")
        self.page.fill('.sit-form input[name="name"]', name)
        self.page.click(f'.sit-form button[name="seat"][value="{seat}"]')
        self.page.wait_for_url(f"**/t/{table.id}")
        self.listening()

    def share(self, companion: Companion, table: Table) -> None:
        """Take every seat with this one phone."""
        self.page.goto(f"{companion.address}/j/{table.code}")
        self.page.click(".share summary")
        self.page.click(".share-form button")
        self.page.wait_for_url(f"**/t/{table.id}")
        self.listening()

    def hold(self, companion: Companion, table: Table) -> None:
        """Hold every seat of a table without looking at it yet."""
        key = companion.home.services.seats.share(table.id, table.code, {})
        self.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])

    def watch(self, companion: Companion, table: Table, layout: str = "") -> None:
        """Open a table without a seat, or its screen."""
        self.page.goto(f"{companion.address}/t/{table.id}{layout}")
        self.listening()

    def listening(self) -> None:
        """Wait until the page's script runs."""
        self.page.wait_for_selector("html[data-scripted]", state="attached")

    def hold_clock(self) -> None:
        """Let the page's installed clock stand still, however long the machine takes from here on."""
        self.page.clock.pause_at(self.page.evaluate("new Date(Date.now() + 1000).toISOString()"))

    def key(self, table: Table) -> str:
        """Return the key that proves to the companion which seats this device has."""
        return next(each["value"] for each in self.context.cookies() if each["name"] == f"seat-{table.id}")

    def count(self, god: str) -> int:
        """Return the number that stands beside a god."""
        return int(self.page.locator(f'[data-piece="count-{god}"]').first.get_attribute("value") or -1)


class Devices:
    """Hands out phones and screens, and takes them back for a next test that needs one alike."""

    def __init__(self, browser_in: Callable[[str], Browser]) -> None:
        self._browser_in = browser_in
        self._idle: list[Device] = []

    def take(self, viewport: ViewportSize, font: str, *, guide: bool, fresh: bool = False, **options: Any) -> Device:
        kind = (font, guide, *sorted(options.items()))
        device = next((each for each in self._idle if each.kind == kind), None)
        if device is None or fresh:
            context = self._browser_in(font).new_context(viewport=viewport, **options)
            context.set_default_timeout(PATIENCE_MS)
            if not guide:
                context.add_init_script(SKIPPED)
            return Device(context, context.new_page(), kind)
        self._idle.remove(device)
        if device.page.viewport_size != viewport:
            device.page.set_viewport_size(viewport)
        return device

    def take_back(self, device: Device) -> None:
        if device.forget():
            device.complaints.clear()
            self._idle.append(device)
        else:
            device.context.close()
        while len(self._idle) > KEPT:
            self._idle.pop(0).context.close()


@pytest.fixture(scope="session")
def devices(browser_in: Callable[[str], Browser]) -> Devices:
    return Devices(browser_in)


@pytest.fixture
def device(devices: Devices) -> Iterator[Callable[..., Device]]:
    made: list[Device] = []

    def make(
        viewport: ViewportSize = PHONE,
        language: str = "en",
        scheme: Literal["light", "dark"] = "light",
        motion: Literal["reduce", "no-preference"] = "reduce",
        font: str = "wide",
        guide: bool = False,
        **more: Any,
    ) -> Device:
        looks: dict[str, Any] = {"locale": language, "color_scheme": scheme, "reduced_motion": motion}
        made.append(devices.take(viewport, font, guide=guide, **looks, **more))
        return made[-1]

    yield make
    complaints = [complaint for each in made for complaint in each.complaints]
    for each in made:
        devices.take_back(each)
    assert complaints == []


def narrow_then_wide(page: Page) -> Iterator[Page]:
    """Show an open page of a device with `font="both"` in the narrow font, then in the wide."""
    if page.locator("#live").count():
        page.wait_for_selector("html[data-scripted]", state="attached")
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    page.evaluate(f"document.fonts.ready.then({DRAWN})")
    assert page.evaluate("[...document.fonts].some(font => font.status === 'loaded')"), "no web font is loaded"
    yield page
    page.evaluate(WITHOUT_FONTS)
    page.evaluate(DRAWN)
    yield page

"""What the browser tests share: the real companion behind a socket, and the phones before it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, expect

from companion.model.table import Table
from companion.web.server.serving import Server
from templo import contract
from tests import fonts
from tests.guides import SKIPPED
from tests.web.conftest import WebHome

PHONE: ViewportSize = {"width": 360, "height": 780}
SCREEN: ViewportSize = {"width": 1920, "height": 1080}
STREAMS = 16
InBothFonts = Callable[[Page], Iterator[Page]]

PATIENCE_MS = 120_000
"""A machine may be busy with much else, and a page that is right is right late."""

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
        server = Server(home.app, "127.0.0.1", port, STREAMS)
        thread = threading.Thread(target=server.serve)
        thread.start()
        return cls(home, server, thread)

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


@pytest.fixture
def companion(tmp_path: Path) -> Iterator[Companion]:
    home = WebHome(f"sqlite:///{tmp_path / 'companion.sqlite'}")
    companion = Companion.started(home)
    yield companion
    companion.stop()
    home.store.close()


@dataclass
class Device:
    """One phone or screen. Whatever its console complains of fails the test, but for what the test expects."""

    context: BrowserContext
    page: Page
    complaints: list[str] = field(default_factory=list)

    def hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def join(self, companion: Companion, table: Table, seat: str, name: str) -> None:
        """Scan the code and take a seat."""
        self.page.goto(f"{companion.address}/j/{table.code}")
        self.page.locator(f'.sit-form input[name="seat"][value="{seat}"]').check(force=True)
        self.page.fill('.sit-form input[name="name"]', name)
        self.page.click(".sit-form button")
        self.page.wait_for_url(f"**/t/{table.id}")
        self.listening()

    def share(self, companion: Companion, table: Table) -> None:
        """Take every seat with this one phone."""
        self.page.goto(f"{companion.address}/j/{table.code}")
        self.page.click(".share summary")
        self.page.click(".share-form button")
        self.page.wait_for_url(f"**/t/{table.id}")
        self.listening()

    def watch(self, companion: Companion, table: Table, layout: str = "") -> None:
        """Open a table without a seat, or its screen."""
        self.page.goto(f"{companion.address}/t/{table.id}{layout}")
        self.listening()

    def listening(self) -> None:
        """Wait until the page's script runs."""
        self.page.wait_for_selector("html[data-scripted]", state="attached")

    def count(self, god: str) -> int:
        """Return the number that stands beside a god."""
        return int(self.page.locator(f'[data-piece="count-{god}"]').first.get_attribute("value") or -1)


@pytest.fixture
def device(browser_in: Callable[[str], Browser]) -> Iterator[Callable[..., Device]]:
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
        context = browser_in(font).new_context(
            viewport=viewport,
            locale=language,
            color_scheme=scheme,
            reduced_motion=motion,
            **more,
        )
        context.set_default_timeout(PATIENCE_MS)
        if not guide:
            context.add_init_script(SKIPPED)
        made.append(Device(context, context.new_page()))
        made[-1].page.on("console", made[-1].hear)
        made[-1].page.on("pageerror", lambda error: made[-1].complaints.append(str(error)))
        return made[-1]

    yield make
    complaints = [complaint for each in made for complaint in each.complaints]
    for each in made:
        each.context.close()
    assert complaints == []


@pytest.fixture
def in_both_fonts(browser_in: Callable[[str], Browser]) -> InBothFonts:
    """Open again what a page shows, to the same person and in the same size: in the narrow font, then in the wide."""

    def both(page: Page) -> Iterator[Page]:
        language, dark = page.evaluate("[navigator.language, matchMedia('(prefers-color-scheme: dark)').matches]")
        for font in fonts.FAMILIES:
            context = browser_in(font).new_context(
                viewport=page.viewport_size,
                locale=language,
                color_scheme="dark" if dark else "light",
                reduced_motion="reduce",
                storage_state=page.context.storage_state(),
            )
            context.set_default_timeout(PATIENCE_MS)
            copy = context.new_page()
            copy.goto(page.url)
            if copy.locator("#live").count():
                copy.wait_for_selector("html[data-scripted]", state="attached")
            copy.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
            try:
                yield copy
            finally:
                context.close()

    return both

"""A club below a path of a host name, in a real browser: a table is opened, joined and followed there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from companion.settings import WebSettings
from companion.web import create_app
from companion.web.config import WebConfig
from tests.browser.conftest import SCREEN, Companion, Device
from tests.companion.web.conftest import WebHome

PATH = "/club-a"


@pytest.fixture
def below(tmp_path: Path) -> Iterator[Companion]:
    home = WebHome(f"sqlite:///{tmp_path / 'companion.sqlite'}")
    settings = WebSettings(allowed_hosts=("localhost",), address=f"http://localhost{PATH}")
    config = WebConfig(settings, lambda viewer: settings.address, "an-instance")
    home.app = create_app(home.services, home.hub, config)
    companion = Companion.started(home)
    yield companion
    companion.stop()
    home.store.close()


def test_a_table_is_opened_joined_and_followed_below_a_path(below: Companion, device: Callable[..., Device]) -> None:
    """Every request is below the path: scripts, fonts, posts and streams; a message of the console fails the test."""
    host, screen = device(), device(SCREEN)
    asked: list[str] = []
    for each in (host, screen):
        each.page.on("request", lambda request: asked.append(request.url))
    host.page.goto(f"{below.address}{PATH}/tables/new?game=mexica")
    host.page.click("#new-form .button-main")
    host.page.wait_for_url(re.compile(rf"{PATH}/j/"))
    (table,) = below.home.services.tables.all()
    host.page.click(".share summary")
    host.page.click(".share-form button")
    host.page.wait_for_url(f"**{PATH}/t/{table.id}")
    screen.page.goto(f"{below.address}{PATH}/t/{table.id}/screen")
    for each in (screen, host):
        each.listening()
    host.page.click(".begin-form button")
    expect(screen.page.locator(".turn-whose")).to_be_visible()
    assert asked
    assert [url for url in asked if not url.startswith(f"{below.address}{PATH}/")] == []

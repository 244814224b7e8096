"""What a first visit moves over the air, in bytes, for each kind of page; a second one loads the page alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from companion.model.table import Table
from tests.browser.conftest import PHONE, SCREEN, Companion, Device

Make = Callable[..., Device]

MOST, MOST_FONTS = 150_000, 80_000
"""Bytes of any first visit, and of the fonts within it: heads, and bodies as they were sent."""

BUDGETS = {
    "/": 80_000,
    "/join": 70_000,
    "/j/{code}": 100_000,
    "/tables": 80_000,
    "/tables/new": 80_000,
    "/games": 70_000,
    "/games/mexica": 70_000,
    "/games/mexica/rules": 80_000,
    "/temples/table": 110_000,
    "/t/{id}": 120_000,
    "/t/{id}/screen": 120_000,
    "/t/{id}/story": 90_000,
}
"""The most bytes of a first visit to a kind of page."""

AGAIN = 30_000
"""The most bytes of a second visit: the page itself, and what it validates."""

SETTLED_MS = 300


def moved(page: Page, address: str) -> dict[str, int]:
    """Open a page as a phone does; returns the bytes that came for each path."""
    paths: dict[str, str] = {}
    bytes_of: dict[str, int] = {}

    def asked(request: Any) -> None:
        paths[request["requestId"]] = urlsplit(request["request"]["url"]).path

    def came(answer: Any) -> None:
        path = paths[answer["requestId"]]
        bytes_of[path] = bytes_of.get(path, 0) + int(answer["encodedDataLength"])

    session = page.context.new_cdp_session(page)
    session.on("Network.requestWillBeSent", asked)
    session.on("Network.loadingFinished", came)
    session.send("Network.enable")
    page.goto(address)
    if page.locator("#live").count():
        page.wait_for_selector("html[data-scripted]", state="attached")
    page.evaluate("document.fonts.ready.then(() => {})")
    page.wait_for_timeout(SETTLED_MS)
    session.detach()
    assert len(bytes_of) > 2, bytes_of
    return bytes_of


def fonts_of(bytes_of: dict[str, int]) -> int:
    return sum(count for path, count in bytes_of.items() if path.startswith("/fonts/"))


@pytest.mark.parametrize("path", BUDGETS)
def test_a_first_visit_keeps_to_its_budget_and_a_second_loads_little(
    companion: Companion, device: Make, path: str
) -> None:
    table = companion.table(4)
    address = companion.address + path.format(id=table.id, code=table.code)
    page = device(SCREEN if path.endswith("/screen") else PHONE, font="narrow", fresh=True).page
    first = moved(page, address)
    assert sum(first.values()) <= BUDGETS[path] <= MOST, first
    assert 0 < fonts_of(first) <= MOST_FONTS
    page.goto(companion.address + "/healthz")
    again = moved(page, address)
    assert sum(again.values()) <= AGAIN
    assert not fonts_of(again)


@pytest.mark.parametrize("game", ["mexica", "market", "siege", "moctezuma"])
def test_a_whole_game_for_the_most_players_keeps_to_the_budget(companion: Companion, device: Make, game: str) -> None:
    played = begun(companion, game)
    phone = device(font="narrow", fresh=True)
    phone.hold(companion, played)
    for page, layout in ((phone.page, ""), (device(SCREEN, font="narrow", fresh=True).page, "/screen")):
        first = moved(page, f"{companion.address}/t/{played.id}{layout}")
        assert sum(first.values()) <= MOST, first
        assert 0 < fonts_of(first) <= MOST_FONTS


def begun(companion: Companion, name: str) -> Table:
    """Begin a game with all that it has, and as many as may play."""
    game, services = companion.home.games[name], companion.home.services
    preset = "classic" if name == "mexica" else next(iter(game.presets))
    opened = services.tables.open(name, "Sunday", max(game.seatings), preset, {})
    return services.seats.begin(opened.id, opened.code)

"""Drives phones through the full game of Mexica as people do: it reads what a page offers and taps that."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from playwright.sync_api import Locator, Page, expect

from companion.games.kit import CHANCE
from companion.model.seating import seats_held
from tests.browser.conftest import Companion, Device

HURRIED = """() => {
  const real = performance.now.bind(performance);
  performance.now = () => real() * 12;
}"""
"""A page's clock runs fast, so that a test need not wait out the time in which a second tap counts as a slip."""

PATIENCE_S = 120.0


def confirm(button: Locator, done: Callable[[], bool]) -> None:
    """Tap a button that asks for a confirmation until it is done: once if it is armed, again if it was reset."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        button.click()
        for _ in range(25):
            button.page.wait_for_timeout(20)
            if done():
                return
            if button.evaluate_all("found => found.some((each) => 'armed' in each.dataset)"):  # it may be gone by now
                break
    raise AssertionError("a confirmed tap did nothing")


def played_out(
    companion: Companion,
    table_id: str,
    keys: Mapping[str, str],
    fall: Callable[[], None],
    until: Callable[[Any], bool] = lambda _: False,
) -> None:
    """Play what is left of a game by posts; open pages only follow.

    Args:
        companion: where the table is.
        table_id: the table.
        keys: the key of each seat that a device has; the app plays the others.
        fall: lets a token fall, where one may be given.
        until: whether the game is left to the pages again in a state of it.
    """
    services, random = companion.home.services, Random(1)
    for n in range(4000):
        table = services.tables.get(table_id)
        if table.phase == "over" or until(table.state):
            return
        seat = next(each for each in table.game.rules.to_act(table.state) if each in keys or each == CHANCE)
        moves = table.game.rules.moves(table.state, seat)
        if table.temple and any(move.name == "sacrifice" for move in moves):
            fall()
            continue
        kind = random.choice(sorted({move.name for move in moves if move.name != "settle"}))
        move = random.choice([each for each in moves if each.name == kind])
        key = keys.get(seat) or next(each for each in keys.values() if table.may_bring(seats_held(table, each)))
        assert services.play.move(table_id, key, seat, move, table.version, f"out{n}").accepted, move
    raise AssertionError(f"{table.game.name} does not end")


class Table:
    """One running table with its phones. Each tap waits until every phone shows what came of it."""

    def __init__(self, companion: Companion, table_id: str, phones: Sequence[Device]) -> None:
        self.companion = companion
        self.id = table_id
        self.phones = list(phones)

    @property
    def version(self) -> int:
        return self.companion.home.services.tables.get(self.id).version

    @property
    def over(self) -> bool:
        return self.companion.home.services.tables.get(self.id).phase == "over"

    def settle(self) -> None:
        """Wait until every phone has seen the last change."""
        for phone in self.phones:
            phone.page.wait_for_function(
                "version => Number(document.getElementById('live')?.dataset.version) >= version", arg=self.version
            )

    @property
    def acting(self) -> Page:
        """The page of the phone whose move it is; there is exactly one."""
        self.settle()
        acting = [phone.page for phone in self.phones if phone.page.locator(".next.mine").count()]
        assert len(acting) == 1, "exactly one phone has something to do"
        return acting[0]

    @property
    def due(self) -> str:
        """What the acting phone shows as the thing to do."""
        return self.acting.locator(".next.mine").get_attribute("data-due") or ""

    def tap(self, selector: str, page: Page | None = None) -> None:
        """Tap a button until the table has moved on: twice where it asks whether one is sure."""
        page, before = page or self.acting, self.version
        button = page.locator(selector).first
        if button.get_attribute("data-confirm") is not None:
            confirm(button, lambda: self.version > before)
        else:
            button.click()
        self.moved(before)

    def moved(self, before: int) -> None:
        """Wait until the table is further on than a version, and all phones with it."""
        for _ in range(3000):
            if self.version > before:
                break
            self.phones[0].page.wait_for_timeout(10)
        assert self.version > before, "the tap did nothing"
        self.settle()
        self.phones[0].page.wait_for_timeout(60)  # the fast clock's time in which a tap would be a slip

    def primary(self) -> None:
        """Tap the main button of the acting phone."""
        self.tap(".next.mine .end-turn button")

    def roll(self, n: int) -> None:
        """Type what a real die showed."""
        self.tap(f".next.mine .dice form:nth-of-type({n}) button")

    def drew(self, *path: str) -> None:
        """Type the card that came from a real pile: for a Day card its sign, then its number."""
        page, before = self.acting, self.version
        page.click(".next.mine .drew")
        for words in path:
            page.locator(".levels").get_by_text(words, exact=True).click()
        page.wait_for_selector("html[data-scripted] .whole", state="attached")
        self.moved(before)


def seated_and_begun(address: str, host: Device, guest: Device) -> str:
    """Open the table of the form that the host has filled in, seat Ana and Ben, and begin; return the table's id."""
    host.page.click(".new-form .button-main")
    host.page.fill('.sit-form input[name="name"]', "Ana")
    host.page.click(".sit-form button")
    host.listening()
    code = host.page.locator(".invite .code").inner_text().replace("-", "")
    guest.page.goto(f"{address}/j/{code}")
    guest.page.fill('.sit-form input[name="name"]', "Ben")
    guest.page.click(".sit-form button")
    guest.listening()
    host.page.click(".begin-form button")
    for each in (host, guest):
        expect(each.page.locator("body")).to_have_class(re.compile("phase-running"))
        each.listening()
    return host.page.url.rpartition("/")[2]

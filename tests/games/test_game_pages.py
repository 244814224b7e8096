"""A game's pages open: for every seat and for all to see, in every language, at states of a game and at its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest

from companion.games import registry
from companion.games.kit import CHANCE, Game
from companion.model.entries import ANYONE
from companion.model.table import Table
from companion.service.change import Change
from companion.web.rendering.texts import LANGUAGES
from tests.companion.web.conftest import Browser, WebHome, home_with
from tests.games import test_conformance
from tests.games.playouts import GAMES, OTHERS, STATES, Combination, Step, combinations, playout

MOMENTS = 2 + STATES // 4_000
"""States of a game between its first and its last in which all of its pages are opened."""

PREVIEWED = 8
"""Moves of a seat whose previews are read in each of them, as many as a page asks for at once."""

LONG = 250
"""Moves after which a game is closed by its players, to see its end."""


def _looked_at() -> list[Combination]:
    """Return the games and tools to look at: of others' every table, of ours the largest of every preset."""
    every = combinations(registry.with_tools(GAMES).values())
    return [here for here in every if OTHERS or len(here.seats) == max(here.game.seatings)]


class Pages:
    """A table of a game with a phone for each seat, and all that its pages show at one moment."""

    def __init__(self, home: WebHome, here: Combination, random: Random) -> None:
        self.home, self.here, self.random = home, here, random
        self.folder = registry.folder(here.game)
        options = here.options()
        opened = home.services.tables.open(here.game.name, "Sunday", len(here.seats), here.preset, options)
        self.id = opened.id
        self.phones = {seat: home.browser(f"10.0.0.{n}") for n, seat in enumerate(here.seats)}
        self.wall = home.browser("10.0.1.1")
        if not self.is_tool:
            self._open_game()
        for seat, phone in self.phones.items():
            assert phone.sit(opened, seat, seat.title()).status_code in (200, 303)
        self.open_all(self.wall, f"/t/{self.id}", f"/t/{self.id}/screen")

    def _open_game(self) -> None:
        """Open the pages of a game that need no table, and its rules."""
        game = self.here.game
        self.open_all(self.wall, "/", f"/games/{game.name}", f"/tables/new?game={game.name}")
        if (self.folder / "guide.en.md").is_file():
            self.open_all(self.wall, f"/games/{game.name}/rules", f"/t/{self.id}/rules")
        for sheet in game.printer.sheets:
            self.open_all(self.wall, f"/games/{game.name}/print/{sheet}")

    @property
    def is_tool(self) -> bool:
        return "." in self.here.game.name

    @property
    def table(self) -> Table:
        return self.home.services.tables.get(self.id)

    def open_all(self, browser: Browser, *paths: str) -> None:
        for path in paths:
            for language in LANGUAGES:
                self.home.seconds += 1  # nobody taps faster than a phone may
                browser.language = language
                try:
                    answer = browser.get(path)
                except Exception as error:
                    found = registry.place(error, self.folder)
                    where = f"{found[0]}:{found[1]}: " if found else ""
                    raise AssertionError(f"{where}{type(error).__name__}: {error} ({language}: {path})") from error
                assert answer.status_code == 200, f"{path} answers {answer.status_code} in {language!r}"

    def look(self) -> None:
        """Open every page of the table as it is."""
        table, at = self.table, f"/t/{self.id}"
        self.open_all(self.wall, at, f"{at}/screen", f"{at}/seats", f"{at}/story")
        self.open_all(self.wall, f"{at}/replay?step={table.version}")
        if table.game.temple:
            self.open_all(next(iter(self.phones.values())), f"{at}/reconcile")
        for seat, phone in self.phones.items():
            self.open_all(phone, at)
            self._look_deeper(phone, seat)
            moves = self.here.game.rules.moves(table.state, seat) if table.phase == "running" else []
            if some := self.random.sample(moves, min(PREVIEWED, len(moves))):
                asked = [("seat", seat), *(("move", json.dumps(move.to_json())) for move in some)]
                self.open_all(phone, f"{at}/preview?{urlencode(asked)}")
        if table.phase == "over" and not self.is_tool:
            self.open_all(self.wall, f"{at}/result.txt", f"{at}/result.svg")

    def look_for_another(self) -> None:
        """Open the page with which a phone acts for somebody who is away."""
        first, *_, last = self.here.seats
        token = self.phones[first].client.get_cookie(f"seat-{self.id}", path=f"/t/{self.id}")
        assert token is not None
        self.home.services.seats.away(self.id, token.value, last, ANYONE)
        self.open_all(self.phones[first], f"/t/{self.id}/for/{last}")
        self.home.services.seats.away(self.id, token.value, last, "")

    def _look_deeper(self, phone: Browser, seat: str) -> None:
        """Open a level of choices under some of those that lead deeper."""
        table = self.table
        for by in (seat, *([CHANCE] if table.may_bring([seat]) else [])):
            if table.phase != "running":
                return
            level = [each for each in table.game.rules.choices(table.state, by) if each.move is None]
            for choice in self.random.sample(level, min(2, len(level))):
                picked = json.dumps([choice.facts["pick"]])
                self.open_all(phone, f"/t/{self.id}/picks?{urlencode([('seat', by), ('picked', picked)])}")

    def enter(self, steps: list[Step]) -> None:
        """Enter moves at the table."""

        def work(change: Change) -> None:
            change.lock_tables(self.id)
            for step in steps:
                change.enter(self.id, step.seat, step.move)

        self.home.workspace.run(work)

    def end(self) -> None:
        if self.table.phase == "running":
            assert self.phones[self.here.seats[0]].post(f"/t/{self.id}/close").status_code == 303
        assert self.table.phase == "over"


@pytest.fixture
def home(tmp_path: Path, here: Combination) -> Iterator[WebHome]:
    name = registry.parts(here.game.name)[0]
    for each in home_with(tmp_path, {name: GAMES[name]}):
        each.app.config["PROPAGATE_EXCEPTIONS"] = True
        yield each


@pytest.mark.parametrize("here", _looked_at(), ids=str)
def test_every_page_of_a_game_opens(home: WebHome, here: Combination) -> None:
    open_every_page(home, here)


def open_every_page(home: WebHome, here: Combination) -> None:
    """Play a random game to its end, and open all of its pages at some of its states."""
    random = Random(f"pages {here}")
    pages = Pages(home, here, random)
    assert next(iter(pages.phones.values())).post(f"/t/{pages.id}/begin").status_code == 303
    pages.look()
    if len(here.seats) > 1:
        pages.look_for_another()
    steps = list(playout(here.game, pages.table.state, random, LONG))
    moments = sorted(random.sample(range(1, len(steps)), min(MOMENTS, len(steps) - 1)))
    for begin, end in zip([0, *moments], [*moments, len(steps)], strict=True):
        pages.enter(steps[begin:end])
        pages.look()
    if not pages.is_tool:
        pages.end()
        pages.look()


def conforms(game: Game[Any], folder: Path) -> None:
    """Hold one game to the suite of all games, at its smallest table, and open its pages at its largest."""
    first, *_, last = (*combinations([game]),) * 2
    test_conformance.test_random_play_keeps_every_law_of_a_game(first)
    test_conformance.test_nobody_but_the_seats_and_the_temple_ever_has_a_move(first)
    test_conformance.test_a_game_says_how_it_ended_when_it_has(first)
    test_conformance.test_a_seat_cannot_distinguish_a_resampled_state_from_the_real_one(first)
    test_conformance.test_a_written_state_with_a_distortion_is_a_value_error_or_another_state(first)
    for home in home_with(folder, {game.name: game}):
        home.app.config["PROPAGATE_EXCEPTIONS"] = True
        open_every_page(home, last)

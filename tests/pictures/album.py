"""Draws the README's pictures of whole games: the app plays a table up to a chosen moment, and its pages are taken.

The companion is the real one on a clock and a chance of its own, so that the same evening is played each time.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from playwright.sync_api import Browser, BrowserContext

from companion.games.kit import CHANCE, Seat
from companion.games.mexica.rules.play import CHORES
from companion.model.table import Table
from tests.browser.conftest import Companion
from tests.companion.web.conftest import WebHome
from tests.guides import SKIPPED
from tests.pictures.camera import PHONE, SCREEN, Camera

NAMES = ("Citlali", "Nahuel", "Ixchel", "Tomás", "Itzel", "Yaretzi")


@dataclass(frozen=True)
class Evening:
    """One table that the app plays, up to a moment: `moves` after the beginning.

    It plays for everybody, or where the guests are `lavish` for the first alone: the others do whatever they may.
    """

    game: str
    preset: str
    players: int
    moves: int
    seed: int = 1
    lavish: bool = False


@dataclass(frozen=True)
class Shot:
    """One picture of an evening: a phone, of the ``acting`` seat or an ``other``, or the ``screen``, at a page."""

    name: str
    evening: Evening
    of: str = "acting"
    night: bool = False
    page: str = ""


CALENDAR = Evening("mexica", "classic", 4, 420, 3)

MARKET = Evening("market", "classic", 4, 112, 4)

SIEGE = Evening("siege", "skirmish", 2, 160, 3)

MOCTEZUMA = Evening("moctezuma", "classic", 4, 90, 3)

SHOTS = (
    Shot("phone-calendar", CALENDAR),
    Shot("phone-calendar-night", CALENDAR, "other", night=True),
    Shot("screen-calendar", CALENDAR, "screen"),
    Shot("phone-market", MARKET),
    Shot("screen-market", MARKET, "screen", night=True),
    Shot("phone-siege", SIEGE),
    Shot("screen-siege", SIEGE, "screen"),
    Shot("phone-moctezuma", MOCTEZUMA),
    Shot("screen-moctezuma", MOCTEZUMA, "screen"),
    Shot("phone-story", Evening("mexica", "wandering", 3, 4000, lavish=True), page="/story"),
)


@contextmanager
def played(evening: Evening) -> Iterator[tuple[Companion, Table, dict[Seat, str]]]:
    """Play an evening on a companion of its own; gives it with its table and the token of each seat's phone."""
    with tempfile.TemporaryDirectory(prefix="album-") as folder:
        home = WebHome(f"sqlite:///{Path(folder) / 'companion.sqlite'}")
        companion = Companion.started(home)
        try:
            table = home.services.tables.open(evening.game, "Sunday", evening.players, evening.preset)
            tokens = {
                seat: home.services.seats.sit(table.id, table.code, seat, name)
                for seat, name in zip(table.charter.seats, NAMES, strict=False)
            }
            home.services.seats.begin(table.id, table.code)
            yield companion, _play(home, table.id, tokens, evening), tokens
        finally:
            companion.stop()
            home.store.close()


def _play(home: WebHome, table_id: str, tokens: dict[Seat, str], evening: Evening) -> Table:
    random = Random(evening.seed)
    for n in itertools.count():
        table = home.services.tables.get(table_id)
        if n >= evening.moves or table.phase == "over":
            return table
        home.clock.pass_(seconds=7)
        if due := table.chance():
            home.services.play.roll(table_id, tokens[due.seat or table.charter.seats[0]], table.version, f"m{n}")
            continue
        seat = next(seat for seat in table.game.rules.to_act(table.state) if seat != CHANCE)
        moves = table.game.rules.moves(table.state, seat)
        if evening.lavish and seat != table.charter.seats[0]:
            move = random.choice([each for each in moves if each.name not in CHORES])
        else:
            move = table.game.decide(table.game.page.view(table.state, seat), moves, random.randrange) or moves[0]
        assert home.services.play.move(table_id, tokens[seat], seat, move, table.version, f"m{n}").accepted
    raise AssertionError


def take(browser: Browser, camera: Camera) -> None:
    """Take every picture of the album that the camera wants, each evening played once."""
    wanted = [shot for shot in SHOTS if camera.wants(shot.name)]
    for evening in dict.fromkeys(shot.evening for shot in wanted):
        with played(evening) as (companion, table, tokens):
            due = table.chance()
            acting = (due.seat if due else None) or next(
                iter(table.game.rules.to_act(table.state)), table.charter.seats[0]
            )
            other = next(seat for seat in table.charter.seats if seat != acting)
            for shot in (each for each in wanted if each.evening == evening):
                seat = None if shot.of == "screen" else acting if shot.of == "acting" else other
                with _context(browser, companion, table, tokens[seat] if seat else "") as context:
                    page = context.new_page()
                    page.goto(f"{companion.address}/t/{table.id}{'' if seat else '/screen'}{shot.page}")
                    camera.take(page, shot.name, night=shot.night)


@contextmanager
def _context(browser: Browser, companion: Companion, table: Table, token: str) -> Iterator[BrowserContext]:
    width, height = PHONE if token else SCREEN
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=2 if token else 1,
        has_touch=bool(token),
        reduced_motion="reduce",
        locale="en",
    )
    context.add_init_script(SKIPPED)
    if token:
        path = f"/t/{table.id}"
        context.add_cookies([{"name": f"seat-{table.id}", "value": token, "domain": "localhost", "path": path}])
    try:
        yield context
    finally:
        context.close()

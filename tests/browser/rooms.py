"""Tables of every game at every stage, with the shortest or the longest names, for tests that look at whole pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from playwright.sync_api import Page

from companion.games.kit import CHANCE, Refusal
from companion.model.table import ServiceError, Table
from tests import fonts
from tests.browser.conftest import Companion
from tests.browser.layout import DRAWN, READ_FROM_AFAR, WITHOUT_FONTS, measured

SHORT = ("A", "B", "C", "D", "E", "F")
LONG = (
    "W" * 24,
    "Maximiliana Fürchtegott",
    "Wolfeschlegelsteinhausen",
    "Nezahualcoyotl Tlacaelel",
    "Guadalupe de los Dolores",
    "Maximilian von Wuermling",
)
"""Names of 24 letters, the most that a seat takes: the widest, one of a single word, and one with a single blank."""

MOVES = 240
"""Moves after which a long game is abandoned."""


TOGETHER = frozenset({"study", "peek"})
"""Moves that everybody makes whenever they may, on the same piece, so that the marks of all come to stand there."""


@dataclass(frozen=True)
class Room:
    """One game with one number of players, all of them with short or with long names."""

    game: str
    preset: str
    players: int
    long: bool

    @property
    def most(self) -> bool:
        """Whether all seats are taken."""
        return self.players == {"siege": 2, "moctezuma": 6}.get(self.game, 4)

    def __str__(self) -> str:
        return f"{self.game}-{self.preset}-{self.players}-{'long' if self.long else 'short'}"


@dataclass(frozen=True)
class Stage:
    """A table as it stands, and a key that holds all of its seats."""

    name: str
    table: Table
    key: str


def stages(companion: Companion, room: Room, seed: int = 1) -> Iterator[Stage]:
    """Play a table and stop at each new kind of decision, and at its end."""
    services, random = companion.home.services, Random(seed)
    game = companion.home.games[room.game]
    options: dict[str, str | int] = {"apocalypse_tokens": 104} if game.temple else {}
    temple = "table" if game.temple else None
    if temple:
        services.temples.expect(temple)
    table = services.tables.open(room.game, "Sunday", room.players, room.preset, options, temple)
    names = LONG if room.long else SHORT
    key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, names, strict=False)))
    table = services.seats.begin(table.id, key)
    seen: set[str] = set()
    lasting = table.options.get("scope") == "full"
    for n in range(MOVES * 10):
        if table.phase == "over":
            yield Stage("end", table, key)
            return
        seat = random.choice(table.game.rules.to_act(table.state))
        moves = table.game.rules.moves(table.state, seat)
        if game.temple and not lasting:
            moves = [move for move in moves if move.name not in ("sacrifice", "settle")]
        asked = f"{seat if seat == CHANCE else ''}{json.dumps(sorted({move.name for move in moves}))}"
        if asked not in seen or n % 25 == 0:
            seen.add(asked)
            yield Stage(asked, table, key)
        if n > MOVES and lasting:
            return
        if game.temple and random.random() < (0.1 if lasting else 0.5):
            companion.drop(random.choice(("tlaloc", "huitzilopochtli")), 2)
            table = services.tables.get(table.id)
            continue
        kinds = sorted({move.name for move in moves})
        if n < MOVES and TOGETHER.intersection(kinds):
            move = [each for each in moves if each.name in TOGETHER][-1]
        else:
            kind = random.choice(kinds)
            move = random.choice([each for each in moves if each.name == kind])
        try:
            played = services.play.move(table.id, key, seat, move, table.version, f"r{n}")
        except ServiceError as refusal:
            raise AssertionError(f"{room}: {move} of {seat}: {refusal}") from refusal
        assert not isinstance(played.refusal, Refusal), (move, played.refusal)
        table = services.tables.get(table.id)


ROOMS = tuple(
    Room(game, preset, players, long)
    for game, preset, ends in (
        ("mexica", "temple_only", (2, 4)),
        ("mexica", "evening", (2, 4)),
        ("market", "short", (2, 4)),
        ("siege", "skirmish", (2, 2)),
        ("siege", "classic", (2, 2)),
        ("moctezuma", "swift", (2, 6)),
    )
    for players in dict.fromkeys(ends)
    for long in (False, True)
)
"""Every game with two and with most players, with names of one and of 24 letters."""

SIZES = {
    "phone": ((360, 640), (360, 780), (780, 360), (768, 1024), (820, 1180), (1366, 768)),
    "screen": ((820, 1180), (1366, 768), (1920, 1080), (3840, 2160)),
}
"""The windows that each page is made for, in px."""


@dataclass(frozen=True)
class View:
    """One of the pages of a table ("phone" or "screen"), in one language and one font."""

    layout: str
    language: str
    font: str


@dataclass
class Found:
    """What was wrong, with the first stage and how many there were, and how much was looked at."""

    wrong: dict[str, str] = field(default_factory=dict)
    stages: int = 0
    pages: int = 0
    regions: int = 0
    texts: int = 0


def look(
    companion: Companion,
    pages: Mapping[tuple[str, str], Page],
    room: Room,
    views: Sequence[View],
    *,
    every: int = 1,
    windows: Mapping[str, Sequence[tuple[int, int]]] = SIZES,
) -> dict[View, Found]:
    """Play a table and measure views of it at every stage, or every few, in several windows.

    Args:
        companion: where the table is.
        pages: a page for each layout and language, of a browser that has the wide font and loads the narrow one if a
            view is in it.
        room: the table.
        views: what is measured of it.
        every: measures every so manyth stage, and the end.
        windows: the sizes of window in which each layout is measured.
    """
    found = {view: Found() for view in views}
    for n, stage in enumerate(stages(companion, room)):
        if n % every and stage.table.phase != "over":
            continue
        for (layout, language), page in pages.items():
            _open(companion, page, layout, stage)
            for view in [View(layout, language, font) for font in fonts.FAMILIES]:
                if view not in found:
                    continue
                if view.font == "wide":
                    page.evaluate(WITHOUT_FONTS)
                found[view].stages += 1
                for size in windows[layout]:
                    _measure(page, view, size, n, stage, found[view])
            page.goto(f"{companion.address}/healthz")  # it need not follow what is played until the next stage
    return found


def _open(companion: Companion, page: Page, layout: str, stage: Stage) -> None:
    address = f"{companion.address}/t/{stage.table.id}"
    if layout == "phone":
        page.context.add_cookies([{"name": f"seat-{stage.table.id}", "value": stage.key, "url": companion.address}])
    page.goto(address if layout == "phone" else f"{address}/screen")
    page.wait_for_selector("html[data-scripted]", state="attached")
    page.evaluate("document.fonts.ready")


def _measure(page: Page, view: View, size: tuple[int, int], n: int, stage: Stage, found: Found) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(DRAWN)
    screen = view.layout == "screen"
    got = measured(
        page,
        least=READ_FROM_AFAR * width / 1920 if screen and width >= 1920 else 0,
        whole=screen and width > height and stage.table.phase != "over",
    )
    found.pages += 1
    found.regions += got.regions
    found.texts += got.texts
    for words in got.wrong:
        found.wrong.setdefault(f"{width}x{height} {words}", f"stage {n}: {stage.name[:60]}")

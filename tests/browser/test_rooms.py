"""Tables fit the rooms they are played in: nothing overlaps, is cut or too small. `make layout` tries all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize

from tests.browser.conftest import SCREEN, Companion, Device
from tests.browser.layout import DRAWN, WITHOUT_FONTS, measured
from tests.browser.rooms import LONG, ROOMS, SIZES, Room, View, look, stages

Make = Callable[..., Device]

WORST = [
    room
    for room in ROOMS
    if room.long and (room.most or room.game == "moctezuma") and str(room) != "siege-classic-2-long"
]
"""Most players with the longest names, and the count of two. A long siege's map is made like that of a skirmish."""

TIGHTEST = {
    "phone": [each for each in SIZES["phone"] if each not in ((360, 780), (820, 1180))],
    "screen": [each for each in SIZES["screen"] if each != (3840, 2160)],
}
"""To every style sheet a phone of 360 x 780 is one of 360 x 640, a tablet of 820 x 1180 one of 768 x 1024, and a
television of 3840 x 2160 one of 1920 x 1080."""


@pytest.mark.parametrize("room", WORST, ids=str)
def test_nothing_overlaps_is_cut_or_too_small_with_the_longest_names(
    companion: Companion, device: Make, room: Room
) -> None:
    """On a phone and a table screen, in the tightest window of each shape; at 1920 x 1080 no text is under 28 px."""
    views = [View(layout, "es", "wide") for layout in SIZES]
    pages = {(view.layout, view.language): device(language="es", guide=True).page for view in views}
    found = look(companion, pages, room, views, every=18, windows=TIGHTEST)
    assert all(each.texts > 100 for each in found.values())
    assert [each.wrong for each in found.values()] == [{}, {}]


@pytest.mark.parametrize(
    ("game", "preset", "board"),
    [
        ("mexica", "temple_only", ".lake"),
        ("mexica", "evening", ".calendar-board"),
        ("market", "short", ".market-board"),
        ("siege", "skirmish", ".siege-sheets"),
        ("moctezuma", "swift", ".map"),
    ],
)
def test_a_laptop_and_a_tablet_show_the_whole_board_during_a_guided_turn_too(
    companion: Companion, device: Make, game: str, preset: str, board: str
) -> None:
    services = companion.home.services
    table = services.tables.open(game, "Sunday", 2, preset, {})
    key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, LONG, strict=False)))
    services.seats.begin(table.id, key)
    phone = device(guide=True)
    phone.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
    phone.watch(companion, table)
    phone.page.wait_for_selector(".live[data-guiding]")
    for width, height in ((1366, 768), (1280, 720), (768, 1024), (820, 1180)):
        phone.page.set_viewport_size({"width": width, "height": height})
        phone.page.evaluate(DRAWN)
        box = phone.page.locator(board).first.bounding_box()
        turn = phone.page.locator(".region-turn").first.bounding_box()
        assert box is not None
        assert turn is not None
        assert box["width"] >= 0.45 * width
        assert box["y"] + box["height"] <= height
        if width > height:
            assert turn["x"] >= box["x"] + box["width"]
        else:
            assert turn["y"] + turn["height"] <= box["y"] + 1


BOXES = """async () => {
  await document.fonts.ready;
  return [...document.querySelectorAll("main *")].map((each) => {
    const box = each.getBoundingClientRect();
    return [each.tagName, ...[box.x, box.y, box.width, box.height].map(Math.round)];
  });
}"""


def test_a_page_without_its_fonts_is_laid_out_as_in_a_browser_that_loads_none(
    companion: Companion, device: Make
) -> None:
    table = companion.home.services.tables.open("market", "Sunday", 2, "short", {})
    companion.home.services.seats.begin(table.id, table.code)
    tablets = {
        font: device({"width": 820, "height": 1180}, "es", font=font).page for font in ("both", "narrow", "wide")
    }
    for layout in ("", "/screen"):
        found = {}
        for font, page in tablets.items():
            page.goto(f"{companion.address}/t/{table.id}{layout}")
            page.wait_for_selector("html[data-scripted]", state="attached")
            found[font] = page.evaluate(BOXES)
            if font == "both":
                page.evaluate(WITHOUT_FONTS)
                found["neither"] = page.evaluate(BOXES)
        assert found["both"] == found["narrow"], layout
        assert found["neither"] == found["wide"], layout
        assert found["narrow"] != found["wide"], layout


@pytest.mark.parametrize(
    ("players", "long", "width", "height"),
    [(6, False, 1366, 768), (2, True, 1920, 1080)],
    ids=["laptop", "television"],
)
def test_the_log_ends_above_the_corner_while_the_tombs_are_opened(
    companion: Companion, device: Make, players: int, long: bool, width: int, height: int
) -> None:
    revealing = '"name"'
    room = Room("moctezuma", "swift", players, long)
    stage = next(each for each in stages(companion, room) if revealing in each.name)
    screen = device({"width": width, "height": height}, font="narrow")
    screen.watch(companion, stage.table, "/screen")
    screen.page.evaluate("document.fonts.ready")
    assert measured(screen.page, least=0, whole=True).wrong == ()


def test_no_number_of_the_people_lies_under_the_mute_of_an_upright_screen(companion: Companion, device: Make) -> None:
    """Nobody scrolls a screen, and the last of the people stands in its corner where the page is longer."""
    screen = device(ViewportSize(width=820, height=1180))
    screen.watch(companion, next(stages(companion, Room("mexica", "temple_only", 4, True))).table, "/screen")
    found = "each => each.map((one) => one.getBoundingClientRect())"
    (mute,), people = (screen.page.locator(each).evaluate_all(found) for each in (".sound", ".person"))
    assert len(people) == 4
    assert all(each["right"] <= mute["left"] for each in people)


def test_a_television_shows_what_to_do_next_after_a_game_of_long_names(companion: Companion, device: Make) -> None:
    *_, end = stages(companion, Room("mexica", "temple_only", 4, True), seed=3)
    screen = device(SCREEN, "es", font="narrow")
    screen.watch(companion, end.table, "/screen")
    screen.page.evaluate("document.fonts.ready")
    ways = screen.page.locator(".ending-ways").bounding_box()
    assert ways
    assert ways["y"] + ways["height"] <= SCREEN["height"]


@pytest.mark.parametrize("players", range(2, 7))
def test_the_marks_of_all_who_looked_at_a_chit_stay_on_it(companion: Companion, device: Make, players: int) -> None:
    services = companion.home.services
    table = services.tables.open("moctezuma", "Sunday", players, "swift", {})
    key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, LONG, strict=False)))
    services.seats.begin(table.id, key)
    turns = n = 0
    while turns < players:
        table = services.tables.get(table.id)
        seat = table.game.rules.to_act(table.state)[0]
        moves = {move.name: move for move in table.game.rules.moves(table.state, seat)}
        move = next((moves[name] for name in ("study", "peek", "end_turn") if name in moves), [*moves.values()][-1])
        turns, n = turns + (move.name == "end_turn"), n + 1
        assert services.play.move(table.id, key, seat, move, table.version, f"r{n}").accepted
    sizes = {"phone": ((360, 780), (820, 1180)), "screen": ((820, 1180), (1366, 768), (1920, 1080))}
    for layout, windows in sizes.items():
        seen = device()
        seen.watch(companion, table, "" if layout == "phone" else "/screen")
        assert max(each.locator(".seen-seat").count() for each in seen.page.locator(".seen-by").all()) == players
        for width, height in windows:
            seen.page.set_viewport_size({"width": width, "height": height})
            seen.page.evaluate(DRAWN)
            assert measured(seen.page, whole=layout == "screen" and width > height).wrong == (), (layout, width)


COLUMNS = """([board, beside]) => {
  const box = (each) => document.querySelector(each).getBoundingClientRect();
  const shown = [...document.querySelectorAll(".game > *, .whole > *")].map((each) => each.getBoundingClientRect());
  const [above, left, log] = [box(board), box(beside), box(".region-log")];
  const middle = innerWidth / 2;
  const right = shown.filter((each) => each.height && each.left > middle - 40 && each.bottom <= log.top + 1);
  return {
    board: above.width,
    begins: [left.top, Math.min(...right.map((each) => each.top))].map((top) => top - above.bottom),
    log: [log.width, log.top - Math.max(left.bottom, ...right.map((each) => each.bottom))],
  };
}"""


@pytest.mark.parametrize(
    ("room", "board", "beside"),
    [
        (Room("market", "short", 2, False), ".region-market", ".region-bag"),
        (Room("mexica", "temple_only", 2, False), ".waters", ".region-tally"),
        (Room("moctezuma", "swift", 2, False), ".region-board", ".region-chart"),
    ],
    ids=str,
)
def test_a_tablet_held_upright_leaves_no_column_half_empty(
    companion: Companion, device: Make, room: Room, board: str, beside: str
) -> None:
    """The board takes the width; below it two columns begin, and what happened follows right below both."""
    stage = next(stages(companion, room))
    tablet = device(ViewportSize(width=820, height=1180))
    tablet.context.add_cookies([{"name": f"seat-{stage.table.id}", "value": stage.key, "url": companion.address}])
    tablet.watch(companion, stage.table)
    found = tablet.page.evaluate(COLUMNS, [board, beside])
    assert found["board"] > 0.6 * 820
    assert all(-1 <= gap < 60 for gap in found["begins"]), found
    width, gap = found["log"]
    assert width > 0.9 * 820
    assert -1 <= gap < 60


OUT_OF_SIGHT = """() => [".ending-title", ".ending-why", ".ending-seats > :last-child", ".ending-ways .again"]
  .map((each) => [each, document.querySelector(each)?.getBoundingClientRect()])
  .filter(([, box]) => !box || box.top < 0 || box.bottom > innerHeight)"""


@pytest.mark.parametrize(
    "room",
    [Room("market", "short", 4, True), Room("moctezuma", "swift", 6, True), Room("siege", "skirmish", 2, True)],
    ids=str,
)
def test_a_phone_held_sideways_shows_winner_points_why_and_the_next_game_in_one_look(
    companion: Companion, device: Make, room: Room
) -> None:
    end = list(stages(companion, room))[-1]
    phone = device(ViewportSize(width=780, height=360), "es", font="wide")
    phone.context.add_cookies([{"name": f"seat-{end.table.id}", "value": end.key, "url": companion.address}])
    phone.watch(companion, end.table)
    assert phone.page.evaluate(OUT_OF_SIGHT) == []

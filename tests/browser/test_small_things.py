"""Small things in a browser: a map in two columns, no tools on the wall, a replay that plays by itself."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from companion.model.table import Table
from tests.browser.conftest import PHONE, SCREEN, Companion, Device, narrow_then_wide
from tests.browser.layout import DRAWN, READ_FROM_AFAR, measured, too_wide
from tests.browser.rooms import LONG, Room, stages

Make = Callable[..., Device]


def test_the_map_of_the_siege_is_as_high_as_the_window_where_there_is_room_beside_it(
    companion: Companion, device: Make
) -> None:
    table = companion.home.services.tables.open("siege", "Sunday", 2, "skirmish", {})
    companion.home.services.seats.begin(table.id, table.code)
    phone = device({"width": 780, "height": 360})
    phone.watch(companion, table)
    for width, height, wide in ((780, 360, 420), (1366, 768, 850)):
        phone.page.set_viewport_size({"width": width, "height": height})
        phone.page.evaluate(DRAWN)
        box = phone.page.locator(".siege-map").bounding_box()
        assert box is not None
        assert box["width"] >= wide
        assert box["height"] >= height - 60
        assert too_wide(phone.page) == []


WHOLE_MAP = """() => {
  const sheets = document.querySelector(".siege-sheets");
  const [width, height] = sheets.querySelector("[data-state]").dataset.size.split(" ").map(Number);
  const { x, y, width: wide, height: high } = document.querySelector("[data-siege-sheet]").viewBox.baseVal;
  const { bottom } = sheets.getBoundingClientRect();
  return [x <= 0.5 && x + wide >= width - 0.5, y <= 0.5 && y + high >= height - 0.5, bottom];
}"""


@pytest.mark.parametrize("preset", ["skirmish", "classic"])
def test_a_tablet_held_upright_shows_the_whole_map_of_the_siege_at_first_sight(
    companion: Companion, device: Make, preset: str
) -> None:
    table = companion.home.services.tables.open("siege", "Sunday", 2, preset, {})
    companion.home.services.seats.begin(table.id, table.code)
    tablet = device()
    tablet.page.set_viewport_size({"width": 820, "height": 1180})
    tablet.watch(companion, table)
    tablet.page.wait_for_selector("[data-siege-sheet]")
    tablet.page.evaluate(DRAWN)
    across, down, bottom = tablet.page.evaluate(WHOLE_MAP)
    assert across
    assert down
    assert bottom <= 1180


def test_a_table_screen_offers_no_zoom(companion: Companion, device: Make) -> None:
    table = companion.home.services.tables.open("siege", "Sunday", 2, "skirmish", {})
    companion.home.services.seats.begin(table.id, table.code)
    screen, phone = device(SCREEN), device(PHONE)
    screen.watch(companion, table, "/screen")
    phone.watch(companion, table)
    expect(phone.page.locator('[data-siege="nearer"]')).to_be_visible()
    expect(screen.page.locator('[data-siege="nearer"]')).to_be_hidden()


def test_a_replay_plays_by_itself_until_its_end_and_stops_when_asked(companion: Companion, device: Make) -> None:
    table = companion.table(2, temple=None)
    first = table.charter.seats[0]
    key = companion.home.seated(table, first, "Ana")
    for _ in range(3):
        companion.home.play(table, key, first, "sacrifice", "tlaloc", 1)
    phone = device(PHONE)
    phone.page.goto(f"{companion.address}/t/{table.id}/replay?step=1")
    phone.page.click("[data-autoplay]")
    expect(phone.page.locator(".replay-at")).to_contain_text("3 of")
    phone.page.click("[data-autoplay]")
    stopped = phone.page.url
    phone.page.wait_for_timeout(2_500)
    assert phone.page.url == stopped
    phone.page.click("[data-autoplay]")
    version = companion.home.services.tables.get(table.id).version
    expect(phone.page.locator(".replay-at")).to_contain_text(f"{version} of {version}")
    expect(phone.page.locator("[data-autoplay]")).to_be_hidden()


def test_a_screen_that_set_no_table_shows_no_link(companion: Companion, device: Make) -> None:
    screen = device(SCREEN)
    for game in ("mexica", "market", "moctezuma", "siege"):
        screen.watch(companion, begun(companion, game), "/screen")
        links = screen.page.get_by_role("link").all()
        shown = [each for each in links if (each.bounding_box() or {"y": -1})["y"] >= 0]
        assert [each.inner_text() for each in shown] == [], game


def begun(companion: Companion, game: str) -> Table:
    """Begin a game of two by its first preset."""
    preset = next(iter(companion.home.games[game].presets))
    table = companion.home.services.tables.open(game, "Sunday", 2, preset, {})
    return companion.home.services.seats.begin(table.id, table.code)


def test_the_screen_of_a_game_without_a_temple_names_none(companion: Companion, device: Make) -> None:
    screen = device(SCREEN, "es")
    for game in ("market", "moctezuma", "siege"):
        screen.watch(companion, begun(companion, game), "/screen")
        assert not any(each.is_visible() for each in screen.page.locator(".region-health *").all()), game
        assert not re.search("no temple|sin templo", screen.page.locator("main").inner_text(), re.IGNORECASE), game


def test_the_last_entries_of_a_screen_name_the_gods_whole(companion: Companion, device: Make) -> None:
    table = companion.table(4)
    companion.home.services.seats.share(table.id, table.code, dict(zip(table.charter.seats, LONG, strict=False)))
    for _ in range(3):
        companion.drop("tlaloc")
        companion.drop("huitzilopochtli")
    screen = device(SCREEN, font="both")
    screen.watch(companion, table, "/screen")
    expect(screen.page.locator(".log")).to_contain_text("Tlaloc")
    for page in narrow_then_wide(screen.page):
        assert measured(page, least=READ_FROM_AFAR, whole=True).wrong == ()


def test_the_button_of_a_page_for_the_printer_prints_it(companion: Companion, device: Make) -> None:
    page = device().page
    page.add_init_script("window.print = () => { window.printed = true; }")
    page.goto(f"{companion.address}/games/mexica/print/board")
    page.get_by_role("button", name="Print").click()
    assert page.evaluate("window.printed") is True


NAMES_UNDER_BUTTONS = """() => {
  const tools = document.querySelector(".siege-tools").getBoundingClientRect();
  return [...document.querySelectorAll(".siege-ground text")].filter((name) => {
    if (!name.checkVisibility({ visibilityProperty: true })) return false;
    const box = name.getBoundingClientRect();
    const across = box.right > tools.left && box.left < tools.right;
    return across && box.bottom > tools.top && box.top < tools.bottom && name.textContent.trim().length > 2;
  }).map((name) => name.textContent);
}"""


@pytest.mark.parametrize("preset", ["skirmish", "classic"])
def test_the_buttons_of_the_siege_s_map_lie_on_no_name_and_nothing_lies_on_them(
    companion: Companion, device: Make, preset: str
) -> None:
    table = companion.home.services.tables.open("siege", "Sunday", 2, preset, {})
    phone = device()
    companion.home.services.seats.begin(table.id, table.code)
    phone.share(companion, table)
    for width, height in ((360, 780), (360, 640), (780, 360), (820, 1180), (1366, 768)):
        phone.page.set_viewport_size({"width": width, "height": height})
        phone.page.evaluate(DRAWN)
        for name in ("Whole map", "Farther", "Nearer"):
            button = phone.page.get_by_role("button", name=name)
            expect(button).to_be_in_viewport(ratio=1)
            button.click(trial=True)
        assert phone.page.evaluate(NAMES_UNDER_BUTTONS) == [], (width, height)


def test_a_map_that_a_guide_moves_keeps_its_names_and_the_next_hex_from_under_its_buttons(
    companion: Companion, device: Make
) -> None:
    march = next(stage for stage in stages(companion, Room("siege", "skirmish", 2, False)) if '"march"' in stage.name)
    phone = device(ViewportSize(width=1366, height=768), guide=True)
    phone.context.add_cookies([{"name": f"seat-{march.table.id}", "value": march.key, "url": companion.address}])
    phone.watch(companion, march.table)
    lit = phone.page.locator(".next-hex")
    expect(lit).to_have_attribute("points", re.compile(r"\d"))
    for width, height in ((360, 640), (780, 360), (360, 780), (820, 1180)):
        phone.page.set_viewport_size({"width": width, "height": height})
        phone.page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        assert phone.page.evaluate(NAMES_UNDER_BUTTONS) == []
        tools, hexagon = phone.page.locator(".siege-tools").bounding_box(), lit.bounding_box()
        assert tools
        assert hexagon
        above = hexagon["y"] + hexagon["height"] <= tools["y"] + 1
        assert above or hexagon["x"] + hexagon["width"] <= tools["x"] + 1

"""The siege as two people play it on their phones, its aids and its editor, in a real browser."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from companion.games.siege.rules import maps
from companion.model.table import Table
from tests.browser.conftest import SCREEN, Companion, Device
from tests.browser.layout import DRAWN
from tests.browser.siege_map import SLIP, WHERE, deed, die, tap_hex

Make = Callable[..., Device]


def skirmish(companion: Companion, preset: str = "skirmish", **options: str | int) -> Table:
    services = companion.home.services
    table = services.tables.open("siege", "Siege", 2, preset, options)
    return services.seats.begin(table.id, table.code)


def state(page: Page) -> dict[str, object]:
    found: dict[str, object] = json.loads(page.locator("[data-state]").get_attribute("data-state") or "{}")
    return found


def test_a_skirmish_is_played_out_on_two_phones_by_taps_on_the_map(companion: Companion, device: Make) -> None:
    table = skirmish(companion)
    ana, ben, screen = device(), device(), device(SCREEN)
    for phone, seat, name in ((ana, "aztecs", "Ana"), (ben, "spaniards", "Ben")):
        key = companion.home.seated(table, seat, name)
        phone.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
        phone.watch(companion, table)
    screen.watch(companion, table, "/screen")
    tap_hex(ana.page, "e7")
    expect(ana.page.locator(".siege-hand")).to_contain_text("Aztec warriors")
    deed(ana.page, "rest")
    deed(ana.page, "ready")
    ben.page.wait_for_selector(".deed-rest")
    ben.page.wait_for_timeout(SLIP)
    ben.page.click('.siege-buttons a:has-text("Take another people")')
    ben.page.click('button:has-text("Take Conquistadors in hand")')
    expect(ben.page.locator(".siege-hand")).to_contain_text("Conquistadors")
    ben.page.click('[data-siege="whole"]')
    ben.page.wait_for_timeout(SLIP)
    tap_hex(ben.page, "c7")
    expect(ben.page.locator(".log")).to_contain_text("1 unit placed")
    deed(ben.page, "rest")
    deed(ben.page, "ready")
    for phone, n in ((ana, 2), (ben, 6)):
        die(phone.page, n)
        expect(phone.page.locator("[data-state]")).to_have_attribute("data-state", re.compile(r'"succumb"'))
        victim = next(name for name, moves in state(phone.page)["taps"].items() if moves[0][0] == "succumb")  # type: ignore[attr-defined]
        phone.page.click('[data-siege="whole"]')
        tap_hex(phone.page, victim)
    expect(ben.page.locator(".turn-whose")).to_contain_text("You: March")
    tap_hex(ben.page, "c7")
    die(ben.page, 1)
    expect(ben.page.locator('[data-cost="1"]')).to_be_attached()
    tap_hex(ben.page, "d7")
    expect(ben.page.locator(".log")).to_contain_text("Conquistadors 1: c7 to d7")
    deed(ben.page, "done")
    expect(ben.page.locator(".turn-whose")).to_contain_text("Attack")
    tap_hex(ben.page, "d7")
    expect(ben.page.locator(".aims text")).to_have_text(re.compile(r"\d/6"))
    expect(ben.page.locator(".siege-odds [data-meant]").first).to_be_visible()
    foreseen = ben.page.locator("[data-siege-foreseen]")
    expect(foreseen).to_contain_text(re.compile(r"e7 · .*\d+ %: .*the siege ends. The victory: Ben"))
    tap_hex(ben.page, "e7")
    expect(ben.page.locator(".siege-odds-line")).to_contain_text("of 6")
    die(ben.page, 6)
    die(ana.page, 1)
    for each in (ana, ben, screen):
        expect(each.page.locator(".ending")).to_contain_text("Ben won in turn 1: Cuauhtemoc is lost")


LONGER = """(log) => {
  for (let n = 0; n < 40; n++) log.append(log.lastElementChild.cloneNode(true));
}"""
"""Makes a log as long as a screen shows it at most."""


@pytest.mark.parametrize(
    ("aid", "taps", "says"),
    [
        ("Phase track", ["Next phase"], "Tap a unit to roll for it"),
        ("Event roller", ["The next turn’s events", "=3", "=5"], "an ally of the besiegers dies"),
        ("Dice and odds", ["leader +1", "Attack", "=4"], "the defender is beaten"),
        ("Roster", ["Aztec warriors: one routs"], "44 fit · 1 routed"),
        ("Fires", ["Add a fire", "Roll for all fires", "=1"], "1 fire went out just now"),
    ],
)
def test_an_aid_stands_alone_beside_a_real_table(
    companion: Companion, device: Make, aid: str, taps: list[str], says: str
) -> None:
    phone = device()
    phone.page.goto(f"{companion.address}/games/siege")
    phone.page.click(f'button:has-text("{aid}")')
    phone.listening()
    for words in taps:
        if words.startswith("="):
            die(phone.page, int(words[1:]))
        else:
            phone.page.wait_for_timeout(SLIP)
            phone.page.click(f'.region-aid button:has-text("{words}")')
    expect(phone.page.locator(".region-aid")).to_contain_text(says)
    phone.page.set_viewport_size(SCREEN)
    phone.page.goto(f"{phone.page.url}/screen")
    phone.listening()
    phone.page.locator(".log").evaluate(LONGER)
    phone.page.locator(".log-line").first.hover()
    phone.page.mouse.wheel(0, 10_000)
    expect(phone.page.locator(".log-line").last).to_be_in_viewport(ratio=1)


def test_a_map_is_drawn_by_taps_checked_and_saved_as_a_file(companion: Companion, device: Make) -> None:
    phone = device()
    phone.page.goto(f"{companion.address}/games/siege")
    phone.page.click('button:has-text("Map editor")')
    phone.listening()
    expect(phone.page.locator(".region-checks")).to_contain_text("A table can play on this map")
    phone.page.click('[data-siege="whole"]')
    phone.page.click('.region-brushes button:text-is("water")')
    expect(phone.page.locator(".region-brushes .siege-means")).to_have_text("water")
    tap_hex(phone.page, "b2")
    expect(phone.page.locator(".region-checks .problem")).to_contain_text(
        "b2 cannot be reached by boat from the lake"
    )
    phone.page.wait_for_timeout(SLIP)
    phone.page.click('.region-brushes button:text-is("gate on a side")')
    expect(phone.page.locator(".region-brushes .siege-means")).to_have_text("gate on a side")
    with phone.page.expect_download() as saved:
        phone.page.click("[data-siege-save]")
    text = saved.value.path().read_text(encoding="utf-8")
    assert saved.value.suggested_filename == "map.toml"
    assert [fault.code for fault in maps.faults(text)] == ["map_pond"]
    phone.page.wait_for_timeout(SLIP)
    phone.page.click('.region-brushes button:text-is("clear")')
    expect(phone.page.locator(".region-brushes .siege-means")).to_have_text("clear")
    tap_hex(phone.page, "b2")
    expect(phone.page.locator(".siege-play-on")).to_be_visible()
    phone.page.wait_for_timeout(SLIP)
    phone.page.click('.region-brushes button:text-is("a name")')
    expect(phone.page.locator(".region-brushes .siege-means")).to_have_text("a name")
    tap_hex(phone.page, "b2")
    phone.page.fill("#name-b2", "My hill")
    phone.page.click(".siege-name:has(#name-b2) button")
    expect(phone.page.locator(".region-canvas .places")).to_contain_text("My hill")
    phone.page.click(".siege-play-on")
    expect(phone.page.locator("h1")).to_have_text("Take a seat")
    (table,) = (each for each in companion.home.services.tables.all() if each.charter.game == "siege")
    assert "My hill" in str(table.options["map"])


def marching(companion: Companion, phone: Device, preset: str = "skirmish") -> Table:
    """Let one phone hold both sides of a skirmish in which the app rolls, and bring it to its first march."""
    services = companion.home.services
    table = skirmish(companion, preset)
    phone.hold(companion, table)
    token = phone.key(table)
    services.play.let_app_roll(table.id, token, True)
    for n in range(40):
        table = services.tables.get(table.id)
        if table.state.stage == "move":
            break
        seat = table.game.rules.to_act(table.state)[0]
        moves = table.game.rules.moves(table.state, seat)
        move = next((move for name in ("rest", "ready") for move in moves if move.name == name), moves[0])
        services.play.move(table.id, token, seat, move, table.version, f"march{n}")
    phone.watch(companion, table)
    phone.page.click('[data-siege="whole"]')
    return table


def unrolled(table: Table) -> list[str]:
    """Return the hexes of units that may march, each alone on its hex."""
    moves = table.game.rules.moves(table.state, "spaniards")
    return [table.state.field.grid.names[table.state.at[int(m.args[0])]] for m in moves if m.name == "march"]


COUNTERS = """() => Object.fromEntries([...document.querySelectorAll(".siege-pieces polyline")].map(line =>
  [line.dataset.key, [line.kept ?? false, line.getAttribute("points").split(" ")]]))"""


def test_a_move_leaves_all_other_counters_as_they_are_in_the_page(companion: Companion, device: Make) -> None:
    phone = device()
    table = marching(companion, phone)
    phone.page.locator(".siege-pieces polyline").first.wait_for(state="attached")
    phone.page.evaluate("document.querySelectorAll('.siege-pieces polyline').forEach(line => { line.kept = true; })")
    before = phone.page.evaluate(COUNTERS)
    tap_hex(phone.page, unrolled(table)[0])
    expect(phone.page.locator("[data-cost]").first).to_be_attached()
    taps = state(phone.page)["taps"]
    go = next(name for name, moves in taps.items() if moves[0][0] == "go")  # type: ignore[attr-defined]
    tap_hex(phone.page, go)
    expect(phone.page.locator(".log")).to_contain_text(f"to {go}")
    after = phone.page.evaluate(COUNTERS)
    assert all(kept for key, (kept, _) in after.items() if key in before)
    left = Counter(place for _, places in before.values() for place in set(places))
    came = Counter(place for _, places in after.values() for place in set(places))
    assert (left - came).total() == (came - left).total() == 1


LAID = """() => {
  const sheet = (css) => document.querySelector(css).closest(".region");
  const under = (one, two) => Boolean(sheet(one).compareDocumentPosition(sheet(two)) & 4); // it follows in the page
  const place = document.querySelector(".siege-sheets").getBoundingClientRect();
  const seen = (css) => [...document.querySelectorAll(css)].map((each) => each.getBoundingClientRect());
  const hexes = document.querySelector(".siege-pieces").getScreenCTM().a * 20;
  return {
    flat: [".places", ".siege-pieces", ".edge"].every((each) => getComputedStyle(sheet(each)).zIndex === "auto"),
    order: under(".places", ".siege-pieces") && under(".siege-pieces", ".edge"),
    columns: seen('[data-siege-edge="y"] text').map((box) => box.top - place.top),
    rows: seen('[data-siege-edge="x"] text').map((box) => box.left - place.left),
    names: document.querySelector(".places").checkVisibility({ visibilityProperty: true }),
    hexes,
  };
}"""
"""In which order the sheets of the map lie, how far its letters are from its edges, how wide a hex is."""


def at_the_map(companion: Companion, device: Make, preset: str) -> Device:
    """Return a phone that holds every seat of a siege and shows its map."""
    table = skirmish(companion, preset)
    phone = device()
    phone.hold(companion, table)
    phone.watch(companion, table)
    return phone


@pytest.mark.parametrize("preset", ["skirmish", "classic"])
def test_names_lie_under_the_counters_and_letters_at_the_edge_above_them_wherever_the_map_is(
    companion: Companion, device: Make, preset: str
) -> None:
    phone = at_the_map(companion, device, preset)
    phone.page.evaluate(DRAWN)
    for _ in range(3):
        found = phone.page.evaluate(LAID)
        assert found["flat"]
        assert found["order"]
        assert max(abs(each) for each in found["columns"]) < 16
        assert max(abs(each) for each in found["rows"]) < 16
        assert found["names"] == (found["hexes"] >= 26)
        phone.page.click('[data-siege="nearer"]')
    phone.page.click('[data-siege="whole"]')
    found = phone.page.evaluate(LAID)
    assert found["names"] == (found["hexes"] >= 26)


@pytest.mark.parametrize("preset", ["skirmish", "classic"])
def test_a_phone_shows_hexes_for_a_finger_where_a_tap_is_asked_for(
    companion: Companion, device: Make, preset: str
) -> None:
    phone = at_the_map(companion, device, preset)
    shows_what_is_tapped(phone.page)
    marching(companion, phone, preset)
    phone.page.reload()
    phone.listening()
    shows_what_is_tapped(phone.page)


def shows_what_is_tapped(page: Page) -> None:
    """Check that a map shows a hex to be tapped, and that it is wide enough."""
    page.evaluate(DRAWN)
    taps = state(page)["taps"]
    place = page.locator(".siege-sheets").bounding_box()
    assert isinstance(taps, dict)
    assert place is not None
    spots = [page.evaluate(WHERE, name) for name in taps]
    assert any(
        place["x"] < x < place["x"] + place["width"] and place["y"] < y < place["y"] + place["height"]
        for x, y in spots
    )
    assert page.evaluate(LAID)["hexes"] >= 28


def test_a_window_that_is_all_but_closed_has_no_map_to_complain_about(companion: Companion, device: Make) -> None:
    """The device fails the test for whatever the page says on its console."""
    table = skirmish(companion)
    for layout in ("", "/screen"):
        page = device(SCREEN)
        page.watch(companion, table, layout)
        for width, height in ((1280, 80), (700, 60), (60, 500), (1280, 720)):
            page.page.set_viewport_size({"width": width, "height": height})
            page.page.evaluate(DRAWN)
        box = [float(each) for each in (page.page.locator(".siege-pieces").get_attribute("viewBox") or "").split()]
        assert box[2] > 100


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (3840, 2160)])
def test_the_map_fills_the_height_of_a_television_below_whose_turn_it_is(
    companion: Companion, device: Make, width: int, height: int
) -> None:
    table = skirmish(companion, "classic")
    screen = device(ViewportSize(width=width, height=height))
    screen.watch(companion, table, "/screen")
    screen.page.evaluate(DRAWN)
    head = screen.page.locator(".board-head").bounding_box()
    place = screen.page.locator(".siege-map").bounding_box()
    assert head is not None
    assert place is not None
    assert place["y"] - head["y"] - head["height"] < 0.01 * height
    assert place["y"] + place["height"] > 0.98 * height
    width, height = (float(each) for each in (screen.page.get_attribute("[data-size]", "data-size") or "").split())
    assert place["width"] / place["height"] == pytest.approx(width / height, rel=0.02)


def test_one_thing_is_dark_in_every_phase(companion: Companion, device: Make) -> None:
    phone = device()
    dark = """() => [...document.querySelectorAll(".doing .button")]
      .filter((each) => each.checkVisibility())
      .filter((each) => getComputedStyle(each).backgroundColor === getComputedStyle(document.body).color)
      .map((each) => each.textContent.trim())"""
    table = marching(companion, phone)
    assert phone.page.evaluate(dark) == ["Roll for all"]
    companion.home.services.play.let_app_roll(table.id, phone.key(table), False)
    tap_hex(phone.page, unrolled(table)[0])
    expect(phone.page.locator(".siege-dice")).to_be_visible()
    assert phone.page.evaluate(dark) == ["Let the app roll"]


def test_two_taps_in_a_hurry_are_two_moves(companion: Companion, device: Make) -> None:
    phone = device()
    table = marching(companion, phone)
    first, second = unrolled(table)[:2]
    tap_hex(phone.page, first)
    tap_hex(phone.page, second)
    for where in (first, second):
        expect(phone.page.locator("[data-state]")).not_to_have_attribute(
            "data-state", re.compile(rf'"{where}":\[\["march"')
        )
    expect(phone.page.locator("#notice")).to_have_text("")


def test_a_button_reacts_only_after_what_waits_for_the_map_stands_in_the_page(
    companion: Companion, device: Make
) -> None:
    phone = device()
    table = marching(companion, phone)
    phone.page.evaluate("window.requestAnimationFrame = () => 0")  # no frame is ever drawn
    tap_hex(phone.page, unrolled(table)[0])
    expect(phone.page.locator("[data-cost]").first).to_be_attached()
    expect(phone.page.locator(".siege-unit")).to_have_count(0)
    phone.page.evaluate("document.querySelector('.deed-done button').click()")
    expect(phone.page.locator(".siege-unit")).to_contain_text("left")
    expect(phone.page.locator("[data-state]")).to_have_attribute("data-state", re.compile('"seat":"aztecs"'))
    expect(phone.page.locator("#notice")).to_have_text("")


def test_ground_and_counters_stay_together_when_all_is_painted_anew(companion: Companion, device: Make) -> None:
    table = skirmish(companion)
    ana, ben = device(), device()
    ana.join(companion, table, "aztecs", "Ana")
    ana.page.click('[data-siege="nearer"]')
    box = ana.page.locator(".siege-pieces").get_attribute("viewBox")
    ben.join(companion, table, "spaniards", "Ben")  # a new name is in every region's words
    expect(ana.page.locator(".log")).to_contain_text("Ben")
    for sheet in (".siege-ground", ".siege-pieces", ".siege-marks"):
        expect(ana.page.locator(sheet)).to_have_attribute("viewBox", str(box))


def test_everything_can_be_done_from_the_list_without_the_map(companion: Companion, device: Make) -> None:
    table = skirmish(companion)
    phone = device()
    phone.hold(companion, table)
    phone.watch(companion, table)
    phone.page.locator("summary", has_text="as a list").click()
    phone.page.click('.siege-list a:has-text("Place the unit in hand")')
    phone.page.click('button:has-text("Place Cuauhtemoc on i6")')
    expect(phone.page.locator(".siege-hand")).to_contain_text("Aztec warriors")


MAP_AT = """([x, y]) => {
  const sheet = document.querySelector(".siege-pieces");
  const at = new DOMPoint(x, y).matrixTransform(sheet.getScreenCTM().inverse());
  return [at.x, at.y, 1 / sheet.getScreenCTM().a];
}"""
"""What of the map is under a point of the glass, and how much of it a pixel shows."""


class Fingers:
    """Fingers on the glass of a phone, each where it is put until it leaves."""

    def __init__(self, phone: Device) -> None:
        self.page = phone.page
        self.tools = phone.context.new_cdp_session(phone.page)

    def start(self, *places: tuple[float, float]) -> None:
        self._touch("touchStart", places)

    def move(self, *places: tuple[float, float]) -> None:
        self._touch("touchMove", places)

    def leave(self) -> None:
        self._touch("touchEnd", ())

    def _touch(self, kind: str, places: tuple[tuple[float, float], ...]) -> None:
        points = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(places)]
        self.tools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        self.page.evaluate("new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)))")


def test_two_fingers_bring_the_map_nearer_where_they_are_and_tap_nothing(companion: Companion, device: Make) -> None:
    table = skirmish(companion)
    phone = device(has_touch=True)
    phone.hold(companion, table)
    phone.watch(companion, table)
    version = companion.home.services.tables.get(table.id).version
    phone.page.locator(".siege-tools").wait_for()
    phone.page.click('[data-siege="whole"]')
    phone.page.click('[data-siege="nearer"]')
    area = phone.page.locator(".siege-sheets").bounding_box()
    assert area is not None
    x, y = area["x"] + area["width"] * 0.55, area["y"] + area["height"] * 0.45  # off the middle of the map
    left, top, before = phone.page.evaluate(MAP_AT, [x, y])
    fingers = Fingers(phone)
    fingers.start((x - 20, y - 10))
    fingers.start((x - 20, y - 10), (x + 20, y + 10))
    for part in (25, 30, 35, 40):
        fingers.move((x - part, y - part / 2), (x + part, y + part / 2))
    across, down, near = phone.page.evaluate(MAP_AT, [x, y])
    assert before / near == pytest.approx(2, rel=0.02)
    assert (across - left, down - top) == (pytest.approx(0, abs=2 * near), pytest.approx(0, abs=2 * near))
    for step in (10, 20, 30):  # both together drag it
        fingers.move((x - 40 - step, y - 20), (x + 40 - step, y + 20))
    across, down, same = phone.page.evaluate(MAP_AT, [x - 30, y])
    assert same == pytest.approx(near, rel=0.01)
    assert (across - left, down - top) == (pytest.approx(0, abs=3 * near), pytest.approx(0, abs=3 * near))
    fingers.leave()
    fingers.start((x - 70, y - 20))  # a single one drags it back
    for step in (15, 20, 25, 30):
        fingers.move((x - 70 + step, y - 20))
    fingers.leave()
    across, _, same = phone.page.evaluate(MAP_AT, [x, y])
    assert same == pytest.approx(near, rel=0.01)
    assert across - left == pytest.approx(0, abs=4 * near)
    expect(phone.page.locator(".asked")).to_have_attribute("points", "")
    assert companion.home.services.tables.get(table.id).version == version, "fingers that moved the map made a move"
    fingers.start((x, y))
    fingers.leave()  # a finger that only taps is noticed: the hexes above were there to be hit
    expect(phone.page.locator(".log")).to_contain_text("1 unit placed")


def test_one_finger_or_the_mouse_drags_the_map_and_places_nothing(companion: Companion, device: Make) -> None:
    table = skirmish(companion)
    phone = device()
    phone.hold(companion, table)
    phone.watch(companion, table)
    box = phone.page.locator(".siege-pieces")
    before = [float(each) for each in (box.get_attribute("viewBox") or "").split()]
    phone.page.click('[data-siege="nearer"]')
    near = [float(each) for each in (box.get_attribute("viewBox") or "").split()]
    assert near[2] < before[2]
    area = phone.page.locator(".siege-sheets").bounding_box()
    assert area is not None
    x, y = area["x"] + area["width"] / 2, area["y"] + area["height"] / 2
    phone.page.mouse.move(x, y)
    phone.page.mouse.down()
    phone.page.mouse.move(x - 60, y, steps=4)
    phone.page.mouse.up()
    expect(box).not_to_have_attribute("viewBox", " ".join(f"{each:.2f}" for each in near))
    assert float((box.get_attribute("viewBox") or "").split()[0]) > near[0]
    assert companion.home.services.tables.get(table.id).state.at[0] < 0, "a drag placed a unit"

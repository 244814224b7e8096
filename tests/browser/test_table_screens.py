"""The table screens are a family: who is on turn, and what is being done, stand at one place and in one size."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from companion.games.kit import Move
from tests.browser.conftest import Companion, Device
from tests.browser.layout import DRAWN, measured
from tests.browser.rooms import LONG, Room, stages

Make = Callable[..., Device]

GAMES = {
    "temple": Room("mexica", "temple_only", 4, True),
    "whole": Room("mexica", "evening", 4, True),
    "market": Room("market", "short", 4, True),
    "siege": Room("siege", "classic", 2, True),
    "moctezuma": Room("moctezuma", "swift", 6, True),
}

HEAD = """() => {
  const line = (css) => {
    const of = document.querySelector(css), letters = document.createTreeWalker(of, NodeFilter.SHOW_TEXT);
    const sizes = [];
    for (let node = letters.nextNode(); node; node = letters.nextNode())
      if (node.data.trim()) sizes.push(parseFloat(getComputedStyle(node.parentElement).fontSize));
    const box = of.getBoundingClientRect();
    return { x: Math.round(box.x), y: Math.round(box.y), size: Math.min(...sizes), words: of.textContent };
  };
  return { whose: line(".turn-whose"), doing: line(".turn-doing") };
}"""


@pytest.mark.parametrize("scale", [1, 2], ids=["1080p", "4K"])
def test_all_table_screens_say_who_is_on_turn_and_what_is_done_at_one_place(
    companion: Companion, device: Make, scale: int
) -> None:
    size = ViewportSize(width=1920 * scale, height=1080 * scale)
    found = {}
    for name, room in GAMES.items():
        screen = device(size, font="narrow")
        for stage in stages(companion, room):
            if (seat := whose_turn(stage.table.game.page.view(stage.table.state, None))) in stage.table.charter.seats:
                person = next(chair.name for chair in stage.table.chairs if chair.seat == seat)
                if person != LONG[0]:
                    break
        screen.watch(companion, stage.table, "/screen")
        screen.page.evaluate(f"document.fonts.ready.then({DRAWN})")
        found[name] = screen.page.evaluate(HEAD)
        assert person in found[name]["whose"]["words"].replace("\u00a0", " ")
        companion.home.services.tables.close(stage.table.id, stage.key)  # its temple is free for the next one
    sizes = {name: (each["whose"]["size"], each["doing"]["size"]) for name, each in found.items()}
    assert all(whose >= 64 * scale and doing >= 40 * scale for whose, doing in sizes.values()), sizes
    for line in ("whose", "doing"):
        assert len({(each[line]["x"], each[line]["y"]) for each in found.values()}) == 1, found


def whose_turn(view: dict[str, object]) -> object:
    """Return the seat that a view says is on turn."""
    return view["on_turn"]


def test_the_temple_s_screen_shows_who_is_on_turn_and_next_what_each_gave_and_a_code_for_who_comes_late(
    companion: Companion, device: Make
) -> None:
    table = companion.table(3)
    services = companion.home.services
    people = dict(zip(table.charter.seats, ("Ana", "Ben", "Eva"), strict=True))
    key = services.seats.share(table.id, table.code, people)
    companion.drop("tlaloc", 3)
    companion.drop("huitzilopochtli", 2)
    screen = device(ViewportSize(width=1920, height=1080))
    screen.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
    screen.watch(companion, table, "/screen")
    view = table.game.page.view(services.tables.get(table.id).state, None)
    on_turn, seats = str(view["on_turn"]), list(table.charter.seats)
    follows = seats[(seats.index(on_turn) + 1) % 3]
    expect(screen.page.locator(".person .person-who")).to_have_text(
        [people[seat] + (" next" if seat == follows else "") for seat in seats]
    )
    expect(screen.page.locator(".person.on-turn .person-who")).to_contain_text(people[on_turn])
    expect(screen.page.locator(".person.on-turn .person-gave b")).to_have_text(["3", "2"])
    expect(screen.page.locator(".latecomers")).to_contain_text(f"{table.code[:3]}-{table.code[3:]}")
    for width, height in ((1920, 1080), (1366, 768), (1280, 800), (820, 1180)):
        screen.page.set_viewport_size({"width": width, "height": height})
        screen.page.evaluate(DRAWN)
        assert measured(screen.page, whole=width > height).wrong == (), (width, height)
        assert screen.page.locator(".latecomers").is_visible() == (width > height)
    services.play.move(table.id, key, on_turn, Move("end_turn"), services.tables.get(table.id).version, "end")
    expect(screen.page.locator(".person.on-turn .person-who")).to_contain_text(people[follows])


def test_the_list_of_games_shows_their_pictures_and_uses_the_width_of_a_laptop(
    companion: Companion, device: Make
) -> None:
    laptop = device(ViewportSize(width=1366, height=768))
    laptop.page.goto(f"{companion.address}/games")
    cards = [each.bounding_box() for each in laptop.page.locator(".game-card").all()]
    assert laptop.page.locator(".game-card:has(.game-picture)").count() == len(cards) == 4
    assert cards[0] is not None
    assert cards[1] is not None
    assert cards[0]["y"] == cards[1]["y"]
    assert cards[1]["x"] + cards[1]["width"] > 1100
    laptop.page.goto(companion.address)
    join, games = (laptop.page.locator(each).bounding_box() for each in (".join-panel", ".games-panel"))
    assert join is not None
    assert games is not None
    assert abs(join["y"] - games["y"]) < 20
    assert games["x"] > join["x"] + join["width"]


def test_whatever_a_page_says_on_its_console_is_noticed(companion: Companion, device: Make) -> None:
    phone = device()
    phone.page.goto(companion.address)
    for kind in ("log", "info", "warn", "error", "debug"):
        phone.page.evaluate("(kind) => console[kind](kind)", kind)
    assert phone.complaints == ["log", "info", "warn", "error", "debug"]
    phone.complaints.clear()

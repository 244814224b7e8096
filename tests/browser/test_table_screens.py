"""The table screens are a family: who is on turn, and what is being done, stand at one place and in one size."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize

from tests.browser.conftest import Companion, Device
from tests.browser.layout import DRAWN
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

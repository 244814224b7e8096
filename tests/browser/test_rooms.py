"""Tables fit their rooms: nothing overlaps, is cut or is too small. `make layout` looks at all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Companion, Device
from tests.browser.rooms import LONG, ROOMS, Room, look

Make = Callable[..., Device]

WORST = [
    room
    for room in ROOMS
    if room.long and (room.most or room.game == "moctezuma") and str(room) != "siege-classic-2-long"
]
"""Most players with the longest names, and the count of two. A long siege's map is made like that of a skirmish."""


@pytest.mark.parametrize("layout", ["phone", "screen"])
@pytest.mark.parametrize("room", WORST, ids=str)
def test_nothing_overlaps_is_cut_or_too_small_with_the_longest_names(
    companion: Companion, browser_in: Callable[[str], Browser], room: Room, layout: str
) -> None:
    """At every size of window, and on a table screen of 1920 x 1080 with no text under 28 px."""
    found = look(companion, browser_in("wide"), room, layout=layout, language="es", every=12)
    assert found.texts > 100
    assert found.wrong == {}


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (820, 1180)])
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
def test_a_laptop_and_a_tablet_show_the_whole_board_beside_what_is_said_and_done(
    companion: Companion, device: Make, game: str, preset: str, board: str, width: int, height: int
) -> None:
    services = companion.home.services
    table = services.tables.open(game, "Sunday", 2, preset, {})
    key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, LONG, strict=False)))
    services.seats.begin(table.id, key)
    phone = device({"width": width, "height": height})
    phone.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
    phone.watch(companion, table)
    box = phone.page.locator(board).first.bounding_box()
    turn = phone.page.locator(":is(.region-turn, .region-head)").first.bounding_box()
    assert box is not None
    assert turn is not None
    assert box["width"] >= 0.45 * width
    assert box["y"] + box["height"] <= height
    assert turn["x"] >= box["x"] + box["width"]

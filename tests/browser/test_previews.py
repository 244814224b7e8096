"""What a great move would change, as a phone shows it: line by line, and nothing moves under the finger."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from playwright.sync_api import Locator, expect

from companion.games.kit import CHANCE
from companion.model.table import Table
from tests.browser.conftest import Companion, Device

Make = Callable[..., Device]
Box = tuple[float, float, float, float]


def box(of: Locator) -> Box:
    found = of.bounding_box()
    assert found
    return found["x"], found["y"], found["width"], found["height"]


def great(companion: Companion, game: str, preset: str, kind: str) -> tuple[Table, str]:
    """Let the app play a table of two until a move of a kind can be made; return it and a key of all its seats."""
    services, random = companion.home.services, Random(5)
    table = services.tables.open(game, "Sunday", 2, preset, {"setup": "random"} if game == "market" else {})
    key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, ("Ana", "Ben"), strict=True)))
    table = services.seats.begin(table.id, key)
    for n in range(400):
        seat = table.game.rules.to_act(table.state)[0]
        moves = table.game.rules.moves(table.state, seat)
        if any(move.name == kind for move in moves):
            return table, key
        app = (
            None
            if seat == CHANCE
            else table.game.decide(table.game.page.view(table.state, seat), moves, random.randrange)
        )
        made = services.play.move(table.id, key, seat, app or random.choice(moves), table.version, f"r{n}")
        assert made.accepted
        table = services.tables.get(table.id)
    raise AssertionError(f"{game}: 400 moves, and none that is a {kind}")


@pytest.mark.parametrize(
    ("game", "preset", "kind", "button"),
    [
        ("market", "classic", "commit", ".ends [data-confirm]"),
        ("moctezuma", "swift", "study", ".act-study [data-confirm]"),
    ],
)
def test_what_asks_for_a_second_tap_says_each_change_on_its_line_and_moves_nothing_under_the_finger(
    companion: Companion, device: Make, game: str, preset: str, kind: str, button: str
) -> None:
    table, key = great(companion, game, preset, kind)
    phone = device()
    phone.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
    phone.watch(companion, table)
    notice, asks = phone.page.locator("#notice"), phone.page.locator(button)
    for scrolled in (0, None):
        if scrolled is None:
            asks.evaluate("each => scrollTo({top: scrollY + each.getBoundingClientRect().top, behavior: 'instant'})")
        before = box(asks)
        asks.click()
        expect(notice).to_contain_text("→")
        expect(notice.locator("strong")).to_have_text("Tap again to confirm")
        assert len(notice.inner_text().splitlines()) >= 3
        assert box(asks) == before
        said = box(notice)
        assert said[1] + said[3] <= before[1] or before[1] + before[3] <= said[1], "the one covers the other"
        phone.page.reload()
        phone.listening()
    asks.click()
    expect(notice).to_contain_text("→")
    asks.click()
    phone.page.wait_for_function(
        "before => Number(document.getElementById('live').dataset.version) > before", arg=table.version
    )
    expect(notice).to_be_empty()

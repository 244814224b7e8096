"""The Aztec Market as its players meet it: two phones, a whole game by taps, and each of its aids."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from companion.games.market import GAME
from companion.model.table import Table
from tests.browser.conftest import SCREEN, Companion, Device, narrow_then_wide
from tests.browser.driving import played_out
from tests.browser.layout import too_small, too_wide
from tests.browser.test_access import OPENED, violations
from tests.games.market_sitting import all_options

Make = Callable[..., Device]

SEATS = {"south": "Ana", "east": "Ben"}
STEPS = ("coin", "draw", "shift", "money", "king", "turn")
"""What a player of the classic game is asked for."""


def _set(companion: Companion, **chosen: str | int) -> Table:
    rules = {key: value for key, value in all_options(**chosen).items() if key in chosen}
    return companion.home.services.tables.open("market", "Sunday", 2, "classic", rules)


def _seated(companion: Companion, device: Make, **chosen: str | int) -> tuple[Table, dict[str, Device]]:
    """Open a table, seat two phones at it, and begin."""
    table = _set(companion, **chosen)
    phones = {}
    for seat, name in SEATS.items():
        phones[seat] = device()
        phones[seat].join(companion, table, seat, name)
    phones["south"].page.click(".begin-form button")
    for phone in phones.values():
        expect(phone.page.locator("body")).to_have_class(re.compile("phase-running"))
        phone.listening()
    return table, phones


def _shared(companion: Companion, device: Make, **chosen: str | int) -> tuple[Table, Device]:
    """Begin a table with one phone for both seats."""
    table, phone = _set(companion, **chosen), device()
    phone.hold(companion, table)
    companion.home.services.seats.begin(table.id, table.code)
    phone.watch(companion, table)
    return table, phone


def _now(companion: Companion, table: Table) -> Table:
    return companion.home.services.tables.get(table.id)


def _tap(companion: Companion, table: Table, phone: Device, selector: str) -> None:
    """Tap, twice where a slip would hurt, and wait until the table has moved on and the phone has seen it."""
    before = _now(companion, table).version
    phone.page.locator(selector).first.click()
    for tries in range(600):
        now = _now(companion, table).version
        if now > before:
            break
        if phone.page.locator("button[data-armed]").count() or tries == 80:  # or the tap came too soon after another
            phone.page.locator(selector).first.click()
        phone.page.wait_for_timeout(50)
    assert now > before, f"{selector} did nothing: {phone.page.locator('.notice').inner_text()}"
    phone.page.wait_for_function("version => document.getElementById('live').dataset.version >= version", arg=now)


def _post(companion: Companion, table: Table, phone: Device) -> None:
    """Make a move that was made by taps before, without taps."""
    now = _now(companion, table)
    seat = now.game.rules.to_act(now.state)[0]
    move = now.game.rules.moves(now.state, seat)[0]
    assert companion.home.services.play.move(
        table.id, phone.key(table), seat, move, now.version, f"post{now.version}"
    ).accepted


def test_each_kind_of_move_is_made_by_a_tap_on_two_phones_and_both_see_the_end(
    companion: Companion, device: Make
) -> None:
    table, phones = _seated(companion, device, removed=40, setup="random")
    steps: set[tuple[str, str]] = set()
    for _ in range(400):
        state = _now(companion, table).state
        if state.over or len(steps) == len(STEPS) * len(phones):
            break
        seat = state.seats[state.seat]
        phone = phones[seat]
        if (seat, state.step) in steps and state.step != "turn":
            _post(companion, table, phone)
            continue
        first = {
            "coin": f'[data-pick^="buyer:{seat}:"][data-can="own"]',
            "money": f'[data-pick^="buyer:{seat}:"][data-can="own"]',
            "draw": ".draw button" if state.turn % 2 else ".goods-row button",
            "shift": '[data-pick^="cell:"][data-can="own"]',
            "king": ".goods-row button",
            "turn": '.ends button:has-text("Close")' if state.bought else ".buys button, .ends button",
        }
        phone.page.wait_for_function(
            "version => document.getElementById('live').dataset.version >= version",
            arg=_now(companion, table).version,
        )
        _tap(companion, table, phone, first[state.step])
        steps.add((seat, state.step))
    assert steps == {(seat, step) for seat in phones for step in STEPS}
    played_out(companion, table.id, {seat: each.key(table) for seat, each in phones.items()}, lambda: None)
    assert _now(companion, table).phase == "over"
    for phone in phones.values():
        expect(phone.page.locator(".ending-title")).to_contain_text("win")
        phone.page.reload()
        expect(phone.page.locator(".ending-title")).to_contain_text("win")


def test_each_phone_sees_its_own_buyers_nearest(companion: Companion, device: Make) -> None:
    table = _set(companion, setup="random")
    keys = {seat: companion.home.seated(table, seat, name) for seat, name in SEATS.items()}
    companion.home.services.seats.begin(table.id, keys["south"])
    phone = device()
    for seat, key in keys.items():
        phone.context.clear_cookies()
        phone.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
        phone.watch(companion, table)
        lowest = max(phone.page.locator(".buyer").all(), key=lambda each: (each.bounding_box() or {"y": 0})["y"])
        assert (lowest.get_attribute("data-pick") or "").startswith(f"buyer:{seat}:")


def test_a_tile_is_laid_by_tapping_it_and_then_its_cell(companion: Companion, device: Make) -> None:
    table, phone = _shared(companion, device)
    phone.page.click("#pick-stock-king")
    expect(phone.page.locator(".levels")).to_be_visible()
    _tap(companion, table, phone, "#pick-cell-5")
    assert _now(companion, table).state.market[5] == 14
    expect(phone.page.locator(".levels")).to_have_count(0)


def test_a_play_is_seen_as_it_grows_and_can_be_taken_back(companion: Companion, device: Make) -> None:
    table, phone = _shared(companion, device, setup="random")
    for _ in range(2):
        phone.page.wait_for_timeout(500)  # a second tap at once is taken for a slip
        _tap(companion, table, phone, '[data-pick^="buyer:"][data-can="own"]')
    state = _now(companion, table).state
    phone.page.wait_for_selector(".ends button")
    messenger = state.market.index(13)
    _tap(companion, table, phone, f"#pick-cell-{messenger}")
    expect(phone.page.locator(".step-words")).to_contain_text("Buy something")
    tile = next(cell for cell, each in enumerate(_now(companion, table).state.market) if each not in (13, 15))
    _tap(companion, table, phone, f"#pick-cell-{tile}")  # one buyer has a coin: nobody need be asked who pays
    assert len(_now(companion, table).state.played) == 2
    _tap(companion, table, phone, '.ends button:has-text("Undo it all")')
    assert _now(companion, table).state == state
    expect(phone.page.locator(".log")).to_contain_text("undoes it all")


def test_the_board_can_be_played_with_the_keyboard_alone(companion: Companion, device: Make) -> None:
    _, phone = _shared(companion, device, setup="random")
    thing = phone.page.locator('[data-pick^="buyer:"][data-can="own"]').nth(2)
    expect(thing).to_have_attribute("role", "button")
    expect(thing).to_have_attribute("aria-label", re.compile("lane 3: nothing: A coin for the buyer of lane 3"))
    thing.focus()
    phone.page.keyboard.press("Enter")
    expect(phone.page.locator(".log")).to_contain_text("a coin in lane 3")


def test_without_a_script_the_same_moves_are_made_page_by_page(companion: Companion, device: Make) -> None:
    table = _set(companion)
    phone = device(java_script_enabled=False)
    phone.page.goto(f"{companion.address}/j/{table.code}")
    phone.page.click(".share summary")
    phone.page.click(".share-form button")
    phone.page.click(".begin-form button")
    phone.page.click(".few a.deeper")
    phone.page.click(".picks a:has-text('king')")
    phone.page.click(".picks button >> nth=0")
    assert 14 in _now(companion, table).state.market


def test_the_table_screen_shows_market_and_king_without_scrolling(companion: Companion, device: Make) -> None:
    table = _set(companion, setup="random")
    companion.home.services.seats.begin(table.id, table.code)
    screen = device(SCREEN, font="both")
    screen.watch(companion, table, "/screen")
    page = screen.page
    for _ in narrow_then_wide(page):
        box = page.locator(".market-board").bounding_box()
        assert box
        assert box["y"] + box["height"] <= SCREEN["height"]
        assert too_wide(page) == []
        expect(page.locator(".king-good")).to_have_count(4)


# The aids


def _aid(companion: Companion, device: Make, name: str) -> Device:
    phone = device()
    phone.page.goto(f"{companion.address}/games/market")
    phone.page.click(f'form[action$="/aids/{name}"] button')
    phone.listening()
    return phone


def _type(phone: Device, label: str, n: int) -> None:
    field = phone.page.get_by_label(label, exact=True)
    field.fill(str(n))
    field.press("Tab")
    expect(phone.page.get_by_label(label, exact=True)).to_have_attribute("value", str(n))


EXAMPLE = {
    "The king": (2, 4, 3, 1), "Player 1": (9, 0, 0, 6), "Player 2": (5, 5, 3, 0), "Player 3": (3, 6, 4, 4),
    "Player 4": (0, 0, 8, 6),
}  # fmt: skip


def test_the_score_pad_adds_the_rulebooks_example_up_to_53_and_60(companion: Companion, device: Make) -> None:
    phone = _aid(companion, device, "score")
    for who, numbers in EXAMPLE.items():
        for name, n in zip(("pottery", "cloth", "jewels", "herbs"), numbers, strict=True):
            if n:
                _type(phone, f"{who}: {name}", n)
    expect(phone.page.locator(".pad-points")).to_have_text(["53", "60"])
    expect(phone.page.locator(".pad-group.leads")).to_contain_text("Players 3 and 4: 60")
    expect(phone.page.locator(".pad-lines").nth(1)).to_contain_text("5: the partner has more")
    phone.page.click(".undo button")
    expect(phone.page.locator(".pad-points")).to_have_text(["53", "58"])


def test_the_score_pad_refuses_more_tokens_than_there_are(companion: Companion, device: Make) -> None:
    phone = _aid(companion, device, "score")
    field = phone.page.get_by_label("Player 1: pottery", exact=True)
    field.fill("21")
    phone.complaints.clear()
    field.press("Tab")
    expect(phone.page.locator(".notice")).to_contain_text("from 0 to 20")
    expect(field).to_have_value("0")
    phone.complaints.clear()  # the browser's own line for the answer 409


def test_axe_finds_nothing_and_everything_fits_at_play_and_in_each_aid(companion: Companion, device: Make) -> None:
    """axe finds nothing, a thumb meets every button, and no page is wider than a phone: at play and in each aid."""
    phone, found = device(language="es", scheme="dark", font="both"), {}
    table = _set(companion, setup="random")
    phone.share(companion, table)
    phone.page.click(".begin-form button")
    expect(phone.page.locator("body")).to_have_class(re.compile("phase-running"))
    phone.listening()
    for name in ("first coins", "first turn", "screen", *GAME.tools):
        if name == "first turn":
            phone.page.reload()
            phone.listening()
            for _ in range(2):
                phone.page.wait_for_timeout(500)
                _tap(companion, table, phone, '[data-pick^="buyer:"][data-can="own"]')
        elif name == "screen":
            phone.page.goto(f"{companion.address}/t/{table.id}/screen")
        elif name in GAME.tools:
            phone.page.goto(f"{companion.address}/games/market")
            phone.page.click(f'form[action$="/aids/{name}"] button')
            phone.page.wait_for_url("**/t/*")
            phone.listening()
        phone.page.evaluate(OPENED)
        problems = violations(phone)
        for _ in narrow_then_wide(phone.page):
            problems += [*too_small(phone.page), *too_wide(phone.page)]
        if problems:
            found[name] = problems
    assert found == {}


def test_four_tokens_come_out_of_the_bag_by_the_app_or_by_hand(companion: Companion, device: Make) -> None:
    phone = _aid(companion, device, "bag")
    phone.page.click("text=Draw four tokens")
    phone.page.click(".draw button")
    expect(phone.page.locator(".bag-count")).to_contain_text("72")
    phone.page.click("text=Draw four tokens")
    for left in (3, 2, 1, 0):
        expect(phone.page.locator(".goods-row")).to_be_visible()
        phone.page.wait_for_timeout(700)  # a second tap at once is taken for a slip
        phone.page.click(".goods-row button:has-text('pottery')")
        expect(phone.page.locator(".came-big svg")).to_have_count(4 - left)
    expect(phone.page.locator(".bag-count")).to_contain_text("68")


def test_the_turn_card_leads_through_a_pass(companion: Companion, device: Make) -> None:
    phone = _aid(companion, device, "turn")
    whose = phone.page.locator(".turn-whose").bounding_box()
    assert whose
    assert whose["height"] < 40, "the words stand on one line"
    phone.page.click(".ends button:has-text('Pass')")
    for step in ("Replenish", "Move the market", "Money", "The king"):
        expect(phone.page.locator(".card-steps li.now")).to_contain_text(step)
        phone.page.wait_for_timeout(700)
        phone.page.click(".card-part.now button")
    expect(phone.page.locator(".turn-whose")).to_contain_text("West")
    phone.page.set_viewport_size(SCREEN)
    phone.page.goto(f"{phone.page.url}/screen")
    tiles = phone.page.locator(".tiles-do").bounding_box()
    assert tiles
    assert tiles["y"] + tiles["height"] < SCREEN["height"], "a screen is not scrolled"


def test_the_purchase_checker_answers_for_a_market_that_was_tapped(companion: Companion, device: Make) -> None:
    phone = _aid(companion, device, "lanes")
    for cell, tile in ((0, "pottery vendor"), (8, "porter"), (1, "cloth vendor"), (5, "crowd")):
        phone.page.click(f"#pick-{cell}")
        phone.page.locator(".levels").get_by_text(tile, exact=True).click()
        expect(phone.page.locator(f"#pick-{cell}")).to_have_attribute("aria-label", re.compile(tile))
        phone.page.wait_for_timeout(700)
    _type(phone, "Tokens on the vendor of pottery", 3)
    expect(phone.page.locator(".answer").nth(0)).to_contain_text("brings 2. 1 back to the vendor.")
    expect(phone.page.locator(".answer").nth(1)).to_contain_text("a crowd stands in the way.")
    phone.page.click("#pick-buyer-0")
    expect(phone.page.locator(".answer").nth(0)).to_contain_text("no coin.")

"""Moctezuma's Revenge as its players meet it: phones, a screen, secrets shown while they are held, the aids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, expect

from companion.games.moctezuma.rules.state import State
from companion.model.table import Table
from tests.browser.conftest import SCREEN, Companion, Device, narrow_then_wide
from tests.browser.layout import too_small, too_wide

Make = Callable[..., Device]

SLIP = 650
"""The time between two taps that are not meant for the same button, in ms."""


def opened(companion: Companion, players: int = 3, **options: str) -> Table:
    home = companion.home
    table = home.services.tables.open("moctezuma", "Sunday", players, "swift", options)
    return home.services.seats.begin(table.id, table.code)


def state(companion: Companion, table: Table) -> State:
    found: State = companion.home.services.tables.get(table.id).state
    return found


def held_by(companion: Companion, table: Table, phone: Device) -> None:
    """Open a table on a phone that has all of its seats."""
    phone.hold(companion, table)
    phone.watch(companion, table)


def seated(companion: Companion, table: Table, seat: str, name: str, phone: Device) -> None:
    """Open a table on a phone that has a seat of it."""
    key = companion.home.seated(table, seat, name)
    phone.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
    phone.watch(companion, table)


def version(page: Page) -> int:
    return int(page.locator("#live").get_attribute("data-version") or 0)


def shown(page: Page, companion: Companion, table: Table) -> None:
    """Wait until a page shows the table as it stands."""
    now = companion.home.services.tables.get(table.id)
    expect(page.locator("#live")).to_have_attribute("data-version", str(now.version))


def moved(page: Page, before: int) -> None:
    """Wait until a page shows a later version of the table, and until a next tap is no slip."""
    page.wait_for_function("before => Number(document.getElementById('live').dataset.version) > before", arg=before)
    page.wait_for_timeout(SLIP)


def tap(page: Page, button: Locator) -> None:
    """Tap a button, and once more where it asks for that."""
    before = version(page)
    asks = button.get_attribute("data-confirm") is not None
    button.click()
    if asks:
        expect(button).to_have_attribute("data-armed", "")
        button.click()
    moved(page, before)


@contextmanager
def held(page: Page, button: Locator) -> Iterator[None]:
    """Press and hold, as a finger does."""
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    yield
    page.mouse.up()


def test_three_phones_take_turns_until_a_screen_reveals_all_names(companion: Companion, device: Make) -> None:
    table = opened(companion)
    seats = {"red": "Ana", "blue": "Ben", "yellow": "Cleo"}
    phones = {seat: device(language="es" if seat == "blue" else "en") for seat in seats}
    for seat, name in seats.items():
        seated(companion, table, seat, name, phones[seat])
    screen = device(SCREEN)
    screen.watch(companion, table, "/screen")
    phones["yellow"].page.get_by_role("button", name="Ana", exact=True).click()
    expect(phones["red"].page.locator(".turn-whose")).to_have_text("Your turn")
    expect(screen.page.locator(".turn-whose")).to_contain_text("Ana")

    red = phones["red"].page
    tap(red, red.get_by_role("button", name="Look at 2 chits"))
    for king in ("Tizoc", "Ahuitzotl"):
        tap(red, red.get_by_role("button", name=f"Look at chit 1 of {king}"))
    expect(screen.page.locator(".log")).to_contain_text("Ana looks at chit 1 of Tizoc")
    tap(red, red.get_by_role("button", name="Walk to temple 1", exact=True))
    tap(red, red.get_by_role("button", name="Draw 2 cards"))
    expect(red.locator(".card-cell")).to_have_count(2)
    expect(phones["blue"].page.locator(".card-cell")).to_have_count(0)
    red.locator(".cards .keep button").last.click()
    expect(screen.page.locator(".treasure-card")).to_have_count(1)
    tap(red, red.locator(".end-turn button"))

    for n in range(1, 15):
        seat = list(seats)[n % 3]
        page = phones[seat].page
        if n not in (4, 14):  # one turn is ended like another
            assert companion.home.play(table, phones[seat].key(table), seat, "end_turn").accepted
            continue
        shown(page, companion, table)
        expect(page.locator(".end-turn button")).to_be_visible()
        if n == 4:
            page.reload()
            phones[seat].listening()
            tap(page, page.locator(".walk button").first)
            tap(page, page.locator(".act button").last)
            page.locator(".cards .keep button").first.click()
            expect(page.locator(".end-turn button")).to_be_visible()
        page.wait_for_timeout(SLIP)
        tap(page, page.locator(".end-turn button"))
    expect(screen.page.locator(".turn-whose")).to_contain_text("reveal their names")
    for n in range(1, 11):
        seat = list(seats)[n % 3]
        page = phones[seat].page
        if 1 < n < 9:
            now = companion.home.services.tables.get(table.id)
            play = companion.home.services.play
            assert play.roll(table.id, phones[seat].key(table), now.version, f"name{n}").accepted
            continue
        shown(page, companion, table)
        page.locator(".reveal-next button").click()
        if n < 10:
            expect(screen.page.locator(".revealed-temple")).to_have_text(f"Temple {n}")
            page.wait_for_timeout(SLIP)
    for each in (*phones.values(), screen):
        expect(each.page.locator(".ending-title")).to_be_visible()
        expect(each.page.locator(".score")).to_have_count(3)
    assert state(companion, table).over


def _middle(of: Locator) -> tuple[float, float]:
    box = of.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_face_shows_only_while_it_is_held(companion: Companion, device: Make) -> None:
    table = opened(companion, 2)
    phone, other = device(), device()
    seated(companion, table, "red", "Ana", phone)
    seated(companion, table, "blue", "Ben", other)
    page = phone.page
    tap(page, page.get_by_role("button", name="Ana", exact=True))
    tap(page, page.get_by_role("button", name="Look at 2 chits"))
    for king in ("Tizoc", "Ahuitzotl"):
        tap(page, page.get_by_role("button", name=f"Look at chit 1 of {king}"))
    face = "cursed" if state(companion, table).chits[4] else "safe"
    chit = page.get_by_role("button", name=re.compile("Tizoc, chit 1"))
    secret = chit.locator("svg.secret")
    expect(secret).to_be_hidden()
    assert _middle(chit) == pytest.approx(_middle(page.locator(".chit-cell", has=chit)), abs=1.5)
    with held(page, chit):
        expect(secret).to_be_visible()
        expect(secret.locator("use")).to_have_attribute("href", f"#chit-{face}")
    expect(secret).to_be_hidden()
    chit.focus()
    page.keyboard.down("Space")
    expect(secret).to_be_visible()
    page.keyboard.up("Space")
    expect(secret).to_be_hidden()
    with held(page, page.locator(".hold-all")):
        expect(secret).to_be_visible()
        expect(page.locator(".chance").first).to_be_visible()
    expect(page.locator(".chance").first).to_be_hidden()
    assert other.page.locator(".secret:not(.chance)").count() == 0


def test_a_note_is_written_while_another_plays_and_stays(companion: Companion, device: Make) -> None:
    table = opened(companion, 2)
    red, blue = device(), device()
    seated(companion, table, "red", "Ana", red)
    seated(companion, table, "blue", "Ben", blue)
    red.page.get_by_role("button", name="Ana", exact=True).click()
    expect(blue.page.locator(".turn-whose")).to_contain_text("Ana")
    blue.page.locator("#notebook > summary").click()
    blue.page.fill("#note-0", "my own <b>words</b>")
    blue.page.locator(".note-form button").first.click()
    expect(blue.page.locator("#note-1")).to_be_visible()
    red.page.get_by_role("button", name="Walk to temple 1", exact=True).click()
    # A note makes nobody's tap stale.
    expect(red.page.locator('.pawn[data-piece="pawn-red"]')).to_have_attribute("data-place", "1")
    assert state(companion, table).places[0] == 1
    blue.page.reload()
    blue.listening()
    expect(blue.page.locator("#note-0")).to_have_value("my own <b>words</b>")
    assert "my own <b>" not in red.page.content()


def test_a_tap_on_the_board_walks_there(companion: Companion, device: Make) -> None:
    table = opened(companion, 2)
    phone = device()
    held_by(companion, table, phone)
    tap(phone.page, phone.page.get_by_role("button", name="Blue", exact=True))
    phone.page.locator('.map [data-tile="7"]').click()
    expect(phone.page.locator('.pawn[data-piece="pawn-blue"]')).to_have_attribute("data-place", "7")


def test_without_a_script_the_whole_turn_can_be_played(companion: Companion, device: Make) -> None:
    table = opened(companion, 2)
    phone = device(java_script_enabled=False)
    page = phone.page
    page.goto(f"{companion.address}/j/{table.code}")
    page.fill('.sit-form input[name="name"]', "Ana")
    page.click('.sit-form button[value="red"]')
    for words in ("Ana", "Look at 2 chits", "Look at chit 1 of Tizoc", "Look at chit 2 of Tizoc"):
        page.get_by_role("button", name=words, exact=words == "Ana").click()
        expect(page.get_by_role("button", name=words, exact=words == "Ana")).to_have_count(0)
    page.locator("#notebook > summary").click()
    page.fill("#note-0", "By hand")
    page.locator(".note-form button").first.click()
    expect(page.locator("#note-1")).to_be_attached()
    page.locator(".end-turn button").click()
    expect(page.locator(".turn-whose")).to_contain_text("Blue")
    found = state(companion, table)
    assert (found.turn, found.notes[0], found.seen[0].bit_count()) == (2, ("By hand",), 2)


@pytest.mark.parametrize(
    ("aid", "language"), [("record", "en"), ("points", "es"), ("schedule", "en"), ("score", "es")]
)
def test_an_aid_opens_with_one_tap_and_is_used(companion: Companion, device: Make, aid: str, language: str) -> None:
    page = device(language=language, font="both").page
    page.goto(f"{companion.address}/games/moctezuma")
    page.locator(f'form[action$="/aids/{aid}"] button').click()
    page.wait_for_selector("html[data-scripted]", state="attached")
    closed = page.locator("details:not([open])").count()
    for _ in narrow_then_wide(page):
        assert too_wide(page) == []
    if closed:
        page.reload()  # the details are closed again
        page.wait_for_selector("html[data-scripted]", state="attached")
    match aid:
        case "points":
            last, end = page.locator(".act").last.bounding_box(), page.locator(".end-turn").bounding_box()
            assert last
            assert end
            assert end["y"] > last["y"] + last["height"] + 5
            tap(page, page.locator(".act button").first)
            expect(page.locator('.points use[href="#point"]')).to_have_count(4)
        case "schedule":
            for _ in range(4):
                tap(page, page.locator(".end-turn button"))
            tap(page, page.locator(".ask button").last)
            expect(page.locator('.schedule use[href="#chit-cursed"]')).to_have_count(1)
        case "record":
            tap(page, page.locator(".king").nth(4).locator(".face-tap button").nth(1))
            expect(page.locator(".king").nth(4).locator(".chance")).to_contain_text("100")
            page.locator(".region-undo button").click()
            expect(page.locator(".king").nth(4).locator(".chance")).not_to_contain_text("100")
        case "score":
            page.locator("#score-name-1 > summary").click()
            tap(page, page.locator("#score-name-1 button").nth(4))
            page.locator("#score-player-1 > summary").click()
            tap(page, page.locator("#score-player-1 .record-keep").first.locator("button").last)
            expect(page.locator(".score").first.locator(".score-total")).to_have_text("5")
            expect(page.locator(".aid-note").first).to_contain_text(". Aquí hay 15")  # the box holds no 15 safe chits
            for n in range(6):
                tap(page, page.locator(".chart .chits button").nth(n))
            expect(page.locator(".aid-note strong")).to_have_count(0)
            expect(page.locator(".aid-lead")).to_contain_text("Red" if language == "en" else "Rojo")
            page.set_viewport_size({"width": 1366, "height": 768})
            page.goto(f"{page.url}/screen")
            for each in page.locator(".score-total").all():
                box = each.bounding_box()
                assert box
                assert box["y"] + box["height"] < 768, "a screen is not scrolled"


def test_nothing_overflows_a_small_phone(companion: Companion, device: Make) -> None:
    table = opened(companion, 2)
    phone = device({"width": 320, "height": 640}, font="both")
    held_by(companion, table, phone)
    tap(phone.page, phone.page.get_by_role("button", name="Red", exact=True))
    for _ in narrow_then_wide(phone.page):
        assert too_wide(phone.page) == []
        assert too_small(phone.page, ":is(.button, .hold, summary):not(.table-header *)") == []

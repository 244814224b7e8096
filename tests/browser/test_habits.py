"""What real phones do to a game with a temple: two tabs, back, reloads, private windows, sleep, zoom, a notch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Page, Playwright, Route, ViewportSize, expect

from companion.model.table import Table
from templo import contract
from tests.browser.conftest import PHONE, Companion, Device
from tests.browser.layout import too_wide
from tests.conftest import launched
from tests.guides import SKIPPED

Make = Callable[..., Device]

NOTCH = {"left": 47, "right": 47, "bottom": 21}
"""The parts of a phone on its side that its camera, its round corners and its bar take, in px."""
SIDEWAYS: ViewportSize = {"width": 844, "height": 390}
ZOOMED: ViewportSize = {"width": 320, "height": 256}
"""A window of 1280 x 1024 px at 400 %."""

LARGE = "--blink-settings=defaultFontSize=32"
"""A browser whose owner set letters twice as large as they are at first."""

BLOCKED = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });"""

INSIDE = """([left, right, bottom]) => {
  const seen = [...document.querySelectorAll("button, a, summary, select, .turn-whose, [data-piece], .chair, h1")];
  const drawn = ([box]) => box.width > 1 && box.height > 1 && box.bottom > 0;
  const fixed = (each) => getComputedStyle(each.closest("form") ?? each).position === "fixed";
  const under = ([box, each]) => box.left < left - 1 || box.right > innerWidth - right + 1 ||
    (fixed(each) && box.bottom > innerHeight - bottom + 1);
  return seen.map((each) => [each.getBoundingClientRect(), each]).filter(drawn).filter(under)
    .map(([box, each]) => `${each.tagName} ${each.textContent.trim()}: ${box.left} to ${box.right}, ${box.bottom}`);
}"""
"""What of a page lies under the camera, the corners or the bar."""


def version(companion: Companion, table: Table) -> int:
    return companion.home.services.tables.get(table.id).version


def test_two_tabs_of_one_seat_are_one_player(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    phone = device()
    phone.share(companion, table)
    other = phone.context.new_page()
    other.goto(phone.page.url)
    other.wait_for_selector("html[data-scripted]", state="attached")
    before = version(companion, table)
    phone.page.click(".end-turn button")
    for page in (phone.page, other):
        expect(page.locator(".turn-note")).to_contain_text("West")
    other.click(".end-turn button")
    for page in (phone.page, other):
        expect(page.locator(".turn-note")).to_contain_text("East")
    assert version(companion, table) == before + 2


def test_who_goes_back_to_the_seats_takes_no_second_one(companion: Companion, device: Make) -> None:
    table = companion.home.lobby()
    phone = device()
    phone.join(companion, table, "north", "Ana")
    phone.page.go_back()
    expect(phone.page.locator(".sit-form")).to_be_visible()
    phone.page.click(".sit-form .button-main")
    phone.page.wait_for_url(f"**/t/{table.id}")
    chairs = companion.home.services.tables.get(table.id).chairs
    assert [chair.seat for chair in chairs if chair.taken] == ["north"]


def test_who_goes_back_to_the_table_sees_it_as_it_is(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    phone = device()
    phone.join(companion, table, "east", "Ana")
    phone.page.goto(companion.address + "/games")
    companion.drop("tlaloc", 2)
    phone.page.go_back()
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("2")


def test_a_page_that_is_loaded_again_during_a_post_makes_one_move(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    phone = device()
    phone.share(companion, table)
    before = version(companion, table)
    sent: list[int] = []

    def answered_to_nobody(route: Route) -> None:
        sent.append(route.fetch().status)
        phone.page.evaluate("setTimeout(() => location.reload())")

    phone.page.route("**/play", answered_to_nobody)
    with phone.page.expect_navigation():
        phone.page.click(".end-turn button")
    phone.listening()
    expect(phone.page.locator(".turn-note")).to_contain_text("West")
    assert sent == [200]
    assert version(companion, table) == before + 1
    phone.complaints.clear()  # a browser complains of the request that the reload ended


def test_a_private_window_that_may_store_nothing_plays(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    phone = device()
    phone.page.add_init_script(BLOCKED)
    phone.share(companion, table)
    phone.page.click(".end-turn button")
    expect(phone.page.locator(".turn-note")).to_contain_text("West")
    companion.drop("tlaloc")
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("1")


def test_a_phone_that_wakes_after_an_hour_shows_the_table_as_it_is(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    phone = device()
    phone.page.clock.install()
    phone.join(companion, table, "east", "Ana")
    phone.context.set_offline(True)
    companion.drop("tlaloc", 3)
    phone.page.clock.fast_forward("01:00:00")
    phone.context.set_offline(False)
    phone.page.clock.fast_forward("00:20")
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("3")
    expect(phone.page.locator("#notice")).not_to_contain_text("connection")
    phone.complaints.clear()  # a browser complains of every attempt without a network


def test_at_400_per_cent_a_page_is_read_downwards_alone(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    phone = device(ZOOMED)
    for page in _pages(companion, phone, table):
        assert too_wide(page) == []
    button = phone.page.locator(".end-turn button").first
    button.scroll_into_view_if_needed()
    expect(button).to_be_in_viewport(ratio=0.9)
    button.click()
    expect(phone.page.locator(".turn-note")).to_contain_text("West")


def test_with_letters_twice_as_large_nothing_is_wider_than_the_phone(
    companion: Companion, driver: Playwright, tmp_path: Path
) -> None:
    table = companion.table(2)
    browser = launched(driver, "wide", tmp_path, LARGE)
    context = browser.new_context(viewport=PHONE)
    context.add_init_script(SKIPPED)
    phone = Device(context, context.new_page())
    for page in _pages(companion, phone, table):
        assert too_wide(page) == [], page.url
    phone.page.click(".end-turn button")
    expect(phone.page.locator(".turn-note")).to_contain_text("West")
    browser.close()
    assert phone.complaints == []


def test_in_forced_colours_every_button_and_both_gods_can_be_told_apart(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    phone = device(forced_colors="active")
    phone.share(companion, table)
    companion.drop("tlaloc")
    assert phone.page.evaluate("matchMedia('(forced-colors: active)').matches")
    bare = phone.page.evaluate(
        """[...document.querySelectorAll("button, a.button")].filter((each) => each.offsetWidth > 1)
          .filter((each) => parseFloat(getComputedStyle(each).borderTopWidth) === 0)
          .filter((each) => getComputedStyle(each).textDecorationLine !== "underline")
          .map((each) => each.textContent.trim())"""
    )
    assert bare == []
    for god in ("Tlaloc", "Huitzilopochtli"):
        expect(phone.page.get_by_text(god).first).to_be_visible()


def test_a_phone_on_its_side_keeps_everything_from_under_its_camera(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    phone = device(SIDEWAYS)
    session = phone.context.new_cdp_session(phone.page)
    session.send("Emulation.setSafeAreaInsetsOverride", {"insets": NOTCH})
    for page in _pages(companion, phone, table):
        assert page.evaluate(INSIDE, [NOTCH["left"], NOTCH["right"], NOTCH["bottom"]]) == [], page.url
        assert too_wide(page) == []


def _pages(companion: Companion, phone: Device, table: Table) -> Iterator[Page]:
    """Show the pages of a game with a temple one after the other, from the first to the table itself."""
    companion.home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR)
    lobby = companion.home.lobby()
    for path in ("/", f"/j/{lobby.code}", "/temples/table", "/tables/new"):
        phone.page.goto(companion.address + path)
        yield phone.page
    phone.join(companion, lobby, "east", "Ana")
    yield phone.page
    phone.share(companion, table)
    yield phone.page

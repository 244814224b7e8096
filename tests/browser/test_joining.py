"""Two phones that scan one code: both get in, seats follow live, and a token seats who drops it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from companion.model.table import Table
from templo import contract
from tests.browser.conftest import Companion, Device

Make = Callable[..., Device]


def lobby(companion: Companion, temple: str | None = None) -> Table:
    if temple:
        companion.home.beams(temple, contract.Beam.UNPROVED, contract.Beam.UNPROVED)
    return companion.home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, temple)


def scan(companion: Companion, device: Device, table: Table) -> Page:
    device.page.goto(f"{companion.address}/j/{table.code}")
    device.listening()
    return device.page


def seated(companion: Companion, table: Table) -> dict[str, str | None]:
    chairs = companion.home.services.tables.get(table.id).chairs
    return {chair.seat: chair.name for chair in chairs if chair.taken}


def test_two_who_scan_together_both_sit_down(companion: Companion, device: Make) -> None:
    table = lobby(companion)
    pages = {name: scan(companion, device(), table) for name in ("Ana", "Ben")}
    for name, page in pages.items():
        page.fill('.sit-form input[name="name"]', name)
    for page in pages.values():  # found and pressed at one moment, as the other's seat redraws the form
        page.evaluate("document.querySelector('.sit-form .button-main').click()")
    for page in pages.values():
        page.wait_for_url(f"**/t/{table.id}")
        expect(page.locator(".chairs .mine")).to_have_count(1)
    assert sorted(seated(companion, table)) == ["east", "west"]


def test_who_has_been_here_sits_down_with_one_tap(companion: Companion, device: Make) -> None:
    phone = device()
    before = lobby(companion)
    phone.join(companion, before, "north", "Ana")
    table = lobby(companion)
    page = scan(companion, phone, table)
    page.click(".sit-form .button-main")
    page.wait_for_url(f"**/t/{table.id}")
    assert seated(companion, table) == {"east": "Ana"}


def test_seats_follow_live_and_what_was_typed_stays(companion: Companion, device: Make) -> None:
    table = lobby(companion)
    page = scan(companion, device(), table)
    page.fill('.sit-form input[name="name"]', "Ben")
    expect(page.locator(".place-free")).to_have_count(4)
    companion.home.seated(table, "north", "Ana")
    expect(page.locator(".place-free")).to_have_count(3)
    expect(page.locator(".places")).to_contain_text("Ana")
    expect(page.locator('.sit-form input[name="name"]')).to_have_value("Ben")
    for seat in ("east", "west", "south"):
        companion.home.seated(table, seat, seat)
    expect(page.locator(".sit-form")).to_contain_text("Every seat is taken")
    expect(page.locator(".sit-form button")).to_have_count(0)


def test_a_seat_that_was_taken_under_the_finger_leads_back_with_a_sentence(
    companion: Companion, device: Make
) -> None:
    table = lobby(companion)
    page = device(java_script_enabled=False).page
    page.goto(f"{companion.address}/j/{table.code}")
    companion.home.seated(table, "east", "Ana")
    page.fill('.sit-form input[name="name"]', "Ben")
    page.click('.sit-form button[value="east"]')
    expect(page.locator(".problem")).to_contain_text("East was taken a moment ago")
    expect(page.locator('.sit-form input[name="name"]')).to_have_value("Ben")
    page.click(".sit-form .button-main")
    page.wait_for_url(f"**/t/{table.id}")
    assert seated(companion, table) == {"east": "Ana", "west": "Ben"}


def test_a_token_seats_who_waits_for_it(companion: Companion, device: Make) -> None:
    table = lobby(companion, "table")
    pages = {}
    for name in ("Ana", "Ben"):
        pages[name] = scan(companion, device(), table)
        pages[name].fill('.sit-form input[name="name"]', name)
        pages[name].click('.sit-form button[value="drop"]')
        pages[name].wait_for_url(f"**/t/{table.id}/drop")
        expect(pages[name].locator(".drop-now")).to_contain_text(name)
        pages[name].wait_for_selector("html[data-scripted]", state="attached")
    companion.drop("tlaloc")
    pages["Ben"].wait_for_url(f"**/t/{table.id}")
    expect(pages["Ana"].locator(".places")).to_contain_text("Ben")
    companion.drop("huitzilopochtli")
    pages["Ana"].wait_for_url(f"**/t/{table.id}")
    assert seated(companion, table) == {"east": "Ben", "west": "Ana"}
    pages["Ana"].click(".begin-form .button-main")
    expect(pages["Ana"].locator(".phase-running")).to_be_attached()
    now = companion.home.services.tables.get(table.id)
    assert (now.tokens, now.seats) == (0, ("east", "west"))


def test_the_choice_about_empty_seats_outlasts_a_newcomer(companion: Companion, device: Make) -> None:
    table = lobby(companion)
    phone = device()
    phone.join(companion, table, "east", "Ana")
    choice = phone.page.locator('.begin-form select[name="empty"]')
    expect(choice).to_have_value("app")
    choice.select_option("anyone")
    companion.home.seated(table, "north", "Ben")
    expect(phone.page.locator(".begin-empty")).to_contain_text("West, South")
    expect(choice).to_have_value("anyone")
    phone.page.click(".begin-form .button-main")
    expect(phone.page.locator(".phase-running")).to_be_attached()
    chairs = companion.home.services.tables.get(table.id).chairs
    assert [chair.away for chair in chairs] == ["", "", "anyone", "anyone"]

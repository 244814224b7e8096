"""A deck that its designer edits while the table plays, and a file that somebody brings: seen in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from companion.adapters.draft_watcher import Draft
from companion.cli.data.check import option_of
from companion.model.table import Table
from tests.browser.conftest import SCREEN, Companion, Device
from tests.browser.test_access import violations

Make = Callable[..., Device]

FIVE = '[day]\nday-dog-1 = { effect = "gain", tokens = 5 }\n'
WRONG = FIVE.replace("5", "55")


@pytest.fixture
def followed(companion: Companion, tmp_path: Path) -> Iterator[tuple[Table, Path]]:
    services = companion.home.services
    opened = services.tables.open("mexica", "Sunday", 4, "classic")
    table, file = services.seats.begin(opened.id, opened.code), tmp_path / "mine.toml"
    file.write_text(FIVE)
    draft = Draft(companion.home.services, table.id, option_of(table.game, "deck"), file, lambda faults: None)
    draft.start()
    yield table, file
    draft.stop()


def test_a_save_is_on_every_phone_within_moments_and_a_fault_is_shown(
    companion: Companion, device: Make, followed: tuple[Table, Path]
) -> None:
    table, file = followed
    phone, watcher, screen = device(), device(language="es"), device(SCREEN)
    for each, layout in ((phone, ""), (watcher, ""), (screen, "/screen")):
        each.watch(companion, table, layout)
        expect(each.page.locator("#region-draft .problem")).to_have_count(0)
    expect(phone.page.locator(".log")).to_contain_text("The deck was changed")
    file.write_text(WRONG)
    for each in (phone, screen):
        alert = each.page.locator("#region-draft [role=alert]")
        expect(alert).to_contain_text("Line 2: day-dog-1: gain: tokens is 55; expected 1 … 13")
    expect(watcher.page.locator("#region-draft [role=alert]")).to_contain_text(
        "Línea 2: day-dog-1: gain: tokens es 55"
    )
    assert violations(phone) == violations(screen) == []
    file.write_text(FIVE.replace("5", "6"))
    for each in (phone, watcher, screen):
        expect(each.page.locator("#region-draft .problem")).to_have_count(0)
    expect(watcher.page.locator(".log")).to_contain_text("La baraja cambió")
    assert companion.home.services.tables.get(table.id).options["deck"] == FIVE.replace("5", "6")


def test_a_deck_is_brought_mended_and_brought_again(companion: Companion, device: Make, tmp_path: Path) -> None:
    host, file = device(), tmp_path / "mine.toml"
    file.write_text(WRONG)
    host.page.goto(f"{companion.address}/tables/new?preset=classic")
    host.listening()
    host.page.fill('input[name="title"]', "Noche")
    host.page.click(".house-rules > summary")
    host.page.click("#rules-cards > summary")
    host.page.set_input_files('input[name="file.deck"]', file)
    host.page.check('input[name="preset"][value="evening"]', force=True)
    expect(host.page.locator("#rules-cards")).to_contain_text("65")
    host.page.click(".new-form .button-main")
    expect(host.page.locator("#faults-deck")).to_be_visible()
    expect(host.page.locator("#faults-deck")).to_contain_text("Line 2: day-dog-1: gain: tokens is 55")
    expect(host.page.locator('input[name="title"]')).to_have_value("Noche")
    assert violations(host) == []
    host.complaints.clear()  # the browser notes that the form was not taken
    host.listening()
    for preset, tokens in (("classic", "260"), ("evening", "52")):
        host.page.check(f'input[name="preset"][value="{preset}"]', force=True)
        expect(host.page.locator('input[name="option.apocalypse_tokens"]')).to_have_attribute("placeholder", tokens)
    file.write_text(FIVE)
    host.page.set_input_files('input[name="file.deck"]', file)
    host.page.fill('input[name="title"]', "\u200b")
    host.page.click(".new-form .button-main")
    expect(host.page.locator(".new-form")).to_contain_text("The file that you chose has no faults and has been kept.")
    host.complaints.clear()
    host.page.fill('input[name="title"]', "Noche")
    host.page.click(".new-form .button-main")
    host.page.wait_for_url("**/j/*")
    assert [table.options["deck"] for table in companion.home.services.tables.all()] == [FIVE]

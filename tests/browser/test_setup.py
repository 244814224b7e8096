"""The first start on a phone and on the table screen: four steps, and beams that are lit while tokens fall."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from companion.model.network import Hotspot, Network, Wifi
from templo import contract
from tests.browser.conftest import PHONE, SCREEN, Companion, Device, narrow_then_wide
from tests.browser.layout import DRAWN, too_small

Make = Callable[..., Device]
CLEAR, DARK, UNPROVED = contract.Beam.CLEAR, contract.Beam.DARK, contract.Beam.UNPROVED


@pytest.fixture
def new(companion: Companion) -> Companion:
    """A companion that was just installed, on a machine with Wi-Fi."""
    companion.home.configure(first_start="on")
    companion.home.network = Network(
        managed=True,
        wifi="Casa",
        has_wifi=True,
        can_join=True,
        in_reach=(Wifi("Casa", 72), Wifi("W" * 32, 30)),
        hotspot=Hotspot("Templo Mayor", "obsidian-ocelot-7"),
    )
    companion.home.beams("table", UNPROVED, UNPROVED)
    return companion


@pytest.mark.parametrize("viewport", [PHONE, SCREEN])
def test_the_first_page_leads_through_the_steps_to_the_first_table(
    new: Companion, device: Make, viewport: ViewportSize
) -> None:
    page = device(viewport).page
    page.goto(new.address)
    page.fill('input[name="name"]', "Casa Ruiz")
    page.click("main form button")
    expect(page.locator(".network")).to_contain_text("Casa")
    page.click('.actions a[href="/setup/step/beams"]')
    page.wait_for_selector("html[data-scripted]", state="attached")
    page.click('.actions a[href="/setup/step/table"]')
    page.click('button[value="table"]')
    page.wait_for_url("**/tables/new")
    page.goto(new.address)
    expect(page.locator(".place")).to_have_text("Casa Ruiz")


def test_each_slot_is_lit_as_its_token_passes_and_a_dark_one_is_named(new: Companion, device: Make) -> None:
    page = device().page
    page.goto(f"{new.address}/setup/step/beams")
    page.wait_for_selector("html[data-scripted]", state="attached")
    tlaloc, war = page.locator(".god-tlaloc"), page.locator(".god-huitzilopochtli")
    expect(tlaloc).to_have_attribute("data-beam", "unproved")
    new.drop("tlaloc")
    new.home.beams("table", UNPROVED, CLEAR)
    expect(tlaloc).to_have_attribute("data-beam", "clear")
    expect(war).to_have_attribute("data-beam", "unproved")
    new.home.beams("table", DARK, CLEAR)
    expect(war).to_have_attribute("data-beam", "dark")
    expect(page.locator("#region-now")).to_contain_text("Huitzilopochtli")


def test_nothing_of_it_is_cut_or_too_small(new: Companion, device: Make) -> None:
    reader = device(PHONE, "es", font="both").page
    for path in ("/setup/step/name", "/setup/step/network", "/setup/step/beams", "/setup/step/table"):
        reader.goto(new.address + path)
        for page in narrow_then_wide(reader):
            for size in (SCREEN, PHONE):
                page.set_viewport_size(size)
                page.evaluate(DRAWN)
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert (path, wide) == (path, 0)
            assert (path, too_small(page)) == (path, [])

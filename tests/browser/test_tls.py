"""Over TLS a page installs, keeps the screen on and calls people: in a browser that trusts our authority."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from companion.games.kit import Move
from companion.model.table import Table
from companion.settings import WebSettings
from companion.web.server.serving import Server
from tests.appliance.secure import Machine, haproxy
from tests.browser.conftest import PATIENCE_MS, PHONE, SCREEN
from tests.companion.web.conftest import WebHome
from tests.conftest import ARGUMENTS, chromium_path
from tests.guides import SKIPPED

HIDDEN = """hidden => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
"""A headless browser hides no page: this makes the page's scripts believe that it does."""


CALLED = """window.called = [];
ServiceWorkerRegistration.prototype.showNotification = async (words, { body, tag }) => {
    window.called.push([words, body, tag]);
};"""
"""A headless browser shows no notification: this records what one would show."""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "tls")
    machine.tls.switch_on(80, datetime.now(UTC))
    return machine


@pytest.fixture
def trusting(driver: Playwright, machine: Machine, tmp_path: Path) -> Iterator[Browser]:
    """A browser that trusts the machine's authority, as one does after the guidance of `/trust`."""
    store = tmp_path / "home" / ".pki" / "nssdb"
    store.mkdir(parents=True)
    certutil = shutil.which("certutil")
    assert certutil, "tests/system-packages installs libnss3-tools"
    words = [certutil, "-d", f"sql:{store}", "-A", "-n", "templo", "-t", "C,,", "-i", str(machine.tls.authority)]
    subprocess.run(words, check=True, capture_output=True, timeout=300)
    environment = {"HOME": str(tmp_path / "home")}
    browser = driver.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS, env=environment)
    yield browser
    browser.close()


@pytest.fixture
def place(tmp_path: Path, machine: Machine) -> Iterator[tuple[WebHome, str]]:
    """The companion behind haproxy, and its address over TLS."""
    home = WebHome(f"sqlite:///{tmp_path / 'companion.sqlite'}")
    home.hub.cap = 16
    home.configure(authority=str(machine.tls.authority))
    server = Server(home.app, WebSettings("127.0.0.1", 0, streams=16, proxy="127.0.0.1"))
    thread = threading.Thread(target=server.serve)
    thread.start()
    with haproxy(machine, server.port) as port:
        yield home, f"https://localhost:{port}"
    home.hub.close()
    server.stop()
    thread.join(60)
    home.store.close()


@pytest.fixture
def table(place: tuple[WebHome, str]) -> tuple[Table, list[str]]:
    services = place[0].services
    table = services.tables.open("mexica", "Sunday", 2, "temple_only", {})
    keys = [services.seats.sit(table.id, table.code, seat, seat.title()) for seat in table.charter.seats]
    services.seats.begin(table.id, keys[0])
    return services.tables.get(table.id), keys


def opened(browser: Browser, address: str, table: Table, layout: str = "", key: str = "") -> Page:
    context: BrowserContext = browser.new_context(viewport=PHONE if not layout else SCREEN, locale="en")
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(SKIPPED)
    context.add_init_script(CALLED)
    if key:
        context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": address}])
    context.grant_permissions(["notifications", "screen-wake-lock"], origin=address)
    page = context.new_page()
    page.goto(f"{address}/t/{table.id}{layout}")
    page.wait_for_selector("html[data-scripted]", state="attached")
    return page


def end_turn(home: WebHome, table: Table, key: str) -> None:
    now = home.services.tables.get(table.id)
    answer = home.services.play.move(
        table.id, key, now.on_turn or "", Move("end_turn"), now.version, f"r{now.version}"
    )
    assert answer.accepted


def test_a_browser_that_trusts_the_authority_finds_a_secure_page_that_it_can_install(
    trusting: Browser, place: tuple[WebHome, str]
) -> None:
    page = trusting.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{place[1]}/trust")
    expect(page.locator("[role=status]")).to_contain_text("this device trusts the temple")
    assert page.evaluate("isSecureContext")
    errors = page.context.new_cdp_session(page).send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error["errorId"] for error in errors if error["errorId"] != "in-incognito"] == []


def test_a_form_is_accepted_over_tls(trusting: Browser, place: tuple[WebHome, str]) -> None:
    page = trusting.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(place[1])
    page.click('button[value="es"]')
    expect(page.locator("html")).to_have_attribute("lang", "es")


def test_a_device_that_wants_it_is_called_for_a_turn_while_its_page_is_in_the_background(
    trusting: Browser, place: tuple[WebHome, str], table: tuple[Table, list[str]]
) -> None:
    (home, address), (now, keys) = place, table
    page = opened(trusting, address, now, key=keys[1])
    switch = page.locator("[data-notify]")
    page.evaluate(HIDDEN, True)
    page.evaluate(HIDDEN, False)
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    end_turn(home, now, keys[0])
    expect(page).to_have_title("Your turn · Sunday")
    assert page.evaluate("window.called") == []
    end_turn(home, now, keys[1])
    expect(page).not_to_have_title("Your turn · Sunday")
    page.evaluate(HIDDEN, True)
    end_turn(home, now, keys[0])
    expect(page).to_have_title("Your turn · Sunday")
    page.wait_for_function("window.called.length")
    assert page.evaluate("window.called") == [["Your turn", "Sunday", f"/t/{now.id}"]]


def test_a_device_that_did_not_ask_for_it_is_not_called_and_rests_in_the_background(
    trusting: Browser, place: tuple[WebHome, str], table: tuple[Table, list[str]]
) -> None:
    (home, address), (now, keys) = place, table
    page = opened(trusting, address, now, key=keys[1])
    page.evaluate(HIDDEN, True)
    end_turn(home, now, keys[0])
    page.evaluate(HIDDEN, False)
    expect(page).to_have_title("Your turn · Sunday")
    assert page.evaluate("window.called") == []


def test_a_table_screen_stays_on_by_itself_and_a_phone_where_somebody_wants_it(
    trusting: Browser, place: tuple[WebHome, str], table: tuple[Table, list[str]]
) -> None:
    address, now = place[1], table[0]
    screen = opened(trusting, address, now, "/screen")
    expect(screen.locator("html")).to_have_attribute("data-awake", "on")
    expect(screen.locator(".device-switches button:visible")).to_have_count(0)
    phone = opened(trusting, address, now, key=table[1][0])
    expect(phone.locator("html")).to_have_attribute("data-awake", "off")
    phone.click("[data-awake].button")
    expect(phone.locator("html")).to_have_attribute("data-awake", "on")
    phone.evaluate(HIDDEN, True)
    expect(phone.locator("html")).to_have_attribute("data-awake", "off")
    phone.evaluate(HIDDEN, False)
    expect(phone.locator("html")).to_have_attribute("data-awake", "on")


def test_over_plain_http_elsewhere_a_phone_is_offered_neither(
    trusting: Browser, place: tuple[WebHome, str], table: tuple[Table, list[str]]
) -> None:
    context = trusting.new_context(viewport=PHONE)
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script("Object.defineProperty(window, 'isSecureContext', { value: false });")
    context.add_init_script("delete Navigator.prototype.wakeLock;")
    page = context.new_page()
    page.goto(f"{place[1]}/t/{table[0].id}")
    page.wait_for_selector("html[data-scripted]", state="attached")
    expect(page.locator(".device-switches button:visible")).to_have_count(0)

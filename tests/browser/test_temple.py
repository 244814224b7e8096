"""A temple's page, end to end: a real broker, the real programs, a scenario for each diagnosis, a real browser."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.brokers import Broker, free_port, mosquitto
from tests.browser.conftest import Device
from tests.controller.program import ROOT, Temple, environment
from tests.waiting import eventually

KNOWN_S = 180
"""A temple is known once its first status has come by way of the broker."""

SCENARIOS = ROOT / "controller" / "simulation" / "scenarios"

T, H, BOTH = "tlaloc", "huitzilopochtli", ""
DIAGNOSES = (
    ("unplugged-emitter", "dark", T, "dark", "Push the emitter’s plug in firmly, and remove anything that blocks"),
    ("unplugged-receiver", "both_unproved", BOTH, "unproved", "Drop a token through each. If nothing happens"),
    ("glitches", "unproved", H, "clear", "Drop a token through it. If nothing happens here, push the receiver’s"),
    ("switched-no-receiver", "no_answer", T, "mute", "Push the receiver’s plug in firmly, and shade it"),
    ("switched-no-emitter", "no_light", T, "dark", "Remove anything in front of it, push the emitter’s plug in"),
    ("no-power", "both_dark", BOTH, "dark", "Check what powers both emitters: the supply and its plug."),
    ("reversed", "reversed", T, "reversed", "Set beams.broken in the temple’s settings from low to high"),
    ("sunlight", "flicker", T, "flicker", "Shade it from the sun and from lamps, then push its plug in firmly."),
    ("weak-supply", "weak_supply", BOTH, "flicker", "Check the power supply of both: use a stronger one"),
    ("sunlight-passed", "flickered", T, "clear", "Shade it from the sun, push its plug in firmly, and check that"),
    ("blocked", "blocked", T, "jammed", "Clear the chute. If it is clear, push the emitter’s plug in firmly."),
    ("hopping", "hop", T, "clear", "Check that the chute and the roof are seated."),
    ("handfuls", "overlap", T, "clear", "Drop tokens one at a time, or sweep them from a bowl over the slot:"),
    ("other-tokens", "outside_band", T, "clear", "Calibrate it here with the tokens that you play with."),
    ("missed-edges", "missed_edges", T, "clear", "Check what else keeps the machine busy, and shorten the sensor’s"),
    ("deaf", "deaf", T, "deaf", "Restart the temple. If this happens again, use another pin"),
    ("deaf-healed", "was_deaf", T, "clear", "Nothing, unless it happens again."),
)  # fmt: skip
"""A scenario, what the page finds in it and of which slot, how the beam is drawn, and what to do about it."""

QUIET_MS = 1_100
"""After a beam's last change a temple does not switch its emitters for a second."""

SLIP_MS = 700
"""After a tap the page takes no other for that long where something else came to stand under the finger."""

AT_ONCE = 5
"""Scenarios that play while one is looked at: they take real time, and a temple costs little of it."""


@dataclass
class Installation:
    """A broker and a companion as programs, and the temples that a test starts."""

    folder: Path
    broker: Broker
    port: int
    companion: subprocess.Popen[bytes]
    temples: dict[str, Temple]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def temple(self, name: str, scenario: str = "", *words: str) -> Temple:
        """Start a temple, with a scenario if one is named, and no wait for it."""
        simulated = ("--simulate", str(SCENARIOS / f"{scenario}.toml")) if scenario else ()
        temple = Temple(self.folder / name, self.broker.port, "--temple", name, *simulated, *words)
        self.temples[name] = temple.start()
        return temple

    def end(self, name: str) -> None:
        self.temples.pop(name).kill()

    def open(self, page: Page, name: str) -> None:
        """Open a temple's page, once it has connected to the companion."""
        eventually(lambda: self._knows(name), KNOWN_S)
        page.goto(f"{self.address}/temples/{name}")
        page.wait_for_selector("html[data-scripted]", state="attached")

    def _knows(self, name: str) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/temples/{name}", timeout=10):
                return True
        except urllib.error.HTTPError as error:
            error.close()
            return False


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("installation")
    with mosquitto(folder) as broker:
        port, log = free_port(), folder / "companion.log"
        words = ["--host", "127.0.0.1", "--port", str(port), "--state", str(folder / "companion")]
        with log.open("wb") as out:
            running = subprocess.Popen(
                [sys.executable, "-m", "companion", "run", *words, "--broker", f"127.0.0.1:{broker.port}"],
                stdout=out, stderr=out, env=environment(),
            )  # fmt: skip
        installation = Installation(folder, broker, port, running, {})
        try:
            eventually(lambda: b"ready http" in log.read_bytes() or running.poll() is not None, 60)
            assert running.poll() is None, log.read_text()
            yield installation
        finally:
            for name in list(installation.temples):
                installation.end(name)
            running.send_signal(signal.SIGTERM)
            running.wait(30)


def tap(page: Page, name: str) -> None:
    """Tap a button as a person does: not in the same breath as another."""
    page.wait_for_timeout(SLIP_MS)
    page.get_by_role("button", name=name).click()


def todo(page: Page, code: str, god: str) -> Locator:
    return page.locator(f'.todo[data-code="{code}"][data-of="{god}"]')


def test_each_diagnosis_is_shown_with_its_mend(installation: Installation, device: Callable[..., Device]) -> None:
    """One after the other on one page, while the next ones already play."""
    phone = device()
    for number, (scenario, code, god, drawn, words) in enumerate(DIAGNOSES):
        for following, *_ in DIAGNOSES[number : number + AT_ONCE]:
            if following not in installation.temples:
                installation.temple(following, following)
        installation.open(phone.page, scenario)
        found = todo(phone.page, code, god)
        expect(found.locator(".todo-do")).to_contain_text(words)
        expect(found.locator(".todo-seen")).not_to_contain_text("does not know")
        expect(phone.page.locator(f'.shrine.god-tlaloc[data-beam="{drawn}"]')).to_have_count(1)
        installation.end(scenario)


def test_a_temple_that_is_well_has_nothing_to_do(installation: Installation, device: Callable[..., Device]) -> None:
    """Switched emitters prove both beams without a token; the self-test asks them again, and says so plainly."""
    installation.temple("switched", "switched")
    phone = device()
    installation.open(phone.page, "switched")
    expect(phone.page.locator(".now-state")).to_contain_text("Working")
    expect(phone.page.locator(".todo-nothing")).to_have_text("Nothing. Both beams are clear, and each is proved.")
    expect(phone.page.locator(".emitters")).to_contain_text("switches its emitters to prove its beams")
    phone.page.wait_for_timeout(QUIET_MS)
    tap(phone.page, "Self-test")
    answered = phone.page.locator('.request[data-request="selftest"][data-stage="answered"]')
    expect(answered).to_contain_text("The emitters were switched off for a few milliseconds")
    expect(answered.locator(".report-well")).to_have_count(2)
    expect(answered.get_by_text("answered", exact=True)).to_have_count(2)
    installation.end("switched")
    expect(phone.page.locator(".now-state")).to_contain_text("Connection lost")
    expect(phone.page.locator(".shrines.away")).to_have_count(1)
    expect(phone.page.get_by_role("button", name="Self-test")).to_be_disabled()


def test_a_calibration_counts_along_proposes_and_changes_nothing_until_it_is_accepted(
    installation: Installation, device: Callable[..., Device]
) -> None:
    temple = installation.temple("bench")
    phone, other = device(), device(language="es")
    installation.open(phone.page, "bench")
    installation.open(other.page, "bench")
    phone.page.get_by_text("Calibrate", exact=True).click()
    phone.page.select_option('.calibrate-form select[name="god"]', "tlaloc")
    phone.page.fill('.calibrate-form input[name="count"]', "3")
    tap(phone.page, "Start measuring")
    expect(phone.page.locator(".request-lead")).to_contain_text("Drop 3 tokens into the slot")
    temple.press("tt")
    expect(phone.page.locator(".fell")).to_have_text("2 of 3 have fallen")
    expect(other.page.locator(".fell")).to_have_text("Han caído 2 de 3")
    temple.press("t")
    request = phone.page.locator('.request[data-request="calibrate"][data-stage="answered"]')
    expect(request).to_contain_text("Nothing changes until you accept.")
    expect(request.locator("tr.changed", has_text="two tokens above")).to_contain_text("18 ms")
    expect(phone.page.locator(".plot-band")).to_have_count(0)
    tap(phone.page, "Use these from now on")
    expect(phone.page.locator('.request[data-request="keep"]')).to_contain_text("Saved: the temple uses these")
    temple.press("t")
    expect(phone.page.locator(".god-tlaloc .plot-band").first).to_be_visible()
    expect(phone.page.locator(".plot-note")).to_contain_text("learned: 7.2 to 18 ms")
    numbers = phone.page.locator(".plot-number").evaluate_all("found => found.map((each) => each.getBBox().x)")
    assert min(numbers) > 2, "a number and its unit touch the frame of their plot"
    expect(phone.page.locator(".shrine.god-tlaloc .shrine-total")).to_have_text("1 token in all")  # tests never count
    tap(phone.page, "Start measuring")
    expect(phone.page.locator(".fell")).to_have_text("0 of 3 have fallen")
    tap(phone.page, "Cancel the calibration")
    expect(phone.page.locator(".request")).to_contain_text("Nothing was changed.")


def test_a_test_token_is_followed_to_the_page_and_scores_nothing(
    installation: Installation, device: Callable[..., Device]
) -> None:
    """From the table that plays with the temple: who sits there may ask, a stranger may not."""
    if "bench" not in installation.temples:
        installation.temple("bench")
    phone, stranger = device(), device()
    installation.open(stranger.page, "bench")
    table, code = seated(installation, phone.page, "bench")
    installation.open(phone.page, "bench")
    expect(phone.page.locator(".ask-off")).to_contain_text("plays with this temple")
    tap(phone.page, "Test token: Huitzilopochtli")
    way = phone.page.locator('.request[data-request="drop"] .way-done')
    expect(way).to_have_count(3)
    expect(way.last).to_contain_text("It does not score.")
    expect(phone.page.locator(".shrine.god-huitzilopochtli .shrine-total")).to_have_text("0 tokens in all")
    stranger.page.reload()
    tap(stranger.page, "Self-test")
    expect(stranger.page.locator("#notice")).to_contain_text("only a phone that sits at its table")
    stranger.complaints.clear()  # a browser reports to its console the 403 that was asked for
    phone.page.goto(f"{installation.address}{table}")
    expect(phone.page.locator('[data-piece="count-huitzilopochtli"]').first).to_have_attribute("value", "0")
    phone.page.get_by_role("link", name="More about the temple").click()
    expect(phone.page.locator(".shrines")).to_be_visible()
    assert len(code) == 6


def seated(installation: Installation, page: Page, temple: str) -> tuple[str, str]:
    """Set a table that this temple serves, take every seat with this phone and begin; returns its path and code."""
    page.goto(f"{installation.address}/tables/new?game=mexica&preset=temple_only&temple={temple}")
    page.click("#new-form .button-main")
    page.wait_for_url("**/j/*")
    code = page.url.rsplit("/", 1)[1]
    page.click(".share summary")
    page.click(".share-form button")
    page.wait_for_url("**/t/*")
    page.wait_for_selector("html[data-scripted]", state="attached")
    path = page.url.removeprefix(installation.address)
    page.click(".begin-form button")
    expect(page.locator('[data-piece="count-huitzilopochtli"]').first).to_be_visible()
    return path, code


def test_a_temple_that_does_not_answer_is_said_to_be_silent(
    installation: Installation, device: Callable[..., Device]
) -> None:
    installation.temple("mute")
    phone = device()
    installation.open(phone.page, "mute")
    expect(phone.page.locator(".now-state")).to_contain_text("Working")
    os.kill(installation.temples["mute"].pid, signal.SIGSTOP)
    tap(phone.page, "Who is there?")
    expect(phone.page.locator(".request")).to_contain_text("Sent. Waiting for the answer…")
    expect(phone.page.locator(".request")).to_contain_text("The temple has not answered.")
    os.kill(installation.temples["mute"].pid, signal.SIGCONT)
    expect(phone.page.locator(".request")).to_contain_text("Software")  # late, and still an answer


def test_the_page_works_without_a_script(installation: Installation, device: Callable[..., Device]) -> None:
    installation.temple("plain")
    phone = device(java_script_enabled=False)
    eventually(lambda: installation._knows("plain"), KNOWN_S)
    phone.page.goto(f"{installation.address}/temples/plain")
    tap(phone.page, "Who is there?")
    expect(phone.page.locator(".request")).to_contain_text("Software")  # the page asks again by itself while it waits

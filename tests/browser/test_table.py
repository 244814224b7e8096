"""A table as its players meet it: a real browser, a real companion, tokens that fall while somebody looks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from flask import request
from playwright.sync_api import Route, ViewportSize, expect

from companion.model.table import ServiceError
from tests.browser.conftest import PHONE, SCREEN, Companion, Device
from tests.browser.layout import DRAWN
from tests.waiting import eventually

Make = Callable[..., Device]


def test_a_token_that_falls_is_seen_by_everybody(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone, watcher, screen = device(), device(language="es"), device(SCREEN)
    phone.join(companion, table, "east", "Ana")
    watcher.watch(companion, table)
    screen.watch(companion, table, "/screen")
    companion.drop("tlaloc")
    companion.drop("huitzilopochtli", 2)
    for each in (phone, watcher, screen):
        expect(each.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("1")
        expect(each.page.locator('[data-piece="count-huitzilopochtli"]').first).to_have_text("2")
    expect(phone.page.locator(".log")).to_contain_text("Ana gave 1 to Tlaloc")
    expect(watcher.page.locator(".log")).to_contain_text("Ana entregó 1 a Tláloc")


def test_a_family_sets_a_table_joins_and_begins(companion: Companion, device: Make) -> None:
    host, guest = device(), device()
    host.page.goto(companion.address)
    host.page.click("text=Set up a table")
    host.page.fill('input[name="title"]', "Sunday")
    host.page.click(".new-form button[type=submit]")
    host.page.fill('.sit-form input[name="name"]', "Ana")
    host.page.click(".sit-form button")
    host.listening()
    code = host.page.locator(".invite .code").inner_text()
    guest.page.goto(companion.address)
    guest.page.fill('.join-form input[name="code"]', code)
    guest.page.click(".join-form button")
    guest.page.fill('.sit-form input[name="name"]', "Ben")
    guest.page.click(".sit-form button")
    guest.listening()
    expect(host.page.locator(".chairs")).to_contain_text("Ben")
    host.page.click(".begin-form button")
    for each in (host, guest):
        expect(each.page.locator("body")).to_have_class(re.compile("phase-running"))
        expect(each.page.locator(".turn-whose")).to_be_visible()


def test_a_table_that_is_opened_again_fetches_only_its_page_and_its_stream(
    companion: Companion, device: Make
) -> None:
    asked: list[str] = []
    companion.home.app.before_request(lambda: asked.append(request.path))
    table = companion.table()
    stream = f"/t/{table.id}/stream"  # which the script asks for once the page is there
    phone = device(font="narrow", fresh=True)
    phone.watch(companion, table)
    expect(phone.page.locator("#live")).to_have_attribute("data-version", re.compile(r"\d"))
    phone.page.wait_for_load_state("load")
    eventually(lambda: stream in asked)
    first, asked[:] = len(asked), []
    phone.watch(companion, table)
    phone.page.wait_for_load_state("load")
    eventually(lambda: stream in asked)
    assert first > 5
    assert sorted(asked) == [f"/t/{table.id}", stream]


@pytest.mark.parametrize(("god", "end"), [("tlaloc", "flood"), ("huitzilopochtli", "war")])
def test_turns_are_ended_by_taps_to_the_end_of_a_game_with_a_reload_in_the_middle(
    companion: Companion, device: Make, god: str, end: str
) -> None:
    table = companion.table(2, apocalypse_tokens=13)
    phone, screen = device(), device(SCREEN)
    phone.share(companion, table)
    screen.watch(companion, table, "/screen")
    companion.drop(god, 13)
    expect(phone.page.locator(f'[data-piece="count-{god}"]').first).to_have_text("13")
    for turn in range(14):
        if turn == 3:
            phone.page.reload()
            phone.listening()
        if 3 < turn < 12:  # as on a phone that is not looked at
            now = companion.home.services.tables.get(table.id)
            assert companion.home.play(now, phone.key(table), now.on_turn or "", "end_turn").accepted
            version = companion.home.services.tables.get(table.id).version
            expect(phone.page.locator("#live")).to_have_attribute("data-version", str(version))
            continue
        # Each tap is for the button as it reads now: a second one in a hurry would be taken for a slip.
        button = phone.page.locator(".end-turn button")
        words = button.inner_text()
        button.click()
        if turn < 13:
            expect(button).not_to_have_text(words)
            phone.page.wait_for_timeout(620)
    expect(phone.page.locator("#notice")).to_contain_text("Tap again to confirm")  # the turn that ends the game
    expect(button).to_have_attribute("data-hint", f"{words}\nTap again to confirm")
    button.click()
    for each in (phone, screen):
        expect(each.page.locator(f".ending-{end}")).to_be_visible()
    outcome = companion.home.services.tables.get(table.id).state.outcome
    assert outcome.kind == end


def test_a_reload_shows_the_current_state(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device()
    phone.join(companion, table, "east", "Ana")
    companion.drop("tlaloc", 3)
    phone.page.reload()
    assert phone.count("tlaloc") == 3
    expect(phone.page.locator(".chair.mine")).to_contain_text("Ana")


def test_a_double_tap_is_one_move(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device()
    phone.share(companion, table)
    before = companion.home.services.tables.get(table.id).version
    phone.page.dblclick(".end-turn button")
    expect(phone.page.locator(".turn-note")).to_contain_text("North")
    phone.page.wait_for_timeout(300)
    assert companion.home.services.tables.get(table.id).version == before + 1


WATCHED = """(held) => {
  for (const part of ["group", "old", "new"])
    document.styleSheets[0].insertRule(`::view-transition-${part}(*) { animation-duration: 4s !important }`);
  const start = document.startViewTransition.bind(document);
  window.transitions = [];
  document.startViewTransition = (put) => {
    const transition = start(put);
    transitions.push("started");
    if (held) transition.ready.then(() => document.getAnimations().forEach((each) => each.pause()));
    transition.finished.then(() => transitions.push("finished"), () => transitions.push("rejected"));
    return transition;
  };
}"""


def test_taps_during_an_animation_are_not_lost(companion: Companion, device: Make) -> None:
    table = companion.table(2, apocalypse_tokens=13)
    companion.drop("tlaloc", 13)
    phone = device(motion="no-preference")
    phone.share(companion, table)
    phone.page.evaluate(WATCHED, True)
    phone.page.click(".end-turn button")
    expect(phone.page.locator(".turn-note")).to_contain_text("West")
    phone.page.wait_for_timeout(620)
    phone.page.click(".end-turn button")
    expect(phone.page.locator('[data-piece="countdown"]')).to_have_text("12")
    phone.page.evaluate(DRAWN)  # a tap that is forced does not wait until what it meets stands still
    phone.page.locator("#drawer > summary").click(force=True)
    assert phone.page.locator("#drawer").get_attribute("open") is not None
    assert phone.page.evaluate("transitions") == ["started"]
    phone.page.evaluate("document.getAnimations().forEach((each) => each.finish())")
    phone.page.wait_for_function("() => transitions.length > 1")
    assert phone.page.evaluate("transitions") == ["started", "finished"]
    assert phone.page.evaluate("document.querySelectorAll('[style*=view-transition-name]').length") == 0


def test_a_burst_during_an_animation_ends_with_the_last_state(companion: Companion, device: Make) -> None:
    table = companion.table(2, apocalypse_tokens=13)
    companion.drop("tlaloc", 13)
    phone = device(motion="no-preference")
    token = companion.home.seated(table)
    phone.watch(companion, table)
    phone.page.evaluate(WATCHED)
    for seat in ("east", "west", "east"):
        if seat == "east":
            companion.home.play(table, token, seat, "end_turn")
        else:
            companion.home.play(table, companion.home.seated(table, "west", "Walt"), seat, "end_turn")
    companion.drop("huitzilopochtli", 5)
    expect(phone.page.locator('[data-piece="count-huitzilopochtli"]').first).to_have_text("5")
    phone.page.wait_for_timeout(400)
    assert phone.count("huitzilopochtli") == 5
    expect(phone.page.locator('[data-piece="countdown"]')).to_have_text("11")


def test_nothing_is_animated_where_motion_is_reduced(companion: Companion, device: Make) -> None:
    table = companion.table(2, apocalypse_tokens=13)
    companion.drop("tlaloc", 13)
    phone = device(motion="reduce")
    phone.share(companion, table)
    phone.page.evaluate(WATCHED)
    for seat in ("West", "East"):
        phone.page.click(".end-turn button")
        expect(phone.page.locator(".turn-note")).to_contain_text(seat)
        phone.page.wait_for_timeout(620)
    expect(phone.page.locator('[data-piece="countdown"]')).to_have_text("12")
    assert phone.page.evaluate("transitions") == []


def test_a_costly_move_asks_for_a_second_tap(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device()
    phone.join(companion, table, "east", "Ana")
    phone.page.click("#drawer > summary")
    settle = phone.page.locator(".settle button").first
    settle.click()
    expect(phone.page.locator("#notice")).to_have_text(re.compile("the game ends.*Tap again to confirm", re.DOTALL))
    assert companion.home.services.tables.get(table.id).phase == "running"
    companion.drop("tlaloc")
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("1")
    expect(settle).to_have_attribute("data-armed", "")
    settle.click()
    expect(phone.page.locator(".ending-settled")).to_be_visible()


def test_what_is_open_and_focused_stays_so_when_a_token_falls(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device()
    phone.join(companion, table, "east", "Ana")
    phone.page.click("#drawer > summary")
    button = phone.page.locator('.tap-small button:has-text("gives 5 tokens to Tlaloc")')
    button.focus()
    companion.drop("tlaloc")
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("1")
    expect(button).to_be_focused()
    expect(phone.page.locator("#drawer")).to_have_attribute("open", "")


def test_a_page_without_a_script_plays_as_well(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device(java_script_enabled=False)
    phone.page.goto(f"{companion.address}/j/{table.code}")
    phone.page.fill('.sit-form input[name="name"]', "Ana")
    phone.page.click(".sit-form button")
    phone.page.click(".end-turn button")
    expect(phone.page.locator(".log")).to_contain_text("Ana ended the turn")


def test_a_cut_connection_is_mended_and_nothing_is_missed(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device()
    phone.join(companion, table, "east", "Ana")
    port = companion.server.port
    companion.stop()
    companion.drop("tlaloc", 2)
    expect(phone.page.locator("#notice")).to_have_text("Connection lost. Trying again…")
    companion.home.hub = type(companion.home.hub)(boot="another")
    companion.home.restart()
    again = Companion.started(companion.home, port)
    companion.server, companion.thread = again.server, again.thread
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("2")
    expect(phone.page.locator("#notice")).to_be_empty(timeout=10_000)  # good news goes away by itself
    phone.complaints.clear()  # the browser itself complains of each refused connection


def test_a_connection_that_dies_in_silence_shows_what_is_stale_until_the_page_is_current(
    companion: Companion, device: Make
) -> None:
    table = companion.table()
    phone = device()
    phone.page.clock.install()
    phone.join(companion, table, "east", "Ana")
    phone.listening()
    notice = phone.page.locator("#notice")
    expect(notice).to_be_empty()
    phone.page.context.set_offline(True)  # an open stream stays open, and a new one is refused
    phone.page.locator(".end-turn button").first.click()
    expect(notice).to_have_text("That did not arrive. Check the connection and tap again.")
    phone.page.clock.run_for(21_000)
    expect(notice).to_contain_text("The board, the tokens and whose turn it is are as they were at")
    phone.hold_clock()
    phone.page.context.set_offline(False)  # at once, although the next attempt is never due
    expect(notice).to_have_text("Connected again.")
    phone.page.clock.run_for(5_000)
    expect(notice).to_be_empty(timeout=30_000)
    companion.drop("tlaloc")
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("1")
    phone.complaints.clear()  # the browser itself complains of each refused connection


def test_an_attempt_that_nobody_answers_is_made_anew_at_once_when_the_network_is_back(
    companion: Companion, device: Make
) -> None:
    table = companion.table()
    phone = device()
    phone.page.clock.install()
    asked: list[Route] = []

    def answer(route: Route) -> None:
        asked.append(route)
        if len(asked) > 1:
            route.continue_()

    phone.page.route("**/stream*", answer)
    with phone.page.expect_request("**/stream*"):
        phone.watch(companion, table)
    phone.hold_clock()
    phone.page.evaluate("dispatchEvent(new Event('online'))")
    companion.drop("tlaloc")
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("1")


def test_a_network_that_refuses_one_more_attempt_after_it_is_back_costs_no_pause(
    companion: Companion, device: Make
) -> None:
    table = companion.table()
    phone = device()
    phone.page.clock.install()
    refusals = [1000]

    def answer(route: Route) -> None:
        if refusals[0]:
            refusals[0] -= 1
            route.abort()
        else:
            route.continue_()

    phone.page.route("**/stream*", answer)
    phone.watch(companion, table)
    expect(phone.page.locator("#notice")).to_contain_text("Connection lost.")
    phone.hold_clock()
    refusals[0] = 1
    phone.page.evaluate("dispatchEvent(new Event('online'))")
    expect(phone.page.locator("#notice")).to_have_text("Connected again.")
    phone.complaints.clear()  # the browser itself complains of each refused connection


def test_a_page_that_finds_too_many_open_says_so_and_is_current_when_there_is_room(
    companion: Companion, device: Make
) -> None:
    table = companion.table()
    phone = device()
    room, companion.home.hub.cap = companion.home.hub.cap, 0
    phone.watch(companion, table)
    notice = phone.page.locator("#notice")
    expect(notice).to_have_text("Too many pages are open; this one tries again soon.")
    companion.home.hub.cap = room
    expect(notice).to_be_empty()
    companion.drop("tlaloc")
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("1")
    phone.complaints.clear()  # the browser itself complains of each refused connection


def test_a_page_whose_stream_cannot_read_the_store_stays_says_so_and_goes_on_later(
    companion: Companion, device: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = companion.table()
    phone = device()
    phone.join(companion, table, "east", "Ana")
    notice = phone.page.locator("#notice")

    def failing(*_: object) -> None:
        raise ServiceError("store_failing", reason="disk I/O error")

    with monkeypatch.context() as broken:
        broken.setattr(companion.home.app.extensions["site"], "rendered", failing)
        companion.drop("tlaloc")
        expect(notice).to_contain_text("The board, the tokens and whose turn it is are as they were at")
        phone.page.wait_for_timeout(2000)  # until it has tried again, and again
        expect(notice).to_contain_text("The board, the tokens and whose turn it is are as they were at")
        expect(phone.page.locator(".end-turn button").first).to_be_visible()
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("1")
    expect(notice).to_be_empty()


def test_a_stale_tap_says_so_and_shows_how_it_stands(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone, other = device(), device()
    phone.join(companion, table, "east", "Ana")
    other.join(companion, table, "west", "Walt")
    phone.page.evaluate("document.getElementById('live').dataset.version = 1")
    phone.page.click(".end-turn button")
    expect(phone.page.locator("#notice")).to_contain_text("The table changed")
    assert companion.home.services.tables.get(table.id).on_turn == "east"
    phone.complaints.clear()  # the browser reports every 409


def test_a_hidden_page_gives_its_stream_back(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device()
    phone.watch(companion, table)
    hidden = "Object.defineProperty(document, 'hidden', {configurable: true, get: () => %s});"
    phone.page.evaluate(hidden % "true" + "document.dispatchEvent(new Event('visibilitychange'))")
    companion.drop("tlaloc")
    phone.page.wait_for_timeout(200)
    assert phone.count("tlaloc") == 0
    phone.page.evaluate(hidden % "false" + "document.dispatchEvent(new Event('visibilitychange'))")
    expect(phone.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("1")


def test_a_name_with_markup_is_only_text_for_a_browser(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone, watcher = device(), device()
    watcher.watch(companion, table)
    phone.join(companion, table, "east", "<img src=x onerror=a()>")
    expect(watcher.page.locator(".log")).to_contain_text("<img src=x onerror=a()>")
    assert watcher.page.locator("main img").count() == 0


def test_two_tables_with_two_temples_do_not_mix(companion: Companion, device: Make) -> None:
    one, other = companion.table(temple="one"), companion.table(temple="other")
    first, second = device(), device()
    first.watch(companion, one)
    second.watch(companion, other)
    companion.drop("tlaloc", 2, temple="one")
    companion.drop("huitzilopochtli", 3, temple="other")
    expect(first.page.locator('[data-piece="count-tlaloc"]').first).to_have_text("2")
    expect(second.page.locator('[data-piece="count-huitzilopochtli"]').first).to_have_text("3")
    assert (first.count("huitzilopochtli"), second.count("tlaloc")) == (0, 0)


def test_no_page_breaks_its_own_content_policy(companion: Companion, device: Make) -> None:
    table = companion.table()
    phone = device(motion="no-preference")
    phone.page.add_init_script(
        "window.broken = [];"
        "addEventListener('securitypolicyviolation', e => broken.push(e.violatedDirective + e.blockedURI))"
    )
    for path in ("/", "/tables/new", "/temples", "/temples/table", f"/t/{table.id}", f"/t/{table.id}/screen"):
        phone.page.goto(companion.address + path)
        companion.drop("tlaloc")
        phone.page.wait_for_timeout(150)
        assert json.loads(phone.page.evaluate("JSON.stringify(broken)")) == [], path


def test_a_phone_whose_network_taps_too_fast_is_asked_to_wait_and_then_goes_on(
    companion: Companion, device: Make
) -> None:
    table = companion.table(2)
    phone = device()
    phone.join(companion, table, "east", "Ana")
    another = companion.home.browser()  # behind the same address
    while another.post("/language").status_code != 429:
        pass
    phone.page.click(".end-turn button")
    expect(phone.page.locator("#notice")).to_contain_text("Too many taps from here at once")
    phone.complaints.clear()  # the browser reports every 429
    companion.home.seconds += 60
    phone.page.wait_for_timeout(700)  # longer than what counts as a slip of the same finger
    phone.page.click(".end-turn button")
    expect(phone.page.locator("#notice")).to_be_empty()
    assert companion.home.services.tables.get(table.id).on_turn != "east"


@pytest.mark.parametrize("window", [PHONE, {"width": 360, "height": 640}, {"width": 780, "height": 360}], ids=str)
def test_each_god_stands_at_the_outer_edge_of_its_side_and_no_number_on_the_lake(
    companion: Companion, device: Make, window: ViewportSize
) -> None:
    table = companion.table()
    phone = device(window)
    phone.join(companion, table, "east", "Ana")
    companion.drop("tlaloc", 12)
    expect(phone.page.locator('[data-piece="count-tlaloc"]')).to_have_text("12")
    lake = phone.page.locator(".lake").bounding_box()
    left, right = (side.locator(".god").bounding_box() for side in phone.page.locator(".region-tally .side").all())
    assert lake
    assert left
    assert right
    middle = lake["x"] + lake["width"] / 2
    assert left["x"] + left["width"] < middle - lake["width"] / 4
    assert right["x"] > middle + lake["width"] / 4
    for count in phone.page.locator(".region-tally .count data").all():
        box = count.bounding_box()
        assert box
        beside = box["x"] + box["width"] <= lake["x"] + 1 or box["x"] >= lake["x"] + lake["width"] - 1
        assert beside or box["y"] >= lake["y"] + lake["height"] - 1

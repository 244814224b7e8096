"""The organiser's page: closed without its code; with it, everything at a glance, messages to all, tables ended."""

from __future__ import annotations

import re
import threading
import time
from datetime import timedelta
from threading import Event

import pytest

from companion.adapters import installation, message_end
from companion.adapters.installation import BrokerState, Companion, Installation
from companion.adapters.message_end import MessageEnd
from companion.adapters.news import Hub
from companion.model.table import ServiceError, Table
from companion.service.messages import LONGEST, MessageService
from companion.service.messages import TOPIC as MESSAGE
from companion.service.workspace import Workspace
from companion.web.routes.organiser import _overview
from companion.web.site import site
from templo import contract
from templo.broker import Address
from tests.brokers import free_port
from tests.companion.web.conftest import ORGANISER, OWNER, Browser, WebHome, text_of

POSTS = ("/organiser/message", "/organiser/message/end")


@pytest.fixture
def organiser(home: WebHome) -> Browser:
    """A browser in which the organiser's code was typed."""
    browser = home.browser()
    assert browser.post("/organiser/code", {"code": "hgfe-dcba"}).status_code == 303
    return browser


def shown(home: WebHome, table_id: str, layout: str = "") -> str:
    """Return the message that a page of a table shows."""
    page = home.browser().get(f"/t/{table_id}{layout}").get_data(as_text=True)
    found = re.search(r'<p class="message".*?<bdi>(.*?)</bdi>', page, re.DOTALL)
    return found[1] if found else ""


def test_without_the_organiser_s_code_the_page_shows_nothing_and_changes_nothing(home: WebHome) -> None:
    table = home.table(temple="templo")
    stranger = home.browser()
    page = stranger.get("/organiser")
    assert page.status_code == 200
    assert table.title not in text_of(page)
    assert "templo" not in text_of(page).split()
    assert stranger.get("/organiser/codes").status_code == 403
    for path in (*POSTS, f"/organiser/tables/{table.id}/close"):
        assert stranger.post(path, {"text": "Fire", "minutes": "10"}).status_code == 403
    assert home.services.tables.get(table.id).phase == "running"
    assert home.services.messages.text == ""


def test_the_first_page_leads_to_the_organiser_s_which_says_where_the_code_is(home: WebHome) -> None:
    for language, words in (("en", "Organise an evening"), ("es", "Organizar una velada")):
        stranger = home.browser(language=language)
        assert re.search(rf'href="/organiser">\s*{words}', stranger.get("/").text)
        assert "sudo templo-mayor status" in text_of(stranger.get("/organiser"))


def test_the_owner_s_code_and_cookie_open_another_page_than_the_organiser_s(
    home: WebHome, organiser: Browser
) -> None:
    browser = home.browser()
    assert browser.post("/organiser/code", {"code": OWNER.code}).status_code == 403
    home.services.setup.finish()
    assert organiser.post("/setup/code", {"code": ORGANISER.code}).status_code == 403
    for cookie, proof, path in (
        ("organiser", OWNER.proof, "/organiser/message/end"),
        ("owner", ORGANISER.proof, "/setup/name"),
    ):
        browser = home.browser()
        browser.client.set_cookie(cookie, proof, path="/")
        assert browser.post(path, {"name": "Mine"}).status_code == 403
    browser = home.browser()
    browser.client.set_cookie("organiser", OWNER.proof, path="/")
    assert 'action="/organiser/code"' in browser.get("/organiser").get_data(as_text=True)
    browser.client.set_cookie("organiser", ORGANISER.proof, path="/")
    assert 'action="/organiser/code"' not in browser.get("/organiser").get_data(as_text=True)


def test_what_proves_the_organiser_is_a_cookie_that_no_script_reads_and_no_other_page_gets(home: WebHome) -> None:
    cookie = home.browser().post("/organiser/code", {"code": ORGANISER.code}).headers["Set-Cookie"]
    assert {"HttpOnly", "Path=/organiser", "SameSite=Strict"} <= set(cookie.split("; "))
    assert ORGANISER.code not in cookie


def test_wrong_codes_are_counted_with_all_others(home: WebHome) -> None:
    browser = home.browser("192.168.1.20")
    for _ in range(10):
        assert browser.post("/organiser/code", {"code": "ZZZZZZZZ"}).status_code == 403
    assert browser.post("/organiser/code", {"code": ORGANISER.code}).status_code == 429


def test_the_page_shows_every_table_temple_companion_and_broker(home: WebHome, organiser: Browser) -> None:
    table, lobby = home.table(temple="templo"), home.lobby()
    home.beams("templo", contract.Beam.CLEAR, contract.Beam.JAMMED, contract.State.ALERT)
    seen = Installation(
        (Companion("hall-1:8001", 1, True), Companion("hall-2:8001", 0, False)),
        (BrokerState("one.lan:1883", True, True), BrokerState("two.lan:1883", False, False)),
    )
    home.configure(installation=lambda: seen)
    text = text_of(organiser.get("/organiser"))
    for expected in (table.title, table.code[:3], lobby.code[3:], "templo", "hall-1:8001", "hall-2:8001"):
        assert expected in text
    assert "Broker one.lan:1883 used by this companion" in text
    assert "Broker two.lan:1883 does not answer" in text


def test_a_temple_is_moved_to_another_table_or_to_none_and_both_tables_log_it(
    home: WebHome, organiser: Browser
) -> None:
    first, second = home.table(temple="templo"), home.lobby()

    def move(table_id: str) -> int:
        return organiser.post("/organiser/temples/templo/table", {"table": table_id}).status_code

    def served() -> list[str | None]:
        return [home.services.tables.get(table.id).temple for table in (first, second)]

    assert move(second.id) == 303
    assert served() == [None, "templo"]
    assert [home.services.tables.get(each.id).log(1)[0].lines[0].code for each in (first, second)] == [
        "unserved",
        "served",
    ]
    assert move("") == move("") == 303
    assert served() == [None, None]
    assert move("0" * 32) == 422
    home.services.tables.close_for_players(second.id)
    assert move(second.id) == 422
    assert move(first.id) == move(first.id) == 303
    assert served() == ["templo", None]
    assert move("") == 303
    assert organiser.post("/organiser/temples/nowhere/table", {"table": first.id}).status_code == 404
    assert home.browser().post("/organiser/temples/templo/table", {"table": first.id}).status_code == 403
    assert served() == [None, None]


@pytest.mark.parametrize("layout", ["", "/screen"])
def test_a_message_is_on_every_table_s_pages_until_it_is_taken_back(
    home: WebHome, organiser: Browser, layout: str
) -> None:
    tables = [home.table(), home.lobby()]
    answer = organiser.post("/organiser/message", {"text": " Pizza <b>is</b>\nhere ", "minutes": "10"})
    assert answer.status_code == 303
    for table in tables:
        assert shown(home, table.id, layout) == "Pizza &lt;b&gt;is&lt;/b&gt; here"
    assert 'name="text" value="Pizza &lt;b&gt;is&lt;/b&gt; here"' in organiser.get("/organiser").get_data(
        as_text=True
    )
    organiser.post("/organiser/message/end", {"text": "an earlier message"})
    assert shown(home, tables[0].id, layout)
    organiser.post("/organiser/message/end", {"text": "Pizza <b>is</b> here"})
    assert [shown(home, table.id, layout) for table in tables] == ["", ""]


def test_a_message_reaches_an_open_page_as_one_region_and_is_spoken(home: WebHome, organiser: Browser) -> None:
    table = home.table()
    stream = home.hub.open([MESSAGE])
    before = home.hub.serial([MESSAGE])
    organiser.post("/organiser/message", {"text": "Pizza", "minutes": "2"})
    assert home.hub.serial([MESSAGE]) > before
    stream.leave()
    page = home.browser().get(f"/t/{table.id}").get_data(as_text=True)
    assert 'id="region-message"' in page
    assert 'class="message" data-speak="message"' in page


def test_a_message_goes_by_itself_and_outlives_a_restart_until_then(home: WebHome) -> None:
    table = home.table()
    home.services.messages.send("Pizza", 2)
    home.restart()
    assert shown(home, table.id) == "Pizza"
    home.clock.now += timedelta(minutes=2)
    home.hub.publish(MESSAGE)  # as `MessageEnd` has it done
    assert shown(home, table.id) == ""


@pytest.mark.parametrize("text", ["", "  \n ", "\u200d", "x" * (LONGEST + 1)])
def test_an_empty_or_long_message_is_refused_with_why_and_what_was_typed(
    home: WebHome, organiser: Browser, text: str
) -> None:
    answer = organiser.post("/organiser/message", {"text": text, "minutes": "10"})
    assert answer.status_code == 422
    assert str(LONGEST) in text_of(answer)
    assert text in answer.get_data(as_text=True)
    assert home.services.messages.text == ""


@pytest.mark.parametrize("minutes", ["", "0", "3", "-2", "99999999999", "x"])
def test_a_message_is_shown_for_a_time_of_the_list_alone(home: WebHome, organiser: Browser, minutes: str) -> None:
    assert organiser.post("/organiser/message", {"text": "Pizza", "minutes": minutes}).status_code == 422


def test_a_sign_that_turns_the_line_round_does_not_reach_the_pages(home: WebHome) -> None:
    home.services.messages.send("a\u202eb\x00c", 2)
    assert home.services.messages.text == "a b c"


def test_an_emoji_of_several_stays_one(home: WebHome) -> None:
    home.services.messages.send("supper \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d", 2)
    assert home.services.messages.text == "supper \U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_the_organiser_ends_a_table_and_frees_its_temple(home: WebHome, organiser: Browser) -> None:
    running, lobby = home.table(temple="templo"), home.lobby()
    for table in (running, lobby):
        assert organiser.post(f"/organiser/tables/{table.id}/close").status_code == 303
        closed = home.services.tables.get(table.id)
        assert closed.phase == "over"
        assert closed.is_closed
    assert home.services.temples.get("templo").table_id is None
    page = home.browser().get(f"/t/{running.id}/story")
    assert "The organiser closed the table" in text_of(page)
    assert organiser.post(f"/organiser/tables/{running.id}/close").status_code == 303


def test_all_codes_are_printed_each_with_its_table(home: WebHome, organiser: Browser) -> None:
    tables, over = [home.table(), home.lobby()], home.table()
    home.services.tables.close_for_players(over.id)
    page = organiser.get("/organiser/codes").get_data(as_text=True)
    assert page.count('class="qr-drawing"') == len(tables)
    for table in tables:
        assert f"{table.code[:3]}-{table.code[3:]}" in page
    assert "<?xml" not in page
    assert re.search(r"<button[^>]* data-print hidden>Print</button>", page)


def test_each_language_has_the_page_in_its_own_words(home: WebHome) -> None:
    browser = home.browser(language="es")
    browser.post("/organiser/code", {"code": ORGANISER.code})
    assert "Mensaje a todas las mesas" in text_of(browser.get("/organiser"))


def test_the_timer_ends_a_message_once_and_is_set_again_for_another() -> None:
    until, ended = [time.monotonic() + 0.05], Event()
    end = MessageEnd(lambda: until[0] - time.monotonic(), ended.set)
    try:
        end.look()
        assert ended.wait(60)
        ended.clear()
        until[0] += 600.0
        end.look()
        until[0] = 0.0
        end.look()  # taken back: nothing is left to end
        assert not ended.is_set()
    finally:
        end.stop()


def test_a_clock_that_is_set_back_or_forward_neither_loses_nor_keeps_the_end_of_a_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(message_end, "_AT_MOST_S", 0.05)
    left, looked, ended = [0.05], Event(), Event()

    def seconds_left() -> float:
        if left[0] == 0.05:  # set back as soon as the timer was set by it
            left[0] = 3600.0
            return 0.05
        looked.set()
        return left[0]

    end = MessageEnd(seconds_left, ended.set)
    try:
        end.look()
        assert looked.wait(60)
        assert not ended.is_set()
        left[0] = -1.0
        assert ended.wait(60)
    finally:
        end.stop()


def test_no_look_sets_a_timer_after_the_stop() -> None:
    others = set(threading.enumerate())
    end = MessageEnd(lambda: 600.0, lambda: None)
    end.look()
    end.stop()
    end.look()
    assert not set(threading.enumerate()) - others


def test_what_another_companion_stored_is_read_when_it_is_announced(home: WebHome) -> None:
    messages = home.services.messages
    messages.send("Pizza", 10)
    workspace = Workspace(home.store, home.games, home.clock, home.entropy)
    MessageService(workspace).take_back()
    assert messages.text == "Pizza"
    messages._workspace.follow([MESSAGE])
    assert messages.text == ""


def test_a_message_that_was_stored_is_shown_although_nothing_can_be_read(
    home: WebHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home.store, "note", lambda _: pytest.fail("it need not be read"))
    home.services.messages.send("Pizza", 10)
    assert home.services.messages.text == "Pizza"


def test_the_page_comes_when_the_store_does_not_answer(
    home: WebHome, organiser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def companions() -> tuple[Companion, ...]:
        raise ServiceError("store_failing", reason="gone")

    monkeypatch.setattr(home.services.tables, "all", companions)
    used = Address("one.lan", 1883)
    home.configure(installation=lambda: installation.look(companions, [used], used))
    page = organiser.get("/organiser")
    assert page.status_code == 200
    assert text_of(page).count("The store does not answer.") == 2
    assert "0 tables" not in text_of(page)
    assert "Broker one.lan:1883 used by this companion" in text_of(page)


def test_the_page_shows_the_tables_again_as_soon_as_the_store_answers(
    home: WebHome, organiser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.lobby()

    def silent() -> tuple[Table, ...]:
        raise ServiceError("store_failing", reason="gone")

    with monkeypatch.context() as failing:
        failing.setattr(home.services.tables, "all", silent)
        assert table.code[:3] not in text_of(organiser.get("/organiser"))
    text = text_of(organiser.get("/organiser"))
    assert table.code[:3] in text
    assert "The store does not answer." not in text


def test_a_browser_that_saw_the_store_s_silence_is_sent_the_tables_although_nothing_has_changed(
    home: WebHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.lobby()
    home.hub = Hub(boot="restarted")
    home.restart()

    def silent() -> tuple[Table, ...]:
        raise ServiceError("store_failing", reason="gone")

    with home.app.test_request_context(), monkeypatch.context() as failing:
        failing.setattr(home.services.tables, "all", silent)
        before = _overview(site(), "en")
        failing.undo()
        after = _overview(site(), "en")
    assert before.event(before.id) == b""
    assert after.since(before.id).keys() == {"all_tables", "all_temples"}


def test_over_tls_both_codes_cookies_are_sent_over_tls_alone(home: WebHome) -> None:
    for path, code in (("/organiser/code", ORGANISER.code), ("/setup/code", OWNER.code)):
        for scheme, expected in (("https", True), ("http", False)):
            answer = home.browser().client.post(
                path,
                base_url=f"{scheme}://localhost",
                data={"code": code},
                headers={"Origin": f"{scheme}://localhost"},
            )
            assert answer.status_code == 303
            assert ("Secure" in answer.headers["Set-Cookie"].split("; ")) == expected


def test_a_broker_that_does_not_answer_is_seen() -> None:
    nobody, used = Address("127.0.0.1", free_port()), Address("127.0.0.1", free_port())
    assert installation.brokers([used, nobody, Address("no..name", 1883)], used) == (
        BrokerState(str(used), True, True),
        BrokerState(str(nobody), False, False),
        BrokerState("no..name:1883", False, False),
    )

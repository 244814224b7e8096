"""The pages of what does not count by itself: tokens held apart, old tokens, and notices of a temple's ledger."""

from __future__ import annotations

import re

import pytest

from companion.model.ports import HISTORY, LEFT_OUT
from companion.model.table import Table
from templo import contract
from tests.companion.conftest import SOURCE
from tests.companion.web.conftest import SESSION, Browser, WebHome, text_of

NAME = "table"
CLEAR = dict.fromkeys(contract.God, contract.Beam.CLEAR)
KNOWN = ("ledger_restored", "backup_restored", "ledger_cloned", "ledger_damaged", "ledger_missing")


def at_work(home: WebHome, *codes: str, trouble: contract.Trouble | None = None) -> None:
    """Let the temple be at work with these notices."""
    notices = tuple(contract.Notice(code, home.clock.now) for code in codes)
    state = contract.State.ALERT if trouble else contract.State.READY
    kind, timing = contract.Kind.SIMULATOR, contract.Timing.SIMULATED
    status = contract.Status(state, SESSION, kind, "1.0.0", timing, CLEAR, SOURCE, trouble, notices)
    home.services.temples.receive_status(NAME, status)


@pytest.fixture
def table(home: WebHome) -> Table:
    """A running table whose temple holds three tokens apart."""
    at_work(home)
    table = home.table(temple=NAME)
    home.services.temples.intake.receive([(NAME, home.token(seq)) for seq in (1, 2, 3)])
    home.services.temples.intake.receive(
        [(NAME, home.token(seq, token=f"{seq:032d}".replace("0", "e"))) for seq in (1, 2, 3)]
    )
    return table


def held(table: Table) -> str:
    return f"/t/{table.id}/held"


def ids(home: WebHome) -> list[str]:
    return [kept.token.token for kept in home.services.temples.decisions.held(NAME)]


def form(page: str, **more: str | list[str]) -> dict[str, str]:
    """Return the fields of the page's form, and more."""
    found = dict(re.findall(r'<input type="hidden" name="(seat|request)" value="([^"]*)"', page))
    return {**found, **more}  # type: ignore[dict-item]


def score(home: WebHome, table: Table, seat: str) -> int:
    state = home.services.tables.get(table.id).state
    return int(list(state.tallies)[state.seats.index(seat)].given("tlaloc"))


# -- tokens held apart --


def test_every_page_of_the_temple_leads_to_what_is_held_apart(home: WebHome, phone: Browser, table: Table) -> None:
    for page in (f"/t/{table.id}", f"/t/{table.id}/reconcile", f"/temples/{NAME}"):
        assert f'href="{held(table)}"' in phone.get(page).text, page
    assert "3 tokens held apart" in text_of(phone.get("/"))
    assert "3 tokens held apart" in text_of(phone.get("/temples"))


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_token_stands_there_with_time_slot_and_reason(home: WebHome, table: Table, language: str) -> None:
    reader = home.browser(language=language)
    for page in (held(table), f"/temples/{NAME}/held"):
        said = text_of(reader.get(page))
        for words in {"en": ("Tlaloc’s slot", "Its number, 3,"), "es": ("ranura de Tláloc", "su número, el 3.")}[
            language
        ]:
            assert words in said, page


def test_a_seat_counts_all_for_one_player_and_the_page_says_who_did_it_when(
    home: WebHome, phone: Browser, table: Table
) -> None:
    phone.sit(table, "east", "Ana")
    page = phone.get(held(table)).text
    answer = phone.post(held(table), form(page, all="1", shown=ids(home), to="north"))
    assert (answer.status_code, answer.location) == (303, held(table))
    assert (score(home, table, "north"), score(home, table, "east")) == (3, 3)
    said = text_of(phone.get(held(table)))
    assert "No token is held apart." in said
    assert said.count("counts for North at “Sunday”") == 3
    assert "Ana" in said
    assert "gave 3 tokens to Tlaloc" in text_of(phone.get(f"/t/{table.id}"))


def test_one_tap_dismisses_the_marked_one_only(home: WebHome, phone: Browser, table: Table) -> None:
    phone.sit(table, "east")
    first = ids(home)[0]
    phone.post(held(table), form(phone.get(held(table)).text, token=first, to="none"))
    assert len(ids(home)) == 2
    assert first not in ids(home)
    assert "1 token that was held apart is dismissed" in text_of(home.browser().get(f"/t/{table.id}"))


def test_a_double_tap_is_one_decision_and_a_slower_phone_learns_of_it(
    home: WebHome, phone: Browser, table: Table
) -> None:
    other = home.browser()
    phone.sit(table, "east", "Ana")
    other.sit(table, "north", "Ben")
    page, slower = (form(each.get(held(table)).text, token=ids(home)[0], to="east") for each in (phone, other))
    assert [phone.post(held(table), page).status_code for _ in range(2)] == [303, 303]
    answer = other.post(held(table), slower)
    assert answer.status_code == 409
    assert "Somebody was faster" in text_of(answer)
    assert score(home, table, "east") == 4


def test_who_does_not_sit_at_the_table_may_look_and_not_decide(home: WebHome, phone: Browser, table: Table) -> None:
    other = home.table()
    phone.sit(other, "east")
    page = phone.get(held(table))
    assert "Anyone seated at the table can answer this." in text_of(page)
    assert "<button" not in page.text.partition("<main")[2].partition("</main>")[0]
    chosen = {"request": "r1", "seat": "east", "token": ids(home)[0]}
    for to in ("east", "none"):
        assert phone.post(held(table), {**chosen, "to": to}).status_code == 403
    assert phone.post(held(other), {**chosen, "to": "none"}).status_code == 409
    phone.post(f"/t/{table.id}/screen", {"code": table.code})
    assert phone.post(held(table), {**chosen, "to": "none"}).status_code == 403
    assert len(ids(home)) == 3


def test_without_a_mark_nothing_happens(home: WebHome, phone: Browser, table: Table) -> None:
    phone.sit(table, "east")
    for more in ({"to": "east"}, {"token": ids(home)[0]}):
        answer = phone.post(held(table), form(phone.get(held(table)).text, **more))
        assert answer.status_code == 422
        assert "Mark at least one token first" in text_of(answer)
    assert len(ids(home)) == 3


def test_a_temple_that_serves_no_table_says_where_to_decide(home: WebHome, phone: Browser) -> None:
    home.services.temples.intake.receive([(NAME, home.token(1))])
    home.services.temples.intake.receive([(NAME, home.token(1, token="e" * 32))])
    said = text_of(phone.get(f"/temples/{NAME}/held"))
    assert "Let the temple serve a table and take a seat there" in said
    assert f'href="/temples/{NAME}/held"' in phone.get(f"/temples/{NAME}").text


# -- old tokens --


def old_ones(home: WebHome) -> None:
    at_work(home)
    home.services.temples.ledgers.receive_count(NAME, contract.Count(SOURCE, 2000, dict.fromkeys(contract.God, 1000)))


def test_the_temple_s_page_asks_once_and_no_table_does(home: WebHome, phone: Browser) -> None:
    table = home.table(temple=NAME)
    old_ones(home)
    said = text_of(phone.get(f"/temples/{NAME}"))
    assert "2,000 tokens in the temple’s record are from before." in said
    assert "2,000" not in text_of(phone.get(f"/t/{table.id}"))
    phone.sit(table, "east", "Ana")
    answer = phone.post(f"/t/{table.id}/temple/old", {"choice": "left_out"}, Accept="application/json").get_json()
    assert "from before are left out" in text_of_html(answer["regions"]["ledger"])
    said = text_of(phone.get(f"/temples/{NAME}"))
    assert "What should happen to them?" not in said
    assert "2,000 tokens from before are left out." in said
    assert "Ana" in said


def text_of_html(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


@pytest.mark.parametrize("choice", [LEFT_OUT, HISTORY])
def test_anybody_chooses_for_a_temple_that_no_game_runs_on(home: WebHome, phone: Browser, choice: str) -> None:
    old_ones(home)
    for _ in range(2):
        assert phone.post(f"/temples/{NAME}/old", {"choice": choice}).status_code == 303
    other = {LEFT_OUT: HISTORY, HISTORY: LEFT_OUT}[choice]
    assert phone.post(f"/temples/{NAME}/old", {"choice": other}).status_code == 409
    old = home.services.temples.get(NAME).old
    assert old is not None
    assert old.choice == choice


def test_while_a_game_runs_only_its_table_chooses_and_only_a_seat_counts_them(home: WebHome, phone: Browser) -> None:
    table = home.table(temple=NAME)
    old_ones(home)
    at_table = f"/t/{table.id}/temple/old"
    for choice in ("left_out", "history", "counted"):
        for path in (f"/temples/{NAME}/old", at_table):
            assert phone.post(path, {"choice": choice}).status_code in (400, 403)
    screen = home.browser()
    screen.post(f"/t/{table.id}/screen", {"code": table.code})
    assert screen.post(at_table, {"choice": "counted"}).status_code == 403
    assert home.services.temples.get(NAME).undecided is not None
    assert screen.post(at_table, {"choice": "nothing"}).status_code == 400
    phone.sit(table, "east")
    assert phone.post(at_table, {"choice": "counted"}).status_code == 303
    assert "2,000 tokens from before are to count here" in text_of(phone.get(f"/t/{table.id}"))


# -- notices --


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_notice_has_its_own_words_for_what_happened_and_what_it_means(home: WebHome, language: str) -> None:
    words = home.app.extensions["site"].renderer.words(language)
    reader = home.browser(language=language)
    home.table(temple=NAME)
    for code in KNOWN:
        at_work(home, code)
        said = text_of(reader.get(f"/temples/{NAME}"))
        for part in ("seen", "means"):
            assert words(f"notice.{code}.{part}") in said, code
        assert code not in said


def test_a_notice_that_nobody_knows_stands_as_it_is(home: WebHome, phone: Browser) -> None:
    at_work(home, "ledger_eaten")
    assert "Something happened to the temple’s record: ledger_eaten." in text_of(phone.get(f"/temples/{NAME}"))


def test_the_table_the_list_and_the_first_page_say_what_happened(home: WebHome, phone: Browser) -> None:
    table = home.table(temple=NAME)
    at_work(home, "ledger_damaged")
    said = "The temple’s record was damaged."
    for page in (f"/t/{table.id}", f"/t/{table.id}/screen", "/", "/temples"):
        assert said in text_of(phone.get(page)), page
    at_work(home)
    for page in (f"/t/{table.id}", "/", f"/temples/{NAME}"):
        assert said not in text_of(phone.get(page)), page


def test_what_happened_stands_while_the_temple_is_away_and_after_its_restart(home: WebHome, phone: Browser) -> None:
    at_work(home, "ledger_restored")
    kind, timing = contract.Kind.SIMULATOR, contract.Timing.SIMULATED
    home.services.temples.receive_status(
        NAME, contract.Status(contract.State.LOST, SESSION, kind, "1.0.0", timing, CLEAR, SOURCE)
    )
    said = "The temple’s record came back from an older copy."
    assert said in text_of(phone.get(f"/temples/{NAME}"))
    home.restart()
    at_work(home, "ledger_restored")
    assert said in text_of(home.browser().get(f"/temples/{NAME}"))


def test_i_have_seen_it_sends_the_temple_the_notice_s_code(home: WebHome, phone: Browser) -> None:
    sent: list[contract.Command] = []
    home.services.temples.requests.connect(lambda name, command: sent.append(command))
    at_work(home, "ledger_damaged", "backup_restored")
    page = phone.get(f"/temples/{NAME}").text
    assert page.count("I have seen it") == 2
    answer = phone.post(f"/temples/{NAME}/ask", {"what": "dismiss", "notice": "ledger_damaged", "request": "r1"})
    assert answer.status_code == 303
    assert [(each.name, each.notice) for each in sent] == [(contract.CommandName.DISMISS, "ledger_damaged")]
    home.services.temples.requests.receive_reply(NAME, contract.Reply(sent[0].id, True, {}))
    at_work(home, "backup_restored")
    said = text_of(phone.get(f"/temples/{NAME}"))
    assert "The temple knows that you have seen it." in said
    assert "damaged" not in said


def test_only_who_may_ask_the_temple_dismisses_its_notices(home: WebHome, phone: Browser) -> None:
    sent: list[contract.Command] = []
    home.services.temples.requests.connect(lambda name, command: sent.append(command))
    table = home.table(temple=NAME)
    at_work(home, "ledger_damaged")
    wanted = {"what": "dismiss", "notice": "ledger_damaged", "request": "r1"}
    for path in (f"/temples/{NAME}/ask", f"/t/{table.id}/temple/ask"):
        assert phone.post(path, wanted).status_code == 403
    for wrong in ("", "Not A Code", "x" * 40):
        assert phone.post(f"/t/{table.id}/temple/ask", {**wanted, "notice": wrong}).status_code in (400, 403)
    assert sent == []
    phone.sit(table, "east")
    assert phone.post(f"/t/{table.id}/temple/ask", {**wanted, "notice": "Not A Code"}).status_code == 400
    assert phone.post(f"/t/{table.id}/temple/ask", wanted).status_code == 303
    assert [each.notice for each in sent] == ["ledger_damaged"]


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_taken_name_is_explained(home: WebHome, language: str) -> None:
    at_work(home, trouble=contract.Trouble.NAME_TAKEN)
    said = text_of(home.browser(language=language).get("/temples"))
    assert {"en": "Another temple uses this name", "es": "Otro templo usa este nombre"}[language] in said

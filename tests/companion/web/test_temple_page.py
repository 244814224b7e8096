"""A temple's page and its buttons: who may send requests, what is shown, and that no unknown value breaks it."""

from __future__ import annotations

from string import Formatter

import pytest

from controller.app.explanations import FINDINGS
from templo import contract
from templo.contract import Beam, Emitters, Finding, God
from templo.shrines import LEFT_TO_RIGHT
from tests.companion.web.conftest import SESSION, Browser, WebHome, text_of

NAME = "table"
ASK = f"/temples/{NAME}/ask"


@pytest.fixture
def sent(home: WebHome) -> list[contract.Command]:
    """A temple at work that serves no table, and what is sent to it."""
    sent: list[contract.Command] = []
    home.services.temples.requests.connect(lambda name, command: sent.append(command))
    home.beams(NAME, Beam.CLEAR, Beam.CLEAR)
    return sent


def found(home: WebHome, *of_tlaloc: Finding, emitters: Emitters = Emitters.FIXED) -> None:
    beams = {God.HUITZILOPOCHTLI: (), God.TLALOC: of_tlaloc}
    limits = {"band_ms": 18.0, "narrow_ms": 6.0, "min_break_ms": 3.0, "rumour": None}
    home.services.temples.receive_findings(NAME, contract.Findings(SESSION, home.clock.now, emitters, limits, beams))


def form(what: str, request: str = "r1", **more: str) -> dict[str, str]:
    return {"what": what, "request": request, **more}


def test_the_slots_are_offered_as_the_shrines_stand(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    page = phone.get(f"/temples/{NAME}").get_data(as_text=True)
    for each in ('name="god" value="{}"', '<option value="{}"'):
        at = [page.index(each.format(god)) for god in LEFT_TO_RIGHT]
        assert at == sorted(at)


# -- tokens that are missing here --


def test_a_refused_request_for_missing_tokens_is_the_first_thing_to_do(
    home: WebHome, phone: Browser, sent: list[contract.Command], caplog: pytest.LogCaptureFixture
) -> None:
    assert "Nothing. Both beams are clear" in text_of(phone.get(f"/temples/{NAME}"))
    status = home.services.temples.get(NAME).status
    assert status is not None
    assert status.source is not None
    home.services.temples.ledgers.receive_count(NAME, contract.Count(status.source, 20, dict.fromkeys(God, 10)))
    for now_s in (0.0, 2.0):
        home.services.temples.requests.request_missing(now_s)
    home.services.temples.requests.receive_reply(
        NAME, contract.Reply(sent[-1].id, False, error="<b>not from 1</b>", code="busy"), 3
    )
    page = phone.get(f"/temples/{NAME}")
    said = text_of(page)
    assert "refuses to send them again: switch it off and on, then look at its log" in said
    assert "In its own words: &lt;b&gt;not from 1&lt;/b&gt;" in page.text
    assert "Nothing. Both beams" not in said
    caplog.clear()


# -- who may send requests --


def test_anybody_may_send_requests_to_a_temple_without_a_running_game(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    for number, what in enumerate(("selftest", "identify", "drop", "calibrate")):
        home.services.temples.requests.receive_reply(
            NAME, contract.Reply(sent[-1].id if sent else "0" * 32, False, error="next")
        )
        answer = phone.post(ASK, form(what, f"r{number}", god="tlaloc", count="7"))
        assert (answer.status_code, answer.location) == (303, f"/temples/{NAME}"), what
    assert [(each.name, each.god, each.count) for each in sent] == [
        ("selftest", None, None),
        ("identify", None, None),
        ("drop", God.TLALOC, None),
        ("calibrate", God.TLALOC, 7),
    ]


def test_while_a_game_runs_only_its_table_may_send_requests(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    table = home.table(temple=NAME)
    at_table = f"/t/{table.id}/temple/ask"
    for path in (ASK, at_table):
        answer = phone.post(path, form("calibrate", god="tlaloc", count="5"))
        assert answer.status_code == 403
        assert "only a phone that sits at its table may do this" in text_of(answer)
    assert sent == []
    assert f'action="{at_table}"' in phone.get(f"/temples/{NAME}").text
    phone.sit(table, "east")
    assert phone.post(at_table, form("selftest")).status_code == 303
    assert [each.name for each in sent] == ["selftest"]


def test_a_seat_at_another_table_gives_no_right_to_send_requests(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    served, other = home.table(temple=NAME), home.table()
    phone.sit(other, "east")
    assert phone.post(f"/t/{other.id}/temple/ask", form("selftest")).status_code == 409
    assert phone.post(f"/t/{served.id}/temple/ask", form("selftest")).status_code == 403
    assert sent == []


def test_no_request_is_sent_by_opening_a_page_or_from_another_site(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    assert phone.get(ASK + "?what=selftest&request=r1").status_code == 405
    assert phone.post(ASK, form("selftest"), Origin="http://elsewhere.example").status_code == 403
    for _ in range(2):
        phone.get(f"/temples/{NAME}")
    assert sent == []


def test_what_is_no_request_is_refused(home: WebHome, phone: Browser, sent: list[contract.Command]) -> None:
    for wrong in (
        form("resend"),
        form("drop", god="chac"),
        form("drop"),
        form("selftest", ""),
        form("selftest", "a b"),
        form("selftest", "r" * 65),
        {},
    ):
        assert phone.post(ASK, wrong).status_code == 400, wrong
    assert sent == []


def test_a_number_of_tokens_that_cannot_be_is_refused_in_words(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    for count in ("", "0", "-3", "101", "ten", "9" * 30):
        answer = phone.post(ASK, form("calibrate", god="tlaloc", count=count))
        assert answer.status_code == 409, count
        assert "It measures from 1 to 100 tokens." in text_of(answer), count
        assert "Back to the temple" in text_of(answer), count
    assert sent == []


def test_our_script_gets_the_regions_that_changed(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    answer = phone.post(ASK, form("selftest"), Accept="application/json").get_json()
    assert answer["ok"]
    assert "Waiting for the answer" in answer["regions"]["ask"]
    again = phone.post(ASK, form("identify", "r2"), Accept="application/json")
    assert again.status_code == 409
    assert again.get_json()["words"] == "The temple is still working on the last request. Wait a moment."


# -- what is shown --


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_finding_has_its_own_words_for_what_was_seen_and_what_to_do(
    home: WebHome, sent: list[contract.Command], language: str
) -> None:
    """The codes are the temple's own, and so are the facts that come with each."""
    given = {field for what, _ in FINDINGS.values() for _, field, _, _ in Formatter().parse(what) if field}
    words = home.app.extensions["site"].renderer.words(language)
    reader = home.browser(language=language)
    for code in FINDINGS:
        found(home, Finding(code, dict.fromkeys(given, 3)))
        said = text_of(reader.get(f"/temples/{NAME}"))
        assert words.has(f"finding.{code}.seen"), code
        assert words.has(f"finding.{code}.todo"), code
        assert f"({code})" not in said, code


def test_what_both_beams_have_at_once_is_one_thing_to_do(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    both = {god: (Finding("both_dark", {"for_s": 2, "tokens": 1}),) for god in God}
    home.services.temples.receive_findings(NAME, contract.Findings(SESSION, home.clock.now, Emitters.FIXED, {}, both))
    assert text_of(phone.get(f"/temples/{NAME}")).count("Both beams went dark at the same moment") == 1


@pytest.mark.parametrize(
    "finding", [Finding("haunted", {"ghosts": 3}), Finding("flicker"), Finding("dark", {"for_s": 1e12})]
)
def test_a_finding_that_this_page_does_not_understand_breaks_nothing(
    home: WebHome, phone: Browser, sent: list[contract.Command], finding: Finding
) -> None:
    found(home, finding)
    answer = phone.get(f"/temples/{NAME}")
    assert answer.status_code == 200
    if finding.code != "dark":
        assert f"does not know ({finding.code})" in text_of(answer)


def test_the_most_urgent_thing_to_do_stands_first(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    found(home, Finding("overlap", {"overlaps": 1, "tokens": 9}), Finding("blocked", {"for_s": 4, "tokens": 2}))
    said = text_of(phone.get(f"/temples/{NAME}"))
    assert 0 < said.index("Clear the chute.") < said.index("Drop tokens one at a time")
    assert "Needs attention" in said


def test_the_page_says_what_cannot_be_known_without_a_switched_emitter(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    found(home)
    assert "an unplugged receiver reads just as clear" in text_of(phone.get(f"/temples/{NAME}"))
    found(home, emitters=Emitters.SWITCHED)
    said = text_of(phone.get(f"/temples/{NAME}"))
    assert "reads just as clear" not in said
    assert "clear, and proved" in said


def test_an_error_of_the_temple_is_shown_in_the_readers_words_or_in_its_own(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    phone.post(ASK, form("drop", god="tlaloc"))
    home.services.temples.requests.receive_reply(
        NAME, contract.Reply(sent[0].id, False, error="too slow", code="not_recorded")
    )
    assert "The temple did not confirm within five seconds that the token is recorded." in text_of(
        phone.get(f"/temples/{NAME}")
    )
    phone.post(ASK, form("drop", "r2", god="tlaloc"))
    home.services.temples.requests.receive_reply(
        NAME, contract.Reply(sent[1].id, False, error="<script>alert(1)</script>", code="haunted")
    )
    page = phone.get(f"/temples/{NAME}").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_a_band_that_was_learned_is_drawn_and_reported_to_a_reader(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    found(home)
    home.services.temples.intake.receive([(NAME, home.token(1)), (NAME, home.token(2, "tlaloc", "jam"))])
    page = phone.get(f"/temples/{NAME}").text
    assert 'class="plot-band"' in page
    assert 'aria-label="Widths of the last tokens of Tlaloc in milliseconds: 14 ms; 1 stuck; all within it"' in page
    assert "plot-stuck" in page


def test_the_first_page_leads_to_the_temples(home: WebHome, phone: Browser, sent: list[contract.Command]) -> None:
    assert f'href="/temples/{NAME}"' in phone.get("/").text

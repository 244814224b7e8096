"""Pairing on the pages: the organiser is shown a code, and the temple that posts it is given what it needs."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from companion.adapters.credentials import Offered
from tests.companion.web.conftest import ORGANISER, Browser, WebHome, text_of

PASSWORD = "x" * 32
JSON = {"Accept": "application/json"}


@pytest.fixture
def organiser(home: WebHome, tmp_path: Path) -> Browser:
    """A browser in which the organiser's code was typed, where two temples may be paired."""
    for temple in ("attic", "cellar"):
        lines = f"TEMPLO_BROKER_USER=temple-{temple}\nTEMPLO_BROKER_PASSWORD={PASSWORD}\n"
        (tmp_path / f"{temple}.env").write_text(lines)
    home.configure(offered=Offered(tmp_path), brokers=lambda host: f"{host}:1883")
    browser = home.browser()
    assert browser.post("/organiser/code", {"code": ORGANISER.code}).status_code == 303
    return browser


def code_for(organiser: Browser, temple: str, table: str = "") -> str:
    page = organiser.post("/organiser/pairing", {"temple": temple, "table": table})
    assert page.status_code == 200
    found = re.search(r"templo-controller pair templo.local (\w{4}-\w{4}-\w{4})", text_of(page))
    assert found, text_of(page)
    return found[1]


def test_a_temple_is_given_its_user_and_its_table_for_a_code(home: WebHome, organiser: Browser) -> None:
    table = home.table()
    code = code_for(organiser, "attic", table.id)
    answer = home.browser("192.168.1.30").post("/pair", {"code": code}, **JSON)
    assert answer.status_code == 200
    assert answer.get_json() == {
        "temple": "attic",
        "brokers": "localhost:1883",
        "user": "temple-attic",
        "password": PASSWORD,
        "table": table.title,
    }
    assert answer.headers["Cache-Control"] == "no-store"
    assert home.services.tables.get(table.id).temple == "attic"


def test_wrong_used_and_expired_codes_are_explained(home: WebHome, organiser: Browser) -> None:
    code, late = code_for(organiser, "attic"), code_for(organiser, "cellar")
    temple = home.browser("192.168.1.30")
    assert temple.post("/pair", {"code": code}, **JSON).status_code == 200

    def refusal_of(typed: str) -> str:
        answer = temple.post("/pair", {"code": typed}, **JSON)
        assert answer.status_code == 403
        assert PASSWORD not in answer.text
        return str(answer.get_json()["words"])

    assert "used already" in refusal_of(code)
    assert "not the code of a temple" in refusal_of("ABCD-EFGH")
    home.clock.now += timedelta(minutes=10)
    assert "has expired" in refusal_of(late)


def test_wrong_codes_are_counted_and_a_code_that_was_used_is_no_guess(home: WebHome, organiser: Browser) -> None:
    code = code_for(organiser, "attic")
    temple, guesser = home.browser("192.168.1.30"), home.browser("192.168.1.31")
    assert temple.post("/pair", {"code": code}, **JSON).status_code == 200
    for _ in range(20):
        assert temple.post("/pair", {"code": code}, **JSON).status_code == 403
    for _ in range(10):
        assert guesser.post("/pair", {"code": "ABCD-EFGH"}, **JSON).status_code == 403
    again = code_for(organiser, "attic")
    assert guesser.post("/pair", {"code": again}, **JSON).status_code == 429
    assert temple.post("/pair", {"code": again}, **JSON).status_code == 200


def test_without_the_organiser_s_code_no_code_is_shown(home: WebHome, organiser: Browser) -> None:
    stranger = home.browser()
    assert stranger.get("/organiser/pairing").status_code == 403
    assert stranger.post("/organiser/pairing", {"temple": "attic", "table": ""}).status_code == 403


def test_the_page_shows_who_may_be_paired_and_no_password(home: WebHome, organiser: Browser) -> None:
    home.table()
    page = organiser.get("/organiser/pairing")
    assert "The temple “attic”" in text_of(page)
    assert "The temple “cellar”" in text_of(page)
    assert PASSWORD not in page.text
    assert PASSWORD not in organiser.post("/organiser/pairing", {"temple": "attic", "table": ""}).text


def test_the_page_says_when_the_command_needs_no_sudo(home: WebHome, organiser: Browser) -> None:
    page = organiser.post("/organiser/pairing", {"temple": "attic", "table": ""})
    assert "leave “sudo” out" in text_of(page)


def test_where_nobody_may_be_paired_the_page_says_what_to_type(home: WebHome, organiser: Browser) -> None:
    home.configure(offered=Offered())
    assert "templo-broker-access --again --pair NAME" in text_of(organiser.get("/organiser/pairing"))


def test_no_code_is_made_for_a_temple_or_a_table_that_is_not_there(home: WebHome, organiser: Browser) -> None:
    for form in ({"temple": "templo", "table": ""}, {"temple": "attic", "table": "0" * 32}):
        answer = organiser.post("/organiser/pairing", form)
        assert answer.status_code == 422
        assert "templo-controller pair" not in text_of(answer)


def test_a_code_whose_password_is_gone_is_not_used_up(home: WebHome, organiser: Browser, tmp_path: Path) -> None:
    code = code_for(organiser, "attic")
    (tmp_path / "attic.env").rename(tmp_path / "attic.away")
    assert home.browser().post("/pair", {"code": code}, **JSON).status_code == 409
    (tmp_path / "attic.away").rename(tmp_path / "attic.env")
    assert home.browser().post("/pair", {"code": code}, **JSON).status_code == 200


def test_refused_codes_are_explained_in_the_language_of_the_request(home: WebHome, organiser: Browser) -> None:
    spanish = home.browser(language="es").post("/pair", {"code": "X"}, **JSON)
    assert "Ese no es el código de un templo" in spanish.get_json()["words"]

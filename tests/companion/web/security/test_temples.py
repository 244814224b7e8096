"""A temple is not taken from a running game: by no route, without a seat or the code of the table that loses it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from werkzeug.test import TestResponse

from companion.model.table import Table
from companion.service.serving import ABANDONED
from templo import contract
from templo.contract import Beam, God
from tests.companion.web.conftest import Browser, WebHome, text_of
from tests.companion.web.security.routes import Routes, everything

TAKEN = "serves the table “Sunday”, so it stays there"


@pytest.fixture
def victim(home: WebHome) -> Table:
    """A running game with a temple at work and one player."""
    home.beams("table", Beam.CLEAR, Beam.CLEAR)
    table = home.table(temple="table")
    home.seated(table)
    return home.services.tables.get(table.id)


@pytest.fixture
def sent(home: WebHome) -> list[contract.Command]:
    sent: list[contract.Command] = []
    home.services.temples.requests.connect(lambda name, command: sent.append(command))
    return sent


def open_with(phone: Browser, **more: str) -> TestResponse:
    form = {"game": "mexica", "title": "Grab", "players": "2", "preset": "temple_only", "temple": "table"}
    return phone.post("/tables", {**form, **more})


def test_a_table_that_is_opened_takes_no_temple_from_a_running_game(
    home: WebHome, phone: Browser, victim: Table
) -> None:
    before = everything(home)
    answer = open_with(phone)
    assert (answer.status_code, TAKEN in text_of(answer)) == (403, True)
    assert 'name="temple_code"' in answer.text
    assert everything(home) == before
    home.services.temples.intake.receive([("table", home.token(1))])
    assert home.services.tables.tokens(victim.id)


def test_no_route_takes_a_temple_from_a_table_that_the_request_does_not_belong_to(
    home: WebHome, phone: Browser, victim: Table
) -> None:
    """The sender sits at a table of its own, so that it may change everything but the other table's temple."""
    own = home.table()
    phone.sit(own, "east")
    form = {"game": "mexica", "title": "Grab", "players": "2", "preset": "temple_only"}
    form |= {"seat": "east", "request": "r", "code": own.code, "temple": "table", "name": "Eve"}
    form |= {"move": '["end_turn"]', "mode": "pass", "by": "app"}
    for method, path, _ in Routes(home, own.id, own.code)("POST", "PUT", "PATCH", "DELETE"):
        for attempt in ("", own.code):
            fields: Mapping[str, str] = {**form, "temple_code": attempt, "version": str(own.version)}
            phone.client.open(
                path, method=method, data=fields, headers={"Origin": "http://localhost"}, follow_redirects=False
            )
            home.seconds += 400  # wrong codes are another test's
            assert home.services.tables.get(victim.id) == victim, path
    assert home.services.temples.get("table").table_id == victim.id


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_table_gets_the_temple_of_another_only_with_that_table_s_code(
    home: WebHome, victim: Table, language: str
) -> None:
    own, phone = home.table(), home.browser(language=language)
    phone.sit(own, "east")
    assert 'name="temple_code"' in phone.get(f"/t/{own.id}").text
    refused = phone.post(f"/t/{own.id}/temple", {"temple": "table"})
    assert refused.status_code == 403
    assert ("type that table’s code" if language == "en" else "escriban también el código") in text_of(refused)
    assert phone.post(f"/t/{own.id}/temple", {"temple": "table", "temple_code": "WRONG2"}).status_code == 403
    assert home.services.tables.get(victim.id) == victim
    code = f"{victim.code[:3].lower()}-{victim.code[3:]}"
    assert phone.post(f"/t/{own.id}/temple", {"temple": "table", "temple_code": code}).status_code == 303
    assert home.services.temples.get("table").table_id == own.id


def test_a_table_is_opened_with_a_temple_by_who_types_the_code_of_the_table_that_loses_it(
    home: WebHome, phone: Browser, victim: Table
) -> None:
    assert open_with(phone, temple_code="WRONG2").status_code == 403
    assert len(home.services.tables.all()) == 1
    assert open_with(phone, temple_code=victim.code).status_code == 303
    assert home.services.tables.get(victim.id).temple is None


def test_a_seat_at_the_table_that_loses_its_temple_is_permission_enough(
    home: WebHome, phone: Browser, victim: Table
) -> None:
    token = phone.sit(victim, "west").headers["Set-Cookie"].split("=")[1].split(";")[0]
    phone.client.set_cookie(f"seat-{victim.id}", token, path="/tables")
    assert open_with(phone).status_code == 303
    assert home.services.tables.get(victim.id).temple is None


def test_a_code_is_not_guessed_by_way_of_a_temple(home: WebHome, phone: Browser, victim: Table) -> None:
    answers = [open_with(phone, temple_code=f"WRNG{n:02}").status_code for n in range(11)]
    assert answers == [403] * 10 + [429]


def test_a_game_that_is_over_an_empty_lobby_and_an_abandoned_table_hold_no_temple(
    home: WebHome, phone: Browser
) -> None:
    home.services.temples.expect("table")
    empty = home.services.tables.open("mexica", "Sunday", 2, "temple_only", {}, "table")
    assert open_with(phone).status_code == 303  # nobody sits at the first
    lobby = home.services.tables.get(home.services.temples.get("table").table_id or "")
    assert lobby.id != empty.id
    home.seated(lobby)
    assert open_with(phone).status_code == 403
    home.clock.pass_(seconds=ABANDONED.total_seconds())
    assert open_with(phone).status_code == 303


def test_beginning_and_attaching_end_a_calibration_so_that_what_falls_next_scores(
    home: WebHome, phone: Browser, sent: list[contract.Command]
) -> None:
    home.beams("table", Beam.CLEAR, Beam.CLEAR)
    lobby = home.services.tables.open("mexica", "Sunday", 2, "temple_only")
    token = home.seated(lobby)
    ask = {"what": "calibrate", "god": "tlaloc", "count": "5"}

    assert phone.post("/temples/table/ask", {**ask, "request": "one"}).status_code == 303
    home.services.temples.serving.attach(lobby.id, token, "table")
    assert [(each.name, each.god, each.keep) for each in sent] == [
        ("calibrate", God.TLALOC, None),
        ("calibrate", God.TLALOC, False),
    ]
    home.services.temples.requests.receive_reply(
        "table", contract.Reply(sent[-1].id, True, {"kept": False, "limits": {}})
    )

    assert phone.post("/temples/table/ask", {**ask, "request": "two"}).status_code == 303
    home.services.seats.begin(lobby.id, token)
    assert [each.keep for each in sent[2:]] == [None, False]
    assert phone.post("/temples/table/ask", {**ask, "request": "three"}).status_code == 403

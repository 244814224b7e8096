"""More tokens in a minute than hands give are a question to whoever is on turn, for as long as it lasts."""

from __future__ import annotations

import re

import pytest

from companion.model.table import Table
from companion.model.temples import MOST_BY_HAND
from tests.companion.web.conftest import Browser, WebHome

TEMPLE = "templo"


@pytest.fixture
def table(home: WebHome) -> Table:
    return home.table(temple=TEMPLE)


def falls(home: WebHome, first: int, last: int) -> None:
    home.services.temples.intake.receive([(TEMPLE, home.token(seq)) for seq in range(first, last + 1)])


def asked(phone: Browser, table: Table) -> str:
    """Return the question on a phone's page of a table, with the pages that it leads to; empty if there is none."""
    html = " ".join(phone.get(f"/t/{table.id}").get_data(as_text=True).split())
    found = re.search(r'href="([^"]+)">(\d+ [^<]*\?[^<]*)</a> <a [^>]*href="([^"]+)"', html)
    return " ".join(found.group(2, 1, 3)) if found else ""


def test_whoever_is_on_turn_is_asked_whether_so_many_tokens_are_right(home: WebHome, table: Table) -> None:
    east, north = home.browser(), home.browser(language="es")
    east.sit(table, "east")
    north.sit(table, "north")
    falls(home, 1, MOST_BY_HAND)
    assert asked(east, table) == ""
    falls(home, MOST_BY_HAND + 1, MOST_BY_HAND + 1)
    pages = f"/temples/{TEMPLE} /t/{table.id}/reconcile"
    assert asked(east, table) == f"61 tokens in a minute: is that right? Look at the temple {pages}"
    assert asked(north, table) == asked(home.browser(), table) == ""
    east.move(table, "east", "end_turn", version=home.services.tables.get(table.id).version)
    assert asked(north, table) == f"61 fichas en un minuto: ¿es correcto? Mira el templo {pages}"
    assert asked(east, table) == ""


def test_the_question_leaves_the_page_by_itself_when_the_minute_is_over(home: WebHome, table: Table) -> None:
    east = home.browser()
    east.sit(table, "east")
    falls(home, 1, 431)
    assert asked(east, table).startswith("431 tokens in a minute")
    woken: list[bool] = []
    home.hub.open([f"table:{table.id}"], lambda: woken.append(True))
    home.clock.pass_(seconds=59)
    home.services.temples.pass_time()
    assert (woken, asked(east, table) != "") == ([], True)
    home.clock.pass_(seconds=1)
    home.services.temples.pass_time()
    assert (woken, asked(east, table)) == ([True], "")


def test_tokens_that_are_sent_again_are_no_question(home: WebHome, table: Table) -> None:
    east = home.browser()
    east.sit(table, "east")
    home.services.temples.intake.receive([(TEMPLE, home.token(seq, replayed=True)) for seq in range(1, 101)])
    assert asked(east, table) == ""

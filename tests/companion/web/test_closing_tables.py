"""A seated phone closes, renames and archives its table; every game's pages still work afterwards."""

from __future__ import annotations

import re

import pytest

from tests.companion.web.conftest import WebHome
from tests.companion.web.test_ending import TABLES


@pytest.mark.parametrize(("game", "preset"), [*TABLES, ("mexica", "classic")])
def test_every_page_of_a_closed_table_says_so_and_offers_no_move(home: WebHome, game: str, preset: str) -> None:
    table = home.services.tables.open(game, "Sunday", 2, preset, {})
    phone = home.browser()
    phone.post(f"/t/{table.id}/share", {"code": table.code, f"name.{table.charter.seats[0]}": "Ana"})
    phone.post(f"/t/{table.id}/begin")
    assert f'action="/t/{table.id}/close"' in phone.get(f"/t/{table.id}").get_data(as_text=True)
    phone.post(f"/t/{table.id}/close")
    for reader, page in ((phone, ""), (home.browser(), ""), (home.browser(), "/screen")):
        html = reader.get(f"/t/{table.id}{page}").get_data(as_text=True)
        assert "The table was closed before the game had ended." in html
        assert "Nobody wins" in html
        assert set(re.findall(r"""value='\["(\w+)\"""", html)) <= {"note"}
    for page in ("/story", "/replay", "/result.txt", "/result.svg", "/result.bgsplay"):
        assert phone.get(f"/t/{table.id}{page}").status_code == 200, page


def test_a_table_that_was_put_away_leaves_the_list_and_keeps_its_page(home: WebHome) -> None:
    table = home.table(2)
    phone = home.browser()
    phone.sit(table, "east", "Ana")
    phone.post(f"/t/{table.id}/rename", {"title": "Kitchen"})
    assert "Kitchen" in phone.get("/tables").get_data(as_text=True)
    phone.post(f"/t/{table.id}/close")
    phone.post(f"/t/{table.id}/archive", {"archived": "yes"})
    assert "Kitchen" not in phone.get("/tables").get_data(as_text=True)
    assert "Kitchen" in phone.get(f"/t/{table.id}").get_data(as_text=True)
    phone.post(f"/t/{table.id}/archive", {"archived": ""})
    assert "Kitchen" in phone.get("/tables").get_data(as_text=True)

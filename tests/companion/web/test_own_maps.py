"""A map from the editor on its way: as a file, onto paper, into a new table's lobby, and back into the editor."""

from __future__ import annotations

import io
import re

from werkzeug.test import TestResponse

from companion.games.siege.rules import maps
from companion.model.table import Table
from tests.companion.web.conftest import ORIGIN, Browser, WebHome, text_of

SET = {"game": "siege", "title": "Mine", "players": "2", "preset": "classic"}


def editor(phone: Browser, home: WebHome, **form: str) -> Table:
    """Open the editor, as the game's page does."""
    answer = phone.post("/games/siege/aids/editor", form)
    return home.services.tables.get(answer.headers["Location"].rpartition("/")[2])


def brought(phone: Browser, text: str) -> TestResponse:
    return phone.client.post(
        "/games/siege/aids/editor",
        data={"option.map": "@text", "file.map": (io.BytesIO(text.encode()), "mine.toml")},
        headers={**ORIGIN, "Accept-Language": "en"},
        content_type="multipart/form-data",
    )


def drawn(phone: Browser, home: WebHome, *move: str) -> Table:
    """Open the editor and make one stroke."""
    table = editor(phone, home)
    assert phone.move(table, "keeper", *move, version=table.version).status_code == 303
    return home.services.tables.get(table.id)


def test_the_editor_hands_its_map_out_as_a_file(home: WebHome, phone: Browser) -> None:
    table = drawn(phone, home, "name", "map", "Mi ciudad")
    answer = home.browser().get(f"/t/{table.id}/made")
    assert 'filename="map.toml"' in answer.headers["Content-Disposition"]
    assert maps.field_of(answer.get_data(as_text=True)).name == "Mi ciudad"


def test_a_table_that_makes_nothing_says_so(home: WebHome, phone: Browser) -> None:
    assert phone.get(f"/t/{home.lobby().id}/made").status_code == 404


def test_one_tap_sets_a_table_on_the_map_as_it_stands(home: WebHome, phone: Browser) -> None:
    table = drawn(phone, home, "name", "map", "Mi ciudad")
    answer = phone.post("/tables", {**SET, "option.map": f"@table:{table.id}"})
    set_ = next(each for each in home.services.tables.all() if each.charter.game == "siege")
    assert answer.headers["Location"] == f"/j/{set_.code}"
    assert maps.field_of(str(set_.options["map"])).name == "Mi ciudad"


def test_the_form_of_a_new_table_offers_the_map_that_it_was_asked_for_with(home: WebHome, phone: Browser) -> None:
    table = editor(phone, home)
    page = phone.get(f"/tables/new?game=siege&option.map=%40table:{table.id}").get_data(as_text=True)
    assert re.search(f'value="@table:{table.id}" checked', page)
    assert f"@table:{table.id}" not in phone.get("/tables/new?game=siege").get_data(as_text=True)


def test_a_map_with_faults_sets_no_table_and_says_why(home: WebHome, phone: Browser) -> None:
    table = drawn(phone, home, "brush", "ground_water")
    phone.move(table, "keeper", "paint", "b2", version=table.version)
    answer = phone.post("/tables", {**SET, "option.map": f"@table:{table.id}"})
    assert answer.status_code == 422
    assert "b2 cannot be reached by boat from the lake" in text_of(answer)


def test_a_file_is_opened_in_the_editor_fit_to_play_on_or_not(home: WebHome, phone: Browser) -> None:
    text = maps.SHIPPED["skirmish"].replace("gates = [", 'gates = [\n    "e2 e",')
    answer = brought(phone, text)
    table = home.services.tables.get(answer.headers["Location"].rpartition("/")[2])
    assert answer.status_code == 303
    assert '"e2 e"' in str(table.game.written(table.state))


def test_a_file_that_is_no_map_is_reported_line_by_line(home: WebHome, phone: Browser) -> None:
    answer = brought(phone, 'name = "x"\nground = [')
    assert answer.status_code == 422
    assert "cannot be read as TOML" in text_of(answer)
    assert home.services.tables.all() == ()


def test_a_tables_map_opens_in_the_editor_and_prints(home: WebHome, phone: Browser) -> None:
    own = maps.SHIPPED["skirmish"].replace("Tepeyac", "Mi cerro")
    for chosen in (own, "full"):
        table = home.services.tables.open("siege", "Siege", 2, "classic", {"map": chosen})
        home.services.seats.begin(table.id, table.code)
        paper = phone.get(f"/t/{table.id}/print/map?paper=letter")
        assert paper.status_code == 200
        assert ("Mi cerro" in paper.get_data(as_text=True)) == (chosen == own)
        draft = editor(phone, home, **{"option.map": f"@table:{table.id}"})
        field = maps.field_of(draft.game.written(draft.state))
        assert field.ground == table.game.rules.setup(table.options, ("aztecs", "spaniards")).field.ground
        assert phone.get(f"/t/{draft.id}/print/map").status_code == 200


def test_there_is_no_such_page_before_a_game_begins_or_under_another_name(home: WebHome, phone: Browser) -> None:
    table = home.services.tables.open("siege", "Siege", 2, "classic", {})
    assert phone.get(f"/t/{table.id}/print/map").status_code == 404
    home.services.seats.begin(table.id, table.code)
    assert phone.get(f"/t/{table.id}/print/nothing").status_code == 404

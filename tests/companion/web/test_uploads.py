"""A file of a table's own in the lobby: checked, reported in plain words, and kept while the rest is mended."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from companion.games.mexica.rules import cards, hands
from companion.games.mexica.rules.cards import game_deck
from companion.games.mexica.rules.cards.deck import read
from companion.games.mexica.rules.cards.effects import Gain
from tests.companion.web.conftest import ORIGIN, Browser, WebHome, text_of

DECK = game_deck()

MINE = '[day]\nday-rabbit-2 = { effect = "gain", tokens = 5 }\n'
FORM = {"game": "mexica", "title": "Family", "players": "3", "preset": "classic"}


def upload(browser: Browser, data: bytes | str, path: str = "/tables", **form: str) -> TestResponse:
    """Send the new table's form with a file in it."""
    file = (io.BytesIO(data.encode() if isinstance(data, str) else data), "mine.toml")
    return browser.client.post(
        path,
        data={**FORM, **form, "file.deck": file},
        headers={**ORIGIN, "Accept-Language": browser.language},
        content_type="multipart/form-data",
    )


def kept(answer: TestResponse) -> str:
    """Return the text that a form keeps, as a browser would send it back."""
    found = re.search(
        r'(?s)<textarea hidden name="text.deck"[^>]*>\n?(.*?)</textarea>', answer.get_data(as_text=True)
    )
    return html.unescape(found[1]).replace("\n", "\r\n") if found else ""


def test_the_form_offers_a_file_where_a_game_takes_one(phone: Browser) -> None:
    page = phone.get("/tables/new?preset=classic").get_data(as_text=True)
    assert 'enctype="multipart/form-data"' in page
    assert 'type="file" name="file.deck"' in page
    assert page.count('id="option-deck"') == 1


def test_a_sound_deck_is_the_tables_own_whatever_becomes_of_the_file(home: WebHome, phone: Browser) -> None:
    answer = upload(phone, "\ufeff" + MINE.replace("\n", "\r\n"))
    (table,) = home.services.tables.all()
    assert answer.headers["Location"] == f"/j/{table.code}"
    assert table.options["deck"] == MINE
    home.services.seats.begin(table.id, table.code)
    home.restart()
    state = home.services.tables.get(table.id).state
    assert hands.card(state, "day-rabbit-2").effect == Gain(5)
    assert hands.card(state, "day-rabbit-3").effect == DECK.card("day-rabbit-3").effect


def test_without_a_file_the_game_keeps_its_own_deck(home: WebHome, phone: Browser) -> None:
    for chosen in ("", "default"):
        phone.post("/tables", {**FORM, "option.deck": chosen})
    assert [table.options["deck"] for table in home.services.tables.all()] == ["default", "default"]


def test_a_wrong_file_says_line_and_reason_and_the_form_keeps_what_was_typed(home: WebHome, phone: Browser) -> None:
    answer = upload(phone, "[day]\nday-dog-1 = 3\n[war]\nwar-1 = { effect = 'fly' }\n", title="Noche", players="2")
    said = text_of(answer)
    assert answer.status_code == 422
    assert "This file has 2 faults" in said
    assert "Line 2: day-dog-1 is 3; expected { effect = ... }" in said
    assert "Line 4: war-1: effect is &#39;fly&#39;; expected go_to |" in said
    page = answer.get_data(as_text=True)
    assert 'value="Noche"' in page
    assert re.search(r'name="players" value="2" checked', page)
    assert home.services.tables.all() == ()


def test_a_wrong_file_is_explained_in_the_players_language(home: WebHome) -> None:
    said = text_of(upload(home.browser(language="es"), "[day]\nday-dog-14 = 3\n"))
    assert "Hay un fallo en este archivo" in said
    assert "Línea 2: &#39;day-dog-14&#39; no es una carta de day" in said


def test_of_very_many_faults_twenty_are_reported_and_the_others_counted(phone: Browser) -> None:
    said = text_of(upload(phone, "[day]\n" + "".join(f"day-dog-{n} = 3\n" for n in range(1, 61))))
    assert "This file has 60 faults" in said
    assert "Line 21: day-dog-20" not in said.replace("day-dog-20 is no", "")  # from 14 on there is no such day
    assert said.count("Line ") == 20
    assert "And 40 more." in said


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[day]\n\xff\xfe\n", "Line 2: this is not text in UTF-8"),
        (b"", "Line 1: the file is empty"),
        (b"  \n\n", "Line 1: the file is empty"),
        (b"[day]\n# a\x00b\n", "Line 2: there is a control character in this line"),
        (b"# \x1asearch\n", "Line 1: there is a control character"),
        (b"#" * 1001, "Line 1: the line has 1,001 characters; expected 1,000 at most"),
        (b"# x\n" * 60_000, "Line 1: the file has 240,000 characters; expected 200,000 at most"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "Line 1: this is not text"),
    ],
)
def test_what_is_no_text_to_read_is_refused_before_any_game_reads_it(
    phone: Browser, data: bytes, reason: str
) -> None:
    answer = upload(phone, data)
    assert answer.status_code == 422
    assert reason in text_of(answer)


def test_words_of_a_deck_cannot_write_into_the_page(phone: Browser) -> None:
    page = upload(phone, '[day]\n"<script>alert(1)</script>" = 3\n').get_data(as_text=True)
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_another_preset_is_looked_at_without_script_and_the_file_stays_in_the_form_and_out_of_the_address(
    home: WebHome, phone: Browser
) -> None:
    page = phone.get("/tables/new?preset=classic").get_data(as_text=True)
    assert 'formaction="/tables/new#house-rules"' in page
    assert "formmethod" not in page
    looked = upload(phone, MINE, "/tables/new", preset="evening", rules="open")
    assert (looked.status_code, home.services.tables.all()) == (200, ())
    assert 'name="preset" value="evening" checked' in looked.get_data(as_text=True)
    assert phone.post("/tables", {**FORM, "option.deck": "@text", "text.deck": kept(looked)}).status_code == 303
    assert home.services.tables.all()[0].options["deck"] == MINE


def test_a_file_that_is_only_looked_at_is_checked_too(home: WebHome, phone: Browser) -> None:
    assert "Line 2: day-dog-1 is 3" in text_of(upload(phone, "[day]\nday-dog-1 = 3", "/tables/new"))
    missing = phone.post("/tables/new", {**FORM, "option.deck": "@text"})
    assert (missing.status_code, "No file was chosen" in text_of(missing)) == (200, False)
    assert home.services.tables.all() == ()


def test_a_sound_file_is_kept_while_another_field_is_mended(home: WebHome, phone: Browser) -> None:
    answer = upload(phone, MINE, title=" ")
    assert answer.status_code == 422
    assert "The file that you chose has no faults and has been kept." in text_of(answer)
    again = {**FORM, "option.deck": "@text", "text.deck": kept(answer)}
    assert phone.post("/tables", again).status_code == 303
    assert home.services.tables.all()[0].options["deck"] == MINE


def test_a_kept_file_is_checked_like_a_new_one(home: WebHome, phone: Browser) -> None:
    answer = phone.post("/tables", {**FORM, "option.deck": "@text", "text.deck": "[day]\nday-dog-1 = 3"})
    assert "Line 2: day-dog-1 is 3" in text_of(answer)
    assert home.services.tables.all() == ()


def test_a_kept_file_gives_way_to_a_choice_of_the_games_own(home: WebHome, phone: Browser) -> None:
    phone.post("/tables", {**FORM, "option.deck": "default", "text.deck": MINE})
    assert home.services.tables.all()[0].options["deck"] == "default"


def test_what_was_brought_to_a_table_is_offered_to_the_next(home: WebHome, phone: Browser) -> None:
    upload(phone, MINE, title="Friday")
    home.clock.pass_(days=1)
    upload(phone, MINE, title="Saturday")
    home.clock.pass_(days=1)
    upload(phone, MINE.replace("5", "6"), title="Sunday")
    said = text_of(phone.get("/tables/new?preset=classic"))
    assert [name in said for name in ("“Friday”", "“Saturday”", "“Sunday”")] == [False, True, True]
    saturday = next(table for table in home.services.tables.all() if table.title == "Saturday")
    chosen = {**FORM, "option.deck": f"@table:{saturday.id}"}
    wrong = phone.post("/tables", {**chosen, "title": " "}).get_data(as_text=True)
    assert re.search(f'value="@table:{saturday.id}" checked', wrong)
    assert len(re.findall(r'name="option.deck" value="[^"]*" checked', wrong)) == 1
    home.clock.pass_(days=1)
    assert phone.post("/tables", chosen).status_code == 303
    assert home.services.tables.all()[0].options["deck"] == MINE


@pytest.mark.parametrize("table", ["", "nowhere", "plain"])
def test_a_table_that_brought_nothing_has_nothing_to_offer(home: WebHome, phone: Browser, table: str) -> None:
    plain = home.lobby().id
    answer = phone.post("/tables", {**FORM, "option.deck": f"@table:{plain if table == 'plain' else table}"})
    assert "No file was chosen" in text_of(answer)
    assert len(home.services.tables.all()) == 1


def test_a_missing_file_is_reported(home: WebHome, phone: Browser) -> None:
    answer = phone.post("/tables", {**FORM, "option.deck": "@text"})
    assert "No file was chosen" in text_of(answer)
    assert home.services.tables.all() == ()


def test_a_text_cannot_pass_as_the_name_of_a_value(home: WebHome, phone: Browser) -> None:
    answer = phone.post("/tables", {**FORM, "option.deck": "[day]"})
    assert answer.status_code == 422
    assert home.services.tables.all() == ()


def test_a_whole_deck_with_its_words_in_both_languages_fits(home: WebHome, phone: Browser) -> None:
    folder = Path(cards.__file__).parents[2] / "data"
    words = "".join((folder / f"cards.{language}.toml").read_text(encoding="utf-8") for language in ("en", "es"))
    whole = "".join((folder / f"{pile}.toml").read_text(encoding="utf-8") for pile in ("day", "week", "war", "rain"))
    assert upload(phone, whole + words).status_code == 303
    text = home.services.tables.all()[0].options["deck"]
    assert isinstance(text, str)
    assert read({"whole": text}) == DECK

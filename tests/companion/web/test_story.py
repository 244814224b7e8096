"""Looking back: the story of a table, its files, and the board as it stood, for whoever asks and changing nothing."""

from __future__ import annotations

import csv
import io
import re

import pytest

from templo import contract
from tests.companion.web.conftest import Browser, WebHome, text_of


@pytest.fixture
def played(home: WebHome) -> str:
    """Play a table of four in which every seat does something; returns its id."""
    table = home.table(temple="table", apocalypse_tokens=13)
    east, north = home.seated(table), home.seated(table, "north", "=Beto")
    home.services.temples.intake.receive([("table", home.token(1, "tlaloc")), ("table", home.token(2, "tlaloc"))])
    home.play(table, east, "east", "sacrifice", "huitzilopochtli", 3)
    home.clock.pass_(minutes=4)
    home.play(table, east, "east", "end_turn")
    home.services.temples.intake.receive([("table", home.token(3, "tlaloc"))])
    home.play(table, north, "north", "sacrifice", "tlaloc", 7)
    home.play(table, north, "north", "end_turn")
    return table.id


def sections(html: str) -> list[str]:
    return re.findall(r'(?s)<section class="chapter.*?</section>', html)


def test_the_story_is_reported_turn_by_turn_with_who_what_and_when(
    home: WebHome, phone: Browser, played: str
) -> None:
    html = phone.get(f"/t/{played}/story").get_data(as_text=True)
    before, first, second, *_ = sections(html)
    assert "The game began" in before
    assert re.search(r"Turn 1</span>\s*Ana", first)
    assert "Ana gave 2 to Tlaloc" in first
    assert "Ana ended the turn" in first
    assert "=Beto gave 7 to Tlaloc" in second
    assert "18:04:00" in second


def test_the_story_has_what_its_game_draws_and_the_same_in_numbers(
    home: WebHome, phone: Browser, played: str
) -> None:
    html = phone.get(f"/t/{played}/story").get_data(as_text=True)
    assert 'aria-label="Sacrifices over 3 turns: 3 to Huitzilopochtli, 10 to Tlaloc. ' in html
    assert "The apocalypse began in turn 2." in html
    numbers = text_of(phone.get(f"/t/{played}/story"))
    assert "1 3 2 5" in numbers
    assert "2 3 10 13 13" in numbers
    assert "style=" not in html


def test_story_replay_and_export_name_who_sat_there_then(home: WebHome, phone: Browser, played: str) -> None:
    table = home.services.tables.get(played)
    home.services.seats.free(played, table.code, "east")
    home.services.seats.sit(played, table.code, "east", "Cid")
    first = sections(phone.get(f"/t/{played}/story").get_data(as_text=True))[1]
    assert re.search(r"Turn 1</span>\s*Ana", first)
    assert "Ana gave 2 to Tlaloc" in first
    rows = phone.get(f"/t/{played}/export.csv").get_data(as_text=True).splitlines()
    gave = next(number for number, row in enumerate(rows) if "Ana gave 3 to Huitzilopochtli" in row)
    assert ",Ana," in rows[gave]
    assert "Cid sits down: East" in rows[-1]
    step = rows[gave].partition(",")[0]
    assert "Ana gave 3 to Huitzilopochtli" in text_of(phone.get(f"/t/{played}/replay?step={step}"))


def test_a_story_speaks_the_language_of_its_reader(home: WebHome, played: str) -> None:
    page = text_of(home.browser(language="es").get(f"/t/{played}/story"))
    assert "Quién alimentó a quién" in page
    assert "Turno 1" in page


def test_a_lobby_and_an_empty_game_have_a_story_too(home: WebHome, phone: Browser) -> None:
    lobby, begun = home.lobby(), home.table()
    assert "Nothing yet." in text_of(phone.get(f"/t/{lobby.id}/story"))
    assert "The game began" in text_of(phone.get(f"/t/{begun.id}/story"))


def test_a_table_leads_to_its_story(home: WebHome, phone: Browser, played: str) -> None:
    assert f'href="/t/{played}/story"' in phone.get(f"/t/{played}").get_data(as_text=True)
    assert f'href="/t/{played}/story"' not in phone.get(f"/t/{played}/screen").get_data(as_text=True)


def test_what_the_app_or_another_phone_did_is_reported_so(home: WebHome, phone: Browser) -> None:
    table = home.table(2)
    token = home.seated(table)
    home.services.seats.away(table.id, token, "west", "pass")
    home.play(table, token, "east", "end_turn")
    page = text_of(phone.get(f"/t/{table.id}/story"))
    assert "West ended the turn (the app)" in page
    rows = csv.reader(io.StringIO(phone.get(f"/t/{table.id}/export.csv").get_data().decode("utf-8-sig")))
    assert [row[3:] for row in rows][-1] == ["West", "The app", "West ended the turn"]


# Files


def test_a_file_for_a_spreadsheet_has_one_line_a_row_in_words(home: WebHome, phone: Browser, played: str) -> None:
    answer = phone.get(f"/t/{played}/export.csv")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="sunday-2026-11-21.csv"'
    assert answer.mimetype == "text/csv"
    head, *rows = csv.reader(io.StringIO(answer.get_data().decode("utf-8-sig")))
    assert head == ["entry", "time", "turn", "by", "entered by", "what happened"]
    assert ["5", "2026-11-21T18:00:00+00:00", "1", "The temple", "", "Ana gave 1 to Tlaloc"] in rows
    assert len(rows) == home.services.tables.get(played).version + 1  # the token that began the age has two lines


def test_a_name_is_no_formula_in_a_spreadsheet(home: WebHome, phone: Browser, played: str) -> None:
    rows = list(csv.reader(io.StringIO(phone.get(f"/t/{played}/export.csv").get_data().decode("utf-8-sig"))))
    assert [cell for row in rows for cell in row if cell.startswith("=")] == []
    assert any("'=Beto ended the turn" in row for row in rows)


def test_a_file_to_play_again_holds_no_code_and_no_token(home: WebHome, phone: Browser, played: str) -> None:
    table = home.services.tables.get(played)
    phone.sit(table, "west", "Walt")
    answer = phone.get(f"/t/{played}/export.json")
    assert answer.mimetype == "application/json"
    assert answer.json is not None
    assert answer.json["game"] == "mexica"
    assert answer.json["names"] == {"east": "Ana", "north": "=Beto", "west": "Walt"}
    text = answer.get_data(as_text=True)
    assert table.code not in text
    assert played not in text
    assert "request" not in text


def test_a_title_of_odd_signs_makes_a_plain_file_name(home: WebHome, phone: Browser) -> None:
    table = home.services.tables.open("mexica", 'Año "/../" ☃', 2, "temple_only")
    named = phone.get(f"/t/{table.id}/export.json").headers["Content-Disposition"]
    assert named == 'attachment; filename="ano-2026-11-21.json"'


@pytest.mark.parametrize("page", ["story", "replay", "export.json", "export.csv", "reconcile"])
def test_no_table_no_page(phone: Browser, page: str) -> None:
    assert phone.get(f"/t/{'0' * 32}/{page}").status_code == 404


# Step by step


def test_every_step_shows_the_table_as_it_stood(home: WebHome, phone: Browser, played: str) -> None:
    counts = []
    for step in range(1, home.services.tables.get(played).version + 1):
        html = phone.get(f"/t/{played}/replay?step={step}").get_data(as_text=True)
        found = re.search(r'<data value="(\d+)" data-piece="count-tlaloc"', html)
        counts.append(int(found[1]) if found else None)
    assert counts[0] is None
    assert [count for count in counts if count is not None] == sorted(count for count in counts if count is not None)
    assert counts[-1] == 10
    assert {0, 1, 2, 3, 10} <= set(counts)


def test_a_table_that_is_past_has_nothing_to_tap_whoever_looks(home: WebHome, phone: Browser, played: str) -> None:
    table = home.services.tables.get(played)
    phone.sit(table, "west", "Walt")
    home.services.temples.intake.receive([("table", home.token(4, "tlaloc", "jam"))])
    for layout in ("", "&as=screen"):
        for step in (3, 6, 9, table.version + 2):
            html = phone.get(f"/t/{played}/replay?step={step}{layout}").get_data(as_text=True)
            forms = re.findall(r"<form[^>]*>", html)
            assert len(forms) == 1, forms
            assert 'method="get"' in forms[0]
            picture = html.partition('<div class="live past">')[2]
            assert "data-post" not in html
            assert "<form" not in picture
            assert 'class="clock-' in picture or "clock-total" in picture


def test_the_way_through_works_by_links(home: WebHome, phone: Browser, played: str) -> None:
    last = home.services.tables.get(played).version
    middle = phone.get(f"/t/{played}/replay?step=5").get_data(as_text=True)
    links = dict(re.findall(r'rel="(first|prev|next|last)" href="([^"]+)"', middle))
    assert links == {
        "first": f"/t/{played}/replay?step=1",
        "prev": f"/t/{played}/replay?step=4",
        "next": f"/t/{played}/replay?step=6",
        "last": f"/t/{played}/replay?step={last}",
    }
    first, end = (phone.get(f"/t/{played}/replay?step={n}").get_data(as_text=True) for n in (1, last))
    assert 'rel="prev"' not in first
    assert 'rel="next"' not in end
    assert f"Step {last} of {last}" in end


@pytest.mark.parametrize(("asked", "shown"), [("", 11), ("0", 1), ("99999", 11), ("x", 11), ("-1", 11), ("7", 7)])
def test_a_step_that_is_none_is_the_nearest(
    home: WebHome, phone: Browser, played: str, asked: str, shown: int
) -> None:
    assert home.services.tables.get(played).version == 11
    answer = phone.get(f"/t/{played}/replay?step={asked}")
    assert answer.status_code == 200
    assert f"Step {shown} of 11" in text_of(answer)


def test_a_step_is_the_same_after_the_table_went_on(home: WebHome, phone: Browser, played: str) -> None:
    then = text_of(phone.get(f"/t/{played}/replay?step=6")).replace("of 11", "of")
    home.services.temples.intake.receive([("table", home.token(4, "tlaloc"))])
    assert text_of(phone.get(f"/t/{played}/replay?step=6")).replace("of 12", "of") == then
    assert "Step 12 of 12" in text_of(phone.get(f"/t/{played}/replay"))


# Temple and ledger


def reconcile(home: WebHome, phone: Browser) -> str:
    """Seat the phone at a table with three doubtful tokens and a certain one; returns the table's id."""
    table = home.table(temple="table")
    phone.sit(table, "east")
    home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR)
    fell = home.clock.pass_(seconds=5)
    home.clock.pass_(seconds=5)
    phone.move(table, "east", "end_turn", version=home.services.tables.get(table.id).version)
    home.services.temples.intake.receive(
        [
            ("table", home.token(1, "tlaloc", at=fell, replayed=True)),
            ("table", home.token(2, "huitzilopochtli", "jam")),
            ("table", home.token(3, "tlaloc", at=fell, replayed=True)),
            ("table", home.token(4, "tlaloc")),
        ]
    )
    return table.id


def fields(html: str) -> dict[str, str]:
    return dict(re.findall(r'name="(seat|version|request)" value="([^"]*)"', html))


def given(home: WebHome, table_id: str, seat: str) -> dict[str, int]:
    table = home.services.tables.get(table_id)
    return dict(table.game.page.view(table.state, None)["given"][seat])  # type: ignore[call-overload,index]


def test_what_waits_is_shown_with_its_time_its_slot_and_its_doubt(home: WebHome, phone: Browser) -> None:
    table_id = reconcile(home, phone)
    page = text_of(phone.get(f"/t/{table_id}/reconcile"))
    assert "They do not agree yet: 3 tokens are waiting" in page
    assert "It fell before this turn began." in page
    assert "Something was stuck for a while. Was it a token?" in page
    assert "It took 14 ms to pass." in page
    assert "Probably Ana" in page
    assert "fell for this table 3" in page
    assert f'href="/t/{table_id}/reconcile"' in phone.get(f"/t/{table_id}").get_data(as_text=True)


@pytest.mark.parametrize(("every", "counted"), [("none", 1), ("suggested", 4)])
def test_one_tap_settles_all_tokens_that_the_temple_doubts(
    home: WebHome, phone: Browser, every: str, counted: int
) -> None:
    table = home.table(temple="table")
    phone.sit(table, "east")
    tokens = [home.token(n, "tlaloc") for n in range(1, 5)]
    home.services.temples.intake.receive([("table", token) for token in tokens])
    doubted = tuple(token.token for token in tokens[:3])
    doubt = contract.Doubt(tokens[0].source, 1, "flicker", home.clock.now, doubted)
    home.services.temples.doubts.receive("table", doubt)
    page = phone.get(f"/t/{table.id}/reconcile")
    assert "The beam flickered, as from light or a loose plug." in text_of(page)
    assert "The temple doubts 3 tokens." in text_of(page)
    form = {**fields(page.get_data(as_text=True)), "last": doubted[-1], "every": every}
    for _ in range(2):
        assert phone.post(f"/t/{table.id}/reconcile", form).status_code == 303
    assert home.services.tables.get(table.id).unclaimed == ()
    assert given(home, table.id, "east")["tlaloc"] == counted


def test_a_phone_settles_what_the_temple_doubts_on_its_tables_page(home: WebHome, phone: Browser) -> None:
    table = home.table(temple="table")
    phone.sit(table, "east")
    tokens = [home.token(n, "tlaloc") for n in range(1, 5)]
    home.services.temples.intake.receive([("table", token) for token in tokens])
    doubted = tuple(token.token for token in tokens[:3])
    home.services.temples.doubts.receive(
        "table", contract.Doubt(tokens[0].source, 1, "flicker", home.clock.now, doubted)
    )
    page = phone.get(f"/t/{table.id}")
    assert "doubts 3 tokens. The beam flickered, as from light or a loose plug. None of them" in text_of(page)
    form = {**fields(page.get_data(as_text=True)), "last": doubted[-1], "every": "none", "seat": "east"}
    answer = phone.post(f"/t/{table.id}/reconcile", form, Accept="application/json")
    assert answer.get_json()["ok"]
    assert "The temple doubts" not in answer.get_json()["regions"]["yours"]
    assert home.services.tables.get(table.id).unclaimed == ()


def test_a_temples_page_says_how_many_tokens_it_doubts_and_what_to_do(home: WebHome, phone: Browser) -> None:
    home.table(temple="table")
    tokens = [home.token(n, "tlaloc") for n in range(1, 5)]
    home.services.temples.intake.receive([("table", token) for token in tokens])
    for number, reason in enumerate(("together", "unproved"), 1):
        doubted = tuple(token.token for token in tokens[2 * number - 2 : 2 * number])
        doubt = contract.Doubt(tokens[0].source, number, reason, home.clock.now, doubted)
        home.services.temples.doubts.receive("table", doubt)
    page = text_of(phone.get("/temples/table"))
    assert "use a stronger supply or a shorter cable. The temple doubts 2 tokens. Both beams broke at once" in page
    assert "Clean both ends of the beam, and push their plugs in firmly. The temple doubts 2 tokens." in page


def test_several_tokens_are_given_to_one_seat_at_once(home: WebHome, phone: Browser) -> None:
    table_id = reconcile(home, phone)
    html = phone.get(f"/t/{table_id}/reconcile").get_data(as_text=True)
    form = {**fields(html), "token": [f"{1:032x}", f"{3:032x}"], "to": "west"}
    before = home.services.tables.get(table_id).version
    for _ in range(2):
        assert phone.post(f"/t/{table_id}/reconcile", form).status_code == 303  # type: ignore[arg-type]
    assert home.services.tables.get(table_id).version == before + 2
    assert given(home, table_id, "west") == {"huitzilopochtli": 0, "tlaloc": 2}
    assert "1 token is waiting" in text_of(phone.get(f"/t/{table_id}/reconcile"))


def test_one_tap_says_what_is_likely_and_one_dismisses(home: WebHome, phone: Browser) -> None:
    table_id = reconcile(home, phone)
    html = phone.get(f"/t/{table_id}/reconcile").get_data(as_text=True)
    phone.post(f"/t/{table_id}/reconcile", {**fields(html), "one": f"{1:032x} east"})
    html = phone.get(f"/t/{table_id}/reconcile").get_data(as_text=True)
    phone.post(f"/t/{table_id}/reconcile", {**fields(html), "all": "1", "shown": f"{2:032x}", "to": "none"})
    assert given(home, table_id, "east") == {"huitzilopochtli": 0, "tlaloc": 1}
    page = text_of(phone.get(f"/t/{table_id}/reconcile"))
    assert "Not a token, Huitzilopochtli’s slot" in page
    assert "1 token is waiting" in page


def test_when_all_is_answered_for_the_page_says_so(home: WebHome, phone: Browser) -> None:
    table_id = reconcile(home, phone)
    html = phone.get(f"/t/{table_id}/reconcile").get_data(as_text=True)
    shown = re.findall(r'name="shown" value="([^"]+)"', html)
    phone.post(f"/t/{table_id}/reconcile", {**fields(html), "all": "1", "shown": shown, "to": "east"})  # type: ignore[dict-item]
    page = phone.get(f"/t/{table_id}/reconcile")
    assert "They agree: every token that fell counts" in text_of(page)
    assert "There is nothing to do." in text_of(page)
    assert "<form" not in page.get_data(as_text=True).partition("<main")[2]
    assert f'href="/t/{table_id}/reconcile"' not in phone.get(f"/t/{table_id}").get_data(as_text=True)


def test_a_token_that_was_answered_meanwhile_changes_nothing(home: WebHome, phone: Browser) -> None:
    table_id = reconcile(home, phone)
    html = phone.get(f"/t/{table_id}/reconcile").get_data(as_text=True)
    other = home.browser()
    other.sit(home.services.tables.get(table_id), "north", "Beto")
    other.move(
        home.services.tables.get(table_id),
        "north",
        "dismiss",
        f"{1:032x}",
        version=home.services.tables.get(table_id).version,
    )
    before = home.services.tables.get(table_id)
    for tokens in ([f"{1:032x}", f"{3:032x}"], [f"{3:032x}"]):
        answer = phone.post(f"/t/{table_id}/reconcile", {**fields(html), "token": tokens, "to": "east"})  # type: ignore[dict-item]
        assert answer.status_code == 409
        assert "changed before your tap" in text_of(answer)
    assert home.services.tables.get(table_id) == before


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"to": "east"}, 422),
        ({"token": f"{1:032x}"}, 422),
        ({"token": f"{1:032x}", "to": "moon"}, 409),
        ({"one": f"{1:032x}"}, 422),
        ({"token": f"{1:032x}", "to": "east", "version": "x"}, 400),
        ({"token": f"{1:032x}", "to": "east", "request": ""}, 400),
        ({"token": f"{1:032x}", "to": "east", "seat": "north"}, 403),
        ({"token": "nothing", "to": "east"}, 409),
    ],
)
def test_a_post_that_says_nothing_sensible_changes_nothing(
    home: WebHome, phone: Browser, form: dict[str, str], status: int
) -> None:
    table_id = reconcile(home, phone)
    base = fields(phone.get(f"/t/{table_id}/reconcile").get_data(as_text=True))
    before = home.services.tables.get(table_id)
    assert phone.post(f"/t/{table_id}/reconcile", base | form).status_code == status
    assert home.services.tables.get(table_id) == before


def test_whoever_watches_sees_both_sides_and_answers_nothing(home: WebHome, phone: Browser) -> None:
    table_id = reconcile(home, phone)
    watcher = home.browser()
    answer = watcher.get(f"/t/{table_id}/reconcile")
    assert "Anyone seated at the table can answer this." in text_of(answer)
    assert "<form" not in answer.get_data(as_text=True).partition("<main")[2]
    form = {"token": f"{1:032x}", "to": "east", "seat": "east", "version": "99", "request": "a"}
    assert watcher.post(f"/t/{table_id}/reconcile", form).status_code == 403


def test_tokens_on_their_way_are_counted_and_it_is_said_what_to_do(home: WebHome, phone: Browser) -> None:
    table = home.table(temple="table")
    phone.sit(table, "east")
    home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR)
    home.services.temples.intake.receive([("table", home.token(1))])
    home.services.temples.ledgers.receive_count(
        "table", contract.Count(home.token(1).source, 3, {contract.God.HUITZILOPOCHTLI: 1, contract.God.TLALOC: 2})
    )
    page = text_of(phone.get(f"/t/{table.id}/reconcile"))
    assert "2 tokens that the temple has seen have not arrived here" in page
    assert "Wait a moment" in page
    assert f'href="/t/{table.id}/reconcile"' not in phone.get(f"/t/{table.id}").get_data(as_text=True)
    home.beams("table", contract.Beam.UNKNOWN, contract.Beam.UNKNOWN, contract.State.LOST)
    assert "check its power and its network" in text_of(phone.get(f"/t/{table.id}/reconcile"))
    assert "2 tokens to sort out" in text_of(phone.get(f"/t/{table.id}"))


def test_a_table_without_a_temple_or_not_begun_has_a_plain_answer(home: WebHome, phone: Browser) -> None:
    table = home.table()
    assert "They agree" in text_of(phone.get(f"/t/{table.id}/reconcile"))
    assert phone.get(f"/t/{home.lobby().id}/reconcile").status_code == 409


def test_what_people_counted_by_hand_is_named_as_the_difference(home: WebHome, phone: Browser) -> None:
    table = home.table(temple="table")
    east, north = home.seated(table), home.seated(table, "north", "Beto")
    home.services.temples.intake.receive([("table", home.token(1))])
    home.play(table, east, "east", "sacrifice", "tlaloc", 3)
    home.play(table, east, "east", "propose", "east", "tlaloc", -1)
    home.play(table, north, "north", "confirm")
    page = text_of(phone.get(f"/t/{table.id}/reconcile"))
    assert "people counted or corrected by hand" in page
    assert "by token 1 by tap 3 by correction −1 counts 3" in page
    assert "Ana, Tlaloc: −1" in page

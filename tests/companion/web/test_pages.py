"""The pages before and around a game: in a family's words, in both languages, with and without a script."""

from __future__ import annotations

import re

import pytest

from companion.model import missing
from companion.model.table import Table
from templo import contract
from tests.companion.web.conftest import Browser, WebHome, text_of


def test_the_first_page_says_what_this_is_and_leads_to_a_table(home: WebHome, phone: Browser) -> None:
    table = home.table()
    page = phone.get("/")
    said = text_of(page)
    assert "Drop a token into a slot of the temple" in said
    assert "Sunday" in said
    html = page.get_data(as_text=True)
    for path in ('action="/join"', 'href="/tables/new"', f'href="/t/{table.id}"', f'href="/t/{table.id}/screen"'):
        assert path in html


def test_every_page_has_its_landmarks_a_heading_and_a_way_past_them(home: WebHome, phone: Browser) -> None:
    table = home.table(temple="table")
    for path in ("/", "/tables", "/tables/new", "/join", "/temples", "/temples/table", "/no", f"/t/{table.id}"):
        html = phone.get(path).get_data(as_text=True)
        assert '<html lang="en">' in html
        assert html.count("<main ") == html.count("<h1") == 1, path
        assert re.search(r'<a class="skip-link" href="#main">', html)


def test_the_language_is_the_browsers_until_one_is_chosen(home: WebHome) -> None:
    browser = home.browser(language="es-MX,es;q=0.9,en;q=0.5")
    assert '<html lang="es">' in browser.get("/").get_data(as_text=True)
    assert home.browser(language="fr").get("/").get_data(as_text=True).startswith('<!doctype html>\n<html lang="en">')
    answer = browser.post("/language", {"language": "en", "next": "/tables"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/tables")
    assert '<html lang="en">' in browser.get("/tables").get_data(as_text=True)


def test_a_language_that_is_not_spoken_changes_nothing(phone: Browser) -> None:
    answer = phone.post("/language", {"language": "xx", "next": "/"})
    assert answer.status_code == 400
    assert "Set-Cookie" not in answer.headers


def test_a_table_is_set_with_its_house_rules_and_leads_to_its_chairs(home: WebHome, phone: Browser) -> None:
    form = {
        "game": "mexica",
        "title": "Family",
        "players": "3",
        "preset": "temple_only",
        "option.apocalypse_tokens": "104",
        "option.doom_by": "least",
        "option.countdown": "",
    }
    answer = phone.post("/tables", form)
    table = home.services.tables.all()[0]
    assert answer.headers["Location"] == f"/j/{table.code}"
    assert (table.title, len(table.chairs)) == ("Family", 3)
    assert (table.options["apocalypse_tokens"], table.options["doom_by"]) == (104, "least")
    assert table.options["countdown"] == "turns13"


def test_a_second_tap_opens_no_second_table(home: WebHome, phone: Browser) -> None:
    html = phone.get("/tables/new?game=mexica").get_data(as_text=True)
    found = re.search(r'name="request" value="(\w+)"', html)
    assert found
    form = {"game": "mexica", "title": "Family", "players": "3", "preset": "temple_only", "request": found[1]}
    first, second = (phone.post("/tables", form).headers["Location"] for _ in range(2))
    assert len(home.services.tables.all()) == 1
    assert first == second
    assert home.browser("10.0.0.9").post("/tables", form).headers["Location"] != first, "another's id is no key"
    phone.post("/tables", {**form, "title": "Friends"})
    assert sorted(table.title for table in home.services.tables.all()) == ["Family", "Family", "Friends"]
    phone.post("/tables", {**form, "title": "Family", "request": ""})
    assert len(home.services.tables.all()) == 4


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("players", "7", "for 2 to 4 players"),
        ("players", "²", "for 2 to 4 players"),
        ("title", "", "1 to 24 visible characters"),
        ("preset", "chess", "no such set of rules"),
        ("option.apocalypse_tokens", "12", "12 cannot be chosen"),
        ("option.apocalypse_tokens", "<b>", "<b> cannot be chosen".replace("<", "&lt;").replace(">", "&gt;")),
        ("option.doom_by", "best", "best cannot be chosen"),
        ("temple", "nowhere", "No temple of that name"),
    ],
)
def test_a_table_that_cannot_be_set_says_why_and_keeps_what_was_typed(
    home: WebHome, phone: Browser, field: str, value: str, words: str
) -> None:
    form = {"game": "mexica", "title": "Family", "players": "3", "preset": "temple_only", field: value}
    answer = phone.post("/tables", form)
    assert answer.status_code == 422
    assert words in text_of(answer)
    if field != "title":
        assert 'value="Family"' in answer.get_data(as_text=True)


def test_a_game_that_is_not_there_is_a_page_of_its_own(phone: Browser) -> None:
    assert phone.post("/tables", {"game": "chess"}).status_code == 404


@pytest.mark.parametrize("preset", ["temple_only", "classic"])
def test_the_new_table_form_shows_exactly_the_house_rules_that_matter_for_a_preset(
    home: WebHome, phone: Browser, preset: str
) -> None:
    game = home.services.tables.games["mexica"]
    page = phone.get(f"/tables/new?preset={preset}")
    html, said = page.get_data(as_text=True), text_of(page)
    for option in game.options:
        if option.key != "scope" and (len(option.values) > 1 or option.high):
            matters = option.matters(game.presets[preset])
            assert (f'id="option-{option.key}"' in html) == matters, option.key
            assert not matters or f"ruling {option.ruling}" in said


def test_choosing_another_preset_loses_nothing_that_was_entered(phone: Browser) -> None:
    entered = {"title": "Sunday", "players": "2", "preset": "evening", "option.battle_loot": "one", "rules": "open"}
    html = phone.post("/tables/new", {"game": "mexica", **entered}).get_data(as_text=True)
    assert 'value="Sunday"' in html
    for name, value in (("players", "2"), ("preset", "evening"), ("option.battle_loot", "one")):
        assert re.search(rf'name="{re.escape(name)}" value="{value}" checked', html), name
    assert 'placeholder="52"' in html


def test_a_code_is_taken_however_it_is_typed(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    answer = phone.post("/join", {"code": f" {table.code[:3].lower()}-{table.code[3:].lower()} "})
    assert answer.headers["Location"] == f"/j/{table.code}"
    assert "Take a seat" in text_of(phone.get(f"/j/{table.code}"))


def test_a_wrong_code_says_what_codes_look_like(phone: Browser) -> None:
    assert "without 0, 1, I or O" in text_of(phone.post("/join", {"code": "ABC-DEF"}))


def test_a_seat_is_taken_and_kept_over_a_reload(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    assert phone.sit(table, "north").headers["Location"] == f"/t/{table.id}"
    for _ in range(2):
        assert "North Ana you" in text_of(phone.get(f"/t/{table.id}"))
    assert "North Ana you" not in text_of(home.browser().get(f"/t/{table.id}"))


def lose(phone: Browser, table: Table) -> str:
    """Forget the seat of a phone as if the answer that gave it was lost; returns its token."""
    path = f"/t/{table.id}"
    cookie = phone.client.get_cookie(f"seat-{table.id}", path=path)
    assert cookie is not None
    phone.client.delete_cookie(f"seat-{table.id}", path=path)
    return cookie.value


def test_a_second_tap_on_sit_down_gives_the_same_seat(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    phone.get(f"/j/{table.code}")
    phone.sit(table, "east")
    token = lose(phone, table)
    assert phone.sit(table, "east").headers["Location"] == f"/t/{table.id}"
    assert lose(phone, table) == token
    assert [entry.by for entry in home.services.tables.entries(table.id)] == ["east"]
    other = home.browser()
    other.get(f"/j/{table.code}")
    assert other.sit(table, "east", "Eve").headers["Location"].startswith(f"/j/{table.code}")


def test_a_phone_whose_answer_was_lost_finds_its_seat_where_it_scans_the_code_again(
    home: WebHome, phone: Browser
) -> None:
    table = home.lobby()
    phone.get(f"/j/{table.code}")
    phone.post(f"/t/{table.id}/share", {"code": table.code, "name.east": "Ana"})
    token = lose(phone, table)
    assert phone.post(f"/t/{table.id}/share", {"code": table.code, "name.east": "Ana"}).status_code == 303
    assert lose(phone, table) == token
    assert "You already have a seat at this table." in text_of(phone.get(f"/j/{table.code}"))
    assert lose(phone, table) == token
    stranger = home.browser()
    assert "You already have a seat" not in text_of(stranger.get(f"/j/{table.code}"))
    assert stranger.post(f"/t/{table.id}/share", {"code": table.code}).status_code == 422


def test_what_tokens_follow_from_is_of_128_bits_and_no_script_reads_it(home: WebHome, phone: Browser) -> None:
    tables = [home.lobby(), home.lobby()]
    for table in tables:
        (cookie,) = phone.get(f"/j/{table.code}").headers.getlist("Set-Cookie")
        pair, _, *rest = cookie.split("; ")
        assert re.fullmatch(r"coming=[0-9a-f]{64}", pair)
        assert rest == ["Max-Age=86400", "HttpOnly", "Path=/", "SameSite=Lax"]
        phone.sit(table, "east")
    first, second = (lose(phone, table) for table in tables)
    assert first != second
    assert len(first) == len(second) == 32


@pytest.mark.parametrize("made_up", ["", "0" * 32, "0" * 64, "x" * 33, "é" * 64])
def test_no_seat_s_token_follows_from_what_somebody_else_put_into_a_browser(home: WebHome, made_up: str) -> None:
    table, phone = home.lobby(), home.browser()
    phone.client.set_cookie("coming", made_up)
    assert phone.get(f"/j/{table.code}").headers.getlist("Set-Cookie")[0].startswith("coming=")
    phone.client.set_cookie("coming", made_up)
    phone.sit(table, "east")
    other = home.browser()
    other.client.set_cookie("coming", made_up)
    assert "You already have a seat" not in text_of(other.get(f"/j/{table.code}"))


def test_over_tls_every_cookie_is_sent_over_tls_only(home: WebHome) -> None:
    table = home.lobby()
    https = {"Origin": "https://localhost"}
    form = {"code": table.code, "seat": "east", "name": "Ana"}
    answers = [
        home.app.test_client().get(f"/j/{table.code}", base_url="https://localhost"),
        *(
            home.app.test_client().post(path, data=data, base_url="https://localhost", headers=https)
            for path, data in (
                (f"/t/{table.id}/sit", form),
                (f"/t/{table.id}/screen", form),
                ("/language", {"language": "es"}),
            )
        ),
    ]
    for answer in answers:
        assert answer.status_code in (200, 303)
        for cookie in answer.headers.getlist("Set-Cookie"):
            assert {"Secure", "HttpOnly"} <= set(cookie.split("; ")), cookie
    assert sum(len(answer.headers.getlist("Set-Cookie")) for answer in answers) == 6


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_browser_that_keeps_no_cookies_takes_no_seat_and_says_why(home: WebHome, language: str) -> None:
    table = home.lobby()
    phone = Browser(home.app.test_client(use_cookies=False), "127.0.0.1", language)
    html = phone.get(f"/j/{table.code}").get_data(as_text=True)
    assert html.count('name="cookies" value="needed"') == 2
    form = {"code": table.code, "seat": "east", "name": "Ana", "name.east": "Ana", "cookies": "needed"}
    for action in ("sit", "share"):
        answer = phone.post(f"/t/{table.id}/{action}", form)
        assert answer.status_code == 422
        assert {"en": "This browser keeps no cookies", "es": "no guarda cookies"}[language] in text_of(answer)
    assert not any(chair.taken for chair in home.services.tables.get(table.id).chairs)
    keeps = home.browser()
    keeps.get(f"/j/{table.code}")
    assert keeps.post(f"/t/{table.id}/sit", form).status_code == 303


def test_a_form_that_is_loaded_again_after_a_refusal_leads_to_its_page(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    phone.sit(table, "east")
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for form in ("sit", "share", "play", "begin", "away"):
        answer = phone.get(f"/t/{table.id}/{form}", **browser)
        assert (answer.status_code, answer.headers["Location"]) == (303, f"/t/{table.id}"), form
        assert phone.get(f"/t/{table.id}/{form}", Accept="application/json").status_code == 405
    assert phone.get(f"/t/{'0' * 32}/sit", **browser).status_code == 405
    for form, page in (
        ("/organiser/message/end", "/organiser"),
        ("/organiser/rounds/next", "/organiser/rounds"),
        ("/temples/attic/ask", "/temples/attic"),
        ("/games/market/aids/score", "/games/market"),
        ("/setup/name", "/setup"),
    ):
        answer = phone.get(form, **browser)
        assert (answer.status_code, answer.headers["Location"]) == (303, page), form
    assert phone.get("/language", **browser).status_code == 405


def test_one_phone_takes_every_free_seat(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    home.browser().sit(table, "west", "Walt")
    phone.post(f"/t/{table.id}/share", {"code": table.code, "name.east": "Ana", "name.north": "Ben"})
    chairs = {chair.seat: (chair.name, chair.shared) for chair in home.services.tables.get(table.id).chairs}
    assert chairs == {"east": ("Ana", True), "north": ("Ben", True), "west": ("Walt", False), "south": ("", True)}


def test_the_lobby_invites_only_for_those_who_know_the_code(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    phone.sit(table, "east")
    spelled = f"{table.code[:3]}-{table.code[3:]}"
    assert spelled in text_of(phone.get(f"/t/{table.id}"))
    assert phone.get(f"/t/{table.id}/qr.svg").mimetype == "image/svg+xml"
    stranger = home.browser()
    for path in (f"/t/{table.id}", f"/t/{table.id}/screen"):
        html = stranger.get(path).get_data(as_text=True)
        assert table.code not in html
        assert spelled not in html
    assert stranger.get(f"/t/{table.id}/qr.svg").status_code == 403


def test_a_screen_that_is_given_the_code_invites_and_hands_seats_over(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    phone.sit(table, "east")
    screen = home.browser()
    assert screen.post(f"/t/{table.id}/free", {"seat": "east"}).status_code == 403
    assert screen.post(f"/t/{table.id}/screen", {"code": table.code}).headers["Location"] == f"/t/{table.id}/screen"
    page = screen.get(f"/t/{table.id}/screen")
    assert f"{table.code[:3]}-{table.code[3:]}" in text_of(page)
    assert "Hand seat over" in text_of(page)
    answer = screen.post(f"/t/{table.id}/free", {"seat": "east"}, Referer=f"http://localhost/t/{table.id}/screen")
    assert answer.headers["Location"] == f"/t/{table.id}/screen"
    assert not home.services.tables.get(table.id).chair("east").taken


def test_the_seats_page_hands_over_while_the_game_runs(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    screen = home.browser()
    assert "Hand seat over" not in text_of(screen.get(f"/t/{table.id}/seats"))
    assert table.code not in screen.get(f"/t/{table.id}/seats").get_data(as_text=True)
    seats = f"/t/{table.id}/seats"
    came_from = f"http://localhost{seats}"
    assert screen.post(f"/t/{table.id}/screen", {"code": table.code}, Referer=came_from).headers["Location"] == seats
    assert f'href="{seats}"' in screen.get(f"/t/{table.id}/screen").get_data(as_text=True)
    assert "Hand seat over East" in text_of(screen.get(seats))
    assert screen.post(f"/t/{table.id}/free", {"seat": "east"}, Referer=came_from).headers["Location"] == seats
    assert "East Ana free" in text_of(screen.get(seats))


def test_a_lobby_offers_who_watches_one_way_to_join(home: WebHome, phone: Browser) -> None:
    page = phone.get(f"/t/{home.lobby().id}").get_data(as_text=True)
    assert page.count('href="/join"') == 1


def test_the_lobby_asks_for_a_token_through_each_slot_that_was_not_proved(home: WebHome, phone: Browser) -> None:
    home.beams("table", contract.Beam.CLEAR, contract.Beam.UNPROVED)
    table = home.services.tables.open("mexica", "Sunday", 2, "temple_only", {}, "table")
    phone.sit(table, "east")
    said = text_of(phone.get(f"/t/{table.id}"))
    assert "Drop one token through each slot" in said
    assert "Tlaloc: waiting for its first token" in said
    home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR)
    assert "The temple is ready" in text_of(phone.get(f"/t/{table.id}"))


@pytest.mark.parametrize(
    ("beam", "words"),
    [
        (contract.Beam.CLEAR, "Temple ready, both beams clear"),
        (contract.Beam.JAMMED, "Tlaloc’s slot is blocked: clear the chute"),
        (contract.Beam.DARK, "Tlaloc’s slot sees no light"),
        (contract.Beam.FLICKER, "Tlaloc’s slot flickers: shade it from the sun"),
        (contract.Beam.UNPROVED, "Tlaloc’s slot has not seen a token yet"),
    ],
)
def test_a_temples_health_is_said_in_plain_words(
    home: WebHome, phone: Browser, beam: contract.Beam, words: str
) -> None:
    """Its own page says it too, of a temple that reports no more than its beams' states."""
    home.beams("table", contract.Beam.CLEAR, beam)
    table = home.table(temple="table")
    for path in ("/temples", f"/t/{table.id}", f"/t/{table.id}/screen"):
        assert words in text_of(phone.get(path)), path
    well = beam is contract.Beam.CLEAR
    assert ("Nothing. Both beams are clear" if well else words) in text_of(phone.get("/temples/table"))


def test_every_health_has_words(home: WebHome, phone: Browser) -> None:
    for state in contract.State:
        home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR, state)
        assert phone.get("/temples/table").status_code == 200
    resends = (missing.REFUSED, missing.SILENT, missing.EMPTY)
    for trouble in (*contract.Trouble, *resends, "never", "no_broker", "conflict", "none"):
        assert home.app.extensions["site"].renderer.words("es").has(f"health.{trouble}"), trouble


def test_a_temples_page_shows_its_tokens_its_totals_and_what_was_held_apart(home: WebHome, phone: Browser) -> None:
    home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR)
    table = home.table(temple="table")
    home.services.temples.intake.receive(
        [("table", home.token(1)), ("table", home.token(2, "huitzilopochtli", "jam", "odd"))]
    )
    home.services.temples.intake.receive([("table", home.token(1, token="f" * 32))])
    said = text_of(phone.get("/temples/table"))
    assert "Tlaloc clear, and has seen a token 1 token in all" in said
    assert "stuck: was that a token? unusual" in said
    assert "1 token is held apart" in said
    assert f"Serves the table {table.title}" in said


def test_a_temple_is_moved_to_another_table_by_who_sits_there(home: WebHome, phone: Browser) -> None:
    first, second = home.table(temple="table"), home.table()
    phone.sit(second, "east")
    asked = {"temple": "table", "temple_code": first.code}
    assert home.browser().post(f"/t/{second.id}/temple", asked).status_code == 403
    assert phone.post(f"/t/{second.id}/temple", asked).status_code == 303
    assert home.services.tables.get(second.id).temple == "table"
    assert home.services.tables.get(first.id).temple is None
    phone.post(f"/t/{second.id}/temple", {"temple": ""})
    assert home.services.tables.get(second.id).temple is None


def test_what_is_not_there_is_said_in_words(home: WebHome, phone: Browser) -> None:
    for path in ("/nowhere", "/t/0", "/t/0/stream", "/temples/nobody", "/games/chess/static/x.css"):
        answer = phone.get(path)
        assert answer.status_code == 404, path
        assert "There is nothing here" in text_of(answer)
    assert home.browser(language="es").get("/nowhere").get_data(as_text=True).count("Aquí no hay nada") >= 1


def test_healthz_says_which_companion_this_is(phone: Browser) -> None:
    assert phone.get("/healthz").json == {"instance": "an-instance"}


def test_the_field_for_a_code_is_empty_until_somebody_has_typed(phone: Browser) -> None:
    for path in ("/", "/join"):
        assert 'placeholder="ABC-DEF" value=""' in phone.get(path).text, path
    assert 'value="ZZZ-&lt;b&gt;"' in phone.post("/join", {"code": "ZZZ-<b>"}).text

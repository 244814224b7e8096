"""What people noticed at the table: numbers of one, a temple where none is used, printing, replaying, installing."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from companion.games import registry
from companion.model.table import ServiceError
from companion.web.rendering.texts import load
from companion.web.site import HERE
from tests.companion.model.test_evenings import played
from tests.companion.web.conftest import Browser, WebHome, home_with, text_of
from tests.games.your_own_game import EXAMPLES

COUNTED = re.compile(r"\{(n|points|turn|left|of)\} [a-z]+s\b")
NEVER_ONE = re.compile(r"players|lines|characters|minutes|seconds|hexes in a row|rows|chits|quarters|faults")
"""What is never counted down to one, or is a limit."""


@pytest.mark.parametrize(
    ("game", "said"),
    [("mexica", "Sacrifices are tapped in by hand."), ("race", "No tokens fall at this table.")],
)
def test_what_a_table_without_a_temple_does_is_true_for_its_game(tmp_path: Path, game: str, said: str) -> None:
    for home in home_with(tmp_path, registry.load([EXAMPLES / "race"])):
        assert said in text_of(home.browser().get(f"/tables/new?game={game}"))


def test_a_text_that_counts_has_words_for_one(home: WebHome) -> None:
    folders = [HERE / "texts", *(folder / "texts" for folder in home.app.extensions["site"].folders.values())]
    wrong = [
        text
        for folder in folders
        for text in load(folder, "en").values()
        if isinstance(text, str) and COUNTED.search(text) and not NEVER_ONE.search(text)
    ]
    allowed = (
        "Week card {n} was issued",
        "{n} tokens to Tonantzin for a Day card",
        "{n} sacrifices call the gods",
        "{n} is not a number from {low} to {high}.",
        "The buyer of lane {n} has no coin.",
        "The buyer of lane {n} holds something else.",
    )
    assert [text for text in wrong if text not in allowed] == []


def test_an_army_that_is_placed_is_called_a_deployment(home: WebHome) -> None:
    folder = home.app.extensions["site"].folders["siege"]
    texts = [text for text in load(folder / "texts", "en").values() if isinstance(text, str)]
    assert [text for text in texts if re.search(r"\barrays?\b", text, re.IGNORECASE)] == []
    assert any("eployment" in text for text in texts)


@pytest.mark.parametrize(("n", "said"), [(1, "1 jewel"), (2, "2 jewels")])
def test_one_jewel_is_one_jewel(home: WebHome, n: int, said: str) -> None:
    words = home.app.extensions["site"].renderer.library.words("en", "market")
    assert words("market.goods", n=n, commodity="jewels") == said


def test_a_game_without_a_temple_says_nothing_of_one(home: WebHome) -> None:
    for game, said in (("market", False), ("mexica", True)):
        table = home.services.tables.open(game, "Sunday", 2, next(iter(home.games[game].presets)), {})
        home.services.seats.begin(table.id, table.code)
        assert ("No temple" in text_of(home.browser().get(f"/t/{table.id}/screen"))) == said


def test_a_page_for_the_printer_has_a_button_that_prints(phone: Browser) -> None:
    html = phone.get("/games/mexica/print/board").get_data(as_text=True)
    assert re.search(r"<button[^>]* data-print hidden>Print</button>", html)
    assert "print.js" in html


def test_every_page_names_what_a_browser_installs_it_by(phone: Browser) -> None:
    assert 'rel="manifest" href="/app.webmanifest"' in phone.get("/").get_data(as_text=True)
    answer = phone.get("/app.webmanifest")
    assert answer.mimetype == "application/manifest+json"
    manifest = answer.get_json(force=True)
    assert (manifest["display"], manifest["start_url"]) == ("standalone", "/")
    for icon in manifest["icons"]:
        picture = phone.get(icon["src"])
        assert (picture.status_code, picture.mimetype) == (200, icon["type"])
        assert icon["sizes"] == ("any" if icon["type"] == "image/svg+xml" else _size(picture.data))
    of_png = {(icon["sizes"], icon["purpose"]) for icon in manifest["icons"] if icon["type"] == "image/png"}
    assert of_png == {("192x192", "any"), ("512x512", "any"), ("512x512", "maskable")}


def test_every_page_names_the_icon_of_a_phone_s_home_screen(phone: Browser) -> None:
    found = re.search(r'rel="apple-touch-icon" href="([^"]+)"', phone.get("/").get_data(as_text=True))
    assert found
    picture = phone.get(found[1])
    assert (picture.mimetype, _size(picture.data)) == ("image/png", "180x180")


def _size(png: bytes) -> str:
    """Return the width and height that a PNG's first chunk states."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return f"{width}x{height}"


def test_a_new_table_starts_from_the_last_one_of_its_game(home: WebHome, phone: Browser) -> None:
    page = "/tables/new?game=mexica"
    fresh = phone.get(page).get_data(as_text=True)
    assert re.search(r'name="players" value="3" checked', fresh), "neither the fewest nor the most"
    home.services.tables.open("mexica", "Sunday", 2, "evening", {})
    again = phone.get(page).get_data(as_text=True)
    assert re.search(r'name="players" value="2" checked', again)
    assert re.search(r'name="preset" value="evening" checked', again)


def _offers(phone: Browser) -> dict[str, str]:
    """Return how the form offers each game, by the first drawing of its link."""
    html = phone.get("/tables/new").get_data(as_text=True)
    links = re.findall(r'href="/tables/new\?game=\w+".*?</a>', html, re.DOTALL)
    return {
        re.findall(r'<use href="#([\w-]+)"', link)[0]: " ".join(re.sub("<[^>]*>", " ", link).split())
        for link in links
    }


def test_each_game_is_offered_with_its_picture_its_players_and_its_minutes(phone: Browser) -> None:
    offers = _offers(phone)
    assert set(offers) == {"temple-front", "tile-king", "siege-cuauhtemoc", "library"}
    assert "2 to 4 players · about 20 min" in offers["tile-king"]
    assert "2 players · about 130 min" in offers["siege-cuauhtemoc"]
    assert "2 to 6 players · about 40 min" in offers["library"]


def test_a_game_that_was_played_here_is_offered_with_the_minutes_that_it_took(home: WebHome, phone: Browser) -> None:
    played(home, "Ana", "Ben", 54)
    assert "54 min here last time" in _offers(phone)["temple-front"]


def test_what_takes_several_evenings_is_chosen_only_after_it_was_played(home: WebHome, phone: Browser) -> None:
    page = "/tables/new?game=siege"
    assert re.search(r'name="preset" value="skirmish" checked', phone.get(page).get_data(as_text=True))
    home.services.tables.open("siege", "Sunday", 2, "classic", {})
    assert re.search(r'name="preset" value="classic" checked', phone.get(page).get_data(as_text=True))
    assert "2 players · several evenings" in _offers(phone)["siege-cuauhtemoc"]


def test_the_form_of_a_new_table_begins_with_the_game_that_was_opened_last(home: WebHome, phone: Browser) -> None:
    home.services.tables.open("market", "Sunday", 2, "short", {})
    assert 'name="game" value="market"' in phone.get("/tables/new").get_data(as_text=True)


def test_the_picture_of_every_game_is_on_the_form_s_page(home: WebHome, phone: Browser) -> None:
    html = phone.get("/tables/new").get_data(as_text=True)
    for game in home.games.values():
        if "." not in game.name:
            assert f'<symbol id="{game.page.emblem}"' in html
            assert set(game.page.minutes) <= set(game.presets)


def test_a_store_that_cannot_be_read_is_named_and_is_no_failure_of_ours(
    home: WebHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.table()

    def fail(table_id: str | None) -> None:
        raise ServiceError("store_failing", reason="gone")

    monkeypatch.setattr(home.services.tables, "get", fail)
    monkeypatch.setattr(home.services.tables, "find", fail)
    page = home.browser().get(f"/t/{table.id}")
    assert page.status_code == 503
    assert "gone" not in text_of(page)
    assert '<meta http-equiv="refresh" content="10">' in page.get_data(as_text=True), "nobody need reload it"
    assert "This page tries again by itself" in text_of(page)
    assert page.headers["Retry-After"] == "10"
    post = home.browser().post(f"/t/{table.id}/sit", {})
    assert post.status_code == 503
    assert "http-equiv" not in post.get_data(as_text=True), "to load it again would not post it again"


def test_who_has_no_command_is_led_to_the_file_with_the_owners_code(home: WebHome, phone: Browser) -> None:
    home.services.setup.finish()
    assert "sudo templo-mayor status" in text_of(phone.get("/setup/step/name"))
    home.configure(owner_file=Path("/var/lib/demo/owner-code"))
    page = text_of(phone.get("/setup/step/name"))
    assert "the code that begins the file /var/lib/demo/owner-code" in page
    assert "templo-mayor status" not in page


def test_a_field_for_a_code_shows_how_long_it_is(home: WebHome, phone: Browser) -> None:
    home.services.setup.finish()
    for page, like in {"/join": "ABC-DEF", "/setup/step/name": "ABCD-EFGH", "/organiser": "ABCD-EFGH"}.items():
        assert f'placeholder="{like}"' in phone.get(page).get_data(as_text=True), page


def test_a_name_that_is_too_long_is_answered_with_words_and_stays_as_it_was_typed(home: WebHome) -> None:
    table, phone = home.lobby(), home.browser()
    long = "Maximilian von Wuermling-Li"
    html = phone.get(f"/j/{table.code}").get_data(as_text=True)
    allowed = re.search(r'<input name="name"[^>]*maxlength="(\d+)"', html)
    assert allowed
    assert int(allowed[1]) > len(long)
    answer = phone.sit(table, "", long)
    assert answer.status_code == 422
    assert "27" in text_of(answer)
    assert f'value="{long}"' in answer.get_data(as_text=True)


def test_an_aid_calls_nobody_to_a_turn(home: WebHome, phone: Browser) -> None:
    opened = phone.post("/games/market/aids/score")
    assert "data-notify" not in phone.get(opened.headers["Location"]).get_data(as_text=True)
    assert "data-notify" in phone.get(f"/t/{home.table().id}").get_data(as_text=True)

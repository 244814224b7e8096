"""A table's posts: one move for each tap, none for a stale one, and the same answers with and without a script."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from companion.adapters.news import RenderedPage
from companion.games.kit import Choice
from companion.web.view_models.seat import page
from tests.companion.web.conftest import Browser, WebHome, text_of

JSON = {"Accept": "application/json"}


def test_a_form_posts_and_leads_back_without_a_script(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    html = phone.get(f"/t/{table.id}").get_data(as_text=True)
    form = next(form for form in re.findall(r"(?s)<form.*?</form>", html) if "end_turn" in form)
    fields = {name: unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}
    answer = phone.post(f"/t/{table.id}/play", fields)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/t/{table.id}")
    assert home.services.tables.get(table.id).on_turn == "north"


def test_every_form_of_a_page_has_an_id_of_its_own(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    ids = re.findall(r'name="request" value="([^"]*)"', phone.get(f"/t/{table.id}").get_data(as_text=True))
    assert len(ids) == len(set(ids)) > 10


def test_a_script_gets_what_changed_since_it_looked(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    seen = re.search(r'data-seen="([^"]+)"', phone.get(f"/t/{table.id}").get_data(as_text=True))
    assert seen
    form = {"seat": "east", "move": '["end_turn"]', "version": "2", "request": "a1", "seen": seen[1]}
    news = phone.post(f"/t/{table.id}/play", form, **JSON).json
    assert news is not None
    assert news["ok"]
    assert news["version"] == 3
    assert "North" in news["regions"]["turn"]
    assert "health" not in news["regions"]


def test_the_same_post_twice_is_one_move(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    for _ in range(2):
        answer = phone.move(table, "east", "sacrifice", "tlaloc", 1, version=2, request="once", **JSON)
        assert answer.json is not None
        assert answer.json["ok"]
    assert home.services.tables.get(table.id).version == 3


def test_a_page_made_while_the_game_begins_is_that_of_the_game(
    home: WebHome, phone: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.lobby()
    key = home.seated(table)
    site = home.app.extensions["site"]
    render = site.rendered

    def overtaken(*args: Any) -> RenderedPage:
        rendered: RenderedPage = render(*args)
        if home.services.tables.get(table.id).phase == "lobby":
            home.services.seats.begin(table.id, key)
        return rendered

    monkeypatch.setattr(site, "rendered", overtaken)
    answer = phone.get(f"/t/{table.id}")
    assert answer.status_code == 200
    assert "phase-running" in answer.get_data(as_text=True)


def test_a_page_made_before_a_beginning_is_announced_is_that_of_the_game(
    home: WebHome, phone: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home.hub, "serial", lambda topics: 1)
    table = home.lobby()
    key = home.seated(table)
    assert "phase-lobby" in phone.get(f"/t/{table.id}").get_data(as_text=True)
    home.services.seats.begin(table.id, key)
    answer = phone.get(f"/t/{table.id}")
    assert answer.status_code == 200
    assert "phase-running" in answer.get_data(as_text=True)


def test_a_page_made_while_somebody_moved_claims_no_newer_version_than_it_shows(
    home: WebHome, phone: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.table()
    key = home.seated(table)
    phone.sit(table, "north", "Ben")
    site = home.app.extensions["site"]
    render = site.rendered

    def overtaken(*args: Any) -> RenderedPage:
        rendered: RenderedPage = render(*args)
        assert home.play(table, key, "east", "end_turn").accepted
        return rendered

    shown = home.services.tables.get(table.id).version
    monkeypatch.setattr(site, "rendered", overtaken)
    html = phone.get(f"/t/{table.id}").get_data(as_text=True)
    assert home.services.tables.get(table.id).version > shown
    assert f'data-version="{shown}"' in html


def test_a_stale_post_changes_nothing_and_gets_the_new_state(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    phone.move(table, "east", "end_turn", version=2)
    scripted = phone.move(table, "east", "end_turn", version=2, **JSON)
    assert scripted.status_code == 409
    assert scripted.json is not None
    assert scripted.json["kind"] == "stale"
    assert "The table changed before your tap" in scripted.json["words"]
    assert "North" in scripted.json["regions"]["turn"]
    plain = phone.move(table, "east", "end_turn", version=2)
    assert plain.status_code == 409
    assert "The table changed before your tap arrived" in text_of(plain)
    assert home.services.tables.get(table.id).on_turn == "north"


def test_a_move_that_the_rules_refuse_is_explained_in_the_games_words(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    answer = phone.move(table, "east", "confirm", version=2)
    assert answer.status_code == 409
    assert "No correction is waiting any more" in text_of(answer)
    assert f'href="/t/{table.id}"' in answer.get_data(as_text=True)


@pytest.mark.parametrize(
    "change",
    [
        {"move": "end_turn"},
        {"move": '["end_turn", 1.5]'},
        {"move": '{"a": 1}'},
        {"move": "[" * 5000},
        {"move": ""},
        {"version": "x"},
        {"version": "-1"},
        {"request": ""},
        {"request": "a" * 65},
        {"request": "a b"},
    ],
)
def test_a_post_that_is_no_move_is_refused(home: WebHome, phone: Browser, change: dict[str, str]) -> None:
    table = home.table()
    phone.sit(table, "east")
    form = {"seat": "east", "move": '["end_turn"]', "version": "2", "request": "a"} | change
    assert phone.post(f"/t/{table.id}/play", form).status_code == 400
    assert home.services.tables.get(table.id).version == 2


@pytest.mark.parametrize("move", ["@undo", "@free", "token"])
def test_what_no_seat_may_do_is_refused(home: WebHome, phone: Browser, move: str) -> None:
    table = home.table()
    phone.sit(table, "east")
    assert phone.move(table, "east", move, version=2).status_code == 409
    assert home.services.tables.get(table.id).version == 2


def test_who_holds_no_seat_changes_nothing(home: WebHome, phone: Browser) -> None:
    table = home.table()
    other = home.table()
    phone.sit(other, "east")
    stranger = home.browser()
    for who in (phone, stranger):
        for path in ("begin", "temple"):
            assert who.post(f"/t/{table.id}/{path}").status_code == 403
        assert who.move(table, "east", "end_turn", version=1).status_code == 403
        assert who.post(f"/t/{table.id}/undo", {"seat": "east", "version": "1", "request": "a"}).status_code == 403
    assert home.services.tables.get(table.id).version == 1
    assert phone.move(other, "north", "end_turn", version=2).status_code == 403


def test_a_seat_that_may_not_undo_reads_what_has_happened_since(home: WebHome, phone: Browser) -> None:
    table = home.table(temple="table")
    phone.sit(table, "east")
    phone.move(table, "east", "sacrifice", "tlaloc", 1, version=home.services.tables.get(table.id).version)
    home.services.temples.intake.receive([("table", home.token(1))])
    version = str(home.services.tables.get(table.id).version)
    answer = phone.post(f"/t/{table.id}/undo", {"seat": "east", "version": version, "request": "u1"})
    assert answer.status_code == 409
    assert "since then, this has happened: Ana gave 1 to" in text_of(answer)


def test_undo_is_offered_to_the_seat_that_moved_and_takes_the_move_back(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    other = home.browser()
    other.sit(table, "west", "Walt")
    assert 'class="undo"' not in phone.get(f"/t/{table.id}").get_data(as_text=True)
    phone.move(table, "east", "sacrifice", "tlaloc", 7, version=3)
    assert 'class="undo"' in phone.get(f"/t/{table.id}").get_data(as_text=True)
    assert 'class="undo"' not in other.get(f"/t/{table.id}").get_data(as_text=True)
    phone.post(f"/t/{table.id}/undo", {"seat": "east", "version": "4", "request": "u1"})
    assert page(home.services.tables.get(table.id), ("east",))["total"] == 0
    answer = phone.post(f"/t/{table.id}/undo", {"seat": "east", "version": "5", "request": "u2"})
    assert answer.status_code == 409


def test_a_deeper_choice_leads_level_by_level_to_its_move(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    phone.move(table, "east", "sacrifice", "tlaloc", 7, version=2)
    path = next(iter(re.findall(r'href="(/t/\w+/picks[^"]*)"', phone.get(f"/t/{table.id}").get_data(as_text=True))))
    while "/picks" in path:
        html = phone.get(unescape(path)).get_data(as_text=True)
        deeper = re.findall(r'href="(/t/\w+/picks[^"]*)"', html)
        path = deeper[-1] if deeper else ""
    assert "propose" in html
    assert '<input type="hidden" name="version" value="3">' in html
    assert "\x1a" not in html


def test_what_lies_deeper_is_shown_only_to_who_may_choose_it(home: WebHome, phone: Browser) -> None:
    table, lobby = home.table(), home.lobby()
    phone.sit(table, "east")
    phone.sit(lobby, "east")
    assert phone.get(f'/t/{table.id}/picks?seat=north&picked=["propose"]').status_code == 403
    assert home.browser().get(f'/t/{table.id}/picks?seat=east&picked=["propose"]').status_code == 403
    assert phone.get(f"/t/{table.id}/picks?seat=east&picked=nonsense").status_code == 400
    assert phone.get(f'/t/{lobby.id}/picks?seat=east&picked=["propose"]').status_code == 409
    assert "nothing to choose" in text_of(phone.get(f'/t/{table.id}/picks?seat=east&picked=["nonsense"]'))


def test_a_seat_that_was_handed_over_is_lost_to_its_phone(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    other = home.browser()
    other.sit(table, "west", "Walt")
    version = home.services.tables.get(table.id).version
    assert "Hand seat over East" in text_of(other.get(f"/t/{table.id}"))
    assert other.post(f"/t/{table.id}/free", {"seat": "east"}).status_code == 303
    assert phone.move(table, "east", "end_turn", version=version + 1).status_code == 403
    home.browser().sit(table, "east", "Eve")
    assert "East Eve" in text_of(other.get(f"/t/{table.id}"))


def test_one_shared_phone_acts_for_whoever_is_on_turn(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.post(f"/t/{table.id}/share", {"code": table.code, "name.east": "Ana", "name.north": "Ben"})
    version = home.services.tables.get(table.id).version
    assert "Ana" in text_of(phone.get(f"/t/{table.id}"))
    assert phone.move(table, "east", "end_turn", version=version).status_code == 303
    html = phone.get(f"/t/{table.id}").get_data(as_text=True)
    form = next(form for form in re.findall(r"(?s)<form.*?</form>", html) if "end_turn" in form)
    assert 'name="seat" value="north"' in form


def test_every_choice_of_a_game_has_words_in_every_language(home: WebHome) -> None:
    table = home.table()
    state, game = table.state, table.game
    seen: dict[str, Choice] = {choice.key: choice for choice in game.rules.choices(state, "east")}
    site = home.app.extensions["site"]
    for language in ("en", "es"):
        words = site.renderer.words(language, table)
        for choice in seen.values():
            assert words(f"choice.{choice.key}", **choice.facts)

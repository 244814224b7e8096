"""The end of every game: who won, with how much and why, where it leads from there, and what can be passed on."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from companion.games.kit import Move
from companion.model.table import Table
from tests.companion.web.conftest import Browser, WebHome

TABLES = [("mexica", "temple_only"), ("market", "short"), ("moctezuma", "classic"), ("siege", "skirmish")]


def over(home: WebHome, game: str, preset: str) -> tuple[Table, Browser]:
    """Return a table whose game is over, and the phone of its first seat."""
    table = home.services.tables.open(game, "Sunday", 2, preset, {})
    ana, beto = home.browser(), home.browser()
    first, second = table.charter.seats
    ana.sit(table, first, "Ana")
    beto.sit(table, second, "Beto")
    ana.post(f"/t/{table.id}/begin")
    home.clock.pass_(minutes=54)
    if game == "mexica":
        ana.move(table, first, "settle", second, version=home.services.tables.get(table.id).version)
    else:
        for seat in table.charter.seats:
            ana.post(f"/t/{table.id}/away", {"seat": seat, "mode": "app"})
        while home.services.tables.get(table.id).phase != "over":
            ana.post(f"/t/{table.id}/rolls", {"by": "app"})
    return home.services.tables.get(table.id), ana


@pytest.mark.parametrize(("game", "preset"), TABLES)
def test_a_look_says_who_won_with_how_much_and_why_and_leads_on(home: WebHome, game: str, preset: str) -> None:
    table, ana = over(home, game, preset)
    result = table.game.rules.result(table.state)
    assert result is not None
    names = dict(zip(table.charter.seats, ("Ana", "Beto"), strict=True))
    for page, phone in (("", ana), ("", home.browser()), ("/screen", home.browser())):
        html = phone.get(f"/t/{table.id}{page}").get_data(as_text=True)
        ending = re.search(r'(?s)<section class="ending .*?</section>', html)
        assert ending, page
        said = re.sub(r"<[^>]*>", " ", ending[0])
        for seat in table.charter.seats:
            assert names[seat] in said
            assert f"{result.points[seat]} point" in said if result.points else True
        for winner in result.winners:
            assert re.search(rf"ending-seat won.*?{names[winner]}", ending[0], re.DOTALL)
        assert re.search(r'<p class="ending-why">[^<]+</p>', ending[0])
        assert "54 minutes" in said
        assert "The whole story" in said
        assert "Back to the tables" in said
        assert ("Play again, same table" in said) == (phone is ana)


FACTS = {
    "n": 3,
    "by": 2,
    "gifts": 1,
    "less": 4,
    "next": 1,
    "turn": 9,
    "god": "tlaloc",
    "other": "huitzilopochtli",
    "commodity": "cloth",
    "people": "cortez",
    "name": "tizoc",
}


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("game", ["mexica", "market", "moctezuma", "siege"])
def test_the_words_of_every_end_award_and_deed_can_be_said(home: WebHome, game: str, language: str) -> None:
    words = home.app.extensions["site"].renderer.library.words(language, game)
    first, second, *_ = next(iter(home.games[game].seatings.values()))
    keys = {key for layer in words.layers for key in layer if key.startswith(("ending.because.", "recap."))}
    assert len(keys) > 12
    for key in keys:
        facts = FACTS | {"seat": first}
        if key.endswith((".pair", "_pair")) or game == "siege":
            facts["other"] = second
        assert words(key, **facts)
        assert words(key, **{**facts, "n": 1})


def _ending(phone: Browser, table: Table, page: str = "") -> str:
    html = phone.get(f"/t/{table.id}{page}").get_data(as_text=True)
    ending = re.search(r'(?s)<section class="ending .*?</section>', html)
    assert ending
    return ending[0]


@pytest.mark.parametrize(("game", "preset"), TABLES)
def test_an_end_has_the_evening_as_a_curve_and_an_award_and_the_deeds_of_each(
    home: WebHome, game: str, preset: str
) -> None:
    table, ana = over(home, game, preset)
    for page in ("", "/screen"):
        ending = _ending(ana, table, page)
        assert ending.count('class="award"') == 2
        said = " ".join(re.sub(r"<[^>]*>", " ", ending).split())
        recap = home.services.tables.recap(table)
        words = home.app.extensions["site"].renderer.words("en", table)
        for seat, award in recap.awards.items():
            assert words(f"recap.award.{award.code}", **award.facts) in said
            done = [
                words(f"recap.{label}", n=n)
                for place, (label, n) in enumerate(zip(recap.labels, recap.deeds[seat], strict=True))
                if n or not place
            ]
            assert f"{words(f'recap.award.{award.code}', **award.facts)} {' · '.join(done)}" in said
        if any(len(curve.values) > 1 for curve in recap.curves):
            assert ending.count('class="curve-edge"') == len(recap.curves)
        assert "Another game" in said


def _flooded(home: WebHome) -> tuple[Table, Browser]:
    """Return an age that ended in the flood: Ana gave 14 tokens to Tlaloc, Beto 3 to Huitzilopochtli."""
    table = home.services.tables.open("mexica", "Sunday", 2, "temple_only", {"apocalypse_tokens": 13})
    ana, beto = home.browser(), home.browser()
    first, second = table.charter.seats
    ana.sit(table, first, "Ana")
    beto.sit(table, second, "Beto")
    ana.post(f"/t/{table.id}/begin")

    def move(phone: Browser, seat: str, *what: str | int) -> None:
        version = home.services.tables.get(table.id).version
        phone.move(table, seat, *what, version=version, request=f"v{version}")
        assert home.services.tables.get(table.id).version > version, what

    move(ana, first, "end_turn")
    move(beto, second, "sacrifice", "huitzilopochtli", 3)
    move(beto, second, "end_turn")
    move(ana, first, "sacrifice", "tlaloc", 7)
    ana.post(
        f"/t/{table.id}/undo",
        {"seat": first, "version": str(home.services.tables.get(table.id).version), "request": "b"},
    )
    move(ana, first, "sacrifice", "tlaloc", 7)
    move(ana, first, "sacrifice", "tlaloc", 7)
    while home.services.tables.get(table.id).phase != "over":
        now = home.services.tables.get(table.id)
        phone = ana if now.on_turn == first else beto
        move(phone, str(now.on_turn), "end_turn")
    return home.services.tables.get(table.id), ana


def test_the_floods_end_says_by_how_much_since_when_and_whose_token_was_fatal(home: WebHome) -> None:
    table, ana = _flooded(home)
    said = " ".join(re.sub(r"<[^>]*>", " ", _ending(ana, table)).split())
    assert (
        "Nobody wins: the age gave Tlaloc 14 tokens, 11 more than Huitzilopochtli, and 14 of them came from Ana."
        in said
    )
    assert "The turning point: turn 3. From then on Tlaloc stayed ahead." in said
    assert "Ana The fatal token gave 14 tokens · took the lead for a god 1 time · risked 7 on the god ahead" in said
    assert "Most given to Huitzilopochtli: 3" in said


def test_an_age_is_a_picture_that_moves_token_by_token_to_the_flood(home: WebHome) -> None:
    table, ana = _flooded(home)
    answer = ana.get(f"/t/{table.id}/result-film.svg")
    assert answer.mimetype == "image/svg+xml"
    film = answer.get_data(as_text=True)
    ElementTree.fromstring(film)
    assert film.count("rotate(") >= 17
    times = [float(at) for at in re.findall(r'values="none;inline" keyTimes="0;([\d.]+)"', film)]
    assert len(times) == 17 + 1
    assert max(times) == times[-1] == 0.8
    water = re.search(r'type="translate"\s+values="([^"]*)"\s+keyTimes="([^"]*)"', film)
    assert water
    assert len(water[1].split(";")) == len(water[2].split(";")) == 13 + 1
    moments = [float(at) for at in water[2].split(";")]
    assert moments == sorted(moments)
    assert "/result-film.svg" in _ending(ana, table)
    assert len(film) < 60_000


def test_a_game_without_a_film_has_no_picture_that_moves(home: WebHome) -> None:
    table, ana = over(home, "market", "short")
    assert ana.get(f"/t/{table.id}/result-film.svg").status_code == 404
    assert "/result-film.svg" not in _ending(ana, table)


def test_a_table_that_was_closed_early_shows_nothing_of_what_was_hidden(home: WebHome) -> None:
    table = home.services.tables.open("moctezuma", "Sunday", 2, "classic")
    first, second = table.charter.seats
    ana = home.browser()
    ana.sit(table, first, "Ana")
    home.browser().sit(table, second, "Beto")
    ana.post(f"/t/{table.id}/begin")
    home.services.tables.close_for_players(table.id)
    table = home.services.tables.get(table.id)
    assert table.phase == "over"
    ending = _ending(ana, table)
    assert "award-said" not in ending
    assert "curve-edge" not in ending
    assert ana.get(f"/t/{table.id}/result-film.svg").status_code == 404


def test_while_a_game_runs_it_has_no_end_to_show_or_to_pass_on(home: WebHome) -> None:
    table = home.table()
    phone = home.browser()
    assert 'class="ending' not in phone.get(f"/t/{table.id}").get_data(as_text=True)
    for kind in ("txt", "svg", "bgsplay"):
        assert phone.get(f"/t/{table.id}/result.{kind}").status_code == 409


@pytest.mark.parametrize(("game", "preset"), TABLES)
def test_a_result_is_a_text_a_picture_and_a_file_for_bg_stats(home: WebHome, game: str, preset: str) -> None:
    table, ana = over(home, game, preset)
    result = table.game.rules.result(table.state)
    assert result is not None
    text = ana.get(f"/t/{table.id}/result.txt")
    assert text.mimetype == "text/plain"
    lines = text.get_data(as_text=True).splitlines()
    assert "Sunday" in lines[0]
    assert len([line for line in lines if line.startswith("★")]) == len(result.winners)
    assert all(line.strip() for line in lines)
    picture = ana.get(f"/t/{table.id}/result.svg")
    assert picture.mimetype == "image/svg+xml"
    drawn = " ".join(ElementTree.fromstring(picture.get_data(as_text=True)).itertext())
    assert "Ana" in drawn
    assert "Beto" in drawn
    play = json.loads(ana.get(f"/t/{table.id}/result.bgsplay").get_data(as_text=True))
    assert [each["name"] for each in play["players"]] == ["Ana", "Beto"]
    assert play["plays"][0]["durationMin"] == 54
    assert play["games"][0]["noPoints"] == (not result.points)
    by_id = {each["id"]: each["name"] for each in play["players"]}
    won = {by_id[each["playerRefId"]] for each in play["plays"][0]["playerScores"] if each["winner"]}
    names = dict(zip(table.charter.seats, ("Ana", "Beto"), strict=True))
    assert won == {names[seat] for seat in result.winners}


def test_those_whom_nothing_tells_apart_share_a_rank_in_the_file_for_bg_stats(home: WebHome) -> None:
    table = home.services.tables.open("mexica", "Sunday", 4, "temple_only")
    home.services.tables.close_for_players(table.id)
    play = json.loads(home.browser().get(f"/t/{table.id}/result.bgsplay").get_data(as_text=True))
    assert [each["rank"] for each in play["plays"][0]["playerScores"]] == [1, 1, 1, 1]


def test_an_end_that_is_taken_back_is_no_end(home: WebHome) -> None:
    table, ana = over(home, "mexica", "temple_only")
    first = table.charter.seats[0]
    assert table.ended_at is not None
    ana.post(f"/t/{table.id}/undo", {"seat": first, "version": str(table.version), "request": "back"})
    after = home.services.tables.get(table.id)
    assert (after.phase, after.ended_at) == ("running", None)
    assert 'class="ending' not in ana.get(f"/t/{table.id}").get_data(as_text=True)


def test_a_picture_holds_names_as_text_whatever_stands_in_them(home: WebHome) -> None:
    table = home.services.tables.open("mexica", "<b>&", 2, "temple_only", {})
    phone = home.browser()
    first, second = table.charter.seats
    phone.sit(table, first, "<script>&\u202e")
    phone.post(f"/t/{table.id}/begin")
    now = home.services.tables.get(table.id)
    home.services.play.move(table.id, phone.token_of(table), first, Move("settle", (first,)), now.version, "end")
    picture = phone.get(f"/t/{table.id}/result.svg").get_data(as_text=True)
    assert "<script" not in picture
    assert "&lt;script&gt;" in picture
    ElementTree.fromstring(picture)
    assert second in now.charter.seats


def test_a_captured_leader_is_a_great_moment(home: WebHome) -> None:
    table, _ = over(home, "siege", "skirmish")
    html = home.browser().get(f"/t/{table.id}/screen").get_data(as_text=True)
    moment = re.search(r'(?s)<div class="moment" data-great data-kind="captured" data-won hidden>.*?</div>', html)
    assert moment
    assert re.search("#siege-(cortez|cuauhtemoc)", moment[0])
    assert re.search("(Cortez|Cuauhtemoc) is lost", moment[0])


@pytest.mark.parametrize(("game", "preset"), TABLES)
def test_what_looks_back_at_a_game_brings_the_drawings_that_it_uses(home: WebHome, game: str, preset: str) -> None:
    table, ana = over(home, game, preset)
    for path in ("/evenings", f"/t/{table.id}/seats", f"/t/{table.id}/story", f"/t/{table.id}/replay"):
        html = re.sub(r"(?s)<!--.*?-->", "", ana.get(path).get_data(as_text=True))
        used = set(re.findall(r'<use [^>]*?href="#([\w-]+)"', html))
        assert used - set(re.findall(r'\bid="([\w-]+)"', html)) == set(), path


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

"""Many games by the rules of a form: started from a page, played beside the tables, and read as one page."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from companion.adapters import playtests
from companion.adapters.playtests import Playtests
from tests.companion.web.conftest import Browser, WebHome, text_of

FORM = {"game": "mexica", "players": "2", "preset": "century"}
DECK = '[day]\nday-crocodile-1 = { effect = "nothing" }\n'


def asleep(home: WebHome) -> None:
    """Let the lab of this companion play until it is ended."""
    use(home, "sh", "-c", "exec sleep 600")


def use(home: WebHome, *python: str) -> None:
    offer(home, Playtests(home.playtests.folder, python=python))


def offer(home: WebHome, offered: Playtests) -> None:
    here = home.app.extensions["site"]
    home.playtests, here.config = offered, replace(here.config, playtests=offered)


def started(phone: Browser, **form: str) -> TestResponse:
    return phone.post("/games/mexica/playtests", {**FORM, **form})


def ended(phone: Browser, path: str) -> TestResponse:
    """Return the page of a playtest once it is over."""
    deadline = time.monotonic() + 300
    while 'data-stage="running"' in (page := phone.get(path)).get_data(as_text=True):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return page


def test_a_deck_from_the_form_of_a_new_table_is_played_and_its_report_read(
    home: WebHome, phone: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playtests, "GAMES", 3)
    use(home, sys.executable, "-P")
    answer = started(phone, **{"option.deck": "@text", "text.deck": DECK, "option.flower_copies": "65"})
    page = ended(phone, answer.headers["Location"])
    assert "The games are over." in text_of(page)
    assert "A file of your own" in text_of(page)
    (link,) = set(re.findall(r'href="([^"]+/report)"', page.get_data(as_text=True)))
    report = phone.get(link)
    assert "Mexica, A long evening" in text_of(report)
    assert "3 games of app players, seeds 0 to 2, 2 seats" in text_of(report)
    assert "Beside the preset as it comes" in text_of(report)


def test_a_report_is_read_in_the_language_of_the_page(
    home: WebHome, phone: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playtests, "GAMES", 1)
    use(home, sys.executable, "-P")
    path = started(phone).headers["Location"]
    ended(phone, path)
    assert "Wins by seat" in text_of(phone.get(f"{path}/report"))
    spanish = home.browser(language="es").get(f"{path}/report")
    assert "Victorias por puesto" in text_of(spanish)


def test_nothing_in_a_report_runs_or_is_fetched(home: WebHome, phone: Browser) -> None:
    asleep(home)
    path = started(phone).headers["Location"]
    home.playtests.close()
    found = home.playtests.get(path.rpartition("/")[2])
    (home.playtests.folder / found.id / "report.en.html").write_text("<p>Report</p>")
    answer = phone.get(f"{path}/report")
    assert answer.headers["Content-Type"].startswith("text/html")
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "sandbox", "frame-ancestors 'none'"} <= set(policy)
    assert not any(each.startswith("script-src") for each in policy)


def test_one_is_played_at_a_time_and_it_ends_with_the_companion(home: WebHome, phone: Browser) -> None:
    asleep(home)
    path = started(phone).headers["Location"]
    assert "0 of 200 games are over." in text_of(phone.get(path))
    busy = started(phone)
    assert busy.status_code == 409
    assert "Another playtest is running" in text_of(busy)
    home.playtests.close()
    assert "ended without a report" in text_of(phone.get(path))
    assert started(phone).status_code == 303
    home.playtests.close()


def test_a_file_with_faults_is_not_played(home: WebHome, phone: Browser) -> None:
    answer = started(phone, **{"option.deck": "@text", "text.deck": "[day]\nday-dog-1 = 3\n"})
    assert answer.status_code == 422
    assert "Line 2" in text_of(answer)
    assert home.playtests.every() == []


@pytest.mark.parametrize(
    ("form", "status", "words"),
    [
        ({"preset": "temple_only"}, 409, "only people can play"),
        ({"players": "9"}, 409, "for 2 to 4 players, not 9"),
        ({"preset": "quick"}, 409, "no such set of rules"),
        ({"option.deck": "@table:none"}, 409, "No file was chosen"),
    ],
)
def test_a_form_that_cannot_be_played_says_why(
    home: WebHome, phone: Browser, form: dict[str, str], status: int, words: str
) -> None:
    answer = started(phone, **form)
    assert (answer.status_code, words in text_of(answer)) == (status, True)
    assert home.playtests.every() == []


def test_without_the_labs_packages_the_page_says_what_to_install(
    home: WebHome, phone: Browser, tmp_path: Path
) -> None:
    bare = Playtests(tmp_path / "bare", needed=("no_such_package",))
    offer(home, bare)
    answer = started(phone)
    assert answer.status_code == 503
    assert "It lacks: no_such_package." in text_of(answer)
    assert bare.how_to_install in text_of(answer)
    assert bare.every() == []


def test_the_newest_ten_are_listed_and_older_ones_are_gone(home: WebHome, phone: Browser) -> None:
    paths = []
    for _ in range(playtests.MOST + 2):
        paths.append(started(phone).headers["Location"])
        ended(phone, paths[-1])
    listed = re.findall(r'href="(/playtests/\w+)"', phone.get("/playtests").get_data(as_text=True))
    assert listed == paths[:1:-1]
    assert phone.get(paths[0]).status_code == 404


def test_one_that_is_half_written_or_of_a_game_that_is_gone_is_left_out(home: WebHome, phone: Browser) -> None:
    paths = [started(phone).headers["Location"]]
    ended(phone, paths[0])
    first = paths[0].rpartition("/")[2]
    whole = (home.playtests.folder / first / "playtest.json").read_text("utf-8")
    for id_, content in {
        "a" * 12: "",
        "b" * 12: whole.replace('"mexica"', '"chess"'),
        "c" * 12: whole.replace('"century"', '"eternity"'),
    }.items():
        (home.playtests.folder / id_).mkdir()
        (home.playtests.folder / id_ / "playtest.json").write_text(content.replace(first, id_), "utf-8")
        paths.append(f"/playtests/{id_}")
    listed = re.findall(r'href="(/playtests/\w+)"', phone.get("/playtests").get_data(as_text=True))
    assert listed == paths[:1]
    assert [phone.get(path).status_code for path in paths] == [200, 404, 404, 404]
    assert started(phone).status_code == 303


def test_the_map_editor_and_the_form_of_a_new_table_offer_it(home: WebHome, phone: Browser) -> None:
    asleep(home)
    editor = phone.post("/games/siege/aids/editor").headers["Location"]
    assert 'action="/games/siege/playtests"' in phone.get(editor).get_data(as_text=True)
    table = editor.rpartition("/")[2]
    map_ = {"players": "2", "preset": "classic", "option.map": f"@table:{table}"}
    answer = phone.post("/games/siege/playtests", map_)
    assert "Map: A file of your own" in text_of(phone.get(answer.headers["Location"]))
    home.playtests.close()
    assert 'formaction="/games/mexica/playtests"' in phone.get("/tables/new?game=mexica").get_data(as_text=True)

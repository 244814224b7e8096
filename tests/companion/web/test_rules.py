"""The page of a game's rules: prose, the rulings beside it, their options, and the ones of a table."""

from __future__ import annotations

import re

import pytest

from companion.games import registry
from companion.web.rendering.guide import GuideError, load, read
from companion.web.rendering.renderer import guide_file
from companion.web.rendering.texts import LANGUAGES
from tests.companion.web.conftest import TOSS, Browser, WebHome, text_of

GUIDED = {
    name: game
    for name, game in registry.load([TOSS]).items()
    if guide_file(registry.folder(game), LANGUAGES[0]).is_file()
}


@pytest.fixture
def reader(club: WebHome) -> Browser:
    return club.browser()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GUIDED)
def test_a_guide_holds_every_ruling_that_an_option_settles_once(name: str, language: str) -> None:
    game = GUIDED[name]
    guide = load(guide_file(registry.folder(game), language))
    assert {option.ruling for option in game.options if option.ruling} <= set(guide.rulings)
    assert len(set(guide.rulings)) == len(guide.rulings)


@pytest.mark.parametrize("name", GUIDED)
def test_a_guide_says_the_same_in_every_language(name: str) -> None:
    guides = [load(guide_file(registry.folder(GUIDED[name]), language)) for language in LANGUAGES]
    shapes = [[(each.level, [note.ruling for note in each.notes]) for each in guide.passages] for guide in guides]
    assert shapes[1:] == shapes[:-1]
    for guide in guides:
        anchors = [each.anchor for each in guide.passages if each.heading]
        assert len(set(anchors)) == len(anchors)
        assert all(note.says and note.reads for each in guide.passages for note in each.notes)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GUIDED)
def test_the_rules_are_served_with_every_option_beside_its_ruling(club: WebHome, name: str, language: str) -> None:
    page = club.browser(language=language).get(f"/games/{name}/rules")
    html, said = page.get_data(as_text=True), text_of(page)
    words = club.app.extensions["site"].renderer.library.words(language, name)
    assert html.count("<main ") == html.count("<h1") == 1
    for option in GUIDED[name].options:
        if option.ruling:
            assert f'id="{option.ruling}"' in html
            assert words(f"option.{option.key}.name") in said
            assert f'href="/tables/new?game={name}#option-{option.key}"' in html
    for anchor in re.findall(r'<a [^>]*href="#([^"]+)"', html):
        assert html.count(f'id="{anchor}"') == 1, anchor


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("name", "letter", "last"), [("mexica", "M", 55), ("market", "A", 28), ("moctezuma", "Z", 28), ("siege", "S", 45)]
)
def test_a_guide_of_our_games_holds_every_ruling_from_its_first(
    name: str, letter: str, last: int, language: str
) -> None:
    guide = load(guide_file(registry.folder(GUIDED[name]), language))
    assert sorted(guide.rulings, key=lambda ruling: int(ruling[1:])) == [f"{letter}{n}" for n in range(1, last + 1)]


def test_a_ruling_shows_which_reading_is_ours_and_where_to_change_it(reader: Browser) -> None:
    said = text_of(reader.get("/games/toss/rules"))
    assert "The text leaves open A coin may come to rest on its edge" in said
    assert "Our reading It is tossed again." in said
    assert "On its edge Toss again (our reading) It is heads Change it here" in said
    assert "Coins in a purse 5 10 (our reading)" in said
    assert "this table plays it this way" not in said


def test_html_in_a_guide_is_text(reader: Browser) -> None:
    assert "&lt;script&gt;" in reader.get("/games/toss/rules").get_data(as_text=True)


def test_a_tables_rules_mark_what_it_plays_otherwise(club: WebHome, reader: Browser) -> None:
    table = club.services.tables.open("toss", "Sunday", 2, "classic", {"edge": "heads", "purse": 7})
    page = reader.get(f"/t/{table.id}/rules")
    html, said = page.get_data(as_text=True), text_of(page)
    assert "The table “Sunday” plays 2 rules differently" in said
    assert "Toss again (our reading) It is heads this table plays it this way" in said
    assert "5 10 (our reading) 7 this table plays it this way" in said
    assert html.count('class="note differs"') == 2
    assert "Change it here" not in said, "a table that is set keeps its rules"


def test_a_table_that_changed_nothing_says_so(club: WebHome, reader: Browser) -> None:
    table = club.services.tables.open("toss", "Sunday", 2, "classic")
    html = reader.get(f"/t/{table.id}/rules").get_data(as_text=True)
    assert "plays by our reading of every rule" in html
    assert "differs" not in html


def test_what_has_no_effect_at_a_table_is_left_to_it(club: WebHome, reader: Browser) -> None:
    for edge, left in (("again", True), ("heads", False)):
        table = club.services.tables.open("toss", "Sunday", 2, "classic", {"edge": edge, "second": "yes"})
        said = text_of(reader.get(f"/t/{table.id}/rules"))
        assert ("At this table the app leaves it to you." in said) is left
        assert ("Two purses this table plays it this way" in said) is not left


def test_an_aids_table_leads_to_the_rules_of_its_game(club: WebHome, reader: Browser) -> None:
    path = reader.post("/games/toss/aids/coin").headers["Location"]
    assert f'href="{path}/rules"' in reader.get(path).get_data(as_text=True)
    said = text_of(reader.get(f"{path}/rules"))
    assert "How to toss" in said
    assert "plays by our reading" not in said, "an aid has no such options"


def test_a_guide_is_split_where_a_ruling_stands_beside_a_paragraph() -> None:
    guide = load(TOSS / "guide.en.md")
    assert guide.title == "How to toss"
    assert [(each.heading, [note.ruling for note in each.notes]) for each in guide.passages] == [
        ("A toss", ["T1", "T2"]),
        ("", []),
        ("The end", []),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Some words.", "no title"),
        ("# T\n\nWords.\n\n> It begins with no id.", "line 5: the quotation begins 'It begins with no id.'"),
        ("# T\n\n> T1 It says nothing of it.", "line 3: ruling T1 says nothing"),
    ],
)
def test_a_guide_that_cannot_be_read_says_where(text: str, said: str) -> None:
    with pytest.raises(GuideError, match=re.escape(said)):
        read(text)

"""A game's own page: what it leads to, and an aid that opens with one tap."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from companion.games import balance, registry
from companion.web.rendering.renderer import check_layouts, guide_file
from companion.web.rendering.texts import LANGUAGES
from tests.companion.web.conftest import Browser, WebHome, text_of


@pytest.fixture
def visitor(club: WebHome) -> Browser:
    return club.browser()


def opened(club: WebHome, visitor: Browser) -> str:
    answer = visitor.post("/games/toss/aids/coin")
    assert answer.status_code == 303
    return answer.headers["Location"]


def test_the_first_page_leads_to_every_game(club: WebHome, visitor: Browser) -> None:
    for path in ("/", "/games"):
        html = visitor.get(path).get_data(as_text=True)
        for name in club.services.tables.games:
            assert (f'href="/games/{name}"' in html) == (not registry.parts(name)[1])
        assert "Heads or tails, first to three." in html


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_games_page_leads_to_everything_the_game_brings(club: WebHome, language: str) -> None:
    visitor = club.browser(language=language)
    for name, game in club.app.extensions["site"].games.items():
        page = visitor.get(f"/games/{name}")
        html, said = page.get_data(as_text=True), text_of(page)
        words = club.app.extensions["site"].renderer.library.words(language, name)
        assert all(words(key) in said for key in ("name", "about", "credit"))
        assert f'href="/tables/new?game={name}"' in html
        for sheet in game.printer.sheets:
            assert f'href="/games/{name}/print/{sheet}"' in html
            assert words(f"sheet.{sheet}.name") in said
        for aid in game.tools:
            assert f'action="/games/{name}/aids/{aid}"' in html
        guided = guide_file(registry.folder(game), language).is_file()
        assert (f'href="/games/{name}/rules"' in html) == guided
        assert visitor.get(f"/games/{name}/rules").status_code == (200 if guided else 404)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_games_page_says_how_even_each_preset_is_with_and_without_a_handicap(club: WebHome, language: str) -> None:
    for name, game in registry.load().items():
        said = text_of(club.browser(language=language).get(f"/games/{name}"))
        words = club.app.extensions["site"].renderer.library.words(language, name)
        for each in balance.of(game):
            what = [words(f"preset.{each.preset}.name"), *(words(f"option.{key}.name") for key in each.chosen)]
            won = "".join(f"{words(f'seat.{seat}')} {n}, " for seat, n in each.won.items())
            assert f"{', '.join(what)}: {won}" in said
            assert f"{words('games.balance_games', n=each.games)}." in said


def test_every_aid_and_sheet_of_our_games_has_a_name_and_says_what_it_is(club: WebHome) -> None:
    library = club.app.extensions["site"].renderer.library
    for language in LANGUAGES:
        for name, game in club.services.tables.games.items():
            own = library.words(language, name).layers[0]
            wanted = [f"sheet.{sheet}.{part}" for sheet in game.printer.sheets for part in ("name", "about")]
            wanted += ["name", "about"] if registry.parts(name)[1] else []
            assert [key for key in wanted if key not in own] == [], name


def test_one_tap_opens_an_aid_that_is_begun_and_belongs_to_this_phone(club: WebHome, visitor: Browser) -> None:
    path = opened(club, visitor)
    table = club.services.tables.all()[0]
    assert (path, table.phase, table.charter.game) == (f"/t/{table.id}", "running", "toss.coin")
    assert table.title == "A counter of heads for t", "a title is as long as a name may be"
    assert visitor.move(table, "keeper", "heads", version=table.version).status_code == 303
    page = visitor.get(path)
    assert "1 head" in text_of(page)
    assert 'class="button move-button"' in page.get_data(as_text=True)
    for lobby in ("Come to the table", "free", "Begin the game"):
        assert lobby not in text_of(page)
    assert 'href="/games/toss"' in page.get_data(as_text=True)


def test_whoever_gets_an_aids_address_watches_and_may_do_nothing(club: WebHome, visitor: Browser) -> None:
    path = opened(club, visitor)
    watching = club.browser()
    page = watching.get(path).get_data(as_text=True)
    assert "0 heads" in page
    assert "move-button" not in page
    table = club.services.tables.all()[0]
    assert watching.move(table, "keeper", "heads", version=table.version).status_code == 403
    assert table.title not in text_of(watching.get("/tables")), "an aid is its player's own"


def test_an_aid_that_is_over_opens_again_with_one_tap(club: WebHome, visitor: Browser) -> None:
    path = opened(club, visitor)
    for _ in range(3):
        table = club.services.tables.all()[0]
        visitor.move(table, "keeper", "heads", version=table.version)
    html = visitor.get(path).get_data(as_text=True)
    assert 'action="/games/toss/aids/coin"' in html
    assert f'action="{path}/again"' not in html


def test_what_a_game_does_not_bring_is_a_page_that_says_so(club: WebHome, visitor: Browser) -> None:
    assert visitor.post("/games/toss/aids/dice").status_code == 404
    for path in ("/games/chess", "/games/chess/rules", "/games/toss/print/board", "/games/toss.coin"):
        answer = visitor.get(path)
        assert answer.status_code == 404, path
        assert "There is nothing here" in text_of(answer)
    assert visitor.get("/games/toss/aids/coin").status_code in (404, 405), "asking opens nothing"


@pytest.mark.parametrize("missing", ["play/screen.html", "aids/coin/phone.html"])
def test_a_game_without_a_page_is_refused_at_the_start(club: WebHome, missing: str, tmp_path: Path) -> None:
    games, folders = club.services.tables.games, club.app.extensions["site"].folders
    check_layouts(games, folders)
    copied = shutil.copytree(folders["toss"], tmp_path / "toss")
    (copied / "templates" / missing).unlink()
    with pytest.raises(registry.RegistryError, match=rf"toss: it has no templates/{missing}.*; expected a page"):
        check_layouts(games, folders | {"toss": copied})

"""Pages for the printer: every sheet of every game in each language, true to size on either paper, and as PDFs."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import weasyprint
from msgspec.structs import replace
from pypdf import PdfReader

from companion.cli import sheets
from companion.cli.command_line import main
from companion.games import registry
from companion.web.printing import press
from companion.web.printing.paper import MARGIN, PAPERS, Paper, Printing
from companion.web.rendering.art import Art, ArtError, day_colours, low_ink
from companion.web.rendering.renderer import ART, DAY, SHELL
from companion.web.rendering.texts import LANGUAGES
from tests.cases import every_case
from tests.companion.web import sheets as reading
from tests.companion.web.conftest import TOSS, WebHome, text_of

GAMES = registry.load([TOSS])
PRESS = press.Press(GAMES)
EVERY = list(PRESS.sheets())
A4 = PAPERS["a4"]
USUAL = Printing(A4)

every = every_case("sheet", EVERY, ids=lambda sheet: f"{sheet.game.name}-{sheet.name}-{sheet.language}")


def track() -> press.Sheet:
    return next(PRESS.sheets(["toss/track"]))


@every
@every_case("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_every_sheet_is_laid_out_in_every_language_on_every_paper(sheet: press.Sheet, paper: Paper) -> None:
    html = PRESS.html(sheet, Printing(paper))
    assert f'<html lang="{sheet.language}">' in html
    assert html.count('<section class="leaf') > 0
    assert " style=" not in html, "the content policy forbids it"
    assert "var(" not in html, "a drawing brings its colours with it"
    assert "<use" not in html, "a drawing brings its lines with it"
    for svg in re.findall(r"<svg[^>]*>", html):
        assert 'aria-hidden="true"' in svg or ('role="img"' in svg and re.search(r'aria-label="[^"]+"', svg)), svg


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebHome]:
    """A companion that nobody changes: its pages for the printer are only read."""
    store = tmp_path_factory.mktemp("sheets") / "companion.sqlite"
    home = WebHome(f"sqlite:///{store}", games=registry.with_tools(registry.load((TOSS,))))
    yield home
    home.hub.close()
    home.store.close()


@every
def test_every_sheet_is_served_with_its_heading_and_a_bar_that_is_not_printed(
    library: WebHome, sheet: press.Sheet
) -> None:
    browser = library.browser(language=sheet.language)
    page = browser.get(f"/games/{sheet.game.name}/print/{sheet.name}")
    html = page.get_data(as_text=True)
    assert page.status_code == 200
    assert html.count("<main ") == html.count("<h1") == 1
    assert f'href="/games/{sheet.game.name}/print/{sheet.name}?paper=letter"' in html
    for path in re.findall(r'<link rel="stylesheet" href="([^"]+)"', html):
        assert browser.get(path).status_code == 200, path


def test_the_paper_is_the_one_that_was_asked_for(library: WebHome) -> None:
    phone, here = library.browser(), "/games/toss/print/track"
    assert "print/paper/a4.css" in phone.get(here).get_data(as_text=True)
    assert "print/paper/letter.css" in phone.get(f"{here}?paper=letter").get_data(as_text=True)
    assert "print/paper/a4.css" in phone.get(f"{here}?paper=../../x").get_data(as_text=True)
    assert "100 %" in text_of(phone.get(here))


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_a_pdf_has_a_page_for_each_leaf_of_the_size_of_its_paper(paper: Paper) -> None:
    pages = reading.pages(PRESS.pdf(track(), Printing(paper)))
    assert [reading.size(page) for page in pages] == [(paper.width, paper.height)] * 2


def test_a_pdf_holds_the_projects_own_font_whatever_this_machine_has() -> None:
    drawn = reading.fonts(reading.pages(PRESS.pdf(next(PRESS.sheets(["market/score_pad"])), USUAL))[0])
    assert drawn == {"Noto-Sans", "Noto-Sans-Bold"}


def test_a_pdf_asks_to_be_printed_in_its_own_size_and_cards_on_both_sides() -> None:
    own = {"/PrintScaling": "/None"}
    both = own | {"/Duplex": "/DuplexFlipLongEdge"}
    cards = next(PRESS.sheets(["mexica/war_cards"]))
    for sheet, printing, asked in (
        (track(), USUAL, own),
        (cards, USUAL, both),
        (cards, replace(USUAL, fronts_only=True), own),
        (next(PRESS.sheets(["siege"])), USUAL, own),
    ):
        assert reading.asked(PRESS.pdf(sheet, printing)) == asked, sheet


@pytest.mark.skipif("pdf_tags" not in weasyprint.DEFAULT_OPTIONS, reason="this WeasyPrint tags nothing")
def test_a_pdf_is_tagged() -> None:
    root = PdfReader(io.BytesIO(PRESS.pdf(track(), USUAL))).trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/StructTreeRoot"]


def test_a_hundred_millimetres_are_a_hundred_millimetres_in_a_pdf() -> None:
    first = reading.pages(PRESS.pdf(track(), USUAL))[0]
    assert 100.0 in reading.lengths(first)


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
@pytest.mark.parametrize(
    "name", ["market/tiles", "market/tokens", "market/coins", "market/buyers", "moctezuma/chits"]
)
def test_no_cut_mark_crosses_the_ruler(name: str, paper: Paper) -> None:
    first = reading.pages(PRESS.pdf(next(PRESS.sheets([name])), Printing(paper)))[0]
    strokes = reading.strokes(first)
    ruler = next(each for each in strokes if abs(abs(each[0][0] - each[1][0]) - 100) < 0.01)
    (left, level), (right, _) = sorted(ruler)
    near = {x for (x, a), (_, b) in strokes if left <= x <= right and min(a, b) < level + 3 and max(a, b) > level - 5}
    assert [x for x in near if abs((x - left + 5) % 10 - 5) > 0.1] == [], "nothing but its own ticks"


@every_case("paper", PAPERS.values(), ids=lambda paper: paper.name)
@every_case("name", ["siege/forces", "siege/odds", "market/turn_card"])
def test_a_page_of_text_fits_on_its_leaf_in_every_language(name: str, paper: Paper) -> None:
    for sheet in PRESS.sheets([name]):
        leaves = PRESS.html(sheet, Printing(paper)).count('<section class="leaf')
        assert len(reading.pages(PRESS.pdf(sheet, Printing(paper)))) == leaves, sheet.language


def test_cut_marks_lie_where_the_pieces_end() -> None:
    grid = A4.grid(63, 88)
    assert (grid.columns, grid.rows, grid.room) == (3, 3, 9)
    first = reading.pages(PRESS.pdf(track(), USUAL))[0]
    tens = A4.grid(10, 10)
    across = {round(x, 1) for (x, _), (x2, _) in reading.strokes(first) if abs(x - x2) < 0.01}
    assert {tens.left + 10 * column for column in range(tens.columns + 1)} <= across


def test_pieces_stay_inside_what_a_printer_reaches() -> None:
    for paper in PAPERS.values():
        grid = paper.grid(63, 88)
        assert grid.room == 9
        assert min(grid.left, grid.top) >= MARGIN
        with pytest.raises(ValueError, match=f"fits on {paper.name}"):
            paper.grid(300, 10)


def reached(path: str) -> list[tuple[float, float]]:
    """Return both ends of every stroke of a grid's cut marks."""
    ends = []
    for x, y, way, length in re.findall(r"M([-\d.]+) ([-\d.]+)([hv])([-\d.]+)", path):
        assert float(length) != 0
        ends.append((float(x), float(y)))
        ends.append((float(x) + float(length) * (way == "h"), float(y) + float(length) * (way == "v")))
    return ends


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_cut_marks_and_colour_past_the_cut_stay_inside_what_a_printer_reaches(paper: Paper) -> None:
    sizes = {(pieces.width, pieces.height) for game in GAMES.values() for pieces in game.printer.pieces.values()}
    for width, height in sizes:
        for x, y in reached(paper.grid(width, height).marks):
            assert MARGIN - 1e-9 <= x <= paper.width - MARGIN + 1e-9
            assert MARGIN - 1e-9 <= y <= paper.height - MARGIN + 1e-9
    backs = PRESS.html(next(PRESS.sheets(["mexica/week_cards"])), Printing(paper)).split('class="leaf backs"')[1]
    shape = re.search(r'<rect x="([\d.]+)"\s+y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', backs)
    assert shape
    x, y, width, height = map(float, shape.groups())
    assert min(x, y) >= MARGIN - 1e-9
    assert x + width <= paper.width - MARGIN + 1e-9
    assert y + height <= paper.height - MARGIN + 1e-9


def test_backs_lie_behind_their_fronts_when_the_page_is_turned() -> None:
    grid = A4.grid(63, 88)
    pages = list(grid.pages("abcdefghijk"))
    assert pages == [list("abcdefghi"), ["j", "k", *[None] * 7]]
    assert grid.mirrored(pages[1])[:3] == [None, "k", "j"]
    assert grid.mirrored(pages[0]) == list("cbafedihg")


def test_a_drawing_is_the_screens_own_in_the_colours_of_the_day() -> None:
    art = Art(ART, SHELL / "static" / DAY)
    html = art.drawing("end-flood", 40, 30)
    assert 'width="40mm" height="30mm"' in html
    assert art.colours["rain"] in html
    inside = art.placed("temple-front", 0, 0, 264, 165)
    assert inside.partition(")")[2].partition(">")[2] in html, "what it uses is drawn out"
    for missing in ("no-such-sign", ""):
        with pytest.raises(ArtError, match="expected the id of a symbol"):
            art.drawing(missing, 10)


def test_every_drawing_can_be_printed() -> None:
    art = Art(ART, SHELL / "static" / DAY)
    assert len(art.names) > 20
    for name in art.names:
        assert "var(" not in art.placed(name, 0, 0, 10)


def test_the_command_writes_what_is_named_in_every_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheets.build(PRESS, ["toss/track"], tmp_path, USUAL)
    sheets.build(PRESS, ["toss"], tmp_path, Printing(PAPERS["letter"]))
    assert {path.name for path in tmp_path.iterdir()} == {
        f"toss-track-{language}{paper}.pdf" for language in LANGUAGES for paper in ("", "-letter")
    }
    assert str(tmp_path / "toss-track-en.pdf") in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [(["chess"], "game 'chess' is not there"), (["mexica/map"], "mexica has no sheet 'map'")],
)
def test_a_sheet_that_is_not_there_is_named(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sheets", "--out", str(tmp_path / "out"), *words]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", ["mexica/tallies", "market/tiles", "moctezuma/board", "siege/odds"])
def test_each_game_has_the_page_with_a_ruler_that_the_guide_names(words: str) -> None:
    for sheet in PRESS.sheets([words]):
        for paper in PAPERS.values():
            assert 'class="ruler"' in PRESS.html(sheet, Printing(paper)).split("</section>")[0], "on the first leaf"


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
@pytest.mark.parametrize("words", ["siege/map_skirmish", "siege/odds", "market/tokens", "moctezuma/board"])
def test_a_ruler_lies_within_what_a_printer_reaches(words: str, paper: Paper) -> None:
    for page in reading.pages(PRESS.pdf(next(PRESS.sheets([words])), Printing(paper))):
        for (x1, y1), (x2, y2) in reading.strokes(page):
            if abs(y1 - y2) < 0.01 and abs(abs(x1 - x2) - 100) < 0.01:
                assert min(x1, x2) >= MARGIN
                assert max(x1, x2) <= paper.width - MARGIN
                assert min(y1, y2) >= MARGIN + 3.6, "and its words below it"


# -- what a table at home chooses --


def test_pages_in_low_ink_have_pale_areas_and_dark_lines_and_words() -> None:
    sheet = next(PRESS.sheets(["mexica/war_cards"]))
    art = Art(ART, SHELL / "static" / DAY)
    full, pale = PRESS.html(sheet, USUAL), PRESS.html(sheet, Printing(A4, low_ink=True))
    assert art.colours["war"] in full
    assert art.colours["war"] not in pale
    assert art.colours["ink"] in pale
    assert art.in_low_ink().colours["war"] in pale
    assert "print/ink/low.css" in pale


def test_the_style_sheet_of_low_ink_has_the_colours_of_the_drawings() -> None:
    css = (SHELL / "static" / "print" / "ink" / "low.css").read_text(encoding="utf-8")
    assert day_colours(css) == Art(ART, SHELL / "static" / DAY).in_low_ink().colours


@every_case("name", ["warrior", "cuauhtemoc", "totonac", "tlascalan", "texcocoan", "cholula"])
def test_a_unit_of_the_siege_is_known_by_its_sign_in_low_ink_too(name: str) -> None:
    art = Art(ART, SHELL / "static" / DAY).in_low_ink()
    _, _, sign = str(art.placed(f"siege-{name}", 0, 0, 12)).rpartition("<path" if name != "warrior" else "<circle")
    colours = re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', sign)
    assert colours == [art.colours["ink"]]


def test_nothing_that_is_written_in_low_ink_is_paler_than_what_a_printer_shows() -> None:
    colours = low_ink(Art(ART, SHELL / "static" / DAY).colours)
    for name in ("ink", "soot", "dark", "war-text", "rain-text", "jade-text"):
        assert sum(int(colours[name][at : at + 2], 16) for at in (1, 3, 5)) < 3 * 128, name


@pytest.mark.parametrize("words", ["mexica/rain_cards", "moctezuma/decks", "siege/counters"])
def test_fronts_alone_are_half_of_the_pages(words: str) -> None:
    sheet = next(PRESS.sheets([words]))
    both = len(PRESS.document(sheet, USUAL).pages)
    assert len(PRESS.document(sheet, Printing(A4, fronts_only=True)).pages) * 2 == both


def test_one_file_holds_everything_that_a_table_of_some_players_needs() -> None:
    for players, records in ((2, 1), (3, 2), (4, 2)):
        (sheet,) = [each for each in PRESS.everything(players, ["moctezuma"]) if each.language == "en"]
        assert sheet.pages.count("records") == records
        assert set(sheet.pages) == set(sheet.game.printer.sheets)
        assert sheet.pages.count("board") == 1
    assert sheet.file(Printing(PAPERS["letter"], True, True)) == (
        "moctezuma-everything-en-4-letter-low-ink-fronts.pdf"
    )
    thick = Printing(A4, stock=0.4)
    assert sheet.file(thick) == "moctezuma-everything-en-4-cards-0.4mm.pdf", "there are boxes among them"
    names = {each.name: each.file(thick) for each in PRESS.sheets(["moctezuma"]) if each.language == "en"}
    assert names["boxes"] == "moctezuma-boxes-en-cards-0.4mm.pdf"
    assert names["chits"] == "moctezuma-chits-en.pdf"
    with pytest.raises(press.SheetsError, match="--players is 40; expected for moctezuma one of"):
        list(PRESS.everything(40, ["moctezuma"]))


@every_case("players", [-1, 0, 1, 7])
def test_a_number_of_players_that_no_game_is_for_is_refused_with_the_numbers_of_each(players: int) -> None:
    with pytest.raises(press.SheetsError, match=f"--players is {players}; expected .*for siege one of 2"):
        list(PRESS.everything(players))


def test_the_page_of_everything_offers_paper_ink_sides_and_players(library: WebHome) -> None:
    phone = library.browser()
    here = "/games/moctezuma/print"
    page = phone.get(f"{here}?players=3&ink=low&sides=fronts").get_data(as_text=True)
    assert "print/ink/low.css" in page
    assert "print/sides/fronts.css" in page
    assert re.search(r'href="[^"]*players=3[^"]*"\s+aria-current="page"', page)
    assert 'href="/games/moctezuma/print?players=4&amp;ink=low&amp;sides=fronts"' in page
    usual = phone.get(f"{here}?players=ten&ink=none&sides=2").get_data(as_text=True)
    assert "print/ink" not in usual
    assert "print/sides" not in usual
    assert f'href="{here}"' in phone.get("/games/moctezuma").get_data(as_text=True)


@every_case("typed", ["00220", "41", f"002{'0' * 5000}", "٢"])
def test_a_number_of_players_that_no_game_seats_lays_out_no_more_sheets(library: WebHome, typed: str) -> None:
    page = library.browser().get(f"/games/moctezuma/print?players={typed}")
    usual = library.browser().get("/games/moctezuma/print")
    assert page.status_code == 200
    assert page.get_data(as_text=True).count('<section class="leaf') == usual.get_data(as_text=True).count(
        '<section class="leaf'
    )


AT_START = """
import importlib, pkgutil, sys
from companion.cli import daemon
from companion.web import routes
for each in pkgutil.iter_modules(routes.__path__, "companion.web.routes."):
    importlib.import_module(each.name)
print([each for each in sys.modules if each.startswith(("companion.web.printing", "weasyprint", "PIL"))])
"""


def test_a_companion_imports_nothing_for_the_printer_before_somebody_wants_it() -> None:
    imported = subprocess.run([sys.executable, "-c", AT_START], capture_output=True, text=True, check=True)
    assert imported.stdout == "[]\n"

"""Tuck boxes: each holds its deck, every deck has its boxes, and no cutting line stays on them."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.cli.command_line import main
from companion.games import registry
from companion.web.printing import press
from companion.web.printing.paper import MARGIN, PAPERS, Paper, Printing
from companion.web.printing.tuck_box import BLEED, LINE, STOCKS, THINNEST, tuck_box, tuck_boxes
from companion.web.rendering.texts import LANGUAGES
from tests.companion.web import sheets as reading
from tests.companion.web.conftest import WebHome

GAMES = registry.load()
PRESS = press.Press(GAMES)
papers = pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)


def decks(game: str) -> list[Any]:
    found: Any = GAMES[game].printer.sheet("boxes", "en")["boxes"]
    return list(found)


def points(path: str) -> list[tuple[float, float]]:
    """Return the corners of path data, where arcs end among them."""
    x = y = 0.0
    found = []
    for letter, words in re.findall(r"([MLHVhlaz])([^MLHVhlaz]*)", path):
        n = [float(each) for each in words.split()]
        match letter:
            case "M" | "L":
                x, y = n
            case "H":
                (x,) = n
            case "V":
                (y,) = n
            case "h":
                x += n[0]
            case "l" | "a":
                x, y = x + n[-2], y + n[-1]
        found.append((round(x, 3), round(y, 3)))
    return found


def test_every_deck_that_is_printed_has_its_boxes_with_a_place_for_each_card() -> None:
    assert {deck["name"]: deck["cards"] for deck in decks("mexica")} == {
        f"pile.{pile}": len(GAMES["mexica"].printer.sheet(f"{pile}_cards", "en")["cards"])  # type: ignore[arg-type]
        for pile in ("day", "week", "war", "rain")
    }
    assert [deck["cards"] for deck in decks("moctezuma")] == [110, 10]
    for game in ("mexica", "moctezuma"):
        for deck in decks(game):
            for paper in PAPERS.values():
                boxes = list(tuck_boxes(deck["cards"], deck["width"], deck["height"], 0.3, paper))
                assert sum(each.box.cards for each in boxes) == deck["cards"]
                assert [(each.number, each.of) for each in boxes] == [(n + 1, len(boxes)) for n in range(len(boxes))]


@papers
@given(
    cards=st.integers(1, 300),
    size=st.sampled_from([(63, 88), (44, 63), (57, 89), (70, 120)]),
    stock=st.floats(THINNEST, 0.8),
)
def test_a_box_holds_its_cards_and_lies_within_what_a_printer_reaches(
    paper: Paper, cards: int, size: tuple[float, float], stock: float
) -> None:
    for each in tuck_boxes(cards, *size, stock, paper):
        box = each.box
        assert box.width - stock >= size[0] + 0.9
        assert box.height - stock >= size[1] + 0.9
        assert box.depth - stock >= box.cards * stock + 0.9
        wide, high = (box.down, box.across) if each.turned else (box.across, box.down)
        edge = MARGIN + BLEED + LINE
        assert edge <= each.left
        assert each.left + wide <= paper.width - edge + 0.01
        assert edge <= each.top
        assert each.top + high <= paper.height - 10, "the ruler is below it"


@given(cards=st.integers(1, 200), stock=st.floats(THINNEST, 0.6))
def test_the_panels_of_a_net_close_to_a_box(cards: int, stock: float) -> None:
    box = tuck_box(cards, 63, 88, stock)
    row = [box.back, box.sides[0], box.front, box.sides[1]]
    assert all(left.right == right.left for left, right in pairwise(row))
    assert {panel.height for panel in row} == {box.height}
    assert box.front.width == box.back.width == box.lid.width
    assert {side.width for side in box.sides} == {box.depth}
    assert box.lid.height == pytest.approx(box.depth)
    assert 2 * box.dust < box.width, "the flaps under the lid do not meet"
    assert box.glue < box.depth, "the glued flap is behind the side"


def test_a_net_is_one_outline_that_reaches_its_whole_size() -> None:
    for cards in (10, 40, 130):
        box = tuck_box(cards, 63, 88, 0.3)
        corners = points(box.outline)
        assert (min(x for x, _ in corners), min(y for _, y in corners)) == (0, 0)
        assert max(x for x, _ in corners) == pytest.approx(box.across)
        assert max(y for _, y in corners) == pytest.approx(box.down)
        for panel in (box.back, box.front, *box.sides):
            assert any(x == pytest.approx(panel.left) and y == pytest.approx(panel.bottom) for x, y in corners)


def test_the_lines_on_both_sides_of_a_slit_can_be_seen() -> None:
    box = tuck_box(130, 63, 88, 0.3)
    roots = sorted(x for x, y in points(box.outline) if y == pytest.approx(box.back.top))
    lid, flap = box.back.right, min(x for x in roots if x > box.back.right + 0.01)
    assert flap - lid > 2 * (BLEED + LINE)


def test_no_line_lies_on_the_cut_and_colour_runs_past_it() -> None:
    html = PRESS.html(next(PRESS.sheets(["mexica/boxes"])), Printing(PAPERS["a4"]))
    outlines = re.findall(r'<path d="(M[^"]+z)" fill="([^"]+)" stroke="[^"]+"\s+stroke-width="([\d.]+)"', html)
    assert outlines
    for under, over in zip(outlines[::2], outlines[1::2], strict=True):
        assert under[0] == over[0]
        assert under[1] == "none"
        assert float(over[2]) == 2 * BLEED >= 1, "what covers the line up to half a millimetre outside the cut"
        assert float(under[2]) == 2 * (BLEED + LINE)


@papers
def test_each_box_has_a_page_with_a_ruler_the_game_and_the_deck(paper: Paper) -> None:
    for language in LANGUAGES:
        sheet = press.Sheet(GAMES["mexica"], "boxes", language)
        pages = reading.pages(PRESS.pdf(sheet, Printing(paper)))
        assert len(pages) == 5, "260 day cards need two boxes"
        words = PRESS.words(language, "mexica")
        for page, pile in zip(pages, ("day", "day", "week", "war", "rain"), strict=True):
            assert reading.size(page) == (paper.width, paper.height)
            assert 100.0 in reading.lengths(page)
            assert {words("name"), words(f"pile.{pile}")} <= set(page.extract_text().split("\n"))


def test_thicker_cards_get_deeper_boxes_and_more_of_them() -> None:
    assert tuck_box(40, 63, 88, 0.4).depth > tuck_box(40, 63, 88, 0.2).depth
    boxes = [len(list(tuck_boxes(260, 63, 88, stock, PAPERS["a4"]))) for stock in (0.1, 0.3, 0.8)]
    assert boxes == sorted(boxes)
    assert boxes[0] < boxes[-1]


@pytest.mark.parametrize("stock", ["0", "3", "-0.3"])
def test_a_thickness_that_no_card_has_is_refused(
    stock: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sheets", "mexica/boxes", "--out", str(tmp_path / "out"), f"--stock={stock}"]) == 2
    assert "expected 0.05 to 2 mm" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [], "nothing was written"


def test_the_page_of_boxes_offers_how_thick_a_card_is(home: WebHome) -> None:
    phone = home.browser()
    page = phone.get("/games/mexica/print/boxes?stock=0.4").get_data(as_text=True)
    assert re.search(r'href="[^"]*stock=0.4[^"]*"\s+aria-current="page">0.4 mm', page)
    assert all(f"{stock} mm" in page for stock in STOCKS)
    thick = phone.get("/games/mexica/print/boxes?stock=9").get_data(as_text=True)
    assert f'aria-current="page">{STOCKS[0]} mm' in re.sub(r"\s+", " ", thick)
    assert "stock=" not in phone.get("/games/mexica/print/tallies").get_data(as_text=True)

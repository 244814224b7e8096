"""The market's pages for the printer: every piece in the box once, in its true size."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from companion.games import registry
from companion.games.market.printer import BUYERS, SHEETS
from companion.games.market.rules.board import COINS, COMMODITIES, COPIES
from companion.web.printing import press
from companion.web.printing.paper import PAPERS, Paper, Printing
from tests.companion.web import sheets as reading

GAMES = registry.load()
MARKET = GAMES["market"]
PRESS = press.Press(GAMES)


def sheet(name: str) -> Any:
    return MARKET.printer.sheet(name, "en")


@pytest.mark.parametrize("name", SHEETS)
@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_a_sheet_fits_on_one_page_of_either_paper_and_the_turn_cards_have_backs(name: str, paper: Paper) -> None:
    pages = reading.pages(PRESS.pdf(next(PRESS.sheets([f"market/{name}"])), Printing(paper)))
    assert [reading.size(page) for page in pages] == [(paper.width, paper.height)] * (1 + (name == "turn_card"))


def test_the_box_is_printed_whole() -> None:
    assert Counter(sheet("tiles")["tiles"]) == dict(COPIES)
    assert Counter(sheet("tokens")["tokens"]) == dict.fromkeys(COMMODITIES, 20)
    assert (sheet("buyers")["n"], sheet("coins")["n"]) == (BUYERS, COINS) == (16, 16)


def test_tiles_and_buyers_are_45_mm_squares_and_tokens_18() -> None:
    for name, size in (("tiles", 45), ("buyers", 45), ("tokens", 18), ("coins", 18)):
        html = PRESS.html(next(PRESS.sheets([f"market/{name}"])), Printing(PAPERS["a4"]))
        assert html.count(f'width="{size}" height="{size}"') >= 15, name


def test_little_ink_leaves_no_dark_area_around_the_tokens() -> None:
    html = PRESS.html(next(PRESS.sheets(["market/tokens"])), Printing(PAPERS["a4"], low_ink=True))
    areas = re.findall(r'width="18" height="18" fill="#(\w\w)(\w\w)(\w\w)"', html)
    assert len(areas) == 80
    assert min(int(channel, 16) for area in areas for channel in area) > 180


def test_a_ruler_shows_whether_the_printer_kept_the_size() -> None:
    (page,) = reading.pages(PRESS.pdf(next(PRESS.sheets(["market/tiles"])), Printing(PAPERS["a4"])))
    assert 100.0 in reading.lengths(page)

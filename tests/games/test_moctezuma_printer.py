"""The printed parts of Moctezuma's Revenge: everything in the box, once, in true size."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from companion.games import registry
from companion.games.moctezuma import GAME
from companion.web.printing import press
from companion.web.printing.paper import PAPERS, Paper, Printing
from tests.companion.web import sheets as reading

PRESS = press.Press(registry.load())


def printed(name: str, paper: Paper) -> list[Any]:
    return reading.pages(PRESS.pdf(next(PRESS.sheets([f"moctezuma/{name}"])), Printing(paper)))


def test_every_temple_has_its_eleven_treasures() -> None:
    cards: Any = GAME.printer.sheet("decks", "en")["cards"]
    assert len(cards) == 110
    for temple in range(1, 11):
        worths = Counter(card["worth"] for card in cards if card["temple"] == temple)
        assert worths == {5: 1, 3: 2, 2: 3, 1: 5}


def test_there_are_ten_names_and_chits_for_both_editions() -> None:
    names: Any = GAME.printer.sheet("names", "en")["cards"]
    assert Counter(card["name"] for card in names)["clue"] == 3
    assert len(names) == 10
    chits: Any = GAME.printer.sheet("chits", "en")["chits"]
    assert Counter(chits) == {"cursed": 14, "safe": 11}


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_each_page_of_cards_has_its_backs_behind_it(paper: Paper) -> None:
    room = paper.grid(44, 63).room
    assert len(printed("decks", paper)) == 2 * -(-110 // room)
    assert len(printed("names", paper)) == 2


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_the_board_and_the_record_sheets_fill_their_pages(paper: Paper) -> None:
    assert [reading.size(page) for page in printed("board", paper)] == [(paper.width, paper.height)] * 2
    assert len(printed("records", paper)) == 1
    assert len(printed("chits", paper)) == 2
    assert 100.0 in reading.lengths(printed("board", paper)[0])

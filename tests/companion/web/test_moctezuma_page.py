"""What the page of Moctezuma's Revenge says of cards in a hand and under a deck."""

from __future__ import annotations

import re
from collections.abc import Mapping

from companion.games.kit import Json
from companion.games.moctezuma.page.regions import regions
from companion.web.view_models.table import Audience
from tests.companion.web.conftest import WebHome
from tests.games.moctezuma_sitting import Sitting


def said(home: WebHome, region: str, view: Mapping[str, Json]) -> str:
    """Return what a region says to red's phone, with every move out of reach."""
    table = home.services.tables.open("moctezuma", "Sunday", 2, "classic", {})
    render = home.app.extensions["site"].renderer.of_table(table, Audience("en", seats=("red",)))
    html = re.sub(r"(?s)<svg.*?</svg>", " ", render(region, regions(view)[region]))
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_only_the_name_card_goes_back_whoever_holds_the_hand(home: WebHome) -> None:
    drawn = Sitting().put(5).do("explore", 2).dealt("tizoc", 3)
    assert said(home, "hand", drawn.view("red")).count("Goes back") == 1


def test_cards_that_come_up_next_are_on_top_and_under_none(home: WebHome) -> None:
    table = Sitting().explore(1, 5, 5, 3, 3, 2, 2, keep=5).rounds(1).explore(1, 5, 2, 1, 1, 1, 1, keep=2).rounds(1)
    assert "Under 2 cards: 3 3 2 2" in said(home, "notebook", table.view("red"))
    table.explore(1, 2, "tizoc", 1, keep=1)
    notebook = said(home, "notebook", table.view("red"))
    assert "On top: 3 3 2 2" in notebook
    assert "Under 0" not in notebook

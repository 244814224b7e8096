from __future__ import annotations

from companion.games import registry
from companion.games.mexica.printer import CARDS
from companion.web.printing.paper import PAPERS, Printing
from companion.web.printing.press import Press, Sheet
from hardware.bill import bill


def test_the_bill_has_a_sheet_of_card_stock_for_each_leaf_of_cards_and_boxes() -> None:
    games = registry.load()
    press, printing = Press(games), Printing(PAPERS["a4"])
    pages = [press.html(Sheet(games["mexica"], name, "en"), printing) for name in (*CARDS, "boxes")]
    (item,) = [item for item in bill()["table"] if item.what.startswith("sheet of card stock, A4")]
    assert item.count == sum(page.count('<section class="leaf">') for page in pages), "backs are on the same sheets"

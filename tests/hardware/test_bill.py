from __future__ import annotations

import re

from companion.games import registry
from companion.games.mexica.printer import CARDS
from companion.web.printing.paper import PAPERS, Printing
from companion.web.printing.press import Press, Sheet
from hardware.bill import Item, bill, table


def test_the_bill_has_a_sheet_of_card_stock_for_each_leaf_of_cards_and_boxes() -> None:
    games = registry.load()
    press, printing = Press(games), Printing(PAPERS["a4"])
    pages = [press.html(Sheet(games["mexica"], name, "en"), printing) for name in (*CARDS, "boxes")]
    (item,) = [item for item in bill()["table"] if item.what.startswith("sheet of card stock, A4")]
    assert item.count == sum(page.count('<section class="leaf">') for page in pages), "backs are on the same sheets"


def test_a_first_timer_pays_for_whole_packs_parcels_and_filament() -> None:
    screws = Item("screw", 12, 0.1, "", "", pack=50, pack_euros=3.0)
    assert (screws.cost, screws.paid) == (12 * 0.1, 3.0)
    assert Item("bead", 12, 0.1, "", "", pack=5).paid == 15 * 0.1
    last = list(table(bill()))[-1]
    real, less, tools = (int(number) for number in re.findall(r"(\d+) €(?:\*\*)?(?:\.|;)? ?(?:Who|who|more)", last))
    assert real == 166
    assert (less, tools) == (106, 57)

"""What the siege's pages for the printer show."""

from __future__ import annotations

import re
from typing import Any

from companion.games import registry
from companion.games.siege import GAME
from companion.web.printing import press
from companion.web.printing.paper import MARGIN, PAPERS, Printing
from tests.companion.web import sheets as reading

PRESS = press.Press(registry.load())


def test_the_table_of_forces_adds_up_to_both_sides_of_the_text() -> None:
    forces: Any = GAME.printer.sheet("forces", "en")
    totals = {each["side"]: each for each in forces["totals"]}
    assert (totals["aztecs"]["full"], totals["spaniards"]["full"]) == (46, 46)
    for side, total in totals.items():
        walking = [each for each in forces["peoples"] if each["side"] == side and each["people"] != "boat"]
        assert sum(each["full"] for each in walking) == total["full"]
        assert sum(each["third"] for each in walking) == total["third"]
    assert {each["people"]: each["full"] for each in forces["peoples"]}["boat"] == 13


def test_a_fire_has_a_dark_outline_in_little_ink_too() -> None:
    html = PRESS.html(next(PRESS.sheets(["siege/counters"])), Printing(PAPERS["a4"], low_ink=True))
    outlines = re.findall(r'<path transform="translate[^>]*? stroke="(#\w+)"', html)
    assert len(outlines) == 40
    assert {int(outline[1:3], 16) < 80 for outline in outlines} == {True}


def test_a_counter_has_its_people_s_name_and_its_number_on_both_sides() -> None:
    html = PRESS.html(next(PRESS.sheets(["siege/counters"])), Printing(PAPERS["a4"]))
    words = re.findall(r"<text[^>]*>([^<]+)</text>", html)
    assert [words.count(name) for name in ("Cuauhtemoc", "Cortez", "Totonacs", "Brigantine")] == [2, 2, 10, 26]
    assert words.count("45") == 2, "only the Aztec warriors have that many"
    faces = [piece.face for piece in GAME.printer.pieces["counters"].pieces("en")]
    assert len({*faces}) == 105 + 1, "every unit is another, and a fire is like every fire"


def test_the_phases_of_a_turn_are_numbered_with_whose_they_are() -> None:
    html = PRESS.html(next(PRESS.sheets(["siege/odds"])), Printing(PAPERS["a4"]))
    (phases,) = re.findall(r"<ol>(.*?)</ol>", html, re.DOTALL)
    assert re.findall(r"<li>(.*?)</li>", phases) == [
        "Events", "The besiegers: March", "The besiegers: Attack", "The besiegers: Rally",
        "The Aztecs: March", "The Aztecs: Attack", "The Aztecs: Rally", "Fires",
    ]  # fmt: skip


def test_a_tables_own_map_is_cut_into_tiles_like_those_that_ship() -> None:
    options = {option.key: option.default for option in GAME.options}
    state = GAME.rules.setup(options, ("aztecs", "spaniards"))
    assert GAME.printer.own_sheet(state, "map", "en") == GAME.printer.sheet("map_full", "en")


def test_no_line_lies_on_the_cut_of_a_tile_and_marks_outside_show_it() -> None:
    sheet = next(PRESS.sheets(["siege/map_full"]))
    html = PRESS.html(sheet, Printing(PAPERS["a4"]))
    assert "stroke-dasharray" not in html
    a4 = PAPERS["a4"]
    page = reading.pages(PRESS.pdf(sheet, Printing(a4)))[0]
    left, right, top, bottom = (a4.width - 186) / 2, (a4.width + 186) / 2, a4.height - 8.4, a4.height - 8.4 - 258
    marks = [
        sorted((x1, x2))
        for (x1, y1), (x2, y2) in reading.strokes(page)
        if abs(y1 - y2) < 0.01 and min(abs(y1 - top), abs(y1 - bottom)) < 0.01 and abs(abs(x1 - x2) - 4) < 0.01
    ]
    assert len(marks) == 4
    for start, end in marks:
        assert start >= MARGIN
        assert end <= a4.width - MARGIN
        assert end < left or right < start


def test_a_name_at_the_side_of_the_map_begins_or_ends_there_and_leaves_the_rows_numbers_free() -> None:
    html = PRESS.html(next(PRESS.sheets(["siege/map_full"])), Printing(PAPERS["a4"]))
    written = re.findall(r'<text x="([\d.]+)"[^>]*font-weight="700" text-anchor="(\w+)"[^>]*>(\w+)</text>', html)
    assert ("start", "Tlacopan") in {(anchor, name) for _, anchor, name in written}
    (number,) = {float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*font-size="5"[^>]*>11</text>', html)}
    assert min(float(x) for x, anchor, _ in written if anchor == "start") > number + 5, "two digits of 5 mm"


def test_what_is_written_above_a_tile_and_the_ruler_below_it_lie_within_what_a_printer_reaches() -> None:
    html = PRESS.html(next(PRESS.sheets(["siege/map_full"])), Printing(PAPERS["letter"]))
    baseline = float(re.findall(r'y="([\d.]+)" font-size="3.4"', html)[0])
    assert baseline - 3.4 * 0.72 >= MARGIN, "capitals are 0.72 of the size"
    assert PAPERS["letter"].height - MARGIN - 7 >= 8.4 + 258, "the ruler is 7 mm high"


def test_a_map_is_also_drawn_whole_as_a_board() -> None:
    for name in ("full", "skirmish"):
        whole: Any = GAME.printer.sheet(f"whole_{name}", "en")
        (tile,) = whole["tiles"]
        board = GAME.printer.boards()[f"whole_{name}"]
        assert (tile["width"], tile["height"]) == (round(board.width, 1), round(board.height, 1))
        hexes = sum(len(ground["hexes"].split("M")) - 1 for ground in tile["grounds"])
        assert hexes == {"full": 528, "skirmish": 208}[name]

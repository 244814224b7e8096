"""Mexica's pages for the printer: every card once, the calendar as it runs, and true sizes in the PDFs."""

from __future__ import annotations

import re
from math import cos, hypot, radians, sin
from typing import Any

import pytest

from companion.games import registry
from companion.games.kit import LEFT_TO_RIGHT
from companion.games.mexica.page import card_racks, card_temple
from companion.games.mexica.printer import CARDS, ROOM
from companion.games.mexica.rules.calendar import SIGNS, STARTS
from companion.games.mexica.rules.cards import game_deck
from companion.games.mexica.rules.cards.deck import PILES
from companion.web.printing import press
from companion.web.printing.paper import MARGIN, PAPERS, Paper, Printing
from companion.web.printing.tuck_box import BLEED, LINE
from companion.web.rendering.art import Art
from companion.web.rendering.renderer import ART, DAY, SHELL
from companion.web.rendering.texts import LANGUAGES
from hardware.parameters import Temple
from tests.companion.web import sheets as reading

DECK = game_deck()

GAMES = registry.load()
MEXICA = GAMES["mexica"]
PRESS = press.Press(GAMES)
A4, LETTER = PAPERS["a4"], PAPERS["letter"]


def printed(name: str, paper: Paper = A4) -> list[Any]:
    return reading.pages(PRESS.pdf(next(PRESS.sheets([f"mexica/{name}"])), Printing(paper)))


def board() -> Any:
    return MEXICA.printer.sheet("board", "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_card_of_the_deck_is_printed_once_with_what_it_does(language: str) -> None:
    cards: list[Any] = [card for name in CARDS for card in MEXICA.printer.sheet(name, language)["cards"]]  # type: ignore[misc,union-attr]
    assert [card["id"] for card in cards] == [card.id for card in DECK]
    assert len(cards) == 360
    for card in cards:
        assert card["title"]
        assert card["story"]
        assert PRESS._renderer.library.words(language, "mexica")(card["effect"], **card["facts"])


def test_fronts_and_backs_take_turns_nine_to_a_page() -> None:
    sheet = next(PRESS.sheets(["mexica/day_cards"]))
    for paper in PAPERS.values():
        html = PRESS.html(sheet, Printing(paper))
        leaves = html.split('<section class="leaf')[1:]
        assert len(leaves) == 2 * 29
        assert [leaf.startswith(" backs") for leaf in leaves] == [False, True] * 29
        assert [leaf.count('<article class="piece card') for leaf in leaves[::2]] == [9] * 28 + [8]
        assert [leaf.count('<div class="piece back"') for leaf in leaves[1::2]] == [9] * 28 + [8]
        last = re.findall(r'<div class="piece( back)?"', leaves[-1])
        assert [place for place, back in enumerate(last) if not back] == [6], "the empty place is mirrored in its row"


def test_the_week_cards_are_poker_cards() -> None:
    pages = printed("week_cards", LETTER)
    assert [reading.size(page) for page in pages] == [(LETTER.width, LETTER.height)] * 6
    marks = reading.strokes(pages[0])
    across = {round(x, 1) for (x, _), (x2, _) in marks if abs(x - x2) < 0.01}
    down = {round(y, 1) for (_, y), (_, y2) in marks if abs(y - y2) < 0.01}
    for n in range(4):
        assert any(abs(x - (LETTER.width - 189) / 2 - 63 * n) < 0.15 for x in across)
        assert any(abs(y - (LETTER.height - 264) / 2 - 88 * n) < 0.15 for y in down)


def test_the_board_joins_to_400_mm_from_a4_and_to_sixteen_inches_from_letter() -> None:
    pages = printed("board")
    assert [reading.size(page) for page in pages] == [(210.0, 297.0)] * 5
    for page in pages[:4]:
        measured = reading.lengths(page)
        assert measured.count(200.0) == 2, "both edges that are cut"
        assert 100.0 in measured
    html = PRESS.html(next(PRESS.sheets(["mexica/board"])), Printing(LETTER))
    assert html.count("h203.2M") == html.count('v203.2"') == 4


def test_the_board_shows_where_the_printed_temple_stands_and_the_hole_that_its_lake_fits() -> None:
    temple = Temple()
    foot, base = board()["footprint"], temple.tiers[0]
    assert foot["hole"] == pytest.approx(temple.board.inner, abs=0.05)
    assert temple.spigot < foot["hole"] < temple.shore
    assert (foot["half"], foot["front"], foot["back"]) == (base.half, base.front, -base.back)
    assert (foot["stairs"], foot["foot"]) == (temple.stair_half, temple.stair_foot)
    for paper, scale in ((A4, 200 / 494), (LETTER, 203.2 / 494)):
        html = PRESS.html(next(PRESS.sheets(["mexica/board"])), Printing(paper))
        assert "193 mm" in html
        radii = {float(radius) for radius in re.findall(r' r="([\d.]+)" fill="none"', html)}
        assert any(abs(radius * scale - foot["hole"]) < 0.01 for radius in radii)


def test_rulers_are_within_what_a_printer_reaches() -> None:
    for name in ("board", "tallies"):
        for page in printed(name, LETTER):
            rulers = [
                ends
                for ends in reading.strokes(page)
                if abs(hypot(*(a - b for a, b in zip(*ends, strict=True))) - 100) < 0.01
            ]
            assert rulers
            for (x1, y1), (x2, y2) in rulers:
                assert min(x1, x2) >= MARGIN
                assert max(x1, x2) <= LETTER.width - MARGIN
                assert min(y1, y2) >= MARGIN + 3.6, "and its words below it"


def test_the_tallies_are_two_pages_with_a_true_ruler() -> None:
    pages = printed("tallies")
    assert [reading.size(page) for page in pages] == [(210.0, 297.0)] * 2
    assert all(100.0 in reading.lengths(page) for page in pages)


def test_the_board_holds_the_calendar_counter_clockwise_with_its_four_starts() -> None:
    """M31: five days to a quarter, and in the last space of each its tribe starts."""
    quarters = board()["quarters"]
    spaces = [space for quarter in quarters for space in quarter["spaces"]]
    assert [space["sign"] for space in spaces] == list(SIGNS)
    assert {space["start"]: space["place"] for space in spaces if space["start"]} == STARTS
    assert [quarter["seat"] for quarter in quarters] == ["north", "west", "south", "east"]
    turned = [space["turned"] for space in spaces]
    assert turned == [(81 - 18 * n) % 360 for n in range(20)]


def test_the_places_of_the_day_counts_lie_inside_their_space_and_apart() -> None:
    track = board()["track"]
    assert [place["count"] for place in track] == list(range(14))
    for place in track:
        radius = hypot(place["x"], place["y"])
        assert board()["inner"] < radius + 8.6 < board()["outer"]
        assert abs(place["x"]) + 8.6 < radius * 0.1584, "half of eighteen degrees"
        others = [hypot(place["x"] - each["x"], place["y"] - each["y"]) for each in track if each is not place]
        assert min(others) > 2 * 8.6


def test_a_page_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        MEXICA.printer.sheet("map", "en")
    assert {f"{pile}_cards" for pile in PILES} == set(CARDS)


@pytest.mark.parametrize("pile", ["week", "war", "rain"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_card_s_story_reaches_into_what_the_card_does(pile: str, language: str) -> None:
    """Measured in the layout itself: what a player reads first must not cover what the card does."""
    sheet = press.Sheet(MEXICA, f"{pile}_cards", language)
    cards = reading.bottoms_and_tops(PRESS.document(sheet, Printing(A4)), "card-story", "card-effect")
    assert len(cards) == {"week": 20, "war": 40, "rain": 40}[pile]
    assert [gap for story, effect in cards if (gap := effect - story) < 0] == []


def test_a_war_card_shows_its_weapon_as_often_as_it_adds_to_the_die() -> None:
    sheet = press.Sheet(MEXICA, "war_cards", "en")
    fronts = re.findall(r'<article class="piece card.*?</article>', PRESS.html(sheet, Printing(A4)), re.DOTALL)
    one, two, three = (fronts[n].count("<g") for n in (0, 4, 7))  # war-1, war-5 and war-8 of the deck
    assert two - one == three - two > 0


def test_the_back_of_a_card_bears_the_game_s_name() -> None:
    html = PRESS.html(press.Sheet(MEXICA, "war_cards", "es"), Printing(A4))
    assert html.count(">Mexica</text>") == 40


def test_every_effect_of_a_week_war_and_rain_card_has_a_drawing_of_its_own() -> None:
    cards: list[Any] = [
        card for pile in ("week", "war", "rain") for card in MEXICA.printer.sheet(f"{pile}_cards", "en")["cards"]
    ]  # type: ignore[misc,union-attr]
    art = Art(ART, SHELL / "static" / DAY)
    assert all(card["motif"] in art.names for card in cards)
    assert len({card["motif"] for card in cards}) > 12


# -- the card temple --


def corners(path: str) -> list[tuple[float, float]]:
    """Return the points of path data without curves."""
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]


@pytest.mark.parametrize("nets", [card_temple.nets(), [*map(card_racks.rack, SIGNS)]], ids=["temple", "racks"])
def test_every_piece_of_card_is_on_a_leaf_once_and_apart_from_the_others(nets: list[card_temple.Net]) -> None:
    leaves = list(card_temple.leaves(nets, *ROOM))
    assert sorted(net.name for leaf in leaves for *_, net in leaf) == sorted(net.name for net in nets)
    for leaf in leaves:
        for n, (left, top, net) in enumerate(leaf):
            assert left + net.width <= ROOM[0]
            assert top + net.height <= ROOM[1]
            for other_left, other_top, other in leaf[:n]:
                beside = left >= other_left + other.width + 2 or other_left >= left + net.width + 2
                assert beside or top >= other_top + other.height + 2


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_the_card_temple_stays_inside_what_a_printer_reaches(paper: Paper) -> None:
    edge = BLEED + LINE
    assert (paper.width - ROOM[0]) / 2 - edge >= MARGIN
    assert 6 - edge >= MARGIN
    assert 6 + ROOM[1] + edge <= paper.height - 2 * MARGIN - 3.6
    pages = printed("temple", paper)
    assert len(pages) == 1 + len(list(card_temple.leaves(card_temple.nets(), *ROOM)))
    assert all(100.0 in reading.lengths(page) for page in pages)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_day_has_a_rack_with_its_name(language: str) -> None:
    html = PRESS.html(press.Sheet(MEXICA, "racks", language), Printing(A4))
    found = re.findall(r'font-size="5.4"\s+font-weight="700" fill="[^"]+">([^<]+)<', html)
    assert len(found) == len(set(found)) == len(SIGNS)


def test_each_god_s_name_lies_along_the_middle_of_its_cradle() -> None:
    found: Any = MEXICA.printer.sheet("temple", "en")
    for god, (x, y, turned) in found["names"].items():
        outline = corners(found["cradles"][god])
        assert min(x for x, _ in outline) < x < max(x for x, _ in outline)
        (x0, y0), (x1, y1) = outline[:2]
        along = cos(radians(turned)) * (x1 - x0) + sin(radians(turned)) * (y1 - y0)
        assert abs(along) == pytest.approx(hypot(x1 - x0, y1 - y0), abs=0.1)
        assert hypot(x - sum(x for x, _ in outline) / 4, y - sum(y for _, y in outline) / 4) < 0.1


def test_the_plan_shows_each_god_s_half_on_its_side_of_the_stairs() -> None:
    found: Any = MEXICA.printer.sheet("temple", "en")
    assert list(LEFT_TO_RIGHT) == ["tlaloc", "huitzilopochtli"]
    across = {god: [x for x, _ in corners(path)] for god, path in found["cradles"].items()}
    assert max(across["tlaloc"]) < 0 < min(across["huitzilopochtli"]), "the stairs are below, at the paper's edge"
    assert max(y for _, y in corners(found["cradles"]["tlaloc"])) < card_temple.TIERS[0].front

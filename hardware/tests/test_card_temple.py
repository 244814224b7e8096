"""The nets of the card temple: what is cut, folded and painted lies on its piece, and it folds to what is meant."""

from __future__ import annotations

import re
from math import cos, radians, tan

import pytest
from shapely.geometry import LineString, Polygon

from companion.games.mexica.page import card_racks, card_temple
from hardware.parameters import TEMPLE


def corners(path: str) -> list[tuple[float, float]]:
    """Return the points of path data without curves."""
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]


@pytest.mark.parametrize("net", [*card_temple.nets(), card_racks.rack("house")], ids=lambda net: net.name)
def test_what_is_cut_folded_and_painted_of_a_piece_lies_on_it(net: card_temple.Net) -> None:
    outline = Polygon(corners(net.outline))
    assert outline.is_valid
    assert outline.bounds == pytest.approx((0, 0, net.width, net.height), abs=0.02)
    for lines in (net.cuts, net.folds):
        for line in lines.split("M")[1:]:
            assert LineString(corners(line)).within(outline.buffer(0.3)), line
    for areas in (net.glued, net.bands):
        for area in areas.split("M")[1:]:
            assert Polygon(corners(area)).within(outline.buffer(0.3)), area


def test_a_cradle_folds_to_a_slope_as_steep_as_the_gutter() -> None:
    net = next(each for each in card_temple.nets() if each.name == "cradle-tlaloc")
    levels = sorted({y for line in net.folds.split("M")[1:] for _, y in corners(line)})
    (begin, _), (end, _), (_, front), (_, rear) = card_temple.cradle_side()
    slope = (end - begin) / cos(radians(card_temple.SLOPE))
    assert rear - front == pytest.approx((end - begin) * tan(radians(card_temple.SLOPE)))
    for length in (rear, rear + slope, rear + slope + front):
        assert any(abs(level - levels[0] - length) < 0.05 for level in levels), length
    outline = Polygon(corners(net.outline))
    side = (front + rear) / 2 * (end - begin)
    assert outline.area > 2 * side + card_temple.cradle_width() * (front + rear + slope)


def test_twenty_racks_stand_around_the_board_and_each_holds_twelve_beads_of_12_mm() -> None:
    for radius, width in ((0, card_racks.FRONT), (card_racks.DEEP, card_racks.BACK)):
        assert 2 * (TEMPLE.board.across / 2 + radius) * tan(radians(9)) > width + 2
    room = (card_racks.FRONT + card_racks.BACK) / 2 * card_racks.DEEP * card_racks.SIDE
    assert 0.5 * room > TEMPLE.rack_tokens * 12**3 * 0.5236

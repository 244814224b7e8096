"""Where each god's shrine stands on the screens and the printed board: everything follows one constant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.games.mexica import printer
from companion.games.mexica.page import board
from templo.shrines import LEFT_TO_RIGHT

COMPANION = Path(board.__file__).parents[3]
ART, ICON = COMPANION / "art" / "symbols.svg", COMPANION / "web" / "static" / "icon.svg"
COLOURS = {"huitzilopochtli": "war", "tlaloc": "rain"}
ROOFS = {"temple-above": "", "temple-front": "", "lake-frame": "-water", "end-stillness": "-water"}


def _symbol(name: str) -> str:
    found = re.search(rf'<symbol id="{name}".*?</symbol>', ART.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, name
    return found[0]


def test_facing_the_stairs_tlaloc_stands_on_the_left() -> None:
    assert LEFT_TO_RIGHT == ("tlaloc", "huitzilopochtli")


@pytest.mark.parametrize("symbol", ROOFS)
def test_a_picture_of_the_temple_or_its_lake_shows_each_god_on_its_side(symbol: str) -> None:
    drawing = _symbol(symbol)
    at = {}
    for god, colour in COLOURS.items():
        path = re.search(rf'<path d="M([0-9.]+) [^"]*" fill="var\(--{colour}{ROOFS[symbol]}\)"', drawing)
        assert path is not None, (symbol, god)
        at[god] = float(path[1])
    assert tuple(sorted(at, key=at.__getitem__)) == LEFT_TO_RIGHT


def test_the_icon_shows_each_roof_on_its_side() -> None:
    icon = ICON.read_text(encoding="utf-8")
    at = {god: icon.index(colour) for god, colour in (("huitzilopochtli", "#a8202f"), ("tlaloc", "#2f7f9e"))}
    assert tuple(sorted(at, key=at.__getitem__)) == LEFT_TO_RIGHT


def test_a_bead_falls_into_its_gods_half_of_the_lake() -> None:
    for god, side in zip(LEFT_TO_RIGHT, (-1, 1), strict=True):
        newest = board.lake(god[0], 260).newest
        assert newest is not None
        assert (newest.x - board.CENTRE_X) * side > 0


def test_the_printed_board_has_each_gods_water_on_its_side() -> None:
    assert tuple(printer.sheet("board", "en")["shrines"]) == LEFT_TO_RIGHT

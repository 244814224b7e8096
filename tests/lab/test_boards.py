"""A heat map on the game's own board, and the last moves of games that stood still."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from companion.games import registry
from lab import report, studies
from lab.matches import Setup, options_of, play
from lab.studies import Sizes
from tests.lab.coins import coin
from tests.lab.coins import play as played

GAMES = registry.load()
BASE = Sizes(2, 0, 0, 0, 0)


def test_where_units_fell_is_counted_on_the_siege_s_map() -> None:
    setup = Setup(game="siege", preset="skirmish", seats=2)
    record = play(setup, "", 1)
    heat = GAMES["siege"].playtest.heat({"map": "skirmish"})
    assert heat is not None
    assert sum(record.places.values()) > 0
    assert record.places.keys() <= heat.places.keys()


def test_the_report_shows_the_board_with_how_often_each_place_was_touched() -> None:
    setup = Setup(game="mexica", preset="evening", seats=2)
    findings = studies.study(setup, BASE, played)
    page = report.written(findings)
    assert "the more tribes that came there" in page
    assert f"<title>eagle: {findings.summary.places['eagle']:,}</title>" in page
    assert sum(findings.summary.places.values()) > 100


@pytest.mark.parametrize(("name", "preset", "place"), [("market", "short", "2.2"), ("moctezuma", "swift", "0")])
def test_every_place_that_a_game_counts_stands_on_its_board(name: str, preset: str, place: str) -> None:
    setup = Setup(game=name, preset=preset, seats=2)
    record = play(setup, "", 1)
    heat = GAMES[name].playtest.heat(options_of(setup))
    assert heat is not None
    assert place in heat.places
    assert {each for each, _, _ in heat.names} == heat.places.keys()
    assert sum(record.places.values()) >= 5
    assert record.places.keys() <= heat.places.keys()


def test_the_round_board_is_as_high_as_it_is_drawn() -> None:
    heat = GAMES["moctezuma"].playtest.heat
    hexagons, about = heat({"board": "hex434"}), heat({"board": "custom"})
    assert hexagons
    assert about
    assert hexagons.height < about.height
    assert len(hexagons.places) == len(about.places) == 11


def test_a_game_without_a_board_has_no_heat_map() -> None:
    assert "<h2>The board</h2>" not in report.written(studies.study(coin(), BASE, played))


def test_a_standstill_leads_to_its_last_moves_on_the_page() -> None:
    page = report.written(studies.study(replace(coin(), preset="stuck"), Sizes(7, 0, 0, 0, 0), played))
    assert page.count('<section id="replay-') == report.REPLAYED
    assert '<a href="#replay-2">its last moves</a>' in page
    assert "\n50 " in page

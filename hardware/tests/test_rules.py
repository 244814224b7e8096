"""Sizes that cannot work are refused with the rule they break and by how much."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest

from companion.games.mexica.page import calendar_board
from hardware.parameters import TEMPLE, Bed, Board, Bowl, Temple, Tier, deep, fitting, on_feet, see_through
from hardware.rules import BrokenRulesError, broken, require


@pytest.mark.parametrize(
    "temple", [TEMPLE, deep(TEMPLE), on_feet(TEMPLE), see_through(TEMPLE)], ids=["low", "deep", "on feet", "clear"]
)
def test_a_temple_that_is_offered_breaks_no_rule(temple: Temple) -> None:
    assert require(temple) is temple


@pytest.mark.parametrize("bed", [Bed(x=180, y=180, z=180), Bed(x=250, y=210), Bed(x=210, y=250)])
def test_a_bed_of_180_mm_and_an_oblong_one_take_every_part(bed: Bed) -> None:
    require(replace(TEMPLE, bed=bed))


@pytest.mark.parametrize(
    ("change", "rule", "missing"),
    [
        ({"largest": 17}, "throat lets one through", 1.8),
        ({"throat": 16.5}, "throat lets only one through", -0.6),
        ({"slope": 20}, "slope", 5.0),
        ({"slope": 40}, "slope", -10.0),
        ({"steep": 35}, "steep under the shaft", 5.0),
        ({"steep": 50}, "steep under the shaft", -5.0),
        ({"bend": 30}, "bend is wide", 20.0),
        ({"bend_ends": 50}, "beam behind the bend", 2.5),
        ({"bend_ends": 35}, "beam behind the bend", -4.5),
        ({"rise": 14.5}, "roof begins under the lid", -10.0),
        ({"beam_after": 20}, "beam after the shaft", 25.0),
        ({"beam_over": 8}, "beam over the floor", -2.0),
        ({"roof": 15.5}, "roof clears the largest token", 1.0),
        ({"roof": 25}, "roof is low", -7.0),
        ({"wall": 0.8}, "wall is thick enough", 0.4),
        ({"relief": 1.5}, "relief prints", -0.5),
        ({"fill": TEMPLE.fill + 5}, "tongue over the water", 4.9),
        ({"bed": Bed(x=110, y=110)}, "lake fits the bed", 10.0),
        ({"bed": Bed(x=150, y=150)}, "base fits the bed", 14.2),
        ({"clear": 20}, "clear strip stands on an upright shore", 4.9),
        ({"clear": 50}, "clear strip ends at the rim", -2.0),
        ({"rim": 20}, "shore stands upright under its rim", 4.9),
        ({"board": Board(across=420)}, "board", -14.0),
        ({"fill": 22}, "lake holds bead 12", 33.0),
        ({"board": Board(feet=-1)}, "board.feet", inf),
        ({"shaft": 16}, "shaft passes what the throat passes", 0.8),
        ({"smallest": 9}, "bead 8 is no smaller than the smallest", 1.0),
        ({"slot": (17.4, 15)}, "slot is wider than the throat", 0.8),
        ({"shrine_x": 18}, "shrine has walls around its slot", 1.8),
        ({"shrine_x": 33}, "shrines side by side", -3.0),
        ({"shrine_z": 10}, "shrine is high enough for its funnel", 1.1),
        ({"floor": 0.5}, "base's floor is thick enough", 0.7),
        ({"lid": 0.5}, "lid is thick enough", 0.7),
        ({"packing": 1}, "packing", -0.26),
        ({"rim": 35}, "rim over the sill", 10.0),
        ({"racks": 24}, "racks", -4.0),
        ({"causeway": 1}, "causeway", 1.0),
        ({"rise": 60}, "shell is no higher than the printer", -30.8),
        ({"stair_foot": 40}, "stairs stand before the temple", 10.0),
        ({"stair_half": 20}, "stairs end beside the doors", 1.7),
        ({"steps": 28}, "steps are no slope", 0.175),
        ({"stair_half": 50}, "stairs are no wider than the last tier", -7.0),
        ({"tiers": (*TEMPLE.tiers[:3], Tier(49, 33, -40.5))}, "tier 4 stands on the one below", 1.0),
        ({"bowl": Bowl(neck=14)}, "bowl ends before the other", 0.4),
        ({"bowl": Bowl(floor=5)}, "bowl's floor over the crest", 0.8),
        ({"shrine_y": 24.8}, "bowl lies on the shrine's wall", 0.2),
        ({"bowl": Bowl(bank=6.5)}, "bowl's bank before its hole", -1.0),
        ({"bowl": Bowl(bank=4, rim=3)}, "bowl's wall over its bank", 1.0),
        ({"bowl": Bowl(lip_wide=1)}, "bowl's lip prints", 0.2),
        ({"bowl": Bowl(reach=10)}, "bowl narrows to its neck", 0.6),
        ({"bowl": Bowl(rim=nan)}, "bowl.rim", inf),
        ({"steps": 0}, "steps", inf),
        ({"clearance": -0.4}, "clearance", inf),
        ({"plinth": nan}, "plinth", inf),
        ({"board": Board(thickness=inf)}, "board.thickness", inf),
        ({"cable": (0, 9)}, "cable", inf),
        ({"shaft_at": (nan, -20)}, "shaft_at", inf),
        ({"tiers": TEMPLE.tiers[:3]}, "tiers", inf),
    ],
)
def test_a_change_that_cannot_work_names_its_rule_and_by_how_much(
    change: dict[str, object], rule: str, missing: float
) -> None:
    found = {each.rule: each.missing for each in broken(replace(TEMPLE, **change))}  # type: ignore[arg-type]
    margin = 0 if missing == inf else abs(missing) * 0.15 + 0.05
    assert found[rule] == pytest.approx(missing, abs=margin)


@pytest.mark.parametrize("size", [8, 10, 12, 14])
def test_a_temple_for_one_size_of_bead_breaks_no_rule_and_keeps_its_sensors_places(size: int) -> None:
    temple = require(fitting(size))
    assert temple.throat < temple.shaft < 2 * size
    assert temple.roof < 2 * size
    assert temple.beam_at == pytest.approx(TEMPLE.beam_at)
    assert temple.shaft / 2 + temple.chute_wall == TEMPLE.shaft / 2 + TEMPLE.chute_wall


def test_a_temple_for_beads_that_do_not_reach_the_beam_is_refused() -> None:
    with pytest.raises(BrokenRulesError, match="bead 6 reaches the beam"):
        require(fitting(6))


def test_a_refusal_names_every_broken_rule() -> None:
    with pytest.raises(BrokenRulesError, match=r"slope: at 20 degrees .* \(5\.00 too little\).*\(2\.00 too much\)"):
        require(replace(TEMPLE, slope=20, beam_over=8))


def test_the_lake_is_as_wide_as_the_board_that_the_companion_prints() -> None:
    assert TEMPLE.board.inner_share == pytest.approx(calendar_board.INNER / calendar_board.OUTER)

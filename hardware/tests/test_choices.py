"""What a maker gives on the command line becomes a temple, or is refused with what was expected."""

from __future__ import annotations

import argparse

import pytest

from hardware import choices
from hardware.catalogue import pieces
from hardware.parameters import BEADS, TEMPLE, Temple, deep
from hardware.rules import BrokenRulesError, require


def _given(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    choices.add_to(parser)
    return parser.parse_args(words)


def _temple(*words: str) -> Temple:
    return choices.temple(_given(*words))


def test_no_choice_is_the_default_temple() -> None:
    assert _temple() == TEMPLE
    assert choices.label(_given()) == ""


def test_choices_go_together_and_name_a_folder_of_their_own() -> None:
    words = (
        "--deep",
        "--bead",
        "12",
        "--controller",
        "pico",
        "--sensor",
        "3mm",
        "--bed",
        "250x210",
        "--set",
        "slope=28",
    )
    temple = _temple(*words)
    assert (temple.sill, temple.largest, temple.controller, temple.sensor.lens) == (
        deep(TEMPLE).sill,
        12.4,
        "pico",
        3,
    )
    assert (temple.bed.x, temple.bed.y, temple.bed.z, temple.slope) == (250, 210, TEMPLE.bed.z, 28)
    assert choices.label(_given(*words)) == "deep-bead-12-3mm-pico-250x210-slope-28"


@pytest.mark.parametrize(("size", "sill"), [("8", 40), ("9", 57.5), ("10", 75), ("12", 110), ("14", 110)])
def test_a_deep_lake_for_one_bead_is_only_as_deep_as_it_needs(size: str, sill: float) -> None:
    temple = _temple("--deep", "--bead", size)
    assert temple.sill == sill
    require(temple)


@pytest.mark.parametrize("size", BEADS)
def test_a_temple_for_one_bead_is_lower_where_its_heap_lets_it_and_never_higher(size: int) -> None:
    temple = require(_temple("--bead", str(size)))
    assert temple.sill == min(TEMPLE.sill, deep(TEMPLE, size).sill)
    assert (temple.sill < TEMPLE.sill) == (size == BEADS[0])
    heights = {getattr(temple, name) - getattr(TEMPLE, name) for name in ("plinth", "sill", "rim", "fill", "top")}
    assert heights == {temple.sill - TEMPLE.sill}


def test_a_size_within_another_value_and_several_numbers_are_set() -> None:
    temple = _temple("--set", "bowl.rim=20", "--set", "slot=17.4,17", "--set", "racks=12")
    assert (temple.bowl.rim, temple.slot, temple.racks) == (20, (17.4, 17), 12)


def test_a_sensor_of_ones_own_gets_its_chute() -> None:
    temple = require(_temple("--set", "sensor.length=22"))
    chosen = [piece.name for piece in pieces(temple) if piece.chosen and piece.instead == "chute"]
    assert chosen == ["chute_own"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "slope"), "it is 'slope'; expected NAME=VALUE"),
        (("--set", "slop=28"), "--set slop: there is no such size; expected one of aperture, beam_after"),
        (("--set", "bowl=20"), "--set bowl: there is no such size"),
        (("--set", "bowl.brim=20"), "--set bowl.brim: there is no such size; expected one of bank, basin"),
        (("--set", "slope.x=20"), "--set slope.x: there is no such size"),
        (("--set", "tiers=3"), "--set tiers: there is no such size"),
        (("--set", "slope=steep"), "--set slope: it is 'steep'; expected 1 number"),
        (("--set", "slope=nan"), "--set slope: it is 'nan'; expected 1 number"),
        (("--set", "slot=17"), "--set slot: it is '17'; expected 2 numbers"),
        (("--set", "steps=20.5"), "--set steps: it is '20.5'; expected a whole number"),
        (("--bed", "180"), "--bed: it is '180'; expected 180x180"),
        (("--bed", "0x180"), "--bed: it is '0x180'; expected 180x180"),
    ],
)
def test_what_is_no_size_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _temple(*words)


def test_a_size_that_cannot_work_names_its_rule() -> None:
    with pytest.raises(BrokenRulesError, match="slope: at 20 degrees beans and skulls stick"):
        require(_temple("--set", "slope=20"))

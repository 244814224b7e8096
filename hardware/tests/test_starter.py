"""The starter: its chutes lie in the card temple without touching it, and screw into the printed one as they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import cos, radians, sin, tan
from pathlib import Path

import pytest
import trimesh

from companion.games.mexica.page import card_temple as card
from hardware import checks, slicing, starter
from hardware.catalogue import Piece, pieces
from hardware.making import Workshop, matrix
from hardware.parameters import SENSORS, SIDES, TEMPLE, Temple
from hardware.parts import chute, plaza
from hardware.steps import Bench
from hardware.wiring.breadboard import draw, links

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _chutes(workshop: Workshop, kit: dict[str, Piece]) -> list[trimesh.Trimesh]:
    (piece,) = starter.parts(kit.values())
    return [workshop.mesh(piece).apply_transform(matrix(at)) for at in starter.places(workshop.temple)]


def test_the_starters_parts_are_two_chutes_of_the_printed_temple(kit: dict[str, Piece]) -> None:
    (piece,) = starter.parts(pieces(TEMPLE))
    assert piece.name == kit["chute_5mm"].name
    assert piece.number == 2


def test_the_sheet_has_the_sizes_of_the_chutes() -> None:
    assert (TEMPLE.shaft_at, TEMPLE.exit_at, TEMPLE.slope) == (card.SHAFT, card.EXIT, card.SLOPE)
    assert {god: SIDES[god] for god in card.SIDES} == card.SIDES
    assert card.turn() == pytest.approx(TEMPLE.turn)
    assert TEMPLE.shaft / 2 + TEMPLE.chute_wall == card.HALF
    assert chute.UNDER == card.UNDER
    assert TEMPLE.platform - TEMPLE.sill == card.HIGH
    assert TEMPLE.throat == card.SLOT
    x, _ = chute.beam(TEMPLE)
    for sensor in SENSORS.values():
        end = x + sensor.lens_from_end + chute.PLAY + chute.SEAT_WALL
        assert end <= card.STOP <= end + 0.2
    tilt = radians(TEMPLE.slope)
    back = (-TEMPLE.shaft / 2 - TEMPLE.chute_wall + chute.UNDER * sin(tilt)) / cos(tilt)
    assert back == pytest.approx(card.REAR, abs=0.05)
    assert TEMPLE.board.inner - 2 <= card.RING <= TEMPLE.board.inner


def test_both_chutes_lie_on_their_cradles_and_touch_no_card(workshop: Workshop, kit: dict[str, Piece]) -> None:
    bodies = [checks.solid(mesh) for mesh in _chutes(workshop, kit)]
    for body, n in product(bodies, range(len(card.TIERS))):
        assert (body ^ starter.box(n)).volume() < 1, card.TIERS[n]
    for body, god in product(bodies, card.SIDES):
        assert (body ^ starter.cradle(god).translate((0, 0, -0.02))).volume() < 1
    for god, body in zip(SIDES, bodies, strict=True):
        lifted = starter.cradle(god).translate((0, 0, 0.5))
        assert (body ^ lifted).volume() > 5, "it lies on its cradle, not over it"
    assert (bodies[0] ^ bodies[1]).volume() == 0


def test_a_chute_that_slides_down_meets_the_ears(workshop: Workshop, kit: dict[str, Piece]) -> None:
    for god, mesh in zip(SIDES, _chutes(workshop, kit), strict=True):
        body = checks.solid(mesh)
        way = radians(card.turn())
        along = (SIDES[god] * sin(way), cos(way), -tan(radians(card.SLOPE)))
        moved = body.translate(tuple(1.0 * each for each in along))
        assert (moved ^ starter.cradle(god)).volume() > 0.5


def test_a_boxes_walls_stand_on_the_box_below_and_its_tongues_over_the_plan() -> None:
    for below, above in zip(card.TIERS, card.TIERS[1:], strict=False):
        assert below.high == above.low
        assert below.half > above.half + 2
        assert below.front > above.front + 2
        assert below.back < above.back - 2
    inner, outer, high = card.DOOR
    assert card.STAIR_HALF < inner < outer < card.TIERS[0].half
    assert high < card.TIERS[0].high - 2
    assert card.STAIR_FOOT < card.RING
    assert max(abs(x) + abs(y) for god in card.SIDES for x, y in card.footprint(god)) < 2 * card.RING


def test_the_lake_takes_as_many_tokens_as_the_page_says() -> None:
    first = card.TIERS[0]
    water = 3.14159 * card.RING**2 / 2 - first.width * first.depth / 2 - card.STAIR_HALF * 24
    bead = TEMPLE.tokens[0].volume
    assert water * (card.SILL - card.UNDER - 2) * TEMPLE.packing / bead > 250
    assert "about 300 beads" in (DOCS / "starter.md").read_text("utf-8")


def test_the_same_chutes_screw_into_the_printed_temple(workshop: Workshop, kit: dict[str, Piece]) -> None:
    """The file is the same, its screws' holes lie under the plaza's, and it touches neither shell nor plaza."""
    (piece,) = starter.parts(kit.values())
    bench = Bench(workshop, pieces(TEMPLE))
    assert piece.name == bench.chute
    assert piece.places == (chute.place(TEMPLE, 1), chute.place(TEMPLE, -1))
    holes = {(round(x, 3), round(y, 3)) for x, y in plaza.screws(TEMPLE)}
    found = set()
    for god in SIDES:
        turned = radians(90 - SIDES[god] * TEMPLE.turn)
        for s, across in chute.screws(TEMPLE):
            x = SIDES[god] * TEMPLE.shaft_at[0] + s * cos(turned) - across * sin(turned)
            y = TEMPLE.shaft_at[1] + s * sin(turned) + across * cos(turned)
            found.add((round(x, 3), round(y, 3)))
    assert found == holes
    for at, other in product(piece.places, ("shell", "plaza")):
        body = checks.solid(workshop.placed(piece, at))
        (there,) = kit[other].places
        assert (body ^ checks.solid(workshop.placed(kit[other], there))).volume() < 1


def test_the_starter_stays_within_its_evening(workshop: Workshop, kit: dict[str, Piece]) -> None:
    (piece,) = starter.parts(kit.values())
    every = slicing.times(slicing.both(workshop, piece), piece.number)
    assert every.hours <= 3.7
    assert every.fast <= 2.2
    page = (DOCS / "starter.md").read_text("utf-8")
    assert f"{every.hours:.1f} hours, {every.fast:.1f} on a fast printer" in page
    assert f"({every.grams:.0f} g)" in page


def test_the_page_shows_a_picture_of_every_step_and_all_ten() -> None:
    page = (DOCS / "starter.md").read_text("utf-8")
    assert [name for name in starter.STEPS if f"pictures/temple/starter-{name}.png)" not in page] == []
    assert [n for n in range(1, 11) if f"| {n}. **" not in page] == []
    names = [piece.split(")")[0] for piece in page.split("](pictures/")[1:]]
    assert [name for name in names if not (DOCS / "pictures" / name).exists()] == []


def test_the_breadboards_picture_shows_every_wire(tmp_path: Path) -> None:
    drawn = draw(tmp_path).read_text("utf-8")
    assert drawn == (DOCS / "pictures" / "wiring" / "breadboard-pico.svg").read_text("utf-8")
    assert drawn.count("stroke-dasharray") == sum(each.kind == "sensor" for each in links()) == 10


def test_another_temples_starter_has_its_own_sensors() -> None:
    own: Temple = replace(TEMPLE, sensor=SENSORS["3mm"])
    assert [piece.name for piece in starter.parts(pieces(own))] == ["chute_3mm"]

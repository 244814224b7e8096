"""Every part as a mesh: whole, one body, on the bed, thick enough, and printable without support."""

from __future__ import annotations

import manifold3d
import pytest
import trimesh
from build123d import Rot

from hardware import checks
from hardware.catalogue import Piece, pieces
from hardware.making import Workshop, to_mesh
from hardware.parameters import TEMPLE, Temple
from hardware.parts import rack, tzompantli
from hardware.shapes import block, prism

NAMES = [piece.name for piece in pieces(TEMPLE)]


@pytest.mark.parametrize("name", NAMES)
def test_a_part_is_watertight_and_one_body(name: str, kit: dict[str, Piece], workshop: Workshop) -> None:
    assert checks.sound(workshop.mesh(kit[name])) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_part_lies_on_the_bed_and_fits_it(name: str, kit: dict[str, Piece], workshop: Workshop) -> None:
    assert checks.fits(workshop.mesh(kit[name]), TEMPLE.bed) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_part_has_no_thin_wall(name: str, kit: dict[str, Piece], workshop: Workshop) -> None:
    assert checks.thin(workshop.mesh(kit[name]), TEMPLE.bed.thinnest) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_part_prints_without_support(name: str, kit: dict[str, Piece], workshop: Workshop) -> None:
    assert checks.overhangs(workshop.mesh(kit[name]), TEMPLE.bed) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_part_has_no_ceiling_that_slopes_a_little(name: str, kit: dict[str, Piece], workshop: Workshop) -> None:
    assert checks.sagging(workshop.mesh(kit[name])) == []


def test_a_ceiling_that_slopes_a_little_is_found_and_a_level_one_let_pass() -> None:
    def tunnel(rise: float) -> trimesh.Trimesh:
        hole = prism([(-15, 5), (15, 5), (15, 15 + rise), (-15, 15)], (-30, 30))
        return to_mesh(block((-20, 20), (-20, 20), (0, 40)) - Rot(90, 0, 0) * hole)

    assert checks.sagging(tunnel(0)) == []
    assert checks.sagging(tunnel(8))


def test_an_open_skin_is_found() -> None:
    mesh = trimesh.creation.box((10, 10, 10))
    mesh.update_faces([False] + [True] * (len(mesh.faces) - 1))
    assert [each.check for each in checks.sound(mesh)] == ["watertight"]


def test_two_bodies_in_one_file_are_found() -> None:
    far = trimesh.creation.box((10, 10, 10)).apply_translation((30, 0, 0))
    both = trimesh.util.concatenate([trimesh.creation.box((10, 10, 10)), far])
    assert [each.words for each in checks.sound(both)] == ["there are 2 bodies"]


def test_a_part_too_large_for_the_bed_or_above_it_is_found() -> None:
    mesh = trimesh.creation.box((230, 10, 10)).apply_translation((0, 0, 8))
    assert [each.words for each in checks.fits(mesh, TEMPLE.bed)] == [
        "it is 230.0 mm in x, the bed 220",
        "it begins 3.00 mm over the bed",
    ]


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_a_thin_wall_is_found_whichever_way_it_stands(turn: int) -> None:
    size = [20.0, 20.0, 20.0]
    size[turn] = 0.9
    mesh = to_mesh(block((0, 20), (0, 20), (0, 4)) + block((5, 5 + size[0]), (5, 5 + size[1]), (2, 2 + size[2])))
    assert checks.thin(mesh, 1.2)


def test_a_wall_just_thick_enough_is_let_pass() -> None:
    mesh = to_mesh(block((0, 20), (0, 20), (0, 4)) + block((5, 6.3), (2, 18), (2, 20)))
    assert checks.thin(mesh, 1.2) == []


def test_a_shelf_in_the_air_is_found() -> None:
    mesh = to_mesh(block((0, 10), (0, 10), (0, 30)) + block((0, 25), (0, 10), (20, 24)))
    assert [each.check for each in checks.overhangs(mesh, TEMPLE.bed)] == ["overhang"]


def test_a_bridge_is_let_pass_and_one_too_long_is_found() -> None:
    def bridge(span: float) -> trimesh.Trimesh:
        legs = block((0, 5), (0, 10), (0, 20)) + block((5 + span, 10 + span), (0, 10), (0, 20))
        return to_mesh(legs + block((0, 10 + span), (0, 10), (16, 20)))

    assert checks.overhangs(bridge(20), TEMPLE.bed) == []
    assert checks.overhangs(bridge(40), TEMPLE.bed)


def test_a_relief_too_proud_is_found_and_a_low_one_let_pass() -> None:
    def relief(proud: float) -> trimesh.Trimesh:
        return to_mesh(block((0, 20), (0, 20), (0, 20)) + block((6, 14), (19, 20 + proud), (8, 14)))

    assert checks.overhangs(relief(0.8), TEMPLE.bed) == []
    assert checks.overhangs(relief(3), TEMPLE.bed)


def test_a_rack_holds_its_twelve_largest_tokens(temple: Temple) -> None:
    largest = temple.largest * 13 * 12 * 0.5236
    assert rack.room(temple) * 0.5 > temple.rack_tokens * largest


def test_two_skewers_of_3_mm_stand_in_the_foot_with_seven_pony_beads_beside_six(
    temple: Temple, kit: dict[str, Piece], workshop: Workshop
) -> None:
    body = checks.solid(workshop.mesh(kit["tzompantli"]))
    skewers = [
        manifold3d.Manifold.cylinder(60, 1.5).translate((side * tzompantli.APART / 2, 0, 2.0)) for side in (1, -1)
    ]
    assert [checks.overlap(skewer, body) for skewer in skewers] == [0, 0]
    assert [checks.overlap(skewer.translate((0, 0.5, 0)), body) > 1 for skewer in skewers] == [True, True]
    assert tzompantli.APART > 9 + 1, "a pony bead is 9 mm wide"
    assert tzompantli.DEEP + 7 * 6 < 60, "seven of 6 mm stand on a skewer of 60 mm"
